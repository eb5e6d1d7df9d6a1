//! Calls and followers against a fake daemon: which calls are repeated, which are not, and that no event is lost or doubled.

#[allow(
    dead_code,
    reason = "shared with other tests, which use other parts of it"
)]
mod fake;

use std::time::Duration;

use client::{
    CallError, Client, ConnectError, Follow, FollowEvent, FollowFrom, FollowUpdate, Listener,
    Options, SilenceNotice, Start,
};
use fake::{Fake, FakeAction, attached, durable, live, sync};
use proto::methods::{SessionCreate, SessionGet, SessionInterrupt, SessionList};
use proto::params::session::{CreateParams, ListParams, OneParams};
use proto::{ErrorName, Failure, Seq, SessionId};
use serde_json::{Value, json};

fn options(fake: &Fake) -> Options {
    let mut options = Options::new(client::paths::of_home(&fake.home()), "test");
    options.start = Start::Never;
    options.return_max = Duration::from_secs(10);
    options
}

async fn connect(fake: &Fake) -> Client {
    Client::connect(options(fake))
        .await
        .expect("connect to the fake")
}

fn one() -> OneParams {
    OneParams {
        session: "3".into(),
    }
}

/// The seqs of the durable events up to `last`, and how often it was reconnected on the way.
/// An event as it came.
fn wire(event: &client::DecodedEvent) -> proto::Event {
    serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap()
}

async fn seqs(follow: &mut Follow, last: u64) -> (Vec<u64>, usize) {
    let (mut seqs, mut marks) = (Vec::new(), 0);
    let all = async {
        while seqs.last() != Some(&last) {
            match follow.next().await.expect("the next event") {
                FollowEvent::Reconnected => marks += 1,
                FollowEvent::Event(event) => seqs.extend(event.seq.map(|seq| seq.0)),
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), all)
        .await
        .expect("the events come in time");
    (seqs, marks)
}

fn notice(seq: u64) -> Value {
    durable(
        seq,
        None,
        "notice",
        &json!({"level": "info", "text": format!("n{seq}")}),
    )
}

#[tokio::test]
async fn connect_without_daemon_or_autostart_returns_absent() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let mut options = Options::new(client::paths::of_home(home.path()), "test");
    options.start = Start::Never;
    assert!(matches!(
        Client::connect(options).await,
        Err(ConnectError::Absent { .. })
    ));
}

#[tokio::test]
async fn nothing_is_said_on_a_socket_whose_directory_others_can_write() {
    use std::os::unix::fs::PermissionsExt;
    let fake = Fake::start(|_| Vec::new());
    let run = fake.home().join("run");
    let mut options = options(&fake);
    // The socket of another home, as the rule for long paths puts it: outside of it, under a known name.
    options.paths.home = "/nonexistent".into();
    let mode = |mode| std::fs::set_permissions(&run, std::fs::Permissions::from_mode(mode));
    mode(0o777).unwrap();
    let refused = Client::connect(options.clone()).await.err();
    assert!(
        matches!(&refused, Some(ConnectError::Open { path, .. }) if *path == run),
        "{refused:?}"
    );
    mode(0o700).unwrap();
    assert!(Client::connect(options).await.is_ok());
}

#[tokio::test]
async fn a_refusal_comes_back_with_name_hint_and_details() {
    let refusal =
        Failure::new(ErrorName::NotFound, "no session `9`", "is it 3?").with("nearest", "3");
    let said = refusal.clone();
    let fake = Fake::start(move |_| vec![FakeAction::Refuse(said.clone())]);
    let error = connect(&fake)
        .await
        .call::<SessionGet>(&one())
        .await
        .unwrap_err();
    assert_eq!(error.failure(), Some(&refusal));
}

#[tokio::test]
async fn an_answer_of_another_form_is_no_answer() {
    let fake = Fake::start(|_| vec![FakeAction::Answer(json!({}))]);
    let error = connect(&fake)
        .await
        .call::<SessionList>(&ListParams::default())
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::Answer { .. }), "{error}");
}

