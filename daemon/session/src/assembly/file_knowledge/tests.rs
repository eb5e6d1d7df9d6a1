//! A log in a few records.

use proto::item::{CallStatus, Display, ToolMessage, UserMessage, Voice};
use proto::params::history::What;
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
            reported: Vec::new(),
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
            images: Vec::new(),
        }));
    }

    /// A prompt that tells of a change by others.
    fn told(&mut self, path: &str, sha256: &str) {
        self.add(Body::User(UserMessage {
            item: ItemId("m1.1".into()),
            prompt_id: None,
            text: String::new(),
            context: None,
            voice: Voice::Prompt,
            from: None,
            attached: Vec::new(),
            reported: vec![report(path, sha256)],
        }));
    }

    /// Files, and what the session left there.
    fn shown(self, first: u64, last: u64) -> Vec<(KnownFile, Option<FileState>)> {
        let runs = [(Seq(first), Seq(last))];
        let shown = self.knowledge.shown(&runs, Vec::new());
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
        partial: false,
    }
}

fn report(path: &str, sha256: &str) -> ReportedFile {
    ReportedFile {
        path: path.into(),
        bytes: Some(1),
        modified_ns: 4,
        sha256: Some(sha256.into()),
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
fn file_changed_by_a_command_is_noted_and_a_deleted_one_forgotten() {
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
fn file_whose_read_result_is_no_longer_shown_is_not_known() {
    let mut log = Log::default();
    for path in ["/a", "/b"] {
        log.finished(path, &[path], Vec::new());
        log.reported(path);
    }
    assert_eq!(log.shown(1, 3), [(file("/a"), None)]);
}

/// What the prefix says of a file, the state that its session left, and the state that the model knows.
fn newest(log: Log, last: u64) -> (Option<FileState>, Option<ReportedFile>) {
    let prefix = KnownState {
        file: file("/AGENTS.md"),
        left: None,
        reported: None,
        content: None,
    };
    let shown = log.knowledge.shown(&[(Seq(1), Seq(last))], vec![prefix]);
    let [known] = <[KnownState; 1]>::try_from(shown).expect("one file");
    (known.left, known.reported)
}

#[test]
fn newest_change_that_the_model_was_told_of_is_known_if_its_message_is_shown() {
    let mut log = Log::default();
    log.told("/AGENTS.md", "one");
    log.told("/AGENTS.md", "two");
    assert_eq!(newest(log, 2), (None, Some(report("/AGENTS.md", "two"))));
    let mut log = Log::default();
    log.told("/AGENTS.md", "one");
    log.told("/AGENTS.md", "two");
    assert_eq!(newest(log, 1), (None, Some(report("/AGENTS.md", "one"))));
}

#[test]
fn later_of_own_change_and_reported_change_is_the_known_state() {
    let mut log = Log::default();
    log.told("/AGENTS.md", "one");
    log.finished("run", &[], vec![now("/AGENTS.md", other())]);
    log.reported("run");
    assert_eq!(newest(log, 9), (Some(other()), None));
    let mut log = Log::default();
    log.finished("run", &[], vec![now("/AGENTS.md", other())]);
    log.reported("run");
    log.told("/AGENTS.md", "one");
    assert_eq!(newest(log, 9), (None, Some(report("/AGENTS.md", "one"))));
}

#[test]
fn a_new_prefix_is_newer_than_what_was_told_before() {
    let mut log = Log::default();
    log.told("/AGENTS.md", "one");
    log.knowledge.forget([&"/AGENTS.md".to_owned()]);
    assert_eq!(newest(log, 9), (None, None));
}

#[test]
fn rewind_counts_as_own_change_only_where_it_restored_what_is_shown() {
    let rewound = |result: RewoundResult, shown: Option<Vec<(Seq, Seq)>>| {
        let mut log = Log::default();
        log.finished("read", &["/a"], Vec::new());
        log.reported("read");
        log.add(Body::SessionRewound(SessionRewound {
            to_turn: 1,
            what: What::Both,
            undoes: None,
            shown,
            todos: None,
            files: vec![RewoundFile {
                path: "/a".into(),
                result,
                before: FileState::Absent,
                after: other(),
            }],
            by: "ann".into(),
            request_id: None,
        }));
        let [(_, left)] = <[_; 1]>::try_from(log.shown(1, 9)).expect("one file");
        left
    };
    let shown = || Some(vec![(Seq(1), Seq(9))]);
    assert_eq!(rewound(RewoundResult::Restored, shown()), Some(other()));
    assert_eq!(rewound(RewoundResult::Same, shown()), Some(other()));
    assert_eq!(rewound(RewoundResult::ChangedSince, shown()), None);
    // The conversation still shows what was there before.
    assert_eq!(rewound(RewoundResult::Restored, None), None);
}

#[test]
fn new_instruction_file_of_a_prompt_is_known_with_its_content() {
    use sha2::{Digest, Sha256};

    let text = "Use tabs.\n";
    let known = KnownFile {
        sha256: hex::encode(Sha256::digest(text)),
        bytes: text.len() as u64,
        ..file("/p/AGENTS.md")
    };
    let block = format!(
        "<instructions file=\"AGENTS.md\">\n{}\n</instructions>",
        text.trim_end()
    );
    let prompt = serde_json::json!({
        "prompt_id": "00000000-0000-4000-8000-000000000001",
        "text": "Go on.",
        "references": {"text": block, "files": [known, file("/p/other")]},
        "by": "ann",
    });
    let mut log = Log::default();
    log.add(Body::PromptQueued(
        serde_json::from_value(prompt).expect("a prompt"),
    ));
    log.add(Body::User(UserMessage {
        item: ItemId("m1.1".into()),
        prompt_id: Some(
            serde_json::from_value("00000000-0000-4000-8000-000000000001".into()).expect("an id"),
        ),
        text: String::new(),
        context: None,
        voice: Voice::Prompt,
        from: None,
        attached: Vec::new(),
        reported: Vec::new(),
    }));
    let shown = log.knowledge.shown(&[(Seq(1), Seq(9))], Vec::new());
    let contents: Vec<_> = shown
        .iter()
        .map(|known| (known.file.path.as_str(), known.content.as_deref()))
        .collect();
    assert_eq!(
        contents,
        [("/p/AGENTS.md", Some(text.as_bytes())), ("/p/other", None)]
    );
}
