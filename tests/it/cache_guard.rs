//! The cache guard: a long session against a cache that is exact. Nothing that was sent is sent otherwise later, the daemon
//! expects what the cache serves, and the cache serves nearly all.
//!
//! How far both agree: a token of the simulator is four bytes of the prompt, and it serves whole blocks of 128 tokens that it
//! has seen. The prompt of a request begins with that of the one before, so it serves that one's tokens, rounded down to
//! whole blocks: what the daemon expects. Both numbers are equal for each request that it expects anything of, which is
//! each but the first, and the first after a reset. (They would differ where a request was read and not counted: its
//! answer broke off. The simulator knows its blocks then, the daemon does not.)

use std::os::unix::fs::FileExt as _;

use client::Client;
use proto::Pid;
use proto::hello::Role;
use proto::methods::{
    SessionCache, SessionCreate, SessionPrompt, SessionRewind, SessionSet, SessionWait,
};
use proto::params::cache::{CacheOutput, CacheParams, CacheRow, CachedRequest};
use proto::params::history::{RewindParams, What};
use proto::params::session::{PromptParams, SetParams, Until, WaitParams, When};
use proto::record::Level;
use proto::state::{Mode, OnAsk};
use proto::{RequestId, Seq, SessionOptions};
use serde_json::{Value, json};
use testkit::model::cache::{BLOCK, BlockCache};
use testkit::model::{Answer, Gate, Model, Place, Request, Script, Wire};
use tests::{House, until};

use crate::scripted::{FAST_RETRIES, house, run};

/// Turns of the long session; a prompt has two or three requests.
const TURNS: usize = 200;
/// Number of turns whose cost without a stable prefix is computed.
const COMPARED: usize = 60;
/// Turns, of which in one somebody steers.
const STEERS: usize = 7;
/// Turns, of which the last two are in plan mode.
const PLANS: usize = 10;

/// Text before the turn number in a prompt.
const TURN: &str = "Turn number ";

/// The number of the turn that a request is of, and how often the model has answered in it.
fn place(request: &Request) -> (usize, usize) {
    let number = |message: &Value| {
        let (_, rest) = message["content"].as_str()?.split_once(TURN)?;
        rest.split(':').next()?.parse().ok()
    };
    let messages = request.messages();
    let users = messages.iter().enumerate().rev();
    let mut users = users.filter(|(_, message)| message["role"] == "user");
    let found = users.find_map(|(at, message)| Some((at, number(message)?)));
    let (at, turn) = found.expect("each prompt has a number");
    let answers = messages[at..].iter();
    let answers = answers.filter(|message| message["role"] == "assistant");
    (turn, answers.count())
}

/// What the model does: a function of the turn and of how often it has answered in it.
fn answer(turn: usize, answered: usize) -> Answer {
    let read = json!({"path": format!("f{}.txt", turn % 3)});
    if turn % 5 == 4 {
        // Tools like those of MCP servers: they are not in the prefix.
        let dir = json!({"tool": "make_dir", "arguments": {"path": format!("dir/{turn}")}});
        return match answered {
            0 => Answer::call("tool_search", json!({"query": "make a directory"})),
            1 => Answer::call("tool_call", dir),
            _ => Answer::text(format!("Turn {turn} has its directory.")),
        };
    }
    match (answered, turn % 4) {
        (0, 0) => Answer::call("grep", json!({"pattern": "line 1", "path": "."})),
        (0, 1) => Answer::call(
            "bash",
            json!({"command": format!("printf 'turn %s' {turn}")}),
        ),
        (0, 2) => Answer::call("read_file", read).reasoning("Let me see."),
        (0, _) => {
            Answer::call("read_file", read).and_call("read_file", json!({"path": "none.txt"}))
        }
        (1, 3) => Answer::call(
            "write_file",
            json!({"path": format!("out/{turn}.txt"), "content": "made\n"}),
        ),
        _ => Answer::text(format!("Turn {turn} is done: \"ü\" 世界.")),
    }
}

/// The session as people have it.
struct Talk<'a> {
    house: &'a House,
    pid: Pid,
    /// Hold the answers of turns that are steered.
    gates: &'a [Gate],
}

