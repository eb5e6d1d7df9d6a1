use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn the_newest_content_stays_until_it_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(get(dir.path(), Sidecar::Seen), None);
    put(dir.path(), Sidecar::Seen, b"one").unwrap();
    put(dir.path(), Sidecar::Seen, b"two").unwrap();
    put(dir.path(), Sidecar::Partial, b"other").unwrap();
    assert_eq!(get(dir.path(), Sidecar::Seen).as_deref(), Some(&b"two"[..]));
    let mode = std::fs::metadata(dir.path().join("seen.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    remove(dir.path(), Sidecar::Seen).unwrap();
    remove(dir.path(), Sidecar::Seen).unwrap();
    assert_eq!(get(dir.path(), Sidecar::Seen), None);
    assert!(get(dir.path(), Sidecar::Partial).is_some());
    // Nothing else remains.
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}
