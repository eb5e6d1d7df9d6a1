//! What happens in a session, in words of every language. Pure. Values come as they are: whoever prints the words cleans
//! them.

use std::borrow::Cow;

use proto::Pid;
use proto::budget::{Budget, Dimension};
use proto::hook::{HookFinished, HookOutcome};
use proto::item::{Attachment, AttachmentKind, CallStatus, Finish};
use proto::outcome::{Denied, OutcomeKind, Reason};
use proto::params::compact::CompactOutput;
use proto::params::forecast::{Forecast, Forecasts};
use proto::params::history::{MessageRole, What as Back};
use proto::params::interaction::Reply;
use proto::params::reload::ReloadOutput;
use proto::record::{
    CallReviewed, ChildExited, ContinueReason, GaveUpReason, GoalChanged, GoalContinued, GoalEnded,
    GoalOutcome, Origin, ReasoningExtracted, ReviewVerdict, RewoundFile, RewoundResult,
    SessionGaveUp, SessionRestarted, SessionRewound,
};
use proto::reset::{CacheReset, Compaction, Pinned};
use proto::state::Mode;

use super::{Status, Tone};
use crate::amounts;
use crate::goal_command::{GoalCommandError, OPTIONS};
use crate::messages::Language;
use crate::messages::transcript::Msg;
use crate::text;

/// Files that are named; of more there is only the number.
const FILES: usize = 5;

/// Instruction files that are named; the others are counted.
const INSTRUCTION_FILES: usize = 3;

/// Characters that a prompt is known by.
const FIRST_WORDS: usize = 40;

/// The instruction files that a session has read. `None`: it has none.
fn instruction_files(language: Language, files: &[String]) -> Option<String> {
    let (first, more) = files.split_at(files.len().min(INSTRUCTION_FILES));
    let names = first.join(", ");
    match (first.is_empty(), more.len()) {
        (true, _) => None,
        (false, 0) => Some(language.fill(Msg::Instructions, &[&names])),
        (false, more) => {
            let more = more.to_string();
            Some(language.fill(Msg::InstructionsAndMore, &[&names, &more]))
        }
    }
}

/// The names of clients in which a user reads and writes.
const DIALOGS: [&str; 2] = ["reasonix chat", "reasonix attach"];

/// How the names of the product's other clients begin. Without a command it is the daemon's own.
const COMMAND: &str = "reasonix ";

/// Who did something, by the name of the client: the product's own clients are terminals of the user.
#[must_use]
pub fn who(language: Language, by: &str) -> Cow<'_, str> {
    if DIALOGS.contains(&by) {
        return language.say(Msg::You).into();
    }
    match by.starts_with(COMMAND) {
        true => language.fill(Msg::YouBy, &[by]).into(),
        false => by.into(),
    }
}

/// That a goal continues, and why.
pub(crate) fn goal_continued(language: Language, continued: &GoalContinued) -> String {
    let why = goal_reason(language, continued.why);
    let number = continued.number.to_string();
    match goal_detail(language, continued.why, &continued.detail) {
        detail if detail.is_empty() => language.fill(Msg::GoalContinues, &[&number, why]),
        detail => language.fill(Msg::GoalContinuesWith, &[&number, why, &detail]),
    }
}

/// Author of a message, in words.
#[must_use]
pub fn author(language: Language, role: MessageRole) -> &'static str {
    language.say(match role {
        MessageRole::User => Msg::AuthorUser,
        MessageRole::Assistant => Msg::AuthorAssistant,
        MessageRole::Tool => Msg::AuthorTool,
    })
}

/// What the reason of a goal's continuation is about, in words; may be empty. What a refused claim lacks is a list.
#[must_use]
pub fn goal_detail(language: Language, why: ContinueReason, detail: &str) -> String {
    match why {
        ContinueReason::Refused => {
            let missing = detail.split("; ").map(|what| language.translate(what));
            missing.collect::<Vec<_>>().join("; ")
        }
        ContinueReason::Started
        | ContinueReason::Reported
        | ContinueReason::NoReport
        | ContinueReason::Blocked
        | ContinueReason::NoProgress
        | ContinueReason::StepLimit
        | ContinueReason::Restarted
        | ContinueReason::LimitRaised
        | ContinueReason::Failed => language.translate(detail).into_owned(),
    }
}

