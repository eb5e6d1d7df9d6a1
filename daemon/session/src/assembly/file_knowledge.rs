//! What the model knows of files, as a log says it: a fold, for the memory of the next life.

use std::collections::HashMap;

use contract::KnownState;
use proto::record::{FileState, KnownFile, PromptReferences};
use proto::{Body, CallId, PromptId, Record, Seq};

/// See the module.
#[derive(Debug, Default)]
pub struct Knowledge {
    /// By calls that have ended and whose results the model has not got: it may never get them.
    ended: HashMap<CallId, Vec<KnownFile>>,
    /// By prompts that wait.
    referenced: HashMap<PromptId, Vec<KnownFile>>,
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
            Body::PromptQueued(prompt) => {
                self.note_references(prompt.prompt_id, prompt.references.as_ref())
            }
            Body::PromptEdited(prompt) => {
                self.note_references(prompt.prompt_id, prompt.references.as_ref())
            }
            Body::User(message) => {
                let files = message.prompt_id.and_then(|id| self.referenced.remove(&id));
                for file in files.unwrap_or_default() {
                    self.insert(record.seq, file);
                }
            }
            Body::Tool(message) => {
                for file in self.ended.remove(&message.call).unwrap_or_default() {
                    self.insert(record.seq, file);
                }
            }
            _ => {}
        }
    }

    /// Forgets what was known of these files: it is not the newest.
    pub fn forget<'a>(&mut self, paths: impl IntoIterator<Item = &'a String>) {
        for path in paths {
            self.files.remove(path);
        }
    }

    /// Notes what a prompt that waits brings along.
    fn note_references(&mut self, prompt: PromptId, references: Option<&PromptReferences>) {
        let files = references.map(|references| references.files.clone());
        self.referenced.insert(prompt, files.unwrap_or_default());
    }

    fn insert(&mut self, seq: Seq, file: KnownFile) {
        let left = None;
        let entry = Entry { seq, file, left };
        self.files.insert(entry.file.path.clone(), entry);
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
