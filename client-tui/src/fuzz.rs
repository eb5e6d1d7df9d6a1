//! Fuzz target: properties that hold for any model text on its way to the screen, see `tests/fuzz/README.md`.

use ratatui::text::Line;

use crate::model::ViewOptions;
use crate::render::markdown::Markdown;
use crate::render::wrap;
use crate::theme::Theme;

/// Markdown: chunk boundaries make no difference, finished blocks stay, rows fit and hold no control characters. The
/// first byte is the chunk size in characters, the second the width.
pub fn markdown(data: &[u8]) {
    let [size, width, rest @ ..] = data else {
        return;
    };
    let (size, width) = (usize::from(*size).max(1), usize::from(*width % 128));
    let text = String::from_utf8_lossy(rest);
    let look = ViewOptions::default();
    let mut whole = Markdown::default();
    whole.push(&text);
    whole.finish();
    let mut grown = Markdown::default();
    let mut seen: Vec<Vec<Line<'static>>> = Vec::new();
    let characters: Vec<char> = text.chars().collect();
    for piece in characters.chunks(size) {
        grown.push(&piece.iter().collect::<String>());
        for block in seen.len()..grown.whole() {
            seen.push(grown.lines(block, &look, width));
        }
        assert!(grown.blocks() - grown.whole() <= 1);
    }
    if grown.blocks() > grown.whole() {
        let _ = grown.lines(grown.whole(), &look, width);
    }
    grown.finish();
    assert_eq!(grown.text(), client::text::clean(&text));
    assert_eq!(grown.blocks(), grown.whole());
    for (block, lines) in seen.iter().enumerate() {
        assert_eq!(&grown.lines(block, &look, width), lines, "block {block}");
    }
    assert_eq!(grown.blocks(), whole.blocks());
    let plain = ViewOptions {
        theme: Theme::None,
        ..ViewOptions::default()
    };
    for block in 0..whole.blocks() {
        let rows = whole.lines(block, &look, width);
        assert_eq!(grown.lines(block, &look, width), rows, "block {block}");
        let words = |rows: &[Line<'_>]| rows.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(words(&whole.plain(block, &look, width)), words(&rows));
        for row in rows.iter().chain(&whole.lines(block, &plain, width)) {
            assert!(!row.to_string().contains(char::is_control), "{row:?}");
            assert!(width < 20 || wrap::cells(row) <= width, "{row:?}");
        }
    }
}

#[cfg(test)]
#[path = "../../tests/fuzz/seeds.rs"]
mod seeds;

#[test]
fn seeds_of_markdown() {
    seeds::each("markdown", markdown);
}
