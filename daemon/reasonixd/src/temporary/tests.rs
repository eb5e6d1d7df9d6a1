use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn temporary_directory_is_private_and_removed_by_this_or_the_next_daemon() {
    let home = tempfile::tempdir().unwrap();
    let home = Home::open(home.path()).unwrap();
    let first = Temporary::make(&home).unwrap();
    let path = first.path().to_path_buf();
    fs::create_dir(path.join("17")).unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o700
    );
    // As if it had been killed.
    std::mem::forget(first);
    let second = Temporary::make(&home).unwrap();
    assert!(!path.exists());
    let path = second.path().to_path_buf();
    drop(second);
    assert!(!path.exists());
}

#[test]
fn nothing_else_is_ever_cleared_away() {
    let home = tempfile::tempdir().unwrap();
    let home = Home::open(home.path()).unwrap();
    let other = tempfile::tempdir().unwrap();
    let kept = other.path().join("kept");
    fs::write(&kept, "").unwrap();
    let link = other.path().join("rx-0123456789ab");
    std::os::unix::fs::symlink(home.root(), &link).unwrap();
    for wrong in [other.path(), &kept, &link] {
        fs::write(home.root().join("run/temporary"), wrong.to_str().unwrap()).unwrap();
        drop(Temporary::make(&home).unwrap());
        assert!(kept.exists() && link.symlink_metadata().is_ok() && home.root().exists());
    }
}
