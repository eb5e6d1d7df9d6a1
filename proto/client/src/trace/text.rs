//! A line of the trace in words.

mod calls;

use std::fmt::{self, Display};

use proto::hook::HookOutcome;
use proto::item::Voice;
use proto::record::{CallsRepaired, Level, Purpose, SessionGaveUp, SessionSet};
use serde_json::Value;

use super::{Line, Tokens, What};
use crate::messages::Language;
use crate::messages::trace::Msg;
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
fn seconds(language: Language, ms: u64) -> String {
    let seconds = std::time::Duration::from_millis(ms).as_secs_f64();
    let seconds = match ms {
        0..=9_999 => format!("{seconds:.2}"),
        _ => format!("{seconds:.1}"),
    };
    language.fill(Msg::Seconds, &[&seconds])
}

/// From how many milliseconds on an answer, a call or a hook is marked as slow.
const SLOW_MS: u64 = 10_000;

/// The duration of something, marked if it was long.
fn took(language: Language, ms: u64) -> String {
    let seconds = seconds(language, ms);
    match ms {
        0..SLOW_MS => seconds,
        _ => language.fill(Msg::Slow, &[&seconds]),
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
fn repaired(language: Language, calls: &CallsRepaired) -> String {
    let counts = [
        (calls.taken_up.len(), Msg::RepairedText),
        (calls.closed.len(), Msg::RepairedClosed),
        (calls.nested.len(), Msg::RepairedNested),
    ];
    let counted = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<_> = counted
        .map(|(count, how)| language.fill(*how, &[&count.to_string()]))
        .collect();
    language.fill(Msg::Repaired, &[&words.join(", ")])
}

/// The number of a request, with its purpose if it is not for an answer of the conversation.
fn numbered(n: u64, purpose: Purpose) -> String {
    match purpose {
        Purpose::Answer => format!("#{n}"),
        purpose => format!("#{n} ({})", purpose.as_str()),
    }
}

/// What happened, and why if that is known.
fn because(language: Language, what: String, why: &str) -> String {
    match why {
        "" => what,
        why => language.fill(Msg::Because, &[&what, why]),
    }
}

/// What happened, and who did it if that is known.
fn by(language: Language, what: String, by: Option<&str>) -> String {
    match by {
        Some(by) => language.fill(Msg::By, &[&what, by]),
        None => what,
    }
}

impl Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(Language::English))
    }
}

impl Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(Language::English))
    }
}

impl Line {
    /// `   1.900 s  answer …`: seconds since the turn began, or a dash outside of turns.
    #[must_use]
    pub fn words(&self, language: Language) -> String {
        let at = match self.t_ms {
            Some(ms) => format!("{:>5}.{:03}  ", ms / 1_000, ms % 1_000),
            None => format!("{:>9}  ", "-"),
        };
        let turn = || self.turn.unwrap_or(0).to_string();
        let what = match &self.what {
            What::TurnStart { prompt } => language.fill(Msg::TurnStart, &[&turn(), prompt]),
            what @ What::TurnEnd { .. } => {
                language.fill(Msg::TurnEnd, &[&turn(), &what.words(language)])
            }
            what => what.words(language),
        };
        at + &what
    }
}