/// Why `/goal` is not understood.
#[must_use]
pub fn goal_error(language: Language, error: &GoalCommandError) -> String {
    match error {
        GoalCommandError::UnknownOption(option) => {
            let known = OPTIONS.map(|option| format!("`{option}`")).join(", ");
            language.fill(Msg::GoalUnknownOption, &[option, &known])
        }
        GoalCommandError::Limits => language.say(Msg::GoalChangeHow).to_owned(),
        GoalCommandError::NoText => language.say(Msg::GoalNoText).to_owned(),
    }
}

/// Why a goal continues, in words.
#[must_use]
pub fn goal_reason(language: Language, why: ContinueReason) -> &'static str {
    language.say(match why {
        ContinueReason::Started => Msg::GoalWhyStarted,
        ContinueReason::Reported => Msg::GoalWhyReported,
        ContinueReason::NoReport => Msg::GoalWhyNoReport,
        ContinueReason::Refused => Msg::GoalWhyRefused,
        ContinueReason::Blocked => Msg::GoalWhyBlocked,
        ContinueReason::NoProgress => Msg::GoalWhyNoProgress,
        ContinueReason::StepLimit => Msg::GoalWhyStepLimit,
        ContinueReason::Restarted => Msg::GoalWhyRestarted,
        ContinueReason::LimitRaised => Msg::GoalWhyLimitRaised,
        ContinueReason::Failed => Msg::GoalWhyFailed,
    })
}

/// That a user changed the limits of a goal, and what they are.
fn goal_changed(language: Language, changed: &GoalChanged) -> String {
    let message = match changed.resumed {
        Some(_) => Msg::GoalResumed,
        None => Msg::GoalChanged,
    };
    let limits = goal_limits(language, changed.max_turns, changed.budget);
    language.fill(message, &[&who(language, &changed.by), &limits])
}

/// Limits of a goal, in words: `turns: 80 · money: $5.00`. Only those that are given.
#[must_use]
pub fn goal_limits(language: Language, turns: Option<u64>, budget: Option<Budget>) -> String {
    let budget = budget.unwrap_or_default();
    let amount = |dimension| move |limit| amounts::amount(dimension, limit);
    let limits = [
        (Msg::LimitTurns, turns, turns.map(|turns| turns.to_string())),
        (
            Msg::LimitMoney,
            budget.cost_micros,
            budget.cost_micros.map(amount(Dimension::Money)),
        ),
        (
            Msg::LimitTokens,
            budget.tokens,
            budget.tokens.map(amount(Dimension::Tokens)),
        ),
        (
            Msg::LimitSteps,
            budget.steps,
            budget.steps.map(amount(Dimension::Steps)),
        ),
        (
            Msg::LimitMinutes,
            budget.ms,
            budget.ms.map(amount(Dimension::Time)),
        ),
    ];
    let words = limits.into_iter().filter_map(|(message, limit, words)| {
        Some(match limit? {
            0 => language.fill(message, &[language.say(Msg::NoLimit)]),
            _ => language.fill(message, &[&words?]),
        })
    });
    words.collect::<Vec<_>>().join(" · ")
}

/// How a goal ended.
#[must_use]
pub fn goal_ended(language: Language, ended: &GoalEnded) -> String {
    let message = match ended.outcome {
        GoalOutcome::Complete => Msg::GoalComplete,
        GoalOutcome::Blocked => Msg::GoalBlocked,
        GoalOutcome::Stopped => Msg::GoalStopped,
        GoalOutcome::OutOfBudget => Msg::GoalOutOfBudget,
        GoalOutcome::OutOfTurns => Msg::GoalOutOfTurns,
        GoalOutcome::Failed => Msg::GoalFailed,
    };
    let reason = match &ended.by {
        Some(by) => language.fill(
            Msg::GoalBy,
            &[&who(language, by), &language.translate(&ended.reason)],
        ),
        None => language.translate(&ended.reason).into_owned(),
    };
    let turns = language.counted(ended.turns, Msg::OneTurn, Msg::Turns);
    language.fill(message, &[&turns, &reason])
}

