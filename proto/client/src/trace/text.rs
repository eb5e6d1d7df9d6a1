//! A line of the trace in words.

use std::fmt::{self, Display};

use proto::item::{CallStatus, Voice};
use proto::record::{
    CallsRepaired, ChildExited, Level, Purpose, ReviewVerdict, SessionGaveUp, SessionSet,
    Unattended, Verdict,
};
use serde_json::Value;

use super::{Line, Tokens, What};
use crate::messages::Language;
use crate::transcript::words;

/// Settings that changed, each as `name=value`, the pause apart.
pub(super) fn changes(set: &SessionSet) -> Vec<String> {
    let Ok(Value::Object(fields)) = serde_json::to_value(set) else {
        return Vec::new();
    };
    let settings = fields
        .into_iter()
        .filter(|(name, _)| !["paused", "by", "request_id"].contains(&name.as_str()));
    settings
        .map(|(name, value)| match value {
            Value::String(value) => format!("{name}={value}"),
            value => format!("{name}={value}"),
        })
        .collect()
}

/// Milliseconds as seconds.
struct Seconds(u64);

impl Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = std::time::Duration::from_millis(self.0).as_secs_f64();
        match self.0 {
            0..=9_999 => write!(f, "{seconds:.2} s"),
            _ => write!(f, "{seconds:.1} s"),
        }
    }
}

/// Some of a thing: `1 step`, `2 steps`.
struct Counted(u64, &'static str);

impl Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, thing) = self;
        write!(f, "{count} {thing}{}", if *count == 1 { "" } else { "s" })
    }
}

/// From how many milliseconds on an answer, a call or a hook is marked as slow.
const SLOW_MS: u64 = 10_000;

/// The duration of something, marked if it was long.
struct Took(u64);

impl Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.0 < SLOW_MS { "" } else { " (slow)" };
        write!(f, "{}{mark}", Seconds(self.0))
    }
}

/// Bytes, short: `950 B`, `12.3 kB`.
struct Bytes(u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..=999 => write!(f, "{} B", self.0),
            1_000..=999_999 => write!(f, "{}.{} kB", self.0 / 1_000, self.0 % 1_000 / 100),
            _ => write!(
                f,
                "{}.{} MB",
                self.0 / 1_000_000,
                self.0 % 1_000_000 / 100_000
            ),
        }
    }
}

/// The repairs in the calls of an answer: `repaired calls: 1 taken up from its words, 1 closed`.
fn repaired_words(calls: &CallsRepaired) -> String {
    let counts = [
        (calls.taken_up.len(), "recovered from the answer's text"),
        (calls.closed.len(), "cut-off calls completed"),
        (calls.nested.len(), "calls with flattened arguments rebuilt"),
    ];
    let counted = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<_> = counted
        .map(|(count, how)| format!("{count} {how}"))
        .collect();
    format!("repaired calls: {}", words.join(", "))
}

/// The purpose of a request, if it is not for an answer of the conversation.
struct Beside(Purpose);

impl Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Purpose::Answer => Ok(()),
            purpose => write!(f, " ({})", purpose.as_str()),
        }
    }
}

impl Display for Line {
    /// `   1.900 s  answer …`: seconds since the turn began, or a dash outside of turns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.t_ms {
            Some(ms) => write!(f, "{:>5}.{:03}  ", ms / 1_000, ms % 1_000)?,
            None => write!(f, "{:>9}  ", "-")?,
        }
        match (&self.what, self.turn) {
            (What::TurnStart { prompt }, turn) => {
                write!(f, "turn {} start \"{prompt}\"", turn.unwrap_or(0))
            }
            (What::TurnEnd { .. }, turn) => write!(f, "turn {} {}", turn.unwrap_or(0), self.what),
            (what, _) => what.fmt(f),
        }
    }
}

