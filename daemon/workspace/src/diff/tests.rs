use proptest::prelude::*;

use super::*;

#[test]
fn a_change_in_the_middle() {
    let old: String = (1..=20).map(|number| format!("{number}\n")).collect();
    let new = old.replace("10\n", "ten\nand more\n");
    let change = unified("a/f", Some(old.as_bytes()), new.as_bytes());
    let wanted =
        "--- a/a/f\n+++ b/a/f\n@@ -7,7 +7,8 @@\n 7\n 8\n 9\n-10\n+ten\n+and more\n 11\n 12\n 13\n";
    assert_eq!(
        (change.text.as_str(), change.added, change.removed),
        (wanted, 2, 1)
    );
}

#[test]
fn a_new_file_and_missing_line_ends() {
    let change = unified("f", None, b"one\ntwo");
    assert_eq!(
        change.text,
        "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
    );
    let change = unified("f", Some(b"one\n"), b"one");
    assert_eq!(
        change.text,
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+one\n\\ No newline at end of file\n"
    );
    assert_eq!(unified("f", Some(b"same"), b"same"), FileDiff::default());
}

#[test]
fn a_huge_change_stays_small_and_quick() {
    let old: String = (0..200_000).map(|number| format!("{number}\n")).collect();
    let new: String = (0..200_000)
        .map(|number| format!("{}\n", number * 7 % 200_003))
        .collect();
    let before = Instant::now();
    let change = unified("f", Some(old.as_bytes()), new.as_bytes());
    assert!(
        before.elapsed() < Duration::from_secs(20),
        "{:?}",
        before.elapsed()
    );
    assert!(change.text.len() <= TEXT_MAX + 100);
    assert!(
        change
            .text
            .ends_with("more lines of the diff are not shown]\n")
    );
}

/// Applies a diff of ours, strictly.
fn apply(old: &str, diff: &str) -> String {
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut at, mut out) = (0, String::new());
    let mut rows = diff.split_inclusive('\n').skip(2).peekable();
    while let Some(row) = rows.next() {
        if let Some(head) = row.strip_prefix("@@ -") {
            let span = head.split(' ').next().unwrap();
            let (start, count) = span.split_once(',').unwrap_or((span, "1"));
            let start: usize = start.parse::<usize>().unwrap() - usize::from(count != "0");
            lines[at..start].iter().for_each(|line| out.push_str(line));
            at = start;
            continue;
        }
        let bare = rows.peek().is_some_and(|next| next.starts_with('\\'));
        let text = &row[1..];
        let text = if bare {
            text.strip_suffix('\n').unwrap()
        } else {
            text
        };
        match &row[..1] {
            " " => {
                assert_eq!(lines[at], text);
                out.push_str(text);
                at += 1
            }
            "-" => {
                assert_eq!(lines[at], text);
                at += 1
            }
            "+" => out.push_str(text),
            _ => {}
        }
    }
    lines[at..].iter().for_each(|line| out.push_str(line));
    out
}

proptest! {
    /// The diff says exactly what changed: applying it to the old gives the new.
    #[test]
    fn a_diff_applies(old in "([ab]?\n){0,30}[ab]?", new in "([ab]?\n){0,30}[ab]?") {
        let change = unified("f", Some(old.as_bytes()), new.as_bytes());
        prop_assert_eq!(apply(&old, &change.text), new);
    }
}