impl What {
    /// What happened, on a line.
    #[must_use]
    pub fn words(&self, language: Language) -> String {
        let fill = |message: Msg, values: &[&str]| language.fill(message, values);
        match self {
            Self::Queued {
                prompt,
                steer: true,
                by,
            } => fill(Msg::Steer, &[by, prompt]),
            Self::Queued { prompt, by, .. } => fill(Msg::Prompt, &[by, prompt]),
            Self::Requeued { how, prompt } => fill(Msg::Requeued, &[how, prompt]),
            Self::TurnStart { prompt } => fill(Msg::Start, &[prompt]),
            Self::Told { voice, text } => {
                let message = match voice {
                    Voice::Prompt => Msg::Prompted,
                    Voice::Steer => Msg::Steered,
                    Voice::Session => Msg::ToldBySession,
                    Voice::Daemon => Msg::Reminded,
                };
                fill(message, &[text])
            }
            Self::Notice { level, text } => {
                let message = match level {
                    Level::Info => Msg::Notice,
                    Level::Warning => Msg::Warning,
                    Level::Error => Msg::Error,
                };
                fill(message, &[text])
            }
            Self::Goal { text } => text.clone(),
            Self::Other { kind, data } => format!("{kind} {data}"),
            Self::Created { .. }
            | Self::Retry { .. }
            | Self::WaitsForKey { .. }
            | Self::Paused { .. }
            | Self::Resumed { .. }
            | Self::Set { .. }
            | Self::Suspended
            | Self::Reopened { .. } => self.session(language),
            Self::Request { .. } | Self::FirstToken { .. } | Self::Answer { .. } => {
                self.request(language)
            }
            Self::Todos { .. }
            | Self::Checkpoint { .. }
            | Self::Rewound { .. }
            | Self::Pinned { .. }
            | Self::Repaired { .. }
            | Self::ReasoningExtracted { .. }
            | Self::CacheReset { .. } => self.goes_back(language),
            Self::TurnEnd { .. } | Self::Exited { .. } => self.ends(language),
            Self::Restarted { .. } | Self::GaveUp { .. } => self.restarts(language),
            Self::Hook { .. } => self.hook(language),
            Self::Call { .. }
            | Self::Reviewed { .. }
            | Self::Asked { .. }
            | Self::Answered { .. }
            | Self::Start { .. }
            | Self::Blocked { .. }
            | Self::Run { .. }
            | Self::Result { .. }
            | Self::ChildSpawned { .. }
            | Self::ChildExited { .. } => self.calls(language),
        }
    }

    /// The session's start, its waits and its settings.
    fn session(&self, language: Language) -> String {
        let fill = |message: Msg, values: &[&str]| language.fill(message, values);
        match self {
            Self::Created {
                pid,
                model,
                cwd,
                forked_from,
            } => {
                let mut words = fill(Msg::Session, &[&pid.to_string(), model, cwd]);
                if let Some((from, turn)) = forked_from {
                    words += &fill(Msg::ForkedFrom, &[&from.to_string(), &turn.to_string()]);
                }
                words
            }
            Self::Retry {
                in_ms: Some(ms),
                cause,
            } => fill(Msg::RetryIn, &[&seconds(language, *ms), cause]),
            Self::Retry { in_ms: None, cause } => fill(Msg::Retry, &[cause]),
            Self::WaitsForKey { cause } => fill(Msg::WaitsForKey, &[cause]),
            Self::Paused { by } => self::by(language, fill(Msg::Paused, &[]), by.as_deref()),
            Self::Resumed { by } => self::by(language, fill(Msg::Resumed, &[]), by.as_deref()),
            Self::Set { changes, by } => {
                let set = fill(Msg::Set, &[&changes.join(" ")]);
                self::by(language, set, by.as_deref())
            }
            Self::Suspended => fill(Msg::Suspended, &[]),
            Self::Reopened { by } => fill(Msg::Reopened, &[by]),
            _ => String::new(),
        }
    }

    /// Requests to the model.
    fn request(&self, language: Language) -> String {
        let fill = |message: Msg, values: &[&str]| language.fill(message, values);
        match self {
            Self::Request {
                n,
                purpose,
                attempt,
                bytes,
            } => {
                let (attempt, bytes) = (attempt.to_string(), Bytes(*bytes).to_string());
                fill(Msg::Request, &[&numbered(*n, *purpose), &attempt, &bytes])
            }
            Self::FirstToken {
                n,
                purpose,
                after_ms,
            } => fill(
                Msg::FirstToken,
                &[&numbered(*n, *purpose), &seconds(language, *after_ms)],
            ),
            Self::Answer {
                n,
                purpose,
                duration_ms,
                tokens,
            } => {
                let took = took(language, *duration_ms);
                let mut words = fill(Msg::Answer, &[&numbered(*n, *purpose), &took]);
                let Some(tokens) = tokens else {
                    return words + language.say(Msg::NoTokens);
                };
                let Tokens {
                    prompt,
                    cached,
                    output,
                    cost_micros,
                } = tokens;
                let counts = [prompt, output, cached].map(u64::to_string);
                words += &fill(Msg::Tokens, &[&counts[0], &counts[1], &counts[2]]);
                if let Some(micros) = cost_micros {
                    words += &format!(" ${}.{:06}", micros / 1_000_000, micros % 1_000_000);
                }
                words
            }
            _ => String::new(),
        }
    }

