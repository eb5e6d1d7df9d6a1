//! Server-sent events: bytes in, the data of each event out.
//!
//! Takes bytes cut anywhere, line ends of all three kinds, comments, a byte order mark, fields that nobody asked
//! for. Holds one event at a time, and no more than a cap. Knows nothing of what the data mean. Called by `read`.
//!
//! Not `eventsource-stream` or `sse-stream`: neither limits the size of an event, and both end the stream at a byte that
//! is not UTF-8 and drop a last event without its blank line.

/// The event in hand has grown beyond the cap.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// Finds the events in a stream.
pub(crate) struct Events {
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// The data lines of the event so far, joined by newlines.
    data: Vec<u8>,
    /// Whether `data` holds an event, perhaps an empty one.
    open: bool,
    /// The last byte was a carriage return: a newline after it belongs to the same line end.
    after_return: bool,
    /// No line has been read yet.
    first: bool,
    cap: usize,
}

impl Events {
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

    /// Takes the next bytes. `each` gets the data of every event that ends in them, until it fails.
    pub(crate) fn feed<E: From<TooLarge>>(
        &mut self,
        mut bytes: &[u8],
        each: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        if bytes.is_empty() {
            // Between a carriage return and its newline, too.
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

    /// The stream has ended: what stands there counts as if its last line end and the blank line had come. Some
    /// gateways end so; whether the data are whole is for `each` to see.
    pub(crate) fn finish<E: From<TooLarge>>(
        &mut self,
        each: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = std::mem::take(&mut self.line);
        self.take(&line, each)?;
        self.take(b"", each)
    }

    /// Keeps the beginning of a line.
    fn grow<E: From<TooLarge>>(&mut self, bytes: &[u8]) -> Result<(), E> {
        self.fits(bytes)?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Whether these bytes of the line in hand may come. Every line is measured so, in pieces or at once.
    fn fits<E: From<TooLarge>>(&self, bytes: &[u8]) -> Result<(), E> {
        if self.line.len() + self.data.len() + bytes.len() > self.cap {
            return Err(TooLarge.into());
        }
        Ok(())
    }

    /// Takes one whole line.
    fn take<E: From<TooLarge>>(
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
        let Some(rest) = line.strip_prefix(b"data") else {
            return Ok(());
        };
        let value = match rest {
            [] => rest,
            [b':', b' ', value @ ..] | [b':', value @ ..] => value,
            // Another field whose name begins so.
            _ => return Ok(()),
        };
        // It fits: the name of the field, which was measured too, is longer than the newline.
        if self.open {
            self.data.push(b'\n');
        }
        self.open = true;
        self.data.extend_from_slice(value);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
