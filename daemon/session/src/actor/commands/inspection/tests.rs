//! Files and variables, listed from records and values.

use proto::CallId;
use proto::Stamp;
use proto::record::{Changed, ToolFinished};

use super::*;

fn left(path: &str, now: FileState) -> Changed {
    Changed {
        path: path.into(),
        now,
    }
}

fn finished(seq: u64, path: &str, status: CallStatus, added: u64) -> Record {
    Record {
        seq: Seq(seq),
        at: Stamp(seq.cast_signed()),
        turn: Some(seq),
        body: Body::ToolFinished(ToolFinished {
            changed: vec![left(path, FileState::Directory)],
            known: Vec::new(),
            reported: Vec::new(),
            skill: None,
            agent: None,
            call: CallId("a".into()),
            tool: "edit_file".into(),
            status,
            duration_ms: 1,
            display: Display::Diff {
                // As people read it; what it changed is shown by its place.
                path: "shown".into(),
                diff: String::new(),
                added,
                removed: 1,
            },
            spill: None,
        }),
    }
}

#[test]
fn changed_files_stand_once_with_all_their_changes_newest_first() {
    let mut files = Files::default();
    for record in [
        finished(1, "a", CallStatus::Ok, 5),
        finished(2, "b", CallStatus::Ok, 7),
        finished(3, "c", CallStatus::Failed, 9),
        finished(4, "a", CallStatus::Ok, 2),
    ] {
        files.take(&record);
    }
    let changed: Vec<_> = files
        .finish()
        .into_iter()
        .map(|file| (file.path, file.turn, file.added, file.removed))
        .collect();
    assert_eq!(
        changed,
        [("a".to_owned(), 4, 7, 2), ("b".to_owned(), 2, 7, 1)]
    );
}

#[test]
fn file_changed_by_a_command_is_listed_without_line_counts() {
    let mut command = finished(2, "", CallStatus::Failed, 0);
    let Body::ToolFinished(tool) = &mut command.body else {
        unreachable!("it is one");
    };
    tool.display = Display::Command {
        exit_code: Some(1),
        signal: None,
        tail: String::new(),
        output_bytes: 0,
        output_lines: 1,
        head: String::new(),
        sandbox_stopped: false,
        stopped: None,
    };
    let why = "too much".to_owned();
    tool.changed = vec![
        left("a", FileState::Absent),
        left("b", FileState::Directory),
        left("/w", FileState::Unknown { why }),
    ];
    let mut files = Files::default();
    files.take(&finished(1, "a", CallStatus::Ok, 5));
    files.take(&command);
    let mut changed: Vec<_> = files
        .finish()
        .into_iter()
        .map(|file| (file.path, file.added, file.edited, file.by_command))
        .collect();
    changed.sort();
    assert_eq!(
        changed,
        [
            ("a".to_owned(), 5, true, true),
            ("b".to_owned(), 0, false, true)
        ]
    );
}

#[test]
fn edited_files_stay_listed_when_command_changes_exceed_the_limit() {
    let mut patch = finished(1, "a", CallStatus::Ok, 5);
    let Body::ToolFinished(tool) = &mut patch.body else {
        unreachable!("it is one");
    };
    tool.changed.push(left("b", FileState::Directory));
    let mut command = finished(2, "c", CallStatus::Ok, 0);
    let Body::ToolFinished(tool) = &mut command.body else {
        unreachable!("it is one");
    };
    tool.display = Display::Command {
        exit_code: Some(0),
        signal: None,
        tail: String::new(),
        output_bytes: 0,
        output_lines: 1,
        head: String::new(),
        sandbox_stopped: false,
        stopped: None,
    };
    tool.changed = (0..FILES_MAX)
        .map(|n| left(&format!("made-{n:05}"), FileState::Directory))
        .collect();
    let mut files = Files::default();
    files.take(&patch);
    files.take(&command);
    let changed = files.finish();
    assert_eq!(changed.len(), FILES_MAX);
    let paths: Vec<_> = changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths[..2], ["made-00000", "made-00001"]);
    assert_eq!(paths[FILES_MAX - 2..], ["a", "b"]);
    assert_eq!(
        (changed[FILES_MAX - 1].added, changed[FILES_MAX - 1].edited),
        (0, true)
    );
}
