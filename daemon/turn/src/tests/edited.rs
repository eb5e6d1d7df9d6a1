//! Calls whose command the user changed: they are judged again and run only in the changed form.

use super::script::check;

#[test]
fn a_changed_command_is_judged_again_and_runs_in_place_of_the_original() {
    check(
        "
        > user tidy up
          turn starts | running | prompt: tidy up | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann edits 7.1 rm build
          ann answers 7.1: run `rm build` | running | judge a as `rm build`
        > policy a ask
          started a | run a as `rm build` once that is on disk
        > ends a ok
          finished a ok | result a ok as `rm build` | ask
    ",
    );
}

#[test]
fn a_rule_denies_a_changed_command_like_any_other() {
    check(
        "
        > user tidy up
          turn starts | running | prompt: tidy up | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann edits 7.1 rm -rf /
          ann answers 7.1: run `rm -rf /` | running | judge a as `rm -rf /`
        > policy a deny
          finished a denied | result a denied as `rm -rf /`: Denied by the rule `a rule` (user) | ask
    ",
    );
}

#[test]
fn after_a_crash_the_changed_command_runs_and_not_the_original() {
    check(
        "
        > user tidy up
          turn starts | running | prompt: tidy up | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann edits 7.1 rm build
          ann answers 7.1: run `rm build` | running | judge a as `rm build`
        > crash continue after interaction.resolved
          notice: The daemon was restarted | running | judge a as `rm build`
        > policy a ask
          started a | run a as `rm build` once that is on disk
        > ends a ok
          finished a ok | result a ok as `rm build` | ask
    ",
    );
}

#[test]
fn idle_recovery_reports_that_the_edited_call_did_not_run() {
    check(
        "
        > user tidy up
          turn starts | running | prompt: tidy up | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann edits 7.1 rm build
          ann answers 7.1: run `rm build` | running | judge a as `rm build`
        > crash idle after interaction.resolved
          notice: The daemon stopped during this turn, so the turn was ended | finished a interrupted |
          result a interrupted as `rm build`: Not run: the daemon stopped before this call was started | turn ends interrupted (shutdown) | idle
    ",
    );
}

#[test]
fn blocked_edited_command_is_offered_in_its_edited_form() {
    check(
        "
        > user tidy up
          turn starts | running | prompt: tidy up | ask
        > model calls write a
          model calls a | judge a
        > policy a ask
          question 7.1 about a | waiting for approval
        > ann edits 7.1 rm build
          ann answers 7.1: run `rm build` | running | judge a as `rm build`
        > policy a ask
          started a | run a as `rm build` once that is on disk
        > ends a blocked
          blocked a | judge a as `rm build`
        > policy a ask
          question 7.2 about a outside | waiting for approval
        > ann yes 7.2
          ann answers 7.2: allow once | running | judge a as `rm build`
        > policy a ask
          started a outside | run a as `rm build` once that is on disk
    ",
    );
}
