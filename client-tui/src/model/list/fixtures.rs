//! Sessions and the like for tests.

use std::time::{Duration, Instant};

use proto::outcome::UsageTotals;
use proto::params::config::{ModelFacts, ModelPrice, ProviderListOutput, ProviderStatus};
use proto::params::history::{CheckpointsOutput, Hit, MessageRole, SearchOutput, TurnCheckpoint};
use proto::params::interaction::{
    Choice, Interaction, InteractionKind, InteractionRequest, Question,
};
use proto::params::process::{self, ChildProcess};
use proto::params::session::{ListOutput, QueuedPrompt, SessionSummary};
use proto::params::skill::{self, RunAs, SkillInfo, SkillSource};
use proto::record::ChildKind;
use proto::state::{ApprovalMode, Kind, Mode, State, WaitingFor};
use proto::{Pid, PromptId, Seq, SessionId, Stamp};

use super::ListOf;
use crate::effect::Answer;
use crate::messages::Language;
use crate::model::session::Session;
use crate::model::{LaunchContext, Model, ViewOptions};

/// The wall clock in every test.
pub const NOW: Stamp = Stamp(1_790_000_000_000);

/// Text with which a hostile model, name or file may attack.
pub const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}evil\r\n\u{9b}31mred\tend";

/// Every list.
pub const ALL: [ListOf; 10] = [
    ListOf::Sessions { here: true },
    ListOf::Sessions { here: false },
    ListOf::Turns,
    ListOf::Queue,
    ListOf::Processes,
    ListOf::Agents,
    ListOf::Inbox,
    ListOf::Models,
    ListOf::Skills,
    ListOf::Search,
];

/// The daemon's answer to an opened list, with these open calls; `None`: the list makes no request.
pub fn answer(what: ListOf, calls: Vec<Interaction>) -> Option<Answer> {
    Some(match what {
        ListOf::Sessions { .. } => Answer::Sessions(listed()),
        ListOf::Processes => Answer::Processes(running()),
        ListOf::Agents => Answer::Processes(agents()),
        // As the daemon does: oldest first.
        ListOf::Inbox => Answer::Waiting([question(3, 5)].into_iter().chain(calls).collect()),
        ListOf::Turns => Answer::Checkpoints {
            undo: false,
            output: checkpoints(true),
        },
        ListOf::Models => Answer::Models {
            list: providers(),
            keys: vec!["FAR_API_KEY".to_owned()],
        },
        ListOf::Skills => Answer::Skills(skills()),
        ListOf::Search => Answer::Hits(hits()),
        ListOf::Queue => return None,
    })
}

/// One that can be used, one that another hides, one that a command hides, and a file that is left out.
pub fn skills() -> skill::ListOutput {
    let skill = |name: &str, source, hidden_by: Option<&str>, is_command| SkillInfo {
        name: name.to_owned(),
        description: format!("How to {name} {HOSTILE}"),
        source,
        file: format!("/code/{name}/{}/SKILL.md", source.as_str()),
        hidden_by: hidden_by.map(str::to_owned),
        is_command,
        trusted: source != SkillSource::Project,
        offered: hidden_by.is_none(),
        allowed_tools: Some(vec!["Read".to_owned()]),
        run_as: RunAs::Inline,
        model: None,
        refusal: None,
    };
    skill::ListOutput {
        skills: vec![
            skill("deploy", SkillSource::Project, None, false),
            skill(
                "deploy",
                SkillSource::User,
                Some("/code/deploy/project/SKILL.md"),
                false,
            ),
            skill("review", SkillSource::User, None, true),
            skill("test", SkillSource::Configured, None, false),
        ],
        problems: vec![
            "`/code/bad/SKILL.md:2` is left out: its front matter has no end.".to_owned(),
        ],
    }
}

/// Messages of two sessions.
pub fn hits() -> SearchOutput {
    let hit = |pid, seq, role, text: &str, marks: &[(u64, u64)]| Hit {
        session: id(pid),
        pid: Pid(pid),
        name: None,
        cwd: "/home/ann/work".to_owned(),
        seq: Seq(seq),
        turn: Some(1),
        at: Stamp(NOW.0 - 3_600_000),
        role,
        text: text.to_owned(),
        marks: marks.to_vec(),
    };
    let long = "…the parser fails on an empty line, so the parser must be told of it…";
    SearchOutput {
        hits: vec![
            hit(3, 7, MessageRole::User, long, &[(5, 11), (43, 49)]),
            hit(
                3,
                9,
                MessageRole::Assistant,
                "解析器 parser 已修好",
                &[(4, 10)],
            ),
            hit(1, 4, MessageRole::Tool, HOSTILE, &[(2, 9), (3, 400)]),
        ],
        matches: 40,
        complete: false,
        too_many: false,
        indexing: None,
        behind: None,
    }
}

