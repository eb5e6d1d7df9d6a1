//! Effects as text. Effects that only repeat the event are left out.

use contract::{ElicitationAnswer, ToolChoice};
use proto::Body;
use proto::item::{
    AssistantMessage, CallStatus, Finish, ToolCall, ToolMessage, UserMessage, Voice,
};
use proto::outcome::TurnEnded;
use proto::params::interaction::{InteractionAnswer, InteractionRequest};
use proto::state::WaitingFor;

use crate::{Effect, words};

pub fn reported(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::Append(record) => return recorded(&record.body),
        Effect::Ask {
            attempt,
            tool_choice,
            ..
        } => {
            let without = if *tool_choice == ToolChoice::None {
                " without tools"
            } else {
                ""
            };
            let again = if *attempt > 1 {
                format!(", try {attempt}")
            } else {
                String::new()
            };
            format!("ask{without}{again}")
        }
        Effect::Reset(job) => format!("reset, job {}: {:?}", job.number, job.summary),
        Effect::AskSummary { attempt, .. } => format!("ask for a summary, try {attempt}"),
        Effect::Plan(request) => {
            let round = match request.round {
                0 => String::new(),
                round => format!(" in round {round}"),
            };
            let task = request.task.replace("\n\n<last-answer>\n", ", after: ");
            let task = task.replace("\n</last-answer>", "");
            let task = task.replace("\n\n<conversation>\n", ", before: ");
            let task = task.replace("\n</conversation>", "").replace('\n', ", ");
            format!("{} plans{round}: {task}", request.model)
        }
        Effect::CancelPlan => "stop the planner".into(),
        Effect::CancelAsk => "drop the request".into(),
        Effect::Supersede { .. } => "discard the shown part".into(),
        Effect::ArmRestart { in_ms } => format!("go on in {in_ms} ms"),
        Effect::Retry { in_ms, .. } => format!("try again in {in_ms} ms"),
        Effect::Judge { call } => format!("judge {}{}", call.id, command(call)),
        Effect::Run { call, after: None } => format!("run {}{}", call.id, command(call)),
        Effect::Run {
            call,
            after: Some(_),
        } => format!("run {}{} once that is on disk", call.id, command(call)),
        Effect::AnswerCall {
            call,
            number,
            answer,
        } => match answer {
            ElicitationAnswer::Accept(values) => {
                let values = serde_json::to_string(values).unwrap_or_default();
                format!("tell {call} {number}: {values}")
            }
            ElicitationAnswer::Decline => format!("tell {call} {number}: declined"),
            ElicitationAnswer::Cancel => format!("tell {call} {number}: cancelled"),
        },
        Effect::CancelCalls { grace_ms, .. } => format!("stop the calls, KILL after {grace_ms} ms"),
        Effect::NotifyTurnEnd => "run the stop hooks".into(),
        Effect::CancelTurnEndNotification => "cancel the stop hooks".into(),
        Effect::ArmTimeout { turn, in_ms } => format!("turn {turn} has {in_ms} ms"),
    })
}

/// The command to which the user changed a call.
fn command(call: &ToolCall) -> String {
    let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let command = arguments["command"].as_str();
    command.map_or_else(String::new, |command| format!(" as `{command}`"))
}

/// A result as the model sees it, with its first sentence unless the call succeeded.
fn tool_result(message: &ToolMessage) -> String {
    let change = reported_change(&message.text);
    let unwarned = words::without_loop_warning(&message.text);
    let warned = if unwarned == message.text {
        ""
    } else {
        " warned"
    };
    let status = lower(message.status);
    if message.status == CallStatus::Ok {
        return format!("result {} {status}{change}{warned}", message.call);
    }
    let text = match change.is_empty() {
        true => unwarned,
        false => unwarned.splitn(4, '\n').nth(3).unwrap_or_default(),
    };
    let ends = [". ", ".\n"].into_iter().filter_map(|end| text.find(end));
    let first = ends.min().map_or(text, |end| &text[..end]);
    let first = first.trim_end_matches('.');
    format!("result {} {status}{change}{warned}: {first}", message.call)
}

/// The changed command that a result reports to the model.
fn reported_change(text: &str) -> String {
    let report =
        text.strip_prefix("The user (ann) changed the command of this call before it ran, to:\n");
    let command = report.and_then(|report| report.lines().next());
    command.map_or_else(String::new, |command| format!(" as `{command}`"))
}

