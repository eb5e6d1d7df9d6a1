use super::*;
use crate::workspace::WorkspaceOptions;
use crate::workspace::tests::Scene;

/// A work tree, created without git.
fn scene() -> Scene {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.ws(".git/objects")).unwrap();
    scene.put(".gitignore", "ignored\n*.log\n");
    scene.put("a", "one");
    scene.put("d/b", "two");
    scene.put("ignored/x", "x");
    scene.put("inner/.git/HEAD", "ref: refs/heads/main\n");
    scene.put("inner/x", "x");
    scene
}

fn names(paths: impl IntoIterator<Item = PathBuf>) -> Vec<String> {
    let names = paths.into_iter();
    names
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

#[test]
fn the_walk_sees_the_same_files_as_git() {
    let tree = scene().workspace.survey(100, None).unwrap();
    assert_eq!(
        names(tree.places.into_keys()),
        [".gitignore", "a", "d", "d/b"]
    );
    assert_eq!(names(tree.hidden), [".git", "ignored", "inner"]);
}

#[test]
fn a_change_is_detected_however_small_and_fast() {
    let scene = scene();
    let ws = &scene.workspace;
    let look = |before: Option<&Survey>| ws.survey(100, before).unwrap();
    let before = look(None);
    assert!(before.differences(&look(Some(&before))).is_empty());
    // Same length, in place, within one tick of the file system's clock.
    std::fs::write(scene.ws("a"), "two").unwrap();
    std::fs::create_dir(scene.ws("e")).unwrap();
    std::fs::remove_file(scene.ws("d/b")).unwrap();
    let after = look(Some(&before));
    assert_eq!(names(before.differences(&after)), ["a", "d/b", "e"]);
}

#[test]
fn a_file_that_is_no_longer_ignored_has_not_changed() {
    let scene = scene();
    let before = scene.workspace.survey(100, None).unwrap();
    std::fs::remove_file(scene.ws(".gitignore")).unwrap();
    let after = scene.workspace.survey(100, Some(&before)).unwrap();
    assert!(after.places.contains_key(Path::new("ignored/x")));
    assert_eq!(names(before.differences(&after)), [".gitignore"]);
}

#[test]
fn a_walk_beyond_its_limit_is_reported() {
    let scene = scene();
    assert_eq!(
        scene.workspace.survey(3, None),
        Err(TooManyFiles { max: 3 })
    );
}

#[test]
fn a_repository_is_found_in_a_parent_directory_and_through_a_git_file() {
    let scene = scene();
    let objects = scene.ws(".git/objects").canonicalize().unwrap();
    let found = scene.workspace.repository().unwrap();
    assert_eq!((found.objects, found.sha1), (objects.clone(), true));

    let other = Scene::new();
    assert_eq!(other.workspace.repository(), None);
    let worktree = scene.ws(".git/worktrees/w");
    std::fs::create_dir_all(&worktree).unwrap();
    std::fs::write(worktree.join("commondir"), "../..\n").unwrap();
    let text = format!("gitdir: {}\n", worktree.display());
    std::fs::write(other.ws(".git"), text).unwrap();
    let found = other.workspace.repository().unwrap();
    assert_eq!(found.objects, objects);
}

#[test]
fn a_file_that_becomes_readable_has_not_changed() {
    let scene = scene();
    let root = scene.workspace.root();
    let mut before = scene.workspace.survey(100, None).unwrap();
    before.places.remove(Path::new("d/b"));
    // As if the directory's mode forbade it.
    let closed = |dir: &Path| match dir.ends_with("d") {
        true => Err(std::io::ErrorKind::PermissionDenied.into()),
        false => names_in(dir),
    };
    let hidden = beside(root, &before, 100, closed).unwrap();
    before.hidden = hidden;
    assert_eq!(
        names(before.hidden.iter().cloned()),
        [".git", "d", "ignored", "inner"]
    );
    let after = scene.workspace.survey(100, Some(&before)).unwrap();
    assert!(before.differences(&after).is_empty());
}

#[test]
fn unreadable_directories_are_named_or_any_path_may_exist() {
    let io = || ignore::Error::Io(std::io::ErrorKind::PermissionDenied.into());
    let at = |path: &str, err| ignore::Error::WithDepth {
        depth: 1,
        err: Box::new(ignore::Error::WithPath {
            path: path.into(),
            err: Box::new(err),
        }),
    };
    let root = Path::new("/p");
    assert_eq!(unread(&at("/p/d", io()), root), Some("d".into()));
    assert_eq!(unread(&io(), root), Some(PathBuf::new()));
    // An invalid ignore rule above the workspace hides nothing in it.
    let rule = ignore::Error::Glob {
        glob: None,
        err: "no rule".into(),
    };
    let both = vec![at("/.gitignore", rule), at("/.gitignore", io())];
    assert_eq!(unread(&ignore::Error::Partial(both), root), None);
    let all = Survey {
        hidden: [PathBuf::new()].into(),
        ..Survey::default()
    };
    assert!(all.hides(Path::new("any/thing")));
}

/// Runs a shell command in the work tree. Returns false if git is not installed.
fn git(scene: &Scene, line: &str) -> bool {
    let mut shell = std::process::Command::new("/bin/sh");
    let line = format!("command -v git >/dev/null || exit 127; {line}");
    let shell = shell.arg("-c").arg(line).current_dir(scene.ws(""));
    let done = shell
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(matches!(done.status.code(), Some(0 | 127)), "{done:?}");
    done.status.success()
}

/// A real repository with tracked files in an ignored directory, and others beside them.
fn tracked_and_ignored(init: &str) -> Option<Scene> {
    let scene = Scene::new();
    scene.put(".gitignore", "dist/\n*.log\n");
    for name in [
        "a",
        "a.log",
        "b.log",
        "dist/a",
        "dist/other",
        "dist/deep/b",
        "dist/deep/c",
    ] {
        scene.put(name, "one");
    }
    let add = "git add -A && git add -f a.log dist/a dist/deep/b dist/deep/c";
    git(&scene, &format!("git init -q {init} . && {add}")).then_some(scene)
}

#[test]
fn tracked_files_are_seen_even_if_ignored_in_every_index_version() {
    let written = [
        "git update-index --index-version 2",
        "git update-index --index-version 4",
        "touch n && git add -N n && rm n && git update-index --index-version 3 && git rm -q --cached n",
        "git update-index --split-index && git update-index --force-remove a && git add a",
        "git config core.untrackedCache true && git update-index --untracked-cache",
    ];
    for init in ["", "--object-format=sha256"] {
        for line in written {
            let Some(scene) = tracked_and_ignored(init) else {
                return;
            };
            assert!(git(&scene, line));
            let tree = scene.workspace.survey(100, None).unwrap();
            assert_eq!(tree.blind, None, "{init} {line}");
            assert_eq!(
                names(tree.places.into_keys()),
                [
                    ".gitignore",
                    "a",
                    "a.log",
                    "dist",
                    "dist/a",
                    "dist/deep",
                    "dist/deep/b",
                    "dist/deep/c"
                ],
                "{init} {line}"
            );
            assert_eq!(names(tree.hidden), [".git", "b.log", "dist/other"]);
        }
    }
}

#[test]
fn tracked_files_are_seen_from_subdirectories_and_only_there() {
    let Some(scene) = tracked_and_ignored("") else {
        return;
    };
    scene.put("dist/d.log", "one");
    scene.put("dist/e.log", "one");
    assert!(git(&scene, "git add -f dist/d.log"));
    let below = WorkspaceOptions {
        root: scene.ws("dist"),
        cwd: scene.ws("dist"),
        user_home: scene.top.join("home"),
        ..WorkspaceOptions::default()
    };
    let below = Workspace::open(below).unwrap();
    let tree = below.survey(100, None).unwrap();
    let seen = tree.places.keys().cloned();
    let logs = seen.filter(|path| path.extension().is_some());
    assert_eq!(names(logs), ["d.log"]);
    // A link in the path, and a repository that appeared there.
    std::fs::rename(scene.ws("dist"), scene.ws("moved")).unwrap();
    scene.link("dist", "moved");
    let tree = scene.workspace.survey(100, None).unwrap();
    assert!(!tree.places.contains_key(Path::new("dist/a")));
    std::fs::remove_file(scene.ws("dist")).unwrap();
    scene.put("dist/.git/HEAD", "ref: refs/heads/main\n");
    scene.put("dist/a", "one");
    let tree = scene.workspace.survey(100, None).unwrap();
    assert!(!tree.places.contains_key(Path::new("dist/a")));
}

#[test]
fn a_tracked_file_among_many_ignored_ones_is_compared_but_not_listed() {
    let Some(scene) = tracked_and_ignored("") else {
        return;
    };
    let look = |before: Option<&Survey>| scene.workspace.survey(5000, before).unwrap();
    let open = look(None);
    for number in 0..surveyor::OPENED_MAX {
        scene.put(&format!("dist/many-{number}"), "");
    }
    // It was opened before that.
    scene.put("dist/a", "two");
    let still = look(Some(&open));
    assert_eq!(names(open.differences(&still)), ["dist/a"]);
    assert!(open.unkept_differences(&still).is_empty());

    let before = look(None);
    assert_eq!(
        names(before.hidden.iter().cloned()),
        [".git", "b.log", "dist"]
    );
    scene.put("dist/a", "six");
    std::fs::remove_file(scene.ws("dist/deep/b")).unwrap();
    let after = look(Some(&before));
    assert!(before.differences(&after).is_empty());
    let changed = before.unkept_differences(&after);
    assert_eq!(names(changed), ["dist/a", "dist/deep/b"]);
}

#[test]
fn an_unreadable_git_index_is_reported() {
    let Some(scene) = tracked_and_ignored("") else {
        return;
    };
    let whole = std::fs::read(scene.ws(".git/index")).unwrap();
    let mut other = whole.clone();
    other[7] = 9;
    for index in [&whole[..40], &other, b"DIRC", b""] {
        scene.put(".git/index", index);
        let tree = scene.workspace.survey(100, None).unwrap();
        assert!(tree.blind.is_some(), "{index:?}");
        assert_eq!(names(tree.places.into_keys()), [".gitignore", "a"]);
    }
}

#[test]
fn a_name_that_is_not_utf8_is_compared_but_not_reported_as_a_path() {
    let scene = scene();
    let cafe = scene.ws("").join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&cafe).unwrap();
    std::fs::write(cafe.join("x"), "one").unwrap();
    let look = |before: Option<&Survey>| scene.workspace.survey(100, before).unwrap();
    let before = look(None);
    assert!(before.unkept_differences(&look(Some(&before))).is_empty());
    std::fs::write(cafe.join("x"), "two").unwrap();
    std::fs::write(cafe.join("y"), "new").unwrap();
    let after = look(Some(&before));
    let changed = before.unkept_differences(&after);
    assert_eq!(names(changed), ["caf\u{fffd}/x", "caf\u{fffd}/y"]);
    assert!(before.differences(&after).is_empty());
}

