use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use workspace::{Workspace, WorkspaceOptions};

use super::*;

struct Scene {
    top: PathBuf,
    _dir: TempDir,
    workspace: Workspace,
    env: Vec<(String, String)>,
    altered: BTreeMap<String, Option<String>>,
}

impl Scene {
    /// `PATH`: the workspace's `.venv/bin`, then `sys`, which has `curl`, `env`, `sh`, `xargs` and `sudo`.
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for dir in ["ws/.venv/bin", "ws/sub", "sys", "home"] {
            fs::create_dir_all(top.join(dir)).unwrap();
        }
        for name in ["curl", "env", "sh", "xargs", "sudo"] {
            program(&top.join("sys").join(name));
        }
        let workspace = Workspace::open(WorkspaceOptions {
            root: top.join("ws"),
            cwd: top.join("ws"),
            user_home: top.join("home"),
            ..WorkspaceOptions::default()
        });
        let path = format!("{0}/ws/.venv/bin:{0}/sys", top.display());
        Self {
            env: vec![("PATH".into(), path)],
            workspace: workspace.unwrap(),
            altered: BTreeMap::new(),
            top,
            _dir: dir,
        }
    }

    fn look(&self, line: &str) -> OutsidePrograms {
        let search = ProgramSearch {
            workspace: &self.workspace,
            beside: &[],
            env: &self.env,
        };
        let position = ShellPosition {
            cwd: self.top.join("ws"),
            altered: self.altered.clone(),
        };
        search.look(line, &position)
    }

    /// The programs of a line, below the scene's directory; `!` before those that are the session's own.
    fn shown(&self, line: &str) -> Vec<String> {
        let programs = self.look(line).programs.into_iter();
        let words = programs.map(|program| {
            let mark = if program.own { "!" } else { "" };
            let path = program.path.unwrap_or_else(|| format!("{}?", program.name));
            let top = format!("{}/", self.top.display());
            format!("{mark}{}", path.replace(&top, ""))
        });
        words.collect()
    }

    fn own(&self, name: &str) {
        program(&self.top.join("ws").join(name));
    }
}

