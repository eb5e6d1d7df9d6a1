//! A log in a few records.

use proto::item::{CallStatus, Display, ToolMessage};
use proto::record::{Changed, ToolFinished};
use proto::{ItemId, Stamp};

use super::*;

/// A log that is folded record by record.
#[derive(Default)]
struct Log {
    seq: Seq,
    knowledge: Knowledge,
}

impl Log {
    fn add(&mut self, body: Body) {
        self.seq = self.seq.next();
        self.knowledge.apply(&Record {
            seq: self.seq,
            at: Stamp(0),
            turn: Some(1),
            body,
        });
    }

    fn finished(&mut self, call: &str, known: &[&str], changed: Vec<Changed>) {
        self.add(Body::ToolFinished(ToolFinished {
            call: CallId(call.into()),
            tool: "t".into(),
            status: CallStatus::Ok,
            duration_ms: 0,
            display: Display::Line {
                text: String::new(),
            },
            spill: None,
            changed,
            known: known.iter().map(|path| file(path)).collect(),
            skill: None,
            agent: None,
        }));
    }

    fn reported(&mut self, call: &str) {
        self.add(Body::Tool(ToolMessage {
            item: ItemId("m1.1".into()),
            call: CallId(call.into()),
            tool: "t".into(),
            status: CallStatus::Ok,
            text: String::new(),
        }));
    }

    /// Files, and what the session left there.
    fn shown(self, first: u64, last: u64) -> Vec<(KnownFile, Option<FileState>)> {
        let shown = self.knowledge.shown(&[(Seq(first), Seq(last))]);
        let pair = |known: KnownState| (known.file, known.left);
        shown.into_iter().map(pair).collect()
    }
}

fn file(path: &str) -> KnownFile {
    KnownFile {
        path: path.into(),
        sha256: "00".repeat(32),
        bytes: 1,
        modified_ns: 2,
        inode: 3,
    }
}

fn now(path: &str, now: FileState) -> Changed {
    Changed {
        path: path.into(),
        now,
    }
}

fn other() -> FileState {
    FileState::File {
        sha256: "11".repeat(32),
        bytes: 4,
        mode: 0o644,
    }
}

#[test]
fn a_file_is_known_once_the_model_has_the_result() {
    let mut log = Log::default();
    log.finished("a", &["/a"], Vec::new());
    log.finished("b", &["/b"], Vec::new());
    log.reported("b");
    assert_eq!(log.shown(1, 9), [(file("/b"), None)]);
}

#[test]
fn a_call_whose_result_was_lost_makes_nothing_known() {
    let mut log = Log::default();
    log.finished("a", &["/a"], Vec::new());
    // After a crash the call is closed with other words, which the model gets.
    log.finished("a", &[], Vec::new());
    log.reported("a");
    assert_eq!(log.shown(1, 9), []);
}

#[test]
fn what_the_session_itself_did_is_noted_and_what_it_deleted_is_forgotten() {
    let mut log = Log::default();
    for path in ["/a", "/b", "/c"] {
        log.finished(path, &[path], Vec::new());
        log.reported(path);
    }
    let changes = vec![now("/a", FileState::Absent), now("/b", other())];
    log.finished("run", &[], changes);
    log.reported("run");
    // Written by a tool of ours: it is known as it is.
    log.finished("edit", &["/c"], vec![now("/c", other())]);
    log.reported("edit");
    assert_eq!(
        log.shown(1, 99),
        [(file("/b"), Some(other())), (file("/c"), None)]
    );
}

#[test]
fn what_is_not_shown_any_more_is_not_known() {
    let mut log = Log::default();
    for path in ["/a", "/b"] {
        log.finished(path, &[path], Vec::new());
        log.reported(path);
    }
    assert_eq!(log.shown(1, 3), [(file("/a"), None)]);
}
