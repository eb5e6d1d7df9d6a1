//! Renders a mount plan as arguments of bubblewrap.

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::Path;

use crate::plan::{MountPlan, MountStep};

/// The capabilities that root keeps: files of any user, other users' ids, its own children. None
/// that reaches the kernel, its devices, its mounts or processes of others.
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

/// The network of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkAccess {
    /// The network of the process that starts bubblewrap.
    Shared,
    /// A separate loopback.
    Own,
}

/// All mounts and namespaces of the plan, except the process namespace. `empty_files` are empty
/// descriptors, one for each of [`MountPlan::empty_files`].
#[must_use]
pub fn arguments(
    plan: &MountPlan,
    network: NetworkAccess,
    root: bool,
    empty_files: &[RawFd],
) -> Vec<OsString> {
    let mut all = Arguments(Vec::new());
    all.add(&["--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
    if network == NetworkAccess::Own {
        all.add(&["--unshare-net"]);
    }
    if root {
        all.add(&["--cap-drop", "ALL"]);
        for kept in KEPT {
            all.add(&["--cap-add", kept]);
        }
    }
    let mut empty_files = empty_files.iter();
    // Made read-only at the end, because later mounts may be inside them.
    let mut seals = Vec::new();
    for step in &plan.steps {
        match step {
            MountStep::Bind { from, to, writable } => {
                all.with(if *writable { "--bind" } else { "--ro-bind" }, &[from, to]);
            }
            MountStep::Empty { at } => {
                all.with("--tmpfs", &[at]);
                seals.push(at);
            }
            MountStep::Nothing { at } => {
                // If there are too few, passes an invalid number, and bubblewrap reports it.
                let nothing = empty_files.next().copied().unwrap_or(-1);
                all.add(&["--ro-bind-data", &nothing.to_string()]);
                all.0.push(at.into());
            }
            MountStep::Link { at, target } => all.with("--symlink", &[target, at]),
            MountStep::Devices => all.with("--dev", &[step.at()]),
            MountStep::Processes => all.with("--proc", &[step.at()]),
        }
    }
    for seal in seals {
        all.with("--remount-ro", &[seal]);
    }
    all.0
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn with(&mut self, word: &str, paths: &[&Path]) {
        self.add(&[word]);
        self.0.extend(paths.iter().map(OsString::from));
    }
}