#[tokio::test]
async fn what_changes_nothing_is_asked_again_after_a_break() {
    let fake = Fake::start(|call| match call.connection {
        0 => vec![FakeAction::Close],
        _ => vec![FakeAction::Answer(json!({"sessions": []}))],
    });
    let list = connect(&fake)
        .await
        .call::<SessionList>(&ListParams::default())
        .await
        .unwrap();
    assert_eq!(list.sessions, []);
    assert_eq!(fake.params("session.list").len(), 2);
}

#[tokio::test]
async fn a_create_is_repeated_under_the_same_id() {
    let fake = Fake::start(|call| match call.connection {
        0 => vec![FakeAction::Close],
        _ => vec![FakeAction::Answer(
            json!({"session": call.params["session"], "pid": 3, "model": "m"}),
        )],
    });
    let params = CreateParams {
        session: SessionId::new(),
        cwd: "/".into(),
        ..CreateParams::default()
    };
    let created = connect(&fake)
        .await
        .call::<SessionCreate>(&params)
        .await
        .unwrap();
    assert_eq!(created.session, params.session);
    let sent = fake.params("session.create");
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0], sent[1]);
}

#[tokio::test]
async fn what_cannot_be_repeated_is_lost_once_and_the_next_call_works() {
    let fake = Fake::start(|call| match call.connection {
        0 => vec![FakeAction::Close],
        _ => vec![FakeAction::Answer(json!({"delivered": true}))],
    });
    let client = connect(&fake).await;
    let error = client.call::<SessionInterrupt>(&one()).await.unwrap_err();
    assert!(matches!(error, CallError::Lost { .. }), "{error}");
    assert_eq!(fake.params("session.interrupt").len(), 1);
    assert!(
        client
            .call::<SessionInterrupt>(&one())
            .await
            .unwrap()
            .delivered
    );
}

#[tokio::test]
async fn a_break_loses_no_event_and_doubles_none() {
    let fake = Fake::start(|call| {
        if call.method != "session.attach" {
            return vec![FakeAction::Answer(json!({}))];
        }
        let mut acts = vec![FakeAction::Answer(attached(6))];
        match call.connection {
            0 => acts.extend(
                (1..=3)
                    .map(|seq| FakeAction::Event(notice(seq)))
                    .chain([FakeAction::Close]),
            ),
            // It sends more than was asked for: known events must not come out twice.
            _ => acts.extend(
                (2..=6)
                    .map(|seq| FakeAction::Event(notice(seq)))
                    .chain([FakeAction::Event(sync(6))]),
            ),
        }
        acts
    });
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    assert_eq!(seqs(&mut follow, 6).await, (vec![1, 2, 3, 4, 5, 6], 1));
    let attaches = fake.params("session.attach");
    assert_eq!(
        (&attaches[0]["after_seq"], &attaches[1]["after_seq"]),
        (&json!(0), &json!(3))
    );
    assert_eq!(
        (&attaches[1]["session"], &attaches[1]["epoch"]),
        (&json!(fake::SESSION), &json!(1))
    );
    assert_ne!(attaches[0]["subscription"], attaches[1]["subscription"]);
}

#[tokio::test]
async fn a_gap_is_asked_for_again_without_a_mark() {
    let mut attaches = 0;
    let fake = Fake::start(move |call| {
        if call.method != "session.attach" {
            return vec![FakeAction::Answer(json!({}))];
        }
        attaches += 1;
        let after = call.params["after_seq"].as_u64().unwrap();
        let events: Vec<u64> = if attaches == 1 {
            vec![1, 2, 5]
        } else {
            (after + 1..=5).collect()
        };
        let events = events.into_iter().map(|seq| FakeAction::Event(notice(seq)));
        std::iter::once(FakeAction::Answer(attached(5)))
            .chain(events)
            .collect()
    });
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    assert_eq!(seqs(&mut follow, 5).await, (vec![1, 2, 3, 4, 5], 0));
    // The subscription that was given up is ended on the daemon's side too.
    assert_eq!(
        fake.wait_for("session.detach", 1)["subscription"],
        fake.params("session.attach")[0]["subscription"]
    );
}

