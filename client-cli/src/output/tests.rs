//! Tables fit, and say nothing to the terminal.

use proto::outcome::UsageTotals;

use super::*;

#[test]
fn money_and_bytes_are_told_as_far_as_they_are_known() {
    let usage = |cost_micros, unknown_cost_calls| UsageTotals {
        requests: 4,
        cost_micros,
        unknown_cost_calls,
        ..UsageTotals::default()
    };
    assert_eq!(cost(&usage(0, 0)), "$0.0000");
    assert_eq!(cost(&usage(12_345_678, 0)), "$12.3456");
    assert_eq!(cost(&usage(99, 0)), "less than $0.0001");
    assert_eq!(cost(&usage(0, 4)), "not known");
    assert_eq!(
        cost(&usage(500, 2)),
        "$0.0005 and 2 requests of unknown price"
    );
    assert_eq!(bytes(950), "950 B");
    assert_eq!(bytes(12_345), "12 kB");
    assert_eq!(bytes(2_540_000), "2.5 MB");
    assert_eq!(counted(1, Thing::Turn), "1 turn");
    assert_eq!(counted(0, Thing::Turn), "0 turns");
}

fn rows() -> Vec<[String; 3]> {
    vec![
        [
            "3".into(),
            "running".into(),
            "a \u{1b}[31mred\u{1b}[0m\nline".into(),
        ],
        ["12".into(), "中文".into(), "x".repeat(40)],
    ]
}

#[test]
fn columns_stand_below_their_heads() {
    let lines = lay_out(["PID", "STATE", "LAST"], &rows(), None);
    assert_eq!(lines[0], "PID  STATE    LAST");
    assert_eq!(lines[1], "3    running  a red line");
    assert_eq!(lines[2], format!("12   中文     {}", "x".repeat(40)));
}

#[test]
fn of_a_long_text_the_end_stays() {
    assert_eq!(end_of("/w/project", 10), "/w/project");
    assert_eq!(end_of("/home/ann/项目.trees/1a", 11), "….trees/1a");
    assert_eq!(end_of("/home/ann/项目.trees/1a", 12), "…目.trees/1a");
    assert_eq!(end_of("abc", 1), "…");
    assert_eq!(end_of("abc", 0), "…");
}

#[test]
fn a_narrow_terminal_cuts_and_shows_that_it_did() {
    let lines = lay_out(["PID", "STATE", "LAST"], &rows(), Some(20));
    assert!(lines.iter().all(|line| width(line) <= 20), "{lines:?}");
    assert!(lines[2].ends_with('…'));
    assert!(!lines[0].ends_with('…'));
}

#[test]
fn numbers_are_short() {
    for (number, words) in [
        (0, "0"),
        (9_999, "9999"),
        (10_000, "10k"),
        (999_999, "999k"),
        (3_450_000, "3.4M"),
    ] {
        assert_eq!(short(number), words);
    }
}

#[test]
fn times_are_told_in_two_numbers_at_most() {
    for (ms, words) in [
        (0, "0.0 s"),
        (9_990, "9.9 s"),
        (45_000, "45 s"),
        (119_000, "119 s"),
        (120_000, "2 min"),
        (3_900_000, "1 h 5 min"),
        (176_400_000, "2 d 1 h"),
    ] {
        assert_eq!(lasted(ms), words);
    }
    assert_eq!(ago(Stamp(i64::MAX)), "0.0 s", "a clock that went back");
}