/// That the session goes on by its restart policy, and after which failure.
fn restarted(language: Language, restarted: &SessionRestarted) -> String {
    let number = restarted.number.to_string();
    let reason = language.translate(&restarted.reason);
    let wait = seconds(restarted.wait_ms);
    match (reason.is_empty(), restarted.wait_ms) {
        (true, 0) => language.fill(Msg::Restarted, &[&number]),
        (true, _) => language.fill(Msg::RestartedIn, &[&number, &wait]),
        (false, 0) => language.fill(Msg::RestartedAfter, &[&number, &reason]),
        (false, _) => language.fill(Msg::RestartedAfterIn, &[&number, &reason, &wait]),
    }
}

/// Why a session with a restart policy does not go on.
pub(crate) fn gave_up(language: Language, gave_up: &SessionGaveUp) -> String {
    let restarts = language.counted(gave_up.restarts, Msg::OneRestart, Msg::Restarts);
    let reason = language.say(match gave_up.reason {
        GaveUpReason::TooMany => Msg::GaveUpTooMany,
        GaveUpReason::SameFailure => Msg::GaveUpSameFailure,
        GaveUpReason::OutOfCredit => Msg::GaveUpOutOfCredit,
        GaveUpReason::Budget => Msg::GaveUpBudget,
        GaveUpReason::Denied => Msg::GaveUpDenied,
        GaveUpReason::Limit => Msg::GaveUpLimit,
        GaveUpReason::Blocked => Msg::GaveUpBlocked,
    });
    language.fill(Msg::GaveUp, &[&restarts, reason])
}

/// What the reviewer said of a call, and who decides about it.
fn reviewed(language: Language, reviewed: &CallReviewed) -> String {
    let message = match (reviewed.verdict, reviewed.decided) {
        (ReviewVerdict::Deny, true) => Msg::ReviewDenied,
        (ReviewVerdict::Deny, false) => Msg::ReviewAgainst,
        (ReviewVerdict::Allow, true) => Msg::ReviewAllowed,
        (ReviewVerdict::Allow, false) => Msg::ReviewHarmless,
        (ReviewVerdict::Ask, _) => Msg::ReviewAsks,
        (ReviewVerdict::Failed, _) => Msg::ReviewFailed,
    };
    let reason = match reviewed.reason.trim() {
        "" => language.say(Msg::NoReason).to_owned(),
        reason => one_line(&language.translate(reason)),
    };
    language.fill(message, &[&reviewed.tool, &reason])
}

