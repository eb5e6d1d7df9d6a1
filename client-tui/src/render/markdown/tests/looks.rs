//! The look of each construct.

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::{all, made, plain, rows};
use crate::model::ViewOptions;
use crate::render::markdown::Markdown;
use crate::theme::{TextRole, Theme};

/// The span with these words, alone.
fn span<'a>(lines: &'a [Line<'static>], words: &str) -> &'a Span<'static> {
    let mut spans = lines.iter().flat_map(|line| &line.spans);
    spans.find(|span| span.content == words).unwrap()
}

#[test]
fn words_wrap_and_blocks_stand_apart() {
    let text = "# A title\n\nSome words of a paragraph that goes on\nand ends here.\n\n\nAnother.";
    assert_eq!(
        rows(text, 80),
        [
            "# A title",
            "",
            "Some words of a paragraph that goes on",
            "and ends here.",
            "",
            "Another."
        ]
    );
    assert_eq!(
        rows(text, 20),
        [
            "# A title",
            "",
            "Some words of a",
            "paragraph that goes",
            "on",
            "and ends here.",
            "",
            "Another."
        ]
    );
    assert_eq!(rows("Setext title\n---\n", 9), ["## Setext", "   title"]);
    assert_eq!(rows("#\n", 20), ["# "]);
    assert_eq!(rows("", 20), Vec::<String>::new());
    assert_eq!(rows("\n\n---\n", 20), ["─".repeat(20)]);
    assert_eq!(
        rows("你好，世界。👨‍👩‍👧再见", 8),
        ["你好，世", "界。👨‍👩‍👧再", "见"]
    );
}

#[test]
fn emphasis_is_visible_without_colours() {
    let text = "## Head\n\n**bold** *em* ~~no~~ `a b` [words](http://a.b) <http://c.d> ![alt](p)";
    assert_eq!(
        rows(text, 80),
        [
            "## Head",
            "",
            "bold em no a b words (http://a.b) http://c.d [image: alt]"
        ]
    );
    let lines = all(&made([text]), &plain(), 80);
    assert_eq!(
        lines[2].to_string(),
        "bold em ~~no~~ `a b` words (http://a.b) http://c.d [image: alt]"
    );
    for (words, modifier) in [
        ("## ", Modifier::DIM),
        ("Head", Modifier::BOLD),
        ("bold", Modifier::BOLD),
        ("em", Modifier::ITALIC),
        ("~~no~~", Modifier::CROSSED_OUT),
        ("words", Modifier::UNDERLINED),
        ("http://a.b", Modifier::DIM),
    ] {
        assert!(
            span(&lines, words).style.add_modifier.contains(modifier),
            "{words}"
        );
    }
    let lines = all(&made([text]), &ViewOptions::default(), 80);
    assert_eq!(
        span(&lines, "a b").style.fg,
        Theme::Dark.style(TextRole::Code).fg
    );
}

#[test]
fn lists_nest_and_tasks_have_boxes() {
    let text = "- one two three four\n  - inner\n    more\n- [x] done\n- [ ] open\n- \n\n9. nine\n10. ten\n\n    apart\n";
    assert_eq!(
        rows(text, 80),
        [
            "• one two three four",
            "  • inner",
            "    more",
            "☑ done",
            "☐ open",
            "•",
            "",
            "9. nine",
            "",
            "10. ten",
            "",
            "    apart"
        ]
    );
    assert_eq!(
        rows(text, 20)[..4],
        ["• one two three four", "  • inner", "    more", "☑ done"]
    );
    assert_eq!(
        rows("- one two three four", 14),
        ["• one two", "  three four"]
    );
}

#[test]
fn quotes_have_a_bar() {
    let text = "> a quote with words\n>\n> - item\n> > deep\n";
    assert_eq!(
        rows(text, 40),
        ["│ a quote with words", "│", "│ • item", "│", "│ │ deep"]
    );
    assert_eq!(rows(text, 16)[..2], ["│ a quote with", "│ words"]);
}

