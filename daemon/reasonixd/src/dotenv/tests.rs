//! Which lines count, and which are never read.

use proptest::prelude::*;

use super::*;

fn get(text: &str, name: &str) -> Option<String> {
    parse(text).remove(name)
}

#[test]
fn lines_are_read_as_everybody_writes_them() {
    for (text, expected) in [
        ("A=b", Some("b")),
        ("  export A = b c  ", Some("b c")),
        ("A=b # a comment", Some("b")),
        ("A=b#c", Some("b#c")),
        ("A=#", Some("")),
        ("A=", Some("")),
        ("A='b # \"c\"' # x", Some("b # \"c\"")),
        ("A=\"b \\\"c\\\" \\n\"", Some("b \"c\" \n")),
        ("A=\"b", None),
        ("# A=b", None),
        ("exportA=b", None),
        ("A b=c", None),
        ("1A=b", None),
        ("A", None),
        ("A=1\r\nA=2\r\n", Some("2")),
        ("\u{feff}A=b", Some("b")),
        ("A=$B", Some("$B")),
    ] {
        assert_eq!(get(text, "A").as_deref(), expected, "{text:?}");
    }
}

#[test]
fn only_what_is_wanted_is_taken_and_never_through_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let wanted = BTreeSet::from(["A_KEY".to_owned(), "B_KEY".to_owned()]);
    assert_eq!(read(dir.path(), &wanted), Ok(BTreeMap::new()));
    let real = dir.path().join("real");
    std::fs::write(&real, "A_KEY=canary\nB_KEY=\nPATH=/evil\n").unwrap();
    std::os::unix::fs::symlink(&real, dir.path().join(".env")).unwrap();
    let refused = read(dir.path(), &wanted).unwrap_err();
    assert!(
        refused.contains("link") && !refused.contains("canary"),
        "{refused}"
    );
    std::fs::rename(&real, dir.path().join(".env")).unwrap();
    let found = read(dir.path(), &wanted).unwrap();
    assert_eq!(found.keys().collect::<Vec<_>>(), ["A_KEY"]);
    assert!(!format!("{found:?}").contains("canary"));
    assert_eq!(read(dir.path(), &BTreeSet::new()), Ok(BTreeMap::new()));
}

#[test]
fn a_file_that_is_too_long_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("A_KEY=k\n{}", "#\n".repeat(40_000));
    std::fs::write(dir.path().join(".env"), text).unwrap();
    let refused = read(dir.path(), &BTreeSet::from(["A_KEY".to_owned()])).unwrap_err();
    assert!(refused.contains("65536"), "{refused}");
}

#[test]
fn another_key_is_another_line_and_no_line_shows_it() {
    let line = |key: &str| line(Path::new("/p"), "A_KEY", &Secret::new(key.to_owned()));
    assert_ne!(line("canary-one"), line("canary-two"));
    assert!(!line("canary-one").contains("canary"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(?s).{0,200}", lines in proptest::collection::vec("(export )?[A-Z=]{0,4}=[\"'\\\\ #a]{0,6}", 0..8)) {
        parse(&text);
        parse(&lines.join("\n"));
    }
}
