//! The loop detector.

use crate::repair::loop_detector::{RecentCalls, hash_call};

/// Which of these calls are refused: one letter per call, capitals write, `.` is a new prompt.
fn held(calls: &str) -> String {
    let mut recent = RecentCalls::default();
    let mut held = String::new();
    for letter in calls.chars() {
        if letter == '.' {
            recent.clear();
            held.push('.');
            continue;
        }
        let arguments = format!("{{\"q\": \"{letter}\"}}");
        let call = hash_call("tool", &arguments);
        let one = recent.is_loop(call);
        if !one {
            recent.note(call, 1, letter.is_ascii_uppercase());
        }
        held.push(if one { '!' } else { '-' });
    }
    held
}

#[test]
fn third_identical_call_is_a_loop() {
    for (calls, wanted) in [
        ("xxx", "--!"),
        ("xxxx", "--!!"),
        ("abcd", "----"),
        ("xaxbx", "----!"),
        // Calls beyond the window are forgotten.
        ("xxabcdex", "--------"),
        // Work: a change in between may have changed the result.
        ("xExEx", "-----"),
        ("ETETETET", "--------"),
        ("EEE", "--!"),
        // A read-only call between two equal ones changes nothing.
        ("ExExE", "----!"),
        ("xx.x", "--.-"),
    ] {
        assert_eq!(held(calls), wanted, "{calls}");
    }
}

#[test]
fn equivalent_arguments_count_as_the_same_call() {
    let mut recent = RecentCalls::default();
    for (arguments, one_too_many) in [
        (r#"{"a":1,"b":2}"#, false),
        (r#"{ "b": 2, "a": 1 }"#, false),
        (r#"{"a": 1,"b":2 }"#, true),
        (r#"{"a":1,"b":"2"}"#, false),
        ("no JSON", false),
        (" no JSON", false),
        ("no JSON ", true),
    ] {
        let call = hash_call("t", arguments);
        assert_eq!(recent.is_loop(call), one_too_many, "{arguments}");
        if !one_too_many {
            recent.note(call, 1, false);
        }
    }
}

#[test]
fn call_with_a_changed_result_may_be_repeated() {
    let mut recent = RecentCalls::default();
    for (result, one_too_many) in [(1, false), (2, false), (2, false), (2, true)] {
        assert_eq!(recent.is_loop(7), one_too_many, "{result}");
        recent.note(7, result, false);
    }
}
