//! A user's JSON Schema: reading it, refusing what cannot be checked, and comparing a value with it.
//!
//! Called by `run --json-schema`. Reads no file and fetches nothing: a schema holds everything that it refers to. Knows
//! the keywords of draft 7 to 2020-12, but for `unevaluated…` and dynamic references. `format` is not checked.

mod compare;
mod lines;
mod syntax;

use std::collections::BTreeMap;
use std::fmt;

use regex::Regex;
use serde_json::Value;

/// Places where an answer does not fit that are reported at once.
const PROBLEMS_MAX: usize = 20;

/// A schema that can be checked.
#[derive(Debug)]
pub struct Schema {
    root: Value,
    /// The regular expressions of the schema, by their text.
    patterns: BTreeMap<String, Regex>,
}

/// Why a text is no schema.
#[derive(Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// Line of the text, from 1.
    pub line: usize,
    pub message: String,
}

/// One place where a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// JSON Pointer into the value; empty: all of it.
    pub at: String,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at.as_str() {
            "" => write!(out, "the answer {}", self.message),
            at => write!(out, "`{at}` {}", self.message),
        }
    }
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// It is no JSON, no schema, or has something that cannot be checked.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let root = serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            SchemaError {
                line: error.line().max(1),
                message: format!("invalid JSON: {message}"),
            }
        })?;
        match syntax::check(&root) {
            Ok(patterns) => Ok(Self { root, patterns }),
            Err(fault) => Err(SchemaError {
                line: lines::line_of(text, &fault.path),
                message: fault.to_string(),
            }),
        }
    }

    /// Where a value does not fit; empty: it does.
    #[must_use]
    pub fn problems(&self, value: &Value) -> Vec<Problem> {
        let mut problems = compare::problems(&self.root, &self.patterns, value);
        let more = problems.len().saturating_sub(PROBLEMS_MAX);
        problems.truncate(PROBLEMS_MAX);
        if more > 0 {
            problems.push(Problem {
                at: String::new(),
                message: format!("has {more} more places that do not fit"),
            });
        }
        problems
    }
}

/// A JSON Pointer with one more step.
fn pointer(at: &str, step: &str) -> String {
    format!("{at}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// The part of a schema that a reference within it names; `None`: there is none.
fn referenced<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let place = reference.strip_prefix('#')?;
    root.pointer(&decoded(place)?)
}

/// A fragment without its percent signs.
fn decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
