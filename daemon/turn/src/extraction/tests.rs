//! Reasoning extraction and the choice of a sample: parsing accepts any text, and the best sample wins.

use proptest::prelude::*;
use proto::ItemId;

use super::*;

fn read(answer: &str) -> Option<ReasoningExtracted> {
    parse(ItemId("m1.2".into()), answer)
}

#[test]
fn object_is_found_despite_surrounding_text() {
    let plain =
        r#"{"subgoals":["a"],"hypotheses":[],"uncertainties":["b","c"],"rejected_paths":["d"]}"#;
    let expected = read(plain).expect("an object");
    assert_eq!(expected.uncertainties, ["b", "c"]);
    assert_eq!(expected.rejected_paths, ["d"]);
    for around in [
        format!("```json\n{plain}\n```"),
        format!("Here {{it}} is: {plain} That is all."),
        format!("{{\"other\": 1}} {plain}"),
        plain.replace("rejected_paths", "rejectedPaths"),
    ] {
        assert_eq!(read(&around), Some(expected.clone()), "{around}");
    }
}

#[test]
fn values_other_than_lists_of_strings_are_skipped() {
    let found = read(
        r#"{"subgoals":"one","hypotheses":[1,null,{"a":2}," two \n lines "],"uncertainties":7}"#,
    );
    let found = found.expect("an object");
    assert_eq!(found.subgoals, ["one"]);
    assert_eq!(found.hypotheses, ["two lines"]);
    assert!(found.uncertainties.is_empty() && found.rejected_paths.is_empty());
    for nothing in [
        "",
        "no object",
        "{\"a\":1}",
        "{\"subgoals\":[\"cut",
        "[1,2]",
    ] {
        assert_eq!(read(nothing), None, "{nothing}");
    }
}

#[test]
fn lists_and_entries_are_bounded() {
    let long = "ä".repeat(1_000);
    let many: Vec<_> = (0..9).map(|_| long.clone()).collect();
    let answer = serde_json::json!({"uncertainties": many}).to_string();
    let found = read(&answer).expect("an object");
    assert_eq!(found.uncertainties.len(), 5);
    assert!(
        found
            .uncertainties
            .iter()
            .all(|entry| entry.chars().count() == 161)
    );
}

#[test]
fn temperatures_are_spread_from_end_to_end() {
    assert_eq!(temperatures(1), [0]);
    assert_eq!(temperatures(2), [0, 100]);
    assert_eq!(temperatures(3), [0, 50, 100]);
    assert_eq!(temperatures(4), [0, 33, 67, 100]);
    assert_eq!(temperatures(8).len(), 8);
}

fn sample() -> impl Strategy<Value = SampleScore> {
    (any::<bool>(), proptest::option::of(0_usize..4), 0_usize..4).prop_map(
        |(is_usable, uncertainties, length)| SampleScore {
            is_usable,
            uncertainties,
            length,
        },
    )
}

proptest! {
    #[test]
    fn no_sample_is_better_than_the_chosen_one(samples in proptest::collection::vec(sample(), 0..9)) {
        let Some(at) = choose(&samples) else {
            prop_assert!(samples.is_empty());
            return Ok(());
        };
        let won = samples[at];
        for (other, sample) in samples.iter().enumerate() {
            if sample.is_usable && !won.is_usable {
                prop_assert!(false, "one that cannot be used has won");
            }
            if sample.is_usable != won.is_usable {
                continue;
            }
            let known = |sample: &SampleScore| sample.uncertainties.unwrap_or(usize::MAX);
            prop_assert!(known(&won) <= known(sample));
            if known(&won) == known(sample) {
                prop_assert!(won.length <= sample.length);
                prop_assert!(won.length < sample.length || at <= other);
            }
        }
    }

    #[test]
    fn parse_accepts_any_answer_text(text in any::<String>(), cut in 0_usize..200) {
        let plain = r#"{"subgoals":["a"],"uncertainties":["b"]}"#;
        let cut: String = plain.chars().take(cut).collect();
        for answer in [text.clone(), format!("{text}{plain}"), format!("{cut}{text}")] {
            if let Some(found) = read(&answer) {
                prop_assert!(found.lists().iter().all(|(_, list)| list.len() <= 5));
            }
        }
    }

    #[test]
    fn a_trace_is_capped_at_both_ends(length in 0_usize..20_000, wide in any::<bool>()) {
        let trace = if wide { "日".repeat(length) } else { "xy".repeat(length) };
        let shown = capped(&trace);
        prop_assert!(shown.len() <= TRACE_MAX + 16);
        prop_assert!(trace.len() > TRACE_MAX || shown == trace);
    }
}