impl Talk<'_> {
    /// Turns of one life of the daemon. Two people are there: one prompts, the other steers and sets the mode.
    async fn turns(&self, turns: impl Iterator<Item = usize>) {
        let ann = self.house.client("ann", Role::Drive).await;
        let bob = self.house.client("bob", Role::Drive).await;
        for turn in turns {
            let mode = match turn % PLANS {
                8 | 9 => Mode::Plan,
                _ => Mode::Normal,
            };
            let set = SetParams {
                session: self.pid.to_string(),
                options: SessionOptions {
                    mode: Some(mode),
                    ..SessionOptions::default()
                },
                ..SetParams::default()
            };
            bob.call::<SessionSet>(&set).await.expect("set");
            self.prompt(&ann, &format!("{TURN}{turn}: go on."), When::Queue)
                .await;
            if turn % STEERS == 3 {
                let gate = &self.gates[turn];
                gate.reached().await;
                self.prompt(&bob, "And be quick about it.", When::Steer)
                    .await;
                gate.open();
            }
            self.rest(&ann).await;
        }
    }

    async fn prompt(&self, client: &Client, text: &str, when: When) {
        let params = PromptParams {
            untyped: Vec::new(),
            on_ask: None,
            session: self.pid.to_string(),
            text: text.to_owned(),
            when,
            credentials: Default::default(),
            env: Default::default(),
            request_id: Some(RequestId::new()),
        };
        client.call::<SessionPrompt>(&params).await.expect("prompt");
    }

    async fn rest(&self, client: &Client) {
        let wait = WaitParams {
            session: self.pid.to_string(),
            until: Until::Turn,
            timeout_ms: Some(20_000),
        };
        let waited = client.call::<SessionWait>(&wait).await.expect("wait");
        assert!(waited.done, "the turn ends");
    }

    /// The conversation goes back by a turn: a reset.
    async fn rewind(&self, to_turn: u64) {
        let client = self.house.client("ann", Role::Drive).await;
        let params = RewindParams {
            session: self.pid.to_string(),
            to_turn: Some(to_turn),
            what: What::Conversation,
            ..RewindParams::default()
        };
        client.call::<SessionRewind>(&params).await.expect("rewind");
    }

    async fn cache(&self) -> CacheOutput {
        let client = self.house.client("ann", Role::Watch).await;
        let mut params = CacheParams {
            session: self.pid.to_string(),
            after: Seq(0),
            // Small pages: they join to the whole.
            limit: 17,
        };
        let mut rows = Vec::new();
        loop {
            let mut page = client.call::<SessionCache>(&params).await.expect("cache");
            rows.append(&mut page.rows);
            match page.next {
                Some(next) => params.after = next,
                None => return CacheOutput { rows, ..page },
            }
        }
    }
}

/// Typical hooks: one adds context to each prompt, one observes each call.
fn hooks() -> String {
    let does = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
    json!({"hooks": {
        "UserPromptSubmit": does("echo Be brief."),
        "PostToolUse": does("true"),
    }})
    .to_string()
}

/// Plays so many turns, with a restart of the daemon after each quarter and a rewind after the last, and checks the messages that were
/// kept and sent.
fn play(turns: usize) {
    let gates: Vec<Gate> = (0..=turns).map(|_| Gate::new()).collect();
    let held = gates.clone();
    let mut cache = BlockCache::default();
    let model = Model::start(Script::by(move |request: &Request| {
        let (turn, answered) = place(request);
        let said = answer(turn, answered).usage(cache.serve(&request.body));
        match turn % STEERS == 3 && answered == 0 {
            true => said.held(Place::Before, &held[turn]),
            false => said,
        }
    }));
    let house = house(&model);
    std::fs::write(house.home_file("settings.json"), hooks()).expect("write the hooks");
    for file in 0..3 {
        let lines: String = (0..9)
            .map(|line| format!("line {line} of {file}\n"))
            .collect();
        house.files(&format!("//- f{file}.txt\n{lines}"));
    }
    // As long as a session at work: what a turn adds is little beside it.
    let background: String = (0..1_200)
        .map(|line| format!("What is known, {line}: nothing that matters, and some words more.\n"))
        .collect();
    let pid = house.block_on(async {
        let client = house.client("ann", Role::Drive).await;
        let mut params = house.create(&format!("{TURN}1: {background}"));
        params.options.on_ask = Some(OnAsk::Allow);
        client
            .call::<SessionCreate>(&params)
            .await
            .expect("create")
            .pid
    });
    let talk = Talk {
        house: &house,
        pid,
        gates: &gates,
    };
    house.block_on(async {
        talk.rest(&house.client("ann", Role::Watch).await).await;
        talk.turns(2..=turns / 4).await;
    });
    // Stopped, killed, and stopped once more.
    house.stop_daemon();
    house.daemon();
    house.block_on(talk.turns(turns / 4 + 1..=turns / 2));
    house.kill_daemon_and_parent();
    house.daemon();
    house.block_on(talk.turns(turns / 2 + 1..=turns * 3 / 4));
    house.stop_daemon();
    house.daemon();
    let rewound = model.count();
    let cache = house.block_on(async {
        talk.rewind((turns * 3 / 4 - 1) as u64).await;
        talk.turns(turns * 3 / 4 + 1..=turns).await;
        talk.cache().await
    });
    model.assert_strict();
    let requests = model.requests();
    for run in [&requests[..rewound], &requests[rewound..]] {
        let bodies = run.iter().map(|request| &*request.body);
        if let Err(reason) = Wire::Chat.check_prefix(bodies) {
            panic!("a byte has moved: {reason}");
        }
    }
    check(&cache, turns, model.count());
    compare(&requests);
    house.log(pid).check();
}

