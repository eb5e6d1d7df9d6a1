//! A session with a log as no person writes one: attaching streams it, and what the daemon holds stays bounded.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};

use proto::hello::Role;
use serde_json::json;
use testkit::Script;
use tests::{House, Raw};

/// Records that are added, their bytes, and those of the largest: far more than a frame. Together more than may be held.
const RECORDS: u64 = 1_400;
const RECORD: usize = 64 * 1024;
const LARGEST: usize = 5 * 1024 * 1024;
/// What the daemon may hold more for it.
const MEMORY_MORE: u64 = 84 * 1024 * 1024;

/// Appends notices to the log of the only session; how many records it has then.
fn grow(house: &House) -> u64 {
    let log = house.logs().remove(0);
    let first = log.lines.len() as u64 + 1;
    let file = OpenOptions::new().append(true).open(&log.path);
    let mut file = BufWriter::new(file.expect("the log"));
    for seq in first..first + RECORDS {
        let size = if seq == first + RECORDS / 2 {
            LARGEST
        } else {
            RECORD
        };
        let text = "words ".repeat(size / 6);
        let head = format!(
            r#"{{"seq":{seq},"at":"2026-01-01T00:00:00.000Z","turn":null,"durable":{},"kind":"notice","data":{{"level":"info","text":"{text}"}}"#,
            seq - 1
        );
        let crc = crc32c::crc32c(head.as_bytes());
        writeln!(file, "{head},\"crc\":\"{crc:08x}\"}}").expect("write");
    }
    file.flush().expect("write");
    first + RECORDS - 1
}

fn memory(raw: &mut Raw) -> u64 {
    let status = raw.call("daemon.status", &json!({})).expect("status");
    status["memory_bytes"].as_u64().expect("bytes")
}

#[test]
fn f28_a_log_with_a_giant_record_is_streamed_and_not_held() {
    let house = House::playing(&Script::new().says("Done.").says("More."));
    let _ = house.reasonix(&["run", "hello"]).expect_code(0);
    house.stop_daemon();
    let last = grow(&house);
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let before = memory(&mut raw);
    let mut reader = house.raw_as(Role::Watch);
    let attach = json!({"session": "1", "subscription": "s", "after_seq": 0, "ephemeral": false});
    reader.call("session.attach", &attach).expect("attach");
    let mut most = 0;
    for seq in 1..=last {
        let event = reader.event()["event"].take();
        assert_eq!(event["seq"], seq, "{event:.200}");
        if seq % 100 == 0 {
            most = most.max(memory(&mut raw));
        }
    }
    assert!(
        most <= before + MEMORY_MORE,
        "{} MiB, and then {} MiB",
        before >> 20,
        most >> 20
    );
    // It goes on as any other.
    let _ = house.reasonix(&["run", "-s", "1", "more"]).expect_code(0);
}