fn recorded(body: &Body) -> Option<String> {
    Some(match body {
        Body::SessionSet(set) if set.context_window.is_some() => {
            let window = set.context_window.expect("a window");
            let by = if window.refused { ", by a refusal" } else { "" };
            format!("set: window {}{by}", window.tokens)
        }
        Body::SessionSet(set) if set.stand_in.is_some() => {
            format!(
                "fall back to {}",
                set.options.model.as_deref().unwrap_or_default()
            )
        }
        Body::SessionCreated(_)
        | Body::SessionSet(_)
        | Body::PromptQueued(_)
        | Body::PromptEdited(_)
        | Body::PromptMoved(_)
        | Body::HookFinished(_)
        | Body::AgentFinished(_)
        | Body::Usage(_)
        | Body::ReasoningExtracted(_)
        | Body::CallReviewed(_)
        | Body::SessionShortened(_)
        | Body::Unknown { .. } => {
            return None;
        }
        Body::CallsRepaired(repaired) => format!(
            "taken up {} closed {} nested {}",
            repaired.taken_up.len(),
            repaired.closed.len(),
            repaired.nested.len()
        ),
        Body::SessionState(state) => match state.waiting_for {
            Some(WaitingFor::Interaction(kind)) => format!("waiting for {}", kind.as_str()),
            Some(what) => format!("waiting for {}", lower(what)),
            None => lower(state.state),
        },
        Body::SessionExited(exited) => format!("exited {}", exited.exit_code),
        Body::SessionReopened(_) => "reopened".into(),
        Body::SessionRestarted(restarted) => {
            format!("restart {}: {}", restarted.number, restarted.reason)
                .trim_end_matches(": ")
                .to_owned()
        }
        Body::SessionGaveUp(gave_up) => format!("gave up: {}", gave_up.reason.as_str()),
        Body::SessionSuspended(_) => "suspended".into(),
        Body::ChildSpawned(child) => format!("child {} runs", child.pid),
        Body::ChildExited(child) => format!(
            "child {} is gone: {}",
            child.pid,
            child.cause.as_deref().unwrap_or("by itself")
        ),
        Body::PlannerStarted(_) => "planning".into(),
        Body::PlannerFinished(finished) => finished.outcome.as_str().into(),
        Body::PromptUnqueued(_) => "taken back".into(),
        Body::TurnStarted(_) => "turn starts".into(),
        Body::TurnEnded(ended) => turn_ended(ended),
        Body::User(message) => user(message),
        Body::Assistant(message) => assistant(message),
        Body::Tool(message) => tool_result(message),
        Body::PolicyDecided(decided) => format!("nobody was there: {}", lower(decided.unattended?)),
        Body::ToolStarted(started) if started.outside => {
            format!("started {} outside", started.call)
        }
        Body::ToolStarted(started) => format!("started {}", started.call),
        Body::ToolBlocked(blocked) => format!("blocked {}", blocked.call),
        Body::ToolFinished(finished) => {
            let changed = finished.changed.iter().map(|changed| &*changed.path);
            let changed: Vec<_> = changed.collect();
            let changed = changed.join(" ");
            let with = if changed.is_empty() {
                ""
            } else {
                ", changed: "
            };
            let name = match &*finished.tool {
                "tool_call" => " (tool_call)",
                _ => "",
            };
            format!(
                "finished {}{name} {}{with}{changed}",
                finished.call,
                lower(finished.status)
            )
        }
        Body::InteractionOpened(interaction) => {
            let (id, call) = (&interaction.interaction_id, &interaction.call);
            match &interaction.request {
                InteractionRequest::Approval(approval) if approval.escape.is_some() => {
                    format!("question {id} about {call} outside")
                }
                InteractionRequest::Approval(_) => format!("question {id} about {call}"),
                InteractionRequest::Questions { .. } => format!("asks {id} for {call}"),
                InteractionRequest::Plan { .. } => format!("proposes {id} for {call}"),
                InteractionRequest::Elicitation(asked) => {
                    format!("{} asks {id} in {call}", asked.server)
                }
            }
        }
        Body::InteractionResolved(resolved) => {
            let said = match &resolved.answer {
                Some(InteractionAnswer::Approval {
                    edited_command: Some(command),
                    ..
                }) => format!("run `{command}`"),
                Some(InteractionAnswer::Approval { decision, .. }) => lower(*decision),
                Some(InteractionAnswer::Plan { decision, .. }) => lower(*decision),
                Some(InteractionAnswer::Questions { replies }) => {
                    let labels = replies.iter().flat_map(|reply| &reply.labels);
                    labels.cloned().collect::<Vec<_>>().join(" ")
                }
                Some(InteractionAnswer::Elicitation { decision, .. }) => decision.as_str().into(),
                None => "nothing".into(),
            };
            format!(
                "{} answers {}: {said}",
                resolved.by, resolved.interaction_id
            )
        }
        Body::GoalStarted(started) => format!("goal: {}", started.text),
        Body::GoalChanged(changed) => match &changed.resumed {
            Some(goal) => format!("goal resumed: {} turns", goal.max_turns),
            None => "goal changed".to_owned(),
        },
        Body::GoalReported(reported) => format!(
            "reported {}{}{}",
            reported.report.status.as_str(),
            if reported.checking { ", checking" } else { "" },
            match reported.missing.len() {
                0 => "",
                1 => ", 1 missing",
                _ => ", 2 missing",
            }
        ),
        Body::GoalContinued(continued) => {
            format!("goal turn {}: {}", continued.number, continued.why.as_str())
        }
        Body::GoalEnded(ended) => format!("goal {}: {}", ended.outcome.as_str(), ended.reason),
        Body::TodoUpdated(updated) => {
            let todos: Vec<_> = updated.todos.iter().map(|todo| &*todo.content).collect();
            format!("to do: {}", todos.join(" "))
        }
        Body::CheckpointCreated(checkpoint) => match &checkpoint.call {
            Some(call) => format!("files kept for {call}"),
            None => "files kept".into(),
        },
        Body::SessionRewound(rewound) => match rewound.undoes {
            Some(_) => format!("back again at turn {}", rewound.to_turn),
            None if rewound.shown.is_none() => "files put back".into(),
            None => format!("back at turn {}", rewound.to_turn),
        },
        Body::MessagePinned(pinned) => format!("pin {}: {}", pinned.item, pinned.pinned),
        Body::CacheReset(reset) => format!("cache reset: {}", reset.reason),
        Body::Notice(notice) => format!(
            "notice: {}",
            notice.text.split(['.', ';']).next().unwrap_or_default()
        ),
    })
}

