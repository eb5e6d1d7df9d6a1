//! The script: JSONL, one answer per line, used in order.
//!
//! Reads and checks the whole script before playing. `play` asks it for the answer at a
//! conversation's position.
//!
//! A line is `{"text"?, "reasoning"?, "tool_calls"?: [{"name", "arguments"?: object | string,
//! "id"?}], "when"?: {"contains"}, "chunk_bytes"?, "delay_ms"?, "usage"?: {"prompt", "cached",
//! "output"}, "fault"?}`. Blank lines are ignored. An unknown key is an error.
//!
//! A line with a fault and no answer is a failed attempt of the next answer. A fault beside an
//! answer happens on the first attempt (after the failed attempts of the lines above), and the next
//! attempt gets the answer.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

/// How long a stalled answer is silent before it fails.
const STALL: Duration = Duration::from_secs(120);

/// A checked script.
#[derive(Clone, Debug)]
pub struct Cassette {
    pub(crate) answers: Vec<ScriptedAnswer>,
    pub(crate) stall: Duration,
}

impl Default for Cassette {
    /// An empty script.
    fn default() -> Self {
        Self {
            answers: Vec::new(),
            stall: STALL,
        }
    }
}

/// One answer, with the attempts that fail before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptedAnswer {
    /// The faults of the first attempts, in order.
    pub faults: Vec<ScriptedFault>,
    /// Used only if the messages since the last answer contain this.
    pub contains: Option<String>,
    /// Bytes per chunk. 0: all at once.
    pub chunk_bytes: usize,
    /// The pause before each chunk.
    pub delay: Duration,
    /// The answer's content. `None` after the last line, where only failed attempts remain.
    pub said: Option<AnswerContent>,
}

/// The content of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AnswerContent {
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<ScriptedCall>,
    pub usage: Option<Usage>,
}

/// A tool call of the script.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScriptedCall {
    pub id: Option<String>,
    pub name: String,
    /// An object, byte for byte as in the script, or the content of the string.
    pub arguments: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Usage {
    pub prompt: u64,
    pub cached: u64,
    pub output: u64,
}

/// A simulated failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScriptedFault {
    /// Refused with this status. `Retry-After` in seconds.
    Http {
        status: u16,
        retry_after: Option<u64>,
    },
    /// The connection ends in the middle.
    Cut,
    /// No more data arrives, in the middle.
    Stall,
    /// Invalid data arrives in the middle.
    Garbage,
}

/// Why a script cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    #[error("read cassette {}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cassette line {line}: {reason}")]
    Line { line: usize, reason: String },
}

impl Cassette {
    /// Parses a script.
    ///
    /// # Errors
    /// The first invalid line, by its number from 1, with the reason.
    pub fn parse(text: &str) -> Result<Self, CassetteError> {
        let mut answers = Vec::new();
        let mut faults = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |reason: String| CassetteError::Line {
                line: number + 1,
                reason,
            };
            let line: ScriptLine =
                serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
            let fault = line
                .fault
                .as_deref()
                .map(ScriptedFault::parse)
                .transpose()
                .map_err(wrong)?;
            faults.extend(fault);
            if fault.is_some() && !line.answers() {
                if line.when.is_some() || line.usage.is_some() {
                    return Err(wrong(
                        "`when` and `usage` need an answer beside the fault".to_owned(),
                    ));
                }
                continue;
            }
            answers.push(line.answer(std::mem::take(&mut faults)).map_err(wrong)?);
        }
        if !faults.is_empty() {
            answers.push(ScriptedAnswer {
                faults,
                ..ScriptedAnswer::default()
            });
        }
        Ok(Self {
            answers,
            stall: STALL,
        })
    }

    /// Reads a script from a file.
    ///
    /// # Errors
    /// The file is not valid UTF-8 or cannot be read, or a line is invalid.
    pub fn read(path: &Path) -> Result<Self, CassetteError> {
        let text = std::fs::read_to_string(path).map_err(|source| CassetteError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text)
    }

    /// Changes how long a stalled answer is silent before it fails (120 s).
    #[must_use]
    pub fn stalls_for(mut self, silence: Duration) -> Self {
        self.stall = silence;
        self
    }

    /// Whether the position depends on the messages, and not only on the number of answers.
    pub(crate) fn is_conditional(&self) -> bool {
        self.answers.iter().any(|answer| answer.contains.is_some())
    }

    /// The first answer at or after `from` that matches the messages since the last answer.
    pub(crate) fn next(&self, from: usize, newest: &str) -> Option<usize> {
        let rest = self.answers.get(from..)?;
        let fits = |answer: &ScriptedAnswer| {
            answer
                .contains
                .as_deref()
                .is_none_or(|part| newest.contains(part))
        };
        rest.iter().position(fits).map(|offset| from + offset)
    }
}

/// A line as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptLine {
    text: Option<String>,
    reasoning: Option<String>,
    #[serde(default)]
    tool_calls: Vec<LineCall>,
    when: Option<When>,
    #[serde(default)]
    chunk_bytes: usize,
    #[serde(default)]
    delay_ms: u64,
    usage: Option<Usage>,
    fault: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineCall {
    id: Option<String>,
    name: String,
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct When {
    contains: String,
}

impl ScriptLine {
    /// Whether the line has an answer.
    fn answers(&self) -> bool {
        self.text.is_some() || self.reasoning.is_some() || !self.tool_calls.is_empty()
    }

    fn answer(self, faults: Vec<ScriptedFault>) -> Result<ScriptedAnswer, String> {
        let calls = self
            .tool_calls
            .into_iter()
            .map(LineCall::call)
            .collect::<Result<_, _>>()?;
        let text = self.text.unwrap_or_default();
        let reasoning = self.reasoning.unwrap_or_default();
        Ok(ScriptedAnswer {
            faults,
            contains: self.when.map(|when| when.contains),
            chunk_bytes: self.chunk_bytes,
            delay: Duration::from_millis(self.delay_ms),
            said: Some(AnswerContent {
                text,
                reasoning,
                calls,
                usage: self.usage,
            }),
        })
    }
}

impl LineCall {
    fn call(self) -> Result<ScriptedCall, String> {
        let arguments = match &self.arguments {
            None => "{}".to_owned(),
            Some(raw) if raw.get().starts_with('{') => raw.get().to_owned(),
            Some(raw) => serde_json::from_str::<String>(raw.get()).map_err(|_| {
                format!(
                    "the arguments of `{}` must be an object or a string",
                    self.name
                )
            })?,
        };
        Ok(ScriptedCall {
            id: self.id,
            name: self.name,
            arguments,
        })
    }
}

impl ScriptedFault {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "cut" => return Ok(Self::Cut),
            "stall" => return Ok(Self::Stall),
            "garbage" => return Ok(Self::Garbage),
            _ => {}
        }
        let wrong = || {
            format!(
                "unknown fault `{text}`; known faults: `http:STATUS`, `http:STATUS:SECONDS`, `cut`, `stall`, `garbage`"
            )
        };
        let rest = text.strip_prefix("http:").ok_or_else(wrong)?;
        let (status, seconds) = rest
            .split_once(':')
            .map_or((rest, None), |(status, rest)| (status, Some(rest)));
        let status = status
            .parse()
            .ok()
            .filter(|status| (400..600).contains(status))
            .ok_or_else(wrong)?;
        let retry_after = seconds
            .map(|seconds| seconds.parse().map_err(|_| wrong()))
            .transpose()?;
        Ok(Self::Http {
            status,
            retry_after,
        })
    }
}

#[cfg(test)]
mod tests;
