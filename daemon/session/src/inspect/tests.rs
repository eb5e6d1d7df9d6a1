//! Files and variables, told from records and values.

use proto::CallId;
use proto::Stamp;
use proto::record::ToolFinished;

use super::*;

fn finished(seq: u64, path: &str, status: CallStatus, added: u64) -> Record {
    Record {
        seq: Seq(seq),
        at: Stamp(seq.cast_signed()),
        turn: Some(seq),
        body: Body::ToolFinished(ToolFinished {
            changed: Vec::new(),
            known: Vec::new(),
            call: CallId("a".into()),
            tool: "edit_file".into(),
            status,
            duration_ms: 1,
            display: Display::Diff {
                path: path.into(),
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
fn what_a_command_has_changed_stands_there_without_a_count() {
    let path = |path: &str, now: FileState| Changed {
        path: path.into(),
        now,
    };
    let mut command = finished(2, "", CallStatus::Failed, 0);
    let Body::ToolFinished(tool) = &mut command.body else {
        unreachable!("it is one");
    };
    tool.display = Display::Command {
        exit_code: Some(1),
        signal: None,
        tail: String::new(),
        output_bytes: 0,
        sandbox_stopped: false,
    };
    let why = "too much".to_owned();
    tool.changed = vec![
        path("a", FileState::Absent),
        path("b", FileState::Directory),
        path("/w", FileState::Unknown { why }),
    ];
    let mut files = Files::default();
    files.take(&finished(1, "a", CallStatus::Ok, 5));
    files.take(&command);
    let mut changed: Vec<_> = files
        .finish()
        .into_iter()
        .map(|file| (file.path, file.added, file.by_command))
        .collect();
    changed.sort();
    assert_eq!(
        changed,
        [("a".to_owned(), 5, true), ("b".to_owned(), 0, true)]
    );
}
