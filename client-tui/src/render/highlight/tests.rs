use ratatui::style::Style;

use super::{Highlighter, LINES_MAX, find, plain};
use crate::theme::Theme;

/// The style of the first span that holds these words.
fn style(lines: &[ratatui::text::Line<'static>], words: &str) -> Style {
    let mut spans = lines.iter().flat_map(|line| &line.spans);
    spans
        .find(|span| span.content.contains(words))
        .unwrap()
        .style
}

#[test]
fn languages_are_found_by_their_usual_names() {
    for token in [
        "rust",
        "rs",
        "ts",
        "tsx",
        "jsx",
        "toml",
        "sh",
        "bash",
        "python",
        "py",
        "json",
        "jsonc",
        "diff",
        "yaml",
        "go",
        "c++",
        "cpp",
        "Rust",
        "rust,ignore",
        "{.python}",
        "console",
        "dockerfile",
        "html",
        "css",
        "sql",
        "md",
    ] {
        assert!(find(token).is_some(), "{token}");
    }
    assert!(find("text").is_none() && find("").is_none() && find("nolang").is_none());
}

#[test]
fn different_kinds_look_different_and_the_text_stays() {
    for theme in [Theme::Dark, Theme::Light] {
        let mut code = Highlighter::of("rust").unwrap();
        let lines = [
            code.line("fn main() { /* a\n", theme),
            code.line("still */ let s = \"x\";", theme),
        ];
        assert_eq!(lines[0].to_string(), "fn main() { /* a");
        assert_eq!(lines[1].to_string(), "still */ let s = \"x\";");
        let comment = style(&lines[..1], "/* a");
        assert_eq!(style(&lines[1..], "still */"), comment, "carried over");
        let all = [
            comment,
            style(&lines, "fn"),
            style(&lines, "main"),
            style(&lines[1..], "\"x\""),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(
                !all[..index].contains(one) && *one != Style::new(),
                "{index}"
            );
        }
    }
}

#[test]
fn long_code_is_plain() {
    let mut code = Highlighter::of("json").unwrap();
    let long = format!("[{}]", "1,".repeat(2_000));
    assert_eq!(code.line(&long, Theme::Dark), plain(&long, Theme::Dark));
    assert_ne!(code.line("1", Theme::Dark), plain("1", Theme::Dark));
    code.lines = LINES_MAX;
    assert_eq!(code.line("1", Theme::Dark), plain("1", Theme::Dark));
}
