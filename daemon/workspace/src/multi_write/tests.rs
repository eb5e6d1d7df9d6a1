use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::workspace::tests::Scene;

/// One file is changed, one created, one deleted.
fn scene() -> (Scene, Vec<PlannedWrite>) {
    let scene = Scene::new();
    for (name, text) in [("change", "old"), ("gone", "going")] {
        let path = scene.put(name, text);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o751)).unwrap();
    }
    let plan = |name: &str, after: Option<&str>| {
        let at = scene.writing(name);
        PlannedWrite {
            before: at.kind().map(|_| scene.workspace.read(&at).unwrap()),
            at,
            after: after.map(|text| text.as_bytes().to_owned()),
            mode: (name == "gone").then_some(0o751),
        }
    };
    let planned = vec![
        plan("gone", None),
        plan("change", Some("new")),
        plan("d/made", Some("made")),
    ];
    (scene, planned)
}

fn files(scene: &Scene) -> Vec<(String, String, u32)> {
    let mut found: Vec<_> = std::fs::read_dir(scene.ws(""))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                std::fs::read_to_string(entry.path()).unwrap(),
                entry.metadata().unwrap().permissions().mode() & 0o777,
            )
        })
        .collect();
    found.sort();
    found
}

#[test]
fn all_writes_are_applied() {
    let (scene, planned) = scene();
    let stamps = scene.workspace.write_all(&planned).unwrap();
    assert_eq!(stamps[0], None);
    assert_eq!(
        stamps[1],
        Some(
            scene
                .workspace
                .read(&scene.reading("change"))
                .unwrap()
                .stamp
        )
    );
    assert_eq!(
        files(&scene),
        [("change".to_owned(), "new".to_owned(), 0o751)]
    );
    assert_eq!(std::fs::read(scene.ws("d/made")).unwrap(), b"made");
}

#[test]
fn a_failure_at_any_step_of_any_file_puts_the_others_back() {
    let steps = [
        WriteStep::Made,
        WriteStep::Half,
        WriteStep::Written,
        WriteStep::Synced,
        WriteStep::Renamed,
    ];
    for file in 0..3 {
        for fail in steps {
            let (scene, planned) = scene();
            let before = files(&scene);
            let mut hit = false;
            let result = scene
                .workspace
                .write_all_in_steps(&planned, &mut |index, step| {
                    if index == file && step == fail {
                        hit = true;
                        return Err(io::ErrorKind::StorageFull.into());
                    }
                    Ok(())
                });
            assert_eq!(result.is_err(), hit, "{file} {fail:?}");
            if let Err(failed) = result {
                assert!(failed.left.is_empty(), "{failed:?}");
                assert_eq!(files(&scene), before, "{file} {fail:?}");
                let made = std::fs::read_dir(scene.ws("d")).map_or(0, Iterator::count);
                assert_eq!(made, 0, "{file} {fail:?}");
            }
        }
    }
}

#[test]
fn a_crash_at_any_step_leaves_each_file_old_or_new() {
    for file in 0..3 {
        for crash in [
            WriteStep::Made,
            WriteStep::Half,
            WriteStep::Written,
            WriteStep::Synced,
            WriteStep::Renamed,
        ] {
            let (scene, planned) = scene();
            let _ = catch_unwind(AssertUnwindSafe(|| {
                scene
                    .workspace
                    .write_all_in_steps(&planned, &mut |index, step| {
                        assert!((index, step) != (file, crash), "the simulated crash");
                        Ok(())
                    })
            }));
            let content = |name: &str| std::fs::read_to_string(scene.ws(name)).ok();
            let is_one_of = |name: &str, of: [Option<&str>; 2]| {
                let now = content(name);
                assert!(
                    of.contains(&now.as_deref()),
                    "{file} {crash:?} {name}: {now:?}"
                );
            };
            is_one_of("change", [Some("old"), Some("new")]);
            is_one_of("gone", [Some("going"), None]);
            is_one_of("d/made", [None, Some("made")]);
        }
    }
}

#[test]
fn concurrent_changes_are_kept_and_files_that_cannot_be_restored_are_named() {
    let (scene, planned) = scene();
    // Another program writes to a file before its turn: nothing is changed at all.
    let other = scene.ws("gone");
    let result = scene
        .workspace
        .write_all_in_steps(&planned, &mut |index, step| {
            if (index, step) == (1, WriteStep::Renamed) {
                std::fs::write(&other, "theirs")?;
            }
            Ok(())
        });
    let failed = result.unwrap_err();
    assert!(
        matches!(failed.error, FileError::Changed { .. }),
        "{failed:?}"
    );
    // The other program's content stays: it must not be overwritten.
    assert_eq!(failed.left, std::slice::from_ref(&other));
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "theirs");
    assert_eq!(std::fs::read_to_string(scene.ws("change")).unwrap(), "old");
    assert!(!scene.ws("d/made").exists());
}