/// The id of the session with that pid.
pub fn id(pid: u64) -> SessionId {
    format!("00000000-0000-7000-8000-{pid:012}")
        .parse()
        .unwrap()
}

/// The id of the prompt with that number.
pub fn prompt_id(n: u64) -> PromptId {
    format!("11111111-0000-7000-8000-{n:012}").parse().unwrap()
}

/// An idle session that was active `minutes` ago.
pub fn summary(pid: u64, line: &str, minutes: i64) -> SessionSummary {
    SessionSummary {
        session: id(pid),
        pid: Pid(pid),
        ppid: Pid(0),
        agent: None,
        steps: 4,
        activity: String::new(),
        name: None,
        labels: Vec::new(),
        cwd: "/user/ann/code/app".to_owned(),
        model: "vendor/some-chat".to_owned(),
        effort: None,
        kind: Kind::Interactive,
        state: State::Idle,
        waiting_for: None,
        cause: "turn completed".to_owned(),
        approval_mode: ApprovalMode::Ask,
        description: String::new(),
        turns: 3,
        origin: None,
        usage: UsageTotals {
            prompt_tokens: 41_000,
            output_tokens: 1_200,
            cost_micros: 12_300,
            requests: 4,
            ..UsageTotals::default()
        },
        tree_usage: None,
        context_tokens: 16_000,
        context_window: 64_000,
        created_at: Stamp(0),
        active_at: Stamp(NOW.0 - minutes * 60_000 - 500),
        title: line.to_owned(),
        last_line: line.to_owned(),
        queued: 0,
        goal: None,
        pending_interactions: 0,
        mode: Mode::Normal,
        only_reads: false,
        attached: 0,
        seq: Seq(10),
        exit_code: None,
        cut_off: None,
        at_limit: None,
        children: 0,
        silent_since: None,
        compacting: false,
        planning: false,
        extract_reasoning: false,
        samples: 1,
        read_only: None,
        instead_of: None,
        cold: None,
        cache_ttl_ms: None,
        cache_used: None,
    }
}

/// One that runs, one that waits, one that sleeps, one that is paused, one that has exited.
pub fn sessions() -> Vec<SessionSummary> {
    let mut idle = summary(3, "Explained the parser", 180);
    idle.title = "解析器重构 parser".to_owned();
    idle.name = Some(idle.title.clone());
    let mut running = summary(4, "Run the tests and fix what fails", 5);
    running.state = State::Running;
    running.cause = "model answers".to_owned();
    let mut waiting = summary(2, "Delete the build directory", 30);
    waiting.state = State::Waiting;
    waiting.waiting_for = Some(WaitingFor::Interaction(InteractionKind::Approval));
    waiting.pending_interactions = 1;
    waiting.cause = "Bash wants to run `rm -r target`".to_owned();
    let mut paused = summary(5, "Write the changelog 🎉", 8);
    paused.state = State::Paused;
    let mut exited = summary(1, HOSTILE, 4_000);
    exited.state = State::Exited;
    exited.exit_code = Some(0);
    vec![paused, running, idle, waiting, exited]
}

pub fn listed() -> ListOutput {
    ListOutput {
        sessions: sessions(),
        next: None,
    }
}

/// The same by pid, with two commands of the one that runs.
pub fn running() -> process::ListOutput {
    let mut processes = sessions();
    processes.retain(|session| session.state != State::Exited);
    processes.sort_by_key(|session| session.pid);
    let child = |os_pid, pid, kind, command: &str| ChildProcess {
        session: Pid(4),
        os_pid: Some(os_pid),
        kind,
        pid,
        command: command.to_owned(),
        server: false,
        running_ms: 65_000,
    };
    process::ListOutput {
        processes,
        children: vec![
            child(901, None, ChildKind::Command, "cargo test --workspace"),
            child(902, Some(Pid(7)), ChildKind::Shell, HOSTILE),
        ],
        unchanged: Vec::new(),
        change: 1,
    }
}

/// A sub-agent of a session that works.
pub fn agent(pid: u64, ppid: u64, name: &str, activity: &str) -> SessionSummary {
    SessionSummary {
        ppid: Pid(ppid),
        agent: Some(name.to_owned()),
        activity: activity.to_owned(),
        state: State::Running,
        created_at: Stamp(NOW.0 - 65_500),
        ..summary(pid, "Looked around", 0)
    }
}

/// Sub-agents of session 7: one that runs a command, one below it that thinks, one that waits, one that has ended.
pub fn agents() -> process::ListOutput {
    let mut waits = agent(14, 7, "review", "");
    waits.state = State::Waiting;
    waits.pending_interactions = 1;
    let mut ended = agent(15, 7, HOSTILE, "");
    ended.state = State::Exited;
    ended.exit_code = Some(0);
    process::ListOutput {
        processes: vec![
            agent(12, 7, "general", "bash cargo test --workspace"),
            agent(13, 12, "explore", ""),
            waits,
            ended,
        ],
        children: Vec::new(),
        unchanged: Vec::new(),
        change: 2,
    }
}

