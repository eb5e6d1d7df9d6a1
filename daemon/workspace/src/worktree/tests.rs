use super::*;
use crate::workspace::tests::Scene;

/// A work tree, without git's help.
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
fn it_sees_what_git_would_see() {
    let tree = scene().workspace.survey(100, None).unwrap();
    assert_eq!(
        names(tree.places.into_keys()),
        [".gitignore", "a", "d", "d/b"]
    );
    assert_eq!(names(tree.hidden), [".git", "ignored", "inner"]);
}

#[test]
fn a_change_is_seen_however_small_and_quick() {
    let scene = scene();
    let ws = &scene.workspace;
    let look = |before: Option<&Tree>| ws.survey(100, before).unwrap();
    let before = look(None);
    assert!(before.differences(&look(Some(&before))).is_empty());
    // Of the same length, in place, within the same tick of the file system's clock.
    std::fs::write(scene.ws("a"), "two").unwrap();
    std::fs::create_dir(scene.ws("e")).unwrap();
    std::fs::remove_file(scene.ws("d/b")).unwrap();
    let after = look(Some(&before));
    assert_eq!(names(before.differences(&after)), ["a", "d/b", "e"]);
}

#[test]
fn what_is_ignored_no_more_has_not_changed() {
    let scene = scene();
    let before = scene.workspace.survey(100, None).unwrap();
    std::fs::remove_file(scene.ws(".gitignore")).unwrap();
    let after = scene.workspace.survey(100, Some(&before)).unwrap();
    assert!(after.places.contains_key(Path::new("ignored/x")));
    assert_eq!(names(before.differences(&after)), [".gitignore"]);
}

#[test]
fn more_than_is_looked_at_is_said() {
    let scene = scene();
    assert_eq!(scene.workspace.survey(3, None), Err(TooMany { max: 3 }));
}

#[test]
fn a_repository_is_found_above_and_by_a_file_that_says_where_it_is() {
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
fn what_could_not_be_read_and_can_be_now_has_not_changed() {
    let scene = scene();
    let root = scene.workspace.root();
    let mut before = scene.workspace.survey(100, None).unwrap();
    before.places.remove(Path::new("d/b"));
    // As it is when the directory's mode forbids it.
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
fn what_the_walk_could_not_read_is_named_or_else_all_may_be_there() {
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
    // A rule above the workspace that nobody understands hides nothing in it.
    let rule = ignore::Error::Glob {
        glob: None,
        err: "no rule".into(),
    };
    let both = vec![at("/.gitignore", rule), at("/.gitignore", io())];
    assert_eq!(unread(&ignore::Error::Partial(both), root), None);
    let all = Tree {
        hidden: [PathBuf::new()].into(),
        ..Tree::default()
    };
    assert!(all.hides(Path::new("any/thing")));
}
