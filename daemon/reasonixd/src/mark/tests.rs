//! Homes of other builds.

use std::fs;

use super::*;

#[test]
fn a_home_gets_its_mark_and_keeps_it() {
    let home = tempfile::tempdir().expect("a directory");
    check(home.path()).expect("a new home");
    let mark = home.path().join("format");
    assert_eq!(
        fs::read_to_string(&mark).expect("its mark"),
        format!("{FORMAT}\n")
    );
    check(home.path()).expect("the same home again");
    let files = fs::read_dir(home.path()).expect("the home").count();
    assert_eq!(files, 1, "no temporary file is left");
}

#[test]
fn a_newer_builds_home_is_left_alone() {
    let home = tempfile::tempdir().expect("a directory");
    let mark = home.path().join("format");
    for text in ["2\n", "3", "18446744073709551616\n"] {
        fs::write(&mark, text).expect("write");
        let refused = check(home.path()).expect_err("an older build");
        assert!(matches!(refused, MarkError::Newer { .. }), "{refused:?}");
        let words = refused.to_string();
        assert!(
            words.contains("newer build") && words.contains("Upgrade"),
            "{words}"
        );
        assert_eq!(
            fs::read_to_string(&mark).expect("its mark"),
            text,
            "not touched"
        );
    }
}

#[test]
fn a_mark_that_says_nothing_is_not_taken_for_ours() {
    let home = tempfile::tempdir().expect("a directory");
    let mark = home.path().join("format");
    for bytes in [
        &b""[..],
        b"one\n",
        b"0\n",
        b"-1\n",
        b"1\n1\n",
        b"\xff\n",
        b" 1\n",
    ] {
        fs::write(&mark, bytes).expect("write");
        let refused = check(home.path()).expect_err("no mark");
        assert!(
            matches!(refused, MarkError::Unreadable { .. }),
            "{bytes:?}: {refused:?}"
        );
    }
    fs::remove_file(&mark).expect("remove");
    fs::create_dir(&mark).expect("a directory in its place");
    assert!(matches!(
        check(home.path()),
        Err(MarkError::Unreadable { .. })
    ));
    fs::remove_dir(&mark).expect("remove");
    std::os::unix::fs::symlink("/etc/hostname", &mark).expect("a link in its place");
    assert!(matches!(check(home.path()), Err(MarkError::Io { .. })));
}