/// The line of a status.
#[must_use]
pub fn status(language: Language, status: &Status) -> String {
    let say = |message| language.say(message).to_owned();
    let fill = |message: Msg, values: &[&str]| language.fill(message, values);
    let by = |by: &Option<String>, alone: Msg, with: Msg| match by {
        Some(by) => fill(with, &[&who(language, by)]),
        None => say(alone),
    };
    match status {
        Status::Created {
            pid,
            model,
            cwd,
            instructions,
            origin: from,
        } => {
            let mut parts = vec![fill(Msg::Session, &[&pid.to_string(), model, cwd])];
            parts.extend(instruction_files(language, instructions));
            parts.extend(from.as_ref().map(|from| origin(language, from)));
            parts.join(" · ")
        }
        Status::StartsAgain { .. } => say(Msg::StartsAgain),
        Status::BrokeOff => say(Msg::BrokeOff),
        Status::CacheReset(reset) => fill(Msg::CacheReset, &[&self::reset(language, reset)]),
        Status::Pinned(pinned) => pin(language, pinned),
        Status::ReasoningExtracted(found) => extraction(language, found),
        Status::Planning { model } => fill(Msg::Planning, &[model]),
        Status::Planned {
            pid,
            plan,
            duration_ms,
        } => {
            let pid = pid.map_or_else(String::new, |pid| pid.to_string());
            fill(Msg::Planned, &[&pid, &seconds(*duration_ms), plan])
        }
        Status::Samples { is_in, of } => fill(Msg::Samples, &[&is_in.to_string(), &of.to_string()]),
        Status::Behind(events) => fill(Msg::Behind, &[&events.to_string()]),
        Status::Paused { by: name } => by(name, Msg::Paused, Msg::PausedBy),
        Status::Resumed { by: name } => by(name, Msg::Resumed, Msg::ResumedBy),
        Status::Mode { mode, by: name } => match mode {
            Mode::Plan => by(name, Msg::PlanMode, Msg::PlanModeBy),
            Mode::Normal => by(name, Msg::PlanModeEnded, Msg::PlanModeEndedBy),
        },
        Status::AddedDir { dir } => fill(Msg::AddedDir, &[dir]),
        Status::OnlyReads { only, by: name } => match only {
            true => by(name, Msg::OnlyReads, Msg::OnlyReadsBy),
            false => by(name, Msg::ChangesAgain, Msg::ChangesAgainBy),
        },
        Status::GoalStarted { by, text, research } => match research {
            Some(dir) => fill(Msg::ResearchStarted, &[&who(language, by), text, dir]),
            None => fill(Msg::GoalStarted, &[&who(language, by), text]),
        },
        Status::GoalChanged(changed) => goal_changed(language, changed),
        Status::GoalContinued(continued) => goal_continued(language, continued),
        Status::GoalEnded(ended) => goal_ended(language, ended),
        Status::Revoked { by, rule } => fill(Msg::Revoked, &[&who(language, by), rule]),
        Status::Restarted(restarted) => self::restarted(language, restarted),
        Status::GaveUp(gave_up) => self::gave_up(language, gave_up),
        Status::Reviewed(found) => reviewed(language, found),
        Status::Retry { in_ms, cause } => match in_ms {
            Some(ms) => fill(Msg::RetryIn, &[&seconds(*ms), &language.translate(cause)]),
            None => fill(Msg::Retry, &[&language.translate(cause)]),
        },
        Status::Credentials { cause } => fill(Msg::Credentials, &[&language.translate(cause)]),
        Status::Exited {
            outcome: kind,
            reason,
        } => fill(Msg::Exited, &[&outcome(language, *kind, *reason)]),
        Status::Reopened { by } => fill(Msg::Reopened, &[&who(language, by)]),
        Status::Suspended => say(Msg::Suspended),
        Status::ReadOnly { reason } => fill(Msg::ReadOnly, &[&language.translate(reason)]),
        Status::Hook(finished) => hook(language, finished),
        Status::Unkept { why } => language.translate(why).into_owned(),
        Status::PromptEdited { by, which, text } => fill(
            Msg::PromptEdited,
            &[&who(language, by), &prompt(language, which), text],
        ),
        Status::PromptMoved { by, which, place } => fill(
            Msg::PromptMoved,
            &[
                &who(language, by),
                &prompt(language, which),
                &place.to_string(),
            ],
        ),
        Status::PromptDropped { which } => fill(Msg::PromptDropped, &[&prompt(language, which)]),
        Status::Joined { name } => fill(Msg::Joined, &[name]),
        Status::Left { name } => fill(Msg::Left, &[name]),
    }
}

/// A prompt that waits, by its first words if they are known.
fn prompt(language: Language, which: &str) -> String {
    match which {
        "" => language.say(Msg::AQueuedPrompt).to_owned(),
        words => language.fill(Msg::QueuedPrompt, &[words]),
    }
}

/// Where a fork comes from.
#[must_use]
pub fn origin(language: Language, origin: &Origin) -> String {
    let from = origin.pid.to_string();
    match origin.turn {
        0 => language.fill(Msg::ForkedBefore, &[&from]),
        turn => language.fill(Msg::ForkedAt, &[&from, &turn.to_string()]),
    }
}

fn hook(language: Language, finished: &HookFinished) -> String {
    let message = match finished.outcome {
        HookOutcome::Block => Msg::HookBlocked,
        HookOutcome::Timeout => Msg::HookTimeout,
        HookOutcome::Error => Msg::HookError,
        HookOutcome::Pass | HookOutcome::Warn => Msg::HookWarned,
    };
    let words = language.fill(message, &[finished.event.as_str(), &finished.hook]);
    match &finished.reason {
        Some(reason) => language.fill(Msg::Because, &[&words, reason]),
        None => words,
    }
}

