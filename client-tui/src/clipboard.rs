//! Copies text to the clipboard through the terminal (OSC 52), which is local to the user even over ssh and in tmux.

use std::io::{self, Write};
use std::path::PathBuf;

use crossterm::Command as _;
use crossterm::clipboard::CopyToClipboard;

use crate::effect::{Copied, ErrorReport};
use crate::messages::Language;
use crate::messages::edge::Msg;

/// Bytes of base64 that terminals take: xterm's limit, and others follow it.
const ENCODED_MAX: usize = 74_994;

/// Asks the terminal to put the text on the clipboard. A text that is too long for that, or any text without a
/// `terminal` that supports it, is written to a separate file that only this user can read.
///
/// # Errors
///
/// Neither the terminal nor a file could be written.
pub fn copy(
    terminal: Option<&mut impl Write>,
    text: &str,
    language: Language,
) -> Result<Copied, ErrorReport> {
    let trouble = |message: Msg, error: io::Error| {
        ErrorReport::new(language.fill(message, &[&error.to_string()]), "")
    };
    let fits = text.len().div_ceil(3) * 4 <= ENCODED_MAX;
    let Some(out) = terminal.filter(|_| fits) else {
        let file = keep(text).map_err(|error| trouble(Msg::CopyFile, error))?;
        return Ok(Copied::File(file));
    };
    let mut bytes = String::new();
    // Writing to a string does not fail.
    let _ = CopyToClipboard::to_clipboard_from(text).write_ansi(&mut bytes);
    let written = out.write_all(bytes.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| trouble(Msg::CopyTerminal, error))?;
    Ok(Copied::Terminal)
}

/// Writes the text to a file in the directory for such files. Files of the crate `tempfile` are private (0600).
fn keep(text: &str) -> io::Result<PathBuf> {
    let mut file = (tempfile::Builder::new().prefix("reasonix-copy-"))
        .suffix(".txt")
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    let (_, path) = file.keep()?;
    Ok(path)
}

#[cfg(test)]
mod tests;
