use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::*;
use crate::state::PathState;
use crate::workspace::tests::Scene;

fn restore(scene: &Scene, path: &str, wanted: RestoreTarget<'_>) -> Result<(), FileError> {
    let snapshot = scene.workspace.snapshot(&scene.ws(path), false);
    scene.workspace.restore(&snapshot, wanted)
}

fn there(scene: &Scene, path: &str) -> PathState {
    scene.workspace.snapshot(&scene.ws(path), false).there
}

#[test]
fn a_diff_turns_any_text_into_any_other() {
    let scene = Scene::new();
    let file = RestoreTarget::File {
        bytes: b"new",
        mode: 0o750,
    };
    let link = RestoreTarget::Link {
        target: Path::new("elsewhere"),
    };
    let all = [RestoreTarget::Absent, file, link, RestoreTarget::Directory];
    for from in all {
        for to in all {
            restore(&scene, "a/b/place", from).unwrap();
            restore(&scene, "a/b/place", to).unwrap();
            let found = there(&scene, "a/b/place");
            match to {
                RestoreTarget::Absent => assert_eq!(found, PathState::Absent),
                RestoreTarget::Directory => assert_eq!(found, PathState::Directory),
                RestoreTarget::Link { target } => assert_eq!(
                    found,
                    PathState::Link {
                        target: target.to_owned()
                    }
                ),
                RestoreTarget::File { bytes, mode } => {
                    let path = scene.ws("a/b/place");
                    assert_eq!(std::fs::read(&path).unwrap(), bytes);
                    let found = std::fs::metadata(&path).unwrap().permissions().mode();
                    assert_eq!(found & 0o7777, mode);
                }
            }
        }
    }
    let left: Vec<_> = std::fs::read_dir(scene.ws("a/b"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["place"]);
}

#[test]
fn a_file_touched_since_inspection_is_left_alone() {
    let scene = Scene::new();
    scene.put("a", "one");
    let snapshot = scene.workspace.snapshot(&scene.ws("a"), false);
    std::fs::write(scene.ws("a"), "others").unwrap();
    let done = scene.workspace.restore(&snapshot, RestoreTarget::Absent);
    assert!(matches!(done, Err(FileError::Changed { .. })));
    assert_eq!(std::fs::read(scene.ws("a")).unwrap(), b"others");
}

#[test]
fn a_directory_that_is_not_empty_stays() {
    let scene = Scene::new();
    scene.put("d/x", "x");
    for wanted in [
        RestoreTarget::Absent,
        RestoreTarget::File {
            bytes: b"",
            mode: 0o644,
        },
    ] {
        assert!(restore(&scene, "d", wanted).is_err());
        assert_eq!(there(&scene, "d"), PathState::Directory);
    }
    assert_eq!(std::fs::read_dir(scene.ws("")).unwrap().count(), 1);
}

#[test]
fn nothing_outside_is_touched_through_any_path_or_link() {
    let scene = Scene::new();
    scene.link("link", "../out");
    let file = RestoreTarget::File {
        bytes: b"bad",
        mode: 0o644,
    };
    let outside: [PathBuf; 4] = [
        scene.top.join("out/canary"),
        scene.top.join("home/.reasonix/credentials.toml"),
        scene.ws("link/canary"),
        scene.ws(""),
    ];
    for path in outside {
        let snapshot = scene.workspace.snapshot(&path, false);
        for wanted in [file, RestoreTarget::Directory] {
            assert!(
                scene.workspace.restore(&snapshot, wanted).is_err(),
                "{path:?}"
            );
        }
    }
    // A file missing behind a link is not removed at its target either.
    let snapshot = scene.workspace.snapshot(&scene.ws("link/canary"), false);
    scene
        .workspace
        .restore(&snapshot, RestoreTarget::Absent)
        .unwrap();
    let canary = std::fs::read(scene.top.join("out/canary")).unwrap();
    assert_eq!(canary, b"CANARY\n");
}

#[test]
fn a_restored_directory_is_at_most_as_accessible_as_its_parent() {
    let scene = Scene::new();
    let private = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(scene.ws("."), private).unwrap();
    restore(&scene, "private", RestoreTarget::Directory).unwrap();
    let meta = std::fs::metadata(scene.ws("private")).unwrap();
    assert_eq!(meta.permissions().mode() & 0o7777, 0o700);
}
