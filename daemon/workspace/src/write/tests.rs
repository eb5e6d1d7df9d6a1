use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use testkit::RaiseOnDrop;

use super::*;
use crate::workspace::tests::Scene;

fn stamp(scene: &Scene, name: &str) -> ExpectedFile {
    ExpectedFile::File(scene.workspace.read(&scene.reading(name)).unwrap().stamp)
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_file_gets_its_directories_and_the_usual_mode() {
    let scene = Scene::new();
    scene.put("plain", "");
    let stamp = scene
        .workspace
        .write(&scene.writing("a/b/c.txt"), b"NEW\n", ExpectedFile::Absent)
        .unwrap();
    assert_eq!(std::fs::read(scene.ws("a/b/c.txt")).unwrap(), b"NEW\n");
    let mode = |name: &str| {
        std::fs::metadata(scene.ws(name))
            .unwrap()
            .permissions()
            .mode()
    };
    assert_eq!(mode("a/b/c.txt"), mode("plain"));
    assert_eq!(
        stamp,
        scene
            .workspace
            .read(&scene.reading("a/b/c.txt"))
            .unwrap()
            .stamp
    );
    assert_eq!(names(&scene.ws("a/b")), ["c.txt"]);
}

/// A write that was reported is never overwritten by one that was checked before it.
#[test]
fn of_two_sessions_that_saw_the_same_file_one_writes() {
    let scene = Scene::new();
    let path = scene.put("count", "0");
    let add = || {
        let mut written = 0;
        for _ in 0..300 {
            let read = scene.workspace.read(&scene.reading("count")).unwrap();
            let count: u32 = std::str::from_utf8(&read.bytes).unwrap().parse().unwrap();
            let next = (count + 1).to_string();
            let at = scene.writing("count");
            let expected = ExpectedFile::File(read.stamp);
            match scene.workspace.write(&at, next.as_bytes(), expected) {
                Ok(_) => written += 1,
                Err(FileError::Changed { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        written
    };
    let written: u32 = std::thread::scope(|scope| {
        let sessions = [0; 4].map(|_| scope.spawn(add));
        sessions.map(|one| one.join().unwrap()).iter().sum()
    });
    assert_eq!(std::fs::read_to_string(path).unwrap(), written.to_string());
}

#[test]
fn a_replaced_file_keeps_its_mode_and_its_link() {
    let scene = Scene::new();
    let path = scene.put("run.sh", "old");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    scene.link("link", "run.sh");
    scene
        .workspace
        .write(&scene.writing("link"), b"new", stamp(&scene, "link"))
        .unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o755
    );
    assert!(
        std::fs::symlink_metadata(scene.ws("link"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn the_other_name_of_a_hard_linked_file_keeps_the_old_bytes() {
    let scene = Scene::new();
    std::fs::hard_link(scene.top.join("out/canary"), scene.ws("h")).unwrap();
    scene
        .workspace
        .write(&scene.writing("h"), b"NEW\n", stamp(&scene, "h"))
        .unwrap();
    assert_eq!(std::fs::read(scene.ws("h")).unwrap(), b"NEW\n");
    assert_eq!(
        std::fs::read(scene.top.join("out/canary")).unwrap(),
        b"CANARY\n"
    );
}

#[test]
fn a_file_with_unexpected_content_is_not_replaced() {
    let scene = Scene::new();
    let path = scene.put("f", "one");
    let changed =
        |result: Result<FileStamp, FileError>| matches!(result, Err(FileError::Changed { .. }));
    assert!(changed(scene.workspace.write(
        &scene.writing("f"),
        b"x",
        ExpectedFile::Absent
    )));
    let old = stamp(&scene, "f");
    std::fs::write(&path, "other").unwrap();
    assert!(changed(scene.workspace.write(
        &scene.writing("f"),
        b"x",
        old
    )));
    // It appears, or is changed, at the last moment.
    let at = scene.writing("late");
    let result = scene
        .workspace
        .write_in_steps(&at, b"x", ExpectedFile::Absent, &mut |step| {
            if step == WriteStep::Synced {
                std::fs::write(at.path(), "theirs")?
            }
            Ok(())
        });
    assert!(changed(result));
    let now = stamp(&scene, "f");
    let result = scene
        .workspace
        .write_in_steps(&scene.writing("f"), b"x", now, &mut |step| {
            if step == WriteStep::Synced {
                std::fs::write(&path, "theirs")?
            }
            Ok(())
        });
    assert!(changed(result));
    assert_eq!(std::fs::read(scene.ws("late")).unwrap(), b"theirs");
    assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
    assert_eq!(names(&scene.ws("")), ["f", "late"]);
}

#[test]
fn read_only_and_special_files_are_refused() {
    let scene = Scene::new();
    let path = scene.put("f", "one");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let result = scene
        .workspace
        .write(&scene.writing("f"), b"x", stamp(&scene, "f"));
    assert!(
        matches!(result, Err(FileError::ReadOnly { mode: 0o444, .. })),
        "{result:?}"
    );
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        scene.ws("fifo"),
        Mode::from_raw_mode(0o600),
    )
    .unwrap();
    for name in ["fifo", "."] {
        let result = scene
            .workspace
            .write(&scene.writing(name), b"x", ExpectedFile::Absent);
        assert!(
            matches!(result, Err(FileError::NotAFile { .. })),
            "{name}: {result:?}"
        );
    }
    let result = scene.workspace.write(
        &scene.reading("../out/canary"),
        b"x",
        stamp(&scene, "../out/canary"),
    );
    assert!(matches!(result, Err(FileError::Path(_))), "{result:?}");
}

#[test]
fn a_crash_at_any_step_leaves_the_old_bytes_or_the_new() {
    let steps = [
        WriteStep::Made,
        WriteStep::Half,
        WriteStep::Written,
        WriteStep::Synced,
        WriteStep::Renamed,
    ];
    for existing in [true, false] {
        for crash in steps {
            let scene = Scene::new();
            if existing {
                scene.put("d/f", "old content");
            } else {
                std::fs::create_dir(scene.ws("d")).unwrap();
            }
            let expected = if existing {
                stamp(&scene, "d/f")
            } else {
                ExpectedFile::Absent
            };
            let at = scene.writing("d/f");
            let died = catch_unwind(AssertUnwindSafe(|| {
                scene
                    .workspace
                    .write_in_steps(&at, b"new content", expected, &mut |step| {
                        assert!(step != crash, "the simulated crash");
                        Ok(())
                    })
            }));
            assert!(died.is_err());
            let now = std::fs::read(scene.ws("d/f")).ok();
            let wanted = match (crash == WriteStep::Renamed, existing) {
                (true, _) => Some(b"new content".to_vec()),
                (false, true) => Some(b"old content".to_vec()),
                (false, false) => None,
            };
            assert_eq!(now, wanted, "{crash:?}, existing {existing}");
        }
    }
}

#[test]
fn a_failure_at_any_step_cleans_up() {
    for fail in [
        WriteStep::Made,
        WriteStep::Half,
        WriteStep::Written,
        WriteStep::Synced,
    ] {
        let scene = Scene::new();
        scene.put("d/f", "old");
        let result = scene.workspace.write_in_steps(
            &scene.writing("d/f"),
            b"new",
            stamp(&scene, "d/f"),
            &mut |step| {
                if step == fail {
                    Err(io::ErrorKind::StorageFull.into())
                } else {
                    Ok(())
                }
            },
        );
        assert!(matches!(result, Err(FileError::Io { .. })), "{result:?}");
        assert_eq!(names(&scene.ws("d")), ["f"], "{fail:?}");
        assert_eq!(std::fs::read(scene.ws("d/f")).unwrap(), b"old");
    }
}

/// A directory and a file are swapped with links to the outside meanwhile.
#[test]
fn no_swap_leads_a_write_outside() {
    let scene = Scene::new();
    std::fs::create_dir(scene.ws("d.real")).unwrap();
    scene.link("d.link", scene.top.join("out"));
    scene.put("f.real", "x");
    scene.link("f.link", scene.top.join("out/canary"));
    std::fs::rename(scene.ws("d.real"), scene.ws("d")).unwrap();
    let done = AtomicBool::new(false);
    let mut written = 0;
    std::thread::scope(|threads| {
        let _end = RaiseOnDrop(&done);
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // Directory, link, directory. The same for the file.
                let _ = std::fs::rename(scene.ws("d"), scene.ws("d.real"));
                let _ = std::fs::rename(scene.ws("d.link"), scene.ws("d"));
                let _ = std::fs::rename(scene.ws("d"), scene.ws("d.link"));
                let _ = std::fs::rename(scene.ws("d.real"), scene.ws("d"));
                let _ = std::fs::rename(scene.ws("f.real"), scene.ws("f"));
                let _ = std::fs::rename(scene.ws("f"), scene.ws("f.real"));
                let _ = std::fs::rename(scene.ws("f.link"), scene.ws("f"));
                let _ = std::fs::rename(scene.ws("f"), scene.ws("f.link"));
            }
        });
        let until = Instant::now() + Duration::from_secs(5);
        for _ in 0..3000 {
            for name in ["d/canary", "f"] {
                let Ok(at) = scene.workspace.resolve(name, Access::Write) else {
                    continue;
                };
                let expected = match scene.workspace.read(&at) {
                    Ok(content) => ExpectedFile::File(content.stamp),
                    Err(_) => ExpectedFile::Absent,
                };
                written += u32::from(scene.workspace.write(&at, b"NEW\n", expected).is_ok());
            }
            if Instant::now() > until {
                break;
            }
        }
    });
    assert_eq!(
        std::fs::read(scene.top.join("out/canary")).unwrap(),
        b"CANARY\n"
    );
    assert_eq!(names(&scene.top.join("out")), ["canary", "d"]);
    assert!(
        written > 0,
        "no write ever succeeded: the test proves nothing"
    );
}

#[test]
fn planted_temporary_names_are_not_followed() {
    let scene = Scene::new();
    for name in ["a.txt.tmp", ".a.txt.tmp"] {
        scene.link(name, scene.top.join("out/canary"));
    }
    scene
        .workspace
        .write(&scene.writing("a.txt"), b"NEW\n", ExpectedFile::Absent)
        .unwrap();
    assert_eq!(
        std::fs::read(scene.top.join("out/canary")).unwrap(),
        b"CANARY\n"
    );
}

#[test]
fn a_directory_that_may_not_be_written_is_a_clear_error() {
    if rustix::process::geteuid().is_root() {
        // Root ignores permissions.
        return;
    }
    let scene = Scene::new();
    std::fs::create_dir(scene.ws("nowrite")).unwrap();
    std::fs::set_permissions(scene.ws("nowrite"), std::fs::Permissions::from_mode(0o555)).unwrap();
    let result = scene
        .workspace
        .write(&scene.writing("nowrite/a"), b"x", ExpectedFile::Absent);
    let error = result.unwrap_err().to_string();
    assert!(
        error.contains("nowrite/a") && error.contains("Permission denied"),
        "{error}"
    );
    assert!(names(&scene.ws("nowrite")).is_empty());
}