/// An outcome in words: `completed`, `interrupted (time limit)`, …
#[must_use]
pub fn outcome(language: Language, kind: OutcomeKind, reason: Option<Reason>) -> String {
    let outcome = language.say(match kind {
        OutcomeKind::Completed => Msg::Completed,
        OutcomeKind::Failed => Msg::OutcomeFailed,
        OutcomeKind::Interrupted => Msg::OutcomeInterrupted,
        OutcomeKind::Killed => Msg::Killed,
        OutcomeKind::BudgetExceeded => Msg::BudgetExceeded,
        OutcomeKind::MaxSteps => Msg::MaxSteps,
        OutcomeKind::ContextFull => Msg::ContextFull,
        OutcomeKind::Blocked => Msg::Blocked,
    });
    let reason = reason.map(|reason| match reason {
        Reason::User => Msg::ByPerson,
        Reason::Timeout => Msg::ByTimeout,
        Reason::Shutdown => Msg::ByShutdown,
        Reason::Term => Msg::ByTerm,
        Reason::Denied => Msg::ByNobody,
        Reason::Loop => Msg::ByLoop,
    });
    match reason {
        None => outcome.to_owned(),
        Some(reason) => language.fill(Msg::InBrackets, &[outcome, language.say(reason)]),
    }
}

/// How a call ended.
#[must_use]
pub fn call_status(language: Language, status: CallStatus) -> &'static str {
    language.say(match status {
        CallStatus::Ok => Msg::Done,
        CallStatus::Failed => Msg::Failed,
        CallStatus::Denied => Msg::Denied,
        CallStatus::Interrupted => Msg::Interrupted,
        CallStatus::Unknown => Msg::Unknown,
        CallStatus::Refused => Msg::Refused,
    })
}

/// The result of a call in a few words: `4 in 3 files`, `120 lines`.
#[must_use]
pub fn result(language: Language, text: &str) -> String {
    counted(language, text).unwrap_or_else(|| language.translate(text).into_owned())
}

/// Counts as the tools write them.
fn counted(language: Language, text: &str) -> Option<String> {
    let (first, rest) = text.split_once(' ')?;
    let words: Vec<&str> = rest.split(' ').collect();
    let count = |word: &str| word.parse::<u64>().ok();
    let all = |message: Msg, one: Msg, count: u64| match count {
        1 => language.say(one).to_owned(),
        count => language.fill(message, &[&count.to_string()]),
    };
    match (first, words.as_slice()) {
        ("lines", [range, "of", total]) if *range == format!("1–{total}") => {
            Some(all(Msg::Lines, Msg::Line, count(total)?))
        }
        (count_of, ["files"]) => Some(all(Msg::Files, Msg::File, count(count_of)?)),
        (count_of, ["lines"]) => Some(all(Msg::Lines, Msg::Line, count(count_of)?)),
        (matches, ["matches", "in", files, "files"]) => match (count(matches)?, count(files)?) {
            (0, 0) => Some(language.say(Msg::NoMatches).to_owned()),
            (matches, files) => {
                let files = all(Msg::Files, Msg::File, files);
                Some(language.fill(Msg::Matches, &[&matches.to_string(), &files]))
            }
        },
        _ => None,
    }
}

/// How an answer ended, if that is to be shown.
#[must_use]
pub fn answer_end(language: Language, finish: Finish) -> Option<&'static str> {
    match finish {
        Finish::Stop | Finish::ToolCalls | Finish::Paused => None,
        Finish::Length => Some(language.say(Msg::AnswerLength)),
        Finish::ContentFilter => Some(language.say(Msg::AnswerFilter)),
        Finish::Interrupted => Some(language.say(Msg::AnswerInterrupted)),
    }
}

/// A call that was denied in a turn. `explained`: the reason is shown elsewhere.
#[must_use]
pub fn denied(language: Language, denied: &Denied, explained: bool) -> String {
    let call = format!("{} {}", denied.tool, denied.subject);
    let call = match explained {
        true => call,
        false => language.fill(Msg::InBrackets, &[&call, &language.translate(&denied.why)]),
    };
    match &denied.agent {
        None => language.fill(Msg::CallDenied, &[&call]),
        Some(agent) => {
            let name = text::line(&agent.name);
            let session = agent.session.to_string();
            language.fill(Msg::AgentsCallDenied, &[&name, &session, &call])
        }
    }
}

