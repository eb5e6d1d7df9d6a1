//! Actions that only the first process of a namespace can take, before anything else runs in it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, openat};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::getpid;

use crate::probe::InsideReport;
use crate::wire;

/// The only kernel setting that is changed.
const PID_MAX: &str = "pid_max";

/// Receives the daemon's message and limits the process ids of the namespace. The channel is still
/// our standard input. `Ok(false)`: there is no limit.
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
    // Uses the directory from outside the namespace, because inside it is read-only. The opener
    // decides which namespace is affected. The directory is closed before anything else runs.
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

/// The first byte on the channel, and the directory that may accompany it.
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
    // Two header lines and one for the loopback.
    let networks = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let mut others = networks.lines().skip(2).map(str::trim_start);
    fixed && !networks.is_empty() && others.all(|line| line.starts_with("lo:"))
}

/// Reports the state inside the namespace, and exits.
pub(super) fn probe(numbers: u32, arguments: &[OsString]) -> i32 {
    let first = std::fs::read_link("/proc/self").is_ok_and(|own| own.as_os_str() == "1");
    let inside = InsideReport {
        first: first && getpid().is_init(),
        // A namespace without a limit is better than none: the status reports it.
        numbers: enter(numbers).unwrap_or(false),
        closed: closed(),
        brokered: super::sockets::are_brokered(arguments),
    };
    let said = wire::line(&inside)
        .map_err(io::Error::from)
        .and_then(|line| Ok(rustix::io::write(rustix::stdio::stdin(), &line)?));
    i32::from(said.is_err())
}
