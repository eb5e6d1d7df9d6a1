//! Logs damaged by a crash or a disk: a torn tail is moved to a separate file, damage in the middle is reported and left alone (I13).

use std::path::{Path, PathBuf};

use testkit::model::{Answer, Model};
use tests::House;

use crate::scripted::{house, run};

/// A session that has ended well, its daemon stopped: the session's pid, and the path of its log.
fn ended(model: &Model) -> (House, String, PathBuf) {
    let house = house(model);
    let pid = run(&house, &[], "The first prompt.")
        .expect(0, "completed")
        .pid();
    house.stop_daemon();
    let log = house.logs().remove(0).path;
    (house, pid, log)
}

/// The torn tails that were moved away from a log.
fn torn(log: &Path) -> Vec<Vec<u8>> {
    let directory = std::fs::read_dir(log.parent().expect("a directory"))
        .expect("read the session's directory");
    let names = directory.flatten().map(|entry| entry.path());
    let torn = names.filter(|path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().contains(".torn-"))
    });
    torn.map(|path| std::fs::read(path).expect("read the torn tail"))
        .collect()
}

/// The start of the last line.
fn last_line(bytes: &[u8]) -> usize {
    bytes[..bytes.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1)
}

#[test]
fn a_torn_tail_is_moved_to_a_separate_file_and_work_continues() {
    type Hurt = fn(&mut Vec<u8>);
    let ways: [(&str, Hurt); 5] = [
        ("the last line is cut", |bytes| {
            bytes.truncate(last_line(bytes) + 20)
        }),
        ("a byte of it is another", |bytes| {
            let at = last_line(bytes) + 30;
            bytes[at] ^= 0x20;
        }),
        ("half a record follows it", |bytes| {
            bytes.extend_from_slice(b"{\"seq\":9999,\"at\":\"20")
        }),
        ("a block of zeros follows it", |bytes| {
            bytes.extend_from_slice(&[0; 4096])
        }),
        ("lines of nonsense follow it", |bytes| {
            bytes.extend_from_slice(b"\xff\xfe\n\n{}\nnull\n")
        }),
    ];
    for (what, hurt) in ways {
        let model = Model::start([Answer::text("One."), Answer::text("Two.")]);
        let (house, pid, log) = ended(&model);
        let whole = std::fs::read(&log).expect("read the log");
        let mut bytes = whole.clone();
        hurt(&mut bytes);
        std::fs::write(&log, &bytes).expect("hurt the log");
        house.daemon();
        let ran = run(&house, &["-s", &pid], "The second prompt.");
        assert_eq!(
            (ran.code, ran.text()),
            (Some(0), "Two."),
            "{what}: {ran:#?}"
        );
        let kept = std::fs::read(&log).expect("read the log");
        let tails = torn(&log);
        assert_eq!(tails.len(), 1, "{what}: the tail is kept beside the log");
        let intact = bytes.len() - tails[0].len();
        assert!(
            bytes.ends_with(&tails[0]) && kept.starts_with(&bytes[..intact]),
            "{what}: nothing else is lost"
        );
        let notices: Vec<_> = house.logs()[0]
            .lines
            .iter()
            .filter(|line| line.kind == "notice")
            .map(|line| line.data.clone())
            .collect();
        assert!(
            notices.iter().any(|notice| notice.contains("torn")),
            "{what}: it is said: {notices:?}"
        );
        assert_eq!(
            model.requests()[1].answered(),
            1,
            "{what}: the first answer is there"
        );
        model.assert_prefix();
    }
}

#[test]
fn a_whole_record_without_its_newline_is_kept() {
    let model = Model::start([Answer::text("One."), Answer::text("Two.")]);
    let (house, pid, log) = ended(&model);
    let whole = std::fs::read(&log).expect("read the log");
    std::fs::write(&log, &whole[..whole.len() - 1]).expect("hurt the log");
    house.daemon();
    run(&house, &["-s", &pid], "The second prompt.").expect(0, "completed");
    let kept = std::fs::read(&log).expect("read the log");
    assert!(
        kept.starts_with(&whole),
        "the next record is on a separate line"
    );
    assert!(torn(&log).is_empty(), "nothing had to be moved away");
    house.logs()[0].check();
    model.assert_prefix();
}