/// A request as it would be with the time in its system prompt and the tools in no order.
fn hostile(body: &[u8], number: usize) -> Vec<u8> {
    let text = std::str::from_utf8(body).expect("text");
    let value: Value = serde_json::from_str(text).expect("JSON");
    let mut tools = value["tools"].as_array().cloned().unwrap_or_default();
    let shift = number % tools.len().max(1);
    tools.rotate_left(shift);
    let at = text.find(r#""tools":["#).expect("tools") + r#""tools":"#.len();
    let mut rest = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
    rest.next().expect("tools").expect("JSON");
    let end = at + rest.byte_offset();
    let tools = Value::from(tools).to_string();
    let text = format!("{}{tools}{}", &text[..at], &text[end..]);
    let system = r#""role":"system","content":""#;
    let time = format!("{system}It is second {number:05}. ");
    assert!(text.contains(system), "a system prompt");
    text.replacen(system, &time, 1).into_bytes()
}

/// Tokens that are read and served, and their cost.
#[derive(Default)]
struct Bill {
    cache: BlockCache,
    prompt: u64,
    cached: u64,
}

impl Bill {
    fn take(&mut self, body: &[u8]) {
        let usage = self.cache.serve(body);
        self.prompt += usage.prompt;
        self.cached += usage.cached;
    }

    /// Millionths of a dollar for the prompt, at a dollar for a million fresh tokens and a tenth for served ones.
    fn micros(&self) -> u64 {
        (self.prompt - self.cached) + self.cached / 10
    }
}

/// The first turns again, with their cost without a stable prefix.
fn compare(requests: &[Request]) {
    let (mut ours, mut theirs) = (Bill::default(), Bill::default());
    let first = requests
        .iter()
        .take_while(|request| place(request).0 <= COMPARED);
    for (number, request) in first.enumerate() {
        ours.take(&request.body);
        theirs.take(&hostile(&request.body, number));
    }
    assert!(
        theirs.micros() > 6 * ours.micros(),
        "{} (of {} tokens {} served) against {} (of {} tokens {} served)",
        theirs.micros(),
        theirs.prompt,
        theirs.cached,
        ours.micros(),
        ours.prompt,
        ours.cached
    );
}

/// Checks the session's cache statistics.
fn check(cache: &CacheOutput, turns: usize, requests: usize) {
    let totals = &cache.totals;
    assert_eq!((totals.rewrites, totals.misses, totals.resets), (0, 0, 1));
    assert_eq!(totals.requests, requests as u64);
    assert!(requests >= turns * 2, "{requests} requests");
    // A request without an expectation starts a new conversation.
    let mut fresh = true;
    let mut after_third: Vec<&CachedRequest> = Vec::new();
    for row in &cache.rows {
        let request = match row {
            CacheRow::Reset { .. } => {
                fresh = true;
                continue;
            }
            CacheRow::Request(request) => request,
        };
        match request.expected_cached {
            None => assert!(fresh, "something is expected of {request:?}"),
            Some(expected) => {
                assert!(!fresh, "nothing is expected of {request:?}");
                assert_eq!(request.cached_tokens, expected, "{request:?}");
                assert_eq!(expected % BLOCK as u64, 0);
            }
        }
        fresh = false;
        if request.turn > 3 {
            after_third.push(request);
        }
    }
    let sum = |of: fn(&CachedRequest) -> u64| after_third.iter().map(|one| of(one)).sum::<u64>();
    let (cached, prompt) = (sum(|one| one.cached_tokens), sum(|one| one.prompt_tokens));
    assert!(
        cached * 100 >= prompt * 97,
        "{cached} of {prompt} tokens were served after the third turn"
    );
}

#[test]
fn a_long_session_is_served_by_the_cache_as_the_daemon_expects() {
    play(TURNS);
}

#[test]
fn a_cache_miss_is_reported_with_its_cause() {
    // It serves well, then it has lost all.
    let usage = |prompt, cached| testkit::model::Usage {
        prompt,
        cached,
        output: 3,
        reasoning: 0,
    };
    let model = Model::start([
        Answer::text("One.").usage(usage(5_000, 0)),
        Answer::text("Two.").usage(usage(5_100, 4_992)),
        Answer::text("Three.").usage(usage(5_200, 128)),
    ]);
    let house = house(&model);
    let session = run(&house, &[], "one").pid();
    for text in ["two", "three"] {
        run(&house, &["-s", &session], text).expect(0, "completed");
    }
    let shown = house.reasonix(&["cache", &session]).expect_code(0);
    let lines: Vec<_> = shown.out.lines().collect();
    assert!(lines[0].starts_with("TURN"), "{shown:?}");
    assert!(lines[2].contains("97.8 %"), "{shown:?}");
    assert!(lines[3].contains("evicted, or another server"), "{shown:?}");
    assert!(lines[4].contains("1 miss"), "{shown:?}");
    let notices: Vec<_> = house.log(Pid(1)).check().bodies();
    let notices = notices.iter().filter(|body| {
        matches!(body, proto::Body::Notice(notice) if notice.text.contains("128 of 4992 tokens"))
    });
    assert_eq!(notices.count(), 1);
}

#[test]
fn changed_prefix_bytes_are_reported_as_our_bug() {
    let model = Model::start([Answer::text("One."), Answer::text("Two.")]);
    let house = house(&model);
    let session = run(&house, &[], "remember the word aardvark").pid();
    let dir = house.home().join("sessions");
    let dirs = std::fs::read_dir(dir).expect("sessions").flatten();
    let mut logs = dirs.map(|entry| entry.path().join("log.jsonl"));
    let log = logs.find(|log| log.is_file()).expect("a log");
    // The fragment of a message is the last member of its line.
    let text = std::fs::read_to_string(&log).expect("the log");
    let at = text.rfind("aardvark").expect("the prompt") as u64;
    let file = std::fs::File::options().write(true).open(&log);
    let file = file.expect("the log can be written");
    file.write_all_at(b"antelope", at).expect("written");
    let _ = run(&house, &["-s", &session], "go on").expect(0, "completed");
    file.write_all_at(b"aardvark", at).expect("written");
    assert!(
        model.requests()[1].messages()[1]
            .to_string()
            .contains("antelope")
    );
    let cache = house
        .reasonix(&["cache", &session, "--json"])
        .expect_code(0)
        .json();
    assert_eq!(cache["totals"]["rewrites"], 1, "{cache}");
    let miss = &cache["rows"][1]["miss"];
    assert_eq!(
        (&miss["cause"], &miss["differs"]),
        (&json!("ours"), &json!("message 1"))
    );
    let bodies = house.log(Pid(1)).check().bodies();
    let notices = bodies.iter().filter(|body| {
        matches!(body, proto::Body::Notice(notice)
            if notice.level == Level::Error && notice.text.contains("Bug in Reasonix"))
    });
    assert_eq!(notices.count(), 1);
}

#[test]
fn cache_command_counts_down_to_expiry_of_the_providers_prompt_cache() {
    let model = Model::start([Answer::text("One.")]);
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider(&model.entry_of(Wire::Messages, "model", None));
    house.daemon();
    let session = run(&house, &[], "one").expect(0, "completed").pid();
    // Seconds that are left.
    let left = || -> u64 {
        let shown = house.reasonix(&["cache", &session]).expect_code(0);
        let last = shown.out.lines().last().expect("a line");
        let left = last.strip_prefix("expires in ");
        let (minutes, seconds) = left.and_then(|left| left.split_once(':')).expect(last);
        let seconds: String = seconds.chars().take_while(char::is_ascii_digit).collect();
        let number = |text: &str| text.parse::<u64>().expect("a number");
        number(minutes) * 60 + number(&seconds)
    };
    let first = left();
    assert!((180..=300).contains(&first), "{first}");
    until("less to be left", || (left() < first).then_some(()));
}