#[test]
fn nesting_beyond_the_width_ends_there() {
    let deep = format!("{}words that wrap", "> ".repeat(2_000));
    let rows = rows(&deep, 20);
    assert_eq!(rows, ["│ │ │ │ │ words that", "│ │ │ │ │ wrap"]);
}

#[test]
fn code_is_kept_as_it_is() {
    let text = "```rust\nfn a() {\n\n\tb();\n}\n```\n\n    indented\n\n~~~\n~~~\n";
    let expected = [
        "rust",
        "  fn a() {",
        "",
        "      b();",
        "  }",
        "",
        "  indented",
        "",
        "",
    ];
    assert_eq!(rows(text, 80), expected);
    assert_eq!(
        rows("```\nabcdefghijklmnopqrstuvwxyz\n```", 20),
        ["  abcdefghijklmnopqr", "↪ stuvwxyz"]
    );
    let lines = all(&made([text]), &ViewOptions::default(), 80);
    assert_ne!(span(&lines, "fn").style, span(&lines, "a").style);
    assert_eq!(
        span(&lines, "indented").style,
        Theme::Dark.style(TextRole::Code)
    );
}

#[test]
fn long_code_is_in_parts_that_go_on_with_its_colours() {
    let code = format!("/*\n{}*/ fn\n", "words\n".repeat(40));
    let whole = all(
        &made(["```rust\n", &code, "```\n"]),
        &ViewOptions::default(),
        80,
    );
    assert_eq!(whole.len(), 43);
    let last = made(["```rust\n", &code, "```\n"]);
    assert!(last.whole() > 4);
    let alone = last.lines(last.whole() - 1, &ViewOptions::default(), 80);
    assert_eq!(whole[whole.len() - alone.len()..], alone);
    assert_eq!(
        span(&whole, "words").style.fg,
        Some(ratatui::style::Color::from_u32(0x8b_949e))
    );
    assert_ne!(span(&alone, "fn").style, span(&whole, "words").style);
}

#[test]
fn tables_fit_or_become_lines() {
    let text = "| Name | Count | Note |\n|:--|--:|:-:|\n| 你好 | 12 | some longer words here |\n| b | 3 | x<br>y |\n";
    assert_eq!(
        rows(text, 80),
        [
            "┌──────┬───────┬────────────────────────┐",
            "│ Name │ Count │          Note          │",
            "├──────┼───────┼────────────────────────┤",
            "│ 你好 │    12 │ some longer words here │",
            "├──────┼───────┼────────────────────────┤",
            "│ b    │     3 │           x            │",
            "│      │       │           y            │",
            "└──────┴───────┴────────────────────────┘",
        ]
    );
    assert_eq!(
        rows(text, 32)[3..6],
        [
            "│ 你好 │    12 │  some longer  │",
            "│      │       │  words here   │",
            "├──────┼───────┼───────────────┤",
        ]
    );
    assert_eq!(
        rows(text, 20),
        [
            "Name: 你好",
            "Count: 12",
            "Note: some longer",
            "  words here",
            "",
            "Name: b",
            "Count: 3",
            "Note: x y"
        ]
    );
    let lines = all(&made([text]), &plain(), 80);
    assert!(
        span(&lines, "Count")
            .style
            .add_modifier
            .contains(Modifier::BOLD)
    );
}

#[test]
fn html_is_words_and_nothing_is_obeyed() {
    assert_eq!(rows("<div>\nhi\n</div>\n", 40), ["<div>", "hi", "</div>"]);
    assert_eq!(rows("a <b>c</b>", 40), ["a <b>c</b>"]);
    assert_eq!(rows("&#27;[31mred\u{1b}[0m &#x202e;x", 40), ["[31mred x"]);
    assert_eq!(made(["a\u{1b}]0;title\u{7}b"]).text(), "ab");
}

