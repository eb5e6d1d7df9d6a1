//! The end of a turn with `Stop` hooks, which run before anything else starts.

use super::script::check;

#[test]
fn next_turn_waits_for_the_stop_hooks() {
    check(
        "
        > session hooks
        > user hello
          turn starts | running | prompt: hello | ask
        > user next
        > model says Hello.
          model: Hello. | turn ends completed | run the stop hooks
        > user last
        > hooks finished
          idle | turn starts | running | prompt: next | ask
        > model says Next.
          model: Next. | turn ends completed | run the stop hooks
        > stop user
          cancel the stop hooks
        > hooks finished
          idle | turn starts | running | prompt: last | ask
    ",
    );
}

#[test]
fn headless_run_exits_after_the_stop_hooks_even_after_a_crash() {
    check(
        "
        > session hooks headless
        > user hello
          turn starts | running | prompt: hello | ask
        > model says Hello.
          model: Hello. | turn ends completed | run the stop hooks
        > hooks finished
          exited 0
    ",
    );
    check(
        "
        > session hooks headless
        > user hello
          turn starts | running | prompt: hello | ask
        > model says Hello.
          model: Hello. | turn ends completed | run the stop hooks
        > crash continue
          exited 0
        > hooks finished
    ",
    );
}

#[test]
fn stop_hooks_run_on_term_but_not_on_kill() {
    check(
        "
        > session hooks
        > user hello
          turn starts | running | prompt: hello | ask
        > stop term
          drop the request | turn ends interrupted (term) | run the stop hooks
        > stop kill
          cancel the stop hooks
        > hooks finished
          exited 137
    ",
    );
    check(
        "
        > session hooks
        > user hello
          turn starts | running | prompt: hello | ask
        > stop kill
          drop the request | turn ends killed (user) | exited 137
    ",
    );
}
