//! All that a call printed: the file beside the log if there is one, else what the log itself holds.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use proto::item::Display;
use proto::params::session::{OutputParams, PieceOutput};
use proto::{Body, CallId, ErrorName, Failure};

use super::{Log, PIECE, piece, storage};
use crate::supervisor::Supervisor;
use crate::tasks::blocking;

impl Supervisor {
    /// See `session.output`.
    ///
    /// # Errors
    /// As `find`; `not_found`: no call of this name has ended; `invalid_params`: no piece starts there; `storage`.
    pub async fn output(&self, params: &OutputParams) -> Result<PieceOutput, Failure> {
        let log = self.log_of(&params.session).await?;
        let (call, offset) = (params.call.clone(), params.offset);
        blocking(move || match printed(&log, &call)? {
            Printed::File(path) => piece_of_file(Path::new(&path), offset),
            Printed::Text(text) => piece(&text, offset),
        })
        .await?
    }
}

/// Where all that a call printed is.
enum Printed {
    File(String),
    Text(String),
}

fn printed(log: &Log, call: &CallId) -> Result<Printed, Failure> {
    let (mut display, mut file, mut text) = (None, None, None);
    let kinds = |kind: &str| {
        matches!(
            kind,
            "tool.finished" | "message.tool" | "child.spawned" | "child.exited"
        )
    };
    let mut command = None;
    log.read(kinds, |record, _| match &record.body {
        Body::ToolFinished(finished) if finished.call == *call => {
            file = finished.spill.clone();
            display = match &finished.display {
                Display::Command { tail, .. } => Some(tail.clone()),
                Display::Line { .. } | Display::Diff { .. } => None,
            };
        }
        Body::ChildSpawned(child) if child.call == *call && child.user.is_some() => {
            command = Some(child.pid);
        }
        Body::ChildExited(child) if command == Some(child.pid) => {
            if let Some(result) = &child.result {
                file = result.spill.clone();
                if let Display::Command { tail, .. } = &result.display {
                    display = Some(tail.clone());
                }
                text = Some(result.text.clone());
            }
        }
        Body::Tool(message) if message.call == *call => text = Some(message.text.clone()),
        _ => {}
    })?;
    let file = file.map(Printed::File);
    file.or(display.or(text).map(Printed::Text)).ok_or_else(|| {
        Failure::new(
            ErrorName::NotFound,
            format!("There is no finished call `{call}`."),
            "The session's events list its calls.",
        )
    })
}

/// A piece of a file that may be longer than memory allows.
fn piece_of_file(path: &Path, offset: u64) -> Result<PieceOutput, Failure> {
    let unreadable = |error| storage(format!("{} cannot be read: {error}", path.display()));
    let file = File::open(path).map_err(unreadable)?;
    let total = file.metadata().map_err(unreadable)?.len();
    let left = total.saturating_sub(offset);
    let mut bytes = vec![0; PIECE.min(usize::try_from(left).unwrap_or(usize::MAX))];
    file.read_exact_at(&mut bytes, offset).map_err(unreadable)?;
    let is_last = offset + bytes.len() as u64 == total;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // The last character goes on in the next piece.
        Err(error) if !is_last && error.utf8_error().error_len().is_none() => {
            let whole = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(whole);
            String::from_utf8(bytes).unwrap_or_default()
        }
        Err(_) => return Err(storage(format!("{} is not text", path.display()))),
    };
    let end = offset + text.len() as u64;
    Ok(PieceOutput {
        text,
        total,
        next: (end < total).then_some(end),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_file_join_to_its_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("output");
        for text in [
            String::new(),
            "€".repeat(400_000),
            format!("a{}", "€".repeat(PIECE)),
        ] {
            std::fs::write(&path, &text).unwrap();
            let (mut whole, mut at) = (String::new(), Some(0));
            while let Some(offset) = at {
                let piece = piece_of_file(&path, offset).unwrap();
                assert_eq!(piece.total, text.len() as u64);
                whole.push_str(&piece.text);
                at = piece.next;
            }
            assert_eq!(whole, text);
        }
        let inside = piece_of_file(&path, 1).unwrap();
        assert!(
            inside.text.starts_with('€'),
            "a piece may start at any character"
        );
        assert!(
            piece_of_file(&path, 2).is_err(),
            "inside of one there is none"
        );
    }
}
