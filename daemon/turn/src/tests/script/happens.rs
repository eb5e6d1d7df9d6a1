//! Parses the events of scenarios.

use std::time::Duration;

use contract::codec::COMPACTION;
use contract::provider::{ErrorKind, ProviderError, Reported};
use proto::item::{CallStatus, Finish, Thought, ToolCall};
use proto::params::elicitation::ElicitationDecision;
use proto::params::interaction::{ApprovalDecision, InteractionAnswer, PlanDecision};
use proto::record::{
    CallEdit, Changed, ChildExited, ChildKind, ChildSpawned, FileState, PlannerFinished,
    PlanningOutcome, SessionSet, UserCommand,
};
use proto::state::Kind;
use proto::state::Mode;
use proto::{CallId, InteractionId, Pid};

use crate::input::{CallQuestion, InteractionResolution};
use crate::tests::made::{elicitation, elicited, reply};
use crate::{Answer, Input, StopReason};

pub fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}

/// `9 runs`, `9 user-runs`, `9 ends`.
pub fn child(what: &str) -> Input {
    let (pid, does) = what.split_once(' ').expect("child PID runs|ends");
    let pid = Pid(number(pid));
    match does {
        "runs" | "user-runs" => Input::ChildSpawned(ChildSpawned {
            pid,
            kind: ChildKind::Shell,
            call: CallId::from("a"),
            command: "sleep 9".into(),
            user: (does == "user-runs").then(|| UserCommand {
                line: "sleep 9".into(),
                by: "ann".into(),
                request_id: None,
            }),
        }),
        "ends" => Input::ChildExited(ChildExited {
            pid,
            code: Some(0),
            signal: None,
            cause: None,
            result: None,
        }),
        other => panic!("no child `{other}`"),
    }
}

pub fn kind(text: &str) -> Kind {
    match text {
        "headless" => Kind::Headless,
        "interactive" => Kind::Interactive,
        other => panic!("there is no kind `{other}`"),
    }
}

pub fn set(what: &str) -> Input {
    let (key, value) = what.split_once('=').expect("set KEY=VALUE");
    let mut set = SessionSet::default();
    let options = &mut set.options;
    match key {
        "kind" => options.kind = Some(kind(value)),
        "max_steps" => options.max_steps = Some(number(value)),
        "mode" => options.mode = Some(Mode::named(value).expect("a mode")),
        "read_only" => options.read_only = Some(value == "true"),
        "planner" => options.planner_model = Some(value.to_owned()),
        "model" => options.model = Some(value.to_owned()),
        "budget" => {
            options.budget = Some(proto::budget::Budget {
                steps: Some(number(value)),
                ..proto::budget::Budget::default()
            });
        }
        "paused" => set.paused = Some(value == "true"),
        other => panic!("there is no setting `{other}`"),
    }
    Input::Set(Box::new(set))
}

pub fn model(what: &str) -> Input {
    let (does, what) = what.split_once(' ').unwrap_or((what, ""));
    let (what, tokens) = what.split_once(" using ").unwrap_or((what, ""));
    let reported = (!tokens.is_empty()).then(|| Reported {
        prompt_tokens: number(tokens),
        ..Reported::default()
    });
    let says = |text: &str, finish| Answer {
        text: text.to_owned(),
        finish: Some(finish),
        reported,
        ..Answer::default()
    };
    let answer = match does {
        "says" => says(what, Finish::Stop),
        "cut" => says(what, Finish::Length),
        "pauses" => says(what, Finish::Paused),
        "filtered" => says(what, Finish::ContentFilter),
        "thinks" => Answer {
            reasoning: what.to_owned(),
            ..says("", Finish::Stop)
        },
        "calls" => Answer {
            calls: what.split(", ").map(call).collect(),
            ..says("", Finish::ToolCalls)
        },
        "compacts" => Answer {
            thoughts: vec![Thought {
                kind: COMPACTION.to_owned(),
                data: what.to_owned(),
                text_at: 0,
                calls_at: 0,
            }],
            ..says("", Finish::Stop)
        },
        "restarts" => {
            let dropped = Box::new(Answer {
                finish: None,
                ..says(what, Finish::Stop)
            });
            return Input::AnswerRestarted { dropped };
        }
        "breaks" => return breaks(what),
        other => panic!("a model never `{other}`"),
    };
    Input::Answered(Box::new(answer))
}

