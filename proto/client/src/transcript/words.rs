//! What happens in a session, in words of every language. Pure. Values come as they are: whoever prints the words cleans
//! them.

mod attached;
mod cache;
mod calls;
mod goal;
mod rewind;

use std::borrow::Cow;

use proto::Pid;
use proto::hook::{HookFinished, HookOutcome};
use proto::item::Finish;
use proto::outcome::{OutcomeKind, Reason};
use proto::params::history::MessageRole;
use proto::params::interaction::Reply;
use proto::record::{GaveUpReason, Origin, ReasoningExtracted, SessionGaveUp, SessionRestarted};
use proto::state::Mode;

use super::Status;
use crate::messages::Language;
use crate::messages::transcript::Msg;
use crate::text;
use cache::pin;
use calls::reviewed;
use goal::{goal_changed, goal_started};

pub use attached::attached;
pub use cache::{compacted, forecast, reloaded, reset};
pub use calls::{call_status, child, denied, exit, result};
pub(crate) use goal::goal_continued;
pub use goal::{goal_detail, goal_ended, goal_error, goal_limits, goal_reason};
pub use rewind::{beginning, files, rewound};

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

/// Author of a message, in words.
#[must_use]
pub fn author(language: Language, role: MessageRole) -> &'static str {
    language.say(match role {
        MessageRole::User => Msg::AuthorUser,
        MessageRole::Assistant => Msg::AuthorAssistant,
        MessageRole::Tool => Msg::AuthorTool,
    })
}

/// That the session goes on by its restart policy, and after which failure.
fn restarted(language: Language, restarted: &SessionRestarted) -> String {
    let number = restarted.number.to_string();
    let reason = language.translate(&restarted.reason);
    let wait = wait(language, restarted.wait_ms);
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

/// The line of a status.
#[must_use]
pub fn status(language: Language, status: &Status) -> String {
    let say = |message| language.say(message).to_owned();
    let fill = |message: Msg, values: &[&str]| language.fill(message, values);
    let who = |by| self::who(language, by);
    let prompt = |which| self::prompt(language, which);
    let by = |by: &Option<String>, alone, with| changed_by(language, by.as_deref(), alone, with);
    match status {
        Status::Created {
            pid,
            model,
            cwd,
            instructions,
            origin,
        } => {
            let session = fill(Msg::Session, &[&pid.to_string(), model, cwd]);
            created(language, session, instructions, origin.as_ref())
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
        Status::Mode { mode, by } => self::mode(language, *mode, by.as_deref()),
        Status::AddedDir { dir } => fill(Msg::AddedDir, &[dir]),
        Status::OnlyReads { only, by } => only_reads(language, *only, by.as_deref()),
        Status::GoalStarted { by, text, research } => {
            goal_started(language, by, text, research.as_deref())
        }
        Status::GoalChanged(changed) => goal_changed(language, changed),
        Status::GoalContinued(continued) => goal_continued(language, continued),
        Status::GoalEnded(ended) => goal_ended(language, ended),
        Status::Revoked { by, rule } => fill(Msg::Revoked, &[&who(by), rule]),
        Status::Restarted(restarted) => self::restarted(language, restarted),
        Status::GaveUp(gave_up) => self::gave_up(language, gave_up),
        Status::Reviewed(found) => reviewed(language, found),
        Status::Retry { in_ms, cause } => retry(language, *in_ms, cause),
        Status::Credentials { cause } => fill(Msg::Credentials, &[&language.translate(cause)]),
        Status::Exited {
            outcome: kind,
            reason,
        } => fill(Msg::Exited, &[&outcome(language, *kind, *reason)]),
        Status::Reopened { by } => fill(Msg::Reopened, &[&who(by)]),
        Status::Suspended => say(Msg::Suspended),
        Status::ReadOnly { reason } => fill(Msg::ReadOnly, &[&language.translate(reason)]),
        Status::Hook(finished) => hook(language, finished),
        Status::Unkept { why } => language.translate(why).into_owned(),
        Status::PromptEdited { by, which, text } => {
            fill(Msg::PromptEdited, &[&who(by), &prompt(which), text])
        }
        Status::PromptSteers { which } => fill(Msg::PromptSteers, &[&prompt(which)]),
        Status::PromptMoved { by, which, place } => {
            let place = place.to_string();
            fill(Msg::PromptMoved, &[&who(by), &prompt(which), &place])
        }
        Status::PromptDropped { which } => fill(Msg::PromptDropped, &[&prompt(which)]),
        Status::Joined { name } => fill(Msg::Joined, &[name]),
        Status::Left { name } => fill(Msg::Left, &[name]),
    }
}

/// A new session: the instruction files that it has read, and where it comes from.
fn created(
    language: Language,
    session: String,
    instructions: &[String],
    from: Option<&Origin>,
) -> String {
    let mut parts = vec![session];
    parts.extend(instruction_files(language, instructions));
    parts.extend(from.map(|from| origin(language, from)));
    parts.join(" · ")
}

/// What was changed, and by whom if that is known.
fn changed_by(language: Language, by: Option<&str>, alone: Msg, with: Msg) -> String {
    match by {
        Some(by) => language.fill(with, &[&who(language, by)]),
        None => language.say(alone).to_owned(),
    }
}

/// That the model plans now, or works.
fn mode(language: Language, mode: Mode, by: Option<&str>) -> String {
    match mode {
        Mode::Plan => changed_by(language, by, Msg::PlanMode, Msg::PlanModeBy),
        Mode::Normal => changed_by(language, by, Msg::PlanModeEnded, Msg::PlanModeEndedBy),
    }
}

/// That the session only reads now, or may change things again.
fn only_reads(language: Language, only: bool, by: Option<&str>) -> String {
    match only {
        true => changed_by(language, by, Msg::OnlyReads, Msg::OnlyReadsBy),
        false => changed_by(language, by, Msg::ChangesAgain, Msg::ChangesAgainBy),
    }
}

/// That a request is tried again, and when if that is known.
fn retry(language: Language, in_ms: Option<u64>, cause: &str) -> String {
    let cause = language.translate(cause);
    match in_ms {
        Some(ms) => language.fill(Msg::RetryIn, &[&wait(language, ms), &cause]),
        None => language.fill(Msg::Retry, &[&cause]),
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

/// A wait in words: `1.5 s`, `4 min 10 s`, `2 h 5 min`.
fn wait(language: Language, ms: u64) -> String {
    // Rounded up, so that nobody comes back too early.
    let whole = ms.div_ceil(1_000);
    let parts = |message, unit: u64, part: u64| {
        let rest = whole % unit / part;
        language.fill(message, &[&(whole / unit).to_string(), &rest.to_string()])
    };
    match whole {
        _ if ms < 59_950 => language.fill(Msg::WaitSeconds, &[&seconds(ms)]),
        0..3_600 => parts(Msg::WaitMinutes, 60, 1),
        _ => parts(Msg::WaitHours, 3_600, 60),
    }
}

/// Milliseconds as seconds, with one digit of the fraction.
fn seconds(ms: u64) -> String {
    format!("{:.1}", std::time::Duration::from_millis(ms).as_secs_f64())
}
