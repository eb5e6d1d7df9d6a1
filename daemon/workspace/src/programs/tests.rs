use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;

struct Scene {
    top: TempDir,
    dirs: WritableDirs,
}

impl Scene {
    fn new() -> Self {
        let top = TempDir::new().unwrap();
        for dir in ["ws/.venv/bin", "sys/bin", "etc"] {
            fs::create_dir_all(top.path().join(dir)).unwrap();
        }
        let ws = top.path().canonicalize().unwrap().join("ws");
        let dirs = WritableDirs(vec![ws]);
        Self { top, dirs }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().unwrap().join(name)
    }

    fn program(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
        fs::set_permissions(self.at(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn path(&self, dirs: &[&str]) -> String {
        let dirs = dirs.iter().map(|dir| match dir.starts_with('=') {
            true => dir[1..].to_owned(),
            false => self.at(dir).to_string_lossy().into_owned(),
        });
        dirs.collect::<Vec<_>>().join(":")
    }

    fn find(&self, name: &str, path: &str) -> Option<(String, bool)> {
        let found = self.dirs.find(name, &self.at("ws"), Some(path))?;
        let top = self.at("");
        let shown = found.path.strip_prefix(top).unwrap_or(&found.path);
        Some((shown.to_string_lossy().into_owned(), found.own))
    }
}

#[test]
fn the_first_on_the_path_is_found_and_that_of_the_workspace_is_the_sessions_own() {
    let scene = Scene::new();
    scene.program("sys/bin/curl", "x");
    let path = scene.path(&["ws/.venv/bin", "sys/bin"]);
    assert_eq!(
        scene.find("curl", &path),
        Some(("sys/bin/curl".into(), false))
    );
    scene.program("ws/.venv/bin/curl", "x");
    assert_eq!(
        scene.find("curl", &path),
        Some(("ws/.venv/bin/curl".into(), true))
    );
    assert_eq!(scene.find("wget", &path), None);
    // Entries that are relative or empty mean the working directory.
    scene.program("ws/tool", "x");
    for entry in ["=", "=.", "=../ws"] {
        let path = scene.path(&[entry, "sys/bin"]);
        let (_, own) = scene.find("tool", &path).expect("found");
        assert!(own, "{entry}");
    }
    assert_eq!(scene.find("./tool", &path), Some(("ws/tool".into(), true)));
}

#[test]
fn links_and_interpreters_that_lead_into_the_workspace_are_its_own() {
    let scene = Scene::new();
    scene.program("ws/tool", "x");
    scene.program("sys/bin/real", "x");
    symlink(scene.at("ws/tool"), scene.at("sys/bin/tool")).unwrap();
    symlink(scene.at("ws/.venv/bin"), scene.at("linked")).unwrap();
    // Out again: who may change the link in the middle decides what runs.
    symlink(scene.at("sys/bin/real"), scene.at("ws/hop")).unwrap();
    symlink("../../ws/hop", scene.at("sys/bin/far")).unwrap();
    scene.program("ws/.venv/bin/python3", "x");
    scene.program(
        "sys/bin/script",
        &format!("#!{}\n", scene.at("ws/tool").display()),
    );
    scene.program("sys/bin/by-env", "#!/usr/bin/env -S python3 -E\n");
    let path = scene.path(&["linked", "sys/bin"]);
    for name in ["tool", "far", "script", "by-env", "python3"] {
        let (_, own) = scene.find(name, &path).expect(name);
        assert!(own, "{name}");
    }
    assert_eq!(
        scene.find("real", &path),
        Some(("sys/bin/real".into(), false))
    );
    let cleaned = scene.path(&["sys/bin"]);
    let (_, own) = scene.find("by-env", &cleaned).expect("by-env");
    assert!(!own, "no python3 of the workspace is found there");
}

#[test]
fn a_path_without_what_is_own_has_absolute_entries_only() {
    let scene = Scene::new();
    symlink(scene.at("ws/.venv/bin"), scene.at("linked")).unwrap();
    let path = scene.path(&["ws/.venv/bin", "=", "=bin", "linked", "sys/bin", "missing"]);
    assert_eq!(
        scene.dirs.without(Some(&path)),
        scene.path(&["sys/bin", "missing"])
    );
    assert_eq!(scene.dirs.without(Some("")), PATH_DEFAULT);
    assert_eq!(scene.dirs.without(None), PATH_DEFAULT);
    let loops = scene.at("etc/loop");
    symlink(&loops, &loops).unwrap();
    assert!(scene.dirs.leads_through(&loops));
    assert!(!scene.dirs.leads_through(Path::new("/usr/bin")));
}