/// Who sent a message that is not a user's.
#[must_use]
pub fn message_of(language: Language, session: Pid) -> String {
    language.fill(Msg::MessageOf, &[&session.to_string()])
}

/// Which sub-agent asks.
#[must_use]
pub fn asked_by(language: Language, agent: &str, session: Pid) -> String {
    let name = text::line(agent);
    language.fill(Msg::AskedByAgent, &[&name, &session.to_string()])
}

/// The question of a sub-agent has been answered elsewhere, or came to nothing.
#[must_use]
pub fn agent_answered(language: Language, session: Pid) -> String {
    language.fill(Msg::AgentAnswered, &[&session.to_string()])
}

/// A command in the background came, or went.
#[must_use]
pub fn child(language: Language, pid: Pid, command: &str, exited: Option<&ChildExited>) -> String {
    let pid = pid.to_string();
    match exited {
        None => language.fill(Msg::ChildRuns, &[&pid, command]),
        Some(exited) => language.fill(Msg::ChildEnded, &[&pid, &exit(language, exited)]),
    }
}

/// How a command in the background ended: `exit 0`, `signal 15 (kill_shell)`, …
#[must_use]
pub fn exit(language: Language, child: &ChildExited) -> String {
    let how = match (child.code, child.signal) {
        (Some(code), _) => language.fill(Msg::Exit, &[&code.to_string()]),
        (None, Some(signal)) => language.fill(Msg::Signal, &[&signal.to_string()]),
        (None, None) => language.say(Msg::ExitUnknown).to_owned(),
    };
    match &child.cause {
        Some(cause) => language.fill(Msg::InBrackets, &[&how, &language.translate(cause)]),
        None => how,
    }
}

/// One reply on one line: the labels, and words of the person's own in quotes.
#[must_use]
pub fn reply(language: Language, reply: &Reply) -> String {
    let labels = reply.labels.iter().map(|label| one_line(label));
    let other = reply.other.iter();
    let other = other.map(|other| format!("\"{}\"", one_line(other)));
    let words: Vec<String> = labels.chain(other).collect();
    match words.is_empty() {
        true => language.say(Msg::NoAnswer).to_owned(),
        false => words.join(", "),
    }
}

/// Who went back where, and what that hides.
#[must_use]
pub fn rewound(language: Language, rewound: &SessionRewound) -> String {
    let turn = match rewound.to_turn {
        0 => language.say(Msg::TheBeginning).to_owned(),
        turn => language.fill(Msg::Turn, &[&turn.to_string()]),
    };
    let message = match (rewound.undoes.is_some(), rewound.what) {
        (true, Back::Conversation | Back::Both) => Msg::UndoneTalk,
        (true, Back::Code) => Msg::UndoneCode,
        (false, Back::Conversation) => Msg::RewoundTalk,
        (false, Back::Both) => Msg::RewoundAll,
        (false, Back::Code) => Msg::RewoundCode,
    };
    language.fill(message, &[&who(language, &rewound.by), &turn])
}

/// What became of files, a line a kind of end; those that were so already are not listed.
#[must_use]
pub fn files(language: Language, files: &[RewoundFile]) -> Vec<(Tone, String)> {
    let kind = |file: &RewoundFile| match file.result {
        RewoundResult::Restored if file.was_removed() => Some(Msg::Removed),
        RewoundResult::Restored => Some(Msg::Restored),
        RewoundResult::ChangedSince => Some(Msg::ChangedSince),
        RewoundResult::Same | RewoundResult::Failed { .. } => None,
    };
    let mut lines = Vec::new();
    for (tone, message) in [
        (Tone::Info, Msg::Restored),
        (Tone::Info, Msg::Removed),
        (Tone::Warning, Msg::ChangedSince),
    ] {
        let of = files.iter().filter(|file| kind(file) == Some(message));
        let paths: Vec<&str> = of.map(|file| file.path.as_str()).collect();
        if !paths.is_empty() {
            lines.push((tone, language.fill(message, &[&named(language, &paths)])));
        }
    }
    for file in files {
        if let RewoundResult::Failed { why } = &file.result {
            let words = language.fill(Msg::NotRestored, &[&file.path, why]);
            lines.push((Tone::Warning, words));
        }
    }
    lines
}

