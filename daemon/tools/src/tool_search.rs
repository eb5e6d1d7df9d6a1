//! `tool_search`: finds tools that do not stand in the prefix.
//!
//! Made by `registry` with the specs of all of them; what it answers depends on nothing else.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::item::Display;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::arguments::{self, Arguments};
use crate::files;

/// Tools that are shown with their schemas.
const SHOWN_MAX: usize = 5;
/// What stands before exact names.
const SELECT: &str = "select:";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Words, or `select:NAME,NAME`
    #[serde(default)]
    query: String,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("q", "query"), ("search", "query"), ("name", "query")];
}

pub(crate) struct ToolSearch {
    spec: ToolSpec,
    deferred: Vec<ToolSpec>,
}

impl ToolSearch {
    /// `deferred`: what can be found, in the order of the names.
    pub(crate) fn new(deferred: Vec<ToolSpec>) -> Self {
        let names: Vec<&str> = deferred.iter().map(|spec| spec.name).collect();
        let description = format!(
            "Find tools that are not listed here: {}. Returns descriptions and schemas; run one with `tool_call`.",
            names.join(", ")
        );
        Self {
            spec: ToolSpec {
                name: "tool_search",
                description: lasting_text(description),
                schema: arguments::schema::<Args>(),
                family: Family::Session,
                read_only: true,
                deferred: false,
            },
            deferred,
        }
    }
}

impl Tool for ToolSearch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        arguments::canonical::<Args>(&self.spec.schema, arguments)
    }

    fn preview(&self, arguments: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        let Args { query } = arguments::typed(arguments.clone())?;
        Ok(Preview {
            display: Display::Line {
                text: format!("look for tools: {query}"),
            },
        })
    }

    fn run(&self, arguments: Map<String, Value>, _: CallContext) -> BoxFuture<'static, Outcome> {
        let outcome = match arguments::typed::<Args>(arguments) {
            Ok(Args { query }) => answer(&query, &self.deferred),
            Err(outcome) => outcome,
        };
        async move { outcome }.boxed()
    }
}

/// What the model is told, and the people.
fn answer(query: &str, deferred: &[ToolSpec]) -> Outcome {
    let found = find(query, deferred);
    if found.is_empty() {
        let none = if query.trim().is_empty() {
            "tools"
        } else {
            "nothing fits; there are"
        };
        let mut text = format!("{none}:\n");
        for spec in deferred {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}: {}", spec.name, first_sentence(spec.description));
        }
        return files::done_line(text, format!("{} tools", deferred.len()));
    }
    let names: Vec<&str> = found.iter().map(|spec| spec.name).collect();
    let mut text = String::new();
    for spec in &found {
        let told = json!({
            "name": spec.name,
            "description": spec.description,
            "schema": spec.schema,
        });
        let _ = writeln!(text, "{told}");
    }
    files::done_line(text, format!("found {}", names.join(", ")))
}

/// Those that fit best, at most five; those named after `select:`, whatever their number.
fn find<'a>(query: &str, deferred: &'a [ToolSpec]) -> Vec<&'a ToolSpec> {
    if let Some(names) = query.trim().strip_prefix(SELECT) {
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        let named = deferred.iter().filter(|spec| names.contains(&spec.name));
        return named.collect();
    }
    let wanted: Vec<String> = words(query);
    let mut found: Vec<(usize, &ToolSpec)> = deferred
        .iter()
        .map(|spec| (score(&wanted, spec), spec))
        .filter(|(score, _)| *score > 0)
        .collect();
    found.sort_by_key(|(score, spec)| (std::cmp::Reverse(*score), spec.name));
    found.truncate(SHOWN_MAX);
    found.into_iter().map(|(_, spec)| spec).collect()
}

/// How well a tool fits: a word of its name counts more than one of its description.
fn score(wanted: &[String], spec: &ToolSpec) -> usize {
    let (name, description) = (words(spec.name), words(spec.description));
    let of = |word: &String| {
        if spec.name == word.as_str() {
            return 8;
        }
        if name.contains(word) {
            return 4;
        }
        if name.iter().any(|other| alike(word, other)) {
            return 3;
        }
        usize::from(description.iter().any(|other| alike(word, other)))
    };
    wanted.iter().map(of).sum()
}

/// The same word, or the beginning of it: `file` and `files`, `dir` and `directory`.
fn alike(one: &str, two: &str) -> bool {
    one == two || (one.len().min(two.len()) >= 3 && (one.starts_with(two) || two.starts_with(one)))
}

/// Words in small letters; those that say nothing are left out.
fn words(text: &str) -> Vec<String> {
    const EMPTY: [&str; 10] = [
        "the", "and", "for", "with", "that", "from", "into", "this", "tool", "tools",
    ];
    text.split(|char: char| !char.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| word.chars().count() > 1 && !EMPTY.contains(&word.as_str()))
        .filter(|word| !["to", "of", "in", "is", "it", "an", "or", "by"].contains(&word.as_str()))
        .collect()
}

fn first_sentence(text: &str) -> &str {
    match text.find(['.', ';', ':']) {
        Some(end) => &text[..end],
        None => text,
    }
}

/// The same text for good: a spec's description lives as long as the program. There are as few as there are lists of
/// tools.
fn lasting_text(text: String) -> &'static str {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text.as_str()) {
        return known;
    }
    let text: &'static str = text.leak();
    texts.insert(text);
    text
}

#[cfg(test)]
mod tests;
