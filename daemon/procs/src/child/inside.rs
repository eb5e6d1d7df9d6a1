//! What only the first process of a namespace can do for it, before anything runs in it.

use std::fs::File;
use std::io::{self, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, openat};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::getpid;

use crate::probe::Inside;
use crate::wire;

/// The only switch that is turned.
const PID_MAX: &str = "pid_max";

/// Takes what the daemon has laid ready, and limits how many process numbers the namespace may give out.
/// The channel is our standard input still. `Ok(false)`: nothing is limited.
pub(super) fn enter(numbers: u32) -> io::Result<bool> {
    if !getpid().is_init() {
        return Err(io::Error::other(
            "this is not the first process of a namespace",
        ));
    }
    let Some(switches) = switches()? else {
        return Ok(false);
    };
    if numbers == 0 {
        return Ok(false);
    }
    // Through the directory of the world outside: here it may not be written. Which namespace is meant
    // is decided by who opens it. The directory is closed before anything else runs.
    let switch = openat(
        &switches,
        PID_MAX,
        OFlags::WRONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    File::from(switch).write_all(numbers.to_string().as_bytes())?;
    let now = std::fs::read_to_string(format!("/proc/sys/kernel/{PID_MAX}"))?;
    Ok(now.trim() == numbers.to_string())
}

/// The one byte that comes before all else, and the directory that may come with it.
fn switches() -> io::Result<Option<OwnedFd>> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(
        rustix::stdio::stdin(),
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        RecvFlags::empty(),
    )?;
    if got.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    }))
}

fn closed() -> bool {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    let fixed = statvfs("/").is_ok_and(|root| root.f_flag.contains(StatVfsMountFlags::RDONLY));
    // Two lines of headings, and a line for the loopback.
    let networks = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let mut others = networks.lines().skip(2).map(str::trim_start);
    fixed && !networks.is_empty() && others.all(|line| line.starts_with("lo:"))
}

/// Says how it looks from here, and ends.
pub(super) fn probe(numbers: u32) -> i32 {
    let first = std::fs::read_link("/proc/self").is_ok_and(|own| own.as_os_str() == "1");
    let inside = Inside {
        first: first && getpid().is_init(),
        // Where it cannot be limited, a namespace is still better than none: the status says so.
        numbers: enter(numbers).unwrap_or(false),
        closed: closed(),
    };
    let said = wire::line(&inside)
        .map_err(io::Error::from)
        .and_then(|line| Ok(rustix::io::write(rustix::stdio::stdin(), &line)?));
    i32::from(said.is_err())
}
