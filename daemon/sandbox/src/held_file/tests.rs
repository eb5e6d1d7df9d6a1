use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// Saves a file as git does.
fn replace(path: &Path, text: &str) {
    let new = path.with_extension("lock");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

#[test]
fn replacement_of_a_held_file_is_judged_at_each_look() {
    let dir = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(dir.path()).unwrap().join("config");
    fs::write(&path, "[core]\n\tbare = false\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let mut held = HeldFile::of(&path, true).expect("a file");
    fs::write(&path, "[core]\n\tfsmonitor = mine\n").unwrap();
    assert!(
        matches!(held.look(), HeldFileStatus::Held),
        "only the user can write it where the mount holds"
    );
    replace(&path, "[core]\n\tbare = false\n[user]\n\tname = Ann\n");
    assert!(
        matches!(held.look(), HeldFileStatus::Held),
        "it runs nothing"
    );
    fs::write(&path, "[core]\n\tfsmonitor = evil\n").unwrap();
    let HeldFileStatus::RunsMore(found) = held.look() else {
        panic!("it runs something")
    };
    let moved = held.restore(found).unwrap();
    let beside = path.with_file_name(&moved.name);
    let evil = fs::read_to_string(&beside).unwrap();
    assert!(evil.contains("evil"), "nothing is lost: {evil}");
    fs::remove_file(beside).unwrap();
    let found = fs::read_to_string(&path).unwrap();
    assert_eq!(found, "[core]\n\tbare = false\n");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert!(matches!(held.look(), HeldFileStatus::Held));
    fs::write(&path, "[core]\n\tfsmonitor = evil\n").unwrap();
    assert!(
        matches!(held.look(), HeldFileStatus::RunsMore(_)),
        "no mount holds the restored file"
    );
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn anything_else_in_the_place_of_what_git_obeys_runs_more() {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let path = top.join("commondir");
    fs::write(&path, "..\n").unwrap();
    let held = HeldFile::of(&path, true).expect("a file");
    let looks = |held: &HeldFile| held.clone().look();
    fs::remove_file(&path).unwrap();
    assert!(matches!(looks(&held), HeldFileStatus::Held), "it is gone");
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    assert!(matches!(looks(&held), HeldFileStatus::RunsMore(_)));
    replace(&path, "../elsewhere\n");
    assert!(matches!(looks(&held), HeldFileStatus::RunsMore(_)));
    replace(&path, "..\n");
    assert!(
        matches!(looks(&held), HeldFileStatus::Held),
        "it says the same"
    );
}

#[test]
fn change_of_a_program_that_git_obeys_is_found_whatever_it_changes() {
    let dir = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(dir.path()).unwrap().join("monitor");
    fs::write(&path, "#!/bin/sh\n[ -t 0 ] || exit 0\nrun\n").unwrap();
    let held = HeldFile::of(&path, true).expect("a file");
    let looks = |held: &HeldFile| held.clone().look();
    for text in ["#!./evil\n[ -t 0 ] || exit 0\nrun\n", "#!/bin/sh\nrun\n"] {
        replace(&path, text);
        assert!(
            matches!(looks(&held), HeldFileStatus::RunsMore(_)),
            "{text}"
        );
    }
    replace(&path, "#!/bin/sh\n[ -t 0 ] || exit 0\nrun\n");
    assert!(matches!(looks(&held), HeldFileStatus::Held), "the same");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(
        matches!(looks(&held), HeldFileStatus::RunsMore(_)),
        "it can run"
    );
}

#[test]
fn other_protected_files_are_reported_once_and_often_replaced_ones_never() {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let path = top.join("tasks.json");
    fs::write(&path, "{}").unwrap();
    let mut held = HeldFile::of(&path, false).expect("a file");
    replace(&path, "{}");
    assert!(matches!(held.look(), HeldFileStatus::Replaced));
    assert!(matches!(held.look(), HeldFileStatus::Held));
    fs::write(top.join("index"), "").unwrap();
    assert_eq!(HeldFile::of(&top.join("index"), false), None);
    assert_eq!(HeldFile::of(&top, true), None, "no file");
}
