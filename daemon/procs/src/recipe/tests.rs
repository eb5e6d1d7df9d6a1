//! Choosing the program and its arguments.

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
fn a_link_is_judged_by_its_target() {
    if !geteuid().is_root() {
        // A link of our own is one that a user other than root can change.
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("bwrap");
    std::os::unix::fs::symlink("/bin/sh", &link).unwrap();
    let sh = std::fs::canonicalize("/bin/sh").unwrap();
    assert_eq!(trusted(&[link.to_str().unwrap()]), Ok(sh));
}

#[test]
fn the_helper_is_not_searched_on_the_path() {
    assert!(PLACES.iter().all(|place| place.starts_with('/')));
}

#[test]
fn bubblewrap_arguments_start_the_helper_for_each_purpose() {
    let helper = HelperProgram {
        program: PathBuf::from("/unused"),
        arguments: vec!["child".into()],
    };
    let recipe = Recipe {
        by: NamespaceOpener::Bubblewrap,
        program: PathBuf::from("/unused"),
        helper: helper_arguments(&helper, 9, 4396),
        _binary: None,
        switches: None,
    };
    let line = |purpose, plan| {
        let around = NamespaceOptions {
            plan,
            ..NamespaceOptions::default()
        };
        let command = recipe.command(purpose, &around);
        let words: Vec<_> = command
            .get_args()
            .map(|word| word.to_str().unwrap())
            .collect();
        words.join(" ")
    };
    let open = "--unshare-pid --as-pid-1 --die-with-parent --dev-bind / / --proc /proc \
                -- /proc/self/fd/9 child inside 4396";
    assert_eq!(line(Purpose::Hold, None), open);
    assert_eq!(line(Purpose::Probe, None), format!("{open} probe"));
    let plan = MountPlan::to_probe();
    let sandboxed = line(Purpose::Hold, Some(&plan));
    assert!(sandboxed.starts_with("--unshare-pid --as-pid-1 --die-with-parent --unshare-ipc"));
    assert!(
        sandboxed.ends_with("--remount-ro /run -- /proc/self/fd/9 child inside 4396"),
        "{sandboxed}"
    );
    let place = "--unshare-net --die-with-parent --dev-bind / / -- /proc/self/fd/9 child place";
    assert_eq!(line(Purpose::Place, None), place);
}
