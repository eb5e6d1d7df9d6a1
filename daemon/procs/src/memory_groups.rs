//! A control group for each command, whose memory the kernel bounds.
//!
//! Of the second kind (cgroup v2) below a group of ours that has the memory controller enabled for
//! its children; else of the first kind, where that is mounted and may be written. The group is
//! removed when the command has ended; one that a killed daemon left, by the next daemon.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::options::HelperProgram;

/// Where the system mounts them.
const MOUNTED: &str = "/sys/fs/cgroup";
/// The beginning of the names of our groups, followed by the daemon's process id.
const OURS: &str = "reasonix-";

/// The files of a kind of groups.
struct GroupKind {
    limit: &'static str,
    /// A new process writes itself to this file, before its program starts.
    members: &'static str,
    /// With a line `oom_kill <count>`.
    events: &'static str,
    /// Settings that may be missing: with `true` the value, else the limit again.
    besides: &'static [(&'static str, Option<&'static str>)],
}

static SECOND: GroupKind = GroupKind {
    limit: "memory.max",
    members: "cgroup.procs",
    events: "memory.events",
    besides: &[
        ("memory.swap.max", Some("0")),
        ("memory.oom.group", Some("1")),
    ],
};
static FIRST: GroupKind = GroupKind {
    limit: "memory.limit_in_bytes",
    // Moves one thread, and a new process has only one. For `cgroup.procs` the kernel first blocks all starts and ends of
    // processes, which takes 10 ms (`cgroup_attach_lock` in `kernel/cgroup/cgroup.c`).
    members: "tasks",
    events: "memory.oom_control",
    besides: &[("memory.memsw.limit_in_bytes", None)],
};

/// Groups that this process has made, for their names.
static MADE: AtomicU64 = AtomicU64::new(0);

/// Makes groups.
pub(crate) struct MemoryGroups {
    around: PathBuf,
    kind: &'static GroupKind,
    limit: u64,
    /// Those that could not be removed yet.
    left: Arc<Mutex<Vec<PathBuf>>>,
}

