//! Records besides results: checkpoints before calls, files that calls changed, and todo lists.

use proto::record::TodoStatus;

use super::made::todo;
use super::script::check;
use crate::words::todo_progress;

#[test]
fn files_are_kept_directly_before_their_call_starts_and_on_disk_with_it() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls write a
          model calls a | judge a
        > policy a allow keeping /w/a
          files kept for a | started a | run a once that is on disk
        > ends a ok changing /w/a
          finished a ok, changed: /w/a | result a ok | ask
    ",
    );
}

#[test]
fn approved_call_saves_its_files_when_it_runs() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls write a
          model calls a | judge a
        > policy a ask keeping /w/a
          question 7.1 about a | waiting for approval
        > ann yes 7.1
          ann answers 7.1: allow once | running | judge a
        > policy a allow keeping /w/a
          files kept for a | started a | run a once that is on disk
    ",
    );
}

#[test]
fn call_runs_after_a_crash_right_after_its_checkpoint() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls write a
          model calls a | judge a
        > policy a allow keeping /w/a
          files kept for a | started a | run a once that is on disk
        > crash continue after checkpoint.created
          notice: The daemon was restarted | judge a
        > policy a allow
          started a | run a once that is on disk
        > crash continue
          finished a unknown | result a unknown: The daemon stopped while this call ran |
          notice: The daemon was restarted | ask
    ",
    );
}

#[test]
fn a_list_of_what_is_to_be_done_is_told_before_its_call_is_finished() {
    check(
        "
        > user do two things
          turn starts | running | prompt: do two things | ask
        > model calls read a
          model calls a | judge a
        > policy a allow doing one two
          started a | to do: one two | finished a ok | result a ok | ask
        > show conversation
          m1.1 m1.2 m1.3 | 1 answers, 1 said, to do: one two
    ",
    );
}

#[test]
fn updated_todo_list_is_answered_with_its_progress() {
    let mut todos = [todo("look"), todo("test"), todo("ship")];
    assert_eq!(todo_progress(&todos), "0 of 3 done");
    todos[0].status = TodoStatus::Completed;
    todos[1].status = TodoStatus::InProgress;
    assert_eq!(todo_progress(&todos), "1 of 3 done; in progress: test");
    assert_eq!(todo_progress(&[]), "nothing to be done");
}

#[test]
fn changes_of_a_stopped_call_are_reported_too() {
    check(
        "
        > user change it
          turn starts | running | prompt: change it | ask
        > model calls write a
          model calls a | judge a
        > policy a allow
          started a | run a once that is on disk
        > stop user
          stop the calls, KILL after 2000 ms
        > ends a interrupted changing /w/a
          finished a interrupted, changed: /w/a | result a interrupted: its output |
          turn ends interrupted (user) | idle
    ",
    );
}
