//! jsonrpsee over a local socket: one JSON text a line. Knows nothing of methods. Called only by `connect`.

use std::io;
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

/// Connects; does not say hello.
pub(crate) async fn open(socket: &Path) -> io::Result<(Sender, Receiver)> {
    let name = socket.to_fs_name::<GenericFilePath>()?;
    let stream = Arc::new(Stream::connect(name).await?);
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
