//! Stored sessions: export, names, forks, search, prompts that are sent, statistics, logs of a time.

use std::process::Stdio;

use proto::{ErrorName, Failure};
use serde_json::{Value, json};

use crate::commands::summary;
use crate::fake::{Call, Fake, FakeAction, SESSION, attached, durable, sync};
use crate::program::{Running, reasonix, run};

const PROMPT: &str = "01890000-0000-7000-8000-0000000000aa";

fn not_found() -> FakeAction {
    FakeAction::Refuse(Failure::new(
        ErrorName::NotFound,
        "There is no session `9`.",
        "`reasonix ls` lists all",
    ))
}

/// Exports `whole`, in pieces of five bytes and then all the rest.
fn exporting(whole: &'static str) -> Fake {
    Fake::start(move |call: &Call| {
        if call.params["session"] == "9" {
            return vec![not_found()];
        }
        let start = usize::try_from(call.params["offset"].as_u64().unwrap()).unwrap();
        let end = if start == 0 { 5 } else { whole.len() };
        let next = (end < whole.len()).then_some(end);
        vec![FakeAction::Answer(
            json!({"text": whole[start..end], "total": whole.len(), "next": next}),
        )]
    })
}

#[test]
fn an_export_is_whole_on_standard_output_or_in_a_file_of_ones_own() {
    let fake = exporting("# One\n\ntwo \u{9b}31m\n");
    let out = run(&mut reasonix(&fake.home(), &["export", "3"]));
    assert_eq!(
        (out.code, out.out.as_str(), out.err.as_str()),
        (Some(0), "# One\n\ntwo \u{9b}31m\n", ""),
        "byte for byte"
    );
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.md");
    let path = file.to_str().unwrap();
    let arguments = ["export", "3", "--format", "jsonl", "-o", path];
    let done = run(&mut reasonix(&fake.home(), &arguments));
    assert_eq!((done.code, done.out.as_str()), (Some(0), ""), "{done:?}");
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "# One\n\ntwo \u{9b}31m\n"
    );
    assert_eq!(
        fake.params("session.export").last().unwrap()["format"],
        "jsonl"
    );
    let again = run(&mut reasonix(&fake.home(), &arguments));
    assert_eq!(again.code, Some(64), "{again:?}");
    assert!(again.err.contains("--force"), "{}", again.err);
    let forced = run(reasonix(&fake.home(), &arguments).arg("--force"));
    assert_eq!(forced.code, Some(0), "{forced:?}");
}

#[test]
fn an_export_that_fails_leaves_no_file() {
    let fake = Fake::start(|call: &Call| {
        let offset = call.params["offset"].as_u64().unwrap();
        // The second piece is not the one that was to come.
        let (text, next) = if offset == 0 {
            ("one", Some(3))
        } else {
            ("two", Some(99))
        };
        vec![FakeAction::Answer(
            json!({"text": text, "total": 50, "next": next}),
        )]
    });
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.md");
    let arguments = ["export", "3", "-o", file.to_str().unwrap()];
    let done = run(&mut reasonix(&fake.home(), &arguments));
    assert_eq!(done.code, Some(1), "{done:?}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    let nowhere = ["export", "3", "-o", "/nonexistent/a.md"];
    let done = run(&mut reasonix(&fake.home(), &nowhere));
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""), "{done:?}");
}

#[test]
fn a_reader_that_has_had_enough_ends_it_quietly() {
    let fake = exporting("# One\n\nand much more of it\n");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = reasonix(&fake.home(), &["export", "3"]);
    let done = run(command.stdout(Stdio::from(writer)));
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
}