fn named(language: Language, paths: &[&str]) -> String {
    let shown: Vec<&str> = paths.iter().take(FILES).copied().collect();
    let names = shown.join(", ");
    match paths.len().saturating_sub(FILES) {
        0 => names,
        more => language.fill(Msg::AndMore, &[&names, &more.to_string()]),
    }
}

/// What a cache reset was for: `rewind`, `switch to p/m`, `compaction, about 80000 to 30000 tokens, …`.
#[must_use]
pub fn reset(language: Language, reset: &CacheReset) -> String {
    let reason = language.translate(&reset.reason);
    // A reload keeps the model.
    if let Some(wire) = reset.wire.as_ref().filter(|_| reset.reason != "reload") {
        let effort = wire.effort.as_ref();
        let effort = effort.map_or_else(String::new, |effort| {
            language.fill(Msg::ResetEffort, &[effort])
        });
        let model = format!("{}/{}", wire.provider, wire.model);
        return language.fill(Msg::ResetTo, &[&reason, &model, &effort]);
    }
    match &reset.compaction {
        Some(done) => format!("{reason}, {}", compaction(language, done)),
        None => reason.into_owned(),
    }
}

/// The outcome of a compaction, of its preview, or of its undoing.
#[must_use]
pub fn compacted(language: Language, preview: bool, undo: bool, done: &CompactOutput) -> String {
    if let Some(why) = &done.why {
        return language.fill(Msg::CompactNothing, &[&language.translate(why)]);
    }
    let Some(of) = &done.compaction else {
        return language.say(Msg::CompactBefore).to_owned();
    };
    let mut of = of.clone();
    let message = match (preview, undo) {
        (true, _) => Msg::CompactWould,
        (_, true) => Msg::CompactUndone,
        _ => Msg::Compacted,
    };
    let mechanical = of.mechanical && !undo;
    if undo {
        // It goes the other way.
        std::mem::swap(&mut of.tokens_before, &mut of.tokens_after);
    }
    let mut words = language.fill(message, &[&compaction(language, &of)]);
    if mechanical {
        words.push_str(language.say(Msg::CompactMechanical));
    }
    if let Some(price) = &done.forecasts {
        words.push_str(&forecasts(language, Msg::Forecasts, price));
    }
    words
}

/// The outcome of a reload, in lines.
#[must_use]
pub fn reloaded(language: Language, done: &ReloadOutput) -> Vec<String> {
    let problems = done.problems.iter();
    let mut lines: Vec<_> = problems
        .map(|problem| crate::text::line(&language.translate(problem)))
        .collect();
    if done.seq.is_none() && done.changed.is_empty() {
        lines.push(language.say(Msg::ReloadNothing).to_owned());
        return lines;
    }
    let names: Vec<_> = done
        .changed
        .iter()
        .map(|name| crate::text::line(name))
        .collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let outcome = match done.seq {
        Some(_) => Msg::Reloaded,
        None => Msg::ReloadedForFree,
    };
    let mut words = language.fill(outcome, &[&named(language, &names)]);
    if let Some(price) = &done.forecasts {
        words.push_str(&forecasts(language, Msg::ReloadForecasts, price));
    }
    lines.push(words);
    lines
}

/// What a prompt would cost: tokens, how many of them are cached, and the price.
#[must_use]
pub fn forecast(language: Language, forecast: &Forecast) -> String {
    let tokens = forecast.prompt_tokens.to_string();
    let cached = match forecast.cached_tokens {
        0 => language.say(Msg::CachedNone).to_owned(),
        cached => language.fill(Msg::Cached, &[&cached.to_string()]),
    };
    let price = match forecast.price() {
        Some(price) => price,
        None => language.say(Msg::PriceUnknown).to_owned(),
    };
    language.fill(Msg::Forecast, &[&tokens, &cached, &price])
}

