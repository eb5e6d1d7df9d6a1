//! A directory in which lines run, with nothing else in reach.
//!
//! A line is a random program. So it runs in a process namespace that ends with it, if one is available, with limits on
//! processes, time and files, and for at most two seconds.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Child, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::restricted::{LineSandbox, real};

/// Programs that only record how they were called.
pub(super) const STUBS: &[&str] = &["a", "b", "rm", "git", "x1", "no"];
/// Real programs that launch others.
const REAL: &[&str] = &[
    "env", "nice", "nohup", "setsid", "stdbuf", "timeout", "xargs", "find",
];

/// Those of them that leave their process group: used only inside a namespace.
const LEAVING: &[&str] = &["setsid"];

/// Held while lines run: a line that multiplies would take all available processes from others.
static ALONE: Mutex<()> = Mutex::new(());

pub(super) struct Scratch {
    _alone: MutexGuard<'static, ()>,
    dir: tempfile::TempDir,
    runs: std::cell::Cell<u64>,
    held: LineSandbox,
}

/// Whether a line may define functions that call themselves.
fn may_multiply(line: &str) -> bool {
    let dense: String = line.split_whitespace().collect();
    dense.contains("()") || dense.contains("function")
}

/// Kills the line's process group: without a namespace, nothing else ends it.
fn end(child: &Child) {
    let group = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // All of it may have ended already.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

impl Scratch {
    /// `None` if the machine lacks these shells.
    pub(super) fn new() -> Option<Self> {
        real("bash")?;
        real("timeout")?;
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let held = LineSandbox::here()?;
        let dir = tempfile::tempdir().ok()?;
        let path = dir.path();
        for name in ["bin", "home"] {
            fs::create_dir(path.join(name)).ok()?;
        }
        for name in STUBS {
            let stub = path.join("bin").join(name);
            let end = if *name == "no" { "exit 1\n" } else { "" };
            // One write per call: such writes are not interleaved.
            let text = format!(
                "#!/bin/sh\nprintf '%s\\0' '(' \"${{0##*/}}\" \"$@\" ')' >> '{}/log-'\"${{PWD##*/}}\"\n{end}",
                path.display()
            );
            fs::write(&stub, text).ok()?;
            fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).ok()?;
        }
        let leaves = |name: &&&str| !held.spaced && LEAVING.contains(*name);
        for name in REAL.iter().filter(|name| !leaves(name)).chain(&["bash"]) {
            symlink(real(name)?, path.join("bin").join(name)).ok()?;
        }
        let sh = real("dash").or_else(|| real("sh"))?;
        symlink(sh, path.join("bin/sh")).ok()?;
        if held.given_up.is_some() {
            // The user that runs the lines writes here.
            for place in [path.to_path_buf(), path.join("home")] {
                fs::set_permissions(place, fs::Permissions::from_mode(0o777)).ok()?;
            }
        }
        Some(Self {
            _alone: alone,
            dir,
            runs: std::cell::Cell::new(0),
            held,
        })
    }

    /// Whether any process started here is running: its shells have a unique path.
    pub(super) fn is_busy(&self) -> bool {
        let mark = self.dir.path().join("bin").display().to_string();
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let calls = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        let mut calls = calls.map(|call| String::from_utf8_lossy(&call).into_owned());
        calls.any(|call| call.contains(&mark))
    }

    /// Runs a line, and returns every argument list that the stubs were called with.
    pub(super) fn run(&self, shell: &str, line: &str) -> Vec<Vec<String>> {
        let path = self.dir.path();
        // A directory and a log for each line: background processes of other lines do not write there.
        let run = self.runs.get();
        self.runs.set(run + 1);
        let name = format!("work-{run}");
        let work = path.join(&name);
        let _ = fs::create_dir(&work);
        let _ = fs::set_permissions(&work, fs::Permissions::from_mode(0o777));
        let _ = fs::write(work.join("f1"), "b\n");
        let shell = path.join("bin").join(shell);
        let shell = self.held.shell(&shell);
        let Some(mut shell) = shell.filter(|_| self.held.bounded || !may_multiply(line)) else {
            return Vec::new();
        };
        let child = shell
            .arg("-c")
            .arg(line)
            .env("PATH", path.join("bin"))
            .env("HOME", path.join("home"))
            .env("v", "w")
            // Run something where a value is evaluated as arithmetic, or as the name of a variable.
            .env("t", "a[$(rm)]")
            .env("o", "-v a[$(rm)]")
            // Bounds the depth of recursive functions.
            .env("FUNCNEST", "40")
            .current_dir(&work)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else {
            return Vec::new();
        };
        let ended = child.wait();
        end(&child);
        if ended.is_err() {
            return Vec::new();
        }
        let log = fs::read(path.join(format!("log-{name}"))).unwrap_or_default();
        let _ = fs::remove_dir_all(&work);
        let text = String::from_utf8_lossy(&log).into_owned();
        let mut ran = Vec::new();
        let mut one: Option<Vec<String>> = None;
        for field in text.split('\0') {
            match (&mut one, field) {
                (None, "(") => one = Some(Vec::new()),
                (Some(_), ")") => ran.extend(one.take()),
                (Some(words), word) => words.push(word.to_owned()),
                (None, _) => {}
            }
        }
        ran
    }
}