fn turn_ended(ended: &TurnEnded) -> String {
    let reason = ended
        .reason
        .map(|reason| format!(" ({})", lower(reason)))
        .unwrap_or_default();
    let error = ended
        .error
        .as_ref()
        .map(|error| format!(": {}", error.message))
        .unwrap_or_default();
    let mut denied = ended.denied.iter();
    let denied = match denied.any(|denied| denied.tool == "tool_call") {
        true => ", denied: tool_call",
        false => "",
    };
    format!("turn ends {}{reason}{error}{denied}", lower(ended.outcome))
}

fn user(message: &UserMessage) -> String {
    match (message.voice, message.text.as_str()) {
        (Voice::Daemon, words::SUM_UP) => "daemon: sum up".into(),
        (Voice::Daemon, words::STUCK) => "daemon: stuck".into(),
        (Voice::Daemon, words::REASONING_ONLY) => "daemon: answer in words".into(),
        (Voice::Daemon, words::PAUSED) => "daemon: paused".into(),
        (Voice::Daemon, words::CONTINUE_AFTER_LIMIT) => "daemon: go on after the limit".into(),
        (Voice::Daemon, words::GO_ON) => "daemon: go on".into(),
        (Voice::Daemon, other) if words::parse_reported_permissions(other).is_some() => {
            let first = other.split([':', '.']).next().unwrap_or_default();
            format!("daemon: {first}")
        }
        (Voice::Daemon, other) if words::is_plan(other) => "daemon: plan".into(),
        (Voice::Daemon, other) if words::is_invalid_call(other) => "daemon: invalid call".into(),
        (Voice::Daemon, other) if other.starts_with("Continue with the goal") => {
            "daemon: continue".into()
        }
        (Voice::Daemon, other) if other.starts_with("Continue with the task") => {
            "daemon: go on after the failure".into()
        }
        (Voice::Daemon, other) if other.starts_with("The last turn was completed") => {
            "daemon: start again".into()
        }
        (Voice::Daemon, other) => panic!("the daemon never says `{other}`"),
        (Voice::Session, text) => format!("session: {text}"),
        (Voice::Prompt, text) => format!("prompt: {text}"),
        (Voice::Steer, text) => format!("steer: {text}"),
    }
}

fn assistant(message: &AssistantMessage) -> String {
    let calls: Vec<_> = message
        .calls
        .iter()
        .map(|call| call.id.0.as_str())
        .collect();
    match (message.text.as_str(), &calls[..]) {
        (text, []) if message.finish == Finish::Interrupted => {
            format!("model (interrupted): {text}")
        }
        ("", []) => "model: nothing".into(),
        (text, []) => format!("model: {text}"),
        (_, calls) => format!("model calls {}", calls.join(" ")),
    }
}

/// The name of a variant as people read it.
fn lower(variant: impl std::fmt::Debug) -> String {
    let name = format!("{variant:?}");
    let mut words = String::new();
    for (place, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && place > 0 {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}
