//! What a tool returned, as the model and the user read it. Pure, but for the file of an output that is cut.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use contract::Outcome;
use proto::item::{CallStatus, Display};

use crate::client::{ResultPart, ToolResult};
use crate::text::{clean, cut};

/// Bytes of a result that the model reads.
const TEXT_MAX: usize = 48 * 1024;
/// Bytes of a result that are looked at.
const ALL_MAX: usize = 16 * 1024 * 1024;
/// Content that is not text, which a note replaces.
const BINARY_MAX: usize = 10;
/// Characters of the line for the user.
const LINE_MAX: usize = 200;

/// The outcome of a call. `file`: where all of a text goes that is cut.
#[must_use]
pub fn outcome(result: &ToolResult, file: &Path) -> Outcome {
    let (text, notes) = rendered(result);
    let (text, spill) = bounded(&text, file);
    let mut whole = text;
    for note in notes {
        if !whole.is_empty() && !whole.ends_with('\n') {
            whole.push('\n');
        }
        whole.push_str(&note);
    }
    if whole.trim().is_empty() {
        whole = "(no output)".to_owned();
    }
    let status = match result.is_error {
        true => CallStatus::Failed,
        false => CallStatus::Ok,
    };
    let line = whole.lines().find(|line| !line.trim().is_empty());
    let line: String = line.unwrap_or_default().chars().take(LINE_MAX).collect();
    Outcome {
        display: Display::Line { text: line },
        spill,
        ..Outcome::with_status(status, whole)
    }
}

/// Text of a result, and notes on what is no text: they stay when the text is cut.
fn rendered(result: &ToolResult) -> (String, Vec<String>) {
    let mut texts = Vec::new();
    let mut notes = Vec::new();
    let mut left_out = 0_usize;
    for part in &result.parts {
        match part {
            ResultPart::Text(text) => texts.push(clean(cut(text, ALL_MAX).0)),
            ResultPart::Binary {
                kind,
                media_type,
                bytes,
            } if notes.len() < BINARY_MAX => {
                notes.push(format!(
                    "[{kind} ({}, {bytes} bytes): it cannot be shown to you]",
                    clean(cut(media_type, 100).0)
                ));
            }
            ResultPart::Binary { .. } => left_out += 1,
        }
    }
    if left_out > 0 {
        notes.push(format!("[{left_out} more that are no text]"));
    }
    let text = texts.join("\n");
    match &result.structured {
        // Servers repeat it as text for clients that do not know it.
        Some(structured) if text.trim().is_empty() => (clean(&structured.to_string()), notes),
        Some(_) | None => (text, notes),
    }
}

/// A text that fits: its head and tail, with the whole in a file.
fn bounded(text: &str, file: &Path) -> (String, Option<PathBuf>) {
    if text.len() <= TEXT_MAX {
        return (text.to_owned(), None);
    }
    let head = cut(text, TEXT_MAX / 2).0;
    let start = text.ceil_char_boundary(text.len() - TEXT_MAX / 2);
    let tail = text.get(start..).unwrap_or_default();
    let missing = text.len() - head.len() - tail.len();
    let mut options = std::fs::OpenOptions::new();
    let written = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(file)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    let (place, spill) = match written {
        Ok(()) => (
            format!("all of it is in {}", file.display()),
            Some(file.to_path_buf()),
        ),
        Err(error) => (format!("it could not be kept: {error}"), None),
    };
    (
        format!("{head}\n[… {missing} bytes left out; {place} …]\n{tail}"),
        spill,
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(text: &str) -> ResultPart {
        ResultPart::Text(text.to_owned())
    }

    fn image() -> ResultPart {
        ResultPart::Binary {
            kind: "image",
            media_type: "image/png".to_owned(),
            bytes: 7,
        }
    }

    #[test]
    fn text_errors_and_structured_content_are_told_apart() {
        let file = Path::new("/dev/null/x");
        let done = outcome(
            &ToolResult {
                parts: vec![text("a\u{1b}[31m"), text("b")],
                structured: Some(json!({"x": 1})),
                is_error: false,
            },
            file,
        );
        assert_eq!((done.status, &*done.text), (CallStatus::Ok, "a\nb"));
        let structured = ToolResult {
            structured: Some(json!({"x": 1})),
            is_error: true,
            ..ToolResult::default()
        };
        let done = outcome(&structured, file);
        assert_eq!(
            (done.status, &*done.text),
            (CallStatus::Failed, r#"{"x":1}"#)
        );
        assert_eq!(outcome(&ToolResult::default(), file).text, "(no output)");
    }

    #[test]
    fn the_note_on_an_eleventh_image_survives_a_cut() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("all.txt");
        let long = format!("first{}last", "ä".repeat(TEXT_MAX));
        let mut parts = vec![text(&long)];
        parts.extend((0..11).map(|_| image()));
        let result = ToolResult {
            parts,
            ..ToolResult::default()
        };
        let done = outcome(&result, &file);
        assert!(done.text.len() < TEXT_MAX + 2_000);
        assert!(done.text.starts_with("first") && done.text.contains("last\n[image"));
        assert!(
            done.text.ends_with("[1 more that are no text]"),
            "{}",
            done.text.len()
        );
        assert_eq!(done.spill.as_deref(), Some(&*file));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), long);
    }
}
