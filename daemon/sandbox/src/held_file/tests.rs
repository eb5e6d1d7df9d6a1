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
        matches!(held.look(), HeldLook::Held),
        "only the user can write it where the mount holds"
    );
    replace(&path, "[core]\n\tbare = false\n[user]\n\tname = Ann\n");
    assert!(matches!(held.look(), HeldLook::Held), "it runs nothing");
    fs::write(&path, "[core]\n\tfsmonitor = evil\n").unwrap();
    assert!(matches!(held.look(), HeldLook::RunsMore(_)));
    fs::remove_file(&path).unwrap();
    held.restore().unwrap();
    let found = fs::read_to_string(&path).unwrap();
    assert_eq!(found, "[core]\n\tbare = false\n");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert!(matches!(held.look(), HeldLook::Held));
    fs::write(&path, "[core]\n\tfsmonitor = evil\n").unwrap();
    assert!(
        matches!(held.look(), HeldLook::RunsMore(_)),
        "no mount holds the restored file"
    );
    let error = held.restore().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{error}");
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
    assert!(matches!(looks(&held), HeldLook::Held), "it is gone");
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    assert!(matches!(looks(&held), HeldLook::RunsMore(_)));
    replace(&path, "../elsewhere\n");
    assert!(matches!(looks(&held), HeldLook::RunsMore(_)));
    replace(&path, "..\n");
    assert!(matches!(looks(&held), HeldLook::Held), "it says the same");
}

#[test]
fn other_protected_files_are_reported_once_and_often_replaced_ones_never() {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let path = top.join("tasks.json");
    fs::write(&path, "{}").unwrap();
    let mut held = HeldFile::of(&path, false).expect("a file");
    replace(&path, "{}");
    assert!(matches!(held.look(), HeldLook::Replaced));
    assert!(matches!(held.look(), HeldLook::Held));
    fs::write(top.join("index"), "").unwrap();
    assert_eq!(HeldFile::of(&top.join("index"), false), None);
    assert_eq!(HeldFile::of(&top, true), None, "no file");
}
