//! A plan as arguments of bubblewrap.

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::Path;

use crate::plan::{Plan, Step};

/// What root keeps of its might: files of whatever user, other users' numbers, its own children. Nothing that
/// reaches the kernel, its devices, its mounts or processes of others.
pub const KEPT: [&str; 9] = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_SETUID",
    "CAP_SETGID",
    "CAP_KILL",
    "CAP_NET_BIND_SERVICE",
    "CAP_SETPCAP",
];

/// Which network a command gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// That of whoever starts bubblewrap.
    Shared,
    /// A loopback of its own.
    Own,
}

/// All mounts and namespaces of the plan, but for the process namespace. `nothings` are open on nothing to read,
/// one for each [`Plan::nothings`].
#[must_use]
pub fn arguments(plan: &Plan, network: Network, root: bool, nothings: &[RawFd]) -> Vec<OsString> {
    let mut all = Words(Vec::new());
    all.add(&["--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
    if network == Network::Own {
        all.add(&["--unshare-net"]);
    }
    if root {
        all.add(&["--cap-drop", "ALL"]);
        for kept in KEPT {
            all.add(&["--cap-add", kept]);
        }
    }
    let mut nothings = nothings.iter();
    // Made read-only at the end: what comes later may be mounted in them.
    let mut seals = Vec::new();
    for step in &plan.steps {
        match step {
            Step::Bind { from, to, writable } => {
                all.add(&[if *writable { "--bind" } else { "--ro-bind" }]);
                all.path(from);
                all.path(to);
            }
            Step::Empty { at } => {
                all.add(&["--tmpfs"]);
                all.path(at);
                seals.push(at);
            }
            Step::Nothing { at } => {
                // Fewer than asked for: the number of one that cannot be, and bubblewrap says so.
                let nothing = nothings.next().copied().unwrap_or(-1);
                all.add(&["--ro-bind-data", &nothing.to_string()]);
                all.path(at);
            }
            Step::Link { at, target } => {
                all.add(&["--symlink"]);
                all.path(target);
                all.path(at);
            }
            Step::Devices => {
                all.add(&["--dev"]);
                all.path(step.at());
            }
            Step::Processes => {
                all.add(&["--proc"]);
                all.path(step.at());
            }
        }
    }
    for seal in seals {
        all.add(&["--remount-ro"]);
        all.path(seal);
    }
    all.0
}

struct Words(Vec<OsString>);

impl Words {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn path(&mut self, path: &Path) {
        self.0.push(path.as_os_str().to_owned());
    }
}
