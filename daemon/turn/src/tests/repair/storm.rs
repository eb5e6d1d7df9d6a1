//! Calls that go in circles.

use crate::repair::storm::{RecentCalls, digest};

/// Which of these calls are held back: a letter a call, capitals write, `.` is a new prompt.
fn held(calls: &str) -> String {
    let mut storm = RecentCalls::default();
    let mut held = String::new();
    for letter in calls.chars() {
        if letter == '.' {
            storm.clear();
            held.push('.');
            continue;
        }
        let arguments = format!("{{\"q\": \"{letter}\"}}");
        let call = digest("tool", &arguments);
        let one = storm.is_one_too_many(call);
        if !one {
            storm.note(call, 1, letter.is_ascii_uppercase());
        }
        held.push(if one { '!' } else { '-' });
    }
    held
}

#[test]
fn the_third_of_the_same_is_held_back() {
    for (calls, wanted) in [
        ("xxx", "--!"),
        ("xxxx", "--!!"),
        ("abcd", "----"),
        ("xaxbx", "----!"),
        // Further back than the window nobody looks.
        ("xxabcdex", "--------"),
        // Work: what was changed between may have changed the answer.
        ("xExEx", "-----"),
        ("ETETETET", "--------"),
        ("EEE", "--!"),
        // A look between two of the same changes nothing.
        ("ExExE", "----!"),
        ("xx.x", "--.-"),
    ] {
        assert_eq!(held(calls), wanted, "{calls}");
    }
}

#[test]
fn the_same_arguments_may_be_written_in_another_way() {
    let mut storm = RecentCalls::default();
    for (arguments, one_too_many) in [
        (r#"{"a":1,"b":2}"#, false),
        (r#"{ "b": 2, "a": 1 }"#, false),
        (r#"{"a": 1,"b":2 }"#, true),
        (r#"{"a":1,"b":"2"}"#, false),
        ("no JSON", false),
        (" no JSON", false),
        ("no JSON ", true),
    ] {
        let call = digest("t", arguments);
        assert_eq!(storm.is_one_too_many(call), one_too_many, "{arguments}");
        if !one_too_many {
            storm.note(call, 1, false);
        }
    }
}

#[test]
fn what_came_to_something_else_may_be_asked_again() {
    let mut storm = RecentCalls::default();
    for (result, one_too_many) in [(1, false), (2, false), (2, false), (2, true)] {
        assert_eq!(storm.is_one_too_many(7), one_too_many, "{result}");
        storm.note(7, result, false);
    }
}
