//! Without the kernel's interface there is no broker.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use sandbox::SocketRules;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;

/// Maximum length of the reason of a failed start.
const REASON: u64 = 4096;

pub(super) fn give(_link: impl AsFd, _listener: &OwnedFd) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) async fn hear(link: &mut UnixStream) -> Result<Option<OwnedFd>, String> {
    let mut reason = String::new();
    match link.take(REASON).read_to_string(&mut reason).await {
        Ok(0) => Ok(None),
        Ok(_) => Err(reason),
        Err(error) => Err(format!("its second stage was lost: {error}")),
    }
}

pub(super) fn serve(_listener: Option<OwnedFd>, _rules: Option<SocketRules>) -> Result<(), String> {
    Ok(())
}

pub(super) fn are_brokered(_arguments: &[OsString]) -> bool {
    false
}

pub(super) fn connecting() -> i32 {
    1
}
