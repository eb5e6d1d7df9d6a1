use proptest::prelude::*;

use super::*;

fn edited(content: &str, old: &str, new: &str, all: bool) -> Result<String, EditError> {
    replace(content.as_bytes(), old, new, all)
        .map(|edited| String::from_utf8(edited.bytes).unwrap())
}

#[test]
fn one_place_is_replaced() {
    assert_eq!(
        edited("a\nb\nc\n", "b", "B\nB", false).unwrap(),
        "a\nB\nB\nc\n"
    );
    assert_eq!(edited("a\nb\n", "b\n", "", false).unwrap(), "a\n");
    let two = replace(b"x y x", "x", "z", true).unwrap();
    assert_eq!((two.bytes.as_slice(), two.count), (b"z y z".as_slice(), 2));
}

#[test]
fn several_places_are_named() {
    let error = edited("x\ny\nx\nz x\n", "x", "q", false).unwrap_err();
    assert_eq!(
        error,
        EditError::Several {
            count: 3,
            lines: vec![1, 3, 4]
        }
    );
}

#[test]
fn bytes_that_are_not_utf8_stay() {
    let edited = replace(b"\xff\xfe one \x80", "one", "two", false).unwrap();
    assert_eq!(edited.bytes, b"\xff\xfe two \x80");
}

#[test]
fn a_file_with_crlf_keeps_it() {
    assert_eq!(
        edited("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", false).unwrap(),
        "x\r\ny\r\nz\r\nc\r\n"
    );
    assert_eq!(
        edited("a\r\nb\r\n", "b", "x\ny", false).unwrap(),
        "a\r\nx\r\ny\r\n"
    );
    assert_eq!(
        edited("a\r\nb\n", "b", "x\ny", false).unwrap(),
        "a\r\nx\ny\n"
    );
}

#[test]
fn the_nearest_passage_is_shown() {
    let content = "fn one() {\n    1\n}\n\nfn two(count: u64) -> u64 {\n    count * 2\n}\n";
    let error = edited(
        content,
        "fn two(count: u32) -> u64 {\n    count * 2\n}",
        "x",
        false,
    )
    .unwrap_err();
    let EditError::Missing {
        nearest: Some(passage),
    } = error
    else {
        panic!("{error:?}")
    };
    assert_eq!((passage.first_line, passage.blanks_only), (5, false));
    assert_eq!(
        passage.text,
        "fn two(count: u64) -> u64 {\n    count * 2\n}"
    );
    let error = edited(
        content,
        "fn two(count: u64) -> u64 {\n  count * 2\n}",
        "x",
        false,
    )
    .unwrap_err();
    assert!(matches!(
        error,
        EditError::Missing {
            nearest: Some(SimilarPassage {
                first_line: 5,
                blanks_only: true,
                ..
            })
        }
    ));
    let error = edited(content, "something else entirely, nowhere near", "x", false).unwrap_err();
    assert_eq!(error, EditError::Missing { nearest: None });
    assert_eq!(
        edited("", "abc", "x", false).unwrap_err(),
        EditError::Missing { nearest: None }
    );
}

#[test]
fn a_huge_file_without_the_passage_is_quick() {
    let content = "let value = compute(index);\n".repeat(400_000);
    let before = Instant::now();
    let error = edited(
        &content,
        "let other = compute(place);\nlet x = 1;",
        "x",
        false,
    )
    .unwrap_err();
    assert!(matches!(error, EditError::Missing { .. }));
    assert!(
        before.elapsed() < Duration::from_secs(10),
        "{:?}",
        before.elapsed()
    );
}

#[test]
fn omission_markers_are_refused() {
    for line in [
        "// ... existing code ...",
        "# ... rest of the file ...",
        "/* ... unchanged code ... */",
        "... existing code ...",
        "<!-- ... remaining content ... -->",
        "// … rest of function …",
        "    // ... (other methods unchanged)",
        "// [... existing code ...]",
        "// existing code...",
    ] {
        let error = edited("a\n", "a", &format!("b\n{line}\nc"), false).unwrap_err();
        assert_eq!(
            error,
            EditError::Elision {
                line: line.trim().to_owned()
            },
            "{line}"
        );
        let error = edited("a\n", &format!("a\n{line}"), "b", false).unwrap_err();
        assert!(
            matches!(error, EditError::Elision { .. }),
            "{line}: {error:?}"
        );
    }
}

#[test]
fn similar_code_is_not_an_omission_marker() {
    for line in [
        "...",
        "def f(): ...",
        "let all = [..first, ...rest];",
        "fn rest_of(code: &str) {}",
        "// See the rest of the code.",
        "println!(\"loading existing code ...\");",
        "print(\"...\")  # existing code follows",
        "// the existing code is kept",
    ] {
        assert!(edited("a\n", "a", line, false).is_ok(), "{line}");
    }
    // A text about placeholders may keep its own.
    let content = "x\n// ... existing code ...\ny\n";
    assert!(
        edited(
            content,
            "// ... existing code ...\ny",
            "// ... existing code ...\nz",
            false
        )
        .is_ok()
    );
}

#[test]
fn an_empty_or_unchanged_edit_is_refused() {
    assert_eq!(edited("a", "", "b", false).unwrap_err(), EditError::Empty);
    assert_eq!(edited("a", "a", "a", false).unwrap_err(), EditError::Same);
}

proptest! {
    /// Equals `str::replace` for any ordinary text.
    #[test]
    fn replacing_all_matches_equals_str_replace(content in "[abc\n]{0,40}", old in "[abc]{1,3}", new in "[xyz]{0,3}") {
        match edited(&content, &old, &new, true) {
            Ok(text) => prop_assert_eq!(text, content.replace(&old, &new)),
            Err(error) => prop_assert!(!content.contains(&old), "{error:?}"),
        }
    }
}

#[test]
fn a_replacement_that_multiplies_beyond_the_limit_is_refused() {
    let content = vec![b'a'; 100_000];
    let error = replace(&content, "a", &"b".repeat(10_000), true);
    assert_eq!(error, Err(EditError::TooLong));
}
