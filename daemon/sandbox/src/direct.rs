//! The same by direct system calls, where there is no bubblewrap: namespaces opened and a plan mounted by the calling
//! process itself, in place.
//!
//! Two processes share the work. The *opener* leaves its namespaces for new ones and mounts all but `/proc`; what it
//! starts next is the first process of the process namespace, the *first*, and mounts `/proc`, which only a process
//! of that namespace can, and gives up its might. For an ordinary user the opener is root in a user namespace of its
//! own, because the terminals under `/dev/pts` need one; the first opens another one in that, in which it is who it
//! was, and has no right over any mount.
//!
//! Every part of the host that will be shown is taken hold of before anything is covered, and is put in its place
//! from there. All mounts that are not put there stay below one that cannot be taken away, or are read-only.

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

use crate::might;
use crate::plan::{Plan, SWITCHES, Step};

/// What an opener is to open.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Order {
    /// The walls. `None`: the file system as it is.
    pub plan: Option<Plan>,
    /// A network namespace of its own, with a loopback.
    pub network: bool,
    /// Nothing but that network namespace.
    pub place: bool,
}

/// Opens what is asked for. The process must have one thread; what it starts next is the first of the new process
/// namespace.
///
/// # Errors
/// What could not be done, for a person.
pub fn open(order: &Order) -> Result<Identity, String> {
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
    // What is mounted here is nobody else's business.
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

/// Who somebody is, before he is root in a user namespace.
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

/// What the first process does before anything else: `/proc`, and giving up its might. The process must have one
/// thread.
///
/// # Errors
/// What could not be done.
pub fn finish(identity: Identity, walled: bool) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None::<&CStr>)?;
    for switch in SWITCHES.map(Path::new) {
        if walled && switch.exists() {
            let tree = take(switch, false)?;
            put(&tree, switch)?;
        }
    }
    set_no_new_privs(true)?;
    if identity.user == 0 {
        return if walled {
            Ok(might::give_up(might::KEPT)?)
        } else {
            Ok(())
        };
    }
    // Out there he is somebody else than root: in here, too.
    let Identity { user, group } = identity;
    unshare(UnshareFlags::NEWUSER)?;
    map(&format!("{user} 0 1"), &format!("{group} 0 1"))?;
    Ok(might::give_up(rustix::thread::CapabilitySet::empty())?)
}

/// Into new namespaces; for who is not root, into a user namespace first, in which he is: unless others will come in
/// who must find themselves as they are.
fn leave(flags: UnshareFlags, itself: bool) -> io::Result<()> {
    if geteuid().is_root() {
        return unshare(flags);
    }
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    if (user, group) != (geteuid().as_raw(), getegid().as_raw()) {
        return Err(io::Error::other(
            "the program has the rights of somebody else",
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
    // SAFETY: what must not happen is that a thread sees another table of descriptors than those it shares them
    // with: the flag for that has been taken out.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Mounts all of the plan but `/proc`.
fn build(plan: &Plan) -> Result<(), String> {
    let told = |step: &Path, error: io::Error| format!("`{}`: {error}", step.display());
    let devices = Devices::take().map_err(|error| told(Path::new("/dev"), error))?;
    let mut trees = Vec::new();
    for step in &plan.steps {
        trees.push(match step {
            Step::Bind { from, to, writable } if to != Path::new("/") => {
                Some(take(from, *writable).map_err(|error| told(from, error))?)
            }
            _ => None,
        });
    }
    let root = |step: &Step| matches!(step, Step::Bind { to, writable, .. } if to == Path::new("/") && *writable);
    if !plan.steps.iter().any(root) {
        attributes(CWD, c"/", libc::MOUNT_ATTR_RDONLY | FOREIGN)
            .map_err(|error| told(Path::new("/"), error))?;
    }
    let mut seals = Vec::new();
    for (step, tree) in plan.steps.iter().zip(&trees) {
        // The first process mounts these.
        if step.at().starts_with("/proc") {
            continue;
        }
        let done = match (step, tree) {
            (Step::Bind { to, .. }, Some(tree)) => place(tree, to),
            (Step::Empty { at }, _) => {
                seals.push(at);
                empty(at)
            }
            (Step::Nothing { at }, _) => nothing().and_then(|tree| put(&tree, at)),
            (Step::Link { at, target }, _) => symlink(target, at),
            (Step::Devices, _) => devices.put(),
            _ => Ok(()),
        };
        done.map_err(|error| told(step.at(), error))?;
    }
    for seal in seals {
        let sealed = fs::File::open(seal)
            .and_then(|at| attributes(at.as_fd(), c"", libc::MOUNT_ATTR_RDONLY));
        sealed.map_err(|error| told(seal, error))?;
    }
    Ok(())
}

/// What is of no use for whoever must not get more rights.
const FOREIGN: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

/// Takes hold of a part of the host, with the mounts in it.
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

/// Puts it where there may be nothing yet: in an empty directory of ours, or in the one for what is temporary.
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

/// A file system of its own, not mounted anywhere.
fn nowhere() -> io::Result<OwnedFd> {
    let opened = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&opened)?;
    Ok(fsmount(
        &opened,
        FsMountFlags::FSMOUNT_CLOEXEC,
        MountAttrFlags::empty(),
    )?)
}

/// An empty file that cannot be written.
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

/// Sets attributes of a mount, and of all mounts in it.
#[allow(unsafe_code, reason = "there is no safe call for it")]
fn attributes(at: BorrowedFd<'_>, path: &CStr, set: u64) -> io::Result<()> {
    let wanted = libc::mount_attr {
        attr_set: set,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = libc::AT_RECURSIVE | libc::AT_EMPTY_PATH;
    // SAFETY: descriptor, path and attributes live until the call returns; the size is that of the attributes, which
    // the kernel only reads.
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
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Devices that every program may use.
const NODES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Held before `/dev` is covered.
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

/// Sets the loopback of a new network namespace up.
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
    // SAFETY: the request lives until the call returns, and this call only reads it, as the kind of request that it
    // was filled as.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
