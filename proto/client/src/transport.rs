//! jsonrpsee over a local socket: one JSON text a line. Knows nothing of methods. Called only by `connect`.
//!
//! Also looks who is at the other end: what a client says, keys among it, is for a daemon of the same user alone.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::{SinkExt, StreamExt};
use interprocess::local_socket::tokio::{Stream, prelude::*};
use interprocess::local_socket::{GenericFilePath, ToFsName};
use jsonrpsee::core::client::{ReceivedMessage, TransportReceiverT, TransportSenderT};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::codec::{FramedRead, FramedWrite, LinesCodec, LinesCodecError};

/// The longest line that is taken. The daemon promises much less; this only bounds what a wrong peer can cost.
const LINE_MAX: usize = 16 * 1024 * 1024;

/// One direction of a socket that both directions share.
struct Half(Arc<Stream>);

impl AsyncRead for Half {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Half {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self.0).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self.0).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self.0).poll_shutdown(cx)
    }
}

/// The sending side.
pub(crate) struct Sender(FramedWrite<Half, LinesCodec>);

/// The receiving side.
pub(crate) struct Receiver(FramedRead<Half, LinesCodec>);

/// What can go wrong on the socket.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TransportError {
    #[error("the daemon closed the connection")]
    Closed,
    #[error("the connection broke")]
    Line(#[from] LinesCodecError),
}

/// Why nothing is said on a socket.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Another user answers on it.
    #[error("user {owner} answers")]
    Foreign { owner: u32 },
}

/// Connects to a daemon of this user; does not say hello.
pub(crate) async fn open(socket: &Path) -> Result<(Sender, Receiver), OpenError> {
    let name = socket.to_fs_name::<GenericFilePath>()?;
    let stream = Stream::connect(name).await?;
    ours(owner(&stream, socket)?, own())?;
    let stream = Arc::new(stream);
    let sender = Sender(FramedWrite::new(
        Half(stream.clone()),
        LinesCodec::new_with_max_length(LINE_MAX),
    ));
    let receiver = Receiver(FramedRead::new(
        Half(stream),
        LinesCodec::new_with_max_length(LINE_MAX),
    ));
    Ok((sender, receiver))
}

/// Whose process answers.
fn owner(stream: &Stream, socket: &Path) -> io::Result<Option<u32>> {
    match stream.peer_creds() {
        Ok(peer) => Ok(peer.euid()),
        // From a process namespace of its own, as a command of a session has, the daemon has no number, and that looks
        // like no answer at all. Who owns the socket's file has made it.
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
            Ok(Some(std::fs::symlink_metadata(socket)?.uid()))
        }
        Err(error) => Err(error),
    }
}

/// Whom this process acts for.
pub(crate) fn own() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Lets only a peer of this user pass. One that the system does not name is nobody's.
fn ours(peer: Option<u32>, own: u32) -> Result<(), OpenError> {
    match peer {
        Some(peer) if peer == own => Ok(()),
        Some(owner) => Err(OpenError::Foreign { owner }),
        None => Err(OpenError::Io(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the system does not report which user's process answers",
        ))),
    }
}

/// The problem with the directory of a socket that lies outside the home, where everybody knows its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsafe {
    /// Another user made it.
    Foreign { owner: u32 },
    /// Others may put sockets into it, or it is not a directory at all.
    Open { owner: u32 },
}

/// Looks at a socket's directory, links not followed. One that is not there is nobody's: no daemon has run yet.
pub(crate) fn look_at(directory: &Path) -> io::Result<Option<Unsafe>> {
    let meta = match directory.symlink_metadata() {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let owner = meta.uid();
    Ok(if owner != own() {
        Some(Unsafe::Foreign { owner })
    } else if !meta.is_dir() || meta.mode() & 0o022 != 0 {
        Some(Unsafe::Open { owner })
    } else {
        None
    })
}

impl TransportSenderT for Sender {
    type Error = TransportError;

    async fn send(&mut self, message: String) -> Result<(), Self::Error> {
        Ok(self.0.send(message).await?)
    }
}

impl TransportReceiverT for Receiver {
    type Error = TransportError;

    async fn receive(&mut self) -> Result<ReceivedMessage, Self::Error> {
        match self.0.next().await {
            Some(line) => Ok(ReceivedMessage::Text(line?)),
            None => Err(TransportError::Closed),
        }
    }
}

#[cfg(test)]
mod tests;
