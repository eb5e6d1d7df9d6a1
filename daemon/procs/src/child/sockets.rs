//! The helper's part in connections of its command: the second stage hands the listener over, and
//! threads of the first stage serve it.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use sandbox::{SocketRules, broker};
use tokio::io::Interest;
use tokio::net::UnixStream;

use super::CONNECTS;
use crate::options::this_binary;

/// Maximum bytes of a message of the second stage.
const MESSAGE: usize = 4096;
/// Time limit for the process of a trial.
const DEADLINE: Duration = Duration::from_secs(2);

/// A message of the second stage.
#[derive(Default)]
struct Message {
    listener: Option<OwnedFd>,
    text: Vec<u8>,
}

/// Passes the listener to the first stage.
pub(super) fn give(link: impl AsFd, listener: &OwnedFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let listener = [listener.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&listener));
    sendmsg(
        link,
        &[IoSlice::new(b"\0")],
        &mut control,
        SendFlags::empty(),
    )?;
    Ok(())
}

/// Reads one message. `None`: there are no more.
fn take(link: impl AsFd) -> io::Result<Option<Message>> {
    let mut bytes = [0; MESSAGE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut into = [IoSliceMut::new(&mut bytes)];
    let got = recvmsg(link, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut message = Message::default();
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(mut files) = part {
            message.listener = files.next();
        }
    }
    let read = bytes.get(..got.bytes).unwrap_or_default();
    if read.is_empty() {
        return Ok(None);
    }
    let read = match message.listener {
        Some(_) => read.get(1..).unwrap_or_default(),
        None => read,
    };
    message.text.extend_from_slice(read);
    Ok(Some(message))
}

/// Listens to the second stage until it becomes the command or fails. Returns the listener if there
/// is one. The error is the reason of the failure.
pub(super) async fn hear(link: &mut UnixStream) -> Result<Option<OwnedFd>, String> {
    let (mut listener, mut reason) = (None, Vec::new());
    let lost = |error: io::Error| format!("its second stage was lost: {error}");
    loop {
        let message = link.async_io(Interest::READABLE, || take(&*link)).await;
        let Some(message) = message.map_err(lost)? else {
            break;
        };
        listener = message.listener.or(listener);
        if reason.len() < MESSAGE {
            reason.extend(message.text);
        }
    }
    match reason.as_slice() {
        [] => Ok(listener),
        reason => Err(String::from_utf8_lossy(reason).into_owned()),
    }
}

/// Serves the listener, in threads of their own.
pub(super) fn serve(listener: Option<OwnedFd>, rules: Option<SocketRules>) -> Result<(), String> {
    match (listener, rules) {
        (Some(listener), Some(rules)) => broker::serve(listener, rules)
            .map_err(|error| format!("the sandbox: serve its sockets: {error}")),
        (None, None) => Ok(()),
        _ => Err("the sandbox: its sockets are not served".to_owned()),
    }
}

/// Tries the broker with a process that connects. `arguments`: those of this process.
pub(super) fn are_brokered(arguments: &[OsString]) -> bool {
    crate::harden::daemon().is_ok() && tried(arguments).unwrap_or(false)
}

fn tried(arguments: &[OsString]) -> io::Result<bool> {
    let (mut ours, theirs) = StdStream::pair()?;
    let mut connecting = Command::new(this_binary()?)
        .args(arguments)
        .args([CONNECTS, "-"])
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .spawn()?;
    ours.set_read_timeout(Some(DEADLINE))?;
    let served = take(&ours).and_then(|message| {
        let listener = message.and_then(|message| message.listener);
        let listener = listener.ok_or(io::ErrorKind::Unsupported)?;
        broker::serve(listener, SocketRules::default())?;
        // It ends with its process.
        ours.read(&mut [0])
    });
    if served.is_err() {
        // It has ended, or waits for an answer.
        let _ = connecting.kill();
    }
    Ok(connecting.wait()?.success() && served.is_ok())
}

/// The process of a trial. Returns its exit code.
pub(super) fn connecting() -> i32 {
    i32::from(!broker::try_out(|listener| {
        give(rustix::stdio::stdin(), &listener)
    }))
}
