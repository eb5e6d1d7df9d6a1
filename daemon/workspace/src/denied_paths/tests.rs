use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::{WorkspaceOptions, is_protected};

fn workspace(dir: &Path, deny_read: &[&str]) -> Workspace {
    let root = dir.join("ws");
    fs::create_dir_all(root.join("sub/deep")).unwrap();
    fs::create_dir_all(root.join("secrets")).unwrap();
    fs::create_dir_all(dir.join("home/.ssh")).unwrap();
    for file in [
        ".env",
        "sub/.env",
        "sub/deep/key.pem",
        "secrets/key",
        "a.txt",
    ] {
        fs::write(root.join(file), "x").unwrap();
    }
    std::os::unix::fs::symlink("a.txt", root.join("link.pem")).unwrap();
    let options = WorkspaceOptions {
        root: root.clone(),
        cwd: root,
        user_home: dir.join("home"),
        deny_read: deny_read.iter().map(|text| (*text).to_owned()).collect(),
        ..WorkspaceOptions::default()
    };
    Workspace::open(options).unwrap()
}

fn below(workspace: &Workspace, places: &[PathBuf]) -> Vec<String> {
    let root = workspace.root();
    let shown = |place: &PathBuf| {
        place
            .strip_prefix(root)
            .unwrap_or(place)
            .display()
            .to_string()
    };
    places.iter().map(shown).collect()
}

#[test]
fn globs_expand_to_existing_paths() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = workspace(dir.path(), &["~/.ssh/**", "~/.aws/**", "secrets/**"]);
    let patterns = [
        "**/.env".to_owned(),
        "**/*.pem".to_owned(),
        "gone/file".to_owned(),
    ];
    let closed = workspace.paths_denied_to_read(&patterns);
    let home = fs::canonicalize(dir.path()).unwrap().join("home/.ssh");
    let mut expected = vec![home.display().to_string()];
    expected.extend([".env", "secrets", "sub/.env", "sub/deep/key.pem"].map(str::to_owned));
    assert_eq!(
        below(&workspace, &closed.places),
        expected,
        "links and missing files are not listed"
    );
    assert_eq!(closed.incomplete, [""; 0]);
}

#[test]
fn a_glob_below_a_link_is_expanded_at_the_links_target() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = workspace(dir.path(), &["~/keys/**/*.key"]);
    let at = |name: &str| dir.path().join(name);
    for real in ["ws/real/sub", "home/real"] {
        fs::create_dir_all(at(real)).unwrap();
    }
    std::os::unix::fs::symlink("real", at("ws/data")).unwrap();
    std::os::unix::fs::symlink("real", at("home/keys")).unwrap();
    for file in ["ws/real/sub/a.key", "ws/real/sub/a.txt", "home/real/b.key"] {
        fs::write(at(file), "x").unwrap();
    }
    let closed = workspace.paths_denied_to_read(&["data/**/*.key".into()]);
    let home = fs::canonicalize(at("home/real/b.key")).unwrap();
    assert_eq!(
        below(&workspace, &closed.places),
        [home.display().to_string(), "real/sub/a.key".to_owned()]
    );
    assert_eq!(closed.incomplete, [""; 0]);
}

#[test]
fn too_many_paths_make_the_sandbox_incomplete() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = workspace(dir.path(), &[]);
    for number in 0..1_000 {
        fs::write(workspace.root().join(format!("{number}.map")), "").unwrap();
    }
    let closed = workspace.paths_denied_to_read(&["**/*.map".into(), "secrets/**".into()]);
    assert_eq!(closed.incomplete, ["**/*.map"]);
    assert!(closed.places.len() < 600, "{}", closed.places.len());
    assert!(closed.places.contains(&workspace.root().join("secrets")));
}

/// Runs this as an ordinary user: root can list every directory.
fn as_ordinary_user(run: fn()) {
    let become_one_and_run = move || {
        let nobody = rustix::process::Uid::from_raw(65_534);
        if rustix::process::geteuid().is_root() {
            // Of this thread alone.
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
        }
        run();
    };
    std::thread::spawn(become_one_and_run).join().unwrap();
}

#[test]
fn a_command_can_open_files_whose_owner_removed_permissions() {
    as_ordinary_user(with_removed_permissions);
}

fn with_removed_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let workspace = workspace(dir.path(), &[]);
    let secrets = workspace.root().join("secrets");
    fs::create_dir_all(secrets.join("deep")).unwrap();
    let patterns = ["**/key".to_owned(), "secrets/deep/key".to_owned()];
    assert_eq!(
        workspace.paths_denied_to_read(&patterns).incomplete,
        [""; 0]
    );
    assert!(crate::guarded(workspace.root()).whole);
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o000)).unwrap();
    let closed = workspace.paths_denied_to_read(&patterns);
    let guarded = crate::guarded(workspace.root());
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(closed.incomplete, patterns);
    assert!(!guarded.whole);
    // Directories of other owners stay closed: the system's own directories need no question.
    let others = workspace.paths_denied_to_read(&["/etc/ssl/private/**/id".into()]);
    assert_eq!(others.incomplete, [""; 0]);
}

#[test]
fn paths_that_may_be_created_later_make_the_sandbox_incomplete() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = workspace(dir.path(), &[]);
    let closed =
        workspace.paths_denied_to_edit(&["vendor/**".into(), "**/*.pem".into(), "a.txt".into()]);
    assert_eq!(
        below(&workspace, &closed.places),
        ["a.txt", "sub/deep/key.pem", "vendor"]
    );
    assert_eq!(closed.incomplete, ["**/*.pem"], "another one could be made");
}

#[test]
fn the_whole_file_system_is_not_walked() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = workspace(dir.path(), &[]);
    let closed = workspace.paths_denied_to_read(&["/**/*.pem".into()]);
    assert_eq!(closed.incomplete, ["/**/*.pem"]);
}

#[test]
fn every_guarded_path_is_protected_from_file_tools_too() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x.code-workspace"), "").unwrap();
    fs::create_dir_all(dir.path().join("sub/.git")).unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    let places = crate::guarded(dir.path()).places;
    assert!(places.contains(&dir.path().join(".git/hooks")));
    assert!(places.contains(&dir.path().join("sub/.git/hooks")));
    assert!(places.contains(&dir.path().join("x.code-workspace")));
    for place in places {
        assert!(
            is_protected(place.strip_prefix(dir.path()).unwrap()),
            "{place:?}"
        );
    }
    fs::remove_dir(dir.path().join(".git")).unwrap();
    fs::write(dir.path().join(".git"), "gitdir: ../other").unwrap();
    let places = crate::guarded(dir.path()).places;
    assert!(places.contains(&dir.path().join(".git")), "{places:?}");
    assert!(!places.contains(&dir.path().join(".git/hooks")));
}
