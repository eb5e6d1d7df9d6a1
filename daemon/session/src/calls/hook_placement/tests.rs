//! Hooks of every kind, and whether they run sandboxed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use tempfile::TempDir;
use workspace::{Workspace, WorkspaceOptions};

use super::*;

struct Scene {
    top: PathBuf,
    _dir: TempDir,
    workspace: Workspace,
    env: Vec<(String, String)>,
}

impl Scene {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for dir in ["ws/bin", "sys", "home/hooks"] {
            fs::create_dir_all(top.join(dir)).unwrap();
        }
        for file in [
            "ws/check.sh",
            "ws/bin/tail",
            "sys/mine",
            "home/hooks/check.sh",
        ] {
            let path = top.join(file);
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(top.join("ws/plain.sh"), "").unwrap();
        symlink(top.join("ws/check.sh"), top.join("home/hooks/linked.sh")).unwrap();
        let workspace = Workspace::open(WorkspaceOptions {
            root: top.join("ws"),
            cwd: top.join("ws"),
            user_home: top.join("home"),
            ..WorkspaceOptions::default()
        });
        let path = format!("{0}/ws/bin:{0}/sys:/usr/bin:/bin", top.display());
        let home = top.join("home").to_string_lossy().into_owned();
        Self {
            env: vec![("PATH".into(), path), ("HOME".into(), home)],
            workspace: workspace.unwrap(),
            top,
            _dir: dir,
        }
    }

    fn reach(&self, line: &str) -> Reach {
        let search = ProgramSearch {
            workspace: &self.workspace,
            beside: &[],
            env: &self.env,
        };
        let line = line.replace("TOP", &self.top.to_string_lossy());
        reach(&search, &line, &self.top.join("ws"))
    }
}

#[test]
fn hooks_that_reach_into_the_workspace_are_known() {
    let scene = Scene::new();
    let lines = [
        "./check.sh",
        "TOP/ws/check.sh",
        "TOP/home/hooks/linked.sh",
        "~/hooks/linked.sh",
        "sh check.sh",
        "bash -e TOP/home/hooks/check.sh",
        "python3 TOP/ws/check.sh",
        ". ./check.sh",
        "sh -c ./check.sh",
        "\"$REASONIX_PROJECT_DIR\"/check.sh",
        "$CLAUDE_PROJECT_DIR/check.sh",
        "jq . && ./check.sh",
        "echo \"$(./check.sh)\"",
        "npx prettier --check .",
        "/usr/bin/make check",
        "uvx ruff check",
        "cargo fmt --check",
        "timeout 5 make",
        "env PATH=bin:$PATH jq .",
        "PATH=./bin jq .",
        "LD_PRELOAD=./x.so cat",
        "git status",
        // The workspace's own comes first in `PATH`.
        "tail -n 1",
        // Through a link that the agent makes.
        "cat >> log",
        "cat > TOP/ws/log",
        "cat > $LOG",
        "curl -K curlrc https://example.org",
        "curl -sSo log https://example.org",
        "curl --config=curlrc https://example.org",
        "eval \"$(cat check.sh)\"",
        "jq() { ./check.sh; }; jq",
        // A script need not be executable.
        "sh plain.sh",
        ". plain.sh",
        // The workspace says what the arguments are.
        "curl -s $(cat hook.args) https://example.org",
        "curl -s -d done \"$(cat hook.url)\"",
        "curl -s `head -1 hook.args` https://example.org",
        "read A < hook.args; curl $A https://example.org",
        "A=$(cat hook.args); curl -s -d \"$A\" https://example.org",
        "REASONIX_ARGS=$(cat hook.args); curl -s https://example.org/$REASONIX_ARGS",
        "USER=$(cat hook.args); curl -s https://example.org/$USER",
        "HOME=. curl -s https://example.org",
        "reasonix $(cat hook.args)",
    ];
    for line in lines {
        assert_eq!(scene.reach(line), Reach::Workspace, "{line}");
    }
}

#[test]
fn programs_that_are_not_known_may_reach_into_the_workspace() {
    let scene = Scene::new();
    for line in [
        "mine --check",
        "jq . | mine",
        "sed -i s/a/b/ x",
        "tee log",
        "find .",
    ] {
        assert!(scene.reach(line) >= Reach::Unknown, "{line}");
    }
    assert_eq!(scene.reach("mine --check"), Reach::Unknown);
}

#[test]
fn hooks_that_read_and_notify_reach_nothing() {
    let scene = Scene::new();
    let lines = [
        "jq -r .toolArgs.command | grep -qE '^(rm -rf|sudo)' && { echo 'denied' >&2; exit 2; } || exit 0",
        "reasonix stats --today --json | jq -e '.totalCostUsd < 5' >/dev/null || { echo 'cap' >&2; exit 2; }",
        "TOP/home/hooks/check.sh",
        "~/hooks/check.sh",
        "python3 ~/hooks/check.sh",
        "message=$(jq -r .message) && notify-send Reasonix \"$message\"",
        "curl -s -X POST -d @- https://example.org",
        "curl -s -d \"$USER\" https://example.org/\"${REASONIX_PROJECT_DIR}\"",
        "cat >> TOP/home/log",
        "exit 2",
    ];
    for line in lines {
        assert_eq!(scene.reach(line), Reach::None, "{line}");
    }
}
