//! Commands that users run: prompts wait for their end, and take along what they printed.

use super::script::check;

#[test]
fn a_prompt_waits_for_a_users_command() {
    check(
        "
        > child 9 user-runs
          child 9 runs
        > user what is wrong?
        > child 9 ends
          child 9 is gone: by itself | turn starts | running | prompt: what is wrong? | ask
        > model says Nothing.
          model: Nothing. | turn ends completed | idle
    ",
    );
}

#[test]
fn a_background_command_of_the_model_holds_no_prompt() {
    check(
        "
        > child 9 runs
          child 9 runs
        > user go on
          turn starts | running | prompt: go on | ask
    ",
    );
}

#[test]
fn a_users_command_ends_with_the_daemon_and_the_prompt_behind_it_starts() {
    for policy in ["continue", "idle"] {
        check(&format!(
            "
            > child 9 user-runs
              child 9 runs
            > user what is wrong?
            > crash {policy}
              child 9 is gone: the daemon stopped | turn starts | running | prompt: what is wrong? | ask
        "
        ));
    }
}
