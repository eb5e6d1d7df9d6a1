//! One JSON text a line: the limits of a frame.

/// The largest frame that the daemon takes, without its newline: 4 MiB.
pub const INBOUND_MAX: usize = 4 * 1024 * 1024;

/// The largest frame that the daemon sends, without its newline: 1 MiB. Larger data goes as blobs or pages.
pub const OUTBOUND_MAX: usize = 1024 * 1024;

/// Calls that may be in flight on one connection; waiting ones (`session.wait`) are not counted.
pub const CALLS_MAX: usize = 32;
