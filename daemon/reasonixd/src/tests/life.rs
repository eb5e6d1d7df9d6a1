//! How a daemon ends: unused, without its home, or on request; and the answers that clients get meanwhile.

use std::time::{Duration, Instant};

use serde_json::json;

use super::house::{House, Raw, hello, inode, name, until};

const SECONDS: &str = "[daemon]\nidle_exit_minutes = 0.025\n";
const LIMIT: Duration = Duration::from_millis(1_500);

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_nobody_needs_goes_and_leaves_no_socket() {
    let mut house = House::new(SECONDS, "").await;
    let client = house.client("watch").await;
    // Longer than the limit: somebody is there.
    tokio::time::sleep(LIMIT * 2).await;
    assert!(house.lives(), "it went with a client");
    let left = Instant::now();
    drop(client);
    house.ends().await;
    assert!(
        left.elapsed() >= LIMIT,
        "it went after {:?}",
        left.elapsed()
    );
    assert_eq!(inode(&house.socket()), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_question_keeps_the_daemon_though_nobody_is_there() {
    let call = json!({"tool_calls": [{"name": "bash", "arguments": {"command": "touch here"}}]});
    let mut house = House::new(SECONDS, &format!("{call}\n{}\n", json!({"text": "Left."}))).await;
    let mut client = house.client("drive").await;
    let id = uuid::Uuid::now_v7().to_string();
    let create = json!({"session": id, "cwd": house.project(), "prompt": "make it"});
    client
        .call("session.create", &create)
        .await
        .expect("a session");
    let open = until("a question", async || {
        let list = client
            .call("interaction.list", &json!({}))
            .await
            .expect("a list");
        list["interactions"]
            .as_array()
            .and_then(|all| all.first().cloned())
    })
    .await;
    drop(client);
    tokio::time::sleep(LIMIT * 2).await;
    assert!(house.lives(), "it went with an open question");
    let mut client = house.client("approve").await;
    let answer = json!({"interaction_id": open["interaction_id"], "shown_hash": open["shown_hash"],
        "answer": {"type": "approval", "decision": "deny"}});
    client
        .call("interaction.answer", &answer)
        .await
        .expect("an answer");
    drop(client);
    house.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn daemon_keeps_running_without_an_idle_limit() {
    let house = House::new("", "").await;
    tokio::time::sleep(LIMIT * 2).await;
    assert!(house.lives());
}

/// Clients that come at any moment around the decision: each is served completely, or refused as retryable.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_at_the_moment_of_the_decision_is_served_or_refused_as_retryable() {
    // A look a second, and no patience: the second look decides.
    let houses = (0..12_u32).map(async |number| {
        let mut house = House::new("[daemon]\nidle_exit_minutes = 0.001\n", "").await;
        tokio::time::sleep(Duration::from_millis(1_950 + u64::from(number) * 10)).await;
        let made = match visit(&house).await {
            Visit::Made => 1,
            Visit::ComeAgain | Visit::NobodyThere => 0,
        };
        house.ends().await;
        let sessions = std::fs::read_dir(house.home().join("sessions")).expect("the sessions");
        assert_eq!(
            sessions.count(),
            made,
            "the acknowledged records are there, and nothing else"
        );
    });
    futures::future::join_all(houses).await;
}

enum Visit {
    Made,
    ComeAgain,
    NobodyThere,
}

async fn visit(house: &House) -> Visit {
    let Ok(stream) = tokio::net::UnixStream::connect(house.socket()).await else {
        return Visit::NobodyThere;
    };
    let mut raw = Raw::of(stream);
    // The connection may be closed before anything is said: then nothing was promised.
    let Some(hello) = raw.try_call("daemon.hello", &hello("drive")).await else {
        return Visit::NobodyThere;
    };
    if let Err(error) = hello {
        assert_eq!(name(&error), "shutting_down", "{error}");
        assert_eq!(error["data"]["retryable"], true);
        return Visit::ComeAgain;
    }
    // Whoever was let in is served.
    let id = uuid::Uuid::now_v7().to_string();
    let create = json!({"session": id, "cwd": house.project()});
    let made = raw
        .try_call("session.create", &create)
        .await
        .expect("an answer");
    made.expect("a session, once hello was said");
    Visit::Made
}

#[tokio::test(flavor = "multi_thread")]
async fn a_home_that_is_gone_ends_the_daemon_and_nothing_is_made_again() {
    let mut house = House::new("", "").await;
    let mut client = house.client("drive").await;
    let id = uuid::Uuid::now_v7().to_string();
    let create = json!({"session": id, "cwd": house.project()});
    client
        .call("session.create", &create)
        .await
        .expect("a session");
    std::fs::remove_dir_all(house.home()).expect("remove the home");
    house.ends().await;
    assert!(!house.home().exists(), "nothing was made again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_home_that_was_replaced_is_left_alone_and_changes_are_refused_meanwhile() {
    let mut house = House::new("", "").await;
    let mut client = house.client("drive").await;
    let away = house.home().with_file_name("away");
    std::fs::rename(house.home(), &away).expect("move the home");
    std::fs::create_dir_all(house.home().join("run")).expect("another one");
    std::fs::create_dir_all(house.home().join("open")).expect("its markers");
    let marker = house
        .home()
        .join("open")
        .join(uuid::Uuid::now_v7().to_string());
    std::fs::write(&marker, "").expect("a marker");
    std::fs::create_dir_all(house.home().join("sessions")).expect("its sessions");
    // Nothing is made in it, and soon the daemon is gone.
    loop {
        let id = uuid::Uuid::now_v7().to_string();
        let create = json!({"session": id, "cwd": house.project()});
        match client.try_call("session.create", &create).await {
            Some(Ok(made)) => panic!("a session in another's home: {made}"),
            Some(Err(error)) => {
                assert_eq!(name(&error), "storage", "{error}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            None => break,
        }
    }
    house.ends().await;
    assert!(marker.exists(), "another home's marker is not ours");
    assert_eq!(inode(&house.socket()), None, "no socket in another's home");
    let entries = std::fs::read_dir(house.home()).expect("it").count();
    assert_eq!(entries, 3, "nothing new is in it");
    let sessions = std::fs::read_dir(house.home().join("sessions"))
        .expect("it")
        .count();
    assert_eq!(sessions, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_file_in_the_sockets_place_is_reported_and_left_alone() {
    let house = House::new("", "").await;
    let mut client = house.client("watch").await;
    std::fs::remove_file(house.socket()).expect("remove the socket");
    std::fs::create_dir(house.socket()).expect("a directory in its place");
    let problems = async |client: &mut Raw| {
        let status = client
            .call("daemon.status", &json!({}))
            .await
            .expect("status");
        status["problems"].to_string()
    };
    until("it to be reported", async || {
        problems(&mut client)
            .await
            .contains("another file is at")
            .then_some(())
    })
    .await;
    assert!(house.socket().is_dir());
    // Moved away, the socket is made again, and the problem is none any more.
    std::fs::remove_dir(house.socket()).expect("move it away");
    until("the socket", async || inode(&house.socket())).await;
    let _ = house.client("watch").await;
    until("the problem to be gone", async || {
        (!problems(&mut client).await.contains("socket")).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn daemon_shutting_down_when_idle_answers_reads_and_refuses_new_work() {
    let call = json!({"tool_calls": [{"name": "bash", "arguments": {"command": "touch here"}}]});
    let mut house = House::new("", &format!("{call}\n{}\n", json!({"text": "Left."}))).await;
    let mut client = house.client("drive").await;
    let id = uuid::Uuid::now_v7().to_string();
    let create = json!({"session": id, "cwd": house.project(), "prompt": "make it"});
    client
        .call("session.create", &create)
        .await
        .expect("a session");
    client
        .call("daemon.shutdown", &json!({"mode": "idle"}))
        .await
        .expect("asked");
    let stored = std::fs::read_to_string(house.home().join("run").join("stop"));
    let stored = stored.expect("stored before it is acknowledged");
    assert!(stored.contains("idle"), "{stored}");
    let create = json!({"session": uuid::Uuid::now_v7().to_string(), "cwd": house.project()});
    let refused = client
        .call("session.create", &create)
        .await
        .expect_err("no new work");
    assert_eq!(name(&refused), "shutting_down");
    let refused = client
        .call("session.prompt", &json!({"session": id, "text": "more"}))
        .await;
    assert_eq!(name(&refused.expect_err("no new turn")), "shutting_down");
    let mut other = house.client("drive").await;
    other
        .call("session.list", &json!({}))
        .await
        .expect("a list");
    // A more urgent request cuts it short.
    let begun = Instant::now();
    other
        .call("daemon.shutdown", &json!({"mode": "now"}))
        .await
        .expect("asked");
    house.ends().await;
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_whose_disk_hangs_at_the_start_keeps_nobody_out() {
    let call = json!({"tool_calls": [{"name": "bash", "arguments": {"command": "touch here"}}]});
    let mut house = House::new("", &format!("{call}\n")).await;
    let mut client = house.client("drive").await;
    let id = uuid::Uuid::now_v7().to_string();
    let create = json!({"session": id, "cwd": house.project(), "prompt": "make it"});
    client
        .call("session.create", &create)
        .await
        .expect("a session");
    let asked = async |client: &mut Raw| {
        let list = client.call("interaction.list", &json!({})).await;
        let list = list.expect("a list");
        let open = list["interactions"].as_array().map_or(0, Vec::len);
        (open > 0).then_some(())
    };
    until("a question", async || asked(&mut client).await).await;
    client
        .call("daemon.shutdown", &json!({"mode": "now"}))
        .await
        .expect("asked");
    house.ends().await;
    // Whoever opens its model's script waits until somebody writes one.
    let script = house.home().join("cassette.jsonl");
    std::fs::remove_file(&script).expect("remove the script");
    let made = std::process::Command::new("mkfifo").arg(&script).status();
    assert!(made.expect("mkfifo").success());
    let begun = Instant::now();
    house.again();
    let mut client = house.client("drive").await;
    let waited = begun.elapsed();
    assert!(waited < Duration::from_secs(5), "{waited:?}");
    let writing = script.clone();
    let wrote = tokio::task::spawn_blocking(move || std::fs::write(writing, format!("{call}\n")));
    wrote.await.expect("no panic").expect("a script");
    until("the question to be back", async || asked(&mut client).await).await;
}