fn program(path: &Path) {
    fs::write(path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn script_of_the_workspace_is_shown_also_if_it_is_not_executable() {
    let scene = Scene::new();
    fs::write(scene.top.join("ws/x.sh"), "").unwrap();
    for line in [
        "sh x.sh",
        "sh ./x.sh",
        "env sh x.sh",
        ". ./x.sh",
        "source ./x.sh",
        "sh < x.sh",
    ] {
        let shown = scene.shown(line);
        assert_eq!(
            shown.first().map(String::as_str),
            Some("!ws/x.sh"),
            "{line}"
        );
    }
    assert_eq!(scene.shown("sh missing.sh"), ["sys/sh"]);
}

#[test]
fn file_that_a_runner_obeys_is_shown_and_takes_two_yeses_but_is_no_program_of_the_session() {
    let scene = Scene::new();
    for name in ["make", "npm", "pytest"] {
        program(&scene.top.join("sys").join(name));
    }
    assert_eq!(scene.shown("make test"), ["sys/make"]);
    fs::write(scene.top.join("ws/Makefile"), "").unwrap();
    fs::write(scene.top.join("ws/package.json"), "").unwrap();
    assert_eq!(scene.shown("make test"), ["!ws/Makefile", "sys/make"]);
    assert_eq!(scene.shown("npm run x"), ["!ws/package.json", "sys/npm"]);
    // The nearest one above counts, where the runner looks there.
    assert_eq!(
        scene.shown("cd sub && npm test"),
        ["!ws/package.json", "sys/npm"]
    );
    assert_eq!(scene.shown("cd sub && make"), ["sys/make"]);
    assert_eq!(scene.shown("make -C sub"), ["sys/make"]);
    fs::write(scene.top.join("ws/sub/x.mk"), "").unwrap();
    assert_eq!(
        scene.shown("make -C sub -f x.mk"),
        ["!ws/sub/x.mk", "sys/make"]
    );
    // Any file of the directory may be a test.
    assert_eq!(scene.shown("pytest"), ["!ws", "sys/pytest"]);
    let found = scene.look("make test");
    assert!(found.runs_own_files() && found.own().is_none());
    // So the `PATH` stays without the directories of the session.
    assert!(found.path.is_some_and(|path| !path.contains("ws")));
    scene.own(".venv/bin/make");
    let found = scene.look("make test");
    assert!(found.own().is_some() && found.path.is_none());
}

#[test]
fn a_program_of_the_workspace_is_shown_first_wherever_the_line_starts_it() {
    let scene = Scene::new();
    assert_eq!(scene.shown("curl x"), ["sys/curl"]);
    scene.own(".venv/bin/curl");
    let own = "!ws/.venv/bin/curl";
    assert_eq!(scene.shown("curl x"), [own]);
    assert_eq!(scene.shown("env X=1 curl x"), [own, "sys/env"]);
    assert_eq!(scene.shown("ls | xargs curl"), [own, "sys/xargs"]);
    assert_eq!(scene.shown("sudo curl x"), [own, "sys/sudo"]);
    assert_eq!(scene.shown("sh -c 'true; curl x'"), [own, "sys/sh"]);
    assert_eq!(scene.shown("time curl x"), [own]);
    assert_eq!(scene.shown("echo $(curl x)"), [own]);
    // A path that was named, and one that the line sets.
    let named = format!("{}/sys/curl x", scene.top.display());
    assert_eq!(scene.shown(&named), ["sys/curl"]);
    let set = format!("PATH={}/sys curl x", scene.top.display());
    assert_eq!(scene.shown(&set), ["sys/curl"]);
}

#[test]
fn programs_in_the_workspace_are_found_through_links_and_path() {
    let mut scene = Scene::new();
    scene.own("tool");
    symlink(scene.top.join("ws/tool"), scene.top.join("sys/linked")).unwrap();
    assert_eq!(scene.shown("linked x"), ["!sys/linked"]);
    scene.own("sub/curl");
    assert_eq!(scene.shown("PATH=$PWD/sub:$PATH curl x"), ["!ws/sub/curl"]);
    assert_eq!(scene.shown("cd sub && ./curl"), ["!ws/sub/curl"]);
    assert_eq!(scene.shown("cd $x && ./curl"), ["!./curl?"]);
    assert_eq!(scene.shown("PATH=$(cat p) curl x"), ["!curl?"]);
    // A relative entry of the client, and one that an earlier command has exported.
    let path = scene.env[0].1.clone();
    scene.env[0].1 = format!("sub:{path}");
    assert_eq!(scene.shown("curl x"), ["!ws/sub/curl"]);
    scene.env[0].1 = format!(":{path}");
    assert_eq!(scene.shown("tool x"), ["!ws/tool"]);
    scene.env[0].1 = path.clone();
    let altered = format!("{}/ws/sub:{path}", scene.top.display());
    scene.altered.insert("PATH".into(), Some(altered));
    assert_eq!(scene.shown("curl x"), ["!ws/sub/curl"]);
}

#[test]
fn search_path_omits_writable_directories_unless_they_hold_the_program() {
    let mut scene = Scene::new();
    let venv = scene
        .top
        .join("ws/.venv/bin")
        .to_string_lossy()
        .into_owned();
    let sys = scene.top.join("sys").to_string_lossy().into_owned();
    scene.env[0].1 = format!("{venv}::sub:{sys}");
    let found = scene.look("curl x");
    assert_eq!(found.path, Some(sys));
    assert_eq!(found.left_out, [venv, ".".to_owned(), "sub".to_owned()]);
    scene.own(".venv/bin/curl");
    let found = scene.look("curl x");
    assert_eq!((found.path, found.left_out), (None, Vec::new()));
}

#[test]
fn modules_that_python_may_import_are_shown_as_one_program() {
    let scene = Scene::new();
    program(&scene.top.join("sys/python3"));
    let line = "python3 -c 'import json'";
    assert_eq!(scene.shown(line), ["sys/python3"]);
    fs::write(scene.top.join("ws/json.py"), "").unwrap();
    assert_eq!(scene.shown(line), ["!ws", "sys/python3"]);
    assert!(scene.look(line).runs_own_files());
    assert_eq!(scene.shown("python3 -I -c x"), ["sys/python3"]);
    // A package, in another directory.
    fs::create_dir_all(scene.top.join("ws/sub/json")).unwrap();
    fs::write(scene.top.join("ws/sub/json/__init__.py"), "").unwrap();
    let line = "cd sub && python3 -m json.tool";
    assert!(scene.shown(line).contains(&"!ws/sub".to_owned()));
}

#[test]
fn cd_into_a_missing_directory_does_not_hide_workspace_programs() {
    let scene = Scene::new();
    scene.own("x.sh");
    scene.own("sub/y.sh");
    for (line, shown) in [
        ("mkdir -p q && cd q && ../x.sh", "!ws/x.sh"),
        ("mkdir q/r && cd q/r && sh ../../x.sh", "!ws/x.sh"),
        ("cd q && ../sub/y.sh", "!ws/sub/y.sh"),
        ("(cd /); ./x.sh", "!ws/x.sh"),
        ("cd /nope; ./x.sh", "!ws/x.sh"),
    ] {
        let found = scene.shown(line);
        assert!(found.iter().any(|one| one == shown), "{line}: {found:?}");
    }
}
