//! Frames of a connection: lines of at most so many bytes.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// The result of a read.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// A line, without its newline.
    Line(Vec<u8>),
    /// A line that is longer than allowed. Nothing after it can be trusted to be a frame.
    TooLong,
    /// The other side has ended, perhaps in mid-line: half a frame is none.
    End,
}

/// Reads the next frame. Not cancel-safe: call it from a loop of its own.
pub async fn read(from: &mut (impl AsyncBufRead + Unpin), max: usize) -> std::io::Result<Frame> {
    let mut line = Vec::new();
    loop {
        let available = from.fill_buf().await?;
        if available.is_empty() {
            return Ok(Frame::End);
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        if line.len() + part.len() > max {
            return Ok(Frame::TooLong);
        }
        line.extend_from_slice(part);
        let used = part.len() + usize::from(end.is_some());
        from.consume(used);
        if end.is_some() {
            return Ok(Frame::Line(line));
        }
    }
}

#[cfg(test)]
mod tests;
