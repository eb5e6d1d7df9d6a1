use proptest::prelude::*;

use super::*;

fn press(input: &mut Input, names: &[&str]) {
    for name in names {
        input.key(&keymap::key(name).unwrap());
    }
}

#[test]
fn line_input_moves_and_deletes_by_grapheme_cluster() {
    let mut input = Input::new("a é👨‍👩‍👧 中");
    press(&mut input, &["left", "left", "backspace"]);
    assert_eq!(input.text(), "a é 中");
    press(&mut input, &["ctrl-a", "x", "alt-f", "ctrl-k"]);
    assert_eq!(input.text(), "xa");
    press(&mut input, &["ctrl-w"]);
    assert_eq!((input.text(), input.words()), ("", None));
}

#[test]
fn line_input_supports_the_editing_keys_of_the_composer() {
    let mut input = Input::new("one two 解析");
    press(&mut input, &["ctrl-w"]);
    assert_eq!(input.text(), "one two ");
    press(&mut input, &["ctrl-w", "ctrl-y", "ctrl-_", "ctrl-_"]);
    assert_eq!(input.text(), "one two ");
    press(&mut input, &["ctrl-j", "shift-enter"]);
    assert_eq!(input.text(), "one two ");
}

#[test]
fn a_paste_becomes_one_line_without_control_characters() {
    let mut input = Input::default();
    input.insert("one\r\ntwo\tthree\u{1b}[31m red\u{7}");
    assert_eq!(input.text(), "one two three red");
}

#[test]
fn keys_that_write_nothing_are_not_taken() {
    let mut input = Input::default();
    for name in ["ctrl-p", "f1", "enter", "esc", "up", "ctrl-c"] {
        assert!(!input.key(&keymap::key(name).unwrap()), "{name}");
    }
    assert!(input.key(&keymap::key("?").unwrap()));
    assert_eq!(input.text(), "?");
}

proptest! {
    #[test]
    fn the_caret_is_never_within_a_character(
        steps in prop::collection::vec((0_usize..12, "[a \u{301}中👨\u{200d}👩🇩🇪é]{0,4}"), 0..30),
        width in 2_usize..20,
    ) {
        let keys = [
            "left", "right", "alt-b", "alt-f", "home", "end", "backspace", "delete", "ctrl-w", "alt-d",
            "ctrl-u", "ctrl-k",
        ];
        let mut input = Input::default();
        for (step, text) in steps {
            input.insert(&text);
            press(&mut input, &[keys[step]]);
            let (text, caret) = (input.text(), input.text.caret());
            let stops: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
            prop_assert!(caret == text.len() || stops.contains(&caret));
            let (shown, column) = input.part(width);
            let cells: usize = shown.graphemes(true).map(wrap::width).sum();
            prop_assert!(cells <= width && column < width);
        }
    }
}
