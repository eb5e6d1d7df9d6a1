//! The script: JSONL, one answer a line, used in order.
//!
//! Reads and checks the whole script before anything is played; plays nothing itself. `play` asks it which answer a
//! conversation has come to.
//!
//! A line is `{"text"?, "reasoning"?, "tool_calls"?: [{"name", "arguments"?: object | string, "id"?}],
//! "when"?: {"contains"}, "chunk_bytes"?, "delay_ms"?, "usage"?: {"prompt", "cached", "output"}, "fault"?}`.
//! Blank lines count for nothing. A key that is not known is an error, not a wish that is passed over.
//!
//! A line that holds a fault and no answer is one failed try of the answer in the lines after it. A fault beside an
//! answer befalls the first try (after the failed tries of the lines above it), and the next try gets the answer.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

/// How long a stalled answer is silent before it fails.
const STALL: Duration = Duration::from_secs(120);

/// A script, checked.
#[derive(Clone, Debug)]
pub struct Cassette {
    pub(crate) answers: Vec<Answer>,
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

/// One answer with the tries that fail before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// What befalls the first tries, in order.
    pub faults: Vec<Fault>,
    /// Said only if what came since the last answer holds this.
    pub contains: Option<String>,
    /// Bytes a piece; 0: all at once.
    pub chunk_bytes: usize,
    /// The pause before each piece.
    pub delay: Duration,
    /// What is said; absent behind the last line, where only failed tries are left.
    pub said: Option<Said>,
}

/// What an answer says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Said {
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<Call>,
    pub usage: Option<Usage>,
}

/// A tool call of the script.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub id: Option<String>,
    pub name: String,
    /// An object byte for byte as it stands in the script, or the text of the string.
    pub arguments: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Usage {
    pub prompt: u64,
    pub cached: u64,
    pub output: u64,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Refused with this status; `Retry-After` in seconds.
    Http {
        status: u16,
        retry_after: Option<u64>,
    },
    /// The connection ends in the middle.
    Cut,
    /// Nothing comes any more, in the middle.
    Stall,
    /// Something comes that is no event, in the middle.
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
    /// Reads a script from its text.
    ///
    /// # Errors
    /// The first line that cannot be played, by its number from 1, with the reason.
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
            let line: Line =
                serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
            let fault = line
                .fault
                .as_deref()
                .map(Fault::parse)
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
            answers.push(Answer {
                faults,
                ..Answer::default()
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
    /// The file cannot be read as UTF-8, or a line cannot be played.
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

    /// Whether the place in the script depends on what was said, not on the number of answers alone.
    pub(crate) fn is_conditional(&self) -> bool {
        self.answers.iter().any(|answer| answer.contains.is_some())
    }

    /// The first answer from `from` on that fits what came since the last answer.
    pub(crate) fn next(&self, from: usize, newest: &str) -> Option<usize> {
        let rest = self.answers.get(from..)?;
        let fits = |answer: &Answer| {
            answer
                .contains
                .as_deref()
                .is_none_or(|part| newest.contains(part))
        };
        rest.iter().position(fits).map(|offset| from + offset)
    }
}

/// A line as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
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

impl Line {
    /// Whether the line says anything.
    fn answers(&self) -> bool {
        self.text.is_some() || self.reasoning.is_some() || !self.tool_calls.is_empty()
    }

    fn answer(self, faults: Vec<Fault>) -> Result<Answer, String> {
        let calls = self
            .tool_calls
            .into_iter()
            .map(LineCall::call)
            .collect::<Result<_, _>>()?;
        let text = self.text.unwrap_or_default();
        let reasoning = self.reasoning.unwrap_or_default();
        Ok(Answer {
            faults,
            contains: self.when.map(|when| when.contains),
            chunk_bytes: self.chunk_bytes,
            delay: Duration::from_millis(self.delay_ms),
            said: Some(Said {
                text,
                reasoning,
                calls,
                usage: self.usage,
            }),
        })
    }
}

impl LineCall {
    fn call(self) -> Result<Call, String> {
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
        Ok(Call {
            id: self.id,
            name: self.name,
            arguments,
        })
    }
}

impl Fault {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "cut" => return Ok(Self::Cut),
            "stall" => return Ok(Self::Stall),
            "garbage" => return Ok(Self::Garbage),
            _ => {}
        }
        let wrong = || {
            format!(
                "fault `{text}`: known are `http:STATUS`, `http:STATUS:SECONDS`, `cut`, `stall`, `garbage`"
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
