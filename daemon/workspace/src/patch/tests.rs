//! Scenes and properties.

use proptest::prelude::*;
use similar::TextDiff;

use super::*;

fn patched(content: &str, patch: &str) -> Result<String, String> {
    let files = parse(patch).map_err(|error| error.to_string())?;
    assert_eq!(files.len(), 1);
    let applied = apply(content.as_bytes(), &files[0]).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(applied.bytes).unwrap())
}

const HEAD: &str = "--- a/f\n+++ b/f\n";

#[test]
fn a_git_diff_of_several_files_is_read() {
    let files = parse(
        "diff --git a/one.rs b/one.rs\nindex 1..2 100644\n--- a/one.rs\n+++ b/one.rs\n@@ -1,2 +1,2 @@ fn x\n a\n-b\n+c\n\
         diff --git a/new b/new\nnew file mode 100755\nindex 0..1\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n\
         diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
         diff --git a/from b/to\nsimilarity index 100%\nrename from from\nrename to to\n\
         diff --git a/void b/void\nnew file mode 100644\nindex 000..e69\n",
    )
    .unwrap();
    let names: Vec<_> = files
        .iter()
        .map(|file| {
            (
                file.old.as_deref(),
                file.new.as_deref(),
                file.hunks.len(),
                file.mode,
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            (Some("one.rs"), Some("one.rs"), 1, false),
            (None, Some("new"), 1, true),
            (Some("old"), None, 1, false),
            (Some("from"), Some("to"), 0, false),
            (None, Some("void"), 0, false),
        ]
    );
    assert!(files[1].hunks[0].lines[0].unended);
    assert_eq!(files[0].hunks[0].lines.len(), 3);
}

#[test]
fn prefixes_go_as_a_pair_times_and_quotes_are_read() {
    let name = |old: &str, new: &str| {
        let files = parse(&format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n"));
        files.map(|files| files[0].name().to_owned())
    };
    assert_eq!(name("a/f", "b/f").unwrap(), "f");
    assert_eq!(name("a/f", "a/f").unwrap(), "a/f");
    assert_eq!(
        name("src/f\t2024-01-01 00:00", "src/f\t2024").unwrap(),
        "src/f"
    );
    assert_eq!(
        name("\"a/\\303\\244 b\"", "\"b/\\303\\244 b\"").unwrap(),
        "ä b"
    );
    assert!(
        name("a/f", "b/g")
            .unwrap_err()
            .to_string()
            .contains("rename from")
    );
}

#[test]
fn text_that_is_not_a_patch_is_reported() {
    for (text, word) in [
        ("", "no file header"),
        ("hello\n", "no file header"),
        ("@@ -1 +1 @@\n-a\n+b\n", "a hunk without a file"),
        (HEAD, "no hunks"),
        (&format!("{HEAD}@@ -1 +1 @@\n a\n"), "no line is added"),
        (
            &format!("{HEAD}@@ -1 +1 @@\n-a\nxyz\n"),
            "line 5: not a line of a hunk",
        ),
        (&format!("{HEAD}@@ -1 +1 @@\n@@ -3 +3 @@\n-a\n"), "no lines"),
        (
            "--- /dev/null\n+++ b/f\n@@ -1 +1 @@\n a\n+b\n",
            "the file is new",
        ),
        (
            "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n+b\n",
            "both names",
        ),
        (
            "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n",
            "chmod",
        ),
        (
            "*** Begin Patch\nhuh\n*** End Patch\n",
            "expected `*** Update File",
        ),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(word), "{text:?}: {error}");
    }
}

#[test]
fn wrong_counts_and_shifted_lines_are_tolerated() {
    let content = "0\n1\n2\na\nb\nc\n3\n";
    let wanted = "0\n1\n2\na\nB\nc\n3\n";
    for head in [
        "@@ -4,3 +4,3 @@",
        "@@ -1,3 +1,3 @@",
        "@@ -4,9 +4,1 @@",
        "@@ -90,3 +2,3 @@",
        "@@",
    ] {
        let patch = format!("{HEAD}{head}\n a\n-b\n+B\n c\n");
        assert_eq!(patched(content, &patch).unwrap(), wanted, "{head}");
    }
    let files = parse(&format!("{HEAD}@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n")).unwrap();
    assert_eq!(
        apply(content.as_bytes(), &files[0]).unwrap().shifted,
        [(1, 3)]
    );
}

#[test]
fn the_match_nearest_to_the_given_line_is_used() {
    let content = "x\ny\n\nx\ny\n\nx\ny\n";
    let patch = |line: u32| format!("{HEAD}@@ -{line},2 +{line},2 @@\n x\n-y\n+Z\n");
    assert_eq!(
        patched(content, &patch(1)).unwrap(),
        "x\nZ\n\nx\ny\n\nx\ny\n"
    );
    assert_eq!(
        patched(content, &patch(5)).unwrap(),
        "x\ny\n\nx\nZ\n\nx\ny\n"
    );
    assert_eq!(
        patched(content, &patch(99)).unwrap(),
        "x\ny\n\nx\ny\n\nx\nZ\n"
    );
    // Two matches at equal distance are ambiguous.
    let error = patched("x\ny\n-\nx\ny\n", &patch(3)).unwrap();
    assert_eq!(error, "x\ny\n-\nx\nZ\n");
    let error = patched("x\ny\n-\n-\nx\ny\n", &patch(3)).unwrap_err();
    assert!(
        error.contains("lines 1, 5, equally far from line 3"),
        "{error}"
    );
    let error = patched(content, &format!("{HEAD}@@\n x\n-y\n+Z\n")).unwrap_err();
    assert!(error.contains("in 3 places, from lines 1, 4, 7"), "{error}");
}

#[test]
fn a_hunk_that_does_not_match_reports_expected_and_actual_lines() {
    let content = "fn one() {\n    let x = 1;\n    go(x);\n}\n";
    let patch = format!(
        "{HEAD}@@ -1 +1 @@\n-fn one() {{\n+fn two() {{\n@@ -2,2 +2,2 @@\n     let x = 2;\n-    go(x);\n+    stay(x);\n"
    );
    assert_eq!(
        patched(content, &patch).unwrap_err(),
        "hunk 2: its old lines are not in the file (expected at line 2); the most similar passage is from line 2 on\nExpected:\n    let x = 2;\n    go(x);\nFound:\n    let x = 1;\n    go(x);"
    );
}

#[test]
fn spaces_at_line_ends_are_ignored_only_if_one_place_matches() {
    let patch = format!("{HEAD}@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    let files = parse(&patch).unwrap();
    let applied = apply(b"a  \nb\t\nz\n", &files[0]).unwrap();
    // The unchanged line keeps its own spaces.
    assert_eq!(applied.bytes, b"a  \nc\nz\n");
    assert_eq!(applied.loose, [1]);
    let error = patched("a \nb\na\nb \n", &patch).unwrap_err();
    assert!(error.contains("lines 1, 3"), "{error}");
    // An exact match wins over a loose one.
    assert_eq!(patched("a \nb\na\nb\n", &patch).unwrap(), "a \nb\na\nc\n");
    assert!(patched("a\n b\n", &patch).is_err(), "leading spaces count");
}

#[test]
fn line_ends_are_the_files_own() {
    let patch = format!("{HEAD}@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n");
    assert_eq!(
        patched("a\r\nb\r\ne\r\n", &patch).unwrap(),
        "a\r\nc\r\nd\r\ne\r\n"
    );
    assert_eq!(patched("a\nb", &patch).unwrap(), "a\nc\nd");
    let ended = format!("{HEAD}@@ -1 +1 @@\n-b\n\\ No newline at end of file\n+b\n");
    assert_eq!(patched("b", &ended).unwrap(), "b\n");
}

#[test]
fn header_like_lines_are_content_if_the_hunk_counts_say_so() {
    let patch = format!(
        "{HEAD}@@ -1,2 +1,2 @@\n--- a/x\n+++ b/x\n z\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n"
    );
    let files = parse(&patch).unwrap();
    assert_eq!(files.len(), 2);
    assert_eq!(
        apply(b"-- a/x\nz\n", &files[0]).unwrap().bytes,
        b"++ b/x\nz\n"
    );
}

#[test]
fn empty_lines_that_lost_their_blank_are_unchanged_lines() {
    let patch = format!("{HEAD}@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n\n");
    assert_eq!(patched("a\n\nb\n", &patch).unwrap(), "a\n\nc\n");
}

#[test]
fn a_deletion_must_match_all_of_the_file() {
    let patch = "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
    assert_eq!(patched("a\n", patch).unwrap(), "");
    assert!(
        patched("a\nb\n", patch)
            .unwrap_err()
            .contains("not all of its lines")
    );
    assert!(patched("b\n", patch).is_err());
}

#[test]
fn the_envelope_is_read_too() {
    let text = "*** Begin Patch\n*** Update File: src/a.rs\n@@ fn two()\n x\n-y\n+z\n*** Add File: new\n+1\n+2\n*** Delete File: old\n*** Update File: p\n*** Move to: q\n@@\n-a\n+b\n*** End of File\n*** End Patch\n";
    let files = parse(text).unwrap();
    let names: Vec<_> = files
        .iter()
        .map(|file| (file.old.as_deref(), file.new.as_deref(), file.whole))
        .collect();
    assert_eq!(
        names,
        [
            (Some("src/a.rs"), Some("src/a.rs"), false),
            (None, Some("new"), false),
            (Some("old"), None, true),
            (Some("p"), Some("q"), false),
        ]
    );
    let content = b"fn one()\nx\ny\nfn two()\nx\ny\n";
    assert_eq!(
        apply(content, &files[0]).unwrap().bytes,
        b"fn one()\nx\ny\nfn two()\nx\nz\n"
    );
    assert_eq!(apply(b"", &files[1]).unwrap().bytes, b"1\n2\n");
    assert_eq!(apply(b"whatever", &files[2]).unwrap().bytes, b"whatever");
    assert_eq!(apply(b"a\na\n", &files[3]).unwrap().bytes, b"a\nb\n");
}

/// Texts with many equal lines, with and without a final line end.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just(""),
        Just("a"),
        Just("b"),
        Just("-- a/f"),
        Just("++ b/f"),
        Just("@@ -1 +1 @@"),
        Just("  indented  "),
        Just("a\r"),
        Just("\\ No newline"),
        Just("ä😀")
    ];
    (prop::collection::vec(line, 0..24), any::<bool>()).prop_map(|(lines, ended)| {
        let mut text = lines.join("\n");
        if ended && !text.is_empty() {
            text.push('\n');
        }
        // A diff cannot represent a line that ends in a bare carriage return.
        text.trim_end_matches('\r').to_owned()
    })
}