#[test]
fn unknown_sessions_are_told_with_what_to_do() {
    let fake = Fake::start(|_: &Call| vec![not_found()]);
    for arguments in [
        &["show", "9"][..],
        &["show", "9", "--json"],
        &["export", "9"],
        &["rename", "9", "x"],
        &["fork", "9"],
        &["rewind", "9", "1"],
        &["rewind", "9", "--list"],
        &["close", "9"],
        &["rm", "9", "--yes"],
        &["send", "9", "x"],
        &["stats", "--session", "9"],
        &["logs", "--since", "10m", "9"],
    ] {
        let done = run(&mut reasonix(&fake.home(), arguments));
        assert_eq!(
            (done.code, done.out.as_str(), done.err.as_str()),
            (
                Some(64),
                "",
                "reasonix: There is no session `9`.\n  `reasonix ls` lists all\n"
            ),
            "{arguments:?}"
        );
    }
}

#[test]
fn commands_exit_with_69_if_no_daemon_can_be_started() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    for arguments in [
        &["show", "3"][..],
        &["export", "3"],
        &["rename", "3", "x"],
        &["fork", "3"],
        &["rewind", "3", "1"],
        &["close", "3"],
        &["rm", "3", "--yes"],
        &["search", "x"],
        &["send", "3", "x"],
        &["stats"],
    ] {
        let done = run(&mut reasonix(home.path(), arguments));
        assert_eq!(
            (done.code, done.out.as_str()),
            (Some(69), ""),
            "{arguments:?}"
        );
        assert_eq!(done.err.lines().count(), 2, "{arguments:?}: {}", done.err);
    }
}

#[test]
fn a_name_is_given_and_taken_away() {
    let fake = Fake::start(|call: &Call| {
        let mut answer = summary(3, "idle");
        answer["name"] = match call.params["name"].as_str() {
            Some("") => Value::Null,
            name => json!(name),
        };
        vec![FakeAction::Answer(answer)]
    });
    let named = run(&mut reasonix(&fake.home(), &["rename", "3", "the fix"]));
    assert_eq!(
        (named.code, named.err.as_str()),
        (Some(0), "· renamed session 3 to `the fix`\n")
    );
    let cleared = run(&mut reasonix(&fake.home(), &["rename", "3", "--clear"]));
    assert_eq!(cleared.err, "· removed the name of session 3\n");
    let names: Vec<_> = fake
        .params("session.set")
        .iter()
        .map(|params| params["name"].clone())
        .collect();
    assert_eq!(names, [json!("the fix"), json!("")]);
}

#[test]
fn a_fork_prints_its_pid_and_how_to_go_on() {
    let fake = Fake::start(|_: &Call| {
        vec![FakeAction::Answer(
            json!({"session": SESSION, "pid": 8, "at_turn": 2}),
        )]
    });
    let done = run(&mut reasonix(
        &fake.home(),
        &["fork", "3", "--at-turn", "2", "--name", "try"],
    ));
    assert_eq!((done.code, done.out.as_str()), (Some(0), "8\n"), "{done:?}");
    assert!(
        done.err.contains("reasonix run -s 8") && done.err.contains("reasonix attach 8"),
        "{}",
        done.err
    );
    let sent = &fake.params("session.fork")[0];
    assert_eq!(
        (&sent["session"], &sent["at_turn"], &sent["name"]),
        (&json!("3"), &json!(2), &json!("try"))
    );
    assert!(sent["fork"].is_string());
}

