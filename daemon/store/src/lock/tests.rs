use std::fs;

use super::*;

#[test]
fn a_home_has_one_holder_and_the_file_names_it() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let home = Home::open(dir.path()).expect("it can be opened");
    let lock = HomeLock::acquire(&home, Path::new("/x/y.sock")).expect("it is free");
    let error = HomeLock::acquire(&home, Path::new("/other")).expect_err("it is new");
    let text = format!(
        "another daemon uses this home (pid {}, socket /x/y.sock)",
        std::process::id()
    );
    assert_eq!(error.to_string(), text);
    drop(lock);
    assert_eq!(fs::read_to_string(home.lock()).expect("it stays"), "");
    HomeLock::acquire(&home, Path::new("/x/y.sock")).expect("it is free again");
}

#[test]
fn the_text_of_a_dead_daemon_in_the_lock_file_is_ignored() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let home = Home::open(dir.path()).expect("it can be opened");
    fs::write(
        home.lock(),
        "pid 1\nsocket /old\nand much more than will be written again\n",
    )
    .expect("it is ours");
    let _lock = HomeLock::acquire(&home, Path::new("/new")).expect("it is free");
    let text = fs::read_to_string(home.lock()).expect("it is there");
    assert_eq!(text, format!("pid {}\nsocket /new\n", std::process::id()));
}

#[test]
fn a_lock_of_a_removed_file_is_not_taken_for_the_lock() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let home = Home::open(dir.path()).expect("it can be opened");
    let path = home.lock();
    let file = private()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .expect("it is ours");
    assert!(is_at(&file, &path).expect("it can be looked at"));
    fs::remove_file(&path).expect("it is ours");
    assert!(!is_at(&file, &path).expect("it can be looked at"));
    fs::write(&path, "").expect("it is ours");
    assert!(!is_at(&file, &path).expect("it can be looked at"));
}

#[test]
fn a_home_has_one_parent_at_a_time_even_before_it_exists() {
    let dir = tempfile::tempdir().expect("a directory");
    let home = dir.path().join("home");
    let first = ParentLock::try_acquire(&home).expect("locks work");
    assert!(first.is_some());
    assert!(
        ParentLock::try_acquire(&home)
            .expect("locks work")
            .is_none()
    );
    drop(first);
    assert!(
        ParentLock::try_acquire(&home)
            .expect("locks work")
            .is_some()
    );
}

#[test]
fn a_lock_is_held_even_if_its_text_cannot_be_written() {
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("a device that is always full");
    let lock = HomeLock::new(full, Path::new("/x/y.sock"));
    assert!(
        lock.write_holder(Path::new("/x/y.sock")).is_err(),
        "it is full"
    );
}
