//! Makes the connections of commands in their place.
//!
//! Neither mounts nor filters see where a `connect` leads: the address is in memory that the command
//! may change meanwhile. So a filter hands each call over. The broker copies the address, takes the
//! command's socket, judges the socket that the address names, and connects to that one, held open.
//! What was judged is what is connected. No call is let through to be made by the command: between
//! check and use another thread could exchange socket and address.
//!
//! Runs in the helper of a command: in the same mounts, and where no filter applies. If it ends,
//! all calls fail that it would answer.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat, readlink};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, sockopt::socket_domain};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::listener::{self, Request};
use crate::sockets::{SocketName, SocketRules, name_of};
use crate::syscall_filter;

/// Threads that connect at the same time. One more call waits.
const WORKERS: usize = 64;
/// Bytes of a thread's stack: it has few and small variables.
const STACK: usize = 128 * 1024;
/// The longest address of any family.
const ADDRESS: usize = 128;
/// A file that is nowhere.
const NOWHERE: &str = "/reasonix/none";

/// Answers the calls of one command and its descendants until none is left.
struct Broker {
    listener: OwnedFd,
    rules: SocketRules,
    workers: AtomicUsize,
    /// Those that wait for a call.
    idle: AtomicUsize,
}

/// Answers all calls that the listener gets, in threads of their own.
///
/// A server sees this process as its peer. So that the daemon takes it for a command, it gets a
/// filter too, which refuses nothing.
///
/// # Errors
/// The system cannot create a thread, or apply the filter.
pub fn serve(listener: OwnedFd, rules: SocketRules) -> io::Result<()> {
    seccompiler::apply_filter(&syscall_filter::nothing()).map_err(io::Error::other)?;
    listener::take_turns(listener.as_fd());
    let broker = Broker {
        listener,
        rules,
        workers: AtomicUsize::new(0),
        idle: AtomicUsize::new(0),
    };
    Arc::new(broker).hire()
}

impl Broker {
    fn hire(self: &Arc<Self>) -> io::Result<()> {
        let broker = Arc::clone(self);
        self.workers.fetch_add(1, Ordering::SeqCst);
        let worker = std::thread::Builder::new()
            .name("sockets".to_owned())
            .stack_size(STACK);
        let hired = worker.spawn(move || broker.work());
        if hired.is_err() {
            self.workers.fetch_sub(1, Ordering::SeqCst);
        }
        hired.map(drop)
    }

    fn work(self: &Arc<Self>) {
        loop {
            self.idle.fetch_add(1, Ordering::SeqCst);
            let received = listener::receive(self.listener.as_fd());
            self.idle.fetch_sub(1, Ordering::SeqCst);
            let Ok(Some(request)) = received else { return };
            // A connection may take long, and others must not wait for it. Without a thread they do.
            let few = self.workers.load(Ordering::SeqCst) < WORKERS;
            if few && self.idle.load(Ordering::SeqCst) == 0 {
                let _ = self.hire();
            }
            let result = self.connect(&request);
            listener::answer(self.listener.as_fd(), request.id, result);
        }
    }

    fn connect(&self, request: &Request) -> rustix::io::Result<()> {
        let caller = Caller::of(request.thread)?;
        let [socket, address, length, ..] = request.arguments;
        let socket = caller.socket(socket)?;
        let address = caller.address(address, length)?;
        let named = match socket_domain(&socket)? {
            AddressFamily::UNIX => self.judge(&caller, &address)?,
            _ => None,
        };
        // All that was read so far is the caller's only if it still waits.
        if !listener::is_waiting(self.listener.as_fd(), request.id) {
            return Err(Errno::SRCH);
        }
        match named {
            Some(named) => {
                let address = SocketAddrUnix::new(own_descriptor(&named))?;
                rustix::net::connect(&socket, &address)
            }
            None => listener::connect(&socket, &address),
        }
    }