impl MemoryGroups {
    /// The first place where a group with this limit can be made and entered. The error is a text
    /// for the user.
    pub fn find(limit: u64, helper: &HelperProgram) -> Result<Self, String> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut why = "there is none that this user may write".to_owned();
        for (around, kind) in places(Path::new(MOUNTED), &own) {
            let groups = Self {
                around,
                kind,
                limit,
                left: Arc::default(),
            };
            match groups.try_out(helper) {
                Ok(()) => {
                    groups.clear();
                    return Ok(groups);
                }
                Err(error) => why = format!("`{}`: {error}", groups.around.display()),
            }
        }
        Err(why)
    }

    /// Makes a group for a command.
    pub fn make(&self) -> io::Result<MemoryGroup> {
        remove_left(&self.left);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("{OURS}{}-{number}", std::process::id());
        let path = self.around.join(name);
        fs::create_dir(&path)?;
        // From here on it is removed if something fails.
        let place = GroupPlace {
            path,
            left: Arc::clone(&self.left),
        };
        let limit = self.limit.to_string();
        fs::write(place.path.join(self.kind.limit), &limit)?;
        for (name, value) in self.kind.besides {
            let file = place.path.join(name);
            if file.exists() {
                // Some kernels do not allow it.
                let _ = fs::write(file, value.unwrap_or(&limit));
            }
        }
        let members = File::options()
            .write(true)
            .open(place.path.join(self.kind.members))?;
        Ok(MemoryGroup {
            members: Arc::new(members.into()),
            events: place.path.join(self.kind.events),
            limit: self.limit,
            place,
        })
    }

    /// A process enters a group.
    fn try_out(&self, helper: &HelperProgram) -> io::Result<()> {
        let group = self.make()?;
        let mut command = Command::new(&helper.program);
        group.enter_on_start(&mut command);
        // It ends at once: nobody orders anything.
        let mut entered = command
            .args(&helper.arguments)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        entered.wait()?;
        Ok(())
    }

    /// Removes what killed daemons left.
    fn clear(&self) {
        for entry in fs::read_dir(&self.around).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let of_daemon = name.to_str().and_then(|name| name.strip_prefix(OURS));
            let daemon = of_daemon.and_then(|rest| rest.split('-').next());
            if daemon.is_some_and(|daemon| !Path::new("/proc").join(daemon).exists()) {
                // One that is in use is not removed.
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

/// Where groups may be made, best first. `own`: the groups of this process, as the kernel names
/// them.
fn places(mounted: &Path, own: &str) -> Vec<(PathBuf, &'static GroupKind)> {
    let mut places = Vec::new();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let path = path.trim_start_matches('/');
        if controllers.is_empty() {
            // A group with processes has no controllers for groups in it, except the root.
            let around = mounted.join(path);
            let enabled = around.ancestors().filter(|dir| {
                let enabled = fs::read_to_string(dir.join("cgroup.subtree_control"));
                dir.starts_with(mounted)
                    && enabled
                        .is_ok_and(|words| words.split_whitespace().any(|word| word == "memory"))
            });
            places.extend(enabled.map(|dir| (dir.to_path_buf(), &SECOND)));
        } else if controllers.split(',').any(|name| name == "memory") {
            let memory = mounted.join("memory");
            let around = [memory.join(path), memory];
            let there = around
                .into_iter()
                .find(|dir| dir.join(FIRST.limit).exists());
            places.extend(there.map(|dir| (dir, &FIRST)));
        }
    }
    places.sort_by_key(|(_, kind)| std::ptr::eq(*kind, &FIRST));
    places
}

/// The group of one command.
pub(crate) struct MemoryGroup {
    members: Arc<OwnedFd>,
    events: PathBuf,
    limit: u64,
    #[allow(dead_code, reason = "removes it when dropped")]
    place: GroupPlace,
}

impl MemoryGroup {
    /// Starts the command in this group, with all that it starts.
    pub fn enter_on_start(&self, command: &mut Command) {
        sandbox::join_on_start(command, Arc::clone(&self.members));
    }

    /// The limit, if the kernel has killed processes in it for that.
    pub fn exceeded(&self) -> Option<u64> {
        let events = fs::read_to_string(&self.events).ok()?;
        let count = events
            .lines()
            .find_map(|line| line.strip_prefix("oom_kill "))?;
        (count.trim() != "0").then_some(self.limit)
    }
}

/// The directory, removed when dropped.
struct GroupPlace {
    path: PathBuf,
    left: Arc<Mutex<Vec<PathBuf>>>,
}

impl Drop for GroupPlace {
    fn drop(&mut self) {
        // A process that was just killed may still be in it. Then the next one removes both.
        let path = std::mem::take(&mut self.path);
        lock(&self.left).push(path);
        remove_left(&self.left);
    }
}

fn remove_left(left: &Mutex<Vec<PathBuf>>) {
    lock(left).retain(|path| {
        let removed = fs::remove_dir(path);
        removed.is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
    });
}

fn lock(left: &Mutex<Vec<PathBuf>>) -> std::sync::MutexGuard<'_, Vec<PathBuf>> {
    left.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_made_where_their_memory_is_controlled() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().join(name);
        for (dir, enabled) in [
            ("", "cpu memory"),
            ("user", "memory pids"),
            ("user/own", "pids"),
        ] {
            fs::create_dir_all(at(dir)).unwrap();
            fs::write(at(dir).join("cgroup.subtree_control"), enabled).unwrap();
        }
        let found = |own: &str| -> Vec<_> {
            let places = places(top.path(), own).into_iter();
            places.map(|(dir, kind)| (dir, kind.limit)).collect()
        };
        assert_eq!(
            found("0::/user/own\n"),
            [(at("user"), "memory.max"), (at(""), "memory.max")]
        );
        fs::create_dir_all(at("memory/box")).unwrap();
        assert_eq!(found("4:memory:/box\n"), []);
        for dir in ["memory", "memory/box"] {
            fs::write(at(dir).join(FIRST.limit), "").unwrap();
        }
        assert_eq!(found("4:memory:/box\n"), [(at("memory/box"), FIRST.limit)]);
        // As a container shows it, which does not show its own group.
        assert_eq!(
            found("4:memory:/elsewhere\n"),
            [(at("memory"), FIRST.limit)]
        );
        let both = found("5:cpu:/\n4:cpu,memory:/box\n0::/user\n");
        assert_eq!(both[0], (at("user"), "memory.max"));
        assert_eq!(found("nonsense\n"), []);
    }
}
