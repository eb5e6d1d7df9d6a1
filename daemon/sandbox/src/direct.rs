//! Opens namespaces and mounts a plan with direct system calls, if bubblewrap is not available. The
//! calling process does this itself.
//!
//! Two processes share the work. The *opener* enters new namespaces and mounts everything except
//! `/proc`. The process that it starts next is the first one of the process namespace. That process
//! mounts `/proc`, which only it can do, and drops its capabilities.
//!
//! For an ordinary user the opener is root in its own user namespace, because the terminals under
//! `/dev/pts` need one. The first process enters another user namespace in it, where it has the
//! original user id and no rights over any mount.
//!
//! Every visible part of the host is opened before anything is covered, and is mounted from that
//! handle. All other mounts are below one that cannot be removed, or are read-only.

use std::ffi::CStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, fsconfig_create, fsmount, fsopen, mount, mount_change, move_mount, open_tree,
};
use rustix::process::{getegid, geteuid, getgid, getuid};
use rustix::thread::{UnshareFlags, set_no_new_privs};
use serde::{Deserialize, Serialize};

use crate::capabilities;
use crate::plan::{MountPlan, MountStep, SWITCHES};

/// The namespaces to open.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NamespaceRequest {
    /// The mounts. `None`: the file system stays unchanged.
    pub plan: Option<MountPlan>,
    /// Open a network namespace with a loopback.
    pub network: bool,
    /// Open only that network namespace.
    pub place: bool,
}

/// Opens the requested namespaces. The process must have one thread. The next process that it
/// starts is the first one of the new process namespace.
///
/// # Errors
/// The operation that failed, as a text for the user.
pub fn open(order: &NamespaceRequest) -> Result<Identity, String> {
    let identity = Identity::own();
    let mut flags = UnshareFlags::empty();
    if !order.place {
        flags |= UnshareFlags::NEWNS | UnshareFlags::NEWPID;
    }
    if order.plan.is_some() {
        flags |= UnshareFlags::NEWIPC | UnshareFlags::NEWUTS | UnshareFlags::NEWCGROUP;
    }
    if order.network || order.place {
        flags |= UnshareFlags::NEWNET;
    }
    leave(flags, order.place).map_err(|error| format!("open namespaces: {error}"))?;
    if order.network || order.place {
        loopback().map_err(|error| format!("set the loopback up: {error}"))?;
    }
    if order.place {
        return Ok(identity);
    }
    // Mounts made here must not propagate.
    mount_change(
        "/",
        MountPropagationFlags::REC | MountPropagationFlags::PRIVATE,
    )
    .map_err(|error| format!("keep mounts to itself: {error}"))?;
    if let Some(plan) = &order.plan {
        build(plan)?;
    }
    Ok(identity)
}

/// The user and group before the process became root in a user namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    user: u32,
    group: u32,
}

impl Identity {
    fn own() -> Self {
        Self {
            user: getuid().as_raw(),
            group: getgid().as_raw(),
        }
    }
}

impl std::fmt::Display for Identity {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{}:{}", self.user, self.group)
    }
}

impl std::str::FromStr for Identity {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (user, group) = text.split_once(':').unwrap_or((text, ""));
        Ok(Self {
            user: user.parse()?,
            group: group.parse()?,
        })
    }
}

/// The first actions of the first process: mounts `/proc` and drops capabilities. The process must
/// have one thread.
///
/// # Errors
/// The operation that failed.
pub fn finish(identity: Identity, sandboxed: bool) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None::<&CStr>)?;
    for switch in SWITCHES.map(Path::new) {
        if sandboxed && switch.exists() {
            let tree = take(switch, false)?;
            put(&tree, switch)?;
        }
    }
    set_no_new_privs(true)?;
    if identity.user == 0 {
        return if sandboxed {
            Ok(capabilities::keep_only(capabilities::KEPT)?)
        } else {
            Ok(())
        };
    }
    // Outside it has another user id than root, so it gets the same one inside.
    let Identity { user, group } = identity;
    unshare(UnshareFlags::NEWUSER)?;
    map(&format!("{user} 0 1"), &format!("{group} 0 1"))?;
    Ok(capabilities::keep_only(
        rustix::thread::CapabilitySet::empty(),
    )?)
}