#[tokio::test]
async fn a_gap_that_stays_is_an_error_and_no_loop() {
    let fake = Fake::start(|call| match call.method.as_str() {
        "session.attach" => vec![
            FakeAction::Answer(attached(3)),
            FakeAction::Event(notice(1)),
            FakeAction::Event(notice(3)),
        ],
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    let error = loop {
        match follow.next().await {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(matches!(error, CallError::Gap { seq: Seq(2) }), "{error}");
}

#[tokio::test]
async fn a_sync_beyond_what_came_is_a_gap() {
    let mut attaches = 0;
    let fake = Fake::start(move |call| {
        if call.method != "session.attach" {
            return vec![FakeAction::Answer(json!({}))];
        }
        attaches += 1;
        match attaches {
            1 => vec![
                FakeAction::Answer(attached(2)),
                FakeAction::Event(notice(1)),
                FakeAction::Event(sync(2)),
            ],
            _ => vec![
                FakeAction::Answer(attached(2)),
                FakeAction::Event(notice(2)),
                FakeAction::Event(sync(2)),
            ],
        }
    });
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    assert_eq!(seqs(&mut follow, 2).await, (vec![1, 2], 0));
}

#[tokio::test]
async fn a_reader_that_sleeps_costs_bounded_memory_and_misses_nothing() {
    const ALL: u64 = 6_000;
    let fake = Fake::start(|call| {
        if call.method != "session.attach" {
            return vec![FakeAction::Answer(json!({"sessions": []}))];
        }
        let after = call.params["after_seq"].as_u64().unwrap();
        let events = (after + 1..=ALL).map(|seq| FakeAction::Event(notice(seq)));
        std::iter::once(FakeAction::Answer(attached(ALL)))
            .chain(events)
            .collect()
    });
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    // This answer comes after all events, so they all have been taken in or left out by then.
    client
        .call::<SessionList>(&ListParams::default())
        .await
        .unwrap();
    let (seqs, _) = seqs(&mut follow, ALL).await;
    assert_eq!(seqs, (1..=ALL).collect::<Vec<_>>());
    assert!(
        fake.params("session.attach").len() > 1,
        "the queue was never full"
    );
}

#[tokio::test]
async fn a_snapshot_with_backlog_goes_on_where_it_stands() {
    let snapshot = live("snapshot", &json!({}));
    let mut attaches = 0;
    let fake = Fake::start(move |call| {
        if call.method != "session.attach" {
            return vec![FakeAction::Answer(json!({}))];
        }
        attaches += 1;
        match attaches {
            1 => vec![
                FakeAction::Answer(attached(9)),
                FakeAction::Event(snapshot.clone()),
                FakeAction::Event(notice(8)),
                FakeAction::Event(notice(9)),
                FakeAction::Event(sync(9)),
                FakeAction::Close,
            ],
            _ => vec![
                FakeAction::Answer(attached(10)),
                FakeAction::Event(notice(10)),
            ],
        }
    });
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::Snapshot { backlog: 2 }, true)
        .await
        .unwrap();
    assert_eq!(seqs(&mut follow, 10).await, (vec![8, 9, 10], 1));
    let attaches = fake.params("session.attach");
    assert_eq!(
        (&attaches[0]["backlog"], &attaches[0]["after_seq"]),
        (&json!(2), &Value::Null)
    );
    assert_eq!(attaches[1]["after_seq"], 9);
}

#[tokio::test]
async fn a_log_that_was_repaired_is_followed_from_a_new_snapshot() {
    let fake =
        Fake::start(
            |call| match (call.method.as_str(), call.params["after_seq"].as_u64()) {
                ("session.attach", Some(0)) => {
                    vec![
                        FakeAction::Answer(attached(3)),
                        FakeAction::Event(notice(1)),
                        FakeAction::Close,
                    ]
                }
                ("session.attach", Some(_)) => {
                    vec![FakeAction::Refuse(Failure::new(
                        ErrorName::CursorStale,
                        "the log was repaired",
                        "",
                    ))]
                }
                ("session.attach", None) => {
                    vec![
                        FakeAction::Answer(attached(7)),
                        FakeAction::Event(sync(7)),
                        FakeAction::Event(notice(8)),
                    ]
                }
                _ => vec![FakeAction::Answer(json!({}))],
            },
        );
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    assert_eq!(seqs(&mut follow, 8).await, (vec![1, 8], 1));
}

#[tokio::test]
async fn events_of_subscriptions_that_nobody_has_are_dropped() {
    let fake = Fake::start(|call| match call.method.as_str() {
        "session.attach" => vec![
            FakeAction::Answer(attached(1)),
            FakeAction::EventOf("nobody".into(), notice(1)),
            FakeAction::Event(durable(
                1,
                None,
                "of.the.future",
                &json!({"z": [1, 2.5], "a": null}),
            )),
        ],
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    let FollowEvent::Event(event) = follow.next().await.unwrap() else {
        panic!("a mark came first")
    };
    // A kind that this build does not know comes through byte for byte.
    let event = wire(&event);
    assert_eq!(
        (event.kind.as_str(), event.data.get()),
        ("of.the.future", r#"{"z":[1,2.5],"a":null}"#)
    );
}

#[tokio::test]
async fn a_prompt_that_fits_no_frame_is_refused_here() {
    let fake = Fake::start(|_| vec![FakeAction::Close]);
    let params = CreateParams {
        prompt: Some("x".repeat(5 << 20)),
        ..CreateParams::default()
    };
    let error = connect(&fake)
        .await
        .call::<SessionCreate>(&params)
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::TooLarge { .. }), "{error}");
    assert_eq!(fake.calls().len(), 0);
}

#[tokio::test]
async fn a_subscription_that_the_daemon_ends_is_attached_to_again_after_what_came() {
    let mut attaches = 0;
    let fake = Fake::start(move |call| {
        if call.method != "session.attach" {
            return vec![FakeAction::Answer(json!({}))];
        }
        attaches += 1;
        let mut acts = vec![FakeAction::Answer(attached(4))];
        match attaches {
            1 => acts.extend([
                FakeAction::Event(notice(1)),
                FakeAction::Event(notice(2)),
                FakeAction::Ended(None),
            ]),
            _ => acts.extend([FakeAction::Event(notice(3)), FakeAction::Event(notice(4))]),
        }
        acts
    });
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    assert_eq!(seqs(&mut follow, 4).await, (vec![1, 2, 3, 4], 1));
    assert_eq!(fake.params("session.attach")[1]["after_seq"], 2);
}

#[tokio::test]
async fn a_subscription_that_is_ended_again_at_once_fails_with_what_the_daemon_says() {
    let fake = Fake::start(|call| match call.method.as_str() {
        "session.attach" => {
            let failure = Failure::new(ErrorName::Internal, "It has a bug.", "Look at it.");
            vec![
                FakeAction::Answer(attached(3)),
                FakeAction::Ended(Some(failure)),
            ]
        }
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    let again = follow.next().await;
    assert!(matches!(again, Ok(FollowEvent::Reconnected)), "{again:?}");
    let error = follow.next().await.expect_err("no third time");
    assert_eq!(
        error.failure().map(|failure| failure.name),
        Some(ErrorName::Internal)
    );
    assert_eq!(fake.params("session.attach").len(), 2);
}

#[tokio::test]
async fn a_follower_of_a_daemon_that_leaves_waits_for_the_next_one() {
    let mut attaches = 0;
    let fake = Fake::start(move |call| {
        if call.method != "session.attach" {
            return vec![FakeAction::Answer(json!({}))];
        }
        attaches += 1;
        match attaches {
            1 => vec![
                FakeAction::Answer(attached(2)),
                FakeAction::Event(notice(1)),
                FakeAction::Ended(None),
            ],
            2 => {
                let failure = Failure::new(ErrorName::ShuttingDown, "It leaves.", "");
                vec![FakeAction::Refuse(failure), FakeAction::Close]
            }
            _ => vec![
                FakeAction::Answer(attached(2)),
                FakeAction::Event(notice(2)),
            ],
        }
    });
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    assert_eq!(seqs(&mut follow, 2).await, (vec![1, 2], 1));
}

#[tokio::test]
async fn an_event_too_large_for_a_frame_comes_whole_and_in_its_place() {
    let data = json!({"level": "info", "text": "ä".repeat(9)}).to_string();
    let total = data.len();
    let fake = Fake::start(move |call| match call.method.as_str() {
        "session.attach" => vec![
            FakeAction::Answer(attached(3)),
            FakeAction::Event(notice(1)),
            FakeAction::Event(durable(
                2,
                None,
                "notice",
                &json!({"oversized_bytes": 2_000_000}),
            )),
            FakeAction::Event(notice(3)),
        ],
        "session.event" => {
            let start = usize::try_from(call.params["offset"].as_u64().unwrap()).unwrap();
            let end = if start == 0 { 11 } else { total };
            let next = (end < total).then_some(end);
            vec![FakeAction::Answer(
                json!({"text": data[start..end], "total": total, "next": next}),
            )]
        }
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    let mut texts = Vec::new();
    for _ in 0..3 {
        let FollowEvent::Event(event) = follow.next().await.unwrap() else {
            panic!("a mark")
        };
        let data: Value = serde_json::from_str(wire(&event).data.get()).unwrap();
        texts.push(data["text"].as_str().unwrap().to_owned());
    }
    assert_eq!(texts, ["n1", "ä".repeat(9).as_str(), "n3"]);
    assert_eq!(
        fake.params("session.event"),
        [
            json!({"session": fake::SESSION, "seq": 2, "offset": 0}),
            json!({"session": fake::SESSION, "seq": 2, "offset": 11}),
        ]
    );
}

#[tokio::test]
async fn what_is_read_back_is_whole_page_by_page_and_no_more_than_asked_for() {
    let fake = Fake::start(move |call| match call.method.as_str() {
        "session.read" => {
            let from = call.params["from_seq"].as_u64().unwrap();
            let large = durable(from, None, "notice", &json!({"oversized_bytes": 2_000_000}));
            vec![FakeAction::Answer(
                json!({"events": [large, notice(from + 1)], "next": from + 2, "epoch": 1}),
            )]
        }
        "session.event" => {
            let data = json!({"level": "info", "text": "whole"}).to_string();
            vec![FakeAction::Answer(
                json!({"text": data, "total": data.len(), "next": null}),
            )]
        }
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let client = connect(&fake).await;
    let mut texts = Vec::new();
    let each = |event: client::DecodedEvent| {
        let data: Value = serde_json::from_str(wire(&event).data.get()).unwrap();
        texts.push(data["text"].as_str().unwrap_or("none").to_owned());
        Ok::<(), CallError>(())
    };
    client.read("3", Seq(5), Some(4), each).await.unwrap();
    assert_eq!(texts, ["whole", "n6", "whole", "n8"]);
    let asked = fake.params("session.read");
    let limits: Vec<_> = asked
        .iter()
        .map(|params| params["limit"].as_u64())
        .collect();
    assert_eq!(limits, [Some(4), Some(2)]);
}

#[tokio::test]
async fn an_event_that_cannot_be_had_whole_comes_as_it_was_sent_once() {
    for (bytes, act, asked) in [
        (2_000_000, FakeAction::Unknown, 1),
        (
            2_000_000,
            FakeAction::Answer(json!({"text": "{}", "total": 9, "next": 1})),
            1,
        ),
        (65 << 20, FakeAction::Unknown, 0),
    ] {
        let fake = Fake::start(move |call| match call.method.as_str() {
            "session.attach" => vec![
                FakeAction::Answer(attached(2)),
                FakeAction::Event(durable(
                    1,
                    None,
                    "notice",
                    &json!({"oversized_bytes": bytes}),
                )),
                FakeAction::Event(notice(2)),
            ],
            "session.event" => vec![act.clone()],
            _ => vec![FakeAction::Answer(json!({}))],
        });
        let client = connect(&fake).await;
        let mut follow = client
            .follow("3", FollowFrom::After(Seq(0)), false)
            .await
            .unwrap();
        let FollowEvent::Event(event) = follow.next().await.unwrap() else {
            panic!("a mark")
        };
        assert_eq!(client::whole::oversized(&wire(&event)), Some(bytes));
        assert_eq!(seqs(&mut follow, 2).await, (vec![2], 0));
        assert_eq!(fake.params("session.event").len(), asked);
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_in_the_middle_of_a_fetch_loses_nothing() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let fake = Fake::start(move |call| match call.method.as_str() {
        "session.attach" => vec![
            FakeAction::Answer(attached(1)),
            FakeAction::Event(durable(1, None, "notice", &json!({"oversized_bytes": 9}))),
        ],
        "session.event" if call.params["offset"] == 0 => {
            vec![FakeAction::Answer(
                json!({"text": "{\"a\"", "total": 8, "next": 4}),
            )]
        }
        "session.event" => {
            let _ = wait.recv_timeout(Duration::from_secs(20));
            vec![FakeAction::Answer(json!({"text": ":12}", "total": 8}))]
        }
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    // It ends when the second piece was asked for and does not come.
    tokio::select! {
        next = follow.next() => panic!("{next:?} came"),
        () = async {
            while fake.params("session.event").is_empty() {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    go.send(()).unwrap();
    go.send(()).unwrap();
    let next = tokio::time::timeout(Duration::from_secs(20), follow.next()).await;
    let Ok(Ok(FollowEvent::Event(event))) = next else {
        panic!("{next:?}")
    };
    let event = wire(&event);
    assert_eq!((event.seq, event.data.get()), (Some(Seq(1)), r#"{"a":12}"#));
}

#[tokio::test]
async fn a_log_that_has_become_shorter_is_followed_anew_and_not_in_silence() {
    let fake =
        Fake::start(
            |call| match (call.method.as_str(), call.params["after_seq"].as_u64()) {
                ("session.attach", Some(0)) => {
                    vec![
                        FakeAction::Answer(attached(2)),
                        FakeAction::Event(notice(1)),
                        FakeAction::Event(notice(2)),
                        FakeAction::Close,
                    ]
                }
                // Restored from an old copy, by a daemon that does not notice.
                ("session.attach", Some(_)) => {
                    vec![FakeAction::Answer(attached(1)), FakeAction::Event(sync(1))]
                }
                ("session.attach", None) => vec![
                    FakeAction::Answer(attached(1)),
                    FakeAction::Event(sync(1)),
                    FakeAction::Event(notice(2)),
                ],
                _ => vec![FakeAction::Answer(json!({}))],
            },
        );
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    assert_eq!(seqs(&mut follow, 2).await, (vec![1, 2], 0));
    let mut marks = 0;
    loop {
        match follow.next().await.unwrap() {
            FollowEvent::Reconnected => marks += 1,
            FollowEvent::Event(event) if event.seq.is_some() => {
                assert_eq!((event.seq, marks), (Some(Seq(2)), 2));
                break;
            }
            FollowEvent::Event(_) => {}
        }
    }
}

#[tokio::test]
async fn a_daemon_that_closes_every_connection_is_not_asked_without_pause() {
    let fake = Fake::start(|call| match call.method.as_str() {
        "session.attach" => vec![
            FakeAction::Answer(attached(1)),
            FakeAction::Event(sync(1)),
            FakeAction::Close,
        ],
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::After(Seq(1)), false)
        .await
        .unwrap();
    let busy = async {
        loop {
            follow.next().await.expect("it comes back each time");
        }
    };
    let in_vain = tokio::time::timeout(Duration::from_secs(2), busy).await;
    assert!(in_vain.is_err());
    let attaches = fake.params("session.attach").len();
    assert!((3..20).contains(&attaches), "{attaches} in two seconds");
}

/// A listener that sends its notices.
fn listen(options: &mut Options) -> tokio::sync::mpsc::UnboundedReceiver<SilenceNotice> {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    options.listener = Some(Listener::new(move |notice| {
        let _ = sender.send(notice);
    }));
    receiver
}

#[tokio::test]
async fn a_daemon_that_does_not_answer_is_told_once_and_waited_for() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let fake = Fake::start(move |call| match call.method.as_str() {
        "session.attach" => vec![FakeAction::Answer(attached(0))],
        // Nothing but this comes after the attach: it is stopped until the test says so.
        "daemon.status" => {
            let _ = wait.recv_timeout(Duration::from_secs(20));
            vec![FakeAction::Answer(json!({}))]
        }
        _ => vec![FakeAction::Answer(json!({"sessions": []}))],
    });
    let mut options = options(&fake);
    options.silence = Duration::from_millis(50);
    let mut notices = listen(&mut options);
    let client = Client::connect(options).await.unwrap();
    let follow = client
        .follow("3", FollowFrom::After(Seq(0)), false)
        .await
        .unwrap();
    let after = Duration::from_millis(50);
    assert_eq!(
        notices.recv().await,
        Some(SilenceNotice::NoAnswer { after })
    );
    // A call waits as well, and nothing is reported twice.
    let params = ListParams::default();
    let call = client.call::<SessionList>(&params);
    tokio::pin!(call);
    let early = tokio::time::timeout(after * 3, &mut call).await;
    assert!(early.is_err() && notices.try_recv().is_err());
    go.send(()).unwrap();
    call.await.unwrap();
    assert_eq!(notices.recv().await, Some(SilenceNotice::Answers));
    drop((follow, go));
}

#[tokio::test]
async fn a_method_that_an_older_daemon_does_not_know_is_told_as_that() {
    let fake = Fake::of_version("0.0.1", |_| vec![FakeAction::Unknown]);
    let error = connect(&fake)
        .await
        .call::<SessionGet>(&one())
        .await
        .unwrap_err();
    let failure = error.failure().unwrap();
    assert_eq!(failure.name, ErrorName::ProtocolMismatch);
    assert!(
        failure.message.contains("0.0.1") && failure.hint.contains("daemon restart"),
        "{failure:?}"
    );
    let fake = Fake::start(|_| vec![FakeAction::Unknown]);
    let error = connect(&fake)
        .await
        .call::<SessionGet>(&one())
        .await
        .unwrap_err();
    assert_eq!(
        error.failure().map(|failure| failure.name),
        Some(ErrorName::NotFound)
    );
}

#[tokio::test]
async fn what_happens_between_a_snapshot_and_the_next_connection_is_not_skipped() {
    let session = json!({
        "session": fake::SESSION, "pid": 3, "ppid": 0, "cwd": "/tmp", "model": "p/m", "kind": "interactive",
        "state": "idle", "cause": "x", "approval_mode": "ask", "turns": 2, "context_tokens": 0, "context_window": 0,
        "usage": {"requests": 0, "prompt_tokens": 0, "cached_tokens": 0, "output_tokens": 0, "reasoning_tokens": 0,
                  "cost_micros": 0, "unknown_cost_calls": 0},
        "created_at": "2026-01-01T00:00:00.000Z", "active_at": "2026-01-01T00:00:00.000Z", "last_line": "",
        "queued": 0, "attached": 0, "pending_interactions": 0, "seq": 7,
    });
    let state = json!({"seq": 7, "epoch": 1, "session": session, "queue": []});
    let fake =
        Fake::start(
            move |call| match (call.method.as_str(), call.params["after_seq"].as_u64()) {
                ("session.attach", None) => vec![
                    FakeAction::Answer(attached(7)),
                    FakeAction::Event(live("snapshot", &state)),
                    FakeAction::Close,
                ],
                ("session.attach", Some(after)) => {
                    let mut acts = vec![FakeAction::Answer(attached(9))];
                    acts.extend((after + 1..=9).map(|seq| FakeAction::Event(notice(seq))));
                    acts
                }
                _ => vec![FakeAction::Answer(json!({}))],
            },
        );
    let client = connect(&fake).await;
    let mut follow = client
        .follow("3", FollowFrom::Snapshot { backlog: 0 }, true)
        .await
        .unwrap();
    assert_eq!(seqs(&mut follow, 9).await, (vec![8, 9], 1));
}

/// A session whose log cannot be written.
fn unwritable(read_only: Value) -> Fake {
    Fake::start(move |call| match call.method.as_str() {
        "session.attach" => {
            let failure = Failure::new(ErrorName::Storage, "It is full.", "");
            vec![
                FakeAction::Answer(attached(0)),
                FakeAction::Event(sync(0)),
                FakeAction::Ended(Some(failure)),
            ]
        }
        _ => vec![FakeAction::Answer(json!({
            "session": fake::SESSION, "pid": 3, "ppid": 0, "name": null, "labels": [], "cwd": "/tmp",
            "model": "p/m", "kind": "interactive", "state": "running", "cause": "x", "approval_mode": "ask", "turns": 2,
            "usage": {"requests": 1, "prompt_tokens": 0, "cached_tokens": 0, "output_tokens": 0,
                      "reasoning_tokens": 0, "cost_micros": 0, "unknown_cost_calls": 0},
            "context_tokens": 0, "context_window": 0, "created_at": "2026-01-01T00:00:00.000Z",
            "active_at": "2026-01-02T03:04:05.000Z", "last_line": "last", "queued": 0, "pending_interactions": 0,
            "attached": 0, "seq": 9, "read_only": read_only,
        }))],
    })
}

#[tokio::test]
async fn unwritable_log_is_waited_for_until_the_timeout_and_reported_once() {
    let fake = unwritable("full".into());
    let client = connect(&fake).await;
    let from = FollowFrom::After(Seq(0));
    let mut follow = client.follow("3", from, false).await.unwrap();
    let at_once = loop {
        match follow.next().await {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(
        matches!(&at_once, CallError::Failure(failure) if failure.name == ErrorName::Storage),
        "{at_once:?}"
    );
    assert!(
        fake.params("session.get").is_empty(),
        "it is not waited for"
    );

    let mut follow = client.follow("3", from, false).await.unwrap();
    follow.wait_while_unwritable(Duration::from_secs(3));
    let mut notices = 0;
    let begun = std::time::Instant::now();
    let error = loop {
        match follow.heard().await {
            Ok(FollowUpdate::Unwritable(failure)) => {
                assert_eq!(failure.message, "It is full.");
                notices += 1;
            }
            Ok(FollowUpdate::FollowEvent(FollowEvent::Event(_))) => {}
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error,
        }
    };
    assert_eq!(notices, 1);
    assert!(begun.elapsed() >= Duration::from_secs(3), "{error:?}");
    assert_eq!(
        error.failure().map(|failure| failure.name),
        Some(ErrorName::Storage)
    );
    assert_eq!(
        fake.params("session.attach").len(),
        2,
        "it was read-only all the time"
    );
}

#[tokio::test]
async fn who_comes_while_the_daemon_is_stopping_waits_for_its_end() {
    let fake = Fake::start(|_| vec![FakeAction::Answer(json!({}))]);
    fake.speaks(
        0,
        Failure::new(ErrorName::ShuttingDown, "It is stopping.", ""),
    );
    let mut options = options(&fake);
    options.start = Start::AtFirst;
    let connecting = tokio::spawn(Client::connect(options));
    // Longer than one that only starts may take.
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert!(!connecting.is_finished(), "it has given up");
    fake.speaks(1, Failure::new(ErrorName::ShuttingDown, "", ""));
    let connected = connecting.await.unwrap();
    assert!(connected.is_ok(), "{:?}", connected.err());
}

#[tokio::test]
async fn a_daemon_that_goes_is_told_before_the_next_one_is_there() {
    for (ending, lost) in [
        (FakeAction::Ended(None), "lost"),
        (FakeAction::Close, "lost"),
        (FakeAction::Close, "stopped"),
    ] {
        let mut first = true;
        let fake = Fake::start(move |_| {
            let mut acts = vec![FakeAction::Answer(attached(0)), FakeAction::Event(sync(0))];
            if std::mem::take(&mut first) {
                acts.push(ending.clone());
            }
            acts
        });
        if lost == "stopped" {
            // Before it goes, as the daemon does it.
            std::fs::File::create(fake.home().join("run/stop")).unwrap();
        }
        let client = connect(&fake).await;
        let from = FollowFrom::After(Seq(0));
        let mut follow = client.follow("3", from, false).await.unwrap();
        let mut heard = Vec::new();
        while heard.len() < 4 {
            heard.push(match follow.heard().await.unwrap() {
                FollowUpdate::FollowEvent(FollowEvent::Event(event)) => event.kind().to_owned(),
                FollowUpdate::FollowEvent(FollowEvent::Reconnected) => "again".to_owned(),
                FollowUpdate::Lost { stopped } => match stopped {
                    true => "stopped".to_owned(),
                    false => "lost".to_owned(),
                },
                FollowUpdate::Unwritable(_) => "unwritable".to_owned(),
            });
        }
        assert_eq!(heard, ["sync", lost, "again", "sync"]);
    }
}
