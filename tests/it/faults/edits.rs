//! Files that change under an agent: by another session, between its look and its write, or between what a user was shown
//! and their answer.

use proto::hello::Role;
use proto::item::CallStatus;
use serde_json::json;
use testkit::model::{Answer, Model, Request, Script};
use tests::interactions::{raw_decide, raw_first, raw_list};
use tests::{House, until};

const SESSIONS: usize = 6;

/// Reads, then puts its line in, and starts again if the edit was refused.
fn writer(request: &Request) -> Answer {
    let own = request
        .messages()
        .iter()
        .filter_map(|message| message["content"].as_str())
        .find_map(|content| content.split_once("WRITER-"))
        .and_then(|(_, rest)| rest.split_whitespace().next())
        .unwrap_or("?")
        .to_owned();
    let read = Answer::call("read_file", json!({"path": "shared.txt"}));
    let results = request.results();
    let Some((_, last)) = results.last() else {
        return read;
    };
    if last.contains("THE END") {
        let edit = json!({"path": "shared.txt", "old_string": "THE END", "new_string": format!("line of {own}\nTHE END")});
        return Answer::call("edit_file", edit);
    }
    // The result of an edit names the file; a refused edit names the reason.
    if last.contains("shared.txt") && !last.contains("changed") {
        return Answer::text("It is in.");
    }
    read
}

#[test]
fn f107_sessions_that_edit_one_file_lose_no_reported_edit() {
    let model = Model::start(Script::by(writer));
    let house = House::new();
    house.provider(&model.entry("model", None));
    house.files("//- shared.txt\nthe beginning\nTHE END\n");
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        let mut params =
            serde_json::to_value(house.create(&format!("WRITER-{number} writes"))).expect("JSON");
        params["approval_mode"] = json!("yolo");
        let created = raw.call("session.create", &params).expect("create");
        sessions.push(created["session"].clone());
    }
    for session in &sessions {
        let waited = raw.call("session.wait", &json!({"session": session}));
        assert_eq!(waited.expect("wait")["exit_code"], 0);
    }
    let mut made = 0;
    for log in house.logs() {
        let edits = log.check().results().into_iter();
        made += edits
            .filter(|result| result.tool == "edit_file" && result.status == CallStatus::Ok)
            .count();
    }
    let text = house.read("shared.txt");
    let lines = text
        .lines()
        .filter(|line| line.starts_with("line of"))
        .count();
    assert_eq!(lines, made, "every edit that was made is there:\n{text}");
    assert_eq!(made, SESSIONS, "and in the end all were:\n{text}");
    model.assert_strict();
}

#[test]
fn f108_a_file_that_changes_between_a_look_a_yes_and_the_write_is_left_as_it_is() {
    let edit = json!({"path": "a.txt", "old_string": "old", "new_string": "new"});
    let write = json!({"path": "a.txt", "content": "all of it is new\n"});
    let model = Model::start([
        Answer::call("read_file", json!({"path": "a.txt"})),
        Answer::call("edit_file", edit),
        Answer::call("read_file", json!({"path": "a.txt"})),
        Answer::call("write_file", write),
        Answer::text("Done."),
    ]);
    let house = House::new();
    house.provider(&model.entry("model", None));
    house.files("//- a.txt\nan old line\n");
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let create = serde_json::to_value(house.create("edit")).expect("JSON");
    let session = raw.call("session.create", &create).expect("create")["session"].clone();
    for others in [
        "an old line\nand one of others\n",
        "an old line, which others have made longer\n",
    ] {
        let yes = raw_decide(&raw_first(&mut raw), "allow_once");
        // After the preview, before the answer.
        std::fs::write(house.project().join("a.txt"), others).expect("change the file");
        raw.call("interaction.answer", &yes).expect("a yes");
        until("the call to be over", || {
            let open = raw_list(&mut raw);
            let same = open
                .first()
                .is_some_and(|open| open["interaction_id"] == yes["interaction_id"]);
            (!same).then_some(())
        });
        // The call overwrites no change that others made meanwhile.
        until("the result", || {
            let log = house.log(proto::Pid(1));
            let results = log.results();
            let last = results.iter().rfind(|result| result.tool != "read_file")?;
            assert_ne!(last.status, CallStatus::Ok, "{last:?}");
            Some(())
        });
        assert_eq!(house.read("a.txt"), others);
    }
    raw.call("session.wait", &json!({"session": session}))
        .expect("wait");
    let log = house.log(proto::Pid(1));
    let writes: Vec<_> = log.check().results();
    let writes: Vec<_> = writes
        .iter()
        .filter(|result| result.tool != "read_file")
        .collect();
    assert_eq!(writes.len(), 2, "{writes:?}");
    assert!(
        writes.iter().all(|result| result.status != CallStatus::Ok),
        "{writes:?}"
    );
    assert_eq!(
        house.read("a.txt"),
        "an old line, which others have made longer\n"
    );
}
