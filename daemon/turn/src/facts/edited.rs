//! The most recently edited files of a session, as a fold.

use proto::item::{CallStatus, Display};
use proto::record::ToolFinished;

use super::Facts;
use crate::compaction::EditedFile;

/// How many files are remembered (contract, chapter 60).
const FILES: usize = 5;

impl Facts {
    pub(super) fn apply_file_edited(&mut self, finished: &ToolFinished) {
        let Display::Diff { path, diff, .. } = &finished.display else {
            return;
        };
        if finished.status != CallStatus::Ok {
            return;
        }
        self.edited.retain(|file| file.path != *path);
        self.edited.push_front(EditedFile {
            path: path.clone(),
            lines: touched_lines(diff),
        });
        self.edited.truncate(FILES);
    }
}

/// The lines of the new file that a unified diff touches: first and last of each hunk.
fn touched_lines(diff: &str) -> Vec<(u64, u64)> {
    let heads = diff.lines().filter_map(|line| line.strip_prefix("@@ "));
    let runs = heads.filter_map(|head| {
        let new = head.split(' ').find_map(|word| word.strip_prefix('+'))?;
        let (first, count) = new.split_once(',').unwrap_or((new, "1"));
        let (first, count): (u64, u64) = (first.parse().ok()?, count.parse().ok()?);
        Some((first, first.saturating_add(count.saturating_sub(1))))
    });
    runs.collect()
}
