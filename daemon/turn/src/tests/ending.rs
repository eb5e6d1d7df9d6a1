//! The end of a turn, where somebody is notified of it before anything follows.

use super::script::check;

#[test]
fn what_follows_a_turn_waits_until_its_end_was_told() {
    check(
        "
        > session told
        > user hello
          turn starts | running | prompt: hello | ask
        > user next
        > model says Hello.
          model: Hello. | turn ends completed | tell the end
        > user last
        > told
          idle | turn starts | running | prompt: next | ask
        > model says Next.
          model: Next. | turn ends completed | tell the end
        > stop user
          stop telling
        > told
          idle | turn starts | running | prompt: last | ask
    ",
    );
}

#[test]
fn a_run_exits_when_its_end_was_told_also_behind_a_crash() {
    check(
        "
        > session told headless
        > user hello
          turn starts | running | prompt: hello | ask
        > model says Hello.
          model: Hello. | turn ends completed | tell the end
        > told
          exited 0
    ",
    );
    check(
        "
        > session told headless
        > user hello
          turn starts | running | prompt: hello | ask
        > model says Hello.
          model: Hello. | turn ends completed | tell the end
        > crash continue
          exited 0
        > told
    ",
    );
}

#[test]
fn a_term_is_told_and_a_kill_is_not() {
    check(
        "
        > session told
        > user hello
          turn starts | running | prompt: hello | ask
        > stop term
          drop the request | turn ends interrupted (term) | tell the end
        > stop kill
          stop telling
        > told
          exited 137
    ",
    );
    check(
        "
        > session told
        > user hello
          turn starts | running | prompt: hello | ask
        > stop kill
          drop the request | turn ends killed (user) | exited 137
    ",
    );
}