proptest! {
    #[test]
    fn the_diff_of_two_texts_makes_the_second_of_the_first(
        old in text(), new in text(), context in 0_usize..5
    ) {
        prop_assume!(old != new);
        let diff = TextDiff::from_lines(old.as_str(), new.as_str());
        let patch = diff.unified_diff().context_radius(context).header("a/f", "b/f").to_string();
        prop_assert_eq!(patched(&old, &patch), Ok(new), "{}", patch);
    }

    #[test]
    fn invalid_data_is_an_error_and_does_not_panic(
        junk in "(--- |\\+\\+\\+ |@@ -|@@|a/|b/| |-|\\+|\n|\n|\\*\\*\\* |Begin Patch\n|Update File: |diff --git |\"|\\\\|[0-9]{1,30}|,|.){0,60}",
        content in text()
    ) {
        for file in parse(&junk).unwrap_or_default() {
            let _ = apply(content.as_bytes(), &file);
        }
    }

    #[test]
    fn a_mangled_diff_changes_whole_lines_or_nothing(
        old in text(), new in text(), at in any::<prop::sample::Index>(), with in "[ +@\\\\0-9\n-]{1,3}"
    ) {
        prop_assume!(old != new);
        let diff = TextDiff::from_lines(old.as_str(), new.as_str());
        let mut patch = diff.unified_diff().header("a/f", "b/f").to_string();
        let mut place = at.index(patch.len());
        while !patch.is_char_boundary(place) {
            place -= 1;
        }
        patch.insert_str(place, &with);
        for file in parse(&patch).unwrap_or_default() {
            let _ = apply(old.as_bytes(), &file);
        }
    }
}
