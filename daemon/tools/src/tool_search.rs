//! `tool_search`: finds tools that are not in the prefix.
//!
//! Its description names the tools that were there when the session's set was assembled. What it answers depends on the
//! tools of the session that calls it.

use std::fmt::Write;

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::item::{Display, ToolKind};
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
}

impl ToolSearch {
    /// `deferred`: names of the tools that can be found, sorted.
    pub(crate) fn new(deferred: &[&str]) -> Self {
        let description = format!(
            "Find tools that are not listed here: {}. Returns descriptions and schemas; run one with `tool_call`.",
            deferred.join(", ")
        );
        Self {
            spec: ToolSpec {
                kind: ToolKind::Tools,
                read_only: true,
                ..arguments::spec::<Args>("tool_search", &description, Family::Session)
            },
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

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        let outcome = match arguments::typed::<Args>(arguments) {
            Ok(Args { query }) => answer(&query, &context.tools.deferred().collect::<Vec<_>>()),
            Err(outcome) => outcome,
        };
        async move { outcome }.boxed()
    }
}

/// What the model is told, and the people.
fn answer(query: &str, deferred: &[&ToolSpec]) -> Outcome {
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
            let _ = writeln!(text, "{}: {}", spec.name, first_sentence(&spec.description));
        }
        return files::done_line(text, format!("{} tools", deferred.len()));
    }
    let names: Vec<&str> = found.iter().map(|spec| &*spec.name).collect();
    let mut text = String::new();
    for spec in &found {
        let told = json!({
            "name": &*spec.name,
            "description": &*spec.description,
            "schema": &*spec.schema,
        });
        let _ = writeln!(text, "{told}");
    }
    files::done_line(text, format!("found {}", names.join(", ")))
}

/// Those that fit best, at most five; those named after `select:`, whatever their number.
fn find<'a>(query: &str, deferred: &[&'a ToolSpec]) -> Vec<&'a ToolSpec> {
    if let Some(names) = query.trim().strip_prefix(SELECT) {
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        let named = deferred.iter().filter(|spec| names.contains(&&*spec.name));
        return named.copied().collect();
    }
    let wanted: Vec<String> = words(query);
    let mut found: Vec<(usize, &ToolSpec)> = deferred
        .iter()
        .map(|spec| (score(&wanted, spec), *spec))
        .filter(|(score, _)| *score > 0)
        .collect();
    found.sort_by(|(a, one), (b, two)| b.cmp(a).then_with(|| one.name.cmp(&two.name)));
    found.truncate(SHOWN_MAX);
    found.into_iter().map(|(_, spec)| spec).collect()
}

/// How well a tool fits: a word of its name counts more than one of its description.
fn score(wanted: &[String], spec: &ToolSpec) -> usize {
    let (name, description) = (words(&spec.name), words(&spec.description));
    let of = |word: &String| {
        if *spec.name == **word {
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

#[cfg(test)]
mod tests;
