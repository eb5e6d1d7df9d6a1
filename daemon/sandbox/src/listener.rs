//! The kernel's interface for answering system calls of other processes: a filter hands them to a
//! listener, and they wait for its answer.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use seccompiler::sock_filter;

/// A system call that waits for its answer.
pub(crate) struct Request {
    pub id: u64,
    /// The thread that makes it, as we number threads.
    pub thread: u32,
    pub arguments: [u64; 6],
}

/// The kernel's `sock_fprog`.
#[repr(C)]
struct FilterProgram {
    length: libc::c_ushort,
    filter: *const sock_filter,
}

/// Applies a filter to this thread and its future children. Returns the listener of the calls that
/// it hands over.
pub(crate) fn install(program: &[sock_filter]) -> io::Result<OwnedFd> {
    rustix::thread::set_no_new_privs(true)?;
    let program = FilterProgram {
        length: libc::c_ushort::try_from(program.len()).unwrap_or_default(),
        filter: program.as_ptr(),
    };
    // With the second flag a call that was handed over is not cut short by signals that only have a
    // handler: it would be made twice. Linux has it from 5.19 on.
    let listen = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let whole = listen | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    match apply(&program, whole) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => apply(&program, listen),
        applied => applied,
    }
}

#[allow(unsafe_code, reason = "there is no safe call for it")]
fn apply(program: &FilterProgram, flags: libc::c_ulong) -> io::Result<OwnedFd> {
    // SAFETY: the program and its instructions live until the call returns, and their number is
    // right. The kernel only reads them.
    let listener = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            std::ptr::from_ref(program),
        )
    };
    match i32::try_from(listener) {
        // SAFETY: the kernel has just opened it for us, and nobody else knows it.
        Ok(listener) if listener >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(listener) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Asks the kernel to run the listener at once where its caller ran, as the two take turns. Linux
/// has it from 6.6 on; without it an answer only takes longer.
#[allow(unsafe_code, reason = "there is no safe call for it")]
pub(crate) fn take_turns(listener: BorrowedFd<'_>) {
    /// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`
    const TURNS: libc::c_ulong = 1;
    // SAFETY: the kernel reads the number itself, and no memory of ours.
    let _ = unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS,
            TURNS,
        )
    };
}

/// Waits for a call. `None`: no process is left that could make one.
pub(crate) fn receive(listener: BorrowedFd<'_>) -> io::Result<Option<Request>> {
    loop {
        match take(listener) {
            Ok(request) => return Ok(Some(request)),
            Err(error) => match error.raw_os_error() {
                Some(libc::EINTR) => {}
                // Its process is gone, or all are.
                Some(libc::ENOENT) if !is_over(listener) => {}
                Some(libc::ENOENT) => return Ok(None),
                _ => return Err(error),
            },
        }
    }
}

#[allow(unsafe_code, reason = "there is no safe call for it")]
fn take(listener: BorrowedFd<'_>) -> io::Result<Request> {
    let mut taken = libc::seccomp_notif {
        id: 0,
        pid: 0,
        flags: 0,
        data: libc::seccomp_data {
            nr: 0,
            arch: 0,
            instruction_pointer: 0,
            args: [0; 6],
        },
    };
    let to = &raw mut taken;
    // SAFETY: the kernel writes one such struct, which lives until the call returns and is empty as
    // it demands.
    let done = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, to) };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Request {
        id: taken.id,
        thread: taken.pid,
        arguments: taken.data.args,
    })
}

fn is_over(listener: BorrowedFd<'_>) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(listener, PollFlags::IN)];
    let now = Timespec::default();
    poll(&mut polled, Some(&now)).is_ok() && polled[0].revents().contains(PollFlags::HUP)
}

/// Whether the call still waits: its thread lives, and is the one that made it.
#[allow(unsafe_code, reason = "there is no safe call for it")]
pub(crate) fn is_waiting(listener: BorrowedFd<'_>, id: u64) -> bool {
    let id = &raw const id;
    // SAFETY: the kernel reads one number, which lives until the call returns.
    let done = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, id) };
    done == 0
}

/// Ends a call with this result.
#[allow(unsafe_code, reason = "there is no safe call for it")]
pub(crate) fn answer(listener: BorrowedFd<'_>, id: u64, result: Result<(), Errno>) {
    let answer = libc::seccomp_notif_resp {
        id,
        val: 0,
        error: result.map_or_else(|error| -error.raw_os_error(), |()| 0),
        flags: 0,
    };
    let answer = &raw const answer;
    // SAFETY: the kernel only reads one such struct, which lives until the call returns. If it fails
    // the caller is gone.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, answer) };
}

/// Connects a socket to the address in these bytes.
#[allow(unsafe_code, reason = "an address of any family")]
pub(crate) fn connect(socket: &OwnedFd, address: &[u8]) -> rustix::io::Result<()> {
    let length = libc::socklen_t::try_from(address.len()).map_err(|_| Errno::INVAL)?;
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel only reads that many bytes, which live until the call returns.
    let done = unsafe { libc::connect(socket, address.as_ptr().cast(), length) };
    match done {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}