    /// Ends of turns and sessions.
    fn ends(&self, language: Language) -> String {
        let fill = |message: Msg, values: &[&str]| language.fill(message, values);
        match self {
            Self::TurnEnd {
                outcome,
                reason,
                duration_ms,
                waited_ms,
                steps,
                tool_calls,
                error,
            } => {
                let outcome = words::outcome(language, *outcome, *reason);
                let took = seconds(language, duration_ms.saturating_sub(*waited_ms));
                let steps = language.counted(*steps, Msg::Step, Msg::Steps);
                let calls = language.counted(*tool_calls, Msg::Call, Msg::Calls);
                let end = fill(Msg::End, &[&outcome, &took, &steps, &calls]);
                because(language, end, error.as_deref().unwrap_or_default())
            }
            Self::Exited {
                outcome,
                reason,
                exit_code,
            } => {
                let outcome = words::outcome(language, *outcome, *reason);
                fill(Msg::Exited, &[&outcome, &exit_code.to_string()])
            }
            _ => String::new(),
        }
    }

    /// Restarts after failures, and their end.
    fn restarts(&self, language: Language) -> String {
        let fill = |message: Msg, values: &[&str]| language.fill(message, values);
        match self {
            Self::Restarted {
                number,
                outcome,
                reason,
                wait_ms,
            } => {
                let number = number.to_string();
                let outcome = words::outcome(language, *outcome, None);
                let restart = match wait_ms {
                    0 => fill(Msg::Restart, &[&number, &outcome]),
                    ms => fill(
                        Msg::RestartIn,
                        &[&number, &outcome, &seconds(language, *ms)],
                    ),
                };
                because(language, restart, reason)
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
                because(language, words::gave_up(language, &gave_up), detail)
            }
            _ => String::new(),
        }
    }

    /// The end of a hook.
    fn hook(&self, language: Language) -> String {
        let Self::Hook {
            event,
            hook,
            outcome,
            reason,
            duration_ms,
            call: _,
        } = self
        else {
            return String::new();
        };
        let outcome = language.say(match outcome {
            HookOutcome::Pass => Msg::HookPass,
            HookOutcome::Block => Msg::HookBlock,
            HookOutcome::Warn => Msg::HookWarn,
            HookOutcome::Timeout => Msg::HookTimeout,
            HookOutcome::Error => Msg::HookError,
        });
        let took = took(language, *duration_ms);
        let hook = language.fill(Msg::Hook, &[event.as_str(), hook, outcome, &took]);
        because(language, hook, reason.as_deref().unwrap_or_default())
    }

    /// The todo list, and what can be gone back to.
    fn goes_back(&self, language: Language) -> String {
        let fill = |message: Msg, values: &[&str]| language.fill(message, values);
        match self {
            Self::Todos { done, all, now } => {
                let todos = fill(Msg::Todos, &[&done.to_string(), &all.to_string()]);
                because(language, todos, now.as_deref().unwrap_or_default())
            }
            Self::Checkpoint {
                files,
                tree,
                skipped,
            } => {
                let files = language.counted(*files, Msg::File, Msg::Files);
                let mut words = fill(Msg::Checkpoint, &[&files]);
                if *tree {
                    words += language.say(Msg::CheckpointTree);
                }
                if let Some(why) = skipped {
                    words += &fill(Msg::CheckpointSkipped, &[why]);
                }
                words
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
                let (message, number) = match undoes {
                    Some(seq) => (Msg::RewindUndone, seq.to_string()),
                    None => (Msg::RewoundTo, to_turn.to_string()),
                };
                let restored = language.counted(*restored, Msg::File, Msg::Files);
                let mut words = fill(message, &[&number, of.as_str(), by, &restored]);
                for (count, more) in [(left, Msg::RewindSkipped), (failed, Msg::RewindFailed)] {
                    if *count > 0 {
                        words += &fill(more, &[&count.to_string()]);
                    }
                }
                words
            }
            Self::Pinned { item, pinned, by } => {
                let message = if *pinned { Msg::Pinned } else { Msg::Unpinned };
                fill(message, &[item, by])
            }
            Self::Repaired { calls } => repaired(language, calls),
            Self::ReasoningExtracted { found } => found.clone(),
            Self::CacheReset { reason } => fill(Msg::CacheReset, &[reason]),
            _ => String::new(),
        }
    }
}
