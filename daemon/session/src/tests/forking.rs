//! Forks: the same conversation up to a turn, in a session of its own.

use std::fs;

use proto::params::history::{ForkParams, What};
use proto::params::session::{CreateParams, InspectOutput, InspectParams, InspectPart};
use proto::record::SessionRewound;
use proto::state::{Kind, State};
use proto::{Body, ErrorName, Failure, Record, SessionId, Stamp};
use store::format::{Envelope, encode};
use store::log::LogFile;

use super::world::World;

const TALK: &str = r#"{"text":"I mark.","tool_calls":[{"name":"mark","arguments":{"command":"one"}}]}
{"text":"Marked."}
{"text":"Second."}
{"text":"Third."}
{"text":"Fourth."}
{"text":"Fifth."}"#;

fn request(session: &str, at_turn: Option<u64>) -> ForkParams {
    ForkParams {
        kind: None,
        ephemeral: false,
        session: session.into(),
        fork: SessionId::new(),
        at_turn,
        name: Some("other way".into()),
    }
}

fn records(world: &World, session: SessionId) -> Vec<Record> {
    let mut records = Vec::new();
    store::log::read(&world.home.session_dir(session), &mut |raw| {
        records.push(raw.record().unwrap());
    })
    .unwrap();
    records
}

fn fragments(world: &World, session: SessionId) -> Vec<String> {
    let mut fragments = Vec::new();
    store::log::read(&world.home.session_dir(session), &mut |raw| {
        fragments.extend(raw.fragment_text().map(str::to_owned));
    })
    .unwrap();
    fragments
}

async fn id(world: &World, session: &str) -> SessionId {
    world.supervisor.find_id(session).await.unwrap()
}

/// What two texts begin with alike.
fn common(one: &str, other: &str) -> usize {
    let pairs = one.bytes().zip(other.bytes());
    pairs.take_while(|(one, other)| one == other).count()
}

