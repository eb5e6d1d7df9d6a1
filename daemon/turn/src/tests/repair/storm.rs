//! Calls that go in circles.

use crate::repair::storm::Storm;

/// Which of these calls are held back: a letter a call, capitals write, `.` is a new prompt.
fn held(calls: &str) -> String {
    let mut storm = Storm::default();
    let mut held = String::new();
    for letter in calls.chars() {
        if letter == '.' {
            storm.clear();
            held.push('.');
            continue;
        }
        let arguments = format!("{{\"q\": \"{letter}\"}}");
        let one = storm.is_one_too_many("tool", &arguments, letter.is_ascii_uppercase());
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
    let mut storm = Storm::default();
    for (arguments, one_too_many) in [
        (r#"{"a":1,"b":2}"#, false),
        (r#"{ "b": 2, "a": 1 }"#, false),
        (r#"{"a": 1,"b":2 }"#, true),
        (r#"{"a":1,"b":"2"}"#, false),
        ("no JSON", false),
        (" no JSON", false),
        ("no JSON ", true),
    ] {
        let held = storm.is_one_too_many("t", arguments, false);
        assert_eq!(held, one_too_many, "{arguments}");
    }
}

#[test]
fn output_that_goes_on_may_be_looked_at_as_often_as_one_likes() {
    let mut storm = Storm::default();
    for _ in 0..9 {
        assert!(!storm.is_one_too_many("bash_output", "{\"id\":1}", false));
    }
    assert!(!storm.is_one_too_many("read_file", "{}", false));
}
