//! `--json-schema`: the model's instruction about the schema, how its answer is read, and the reply if it does not fit.
//!
//! The schema goes into the user's message: system prompt and tools stay the same to the byte, and the provider's cache
//! keeps matching.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::exit::Error;
use crate::json_schema::Schema;
use crate::messages::run::Msg;
use client::prompt::Prompt;

/// How often the model is asked again.
pub(super) const ASKED_AGAIN_MAX: usize = 2;

/// Bytes of a schema. Every request of the turn contains it.
const BYTES_MAX: u64 = 256 * 1024;

/// A schema that the answer of a run must fit.
pub(super) struct AnswerSchema {
    /// As in the file.
    text: String,
    schema: Schema,
}

impl AnswerSchema {
    /// Reads the file of `--json-schema`.
    pub(super) fn read(file: &Path) -> Result<Self, Error> {
        let name = file.display();
        let unreadable = |why: &dyn std::fmt::Display| {
            Error::usage(
                say!(Msg::SchemaUnreadable, name, why),
                say!(Msg::SchemaUnreadableHint),
            )
        };
        let meta = std::fs::metadata(file).map_err(|error| unreadable(&error))?;
        if !meta.is_file() {
            return Err(unreadable(&say!(Msg::NoRegularFile)));
        }
        if meta.len() > BYTES_MAX {
            let why = say!(Msg::MoreKib, BYTES_MAX / 1024);
            return Err(unreadable(&why));
        }
        let bytes = std::fs::read(file).map_err(|error| unreadable(&error))?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable(&say!(Msg::NotUtf8)))?;
        let schema = Schema::parse(&text).map_err(|error| {
            Error::usage(
                format!("{name}:{}: {}", error.line, error.message),
                say!(Msg::SchemaWrongHint),
            )
        })?;
        Ok(Self { text, schema })
    }

    /// The prompt with the schema.
    pub(super) fn prompt(&self, mut prompt: Prompt) -> Prompt {
        let wanted = format!(
            "\n\nYour final answer must be one JSON value that fits this JSON Schema. Write the JSON alone, without any \
             other text:\n\n```json\n{}\n```",
            self.text.trim()
        );
        prompt.text.push_str(&wanted);
        prompt
    }

    /// The value of an answer; else what does not fit.
    pub(super) fn value(&self, answer: &str) -> Result<Value, Vec<String>> {
        let value = read(answer).map_err(|problem| vec![problem])?;
        let problems = self.schema.problems(&value);
        match problems.is_empty() {
            true => Ok(value),
            false => Err(problems.iter().map(ToString::to_string).collect()),
        }
    }
}

/// The prompt that asks again.
pub(super) fn again(problems: &[String]) -> String {
    let mut prompt = "Your answer does not fit the JSON Schema:\n".to_owned();
    for problem in problems {
        // A string takes it.
        let _ = writeln!(prompt, "- {problem}");
    }
    prompt.push_str("\nAnswer again with the corrected JSON alone, without any other text.");
    prompt
}

/// That the last answer does not fit either.
pub(super) fn unfit(problems: &[String]) -> Error {
    Error::Failed {
        what: say!(Msg::Unfit, problems.join("; ")),
        hint: say!(Msg::UnfitHint, ASKED_AGAIN_MAX),
    }
}

/// The JSON of an answer: all of it, or the only fenced block in it.
fn read(answer: &str) -> Result<Value, String> {
    let answer = answer.trim();
    if answer.is_empty() {
        return Err("the answer is empty".to_owned());
    }
    let whole = serde_json::from_str(answer);
    match (whole, blocks(answer).as_slice()) {
        (Ok(value), _) => Ok(value),
        (Err(_), [block]) => serde_json::from_str(block)
            .map_err(|error| format!("the fenced block of the answer is not valid JSON: {error}")),
        (Err(error), []) => Err(format!("the answer is not valid JSON: {error}")),
        (Err(_), several) => Err(format!(
            "the answer has {} fenced blocks of JSON instead of one",
            several.len()
        )),
    }
}

/// The contents of fenced blocks that are marked as JSON, or not marked.
fn blocks(answer: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(bool, Vec<&str>)> = None;
    for line in answer.lines() {
        match (line.trim().strip_prefix("```"), &mut open) {
            (Some(mark), None) => {
                let mark = mark.trim();
                let is_json = mark.is_empty() || mark.eq_ignore_ascii_case("json");
                open = Some((is_json, Vec::new()));
            }
            (Some(""), Some(_)) => {
                if let Some((true, lines)) = open.take() {
                    found.push(lines.join("\n"));
                }
            }
            (_, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests;