/// Appends a record to the log of a session that is not loaded.
fn append(world: &World, session: SessionId, body: &Body) {
    let dir = world.home.session_dir(session);
    let opened = LogFile::open(&dir, &mut |_| {}).unwrap();
    let line = encode(&Envelope {
        seq: opened.index.last().next(),
        at: Stamp::now(),
        turn: None,
        durable: opened.index.last(),
        kind: body.kind(),
        data: &body.to_json().unwrap(),
        own: None,
        fragment: None,
    });
    opened.file.append(&[line.bytes]).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_request_of_a_fork_extends_the_origins_byte_for_byte() {
    let world = World::new(TALK);
    let origin = world.begin("mark it").await;
    world.prompt(&origin, "more").await.unwrap();
    let before = world.sent();
    let made = world
        .supervisor
        .fork(request(&origin, Some(1)))
        .await
        .unwrap();
    assert_eq!(made.at_turn, 1);
    let fork = made.pid.to_string();
    world.prompt(&fork, "another way").await.unwrap();
    let sent = world.sent();
    // The request after the first turn has what the origin's second turn had, up to its prompt.
    let (of_origin, of_fork) = (&before[2], &sent[3]);
    let answer = of_origin.find("Marked.\"").unwrap() + "Marked.\"".len();
    assert!(
        common(of_origin, of_fork) >= answer,
        "{of_origin}\n{of_fork}"
    );
    assert!(of_fork.contains("another way") && !of_fork.contains("more"));
    // And the fork counts its answers as the script does.
    let summary = world.supervisor.summary(&fork).await.unwrap();
    assert_eq!(summary.last_line, "Second.");
    assert_eq!((summary.turns, summary.usage.requests), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_without_a_name_has_the_title_of_its_origin() {
    let world = World::new(TALK);
    let origin = world.begin("mark it").await;
    let unnamed = |session: &str| ForkParams {
        name: None,
        ..request(session, None)
    };
    let made = world.supervisor.fork(unnamed(&origin)).await.unwrap();
    let fork = made.pid.to_string();
    let summary = world.supervisor.summary(&fork).await.unwrap();
    assert_eq!(summary.title, "mark it");
    // Its own prompts change nothing in that, and a fork of it is called so too.
    world.prompt(&fork, "another way").await.unwrap();
    let summary = world.supervisor.summary(&fork).await.unwrap();
    assert_eq!(summary.title, "mark it");
    let again = world.supervisor.fork(unnamed(&fork)).await.unwrap();
    let summary = world.supervisor.summary(&again.pid.to_string()).await;
    assert_eq!(summary.unwrap().title, "mark it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_has_an_estimated_context_before_its_first_request() {
    let world = World::new(TALK);
    let origin = world.begin("mark it").await;
    let made = world.supervisor.fork(request(&origin, None)).await.unwrap();
    let fork = world.supervisor.find(&made.pid.to_string()).await.unwrap();
    let asked = InspectParams {
        session: made.pid.to_string(),
        part: InspectPart::Context,
    };
    let context = world.supervisor.inspect(&asked).await.unwrap();
    let InspectOutput::Context {
        tokens, estimated, ..
    } = context
    else {
        panic!("{context:?}")
    };
    assert!(tokens > 0 && estimated, "{tokens} {estimated}");
    assert_eq!(fork.forecast().await.unwrap().prompt_tokens, tokens);
    // A session without a conversation has no context.
    let params = world.create_params("", Kind::Interactive);
    let empty = world
        .create(CreateParams {
            prompt: None,
            ..params
        })
        .await
        .unwrap();
    assert_eq!(empty.forecast().await.unwrap().prompt_tokens, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn fork_copies_the_conversation_but_no_usage() {
    let mut world = World::new(TALK);
    let origin = world.begin("mark it").await;
    world.prompt(&origin, "more").await.unwrap();
    let made = world.supervisor.fork(request(&origin, None)).await.unwrap();
    assert_eq!(made.at_turn, 2);
    let (from, to) = (id(&world, &origin).await, made.session);
    assert_eq!(fragments(&world, from), fragments(&world, to));
    let new = records(&world, to);
    assert!(
        new.iter()
            .map(|record| record.seq.0)
            .eq(1..=new.len() as u64)
    );
    let kinds: Vec<_> = new.iter().map(|record| record.body.kind()).collect();
    for kind in ["usage", "prompt.queued", "interaction.opened"] {
        assert!(!kinds.contains(&kind), "{kinds:?}");
    }
    for record in &new {
        if let Body::TurnEnded(ended) = &record.body {
            assert_eq!(ended.usage, proto::outcome::UsageTotals::default());
        }
    }
    let (old, new) = (
        turn::Facts::fold(&records(&world, from)),
        turn::Facts::fold(&new),
    );
    assert_eq!(
        (new.turns, new.answered, new.spoken, &new.call_ids),
        (old.turns, old.answered, old.spoken, &old.call_ids)
    );
    assert_eq!(new.marks.len(), old.marks.len());
    assert!(new.open.is_none() && new.queue.is_empty() && !new.unsettled);
    assert_eq!(new.usage.requests, 0);
    let (was, is) = (old.created.unwrap(), new.created.unwrap());
    assert_eq!(
        (&is.prefix_sha256, &is.env, &is.options.rules),
        (&was.prefix_sha256, &was.env, &was.options.rules)
    );
    assert_eq!(is.options.name.as_deref(), Some("other way"));
    let origin_of = is.origin.unwrap();
    assert_eq!(
        (origin_of.session, origin_of.turn, origin_of.first),
        (from, 2, from)
    );
    // It is listed, and outlives the daemon.
    world.restart().await;
    let summary = world.supervisor.summary("other way").await.unwrap();
    assert_eq!((summary.session, summary.state), (to, State::Idle));
    // A fork of a fork knows the first of all.
    let again = world
        .supervisor
        .fork(request("other way", Some(1)))
        .await
        .unwrap();
    let summary = world
        .supervisor
        .summary(&again.pid.to_string())
        .await
        .unwrap();
    let origin_of = summary.origin.unwrap();
    assert_eq!((origin_of.session, origin_of.first), (to, from));
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_fork_request_returns_the_same_session() {
    let world = World::new(TALK);
    let origin = world.begin("mark it").await;
    let request = request(&origin, None);
    let (one, other) = tokio::join!(
        world.supervisor.fork(request.clone()),
        world.supervisor.fork(request.clone())
    );
    let one = one.unwrap();
    assert_eq!(one, other.unwrap());
    assert_eq!(world.supervisor.fork(request.clone()).await.unwrap(), one);
    let foreign = ForkParams {
        ephemeral: false,
        session: one.pid.to_string(),
        ..request
    };
    let refused = world.supervisor.fork(foreign).await.unwrap_err();
    assert_eq!(refused.name, ErrorName::RequestIdReused);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_turns_that_are_shown_and_have_ended_can_be_forked() {
    let mut world = World::new(TALK);
    let origin = world.begin("mark it").await;
    for text in ["two", "three"] {
        world.prompt(&origin, text).await.unwrap();
    }
    let session = id(&world, &origin).await;
    world.supervisor.shutdown().await;
    let facts = turn::Facts::fold(&records(&world, session));
    let rewound = SessionRewound {
        to_turn: 1,
        what: What::Conversation,
        undoes: None,
        shown: Some(facts.plan_rewind(1).unwrap().shown),
        todos: None,
        files: Vec::new(),
        by: "ann".into(),
        request_id: None,
    };
    append(&world, session, &Body::SessionRewound(rewound));
    world.restart().await;
    world.prompt(&origin, "four").await.unwrap();
    let refused = |failure: Failure| (failure.name, failure.hint);
    for turn in [0, 2, 3, 9] {
        let (name, hint) = refused(
            world
                .supervisor
                .fork(request(&origin, Some(turn)))
                .await
                .unwrap_err(),
        );
        assert_eq!(name, ErrorName::NotFound);
        assert!(hint.contains("1, 4"), "{hint}");
    }
    let made = world.supervisor.fork(request(&origin, None)).await.unwrap();
    assert_eq!(made.at_turn, 4);
    let said: Vec<_> = records(&world, made.session)
        .into_iter()
        .filter_map(|record| match record.body {
            Body::User(message) => Some(message.text),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["mark it", "four"]);
    // Its next turn has the next number.
    world.prompt(&made.pid.to_string(), "five").await.unwrap();
    assert_eq!(
        world
            .supervisor
            .summary(&made.pid.to_string())
            .await
            .unwrap()
            .turns,
        5
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_a_turn_cannot_be_forked_and_leaves_nothing() {
    let world = World::new(TALK);
    let mut empty = world.create_params("", Kind::Interactive);
    empty.prompt = None;
    let handle = world.create(empty).await.unwrap();
    let refused = world
        .supervisor
        .fork(request(&handle.pid().to_string(), None))
        .await
        .unwrap_err();
    assert_eq!(refused.name, ErrorName::NotFound);
    assert_eq!(fs::read_dir(world.home.sessions()).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_log_is_forked_up_to_its_damage() {
    let mut world = World::new(TALK);
    let origin = world.begin("mark it").await;
    for text in ["two", "three"] {
        world.prompt(&origin, text).await.unwrap();
    }
    let session = id(&world, &origin).await;
    world.supervisor.shutdown().await;
    let path = world.home.session_dir(session).join("log.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let at = text.find("Third.").unwrap();
    let mut bytes = text.into_bytes();
    bytes[at] = b'!';
    fs::write(&path, bytes).unwrap();
    world.restart().await;
    let made = world.supervisor.fork(request(&origin, None)).await.unwrap();
    assert_eq!(made.at_turn, 2);
    world.prompt(&made.pid.to_string(), "go on").await.unwrap();
    let summary = world
        .supervisor
        .summary(&made.pid.to_string())
        .await
        .unwrap();
    assert_eq!(summary.last_line, "Third.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_refuses_leaves_no_half_fork() {
    let world = World::new(TALK);
    let origin = world.begin("mark it").await;
    world
        .disk
        .sync_fails
        .store(true, std::sync::atomic::Ordering::SeqCst);
    let request = request(&origin, None);
    let refused = world.supervisor.fork(request.clone()).await.unwrap_err();
    assert_eq!(refused.name, ErrorName::Storage);
    assert_eq!(fs::read_dir(world.home.sessions()).unwrap().count(), 1);
    world
        .disk
        .sync_fails
        .store(false, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(
        world
            .supervisor
            .fork(request.clone())
            .await
            .unwrap()
            .session,
        request.fork
    );
}
