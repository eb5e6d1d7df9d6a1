//! How the fields of a form are drawn: questions, their options, words of one's own.

use crate::messages::Language;
use crate::model::interaction::scene::{Scene, ask, question};

#[test]
fn options_are_shown_with_numbers_descriptions_and_choices() {
    let asks = vec![ask("Which one?", &["serde", "nom"], false)];
    let mut scene = Scene::of(Vec::new(), vec![question(1, asks)]);
    scene.press(&["2"]);
    assert_eq!(
        scene.rows(80, 24)[1..],
        [
            "Library",
            "Which one?",
            "  1 ( ) serde",
            "        what serde means",
            "› 2 (x) nom",
            "        what nom means",
            "choose one, or write your own answer",
            "1–2 choose · o own answer · Enter answer · Esc answer later",
        ]
    );
}

#[test]
fn the_mark_and_the_text_stay_visible_on_a_small_screen() {
    let long = "words that go on and on ".repeat(8);
    let labels = ["one 一", "two", &long, "four \u{1b}[31m\u{202e}"];
    let asks = vec![ask(&long, &labels, true), ask("Next?", &["a", "b"], false)];
    for language in [Language::English, Language::Chinese] {
        let mut scene = Scene::of(Vec::new(), vec![question(1, asks.clone())]);
        scene.model.look.language = language;
        assert!(scene.text(40, 12).contains("↓"));
        scene.press(&["pagedown", "pageup", "4"]);
        let text = scene.text(40, 12);
        assert!(text.contains("› 4 [x] four"), "{text}");
        assert!(!text.contains('\u{202e}'));
        scene.press(&["o"]);
        scene.paste(&"中文".repeat(40));
        let panel = scene.panel(40, 12);
        let (row, column) = panel.cursor.unwrap();
        assert!(panel.rows[usize::from(row)].to_string().starts_with("› "));
        assert!((38..40).contains(&column));
        scene.press(&["enter"]);
        assert!(scene.text(40, 12).contains("Next?"));
    }
}