#[test]
fn damage_in_the_middle_is_shown_and_left_alone() {
    let model = Model::start([Answer::text("One."), Answer::text("Two.")]);
    let house = house(&model);
    let pid = run(&house, &[], "The first prompt.")
        .expect(0, "completed")
        .pid();
    run(&house, &["-s", &pid], "The second prompt.").expect(0, "completed");
    house.stop_daemon();
    let log = house.logs().remove(0);
    // A record in the middle that later ones know to be on disk.
    let hurt = log
        .lines
        .iter()
        .position(|line| line.kind == "message.assistant")
        .expect("an answer");
    let mut bytes = std::fs::read(&log.path).expect("read the log");
    let start = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .take(hurt)
        .map(<[u8]>::len)
        .sum::<usize>();
    bytes[start + 40] ^= 0x01;
    std::fs::write(&log.path, &bytes).expect("hurt the log");

    house.daemon();
    let ran = run(&house, &["-s", &pid], "A third prompt.").expect(1, "failed");
    let error = &ran.result["error"];
    assert_eq!(error["name"], "storage", "{error}");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("read-only") && message.contains(&format!("record {hurt} ")),
        "it says where: {message}"
    );
    assert_eq!(model.count(), 2, "nothing is asked");
    let shown = house
        .reasonix(&["logs", "--json", &pid])
        .expect_code(0)
        .lines();
    let numbers: Vec<_> = shown
        .iter()
        .filter_map(|event| event["seq"].as_u64())
        .collect();
    assert_eq!(
        numbers,
        (1..=hurt as u64).collect::<Vec<_>>(),
        "it can be read up to the damage"
    );
    assert_eq!(
        std::fs::read(&log.path).expect("read the log"),
        bytes,
        "nothing is changed"
    );
    assert!(torn(&log.path).is_empty());
    // Another session of the same home is none the worse (I34).
    model.push([Answer::text("Three.")]);
    run(&house, &[], "Another session.").expect(0, "completed");
}

/// A kill between the making of a session's directory and its first record leaves a directory that is no session.
#[test]
fn incomplete_session_directory_is_deleted_at_start_and_its_id_is_free() {
    let model = Model::start([Answer::text("One."), Answer::text("Two.")]);
    let (house, _, log) = ended(&model);
    let bytes = std::fs::read(&log).expect("read the log");
    let first = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .expect("a line");
    let half = &bytes[..first / 2];
    // A directory alone, an empty log, and half a record; each with and without the marker of unfinished work.
    let mut left = Vec::new();
    for content in [None, Some(&b""[..]), Some(half)] {
        for is_marked in [false, true] {
            let session = proto::SessionId::new();
            let directory = house.home().join("sessions").join(session.to_string());
            std::fs::create_dir(&directory).expect("make a directory");
            if let Some(content) = content {
                std::fs::write(directory.join("log.jsonl"), content).expect("write a log");
            }
            let markers = [("open", is_marked), ("ephemeral", is_marked)];
            for (name, _) in markers.iter().filter(|(_, is_marked)| *is_marked) {
                let marker = house.home().join(name).join(session.to_string());
                std::fs::write(marker, "").expect("write a marker");
            }
            left.push(session);
        }
    }
    house.daemon();
    // Without waiting: clients are let in after it.
    let names = |directory: &str| {
        let entries = std::fs::read_dir(house.home().join(directory)).expect("a directory");
        entries.flatten().count()
    };
    assert_eq!(
        (names("sessions"), names("open"), names("ephemeral")),
        (1, 0, 0)
    );
    let listed = house.reasonix(&["ls", "--json"]).expect_code(0);
    assert_eq!(listed.json().as_array().map(Vec::len), Some(1));
    let checked = house.reasonix(&["doctor"]);
    assert!(checked.out.contains("1 logs are intact"), "{checked:?}");
    assert!(!checked.out.contains("no complete record"), "{checked:?}");
    let mut raw = house.raw_as(proto::hello::Role::Drive);
    let mut params = house.create("The second prompt.");
    params.session = left[5];
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
    tests::until("the answer", || (model.count() == 2).then_some(()));
}