/// What the next prompt would cost, and costs without the change.
fn forecasts(language: Language, message: Msg, forecasts: &Forecasts) -> String {
    let one = |of: &Forecast| forecast(language, of);
    let (then, now) = (one(&forecasts.then), one(&forecasts.now));
    language.fill(message, &[&then, &now])
}

/// Its numbers.
fn compaction(language: Language, done: &Compaction) -> String {
    let (before, after) = (
        done.tokens_before.to_string(),
        done.tokens_after.to_string(),
    );
    let mut parts = vec![language.fill(Msg::CompactTokens, &[&before, &after])];
    for (count, one, many) in [
        (done.folded, Msg::FoldedOne, Msg::Folded),
        (done.shortened, Msg::ShortenedOne, Msg::Shortened),
        (done.kept, Msg::Kept, Msg::Kept),
    ] {
        match count {
            0 => {}
            1 => parts.push(language.fill(one, &["1"])),
            _ => parts.push(language.fill(many, &[&count.to_string()])),
        }
    }
    if done.server {
        parts.push(language.say(Msg::CompactServer).to_owned());
    }
    parts.join(", ")
}

/// That a message stays word for word in every compaction, or no longer.
fn pin(language: Language, pinned: &Pinned) -> String {
    let message = match pinned.pinned {
        true => Msg::Pinned,
        false => Msg::Unpinned,
    };
    language.fill(
        message,
        &[&pinned.item.to_string(), &who(language, &pinned.by)],
    )
}

/// The extraction from a model's reasoning, a line an entry.
#[must_use]
pub fn extraction(language: Language, found: &ReasoningExtracted) -> String {
    let lists = [
        (Msg::Subgoals, &found.subgoals),
        (Msg::Hypotheses, &found.hypotheses),
        (Msg::Uncertainties, &found.uncertainties),
        (Msg::RejectedPaths, &found.rejected_paths),
    ];
    let mut text = String::new();
    for (name, entries) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        text.push_str(&format!("\n{}", language.say(name)));
        text.extend(entries.iter().map(|entry| format!("\n  - {entry}")));
    }
    match text.is_empty() {
        true => language.say(Msg::HarvestNothing).to_owned(),
        false => format!("{}{text}", language.say(Msg::Extraction)),
    }
}

/// What was attached to a prompt: a line for each.
pub fn attached(language: Language, attached: &[Attachment]) -> impl Iterator<Item = String> {
    attached.iter().map(move |one| attachment(language, one))
}

fn attachment(language: Language, attached: &Attachment) -> String {
    let name = one_line(&attached.name);
    let count = attached.count.unwrap_or_default();
    let number = count.to_string();
    let (one, many) = match attached.kind {
        AttachmentKind::Directory => (Msg::Entry, Msg::Entries),
        _ => (Msg::Line, Msg::Lines),
    };
    let size = match (attached.kind, count) {
        (AttachmentKind::Binary | AttachmentKind::Resource, _) => {
            language.fill(Msg::Bytes, &[&attached.bytes.to_string()])
        }
        (_, 1) => language.say(one).to_owned(),
        (_, _) => language.fill(many, &[&number]),
    };
    let tokens = match attached.tokens {
        1 => language.say(Msg::Token).to_owned(),
        count => language.fill(Msg::Tokens, &[&count.to_string()]),
    };
    match (attached.kind, attached.cut) {
        (AttachmentKind::Binary, _) => language.fill(Msg::AttachedBinary, &[&name, &size]),
        (AttachmentKind::Instructions, _) => {
            language.fill(Msg::NewInstructions, &[&name, &size, &tokens])
        }
        (_, true) => language.fill(Msg::AttachedPart, &[&name, &size, &tokens]),
        (_, false) => language.fill(Msg::Attached, &[&name, &size, &tokens]),
    }
}

/// How a text begins: enough to know a prompt by.
#[must_use]
pub fn first_words(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(FIRST_WORDS) {
        Some((at, _)) => format!("{}…", line.split_at(at).0),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

/// No option may look like two.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.trim().replace(['\n', '\r'], " ")
}

/// Milliseconds as seconds, with one digit of the fraction.
fn seconds(ms: u64) -> String {
    format!("{:.1}", std::time::Duration::from_millis(ms).as_secs_f64())
}
