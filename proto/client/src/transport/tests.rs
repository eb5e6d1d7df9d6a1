//! Whose socket is spoken to.

use std::os::unix::fs::{PermissionsExt, chown, symlink};

use super::*;

#[test]
fn only_a_peer_of_the_same_user_passes() {
    assert!(ours(Some(1000), 1000).is_ok());
    for (peer, own) in [(1001, 1000), (0, 1000), (1000, 0)] {
        let refused = ours(Some(peer), own).unwrap_err();
        assert!(
            matches!(refused, OpenError::Foreign { owner } if owner == peer),
            "{refused:?}"
        );
    }
    assert!(ours(None, 1000).is_err(), "nobody knows who that is");
}

#[test]
fn a_directory_must_be_ours_and_closed_to_others() {
    let top = tempfile::tempdir().unwrap();
    let directory = top.path().join("d");
    assert_eq!(look_at(&directory).unwrap(), None, "not there yet");
    std::fs::create_dir(&directory).unwrap();
    let mode = |mode| {
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode)).unwrap();
        look_at(&directory).unwrap()
    };
    let owner = own();
    assert_eq!(mode(0o700), None);
    assert_eq!(mode(0o770), Some(Unsafe::Open { owner }));
    assert_eq!(mode(0o777), Some(Unsafe::Open { owner }));
    assert_eq!(mode(0o700), None);
    let link = top.path().join("link");
    symlink(&directory, &link).unwrap();
    assert_eq!(look_at(&link).unwrap(), Some(Unsafe::Open { owner }));
    // Only root can give a directory away.
    if chown(&directory, Some(owner + 1), None).is_ok() {
        assert_eq!(
            look_at(&directory).unwrap(),
            Some(Unsafe::Foreign { owner: owner + 1 })
        );
    }
}
