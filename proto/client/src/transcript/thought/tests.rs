use proptest::prelude::*;

use super::Thought;

fn lines(thought: &Thought) -> Vec<String> {
    let parts = (0..=thought.whole()).flat_map(|part| thought.part(part).lines());
    // Blanks after the words of a line are not seen.
    parts.map(|line| line.trim_end().to_owned()).collect()
}

proptest! {
    #[test]
    fn parts_cover_the_whole_thought_and_complete_ones_do_not_change(
        pieces in prop::collection::vec(prop::sample::select(vec!["a", " b", "\n", "\n\n", "  \n", "words\nwords\n", "\r\n", "你"]), 0..60),
    ) {
        let mut thought = Thought::default();
        let mut seen: Vec<String> = Vec::new();
        for piece in &pieces {
            thought.push(piece);
            for part in seen.len()..thought.whole() {
                seen.push(thought.part(part).to_owned());
            }
        }
        for (part, words) in seen.iter().enumerate() {
            prop_assert_eq!(thought.part(part), words);
        }
        let text = pieces.concat();
        let whole: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
        prop_assert_eq!(lines(&thought), whole);
        prop_assert_eq!(lines(&Thought::from(text.as_str())), lines(&thought));
    }
}

#[test]
fn long_reasoning_has_many_parts_that_are_whole() {
    let thought = Thought::from("a line\n\n".repeat(1_000).as_str());
    assert!(thought.whole() > 200, "{}", thought.whole());
    assert_eq!(thought.part(thought.whole() + 1), "");
}
