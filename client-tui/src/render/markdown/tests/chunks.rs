//! Any chunking of any text.

use proptest::prelude::*;
use ratatui::text::Line;

use super::{all, made, plain};
use crate::model::ViewOptions;
use crate::render::markdown::links::Links;
use crate::render::markdown::{Markdown, prose};
use crate::render::wrap;

/// Something that looks like Markdown, with the parts in any order.
fn text() -> impl Strategy<Value = String> {
    let parts: Vec<&'static str> = vec![
        "# Head\n",
        "Setext\n===\n",
        "words of a paragraph\n",
        "more\n",
        "\n",
        "\n",
        "\r\n",
        "- item\n",
        "  - inner\n",
        "1. one\n",
        "10) ten\n",
        "   lazy\n",
        "- [x] done\n",
        "> quote\n",
        ">> deep\n",
        "```rust\n",
        "fn a() {}\n",
        "```\n",
        "~~~~\n",
        "    code\n",
        "\tcode\n",
        "| a | b |\n",
        "|---|:-:|\n",
        "| 你好 | `x` | z |\n",
        "---\n",
        "***\n",
        "<div>\n",
        "</div>\n",
        "<!-- open\n",
        "-->\n",
        "[name]: http://a.b\n",
        "\"title\n",
        "end\"\n",
        "[name] ",
        "[other][name]\n",
        "**bold",
        "** ",
        "*em* ",
        "~~no~~ ",
        "`code ",
        "![alt](p) ",
        "<br>",
        "https://example.com/a/very/long/path/that/does/not/fit ",
        "你好，世界。",
        "👨‍👩‍👧",
        "e\u{301}",
        "\u{1b}[31m",
        "&#27;[2J",
        "&#x9b;",
        "&#10;",
        "\u{200b}",
        "\t",
        "a",
        " ",
        "\\",
        "``` js title\n",
        "  ```\n",
        "line  \nbreak\n",
    ];
    prop::collection::vec(prop::sample::select(parts), 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn blocks_are_those_of_the_whole_text(text in text().prop_filter("no targets", |text| !text.contains("]:"))) {
        let look = ViewOptions::default();
        // An open fence keeps blanks at the very end here.
        let text = client::text::clean(&text).trim_end().to_owned();
        let links = Links::default();
        let direct = prose::rows(&text, &links.up_to(0), &look, 60, true);
        let blocks = all(&made([text.as_str()]), &look, 60);
        let words = |rows: &[Line<'static>]| rows.iter().map(ToString::to_string).collect::<Vec<_>>();
        prop_assert_eq!(words(&blocks), words(&direct));
    }

    #[test]
    fn pieces_make_no_difference(text in text(), sizes in prop::collection::vec(1usize..30, 1..20), width in 0usize..90) {
        let look = ViewOptions::default();
        let whole = made([text.as_str()]);
        let mut markdown = Markdown::default();
        let mut seen: Vec<_> = Vec::new();
        let mut rest = text.as_str();
        let mut sizes = sizes.iter().cycle();
        while !rest.is_empty() {
            let at = rest.char_indices().map(|(at, _)| at).nth(*sizes.next().unwrap()).unwrap_or(rest.len());
            let (piece, tail) = rest.split_at(at);
            markdown.push(piece);
            rest = tail;
            for block in seen.len()..markdown.whole() {
                seen.push(markdown.lines(block, &look, width));
            }
            if markdown.blocks() > markdown.whole() {
                prop_assert!(markdown.lines(markdown.whole(), &look, width).len() < 1_000);
            }
            prop_assert!(markdown.blocks() - markdown.whole() <= 1);
        }
        markdown.finish();
        prop_assert_eq!(markdown.text(), client::text::clean(&text));
        prop_assert_eq!(markdown.whole(), markdown.blocks());
        for (block, lines) in seen.iter().enumerate() {
            prop_assert_eq!(&markdown.lines(block, &look, width), lines);
        }
        prop_assert_eq!(all(&markdown, &look, width), all(&whole, &look, width));
        for look in [look, plain()] {
            for row in all(&whole, &look, width) {
                prop_assert!(!row.to_string().contains(char::is_control), "{:?}", row);
                prop_assert!(width < 20 || wrap::cells(&row) <= width, "{:?}", row);
            }
        }
    }
}

#[test]
fn markdown_is_send() {
    fn is_send<T: Send + Default>() -> T {
        T::default()
    }
    assert_eq!(is_send::<Markdown>().blocks(), 0);
}

/// Measures work by bytes parsed, as the machine may be busy: 10 MB take about a second here.
#[test]
fn a_lot_of_text_is_not_read_again_and_again() {
    let kinds = [
        "Some words of a paragraph that is not long.\n\n".to_owned(),
        "- an item of a list that never ends\n\n".to_owned(),
        "| a | b |\n".to_owned(),
        "words without an end ".to_owned(),
        "> quoted\n".to_owned(),
        format!("```json\n{}```\n\n", "{\"a\": 1}\n".repeat(5_000)),
        format!("{}end\n\n", "- an item\n\n".repeat(1_300)),
    ];
    for kind in kinds {
        let text = kind.repeat(400_000 / kind.len());
        let mut markdown = Markdown::default();
        for piece in text.as_bytes().chunks(20) {
            markdown.push(std::str::from_utf8(piece).unwrap());
        }
        markdown.finish();
        assert_eq!(markdown.text().len(), text.len());
        let begin: String = kind.chars().take(30).collect();
        let times = markdown.settling.work / text.len();
        assert!(times <= 10, "{times} times {begin}");
    }
}

#[test]
fn endless_nesting_is_drawn() {
    let many = |part: &str, count: usize| part.repeat(count);
    let texts = [
        many("> ", 6_000),
        many("- ", 6_000),
        (0..300)
            .map(|depth| format!("{}- a\n", "  ".repeat(depth)))
            .collect(),
        many("[", 6_000),
        many("![", 6_000),
        many("[a](", 2_000),
        many("*a _b ", 4_000),
        many("**a", 4_000),
        many("`a``b```", 5_000),
        many("<a ", 6_000),
        many("<!-- ", 2_000),
        many("&amp;", 4_000),
        many("~~a ", 4_000),
        format!(
            "{}\n{}\n{}",
            many("|a", 1_000),
            many("|-", 1_000),
            many("|\n", 1_000)
        ),
        many("e\u{301}\u{200d}", 4_000),
        many("\u{301}", 20_000),
    ];
    for text in texts {
        let markdown = made([text.as_str()]);
        for width in [1, 2, 20, 80] {
            assert!(
                !all(&markdown, &ViewOptions::default(), width).is_empty(),
                "{}",
                &text[..20]
            );
        }
    }
}

#[test]
fn adjacent_code_blocks_start_in_their_own_language() {
    let look = ViewOptions::default();
    let text = "```rust\none\n2\n3\n4\n5\n6\n7\n8\nfn a() {}\n```\n``` js\n</div>\n";
    let whole = all(&made([text]), &look, 40);
    let mut markdown = Markdown::default();
    for piece in text.split_inclusive('\n') {
        markdown.push(piece);
        if markdown.blocks() > 0 {
            // Intermediate results are cached.
            let _ = markdown.lines(markdown.blocks() - 1, &look, 40);
        }
    }
    markdown.finish();
    assert_eq!(all(&markdown, &look, 40), whole);
}
