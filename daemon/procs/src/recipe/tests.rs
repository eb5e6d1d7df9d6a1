//! Scenes of choosing the program, and of what it is told.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn a_program_that_others_may_change_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("bwrap");
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o777)).unwrap();
    let place = program.to_str().unwrap();
    let why = trusted(&[place]).unwrap_err();
    assert!(why.starts_with(&format!("`{place}` is not used")), "{why}");
    assert_eq!(
        trusted(&["/no/such/bwrap"]).unwrap_err(),
        "bubblewrap (`bwrap`) is not installed"
    );
}

#[test]
fn a_link_is_judged_by_where_it_leads() {
    if !geteuid().is_root() {
        // A link of ours is one that another than root may change.
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("bwrap");
    std::os::unix::fs::symlink("/bin/sh", &link).unwrap();
    let sh = std::fs::canonicalize("/bin/sh").unwrap();
    assert_eq!(trusted(&[link.to_str().unwrap()]), Ok(sh));
}

#[test]
fn no_place_is_looked_for_on_a_path() {
    assert!(PLACES.iter().all(|place| place.starts_with('/')));
}

#[test]
fn the_helper_is_the_first_process_and_is_told_so() {
    let helper = Helper {
        program: PathBuf::from("/unused"),
        arguments: vec!["child".into()],
    };
    let told = arguments(&helper, 9, 4396).join(" ");
    let expected = "--unshare-pid --as-pid-1 --die-with-parent --dev-bind / / --proc /proc \
                    -- /proc/self/fd/9 child inside 4396";
    assert_eq!(told, expected);
}
