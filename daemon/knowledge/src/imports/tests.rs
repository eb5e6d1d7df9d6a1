use proptest::prelude::*;

use super::*;

fn paths(text: &str) -> Vec<String> {
    imports(text)
        .into_iter()
        .map(|import| import.path)
        .collect()
}

#[test]
fn import_is_a_word_that_starts_with_an_at_sign() {
    assert_eq!(
        paths("See @README for the overview and @docs/git.md."),
        ["README", "docs/git.md"]
    );
    assert_eq!(paths("- @~/notes.md"), ["~/notes.md"]);
    assert_eq!(imports("a\n\n@b.md")[0].line, 3);
}

#[test]
fn import_ends_where_chinese_text_or_punctuation_begins() {
    for (text, path) in [
        ("请阅读 @docs/style.md，然后开始", "docs/style.md"),
        ("请阅读 @docs/规范.md。", "docs/规范.md"),
        ("（@docs/style.md）", "docs/style.md"),
        ("参见@docs/style.md", "docs/style.md"),
        ("见 @docs/style.md的说明", "docs/style.md"),
        ("(@docs/style.md)", "docs/style.md"),
        ("\"@docs/style.md\"", "docs/style.md"),
        ("**@docs/style.md**", "docs/style.md"),
        ("@\"docs/with blank.md\"", "docs/with blank.md"),
    ] {
        assert_eq!(paths(text), [path], "{text}");
    }
}

#[test]
fn mail_addresses_and_code_are_text() {
    for text in [
        "write to ann@example.com",
        "the package `@types/node`",
        "``a ` @b.md``",
        "```sh\n@a.md\n```",
        "~~~\n```\n@a.md\n~~~",
        "    @",
        "@a@b",
    ] {
        assert_eq!(paths(text), [""; 0], "{text}");
    }
    assert_eq!(paths("```\ncode\n```\n@a.md"), ["a.md"]);
    assert_eq!(paths("a ` lone mark @a.md"), ["a.md"]);
}

#[test]
fn only_paths_of_text_files_are_missed_if_they_do_not_exist() {
    let is_path = |path: &str| {
        let import = Import {
            path: path.to_owned(),
            line: 1,
        };
        import.is_clearly_a_path()
    };
    assert!(is_path("docs/a.md") && is_path("./b") && is_path("~/c") && is_path("/d"));
    assert!(!is_path("types/node") && !is_path("ann") && !is_path("example.com"));
}

proptest! {
    #[test]
    fn any_text_is_read(text in "[ @`~a./\n-]{0,80}") {
        for import in imports(&text) {
            prop_assert!(!import.path.contains(char::is_whitespace) && !import.path.is_empty());
            let line = text.lines().nth(import.line - 1).unwrap_or_default();
            let word = format!("@{}", import.path);
            prop_assert!(line.contains(&word));
        }
    }
}
