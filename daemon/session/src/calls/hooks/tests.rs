//! A bug while hooks are asked: whoever waits for them gets an answer.

use std::path::PathBuf;

use contract::{Spawn, SpawnError};
use futures::future::BoxFuture;
use proto::{Pid, SessionId};

use super::*;
use crate::calls::call::tests::{Unrun, built_in};

/// Nothing can be started here, because of a bug.
struct Crashes;

impl Spawn for Crashes {
    fn spawn(
        &self,
        _: Pid,
        _: contract::Command,
    ) -> BoxFuture<'static, Result<contract::Child, SpawnError>> {
        panic!("a bug")
    }

    fn running(&self, _: Pid) -> Vec<proto::params::process::ChildProcess> {
        Vec::new()
    }

    fn stop_session(&self, _: Pid, _: u64) {}
}

/// Every hook runs outside the sandbox.
struct Outside;

impl hooks::PlaceHook for Outside {
    fn place(&self, _: &hooks::Hook) -> hooks::HookPlacement {
        hooks::HookPlacement::Outside { path: None }
    }
}

fn asker() -> HookRunner {
    let hook = |event| hooks::Hook {
        event,
        matches: None,
        command: "true".to_owned(),
        description: None,
        limit: std::time::Duration::from_secs(1),
        source: PathBuf::from("/user/ann/.reasonix/settings.json"),
        scope: hooks::HookScope::Home,
        trusted: true,
        sandbox: None,
        files: Vec::new(),
        claude: false,
        fits: Ok(hooks::names::ToolMatch::All),
    };
    let events = [
        HookEvent::PreToolUse,
        HookEvent::UserPromptSubmit,
        HookEvent::Stop,
    ];
    let set = Hooks {
        hooks: events.map(hook).into(),
        problems: Vec::new(),
    };
    HookRunner {
        set: Arc::new(set),
        ground: HookEnvironment {
            spawn: Arc::new(Crashes),
            session: Pid(1),
            env: Arc::default(),
            cwd: PathBuf::from("/"),
            root: PathBuf::from("/"),
            placement: Arc::new(Outside),
        },
        reported: HookSession {
            session: SessionId::new(),
            pid: Pid(1),
            cwd: PathBuf::from("/"),
        },
    }
}

#[tokio::test]
async fn a_bug_while_hooks_are_asked_lets_nothing_through_and_leaves_nobody_waiting() {
    let (asker, stop) = (asker(), CancellationToken::new());
    let prompt = HookPayload::Prompt { text: "words" };
    let asked = asker.ask(prompt, &stop).await.unwrap();
    let why = refused(&asked).unwrap();
    assert!(why.message.contains("a bug in Reasonix"), "{}", why.message);
    let seen = HookedCall {
        call: CallId("c".into()),
        tool: Arc::new(Unrun(built_in("bash"), None, Vec::new())),
        arguments: Map::new(),
    };
    let asked = asker.ask(seen.before(), &stop).await.unwrap();
    assert!(asked.why_blocked().is_some());
    assert_eq!(asked.finished[0].call, Some(seen.call));
    let ended = HookPayload::Stop {
        last_text: "done",
        turn: 1,
        outcome: "ok",
    };
    let asked = asker.ask(ended, &stop).await.unwrap();
    assert_eq!(asked.finished[0].outcome, HookOutcome::Error);
    assert_eq!(asked.why_blocked(), None);
}
