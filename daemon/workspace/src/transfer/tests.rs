use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use testkit::RaiseOnDrop;

use super::*;
use crate::workspace::tests::Scene;

fn itself(scene: &Scene, path: &str) -> ResolvedPath {
    scene.workspace.entry(path, Access::Read).unwrap()
}

fn quiet(_: WriteStep) -> io::Result<()> {
    Ok(())
}

fn move_it(scene: &Scene, from: &str, to: &str) -> Result<MoveMethod, FileError> {
    let from = itself(scene, from);
    scene
        .workspace
        .move_entry(&from, &scene.writing(to), ExpectedFile::Absent, &mut quiet)
}

fn copy_it(scene: &Scene, from: &str, to: &str) -> Result<(), FileError> {
    let (from, to) = (itself(scene, from), scene.writing(to));
    scene
        .workspace
        .copy_entry(&from, &to, ExpectedFile::Absent, &|| false, &mut quiet)
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn mode(path: PathBuf) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_move_keeps_the_file_and_creates_missing_parents() {
    let scene = Scene::new();
    chmod(&scene.put("f", "bytes"), 0o750);
    assert_eq!(move_it(&scene, "f", "a/b/g").unwrap(), MoveMethod::Renamed);
    assert_eq!(std::fs::read(scene.ws("a/b/g")).unwrap(), b"bytes");
    assert_eq!(mode(scene.ws("a/b/g")), 0o750);
    assert_eq!(names(&scene.ws("")), ["a"]);
}

#[test]
fn a_copy_has_bytes_and_mode_and_directories_are_copied_whole() {
    let scene = Scene::new();
    chmod(&scene.put("d/run.sh", "go"), 0o755);
    scene.put("d/in/f", "x");
    scene.link("d/in/l", "../run.sh");
    copy_it(&scene, "d/run.sh", "n/run.sh").unwrap();
    assert_eq!(mode(scene.ws("n/run.sh")), 0o755);
    copy_it(&scene, "d", "e/d").unwrap();
    assert_eq!(std::fs::read(scene.ws("e/d/in/f")).unwrap(), b"x");
    assert_eq!(mode(scene.ws("e/d/run.sh")), 0o755);
    assert_eq!(
        std::fs::read_link(scene.ws("e/d/in/l")).unwrap(),
        Path::new("../run.sh")
    );
    assert_eq!(names(&scene.ws("e")), ["d"]);
}

#[test]
fn links_are_moved_and_copied_as_links_and_deleted_as_such() {
    let scene = Scene::new();
    scene.put("f", "x");
    scene.link("l", "f");
    copy_it(&scene, "l", "l2").unwrap();
    move_it(&scene, "l", "l3").unwrap();
    for name in ["l2", "l3"] {
        assert_eq!(std::fs::read_link(scene.ws(name)).unwrap(), Path::new("f"));
    }
    scene.workspace.delete_entry(&itself(&scene, "l2")).unwrap();
    assert_eq!(names(&scene.ws("")), ["f", "l3"]);
}

#[test]
fn a_link_that_is_named_through_another_one_is_refused() {
    let scene = Scene::new();
    scene.put("d/f", "x");
    scene.link("d/l", "f");
    scene.link("way", "d");
    let error = scene.workspace.entry("way/l", Access::Read).unwrap_err();
    assert!(
        matches!(error, crate::PathError::LinkBehindLink { .. }),
        "{error}"
    );
    assert_eq!(itself(&scene, "way/f").path(), scene.ws("d/f"));
    assert_eq!(itself(&scene, "way").kind(), Some(FileKind::Link));
}

#[test]
fn only_files_with_expected_content_are_overwritten() {
    let scene = Scene::new();
    scene.put("f", "from");
    scene.put("g", "to");
    let at = scene.writing("g");
    let error = move_it(&scene, "f", "g").unwrap_err();
    assert!(matches!(error, FileError::Changed { .. }), "{error}");
    assert!(copy_it(&scene, "f", "g").is_err());
    // It appears at the last moment.
    let late = scene.writing("late");
    let error = scene.workspace.move_entry(
        &itself(&scene, "f"),
        &late,
        ExpectedFile::Absent,
        &mut |_| std::fs::write(late.path(), "theirs"),
    );
    assert!(matches!(error, Err(FileError::Exists { .. })), "{error:?}");
    assert_eq!(std::fs::read(late.path()).unwrap(), b"theirs");
    let stamp = scene.workspace.read(&at).unwrap().stamp;
    scene
        .workspace
        .move_entry(
            &itself(&scene, "f"),
            &at,
            ExpectedFile::File(stamp),
            &mut quiet,
        )
        .unwrap();
    assert_eq!(std::fs::read(scene.ws("g")).unwrap(), b"from");
    assert_eq!(names(&scene.ws("")), ["g", "late"]);
}

#[test]
fn directories_go_neither_into_themselves_nor_over_anything() {
    let scene = Scene::new();
    scene.put("d/f", "x");
    std::fs::create_dir(scene.ws("e")).unwrap();
    for transfer in [
        |scene: &Scene, to: &str| move_it(scene, "d", to).map(drop),
        |scene: &Scene, to: &str| copy_it(scene, "d", to),
    ] {
        assert!(matches!(
            transfer(&scene, "d/in"),
            Err(FileError::Inside { .. })
        ));
        assert!(matches!(
            transfer(&scene, "d"),
            Err(FileError::Exists { .. })
        ));
        assert!(matches!(
            transfer(&scene, "e"),
            Err(FileError::Exists { .. })
        ));
    }
    move_it(&scene, "d", "e/d").unwrap();
    assert_eq!(names(&scene.ws("e/d")), ["f"]);
    assert!(matches!(
        move_it(&scene, ".", "x"),
        Err(FileError::Root { .. })
    ));
    let error = scene.workspace.delete_entry(&itself(&scene, "."));
    assert!(matches!(error, Err(FileError::Root { .. })), "{error:?}");
}

#[test]
fn a_directory_with_masked_or_protected_content_is_not_moved_or_copied() {
    let scene = Scene::with(|top, options| {
        options.deny_read = vec!["**/secret".to_owned()];
        options.masked.push(top.join("ws/own/run"));
    });
    for (dir, to) in [
        ("a/secret", "b"),
        ("own/run", "mine"),
        ("repo/.git/hooks", "repo2"),
        ("conf/tasks.json", ".vscode"),
    ] {
        scene.put(
            &format!(
                "{dir}{}",
                if dir.contains('.') && !dir.contains(".git") {
                    ""
                } else {
                    "/x"
                }
            ),
            "x",
        );
        let from = dir.split('/').next().unwrap();
        for result in [
            move_it(&scene, from, to).map(drop),
            copy_it(&scene, from, to),
        ] {
            // A copy of a repository removes nothing, but creates protected files.
            assert!(
                matches!(result, Err(FileError::Holds { .. })),
                "{dir}: {result:?}"
            );
        }
        assert!(!scene.ws(to).exists());
    }
    // Judged as protected itself, it may be moved.
    move_it(&scene, "repo/.git", "repo/.reasonix").unwrap();
}

#[test]
fn a_copy_of_too_much_leaves_nothing() {
    let scene = Scene::new();
    std::fs::create_dir(scene.ws("many")).unwrap();
    for index in 0..=COPIED_MAX {
        std::fs::write(scene.ws(&format!("many/{index}")), "").unwrap();
    }
    let error = copy_it(&scene, "many", "more").unwrap_err();
    assert!(
        matches!(
            error,
            FileError::TooMany {
                max: COPIED_MAX,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(names(&scene.ws("")), ["many"]);
    move_it(&scene, "many", "more").unwrap();
}

#[test]
fn only_an_empty_directory_is_deleted() {
    let scene = Scene::new();
    scene.put("d/f", "x");
    let error = scene
        .workspace
        .delete_entry(&itself(&scene, "d"))
        .unwrap_err();
    assert!(
        matches!(error, FileError::NotEmpty { entries: 1, .. }),
        "{error}"
    );
    scene
        .workspace
        .delete_entry(&itself(&scene, "d/f"))
        .unwrap();
    scene.workspace.delete_entry(&itself(&scene, "d")).unwrap();
    assert!(names(&scene.ws("")).is_empty());
}

#[test]
fn directories_are_made_with_those_above_and_once() {
    let scene = Scene::new();
    assert!(
        scene
            .workspace
            .make_directory(&scene.writing("a/b/c"))
            .unwrap()
    );
    assert!(
        !scene
            .workspace
            .make_directory(&scene.writing("a/b/c"))
            .unwrap()
    );
    scene.put("f", "x");
    assert!(scene.workspace.make_directory(&scene.writing("f")).is_err());
}

#[test]
fn a_failure_at_any_step_leaves_source_and_destination_as_they_were() {
    let copies = [
        WriteStep::Made,
        WriteStep::Half,
        WriteStep::Written,
        WriteStep::Synced,
    ];
    for dir in [false, true] {
        for fail in copies {
            let scene = Scene::new();
            scene.put("d/f", "old");
            let from = itself(&scene, if dir { "d" } else { "d/f" });
            let mut hit = false;
            let result = scene.workspace.copy_entry(
                &from,
                &scene.writing("to"),
                ExpectedFile::Absent,
                &|| false,
                &mut |step| {
                    hit |= step == fail;
                    if step == fail {
                        Err(io::ErrorKind::StorageFull.into())
                    } else {
                        Ok(())
                    }
                },
            );
            assert_eq!(result.is_err(), hit, "{fail:?} {result:?}");
            if hit {
                assert_eq!(names(&scene.ws("")), ["d"], "{fail:?}");
            }
        }
    }
    let scene = Scene::new();
    scene.put("d/f", "old");
    let stopped = scene.workspace.copy_entry(
        &itself(&scene, "d"),
        &scene.writing("to"),
        ExpectedFile::Absent,
        &|| true,
        &mut quiet,
    );
    assert!(matches!(stopped, Err(FileError::Stopped)), "{stopped:?}");
    assert_eq!(names(&scene.ws("")), ["d"]);
}

#[test]
fn a_crash_at_any_step_leaves_the_destination_absent_or_whole() {
    for crash in [
        WriteStep::Made,
        WriteStep::Half,
        WriteStep::Written,
        WriteStep::Synced,
        WriteStep::Renamed,
    ] {
        let scene = Scene::new();
        scene.put("d/f", "bytes");
        let (from, to) = (itself(&scene, "d/f"), scene.writing("to"));
        let died = catch_unwind(AssertUnwindSafe(|| {
            scene
                .workspace
                .copy_entry(&from, &to, ExpectedFile::Absent, &|| false, &mut |step| {
                    assert!(step != crash, "the simulated crash");
                    Ok(())
                })
        }));
        assert!(died.is_err());
        let now = std::fs::read(scene.ws("to")).ok();
        let wanted = (crash == WriteStep::Renamed).then(|| b"bytes".to_vec());
        assert_eq!(now, wanted, "{crash:?}");
        assert_eq!(std::fs::read(scene.ws("d/f")).unwrap(), b"bytes");
    }
}

/// A workspace with a second root on another device, if this machine has one.
#[allow(clippy::print_stderr, reason = "a skip has to be seen")]
fn two_devices() -> Option<(Scene, tempfile::TempDir)> {
    use std::os::unix::fs::MetadataExt;
    let far = tempfile::tempdir_in("/dev/shm").ok();
    let far = far.filter(|far| {
        let here = std::fs::metadata(std::env::temp_dir()).map(|meta| meta.dev());
        let there = std::fs::metadata(far.path()).map(|meta| meta.dev());
        here.ok() != there.ok()
    });
    if testkit::skip::unless(far.is_some(), "a second device at /dev/shm") {
        return None;
    }
    let far = far?;
    let scene = Scene::with(|_, options| options.extra_writable = vec![far.path().to_owned()]);
    Some((scene, far))
}

#[test]
fn a_move_to_another_device_copies_and_then_deletes() {
    let Some((scene, far)) = two_devices() else {
        return;
    };
    let there = |name: &str| far.path().join(name).to_string_lossy().into_owned();
    chmod(&scene.put("f", "bytes"), 0o640);
    scene.link("l", "f");
    scene.put("d/x", "x");
    for fail in [WriteStep::Half, WriteStep::Written, WriteStep::Synced] {
        let result = scene.workspace.move_entry(
            &itself(&scene, "f"),
            &scene.writing(&there("g")),
            ExpectedFile::Absent,
            &mut |step| {
                if step == fail {
                    Err(io::ErrorKind::StorageFull.into())
                } else {
                    Ok(())
                }
            },
        );
        assert!(result.is_err());
        assert!(names(far.path()).is_empty(), "{fail:?}");
        assert_eq!(std::fs::read(scene.ws("f")).unwrap(), b"bytes");
    }
    assert_eq!(
        move_it(&scene, "f", &there("sub/g")).unwrap(),
        MoveMethod::Copied
    );
    assert_eq!(std::fs::read(far.path().join("sub/g")).unwrap(), b"bytes");
    assert_eq!(mode(far.path().join("sub/g")), 0o640);
    assert_eq!(
        move_it(&scene, "l", &there("l")).unwrap(),
        MoveMethod::Copied
    );
    assert_eq!(
        std::fs::read_link(far.path().join("l")).unwrap(),
        Path::new("f")
    );
    let error = move_it(&scene, "d", &there("d")).unwrap_err();
    assert!(matches!(error, FileError::AcrossDevices { .. }), "{error}");
    assert_eq!(names(&scene.ws("")), ["d"]);
    copy_it(&scene, "d", &there("d")).unwrap();
}

/// Source and destination directories are swapped with links to the outside meanwhile.
#[test]
fn no_swap_leads_a_transfer_outside() {
    let scene = Scene::new();
    std::fs::create_dir(scene.ws("d")).unwrap();
    scene.link("d.link", scene.top.join("out"));
    let done = AtomicBool::new(false);
    let mut moved = 0;
    std::thread::scope(|threads| {
        let _end = RaiseOnDrop(&done);
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = std::fs::rename(scene.ws("d"), scene.ws("d.real"));
                let _ = std::fs::rename(scene.ws("d.link"), scene.ws("d"));
                let _ = std::fs::rename(scene.ws("d"), scene.ws("d.link"));
                let _ = std::fs::rename(scene.ws("d.real"), scene.ws("d"));
            }
        });
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until && moved < 1000 {
            scene.put("src", "x");
            let workspace = &scene.workspace;
            let there = |path: &str| workspace.resolve(path, Access::Write);
            if let (Ok(from), Ok(to)) = (workspace.entry("src", Access::Read), there("d/made")) {
                let result =
                    workspace.copy_entry(&from, &to, ExpectedFile::Absent, &|| false, &mut quiet);
                moved += u32::from(result.is_ok());
            }
            if let Ok(at) = workspace.entry("d/made", Access::Write) {
                let _ = workspace.delete_entry(&at);
            }
            // Names the canary while the directory is a link: it must not be deleted.
            if let Ok(at) = workspace.entry("d/canary", Access::Write) {
                let _ = workspace.delete_entry(&at);
                let _ = workspace.move_entry(
                    &at,
                    &scene.writing("stolen"),
                    ExpectedFile::Absent,
                    &mut quiet,
                );
            }
            if let Ok(at) = there("d/new") {
                let _ = workspace.make_directory(&at);
            }
            if let Ok(at) = workspace.entry("d/new", Access::Write) {
                let _ = workspace.delete_entry(&at);
            }
        }
    });
    assert_eq!(
        std::fs::read(scene.top.join("out/canary")).unwrap(),
        b"CANARY\n"
    );
    assert_eq!(names(&scene.top.join("out")), ["canary", "d"]);
    assert!(moved > 0, "no copy ever succeeded: the test proves nothing");
}