/// `read a`, `x:read a`, `read a!`.
pub fn call(text: &str) -> ToolCall {
    let (text, cut) = text
        .strip_suffix('!')
        .map_or((text, false), |text| (text, true));
    let (id, text) = text
        .split_once(':')
        .map_or((None, text), |(id, text)| (Some(id), text));
    let (name, subject) = text.split_once(' ').expect("TOOL SUBJECT");
    let arguments = format!("{{\"path\":\"{subject}\"}}");
    ToolCall {
        id: CallId::from(id.unwrap_or(subject)),
        name: name.to_owned(),
        arguments,
        cut,
        found: false,
    }
}

pub fn breaks(what: &str) -> Input {
    let (what, window) = what
        .split_once(" of ")
        .map_or((what, None), |(what, window)| (what, Some(number(window))));
    let (what, shown) = what.split_once(" showing ").unwrap_or((what, ""));
    let (what, after) = what
        .split_once(" after ")
        .map_or((what, None), |(what, after)| (what, Some(after)));
    let kind = match what {
        "transient" | "busy" | "empty" => ErrorKind::Transient,
        "permanent" => ErrorKind::Permanent,
        "invalid-call" => ErrorKind::InvalidCall,
        "not-running" => ErrorKind::NotRunning,
        "too-long" => ErrorKind::ContextLength,
        "unpaid" => ErrorKind::Budget,
        "no-credit" => ErrorKind::OutOfCredit,
        "no-key" | "lost-key" => ErrorKind::Credentials,
        other => panic!("nothing breaks `{other}`"),
    };
    let retry_after = after.map(|after| Duration::from_secs(number(after.trim_end_matches('s'))));
    let error = ProviderError {
        message: what.to_owned(),
        hint: String::new(),
        kind,
        status: (what == "busy").then_some(429),
        retry_after,
        of_model: false,
        empty: what == "empty",
        window,
    };
    let partial = Box::new(Answer {
        text: shown.to_owned(),
        ..Answer::default()
    });
    // Maximum jitter: the waits are 500, 1000, 2000, … milliseconds.
    Input::Broke {
        error,
        partial,
        jitter: 1.0,
        key_lost: what == "lost-key",
    }
}

/// A user's change of a call to this command.
fn edit(command: &str) -> CallEdit {
    CallEdit {
        tool: "write".into(),
        original: "{}".into(),
        edited: serde_json::json!({ "command": command }).to_string(),
        command: command.to_owned(),
    }
}

