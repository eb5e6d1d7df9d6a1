//! `prompt` and `inspect` show the prefix and context that requests contain.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proto::hello::Role;
use proto::methods::SessionPrefix;
use proto::params::cache::{PrefixKind, PrefixParams};
use serde_json::{Value, json};
use testkit::model::cache::BlockCache;
use testkit::model::{Answer, Model, Request, Script};

use crate::scripted::{house, run};

#[test]
fn the_prefix_that_is_shown_is_the_one_that_is_sent() {
    let model = Model::start([Answer::text("One.")]);
    let house = house(&model);
    let before = house.reasonix(&["prompt", "--json"]).expect_code(0).json();
    assert!(house.logs().is_empty(), "no session was made");
    let session = run(&house, &[], "one").pid();
    let of_session = house
        .reasonix(&["prompt", &session, "--json"])
        .expect_code(0)
        .json();
    // A new session has the same prefix; only its token counts were not measured yet.
    for what in ["sha256", "bytes", "model", "provider"] {
        assert_eq!(before[what], of_session[what], "{what}");
    }
    assert_eq!(
        (&before["measured"], &of_session["measured"]),
        (&json!(false), &json!(true))
    );
    let raw = house
        .reasonix(&["prompt", &session, "--raw"])
        .expect_code(0);
    let sent = model.requests().remove(0);
    let body = std::str::from_utf8(&sent.body).expect("text");
    for line in raw.out.lines() {
        assert!(body.contains(line), "not sent: {line}");
    }
    let cache = house.block_on(async {
        let client = house.client("ann", Role::Watch).await;
        let params = PrefixParams {
            session: Some(session),
            ..PrefixParams::default()
        };
        client.call::<SessionPrefix>(&params).await.expect("prefix")
    });
    let names = cache
        .parts
        .iter()
        .filter(|part| part.kind == PrefixKind::Tool);
    let names: Vec<_> = names.map(|part| part.name.as_str()).collect();
    let tools = sent.json["tools"].as_array().expect("tools");
    let sent: Vec<_> = tools
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert_eq!(names, sent);
    house
        .reasonix(&["prompt", "--model", "nosuch/model"])
        .code()
        .filter(|code| *code != 0)
        .expect("refused");
}

#[test]
fn changed_system_prompt_has_another_hash_and_sessions_keep_theirs() {
    let model = Model::start(Script::by(|_| Answer::text("Done.")));
    let house = house(&model);
    let prompts = ["You review code.", "You write code.", "You review code."];
    let sessions = prompts.map(|prompt| {
        let file = house.home_file("prompt.md");
        std::fs::write(file, prompt).expect("a prompt");
        if house.logs().is_empty() {
            house.settings("[agent]\nsystem_prompt_file = \"prompt.md\"\n");
        }
        run(&house, &[], "one").expect(0, "completed").pid()
    });
    let hashes = || {
        house.logs().into_iter().map(|log| {
            let logged = log.created().prefix_sha256;
            let pid = log.pid().to_string();
            let shown = house.reasonix(&["prompt", &pid, "--json"]).expect_code(0);
            assert_eq!(shown.json()["sha256"], json!(logged), "session {pid}");
            (pid, logged)
        })
    };
    let before: BTreeMap<_, _> = hashes().collect();
    let [first, second, third] = sessions.map(|pid| before[&pid].clone());
    assert_ne!(first, second);
    assert_eq!(first, third, "the same prompt has the same hash");
    house.kill_daemon_and_parent();
    assert_eq!(hashes().collect::<BTreeMap<_, _>>(), before);
}

#[test]
fn listed_context_adds_up_to_the_request() {
    let mut cache = BlockCache::default();
    let served = Arc::new(AtomicU64::new(0));
    let newest = Arc::clone(&served);
    let model = Model::start(Script::by(move |request: &Request| {
        let answer = match request.results().len() {
            0 => Answer::call("read_file", json!({"path": "a.txt"})),
            _ => Answer::text("It says so."),
        };
        let usage = cache.serve(&request.body);
        newest.store(usage.cached, Ordering::Relaxed);
        answer.usage(usage)
    }));
    let house = house(&model);
    house.files(&format!("//- a.txt\n{}\n", "words of a file\n".repeat(200)));
    let session = run(&house, &[], "Read it.").expect(0, "completed").pid();
    run(&house, &["-s", &session], "And now?").expect(0, "completed");
    let inspect = ["inspect", &session, "context"];
    let json = [&inspect[..], &["--json"]].concat();
    let listed = house.reasonix(&json).expect_code(0).json();
    let blocks = listed["blocks"].as_array().expect("blocks");
    let kinds = blocks.iter().filter_map(|block| block["kind"].as_str());
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(kinds[..2], ["system", "tools"]);
    let messages = [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ];
    assert_eq!(kinds[2..], messages);
    assert!(blocks[2..].iter().all(|block| block["at"].is_string()));
    let sum = |name: &str, blocks: &[Value]| -> u64 {
        blocks.iter().filter_map(|block| block[name].as_u64()).sum()
    };
    // The newest request contains every block except its own answer, plus JSON syntax between blocks.
    let (_, sent) = blocks.split_last().expect("blocks");
    let body = model.requests().pop().expect("requests").body.len() as u64;
    let bytes = sum("bytes", sent);
    assert!((body - 200..=body).contains(&bytes), "{bytes} of {body}");
    let (tokens, all) = (listed["tokens"].as_u64(), sum("tokens", blocks));
    let tokens = tokens.expect("tokens");
    assert!(all.abs_diff(tokens) * 100 <= tokens, "{all} of {tokens}");
    // A block is cached if all of it was served.
    let served = served.load(Ordering::Relaxed);
    let is_cached = |block: &&Value| block["cached"] == json!(true);
    let cached = blocks.iter().take_while(is_cached).count();
    assert_eq!(blocks.iter().filter(is_cached).count(), cached);
    assert!(cached > 2, "{listed}");
    assert!(sum("tokens", &blocks[..cached]) <= served);
    assert!(sum("tokens", &blocks[..=cached]) > served);
    let shown = house.reasonix(&inspect).expect_code(0).out;
    let rows = shown.lines().skip_while(|line| !line.starts_with("BLOCK"));
    assert_eq!(rows.skip(1).count(), blocks.len(), "{shown}");
}
