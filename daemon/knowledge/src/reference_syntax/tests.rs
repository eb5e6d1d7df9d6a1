use proptest::prelude::*;

use super::*;

fn texts(prompt: &str) -> Vec<String> {
    let found = find_references(prompt).into_iter();
    found.map(|reference| reference.text).collect()
}

/// The readings of the only reference.
fn readings(prompt: &str) -> Vec<(String, Option<(u64, u64)>)> {
    let found = find_references(prompt);
    assert_eq!(found.len(), 1, "{found:?}");
    let pair = |reading: Reading| (reading.path, reading.lines);
    found[0].readings().into_iter().map(pair).collect()
}

#[test]
fn reference_is_a_word_that_starts_with_an_at_sign() {
    assert_eq!(texts("Fix @src/a.rs and (@b.md)"), ["src/a.rs", "b.md)"]);
    assert_eq!(texts("@a @a"), ["a"]);
    assert_eq!(texts("@\"my notes.md\" please"), ["my notes.md"]);
    assert_eq!(texts("看看@src/a.rs"), ["src/a.rs"]);
}

#[test]
fn addresses_versions_and_code_are_text() {
    for prompt in [
        "ann@example.com",
        "npm i left-pad@1.3.0",
        "`@types/node`",
        "@",
        "@ alone",
        "@, then",
        "a\\@b",
        "@\"\"",
    ] {
        assert_eq!(texts(prompt), [""; 0], "{prompt}");
    }
}

#[test]
fn readings_go_from_the_literal_to_the_probable() {
    let path = |text: &str| (text.to_owned(), None);
    assert_eq!(readings("see @a.rs."), [path("a.rs."), path("a.rs")]);
    assert_eq!(
        readings("@a.rs:10-40,"),
        [
            path("a.rs:10-40,"),
            path("a.rs:10-40"),
            ("a.rs".to_owned(), Some((10, 40)))
        ]
    );
    assert_eq!(readings("@a.rs:7")[1], ("a.rs".to_owned(), Some((7, 7))));
    assert_eq!(readings("@a.rs里的代码").last(), Some(&path("a.rs")));
    for (prompt, name) in [
        ("@中文.txt，看看", "中文.txt"),
        ("@中文.txt的内容", "中文.txt"),
        ("@文档/说明。然后", "文档/说明"),
        ("@a.txt（旧的）", "a.txt"),
    ] {
        assert!(readings(prompt).contains(&path(name)), "{prompt}");
    }
    assert_eq!(
        readings("@a.rs:7-")[1],
        ("a.rs".to_owned(), Some((7, u64::MAX)))
    );
    assert_eq!(
        readings("@\"b c.txt\":1-3, and"),
        [("b c.txt".to_owned(), Some((1, 3)))]
    );
    assert_eq!(readings("@\"b c.txt\": see"), [path("b c.txt")]);
    // Refused, but not without a word.
    assert_eq!(readings("@a.rs:4-2")[1], ("a.rs".to_owned(), Some((4, 2))));
    for (prompt, directory) in [("@.", "."), ("look at @. now", "."), ("@..", "..")] {
        assert_eq!(readings(prompt)[0], path(directory));
    }
    assert_eq!(find_references("Wait @... what?"), []);
    assert_eq!(readings("@\"b c.\""), [path("b c.")]);
}

#[test]
fn clear_paths_are_distinguished_from_mentions_and_package_names() {
    let clear = |prompt: &str| find_references(prompt)[0].is_clearly_a_path();
    for prompt in [
        "@src/none.rs",
        "@none.rs:3",
        "@./x",
        "@~/x",
        "@/x",
        "@\"x y\"",
        "@App.svelte",
        "@proto/api.proto",
        "@.env.example",
        "@foo.properties",
        "@missing.txt，看看",
    ] {
        assert!(clear(prompt), "{prompt}");
    }
    for prompt in [
        "@property",
        "@types/node",
        "@app.get(\"/x\")",
        "@pytest.fixture",
        "@alice",
    ] {
        assert!(!clear(prompt), "{prompt}");
    }
}

proptest! {
    #[test]
    fn any_prompt_is_read(prompt in "[@a.:\"1-9 里`\n/]{0,60}") {
        for reference in find_references(&prompt) {
            prop_assert!(prompt.contains(&reference.text));
            for reading in reference.readings() {
                prop_assert!(!reading.path.is_empty());
            }
        }
    }
}
