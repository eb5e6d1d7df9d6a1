//! What the model knows of files, as a log says it: a fold, for the memory of the next life.

use std::collections::HashMap;

use contract::KnownState;
use proto::record::{FileState, KnownFile};
use proto::{Body, CallId, Record, Seq};

/// See the module.
#[derive(Debug, Default)]
pub struct Knowledge {
    /// By calls that have ended and whose results the model has not got: it may never get them.
    ended: HashMap<CallId, Vec<KnownFile>>,
    /// By path.
    files: HashMap<String, Entry>,
}

#[derive(Debug)]
struct Entry {
    /// The message by which the model knows it.
    seq: Seq,
    file: KnownFile,
    left: Option<FileState>,
}

impl Knowledge {
    /// Takes one record in.
    pub fn apply(&mut self, record: &Record) {
        match &record.body {
            Body::ToolFinished(finished) => {
                for changed in &finished.changed {
                    match &changed.now {
                        FileState::Absent => drop(self.files.remove(&changed.path)),
                        left => {
                            if let Some(entry) = self.files.get_mut(&changed.path) {
                                entry.left = Some(left.clone());
                            }
                        }
                    }
                }
                self.ended
                    .insert(finished.call.clone(), finished.known.clone());
            }
            Body::Tool(message) => {
                for file in self.ended.remove(&message.call).unwrap_or_default() {
                    let (seq, left) = (record.seq, None);
                    self.files
                        .insert(file.path.clone(), Entry { seq, file, left });
                }
            }
            _ => {}
        }
    }

    /// The files, the oldest first, of messages that are shown: between these records, both included.
    pub fn shown(self, runs: &[(Seq, Seq)]) -> Vec<KnownState> {
        let is_shown = |entry: &Entry| {
            let mut runs = runs.iter();
            runs.any(|(first, last)| (*first..=*last).contains(&entry.seq))
        };
        let mut shown: Vec<_> = self.files.into_values().filter(is_shown).collect();
        shown.sort_by(|a, b| (a.seq, &a.file.path).cmp(&(b.seq, &b.file.path)));
        let known = |entry: Entry| KnownState {
            file: entry.file,
            left: entry.left,
            content: None,
        };
        shown.into_iter().map(known).collect()
    }
}

#[cfg(test)]
mod tests;
