//! The loop detector.

use proptest::prelude::*;
use proto::item::ToolKind;

use crate::loop_detector::{
    CallAndResult, Counting, END_AT, RecentCalls, WARN_AT, counting, hash_call,
};

/// Notes calls with their results; returns the highest count of any, and whether a loop was found.
fn note_all(calls: impl IntoIterator<Item = (u64, u64)>) -> (usize, bool) {
    let mut recent = RecentCalls::default();
    let mut highest = 0;
    for (call, result) in calls {
        let new = CallAndResult { call, result };
        highest = highest.max(recent.count_with(new));
        recent.note(new);
    }
    (highest, recent.is_loop())
}

/// One letter per call, each always with the same result.
fn same_results(calls: &str) -> (usize, bool) {
    note_all(calls.bytes().map(|letter| (u64::from(letter), 1)))
}

#[test]
fn counts_calls_in_a_row() {
    for (calls, highest, is_loop) in [
        ("x", 1, false),
        ("xxxx", 4, false),
        ("xxxxx", 5, false),
        ("xxxxxxxxxx", 10, true),
        ("abcdefghij", 1, false),
        // Up to three calls may take turns.
        ("xaxaxaxaxa", 5, false),
        ("xabxabxabxabxabxabxabxabxabx", 10, true),
        ("xabcxabcxabcxabcxabcxabcxabcxabcxabcxabc", 1, false),
        // The same call between new ones is no loop.
        ("xaxbxcxdxexfxgxhxixjxkxlx", 3, false),
        // A new call in the middle does not hide a loop that goes on.
        ("xxxxxaxxxxx", 10, true),
    ] {
        assert_eq!(same_results(calls), (highest, is_loop), "{calls}");
    }
}

#[test]
fn equivalent_arguments_are_the_same_call() {
    let hash = |arguments: &str| hash_call("t", arguments);
    assert_eq!(hash(r#"{"a":1,"b":2}"#), hash(r#"{ "b": 2, "a": 1 }"#));
    assert_ne!(hash(r#"{"a":1,"b":2}"#), hash(r#"{"a":1,"b":"2"}"#));
    assert_eq!(hash("no JSON"), hash(" no JSON "));
    assert_ne!(hash_call("t", "{}"), hash_call("u", "{}"));
}

#[test]
fn polling_that_waits_does_not_count() {
    let sleeps = r#"{"command":"sleep 30; gh run view"}"#;
    let named = r#"{"command":"grep sleepy a.txt"}"#;
    let later = r#"{"command":"date\nsleep 30"}"#;
    let python = r#"{"command":"python3 -c 'import time; time.sleep(2)'"}"#;
    let follows = r#"{"command":"timeout 1 tail -f x"}"#;
    let killed = r#"{"command":"cd a; timeout --signal=INT -k 5 1.5s tail -f x | head"}"#;
    let tests = r#"{"command":"timeout 2m make test"}"#;
    let limited = r#"{"command":"make test","timeout_ms":1000}"#;
    for (kind, arguments, duration_ms, expected) in [
        (ToolKind::CommandOutput, "{}", 0, Counting::Ignored),
        (ToolKind::Command, sleeps, 30_000, Counting::StartsAnew),
        (ToolKind::Command, sleeps, 3, Counting::Counts),
        (ToolKind::Command, named, 30_000, Counting::Counts),
        (ToolKind::Command, later, 30_000, Counting::StartsAnew),
        (ToolKind::Command, python, 2_050, Counting::StartsAnew),
        (ToolKind::Command, follows, 1_002, Counting::StartsAnew),
        (ToolKind::Command, killed, 1_501, Counting::StartsAnew),
        // It ended by itself before.
        (ToolKind::Command, killed, 1_400, Counting::Counts),
        (ToolKind::Command, tests, 30_000, Counting::Counts),
        (ToolKind::Command, limited, 1_001, Counting::Counts),
        (ToolKind::Other, sleeps, 30_000, Counting::Counts),
    ] {
        assert_eq!(
            counting(kind, arguments, duration_ms),
            expected,
            "{arguments}"
        );
    }
}

proptest! {
    /// Results that change each time are progress, whatever is called.
    #[test]
    fn changing_results_never_trip(calls in prop::collection::vec(0_u64..4, 0..200)) {
        let changing = calls.into_iter().enumerate().map(|(place, call)| (call, place as u64));
        prop_assert_eq!(note_all(changing).1, false);
    }

    /// A poll whose result changes is no loop together with up to two calls that never change.
    #[test]
    fn call_beside_one_that_changes_never_trips(calls in prop::collection::vec(0_u64..3, 0..200)) {
        // Each round ends with a call whose result is new.
        let rounds = calls.into_iter().enumerate();
        let rounds = rounds.flat_map(|(place, call)| [(call, 0), (9, place as u64)]);
        prop_assert!(note_all(rounds).0 < WARN_AT);
    }

    /// Ten alike in a row are a loop, whatever was before.
    #[test]
    fn ten_alike_always_trip(before in prop::collection::vec((0_u64..4, 0_u64..3), 0..100)) {
        let ten = std::iter::repeat_n((7, 7), END_AT);
        prop_assert!(note_all(before.into_iter().chain(ten)).1);
    }

    /// Two or three calls that take turns with the same results are a loop in the end.
    #[test]
    fn cycle_always_trips(length in 1_u64..4, before in prop::collection::vec((0_u64..4, 0_u64..3), 0..100)) {
        let cycle = (0..30).map(|round| (10 + round % length, 1));
        prop_assert!(note_all(before.into_iter().chain(cycle)).1);
    }
}
