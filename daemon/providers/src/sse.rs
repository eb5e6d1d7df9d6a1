//! Parses server-sent events: bytes in, the data of each event out.
//!
//! Accepts any chunking, all three kinds of line ends, comments, a byte order mark and unknown
//! fields. Holds one event at a time, up to a cap. Does not interpret the data. An error that is not written as data counts as
//! data. Called by `read`.
//!
//! Not `eventsource-stream` or `sse-stream`: neither limits the size of an event, and both end the
//! stream at a byte that is not UTF-8 and drop a last event without its blank line.

/// The current event exceeds the cap.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EventTooLarge;

/// Parser of an event stream.
pub(crate) struct SseParser {
    /// An incomplete line.
    line: Vec<u8>,
    /// The data lines of the current event, joined by newlines.
    data: Vec<u8>,
    /// Whether `data` has an event, perhaps an empty one.
    open: bool,
    /// The last byte was a carriage return: a following newline belongs to the same line end.
    after_return: bool,
    /// No line has been read yet.
    first: bool,
    cap: usize,
}

impl SseParser {
    pub(crate) fn new(cap: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            open: false,
            after_return: false,
            first: true,
            cap,
        }
    }

    /// Handles the next bytes. Calls `each` with the data of every event that ends in them, until
    /// it fails.
    pub(crate) fn feed<E: From<EventTooLarge>>(
        &mut self,
        mut bytes: &[u8],
        each: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        if bytes.is_empty() {
            // Also applies between a carriage return and its newline.
            return Ok(());
        }
        if std::mem::take(&mut self.after_return) && bytes.first() == Some(&b'\n') {
            bytes = &bytes[1..];
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            let returned = bytes[end] == b'\r';
            bytes = match rest.first() {
                Some(b'\n') if returned => &rest[1..],
                None if returned => {
                    self.after_return = true;
                    rest
                }
                _ => rest,
            };
            if self.line.is_empty() {
                self.fits(line)?;
                self.take(line, each)?;
            } else {
                self.grow(line)?;
                let line = std::mem::take(&mut self.line);
                self.take(&line, each)?;
                self.line = line;
                self.line.clear();
            }
        }
        self.grow(bytes)
    }

    /// Ends the stream: the remaining data counts as if its line end and the blank line had
    /// arrived. Some gateways omit them. `each` decides whether the data is complete.
    pub(crate) fn finish<E: From<EventTooLarge>>(
        &mut self,
        each: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = std::mem::take(&mut self.line);
        self.take(&line, each)?;
        self.take(b"", each)
    }

    /// Stores an incomplete line.
    fn grow<E: From<EventTooLarge>>(&mut self, bytes: &[u8]) -> Result<(), E> {
        self.fits(bytes)?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Whether these bytes of the current line fit. Applies to every line, in chunks or at once.
    fn fits<E: From<EventTooLarge>>(&self, bytes: &[u8]) -> Result<(), E> {
        if self.line.len() + self.data.len() + bytes.len() > self.cap {
            return Err(EventTooLarge.into());
        }
        Ok(())
    }

    /// Handles one whole line.
    fn take<E: From<EventTooLarge>>(
        &mut self,
        mut line: &[u8],
        each: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        if std::mem::take(&mut self.first) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            if std::mem::take(&mut self.open) {
                let result = each(&String::from_utf8_lossy(&self.data));
                self.data.clear();
                return result;
            }
            return Ok(());
        }
        let Some(value) = data_of(line) else {
            return Ok(());
        };
        // It fits: the field name, which was counted too, is longer than the newline. An error without one ends the answer.
        if self.open {
            self.data.push(b'\n');
        }
        self.open = true;
        self.data.extend_from_slice(value);
        Ok(())
    }
}

/// The data in a line, if it has any.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    // Old servers of llama.cpp have a field of its own for an error, and gateways send one as the document that it would be
    // without a stream.
    if let Some(error) = line.strip_prefix(b"error: ")
        && error.starts_with(b"{")
    {
        return Some(error);
    }
    if line.starts_with(br#"{"error""#) {
        return Some(line);
    }
    match line.strip_prefix(b"data")? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        // Another field whose name starts the same way.
        _ => None,
    }
}

#[cfg(test)]
mod tests;
