//! A user's JSON Schema: reading it, refusing what cannot be checked, and comparing a value with it.
//!
//! Called by `run --json-schema`. Reads no file and fetches nothing: a schema holds everything that it refers to. `format`
//! is not checked. The comparison itself is that of the crate `jsonschema`.

mod lines;

use std::fmt;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// Places where an answer does not fit that are reported at once.
const PROBLEMS_MAX: usize = 20;

/// Characters of what does not fit at one place: it quotes the value.
const MESSAGE_MAX: usize = 400;

/// A schema that can be checked.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
}

/// Why a text is not a schema.
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
            "" => write!(out, "the answer: {}", self.message),
            at => write!(out, "`{at}`: {}", self.message),
        }
    }
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// It is no JSON, no schema, or has something that cannot be checked.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let root: Value = serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            SchemaError {
                line: error.line().max(1),
                message: format!("invalid JSON: {message}"),
            }
        })?;
        let built = jsonschema::options()
            // Linear in time.
            .with_pattern_options(PatternOptions::regex())
            .should_validate_formats(false)
            .build(&root);
        match built {
            Ok(validator) => Ok(Self { validator }),
            Err(error) => {
                let (pointer, message) = fault(&root, &error);
                let steps: Vec<String> = pointer.split('/').skip(1).map(decoded).collect();
                Err(SchemaError {
                    line: lines::line_of(text, &steps),
                    message: Problem {
                        at: pointer,
                        message,
                    }
                    .of_schema(),
                })
            }
        }
    }

    /// Where a value does not fit; empty: it does.
    #[must_use]
    pub fn problems(&self, value: &Value) -> Vec<Problem> {
        let errors = self.validator.iter_errors(value);
        let mut problems: Vec<Problem> = errors
            .flat_map(|error| problems_of(&error))
            .take(PROBLEMS_MAX + 1)
            .collect();
        if let Some(more) = problems.get_mut(PROBLEMS_MAX) {
            *more = Problem {
                at: String::new(),
                message: "more places do not fit".to_owned(),
            };
        }
        problems
    }
}

impl Problem {
    /// As a fault of the schema itself.
    fn of_schema(&self) -> String {
        match self.at.as_str() {
            "" => self.message.clone(),
            at => format!("`{at}`: {}", self.message),
        }
    }
}

/// What an error says: the place itself, and of alternatives what the nearest one lacks.
fn problems_of(error: &ValidationError<'_>) -> Vec<Problem> {
    let alternatives = match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            context.as_slice()
        }
        _ => &[],
    };
    let nearest = alternatives.iter().min_by_key(|lacking| lacking.len());
    let first = Problem {
        at: error.instance_path().as_str().to_owned(),
        message: match nearest {
            Some(_) => format!(
                "fits none of the {} alternatives; what the nearest one lacks follows",
                alternatives.len()
            ),
            None => shortened(error.to_string()),
        },
    };
    let lacking = nearest.into_iter().flatten().flat_map(problems_of);
    std::iter::once(first).chain(lacking).collect()
}

fn shortened(message: String) -> String {
    match message.char_indices().nth(MESSAGE_MAX) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message,
    }
}

/// Where a schema is wrong, as a JSON Pointer, and why.
fn fault(root: &Value, error: &ValidationError<'_>) -> (String, String) {
    if !matches!(error.kind(), ValidationErrorKind::Referencing(_)) {
        return (
            error.instance_path().as_str().to_owned(),
            shortened(error.to_string()),
        );
    }
    let mut at = String::new();
    match broken_reference(root, root, &mut at) {
        Some(reference) => {
            let message = match reference.starts_with('#') {
                true => format!("refers to `{reference}`, which does not exist"),
                false => format!(
                    "refers to `{reference}`: a schema may refer only to parts of its own file"
                ),
            };
            (at, message)
        }
        None => (String::new(), error.to_string()),
    }
}

/// The first reference that leads out of the file or nowhere; `at` becomes its JSON Pointer.
fn broken_reference<'a>(root: &Value, value: &'a Value, at: &mut String) -> Option<&'a str> {
    let before = at.len();
    let children: Vec<(String, &Value)> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), value))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(n, item)| (n.to_string(), item))
            .collect(),
        _ => return None,
    };
    for (name, child) in children {
        at.push('/');
        at.push_str(&name.replace('~', "~0").replace('/', "~1"));
        let found = match child {
            Value::String(reference) if name == "$ref" => {
                let exists = reference
                    .strip_prefix('#')
                    .is_some_and(|pointer| root.pointer(pointer).is_some());
                (!exists).then_some(reference.as_str())
            }
            child => broken_reference(root, child, at),
        };
        if found.is_some() {
            return found;
        }
        at.truncate(before);
    }
    None
}

/// A step of a JSON Pointer as a name.
fn decoded(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests;