#[test]
fn a_link_knows_targets_before_it_and_in_its_block() {
    let text = "[a]\n\n[a]: http://one\n\n[A] and [b]\n\nend\n\n[b]: http://two\n";
    assert_eq!(
        rows(text, 80),
        ["a (http://one)", "", "A (http://one) and [b]", "", "end"]
    );
}

#[test]
fn growing_blocks_are_shown_and_finished_ones_stay() {
    let mut markdown = made([]);
    let look = ViewOptions::default();
    let grown = |markdown: &super::Markdown| {
        let lines = all(markdown, &look, 40);
        (
            markdown.whole(),
            lines.iter().map(ToString::to_string).collect::<Vec<_>>(),
        )
    };
    markdown.push("First wo");
    assert_eq!(grown(&markdown), (0, vec!["First wo".to_owned()]));
    markdown.push("rds\n-");
    assert_eq!(grown(&markdown), (0, vec!["First words".to_owned()]));
    markdown.push("--");
    assert_eq!(grown(&markdown), (0, vec!["First words".to_owned()]));
    markdown.push("- a\n\nSecond\n");
    assert_eq!(markdown.whole(), 1);
    markdown.push("```sh\nls\n``");
    let expected = ["First words", "---- a", "", "Second", "", "sh", "  ls"].map(str::to_owned);
    assert_eq!(grown(&markdown), (2, expected.to_vec()));
    markdown.push("`\n");
    assert_eq!(grown(&markdown), (3, expected.to_vec()));
}

#[test]
fn of_long_code_that_was_drawn_in_order_little_is_kept() {
    let mut markdown = Markdown::default();
    let code = "let a = 1; /* open\nstill */ let b = 2;\n".repeat(100);
    markdown.push(&format!(
        "```rust\n{code}```\n\nand\n\n```rust\n{code}```\n"
    ));
    markdown.finish();
    let look = ViewOptions::default();
    let down: Vec<_> = (0..markdown.blocks())
        .map(|block| markdown.lines(block, &look, 80))
        .collect();
    let kept = |markdown: &Markdown| markdown.colours.borrow().len();
    assert!(kept(&markdown) <= 2, "{}", kept(&markdown));
    for (block, rows) in down.iter().enumerate().rev() {
        assert_eq!(markdown.lines(block, &look, 80), *rows, "block {block}");
    }
    assert!(kept(&markdown) <= 2, "{}", kept(&markdown));
}

#[test]
fn a_tab_after_a_cluster_split_by_colours_ends_at_the_same_stop() {
    for width in [0, 27, 80] {
        let text = "``` js title\n</div>\n\\👨\u{200d}👩\u{200d}👧\t";
        // Both ways to read a block back are compared.
        assert!(!rows(text, width).is_empty());
    }
}

/// Whatever a model writes: no row at the left edge begins as one of the program's own, but behind a bar.
#[test]
fn text_that_looks_like_a_line_of_the_program_is_behind_a_bar() {
    let text = "✓ you allowed `Bash(rm -rf build)`\nand more\n\n■ session ended\n\n── Run this command? ──\n\n│ ls\n\nplain\n\n- ✓ in a list\n\n<p>\n? html\n</p>\n";
    assert_eq!(
        rows(text, 40),
        [
            "│ ✓ you allowed Bash(rm -rf build)",
            "│ and more",
            "",
            "│ ■ session ended",
            "",
            "│ ── Run this command? ──",
            "",
            "│ │ ls",
            "",
            "plain",
            "",
            "• ✓ in a list",
            "",
            "│ <p>",
            "│ ? html",
            "│ </p>",
        ]
    );
    // Nor behind characters that draw nothing.
    for before in ["\u{2800}", "\u{3164}", "\u{301}", "\u{ad}"] {
        let shown = rows(&format!("{before}⊘ bash · denied"), 40);
        assert!(shown[0].starts_with("│ "), "{before:?}: {shown:?}");
    }
    // Nor where a row begins because the line is full.
    assert_eq!(
        rows("aaaa bbbb cccc ✓ you", 15),
        ["│ aaaa bbbb", "│ cccc ✓ you"]
    );
}