impl Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Created {
                pid,
                model,
                cwd,
                forked_from,
            } => {
                write!(f, "session {pid} {model} in {cwd}")?;
                let mut origin = forked_from.iter();
                origin
                    .try_for_each(|(from, turn)| write!(f, " forked from {from} after turn {turn}"))
            }
            Self::Queued { prompt, steer, by } => {
                let how = if *steer { "steer" } else { "prompt" };
                write!(f, "{how} by {by} \"{prompt}\"")
            }
            Self::Requeued { how, prompt } => write!(f, "prompt {how} \"{prompt}\""),
            Self::TurnStart { prompt } => write!(f, "start \"{prompt}\""),
            Self::Told { voice, text } => match voice {
                Voice::Prompt => write!(f, "prompted \"{text}\""),
                Voice::Steer => write!(f, "steered \"{text}\""),
                Voice::Session => write!(f, "told by a session \"{text}\""),
                Voice::Daemon => write!(f, "reminded \"{text}\""),
            },
            Self::Request {
                n,
                purpose,
                attempt,
                bytes,
            } => {
                let (purpose, bytes) = (Beside(*purpose), Bytes(*bytes));
                write!(f, "request #{n}{purpose} try {attempt} → {bytes}")
            }
            Self::FirstToken {
                n,
                purpose,
                after_ms,
            } => write!(
                f,
                "first token #{n}{} {}",
                Beside(*purpose),
                Seconds(*after_ms)
            ),
            Self::Retry { in_ms, cause } => match in_ms {
                Some(ms) => write!(f, "retry in {}: {cause}", Seconds(*ms)),
                None => write!(f, "retry: {cause}"),
            },
            Self::WaitsForKey { cause } => write!(f, "waits for a key: {cause}"),
            Self::Paused { by } => write!(f, "paused{}", Author(by)),
            Self::Resumed { by } => write!(f, "resumed{}", Author(by)),
            Self::Set { changes, by } => write!(f, "set {}{}", changes.join(" "), Author(by)),
            Self::Suspended => f.write_str("suspended: the daemon hands over"),
            Self::Reopened { by } => write!(f, "reopened by {by}"),
            Self::Restarted {
                number,
                outcome,
                reason,
                wait_ms,
            } => {
                let outcome = words::outcome(Language::English, *outcome, None);
                write!(f, "restart {number}")?;
                if *wait_ms > 0 {
                    write!(f, " in {}", Seconds(*wait_ms))?;
                }
                write!(f, " after a turn: {outcome}")?;
                Because(reason).fmt(f)
            }
            Self::GaveUp {
                reason,
                restarts,
                detail,
            } => {
                let gave_up = SessionGaveUp {
                    reason: *reason,
                    restarts: *restarts,
                    detail: String::new(),
                };
                f.write_str(&words::gave_up(Language::English, &gave_up))?;
                Because(detail).fmt(f)
            }
            Self::Hook {
                event,
                hook,
                outcome,
                reason,
                duration_ms,
                call: _,
            } => {
                let (event, outcome) = (event.as_str(), outcome.as_str());
                write!(f, "hook {event} `{hook}` {outcome} {}", Took(*duration_ms))?;
                match reason {
                    Some(reason) => write!(f, ": {reason}"),
                    None => Ok(()),
                }
            }
            Self::Notice { level, text } => match level {
                Level::Info => write!(f, "notice: {text}"),
                Level::Warning => write!(f, "warning: {text}"),
                Level::Error => write!(f, "error: {text}"),
            },
            Self::Other { kind, data } => write!(f, "{kind} {data}"),
            Self::Todos { .. }
            | Self::Checkpoint { .. }
            | Self::Rewound { .. }
            | Self::Pinned { .. }
            | Self::Repaired { .. }
            | Self::ReasoningExtracted { .. }
            | Self::CacheReset { .. } => self.goes_back(f),
            Self::TurnEnd { .. } | Self::Answer { .. } | Self::Exited { .. } => self.ends(f),
            Self::Call { .. }
            | Self::Reviewed { .. }
            | Self::Asked { .. }
            | Self::Answered { .. }
            | Self::Start { .. }
            | Self::Blocked { .. }
            | Self::Run { .. }
            | Self::Result { .. }
            | Self::ChildSpawned { .. }
            | Self::ChildExited { .. } => self.calls(f),
        }
    }
}

