use super::Markdown;
use crate::model::ViewOptions;
use crate::theme::Theme;

mod chunks;
mod looks;

/// The Markdown of these pieces, finished.
fn made<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Markdown {
    let mut markdown = Markdown::default();
    pieces.into_iter().for_each(|piece| markdown.push(piece));
    markdown.finish();
    markdown
}

fn all(markdown: &Markdown, look: &ViewOptions, width: usize) -> Vec<ratatui::text::Line<'static>> {
    let lines = (0..markdown.blocks()).flat_map(|block| {
        let lines = markdown.lines(block, look, width);
        let words = |rows: &[ratatui::text::Line<'_>]| {
            rows.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let plain = words(&markdown.plain(block, look, width));
        assert_eq!(plain, words(&lines), "block {block} at {width} cells");
        lines
    });
    lines.collect()
}

fn rows(text: &str, width: usize) -> Vec<String> {
    let look = ViewOptions::default();
    all(&made([text]), &look, width)
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn plain() -> ViewOptions {
    ViewOptions {
        theme: Theme::None,
        ..ViewOptions::default()
    }
}