/// Enters new namespaces. A process that is not root first enters a user namespace as root, or with
/// its own ids if other processes will join later.
fn leave(flags: UnshareFlags, itself: bool) -> io::Result<()> {
    if geteuid().is_root() {
        return unshare(flags);
    }
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    if (user, group) != (geteuid().as_raw(), getegid().as_raw()) {
        return Err(io::Error::other(
            "the program has the rights of another user",
        ));
    }
    unshare(UnshareFlags::NEWUSER)?;
    let (as_user, as_group) = if itself { (user, group) } else { (0, 0) };
    map(
        &format!("{as_user} {user} 1"),
        &format!("{as_group} {group} 1"),
    )?;
    unshare(flags)
}

fn map(user: &str, group: &str) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", user)?;
    fs::write("/proc/self/gid_map", group)
}

#[allow(unsafe_code, reason = "one flag of many would need care")]
fn unshare(flags: UnshareFlags) -> io::Result<()> {
    let flags = flags - UnshareFlags::FILES;
    // SAFETY: a thread must not see another descriptor table than the threads that share it. The
    // flag for that is removed.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Mounts everything in the plan except `/proc`.
fn build(plan: &MountPlan) -> Result<(), String> {
    let failed = |step: &Path, error: io::Error| format!("`{}`: {error}", step.display());
    let devices = Devices::take().map_err(|error| failed(Path::new("/dev"), error))?;
    let mut trees = Vec::new();
    for step in &plan.steps {
        trees.push(match step {
            MountStep::Bind { from, to, writable } if to != Path::new("/") => {
                Some(take(from, *writable).map_err(|error| failed(from, error))?)
            }
            _ => None,
        });
    }
    let root = |step: &MountStep| matches!(step, MountStep::Bind { to, writable, .. } if to == Path::new("/") && *writable);
    if !plan.steps.iter().any(root) {
        attributes(CWD, c"/", libc::MOUNT_ATTR_RDONLY | FOREIGN)
            .map_err(|error| failed(Path::new("/"), error))?;
    }
    let mut seals = Vec::new();
    for (step, tree) in plan.steps.iter().zip(&trees) {
        // The first process mounts these.
        if step.at().starts_with("/proc") {
            continue;
        }
        let done = match (step, tree) {
            (MountStep::Bind { to, .. }, Some(tree)) => place(tree, to),
            (MountStep::Empty { at }, _) => {
                seals.push(at);
                empty(at)
            }
            (MountStep::Nothing { at }, _) => nothing().and_then(|tree| put(&tree, at)),
            (MountStep::Link { at, target }, _) => symlink(target, at),
            (MountStep::Devices, _) => devices.put(),
            _ => Ok(()),
        };
        done.map_err(|error| failed(step.at(), error))?;
    }
    for seal in seals {
        let sealed = fs::File::open(seal)
            .and_then(|at| attributes(at.as_fd(), c"", libc::MOUNT_ATTR_RDONLY));
        sealed.map_err(|error| failed(seal, error))?;
    }
    Ok(())
}

/// Attributes that a process without privileges does not need.
const FOREIGN: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// Opens a part of the host, with the mounts in it.
fn take(from: &Path, writable: bool) -> io::Result<OwnedFd> {
    let tree = hold(from)?;
    let fixed = if writable { 0 } else { libc::MOUNT_ATTR_RDONLY };
    attributes(tree.as_fd(), c"", fixed | FOREIGN)?;
    Ok(tree)
}

fn hold(from: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    Ok(open_tree(CWD, from, flags)?)
}

fn put(tree: &OwnedFd, at: &Path) -> io::Result<()> {
    Ok(move_mount(
        tree,
        c"",
        CWD,
        at,
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH,
    )?)
}

/// Mounts it at a path that may not exist yet: in one of our empty directories, or in the temporary
/// directory.
fn place(tree: &OwnedFd, at: &Path) -> io::Result<()> {
    if at.symlink_metadata().is_err() {
        let is_directory = File::from(tree.try_clone()?).metadata()?.is_dir();
        if let (false, Some(around)) = (is_directory, at.parent()) {
            fs::create_dir_all(around)?;
            File::create(at)?;
        } else {
            fs::create_dir_all(at)?;
        }
    }
    put(tree, at)
}

fn empty(at: &Path) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    Ok(mount("tmpfs", at, "tmpfs", flags, Some(c"mode=0755"))?)
}