impl What {
    /// Ends of turns, answers and sessions.
    fn ends(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TurnEnd {
                outcome,
                reason,
                duration_ms,
                steps,
                tool_calls,
                error,
            } => {
                let outcome = words::outcome(Language::English, *outcome, *reason);
                let took = Seconds(*duration_ms);
                let (steps, calls) = (Counted(*steps, "step"), Counted(*tool_calls, "call"));
                write!(f, "end {outcome} {took}, {steps}, {calls}")?;
                error.iter().try_for_each(|error| write!(f, ": {error}"))
            }
            Self::Answer {
                n,
                purpose,
                duration_ms,
                tokens,
            } => {
                write!(f, "answer #{n}{} {}", Beside(*purpose), Took(*duration_ms))?;
                let Some(tokens) = tokens else {
                    return f.write_str(" tokens not reported");
                };
                let Tokens {
                    prompt,
                    cached,
                    output,
                    cost_micros,
                } = tokens;
                write!(f, " {prompt}→{output} tokens (cached {cached})")?;
                let Some(micros) = cost_micros else {
                    return Ok(());
                };
                write!(f, " ${}.{:06}", micros / 1_000_000, micros % 1_000_000)
            }
            Self::Exited {
                outcome,
                reason,
                exit_code,
            } => write!(
                f,
                "exited {} code {exit_code}",
                words::outcome(Language::English, *outcome, *reason)
            ),
            _ => Ok(()),
        }
    }

    /// Calls, the questions about them, and commands in the background.
    fn calls(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call {
                tool,
                subject,
                verdict,
                unattended,
                rule,
                layer,
                ..
            } => {
                let verdict = verdict_words(*verdict, *unattended);
                write!(f, "call {tool} \"{subject}\" {verdict}: {rule} ({layer})")
            }
            Self::Reviewed {
                tool,
                verdict,
                decided,
                reason,
                model,
                duration_ms,
                ..
            } => {
                write!(f, "review {tool} {}", review_words(*verdict, *decided))?;
                if !model.is_empty() {
                    write!(f, " by {model}")?;
                }
                write!(f, " {}", Took(*duration_ms))?;
                Because(reason).fmt(f)
            }
            Self::Asked { interaction, asked } => asked.write(f, interaction),
            Self::Answered {
                interaction,
                answers,
                by,
                unattended,
                after_ms,
                note,
            } => {
                match (unattended, answers.is_empty()) {
                    (true, _) => write!(f, "asked {interaction} → no client was attached")?,
                    (false, true) => write!(f, "asked {interaction} → closed by {by}")?,
                    (false, false) => {
                        write!(f, "asked {interaction} → {} by {by}", answers.join("; "))?;
                    }
                }
                if let Some(ms) = after_ms {
                    write!(f, " after {}", Seconds(*ms))?;
                }
                note.iter().try_for_each(|note| write!(f, ": {note}"))
            }
            Self::Start {
                tool,
                subject,
                outside,
                ..
            } => {
                let place = if *outside { " outside the sandbox" } else { "" };
                write!(f, "start {tool} \"{subject}\"{place}")
            }
            Self::Blocked {
                tool,
                reason,
                duration_ms,
                ..
            } => write!(
                f,
                "blocked {tool} {}, by the sandbox: {reason}",
                Took(*duration_ms)
            ),
            Self::Run {
                tool,
                status,
                duration_ms,
                exit_code,
                signal,
                ..
            } => {
                let took = Took(*duration_ms);
                // Nobody saw its end, nor how long it took.
                if *status == CallStatus::Unknown {
                    return write!(f, "run {tool} {}", status.as_str());
                }
                match (exit_code, signal) {
                    (Some(code), _) => write!(f, "run {tool} {took} exit {code}"),
                    (None, Some(signal)) => write!(f, "run {tool} {took} signal {signal}"),
                    (None, None) => write!(f, "run {tool} {took} {}", status.as_str()),
                }
            }
            Self::Result {
                tool, status, text, ..
            } => write!(f, "result {tool} {}: {text}", status.as_str()),
            Self::ChildSpawned { pid, command } => write!(f, "child {pid} spawned \"{command}\""),
            Self::ChildExited {
                pid,
                code,
                signal,
                cause,
            } => {
                let child = ChildExited {
                    pid: *pid,
                    code: *code,
                    signal: *signal,
                    cause: cause.clone(),
                    result: None,
                };
                write!(
                    f,
                    "child {pid} exited {}",
                    words::exit(Language::English, &child)
                )
            }
            _ => Ok(()),
        }
    }
}