pub fn approval(n: u64, session: u64, subject: &str) -> Interaction {
    serde_json::from_value(serde_json::json!({
        "interaction_id": format!("{session}.{n}"), "session": session, "call": "c1", "shown_hash": "00",
        "opened_at": Stamp(NOW.0 - 600_500).to_string(), "request": {
            "type": "approval", "tool": "Bash", "subject": subject, "preview": {"type": "line", "text": subject},
            "rule": "approval mode ask", "scopes": [],
        },
    }))
    .unwrap()
}

pub fn question(n: u64, session: u64) -> Interaction {
    let question = Question {
        question: format!("Which database? {HOSTILE}"),
        header: "db".to_owned(),
        options: vec![Choice {
            label: "SQLite".to_owned(),
            description: String::new(),
        }],
        multi_select: false,
    };
    Interaction {
        interaction_id: format!("{session}.{n}").as_str().into(),
        session: Pid(session),
        call: "c2".into(),
        shown_hash: "00".to_owned(),
        opened_at: Stamp(NOW.0 - 3 * 3_600_000 - 500),
        request: InteractionRequest::Questions {
            questions: vec![question; 2],
        },
    }
}

pub fn checkpoints(undo: bool) -> CheckpointsOutput {
    let turn = |turn, prompt: &str, files: &[&str]| TurnCheckpoint {
        turn,
        at: Stamp(NOW.0 - 600_500),
        prompt: prompt.to_owned(),
        cause: None,
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        notes: Vec::new(),
    };
    CheckpointsOutput {
        turns: vec![
            turn(1, "make a parser", &["/user/ann/code/app/src/parser.rs"]),
            turn(2, "写一些测试", &["/a/one.rs", "/a/two.rs"]),
            turn(4, "explain it", &[]),
        ],
        undo,
    }
}

/// A model with the session 4 followed, and prompts in its queue.
pub fn model(columns: u16, rows: u16, language: Language) -> Model {
    let look = ViewOptions {
        columns,
        rows,
        language,
        ..ViewOptions::default()
    };
    let place = LaunchContext {
        home: Some("/user/ann".into()),
        ..LaunchContext::of("/user/ann/code/app")
    };
    let mut model = Model::new(look, place, Instant::now() + Duration::from_secs(60));
    model.clock = NOW;
    let mut session = Session::new(id(4), Pid(4));
    session.queue = client::queue::Queue::new(Seq(9), queued());
    session.seq = Seq(9);
    model.session = Some(session);
    model
}

pub fn queued() -> Vec<QueuedPrompt> {
    let prompt = |n, text: &str, steer| QueuedPrompt {
        untyped: Vec::new(),
        on_ask: None,
        prompt_id: prompt_id(n),
        text: text.to_owned(),
        steer,
        by: "ann".to_owned(),
    };
    vec![
        prompt(1, "first\nwith a second line", false),
        prompt(2, "第二个", true),
        prompt(3, HOSTILE, false),
    ]
}

/// A provider with its key, one without, one whose key this process has, and one that comes with the program.
pub fn providers() -> ProviderListOutput {
    let provider = |name: &str, models: &[&str], variable: &str| ProviderStatus {
        name: name.to_owned(),
        kind: "chat".to_owned(),
        base_url: format!("https://{name}.example/v1"),
        models: models.iter().map(|&model| model.to_owned()).collect(),
        api_key_env: variable.to_owned(),
        default: models[0].to_owned(),
        has_key: false,
        key_from: String::new(),
        shipped: false,
        origin: "/home/config.toml".to_owned(),
        listed: Vec::new(),
        listed_at: None,
        facts: vec![ModelFacts {
            model: models[0].to_owned(),
            context_window: 128_000,
            price: Some(ModelPrice {
                input: 270_000,
                output: 1_100_000,
                ..ModelPrice::default()
            }),
            ..ModelFacts::default()
        }],
    };
    let mut near = provider("near", &["chat", "coder"], "NEAR_API_KEY");
    near.has_key = true;
    near.listed = vec!["reasoner-with-a-long-name".to_owned(), HOSTILE.to_owned()];
    let mut shipped = provider("builtin", &["unseen"], "BUILTIN_API_KEY");
    shipped.shipped = true;
    ProviderListOutput {
        providers: vec![
            near,
            provider("far", &["large"], "FAR_API_KEY"),
            provider("none", &["locked"], "NONE_API_KEY"),
            provider("local", &["llama"], ""),
            shipped,
        ],
        default_model: Some("near/chat".to_owned()),
    }
}