/// A new file system that is not mounted anywhere.
fn nowhere() -> io::Result<OwnedFd> {
    let opened = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&opened)?;
    Ok(fsmount(
        &opened,
        FsMountFlags::FSMOUNT_CLOEXEC,
        MountAttrFlags::empty(),
    )?)
}

/// An empty read-only file.
fn nothing() -> io::Result<OwnedFd> {
    let around = nowhere()?;
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    drop(openat(
        &around,
        c"nothing",
        flags,
        Mode::from_bits_truncate(0o444),
    )?);
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let tree = open_tree(&around, c"nothing", flags)?;
    attributes(tree.as_fd(), c"", libc::MOUNT_ATTR_RDONLY | FOREIGN)?;
    Ok(tree)
}

/// Sets attributes of a mount and of all mounts in it.
#[allow(unsafe_code, reason = "there is no safe call for it")]
fn attributes(at: BorrowedFd<'_>, path: &CStr, set: u64) -> io::Result<()> {
    let wanted = libc::mount_attr {
        attr_set: set,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = libc::AT_RECURSIVE | libc::AT_EMPTY_PATH;
    // SAFETY: descriptor, path and attributes live until the call returns. The size matches the
    // attributes, which the kernel only reads.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at.as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const wanted,
            size_of::<libc::mount_attr>(),
        )
    };
    worked(done == 0)
}

/// The result of a system call of `libc`.
fn worked(done: bool) -> io::Result<()> {
    match done {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}

/// Devices that every program may use.
const NODES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Opened before `/dev` is covered.
struct Devices(Vec<(&'static str, OwnedFd)>);

impl Devices {
    fn take() -> io::Result<Self> {
        let held = NODES
            .iter()
            .map(|name| Ok((*name, hold(&Path::new("/dev").join(name))?)));
        held.collect::<io::Result<_>>().map(Self)
    }

    fn put(&self) -> io::Result<()> {
        let dev = Path::new("/dev");
        mount(
            "tmpfs",
            dev,
            "tmpfs",
            MountFlags::NOSUID,
            Some(c"mode=0755"),
        )?;
        for (name, tree) in &self.0 {
            File::create(dev.join(name))?;
            put(tree, &dev.join(name))?;
        }
        for (name, target) in [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
            ("core", "/proc/kcore"),
            ("ptmx", "pts/ptmx"),
        ] {
            symlink(target, dev.join(name))?;
        }
        for name in ["shm", "pts"] {
            fs::create_dir(dev.join(name))?;
        }
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("tmpfs", dev.join("shm"), "tmpfs", flags, Some(c"mode=1777"))?;
        let options = c"newinstance,ptmxmode=0666,mode=620";
        let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
        mount("devpts", dev.join("pts"), "devpts", flags, Some(options))?;
        Ok(())
    }
}

/// Brings up the loopback of a new network namespace.
#[allow(unsafe_code, reason = "there is no safe call for it")]
fn loopback() -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketType, socket};
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let mut name = [0; libc::IFNAMSIZ];
    for (to, from) in name.iter_mut().zip(b"lo") {
        *to = libc::c_char::try_from(*from).unwrap_or_default();
    }
    let up = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or_default();
    let request = libc::ifreq {
        ifr_name: name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: up },
    };
    // SAFETY: the request lives until the call returns. The call only reads it, in the form in
    // which it was filled.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    worked(done == 0)
}
