//! The daemon of a house: started, found, killed, stopped; and everything else that runs there.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use proto::hello::Role;
use rustix::process::Signal;

use super::{House, daemon_program};
use crate::processes::{self, Process};
use crate::raw::Raw;
use crate::wait::{until, within};

/// How long a daemon may take to go, with everything that its sessions run.
const STOP: Duration = Duration::from_secs(15);

impl House {
    /// Starts the daemon with its parent, and waits until it answers.
    ///
    /// # Panics
    /// It does not.
    pub fn daemon(&self) {
        self.launch(&[]);
    }

    /// Starts the daemon proper alone: nobody starts it again when it dies.
    ///
    /// # Panics
    /// It does not answer.
    pub fn daemon_alone(&self) {
        self.launch(&["serve"]);
    }

    fn launch(&self, arguments: &[&str]) {
        let child = self.spawn_daemon(arguments);
        let pid = child.id();
        self.started().push(child);
        until("the daemon to answer", || {
            if let Some(status) = self
                .started()
                .last_mut()
                .and_then(|child| child.try_wait().ok().flatten())
            {
                panic!(
                    "the daemon (process {pid}) ended at once: {status}; its log:\n{}",
                    self.daemon_log()
                );
            }
            self.daemon_pid()
        });
    }

    /// Starts the daemon with its parent and more in its environment, and waits until it answers.
    ///
    /// # Panics
    /// It does not.
    pub fn daemon_with(&self, more: &[(&str, &std::ffi::OsStr)]) {
        let mut command = self.program(&daemon_program());
        command.envs(more.iter().copied());
        command.current_dir(self.home()).stdout(Stdio::null());
        command.stderr(self.said_to());
        self.adopt(command.spawn().expect("start the daemon"));
        self.wait_for_daemon();
    }

    /// Starts the daemon proper alone, under another program (a tracer, a namespace), and waits until it answers.
    /// `false`: it ended before that.
    ///
    /// # Panics
    /// It neither answers nor ends.
    pub fn daemon_under(&self, wrapper: &[&str]) -> bool {
        let (program, arguments) = wrapper.split_first().expect("a program");
        let mut command = self.program(std::path::Path::new(program));
        command.args(arguments).arg(daemon_program()).arg("serve");
        command.current_dir(self.home()).stdout(Stdio::null());
        command.stderr(self.said_to());
        let child = command
            .spawn()
            .unwrap_or_else(|error| panic!("start {command:?}: {error}"));
        self.started().push(child);
        until("the daemon to answer, or to end", || {
            let ended = self
                .started()
                .last_mut()
                .is_none_or(|child| !matches!(child.try_wait(), Ok(None)));
            if ended {
                return Some(false);
            }
            self.daemon_pid().map(|_| true)
        })
    }

    /// Keeps a program that belongs to this house, so that it is waited for.
    pub fn adopt(&self, child: Child) {
        self.started().push(child);
    }

    fn said_to(&self) -> fs::File {
        fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.said())
            .expect("a file for its output")
    }

    /// Starts the program `reasonixd` and does not wait for anything. The test sees to its end.
    ///
    /// # Panics
    /// It cannot be started.
    #[must_use]
    pub fn spawn_daemon(&self, arguments: &[&str]) -> Child {
        let mut command = self.program(&daemon_program());
        command
            .args(arguments)
            .current_dir(self.home())
            .stdout(Stdio::null())
            .stderr(self.said_to());
        command.spawn().expect("start the daemon")
    }

    fn started(&self) -> MutexGuard<'_, Vec<Child>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The process of the daemon proper, if one answers.
    #[must_use]
    pub fn daemon_pid(&self) -> Option<u32> {
        let mut raw = Raw::connect(&self.socket()).ok()?;
        let params = crate::raw::hello_params("house", Role::Watch);
        let hello = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "daemon.hello", "params": params});
        // One that is being killed may still take connections.
        raw.bytes(format!("{hello}\n").as_bytes()).ok()?;
        let answer = crate::raw::answer(&raw.frame()?).ok()?;
        u32::try_from(answer["daemon"]["pid"].as_u64()?).ok()
    }

    /// The standard error of daemons that this test has started: start failures and panics.
    pub(super) fn said(&self) -> PathBuf {
        self.root().join("said")
    }

    /// The daemon's log.
    #[must_use]
    pub fn daemon_log(&self) -> String {
        fs::read_to_string(self.home().join("logs").join("reasonixd.log")).unwrap_or_default()
    }

    /// Kills the daemon proper with SIGKILL and waits until it is gone. A parent starts it again, three times a minute
    /// at most; [`House::wait_for_daemon`] waits for that. A test that changes the home in between needs
    /// [`House::kill_daemon_and_parent`]: the next daemon may be there before the change.
    ///
    /// # Panics
    /// None runs, or it does not go.
    pub fn kill_daemon(&self) {
        let pid = self.daemon_pid().expect("a daemon to kill");
        kill(pid);
    }

    /// Kills the daemon's parent, then the daemon: nobody starts it again but [`House::daemon`].
    ///
    /// # Panics
    /// None runs, or it does not go.
    pub fn kill_daemon_and_parent(&self) {
        let pid = self.daemon_pid().expect("a daemon to kill");
        let own = std::process::id();
        let parent = processes::all()
            .into_iter()
            .find(|process| process.pid == pid)
            .map(|process| process.ppid);
        if let Some(parent) = parent.filter(|parent| *parent > 1 && *parent != own) {
            processes::send(parent, Signal::KILL);
            self.reap();
            until("the daemon's parent to be gone", || {
                (!processes::runs(parent)).then_some(())
            });
        }
        kill(pid);
        self.reap();
    }

    /// Waits until a daemon answers again; its process.
    ///
    /// # Panics
    /// None does.
    pub fn wait_for_daemon(&self) -> u32 {
        until("the daemon to be back", || self.daemon_pid())
    }

    /// Stops the daemon as `reasonix daemon stop` would, by its parent, and waits until everything is gone.
    ///
    /// # Panics
    /// Something stays.
    pub fn stop_daemon(&self) {
        if let Some(left) = self.stop() {
            panic!(
                "still there after the daemon was stopped: {left:#?}\n{}",
                self.daemon_log()
            );
        }
    }

    /// Everything that runs and belongs to this house.
    #[must_use]
    pub fn processes(&self) -> Vec<Process> {
        let started: Vec<u32> = self.started().iter().map(Child::id).collect();
        processes::of(self.root(), &self.home(), &started)
    }

    /// Takes note of the ends of daemons that this test has started: else they stay zombies.
    pub(super) fn reap(&self) {
        self.started()
            .retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }

    /// Ends the daemon in an orderly way. Returns the processes that are left after the time limit.
    pub(super) fn stop(&self) -> Option<Vec<Process>> {
        for process in self.processes() {
            let mut words = process.command.split(' ');
            let is_daemon = words
                .next()
                .is_some_and(|program| program.ends_with("reasonixd"));
            if is_daemon && words.next() != Some("child") {
                process.signal(Signal::TERM);
            }
        }
        let gone = within(STOP, &mut || {
            self.reap();
            self.processes().is_empty().then_some(())
        });
        gone.is_none().then(|| self.processes())
    }
}

fn kill(pid: u32) {
    processes::send(pid, Signal::KILL);
    // One that we started ourselves stays a zombie until it is reaped, which counts as gone.
    until("the killed daemon to be gone", || {
        (!processes::runs(pid)).then_some(())
    });
}
