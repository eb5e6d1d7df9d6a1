//! Going back, and forth again.

use proto::{ErrorName, Failure};
use serde_json::{Value, json};

use crate::fake::{Call, Fake, FakeAction};
use crate::program::{reasonix, run};

fn file(path: &str, result: &Value) -> Value {
    let after = json!({"is": "file", "sha256": "00", "bytes": 1, "mode": 420});
    json!({"path": path, "result": result, "before": {"is": "absent"}, "after": after})
}

fn answering(files: Vec<Value>) -> Fake {
    noting(files, &[])
}

fn noting(files: Vec<Value>, notes: &'static [&'static str]) -> Fake {
    Fake::start(move |call: &Call| {
        let seq = (call.params["dry_run"] == false).then_some(9);
        let answer = json!({"seq": seq, "turn": 2, "turns": 3, "files": files, "notes": notes});
        vec![FakeAction::Answer(answer)]
    })
}

#[test]
fn each_file_is_told_and_how_to_take_it_back() {
    let fake = answering(vec![
        file("/w/a.rs", &json!({"did": "restored"})),
        file("/w/b\u{1b}[31m.rs", &json!({"did": "same"})),
        json!({"path": "/w/new", "result": {"did": "restored"}, "before": {"is": "directory"}, "after": {"is": "absent"}}),
    ]);
    let done = run(&mut reasonix(&fake.home(), &["rewind", "3", "2"]));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(
        done.out,
        "restored: /w/a.rs\nalready in that state: /w/b\\u{1b}[31m.rs\nremoved: /w/new\n"
    );
    assert_eq!(
        done.err,
        "· session 3 is now at the end of turn 2; hidden: 3 turns\n  `reasonix rewind 3 --undo` undoes it\n"
    );
    let sent = &fake.params("session.rewind")[0];
    assert_eq!(
        (&sent["to_turn"], &sent["what"], &sent["undo"]),
        (&json!(2), &json!("both"), &json!(false))
    );
    assert!(sent["request_id"].is_string());
}

#[test]
fn rewind_exits_with_1_if_a_file_is_skipped_or_fails() {
    let left = answering(vec![file("/w/a", &json!({"did": "changed_since"}))]);
    let done = run(&mut reasonix(&left.home(), &["rewind", "3", "2"]));
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(1), "skipped, changed since: /w/a\n")
    );
    assert!(done.err.contains("--force"), "{}", done.err);
    let failed = answering(vec![file(
        "/w/a",
        &json!({"did": "failed", "why": "no room"}),
    )]);
    let done = run(&mut reasonix(
        &failed.home(),
        &["rewind", "3", "2", "--json"],
    ));
    assert_eq!(done.code, Some(1));
    let json: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(json["files"][0]["result"]["why"], "no room");
    let done = run(&mut reasonix(&failed.home(), &["rewind", "3", "2"]));
    assert_eq!(done.out, "not restored: no room: /w/a\n");
}

#[test]
fn rewind_reports_what_no_checkpoint_holds_and_exits_with_1() {
    let files = vec![file("/w/a", &json!({"did": "restored"}))];
    let fake = noting(files, &["`make` wrote outside"]);
    let done = run(&mut reasonix(&fake.home(), &["rewind", "3", "2"]));
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.err.contains("! `make` wrote outside"), "{}", done.err);
}

#[test]
fn a_note_reads_alike_in_the_list_and_in_the_rewind() {
    const NOTE: &str = "Changes by commands cannot be undone: this is not a git work tree.";
    let fake = Fake::start(|call: &Call| {
        let turn = json!({"turn": 1, "at": "2026-01-01T00:00:00.000Z", "prompt": "x", "files": [],
            "notes": [NOTE]});
        vec![FakeAction::Answer(match call.method.as_str() {
            "session.checkpoints" => json!({"turns": [turn], "undo": false}),
            _ => json!({"seq": 9, "turn": 0, "turns": 1, "files": [],
                "notes": [format!("Turn 1: {NOTE}")]}),
        })]
    });
    for (language, note) in [
        ("en", format!("! Turn 1: {NOTE}\n")),
        (
            "zh",
            "! 第 1 回合：命令所做的改动无法撤回：这里不是 git 工作树。\n".to_owned(),
        ),
    ] {
        for arguments in [["rewind", "3", "--list"], ["rewind", "3", "0"]] {
            let mut command = reasonix(&fake.home(), &arguments);
            let done = run(command.env("REASONIX_LANG", language));
            assert!(done.err.contains(&note), "{arguments:?}: {}", done.err);
        }
    }
}

#[test]
fn rewind_passes_its_options_to_the_daemon() {
    let fake = answering(vec![file("/w/a", &json!({"did": "restored"}))]);
    let dry = run(&mut reasonix(
        &fake.home(),
        &["rewind", "3", "2", "--dry-run", "--code", "--force"],
    ));
    assert_eq!(
        (dry.code, dry.out.as_str()),
        (Some(0), "would be restored: /w/a\n")
    );
    assert!(
        dry.err.contains("would be") && !dry.err.contains("--undo"),
        "{}",
        dry.err
    );
    let back = run(&mut reasonix(
        &fake.home(),
        &["rewind", "3", "--undo", "--conversation", "-q"],
    ));
    assert_eq!(back.out, "/w/a\n");
    assert!(back.err.contains("shown again: 3 turns"), "{}", back.err);
    let sent = fake.params("session.rewind");
    assert_eq!(
        (&sent[0]["what"], &sent[0]["force"], &sent[0]["dry_run"]),
        (&json!("code"), &json!(true), &json!(true))
    );
    assert_eq!(
        (&sent[1]["what"], &sent[1]["undo"]),
        (&json!("conversation"), &json!(true))
    );
    assert!(sent[1].get("to_turn").is_none());
}

#[test]
fn turns_to_go_back_to_are_listed() {
    let fake = Fake::start(|_: &Call| {
        let turn = json!({"turn": 1, "at": "2026-01-01T00:00:00.000Z", "prompt": "fix \u{1b}[31mit",
            "files": ["/w/a", "/w/b", "/w/c", "/w/d", "/w/e"], "notes": ["`make` was not watched"]});
        vec![FakeAction::Answer(json!({"turns": [turn], "undo": true}))]
    });
    let done = run(&mut reasonix(&fake.home(), &["rewind", "3", "--list"]));
    assert_eq!(done.code, Some(0), "{done:?}");
    let row = done.out.lines().nth(1).unwrap();
    assert!(
        row.starts_with("1     fix it  ") && row.ends_with("  /w/a /w/b /w/c +2"),
        "{row}"
    );
    assert!(
        done.err.contains("Turn 1: `make` was not watched") && done.err.contains("--undo"),
        "{}",
        done.err
    );
    let quiet = run(&mut reasonix(
        &fake.home(),
        &["rewind", "3", "--list", "-q"],
    ));
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("1\n", ""));
}

#[test]
fn a_session_that_runs_is_not_rewound() {
    let fake = Fake::start(|_: &Call| {
        vec![FakeAction::Refuse(Failure::new(
            ErrorName::Busy,
            "A turn runs.",
            "stop it with `reasonix kill -s INT 3`",
        ))]
    });
    let done = run(&mut reasonix(&fake.home(), &["rewind", "3", "2"]));
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""), "{done:?}");
    assert!(done.err.contains("kill -s INT"), "{}", done.err);
}
