//! Tests, and the fixture that other modules' tests use.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::resolve::{Access, ResolvedPath};

/// A temporary directory with a workspace `ws`, an `out` beside it, and a `home`.
pub(crate) struct Scene {
    /// Dropping it deletes the files.
    _dir: TempDir,
    pub(crate) top: PathBuf,
    pub(crate) workspace: Workspace,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with(|_, _| {})
    }

    pub(crate) fn with(change: impl FnOnce(&Path, &mut WorkspaceOptions)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for name in ["ws", "out/d", "home/.reasonix"] {
            std::fs::create_dir_all(top.join(name)).unwrap();
        }
        std::fs::write(top.join("out/canary"), "CANARY\n").unwrap();
        std::fs::write(top.join("home/.reasonix/credentials.toml"), "secret").unwrap();
        let mut options = WorkspaceOptions {
            root: top.join("ws"),
            cwd: top.join("ws"),
            masked: vec![top.join("home/.reasonix")],
            user_home: top.join("home"),
            ..WorkspaceOptions::default()
        };
        change(&top, &mut options);
        let workspace = Workspace::open(options).unwrap();
        Self {
            _dir: dir,
            top,
            workspace,
        }
    }

    pub(crate) fn ws(&self, name: &str) -> PathBuf {
        self.top.join("ws").join(name)
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.ws(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn link(&self, name: &str, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.ws(name)).unwrap();
    }

    pub(crate) fn reading(&self, path: &str) -> ResolvedPath {
        self.workspace.resolve(path, Access::Read).unwrap()
    }

    pub(crate) fn writing(&self, path: &str) -> ResolvedPath {
        self.workspace.resolve(path, Access::Write).unwrap()
    }
}

#[test]
fn the_innermost_root_holds_a_path() {
    let scene = Scene::with(|top, options| {
        options.extra_writable = vec![top.join("ws/sub"), top.join("out")]
    });
    assert_eq!(
        scene.workspace.root_of(&scene.ws("sub/x")),
        Some(scene.ws("sub").as_path())
    );
    assert_eq!(
        scene.workspace.root_of(&scene.ws("x")),
        Some(scene.top.join("ws").as_path())
    );
    assert_eq!(scene.workspace.root_of(&scene.top.join("ws-evil/x")), None);
}

#[test]
fn paths_are_shown_from_the_working_directory() {
    let scene = Scene::new();
    assert_eq!(scene.workspace.shown(&scene.ws("a/b")), "a/b");
    assert_eq!(scene.workspace.shown(&scene.ws("")), ".");
    assert_eq!(scene.workspace.shown(Path::new("/etc/hosts")), "/etc/hosts");
}

#[test]
fn an_invalid_glob_is_reported_and_the_others_apply() {
    let scene = Scene::with(|_, options| {
        options.deny_read = vec!["a[".into(), "secrets/**".into()];
    });
    let problems: Vec<_> = scene.workspace.problems().iter().collect();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].to_string().contains("`a[`"), "{}", problems[0]);
    let error = scene.workspace.resolve("secrets/key", Access::Read);
    assert!(matches!(
        error,
        Err(PathError::Denied { pattern, .. }) if pattern == "secrets/**"
    ));
}

#[test]
fn a_relative_root_is_refused() {
    let absolute = || WorkspaceOptions {
        root: "/tmp".into(),
        cwd: "/tmp".into(),
        ..WorkspaceOptions::default()
    };
    assert!(Workspace::open(absolute()).is_ok());
    for place in ["", ".", "src", "~"] {
        let changes: [fn(&mut WorkspaceOptions, PathBuf); 4] = [
            |options, place| options.root = place,
            |options, place| options.cwd = place,
            |options, place| options.extra_writable = vec![place],
            |options, place| options.masked = vec![place],
        ];
        for change in changes {
            let mut options = absolute();
            change(&mut options, place.into());
            let error = Workspace::open(options).unwrap_err();
            assert!(
                matches!(&error, PathError::Relative(path) if path == Path::new(place)),
                "{error}"
            );
        }
    }
}

#[test]
fn a_directory_reports_whether_it_contains_masked_paths() {
    let scene = Scene::with(|_, options| {
        options.deny_read = vec![
            "~/.ssh/**".into(),
            "vault/**/key".into(),
            "many/*/{a/b,c}".into(),
        ];
    });
    for dir in [
        "home/.ssh",
        "ws/vault/deep",
        "ws/vaulted",
        "ws/src",
        "ws/many/x/y",
    ] {
        std::fs::create_dir_all(scene.top.join(dir)).unwrap();
    }
    scene.put("file", "");
    scene.link("to-home", scene.top.join("home"));
    let holds = |text: &str| {
        let at = scene.workspace.locate(scene.workspace.cwd(), text).unwrap();
        at.contains_denied()
    };
    for text in [
        "/",
        "~",
        "..",
        ".",
        "to-home",
        "vault",
        "vault/deep",
        "many",
        "many/x",
    ] {
        assert!(holds(text), "{text}");
    }
    for text in ["src", "vaulted", "file", "missing", "../out"] {
        assert!(!holds(text), "{text}");
    }
}
