//! `--input-format jsonl`: lines of standard input, read one by one, and what each of them wants.
//!
//! Knows no session and sends nothing.

use std::io::{self, BufRead, Read};

use proto::InteractionId;
use proto::frame;
use proto::near::nearest;
use proto::params::interaction::InteractionAnswer;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

/// Lines that may wait; more stay in the pipe.
const LINES_MAX: usize = 16;

/// What a line wants.
#[derive(Debug, PartialEq)]
pub(super) enum InputCommand {
    Prompt {
        text: String,
        steer: bool,
    },
    /// The answer as it is written, without the words that name the interaction.
    Answer {
        id: InteractionId,
        answer: Map<String, Value>,
    },
    Interrupt,
}

/// Why a line is refused: the problem, and what to write instead.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadLine {
    pub message: String,
    pub hint: String,
}

impl BadLine {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }
}

/// A line with its number, from 1.
pub(super) struct NumberedLine {
    pub number: u64,
    pub wanted: Result<InputCommand, BadLine>,
}

/// The lines of standard input, read by a thread from the moment this is made.
pub(super) struct Input {
    lines: mpsc::Receiver<NumberedLine>,
    ended: bool,
}

impl Input {
    /// Starts reading. `first`: a prompt of the command line, which comes first and has the number 0.
    pub(super) fn start(first: Option<String>) -> Self {
        let (sender, lines) = mpsc::channel(LINES_MAX);
        // It blocks in `read` for ever if nobody writes; the end of the process ends it.
        std::thread::spawn(move || {
            if let Some(text) = first {
                let wanted = Ok(InputCommand::Prompt { text, steer: false });
                if sender
                    .blocking_send(NumberedLine { number: 0, wanted })
                    .is_err()
                {
                    return;
                }
            }
            let send = |line| sender.blocking_send(line).is_ok();
            read_lines(io::stdin().lock(), send);
        });
        Self {
            lines,
            ended: false,
        }
    }

    /// The next line; `None` at the end. Cancel-safe. Never returns after the end.
    pub(super) async fn next(&mut self) -> Option<NumberedLine> {
        if self.ended {
            return std::future::pending().await;
        }
        let line = self.lines.recv().await;
        self.ended = line.is_none();
        line
    }

    /// Takes no more lines.
    pub(super) fn close(&mut self) {
        self.ended = true;
        self.lines.close();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }
}

/// Reads to the end, or until nobody takes lines any more. An input that cannot be read ends there.
fn read_lines(mut input: impl BufRead, mut send: impl FnMut(NumberedLine) -> bool) {
    let mut number = 0;
    loop {
        number += 1;
        let mut line = Vec::new();
        let most = frame::INBOUND_MAX as u64 + 1;
        match input.by_ref().take(most).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let wanted = if line.len() > frame::INBOUND_MAX {
            if !line.ends_with(b"\n") && input.skip_until(b'\n').is_err() {
                return;
            }
            let most = frame::INBOUND_MAX / 1024 / 1024;
            Err(BadLine::new(
                format!("the line has more than {most} MiB"),
                "put long text in a file and name the file in the prompt",
            ))
        } else if line.trim_ascii().is_empty() {
            continue;
        } else {
            parse(&line)
        };
        if !send(NumberedLine { number, wanted }) {
            return;
        }
    }
}

const KINDS: [&str; 3] = ["prompt", "answer", "interrupt"];
const EXAMPLE: &str = "write for instance {\"kind\":\"prompt\",\"text\":\"fix the failing test\"}";

/// What a line wants.
fn parse(line: &[u8]) -> Result<InputCommand, BadLine> {
    let value = serde_json::from_slice(line)
        .map_err(|error| BadLine::new(format!("the line is not valid JSON: {error}"), EXAMPLE))?;
    let Value::Object(mut members) = value else {
        return Err(BadLine::new("the line is not a JSON object", EXAMPLE));
    };
    let kind = match members.remove("kind") {
        Some(Value::String(kind)) => kind,
        _ => return Err(BadLine::new("the line has no `kind`", EXAMPLE)),
    };
    let wanted = match kind.as_str() {
        "prompt" => InputCommand::Prompt {
            text: match text(&mut members, "text")? {
                text if text.trim().is_empty() => {
                    return Err(BadLine::new("the prompt is empty", EXAMPLE));
                }
                text => text,
            },
            steer: match members.remove("steer") {
                None => false,
                Some(Value::Bool(steer)) => steer,
                Some(_) => {
                    return Err(BadLine::new(
                        "`steer` is neither true nor false",
                        "leave it out to queue the prompt",
                    ));
                }
            },
        },
        "answer" => {
            let id = text(&mut members, "id")?;
            let answer = std::mem::take(&mut members);
            InputCommand::Answer {
                id: id.as_str().into(),
                answer,
            }
        }
        "interrupt" => InputCommand::Interrupt,
        other => {
            let near = nearest(other, KINDS);
            let hint = match near.first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => "the kinds are `prompt`, `answer` and `interrupt`".to_owned(),
            };
            return Err(BadLine::new(format!("unknown kind `{other}`"), hint));
        }
    };
    match members.keys().next() {
        None => Ok(wanted),
        Some(name) => Err(BadLine::new(
            format!("a line of kind `{kind}` has no `{name}`"),
            "leave it out",
        )),
    }
}

fn text(members: &mut Map<String, Value>, name: &str) -> Result<String, BadLine> {
    match members.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(BadLine::new(format!("the line has no `{name}`"), EXAMPLE)),
    }
}

/// The answer that a line holds for an interaction of this kind. The kind need not be written.
pub(super) fn answer(
    mut written: Map<String, Value>,
    kind: &str,
) -> Result<InteractionAnswer, BadLine> {
    let example = match kind {
        "questions" => {
            "write for instance \"replies\":[{\"labels\":[\"Yes\"]}], one for each question"
        }
        "elicitation" => {
            "write \"decision\":\"accept\" with \"replies\", one for each value, or \"decline\""
        }
        "plan" => "write \"decision\":\"approve\" or \"reject\"",
        _ => "write \"decision\":\"allow_once\", \"allow_session\", \"allow_always\" or \"deny\"",
    };
    let named = written.entry("type").or_insert_with(|| kind.into());
    if named != kind {
        return Err(BadLine::new(
            format!("the question is of type `{kind}`"),
            example,
        ));
    }
    let names: Vec<String> = written.keys().cloned().collect();
    let answer: InteractionAnswer = serde_json::from_value(Value::Object(written))
        .map_err(|error| BadLine::new(format!("this is no answer to it: {error}"), example))?;
    // Fields that were not understood must not be lost silently: a note to the model, for instance.
    let understood = serde_json::to_value(&answer).unwrap_or_default();
    match names
        .iter()
        .find(|name| understood.get(name.as_str()).is_none())
    {
        None => Ok(answer),
        Some(name) => Err(BadLine::new(
            format!("such an answer has no `{name}`"),
            example,
        )),
    }
}

#[cfg(test)]
mod tests;