#[test]
fn sessions_are_closed_each_also_where_one_does_not_exist() {
    let fake = Fake::start(|call: &Call| match call.params["session"].as_str() {
        Some("9") => vec![not_found()],
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let done = run(&mut reasonix(&fake.home(), &["close", "9", "3"]));
    assert_eq!(done.code, Some(64), "{done:?}");
    assert_eq!(fake.params("session.close").len(), 2);
}

fn hit(pid: u64, turn: u64, text: &str) -> Value {
    let session = format!("01890000-0000-7000-8000-00000000000{pid}");
    json!({"session": session, "pid": pid, "name": "n", "cwd": "/w", "seq": 4, "turn": turn,
           "at": "2026-01-02T03:04:05.000Z", "role": "user", "text": text, "marks": [[0, 2], [1, 99]]})
}

#[test]
fn hits_are_printed_with_their_session_and_where_they_are() {
    let fake = Fake::start(|_: &Call| {
        let hits = [
            hit(5, 1, "the \u{1b}[31mred fox"),
            hit(5, 2, "a fox"),
            hit(3, 7, "fox"),
            hit(5, 9, "foxes"),
        ];
        vec![FakeAction::Answer(
            json!({"hits": hits, "matches": 9, "complete": false}),
        )]
    });
    let arguments = [
        "search",
        "red",
        "fox",
        "--here",
        "-n",
        "7",
        "--role",
        "user",
        "--since",
        "2026-01-01T00:00:00Z",
    ];
    let done = run(&mut reasonix(&fake.home(), &arguments));
    assert_eq!(
        done.out,
        "\
5 n · /w
  #4 turn 1 2026-01-02T03:04 user: the red fox
  #4 turn 2 2026-01-02T03:04 user: a fox

3 n · /w
  #4 turn 7 2026-01-02T03:04 user: fox

5 n · /w
  #4 turn 9 2026-01-02T03:04 user: foxes
"
    );
    assert!(done.err.contains("not all matches"), "{}", done.err);
    assert_eq!(
        fake.params("history.search")[0],
        json!({"query": "red fox", "scope": "project", "cwd": "/tmp", "role": "user",
               "since": "2026-01-01T00:00:00.000Z", "limit": 7})
    );
    let pids = run(&mut reasonix(
        &fake.home(),
        &["history", "search", "-q", "fox"],
    ));
    assert_eq!(pids.out, "5\n3\n");
    assert_eq!(fake.params("history.search")[1]["scope"], "global");
}

#[test]
fn a_search_reports_an_unfinished_index_and_too_many_matches() {
    let fake = Fake::start(|call: &Call| {
        vec![FakeAction::Answer(match call.params["query"].as_str() {
            Some("the") => {
                json!({"hits": [hit(3, 1, "the")], "matches": 20000, "complete": false, "too_many": true})
            }
            Some("none") => json!({"hits": [], "matches": 0, "complete": true}),
            _ => {
                json!({"hits": [], "matches": 0, "complete": false, "indexing": {"sessions": 3, "of": 9}})
            }
        })]
    });
    let said = |word: &str| run(&mut reasonix(&fake.home(), &["search", word])).err;
    assert!(said("the").contains("20,000"), "{}", said("the"));
    assert!(said("none").contains("other words"), "{}", said("none"));
    let building = said("x");
    assert!(
        building.contains("3 of 9") && !building.contains("no message"),
        "{building}"
    );
}

#[test]
fn messages_around_one_are_printed_whole() {
    let fake = Fake::start(|_: &Call| {
        let message = |seq: u64, role: &str, text: &str| json!({"seq": seq, "turn": 1, "at": "2026-01-02T03:04:05.000Z", "role": role, "text": text});
        let mut long = message(7, "assistant", "line 1\nline \u{1b}[31m2");
        long["cut"] = json!(9);
        vec![FakeAction::Answer(
            json!({"session": "01890000-0000-7000-8000-000000000003", "pid": 3, "cwd": "/w",
            "messages": [message(4, "user", "hello"), long], "earlier": true, "later": false}),
        )]
    });
    let done = run(&mut reasonix(
        &fake.home(),
        &["history", "around", "3", "#7", "-B", "1"],
    ));
    assert_eq!(
        done.out,
        "\
…
#4 turn 1 2026-01-02T03:04 user
hello

→ #7 turn 1 2026-01-02T03:04 assistant
line 1
line 2
… 9 more characters
"
    );
    assert_eq!(
        fake.params("history.around")[0],
        json!({"session": "3", "seq": 7, "before": 1, "after": 5})
    );
    let wrong = run(&mut reasonix(
        &fake.home(),
        &["history", "around", "3", "x"],
    ));
    assert_eq!(wrong.code, Some(64), "{wrong:?}");
}

#[test]
fn a_prompt_is_sent_and_not_waited_for() {
    let fake = Fake::start(|call: &Call| match call.method.as_str() {
        "session.prompt" => vec![FakeAction::Answer(
            json!({"prompt_id": PROMPT, "position": 2, "seq": 6}),
        )],
        _ => vec![FakeAction::Answer(
            json!({"part": "env", "shown": {}, "hidden": [], "lost": []}),
        )],
    });
    let done = run(&mut reasonix(
        &fake.home(),
        &["send", "3", "now", "the tests"],
    ));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.out, format!("{PROMPT}\n"));
    assert!(done.err.contains("2 prompts are before it"), "{}", done.err);
    run(&mut reasonix(&fake.home(), &["send", "3", "x", "--now"]));
    let mut piped = reasonix(&fake.home(), &["send", "3", "look:", "-", "--steer"]);
    piped.stdin(Stdio::piped());
    let mut running = Running::start(&mut piped);
    running.say("from the pipe");
    drop(running.child.stdin.take());
    assert_eq!(running.done().code, Some(0));
    let sent: Vec<_> = fake
        .params("session.prompt")
        .iter()
        .map(|params| (params["text"].clone(), params["when"].clone()))
        .collect();
    assert_eq!(
        sent,
        [
            (json!("now the tests"), json!("queue")),
            (json!("x"), json!("now")),
            (json!("look:\n\nfrom the pipe"), json!("steer")),
        ]
    );
    let nothing = run(&mut reasonix(&fake.home(), &["send", "3"]));
    assert_eq!(nothing.code, Some(64));
    assert!(nothing.err.contains("reasonix send"), "{}", nothing.err);
}

fn usage(prompt: u64, cost: u64, unknown: u64) -> Value {
    json!({"requests": 3, "prompt_tokens": prompt, "cached_tokens": prompt / 2, "output_tokens": 7,
           "reasoning_tokens": 0, "cost_micros": cost, "unknown_cost_calls": unknown})
}

#[test]
fn statistics_come_by_day_model_and_session_for_the_clock_of_who_asks() {
    let fake = Fake::start(|_: &Call| {
        vec![FakeAction::Answer(json!({
            "total": {"key": "total", "usage": usage(30_000, 1_234_500, 0), "turns": 2},
            "days": [{"key": "2026-11-21", "usage": usage(30_000, 1_234_500, 0), "turns": 2}],
            "purposes": [{"key": "answer", "usage": usage(9, 1, 0)}],
            "tools": [{"tool": "bash", "calls": 4, "failed": 1, "time_ms": 1500, "result_bytes": 900, "result_tokens": 225}],
            "models": [{"key": "p/m", "usage": usage(0, 0, 3)}],
            "sessions": [{"key": "3", "usage": usage(5, 100, 1)}],
        }))]
    });
    let table = |arguments: &[&str]| {
        let done = run(&mut reasonix(&fake.home(), arguments));
        assert_eq!(done.code, Some(0), "{done:?}");
        done.out
    };
    assert_eq!(
        table(&["stats"]),
        "\
DAY         REQUESTS  TURNS  SENT  CACHED  GOT  COST
2026-11-21  3         2      30k   50 %    7    $1.2345
total       3         2      30k   50 %    7    $1.2345
"
    );
    assert!(
        table(&["stats", "--by", "model"])
            .contains("p/m    3         -      0     -       7    not known")
    );
    assert!(
        table(&["stats", "--by", "session"]).contains("$0.0001 and one request of unknown price")
    );
    assert!(table(&["stats", "--by", "purpose"]).contains("answer   3         -      9"));
    assert_eq!(
        table(&["stats", "--by", "tool"]),
        "\
TOOL  CALLS  FAILED  TIME   RESULTS  TOKENS
bash  4      1       1.5 s  900 B    225
"
    );
    assert_eq!(
        fake.params("stats.query").last().unwrap()["tools"],
        json!(true)
    );
    assert_eq!(table(&["stats", "-q", "--by", "model"]), "p/m\n");
    // What a hook reads.
    let json: Value = serde_json::from_str(&table(&["stats", "--today", "--json"])).unwrap();
    assert_eq!(json["total"]["usage"]["cost_micros"], 1_234_500);
    assert_eq!(json["totalCostUsd"], 1.2345);
    for (name, wanted) in [
        ("promptTokens", 30_000),
        ("cachedTokens", 15_000),
        ("outputTokens", 7),
        ("turns", 2),
        ("requests", 3),
        ("unknownCostCalls", 0),
        ("cacheWriteTokens", 0),
    ] {
        assert_eq!(json[name], wanted, "{name}");
    }
    assert_eq!(json["cacheHitRatio"], 0.5);

    let mut there = reasonix(
        &fake.home(),
        &["stats", "--since", "2026-11-01", "--here", "--session", "3"],
    );
    run(there.env("TZ", "IST-5:30"));
    assert_eq!(
        fake.params("stats.query").last().unwrap(),
        &json!({"since": "2026-10-31T18:30:00.000Z", "session": "3", "cwd": "/tmp", "utc_offset_minutes": 330})
    );
    let wrong = run(&mut reasonix(&fake.home(), &["stats", "--since", "soon"]));
    assert_eq!(wrong.code, Some(64));
    assert!(wrong.err.contains("2026-11-01"), "{}", wrong.err);
}

#[test]
fn a_log_is_followed_from_where_it_is_wanted() {
    let fake = Fake::start(|call: &Call| match call.method.as_str() {
        "session.attach" => {
            let notice = durable(2, None, "notice", &json!({"level": "info", "text": "n2"}));
            vec![
                FakeAction::Answer(attached(2)),
                FakeAction::Event(notice),
                FakeAction::Event(sync(2)),
            ]
        }
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let arguments = ["log", "-f", "--since", "2", "3"];
    let running = Running::start(&mut reasonix(&fake.home(), &arguments));
    assert_eq!(fake.wait_for("session.attach", 1)["after_seq"], 1);
    running.signal(rustix::process::Signal::INT);
    assert_eq!(running.done().code, Some(130));
}

#[test]
fn logs_of_a_time_begin_with_its_first_record_and_do_not_read_what_is_before() {
    /// Records, one a minute.
    const COUNT: u64 = 1000;
    let begin = proto::Stamp::now().0 - i64::try_from(COUNT * 60_000).unwrap() - 30_000;
    let fake = Fake::start(move |call: &Call| {
        if call.method == "session.get" {
            let mut summary = summary(3, "idle");
            summary["seq"] = json!(COUNT);
            return vec![FakeAction::Answer(summary)];
        }
        let from = call.params["from_seq"].as_u64().unwrap();
        let limit = match call.params["limit"].as_u64() {
            Some(0) | None => 200,
            Some(limit) => limit,
        };
        let events: Vec<_> = (from..=COUNT)
            .take(usize::try_from(limit).unwrap())
            .map(|seq| {
                let mut event = durable(
                    seq,
                    None,
                    "notice",
                    &json!({"level": "info", "text": format!("n{seq}")}),
                );
                let at = proto::Stamp(begin + i64::try_from(seq * 60_000).unwrap());
                event["at"] = json!(at.to_string());
                event
            })
            .collect();
        vec![FakeAction::Answer(json!({"events": events, "epoch": 1}))]
    });
    let done = run(&mut reasonix(&fake.home(), &["logs", "--since", "3m", "3"]));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(done.out, "· n998\n· n999\n· n1000\n");
    assert!(fake.params("session.read").len() < 16);
    let all = run(&mut reasonix(&fake.home(), &["logs", "--since", "1s", "3"]));
    assert_eq!((all.code, all.out.as_str()), (Some(0), ""), "{all:?}");
}