/// `yes|always|no|rest|approves|rejects 7.1 [NOTE]`, `edits 7.1 COMMAND`, `says 7.1 LABEL`; or `leaves 7.1 [WHY]` if no client is attached.
pub fn answer(what: &str) -> Input {
    let mut words = what.splitn(3, ' ');
    let says = words.next().expect("ANSWER ID");
    let interaction_id = InteractionId::from(words.next().expect("ANSWER ID"));
    let rest = words.next().map(str::to_owned);
    let decide = |decision| InteractionAnswer::Approval {
        decision,
        scope: None,
        note: rest.clone(),
        edited_command: None,
    };
    let settle = |decision| InteractionAnswer::Plan {
        decision,
        note: rest.clone(),
    };
    let changed = rest.clone().filter(|_| says == "edits");
    let answer = match says {
        "edits" => Some(InteractionAnswer::Approval {
            decision: ApprovalDecision::AllowOnce,
            scope: None,
            note: None,
            edited_command: changed.clone(),
        }),
        "yes" => Some(decide(ApprovalDecision::AllowOnce)),
        "always" => Some(decide(ApprovalDecision::AllowSession)),
        "no" => Some(decide(ApprovalDecision::Deny)),
        "rest" => Some(decide(ApprovalDecision::DenyRest)),
        "approves" => Some(settle(PlanDecision::Approve)),
        "approves-keep-asking" => Some(settle(PlanDecision::ApproveKeepAsking)),
        "rejects" => Some(settle(PlanDecision::Reject)),
        "says" => Some(InteractionAnswer::Questions {
            replies: vec![reply(rest.as_deref().expect("says ID LABEL"))],
        }),
        "accepts" => Some(elicited(ElicitationDecision::Accept, rest.as_deref())),
        "declines" => Some(elicited(ElicitationDecision::Decline, None)),
        "cancels" => Some(elicited(ElicitationDecision::Cancel, None)),
        "leaves" => None,
        other => panic!("nobody answers {other:?}"),
    };
    let unattended = answer.is_none();
    Input::Resolved(Box::new(InteractionResolution {
        interaction_id,
        answer,
        edit: changed.as_deref().map(edit),
        reason: rest.filter(|_| unattended),
        by: if unattended { "reasonix" } else { "ann" }.into(),
        unattended,
        request_id: None,
    }))
}

/// `a 1`, `a 1 alone`.
pub fn asks(what: &str) -> Input {
    let words: Vec<_> = what.split(' ').collect();
    Input::CallAsks(Box::new(CallQuestion {
        call: CallId::from(words[0]),
        number: number(words[1]),
        question: elicitation(),
        shown_hash: "shown".into(),
        attended: words.get(2) != Some(&"alone"),
    }))
}

/// `a 1`.
pub fn withdraws(what: &str) -> Input {
    let (call, count) = what.split_once(' ').expect("withdraws CALL NUMBER");
    Input::CallWithdraws {
        call: CallId::from(call),
        number: number(count),
    }
}

/// `plans TEXT`, `fails WHY`.
pub fn planner(what: &str, turn: u64) -> Input {
    let (does, words) = what.split_once(' ').expect("planner DOES WORDS");
    let planned = does == "plans";
    Input::Planned(Box::new(PlannerFinished {
        turn,
        outcome: match planned {
            true => PlanningOutcome::Planned,
            false => PlanningOutcome::Failed,
        },
        session: None,
        pid: Some(Pid(8)),
        plan: if planned { words } else { "" }.to_owned(),
        why: (!planned).then(|| words.to_owned()),
        duration_ms: 5,
    }))
}

pub fn ends(what: &str) -> Input {
    let (what, changing) = what
        .split_once(" changing ")
        .map_or((what, None), |(what, file)| (what, Some(file)));
    let (call, how) = what.split_once(' ').expect("ends CALL HOW");
    let status = match how {
        "ok" => CallStatus::Ok,
        "failed" | "blocked" => CallStatus::Failed,
        "interrupted" => CallStatus::Interrupted,
        other => panic!("no call ends `{other}`"),
    };
    let mut outcome = Box::new(contract::Outcome::with_status(status, "its output"));
    outcome.blocked = (how == "blocked").then(|| "it writes outside".into());
    outcome.changed = changing
        .map(|file| Changed {
            path: file.to_owned(),
            now: FileState::Absent,
        })
        .into_iter()
        .collect();
    Input::CallEnded {
        call: CallId::from(call),
        outcome,
        duration_ms: 5,
    }
}

pub fn stop(what: &str) -> Input {
    let (why, shown) = what
        .split_once(" showing ")
        .map_or((what, None), |(why, shown)| (why, Some(shown)));
    let reason = match why {
        "user" => StopReason::User,
        "term" => StopReason::Term,
        "kill" => StopReason::Kill,
        "shutdown" => StopReason::Shutdown,
        other => panic!("nothing stops for `{other}`"),
    };
    let partial = shown.map(|text| {
        Box::new(Answer {
            text: text.to_owned(),
            ..Answer::default()
        })
    });
    Input::Stop { reason, partial }
}