    /// The file of the socket that the address names, opened. `None`: it is no file.
    fn judge(&self, caller: &Caller, address: &[u8]) -> rustix::io::Result<Option<OwnedFd>> {
        let path = match name_of(address) {
            SocketName::Path(path) => path,
            SocketName::Abstract if !self.rules.abstract_names => return Err(Errno::ACCESS),
            SocketName::Abstract | SocketName::Other => return Ok(None),
        };
        let named = caller.open(path)?;
        let real = readlink(own_descriptor(&named), Vec::new())?;
        let real = PathBuf::from(std::ffi::OsString::from(
            real.into_string().map_err(|_| Errno::ACCESS)?,
        ));
        if !self.rules.allow(&real) {
            return Err(Errno::ACCESS);
        }
        if FileType::from_raw_mode(fstat(&named)?.st_mode) != FileType::Socket {
            return Err(Errno::CONNREFUSED);
        }
        Ok(Some(named))
    }
}

fn own_descriptor(open: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", open.as_raw_fd())
}

/// The thread whose call is answered.
struct Caller {
    thread: u32,
    process: OwnedFd,
}

impl Caller {
    fn of(thread: u32) -> rustix::io::Result<Self> {
        let open = |number: u32| {
            let pid = i32::try_from(number).ok().and_then(Pid::from_raw);
            pidfd_open(pid.ok_or(Errno::SRCH)?, PidfdFlags::empty())
        };
        // Only the first thread of a process has a handle.
        let process = open(thread).or_else(|_| open(leader(thread).ok_or(Errno::SRCH)?))?;
        Ok(Self { thread, process })
    }

    fn socket(&self, number: u64) -> rustix::io::Result<OwnedFd> {
        // The kernel reads the lower half.
        let number = i32::try_from(number & 0xffff_ffff).map_err(|_| Errno::BADF)?;
        pidfd_getfd(&self.process, number, PidfdGetfdFlags::empty())
    }

    fn address(&self, at: u64, length: u64) -> rustix::io::Result<Vec<u8>> {
        let length = usize::try_from(length & 0xffff_ffff).map_err(|_| Errno::INVAL)?;
        if length > ADDRESS {
            return Err(Errno::INVAL);
        }
        let memory = File::open(format!("/proc/{}/mem", self.thread));
        let memory = memory.map_err(|_| Errno::PERM)?;
        let mut address = vec![0; length];
        memory
            .read_exact_at(&mut address, at)
            .map_err(|_| Errno::FAULT)?;
        Ok(address)
    }

    /// Opens a path as the caller would, without reading or writing.
    fn open(&self, path: &Path) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let seen = self.seen(path);
        if seen.is_absolute() {
            return openat(CWD, seen, flags, Mode::empty());
        }
        let around = openat(
            CWD,
            format!("/proc/{}/cwd", self.thread),
            flags,
            Mode::empty(),
        )?;
        openat(around, seen, flags, Mode::empty())
    }

    /// `/proc/self` is the caller, not the broker. Programs name sockets this way whose paths are too
    /// long for an address.
    fn seen(&self, path: &Path) -> PathBuf {
        let own = |process: u32| PathBuf::from(format!("/proc/{process}"));
        if let Ok(rest) = path.strip_prefix("/proc/self") {
            return own(leader(self.thread).unwrap_or(self.thread)).join(rest);
        }
        match path.strip_prefix("/proc/thread-self") {
            Ok(rest) => own(self.thread).join(rest),
            Err(_) => path.to_path_buf(),
        }
    }
}

/// The first thread of a thread's process.
fn leader(thread: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    line.trim().parse().ok()
}

/// The command's side of a trial: hands its calls over as a command does, and makes one. `give`
/// passes the listener on. Returns whether it was answered as it should be.
pub fn try_out(give: impl FnOnce(OwnedFd) -> io::Result<()>) -> bool {
    let given = listener::install(&syscall_filter::only_handing_over()).and_then(give);
    let made = given.and_then(|()| UnixStream::connect(NOWHERE));
    made.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
