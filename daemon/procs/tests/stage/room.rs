//! A room for a sandboxed command: a workspace, a temporary directory, and files outside.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use contract::{SandboxSpec, Spawn as _};
use procs::Procs;

use super::{CommandResult, SESSION, command, finish, options};
use crate::BACKEND;

/// A user without any files on this machine.
const NOBODY: u32 = 65534;

/// The user that runs a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// The user that runs the tests.
    Own,
    Ordinary,
}

pub struct SandboxRoom {
    pub user: User,
    base: tempfile::TempDir,
    pub sandbox: SandboxSpec,
}

impl SandboxRoom {
    pub fn new(user: User, host: &Path) -> Self {
        let base = tempfile::Builder::new()
            .prefix("room")
            .tempdir_in(host)
            .unwrap();
        let at = |name: &str| base.path().canonicalize().unwrap().join(name);
        for name in [
            "ws",
            "temp",
            "outside",
            "secrets",
            "ws/.git",
            "ws/.git/hooks",
            "ws/sub",
        ] {
            std::fs::create_dir(at(name)).unwrap();
        }
        for (name, text) in [
            ("outside/file", "outside"),
            ("secrets/key", "secret"),
            ("ws/.env", "secret"),
            ("ws/.git/config", "config"),
            ("ws/file", "file"),
        ] {
            std::fs::write(at(name), text).unwrap();
        }
        let protected = [
            ".git/hooks",
            ".git/config",
            ".git/commondir",
            ".git/config.worktree",
            ".git/modules",
            ".claude/settings.json",
            ".husky",
            ".mcp.json",
            ".reasonix",
            ".vscode/tasks.json",
            "reasonix.toml",
        ];
        let sandbox = SandboxSpec {
            write: vec![at("ws")],
            protected: protected.map(|name| at("ws").join(name)).into(),
            repositories: Vec::new(),
            obeyed: vec![at("ws/.husky")],
            masked: vec![at("secrets"), at("ws/.env")],
            readable: Vec::new(),
            temp: at("temp"),
            network: false,
            sockets: vec![at("ws")],
        };
        let room = Self {
            user,
            base,
            sandbox,
        };
        room.give();
        room
    }

    /// Gives everything in it to its user.
    pub fn give(&self) {
        if self.user == User::Ordinary {
            std::fs::set_permissions(self.base.path(), PermissionsExt::from_mode(0o755)).unwrap();
            give(self.base.path());
        }
    }

    /// The options of a daemon with a quarantine in the room.
    pub fn options(&self) -> super::ProcsOptions {
        super::ProcsOptions {
            quarantine: self.at("quarantine"),
            ..options()
        }
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.base.path().canonicalize().unwrap().join(name)
    }

    pub fn ws(&self, name: &str) -> PathBuf {
        self.at("ws").join(name)
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap_or_default()
    }

    /// Runs a script in the workspace. `$0` is the base of the room.
    pub async fn sh(&self, script: &str) -> CommandResult {
        let script = format!("base='{}'\n{script}", self.at("").display());
        match self.user {
            User::Own => {
                let procs = Procs::start(self.options()).unwrap();
                let done = self.sh_by(&procs, &script).await;
                procs.shutdown(0).await;
                done
            }
            User::Ordinary => self.sh_as_nobody(&script),
        }
    }

    pub fn command(&self, script: &str) -> contract::Command {
        let mut asked = command(&["sh", "-c", script]);
        asked.cwd = self.at("ws");
        asked
            .env
            .push(("HOME".to_owned(), self.at("temp").display().to_string()));
        asked.sandbox = Some(Arc::new(self.sandbox.clone()));
        asked
    }

    pub async fn sh_by(&self, procs: &Procs, script: &str) -> CommandResult {
        finish(procs.spawn(SESSION, self.command(script)).await.unwrap()).await
    }

    pub fn sh_as_nobody(&self, script: &str) -> CommandResult {
        self.sh_twice("", script)
    }

    /// Runs the second script after the first one, if not empty, has printed a line.
    pub fn sh_twice(&self, before: &str, script: &str) -> CommandResult {
        let id = NOBODY.to_string();
        let output = std::process::Command::new("setpriv")
            .args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"])
            .arg(env!("CARGO_BIN_EXE_procs-probe"))
            .args(["sandboxed", &format!("{BACKEND:?}")])
            .arg(serde_json::to_string(&self.sandbox).unwrap())
            .args([script, before])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        CommandResult {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            exit: Some(contract::ChildExit {
                code: output.status.code(),
                signal: None,
                swept: 0,
                over_memory: None,
            }),
            quarantined: Vec::new(),
        }
    }
}

fn give(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path());
        }
    }
}

/// A room for each user in each place.
pub fn everywhere() -> Vec<SandboxRoom> {
    let mut users = vec![User::Own];
    if rustix::process::geteuid().is_root() {
        users.push(User::Ordinary);
    }
    let places = [Path::new("/tmp"), Path::new("/var/tmp")];
    let all = users
        .iter()
        .flat_map(|user| places.map(|place| SandboxRoom::new(*user, place)));
    all.collect()
}