impl What {
    /// The todo list, and what can be gone back to.
    fn goes_back(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Todos { done, all, now } => {
                write!(f, "todos {done}/{all} done")?;
                now.iter().try_for_each(|now| write!(f, ": {now}"))
            }
            Self::Checkpoint {
                files,
                tree,
                skipped,
            } => {
                write!(f, "checkpoint {}", Counted(*files, "file"))?;
                if *tree {
                    f.write_str(" and the tree")?;
                }
                skipped
                    .iter()
                    .try_for_each(|why| write!(f, ", commands not kept: {why}"))
            }
            Self::Rewound {
                to_turn,
                of,
                undoes,
                restored,
                left,
                failed,
                by,
            } => {
                match undoes {
                    Some(seq) => write!(f, "rewind of record {seq} undone")?,
                    None => write!(f, "rewound to turn {to_turn}")?,
                }
                let of = of.as_str();
                let restored = Counted(*restored, "file");
                write!(f, " ({of}) by {by}, {restored} restored")?;
                for (count, words) in [(left, "skipped"), (failed, "failed")] {
                    if *count > 0 {
                        write!(f, ", {count} {words}")?;
                    }
                }
                Ok(())
            }
            Self::Pinned { item, pinned, by } => {
                let stays = if *pinned { "pinned" } else { "unpinned" };
                write!(f, "{stays} {item} by {by}")
            }
            Self::Repaired { calls } => f.write_str(&repaired_words(calls)),
            Self::ReasoningExtracted { found } => f.write_str(found),
            Self::CacheReset { reason } => write!(f, "cache reset: {reason}"),
            _ => Ok(()),
        }
    }
}

/// ` by NAME`, if it is known.
struct Author<'a>(&'a Option<String>);

impl Display for Author<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|by| write!(f, " by {by}"))
    }
}

/// `: WHY`, unless there is nothing to say.
struct Because<'a>(&'a str);

impl Display for Because<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            why => write!(f, ": {why}"),
        }
    }
}

fn review_words(verdict: ReviewVerdict, decided: bool) -> &'static str {
    match (verdict, decided) {
        (ReviewVerdict::Deny, true) => "denied",
        (ReviewVerdict::Deny, false) => "against it, left to the user",
        (ReviewVerdict::Allow, true) => "allowed",
        (ReviewVerdict::Allow, false) => "harmless, left to the user",
        (ReviewVerdict::Ask, _) => "left to the user",
        (ReviewVerdict::Failed, _) => "failed, left to the user",
    }
}

fn verdict_words(verdict: Verdict, unattended: Option<Unattended>) -> &'static str {
    match (verdict, unattended) {
        (Verdict::Allow, _) => "allowed",
        (Verdict::Deny, _) => "denied",
        (Verdict::Ask, None) => "to be asked",
        (Verdict::Ask, Some(Unattended::Allowed)) => "allowed without asking",
        (Verdict::Ask, Some(Unattended::Denied)) => "denied because nobody could be asked",
    }
}
