use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn the_newest_content_stands_until_it_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(get(dir.path(), Aside::Seen), None);
    put(dir.path(), Aside::Seen, b"one").unwrap();
    put(dir.path(), Aside::Seen, b"two").unwrap();
    put(dir.path(), Aside::Partial, b"other").unwrap();
    assert_eq!(get(dir.path(), Aside::Seen).as_deref(), Some(&b"two"[..]));
    let mode = std::fs::metadata(dir.path().join("seen.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    remove(dir.path(), Aside::Seen).unwrap();
    remove(dir.path(), Aside::Seen).unwrap();
    assert_eq!(get(dir.path(), Aside::Seen), None);
    assert!(get(dir.path(), Aside::Partial).is_some());
    // Nothing else is left behind.
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}