#[test]
fn a_previously_seen_file_is_seen_after_it_becomes_ignored() {
    let scene = scene();
    let before = scene.workspace.survey(100, None).unwrap();
    scene.put(".gitignore", "ignored\n*.log\nd\n");
    scene.put("d/b", "new");
    scene.put("d/c", "came");
    scene.put("x.log", "came");
    let after = scene.workspace.survey(100, Some(&before)).unwrap();
    assert_eq!(names(before.differences(&after)), [".gitignore", "d/b"]);
    let fresh = scene.workspace.newly_ignored(&before, &after);
    assert_eq!(names(fresh), ["d/c", "x.log"]);
    // The rules are the same as before, so only the new file is ignored.
    scene.put("y.log", "came");
    let later = scene.workspace.survey(100, Some(&after)).unwrap();
    assert_eq!(
        scene.workspace.newly_ignored(&after, &later),
        [] as [PathBuf; 0]
    );
}

proptest::proptest! {
    #[test]
    fn reading_any_git_index_terminates(bytes: Vec<u8>, version in 2..5_u8, count: u8) {
        let mut index = b"DIRC".to_vec();
        index.extend([0, 0, 0, version, 0, 0, 0, count]);
        index.extend(bytes);
        let reader = index::IndexReader::new(index.as_slice(), index.len() as u64);
        let _ = index::names(reader, 20, index::IndexEntryKind::File, &mut |_| {});
    }
}
