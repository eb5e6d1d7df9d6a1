//! What the model knows of files, as a log says it: a fold, for the memory of the next life.

use std::collections::HashMap;
use std::sync::Arc;

use contract::KnownState;
use proto::record::{
    FileState, KnownFile, PromptReferences, ReportedFile, RewoundFile, RewoundResult,
    SessionRewound,
};
use proto::{Body, CallId, PromptId, Record, Seq};

use crate::assembly::instruction_blocks::InstructionBlocks;

/// See the module.
#[derive(Debug, Default)]
pub struct Knowledge {
    /// By calls that have ended and whose results the model has not got: it may never get them.
    ended: HashMap<CallId, EndedCall>,
    /// By prompts that wait.
    referenced: HashMap<PromptId, Vec<(KnownFile, Content)>>,
    /// By path.
    files: HashMap<String, Entry>,
    /// What calls have left at paths since.
    left: HashMap<String, (Seq, FileState)>,
    /// Changes by others that messages have reported, the oldest first.
    reports: Vec<(Seq, ReportedFile)>,
}

/// What is in a file, where a record has it.
type Content = Option<Arc<[u8]>>;

#[derive(Debug)]
struct Entry {
    /// The message by which the model knows it.
    seq: Seq,
    file: KnownFile,
    content: Content,
}

/// What the model knows of files from the result of a call.
#[derive(Debug, Default)]
struct EndedCall {
    known: Vec<KnownFile>,
    reported: Vec<ReportedFile>,
}

impl Knowledge {
    /// Takes one record in.
    pub fn apply(&mut self, record: &Record) {
        match &record.body {
            Body::ToolFinished(finished) => {
                for changed in &finished.changed {
                    if changed.now == FileState::Absent {
                        self.files.remove(&changed.path);
                    }
                    let left = (record.seq, changed.now.clone());
                    self.left.insert(changed.path.clone(), left);
                }
                // What the call itself left is newer than what was reported before it.
                let is_changed =
                    |path: &str| finished.changed.iter().any(|changed| changed.path == path);
                let reported = finished.reported.iter();
                let reported = reported.filter(|file| !is_changed(&file.path));
                let ended = EndedCall {
                    known: finished.known.clone(),
                    reported: reported.cloned().collect(),
                };
                self.ended.insert(finished.call.clone(), ended);
            }
            Body::PromptQueued(prompt) => {
                self.note_references(prompt.prompt_id, prompt.references.as_ref())
            }
            Body::PromptEdited(prompt) => {
                self.note_references(prompt.prompt_id, prompt.references.as_ref())
            }
            Body::User(message) => {
                self.note_reports(record.seq, &message.reported);
                let files = message.prompt_id.and_then(|id| self.referenced.remove(&id));
                for (file, content) in files.unwrap_or_default() {
                    self.insert(record.seq, file, content);
                }
            }
            Body::Tool(message) => {
                let ended = self.ended.remove(&message.call).unwrap_or_default();
                self.note_reports(record.seq, &ended.reported);
                for file in ended.known {
                    self.insert(record.seq, file, None);
                }
            }
            Body::SessionRewound(rewound) => self.note_rewound(record.seq, rewound),
            _ => {}
        }
    }

    /// Notes the files that a rewind has restored to what the conversation shows then. What others have left there, and what
    /// the conversation does not show, is yet to be reported.
    pub fn note_rewound(&mut self, seq: Seq, rewound: &SessionRewound) {
        if rewound.shown.is_none() {
            return;
        }
        let is_restored = |file: &&RewoundFile| {
            matches!(file.result, RewoundResult::Restored | RewoundResult::Same)
        };
        for file in rewound.files.iter().filter(is_restored) {
            let left = (seq, file.after.clone());
            self.left.insert(file.path.clone(), left);
        }
    }

    /// Forgets what was known of these files: it is not the newest.
    pub fn forget<'a>(&mut self, paths: impl IntoIterator<Item = &'a String>) {
        for path in paths {
            self.files.remove(path);
            self.left.remove(path);
            self.reports.retain(|(_, file)| file.path != *path);
        }
    }

    /// These changes were reported by messages that are folded: of instruction files they are to be reported again.
    pub fn forget_reports(&mut self, folded: &[String], in_prefix: impl Fn(&str) -> bool) {
        let files = &self.files;
        // Only new instruction files are known with their content.
        let is_new = |path: &str| files.get(path).is_some_and(|entry| entry.content.is_some());
        self.reports.retain(|(_, file)| {
            let is_folded = folded.contains(&file.path);
            !is_folded || !(in_prefix(&file.path) || is_new(&file.path))
        });
    }

    fn note_reports(&mut self, seq: Seq, reported: &[ReportedFile]) {
        let reports = reported.iter().map(|file| (seq, file.clone()));
        self.reports.extend(reports);
    }

    /// Notes what a prompt that waits brings along.
    fn note_references(&mut self, prompt: PromptId, references: Option<&PromptReferences>) {
        let files = references.map(|references| {
            let blocks = InstructionBlocks::read(&references.text);
            let files = references.files.iter();
            let with_content = files.map(|file| (file.clone(), blocks.content_of(file)));
            with_content.collect()
        });
        self.referenced.insert(prompt, files.unwrap_or_default());
    }

    fn insert(&mut self, seq: Seq, file: KnownFile, content: Content) {
        let entry = Entry { seq, file, content };
        self.files.insert(entry.file.path.clone(), entry);
    }

    /// The files of the prefix, and then, the oldest first, those of messages that are shown: between these records, both
    /// included. Each has what the session left there since, or what the model was told of it, whichever is newer.
    pub fn shown(self, runs: &[(Seq, Seq)], prefix: Vec<KnownState>) -> Vec<KnownState> {
        let is_shown = |seq: Seq| {
            let mut runs = runs.iter();
            runs.any(|(first, last)| (*first..=*last).contains(&seq))
        };
        let mut reports: HashMap<String, (Seq, ReportedFile)> = HashMap::new();
        for (seq, file) in self.reports.into_iter().filter(|(seq, _)| is_shown(*seq)) {
            reports.insert(file.path.clone(), (seq, file));
        }
        let mut files: Vec<_> = self.files.into_values().collect();
        files.retain(|entry| is_shown(entry.seq));
        files.sort_by(|a, b| (a.seq, &a.file.path).cmp(&(b.seq, &b.file.path)));
        let of_messages = files.into_iter().map(|Entry { seq, file, content }| {
            let (left, reported) = (None, None);
            let known = KnownState {
                file,
                left,
                reported,
                content,
            };
            (seq, known)
        });
        let of_prefix = prefix.into_iter().map(|known| (Seq(0), known));
        let with_newest = |(seq, known): (Seq, KnownState)| {
            let path = &known.file.path;
            let left = self.left.get(path).filter(|(at, _)| *at > seq);
            let report = reports.get(path).filter(|(at, _)| *at > seq);
            let is_left_newer = left.map(|(at, _)| *at) > report.map(|(at, _)| *at);
            KnownState {
                left: left.filter(|_| is_left_newer).map(|(_, left)| left.clone()),
                reported: report
                    .filter(|_| !is_left_newer)
                    .map(|(_, file)| file.clone()),
                ..known
            }
        };
        of_prefix.chain(of_messages).map(with_newest).collect()
    }
}

#[cfg(test)]
mod tests;
