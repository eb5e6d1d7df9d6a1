use proptest::prelude::*;
use ratatui::style::Color;

use super::*;

#[test]
fn case_does_not_count_and_letters_that_grow_do_not_shift_anything() {
    assert_eq!(ranges("One ONE one", "oNe"), [(0, 3), (4, 7), (8, 11)]);
    // The small form of `İ` has two letters.
    assert_eq!(ranges("İx", "x"), [(2, 3)]);
    assert_eq!(ranges("你好，世界", "世界"), [(9, 15)]);
    assert!(ranges("abc", "").is_empty());
}

#[test]
fn a_match_may_go_on_in_the_row_below() {
    let lines = ["the quick", "brown fox", "brown"].map(Line::from);
    assert_eq!(rows(&lines, "quick brown"), [0]);
    assert_eq!(rows(&lines, "brown"), [1, 2]);
    assert_eq!(rows(&lines, "none"), [] as [usize; 0]);
}

proptest! {
    #[test]
    fn marking_matches_keeps_the_text_and_reverses_exactly_the_matches(parts in prop::collection::vec("[aAbß 世]{0,5}", 0..5), query in "[ab世]{1,2}") {
        let spans: Vec<_> = parts.iter().map(|part| Span::raw(part.clone())).collect();
        let line = Line::from(spans);
        let before = words(&line);
        let marked = mark(line, &query, Style::new().bg(Color::Blue), true);
        prop_assert_eq!(words(&marked), before.clone());
        let cells: String = marked
            .spans
            .iter()
            .filter(|span| span.style.add_modifier.contains(Modifier::REVERSED))
            .map(|span| span.content.as_ref())
            .collect();
        let wanted: String = ranges(&before, &query)
            .iter()
            .filter_map(|(from, to)| before.get(*from..*to))
            .collect();
        prop_assert_eq!(cells, wanted);
    }
}
