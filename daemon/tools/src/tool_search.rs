//! `tool_search`: finds tools that are not in the prefix.
//!
//! Its description names the tools that existed when the session's set was assembled. Its result depends on the tools of
//! the session that calls it.

use std::fmt::Write;

use contract::{CallContext, Family, Outcome, ToolSpec};
use proto::item::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::{self, Arguments};
use crate::files;
use crate::typed_tool::TypedTool;

/// Its name.
pub(crate) const NAME: &str = "tool_search";

/// Tools that are shown with their schemas.
const SHOWN_MAX: usize = 5;
/// The prefix before exact names.
const SELECT: &str = "select:";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Words, or `select:NAME,NAME`
    #[serde(default)]
    query: String,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("q", "query"), ("search", "query"), ("name", "query")];
}

pub(crate) struct ToolSearch;

/// `deferred`: names of the tools that can be found, sorted.
pub(crate) fn spec(deferred: &[&str]) -> ToolSpec {
    let description = format!(
        "Find tools that are not listed here: {}. Returns descriptions and schemas; run one with `tool_call`.",
        deferred.join(", ")
    );
    ToolSpec {
        kind: ToolKind::Tools,
        read_only: true,
        finds_deferred: true,
        ..arguments::spec::<Args>(NAME, &description, Family::Session)
    }
}

impl TypedTool for ToolSearch {
    type Args = Args;

    fn preview(args: Args) -> String {
        format!("look for tools: {}", args.query)
    }

    async fn run(args: Args, context: CallContext) -> Result<Outcome, Outcome> {
        let deferred: Vec<_> = context.tools.deferred().collect();
        Ok(answer(&args.query, &deferred))
    }
}

/// The result for the model, and the line for the user.
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
    let (found, more) = found.split_at(found.len().min(SHOWN_MAX));
    let names: Vec<&str> = found.iter().map(|spec| &*spec.name).collect();
    let mut text = String::new();
    for spec in found {
        let tool = json!({
            "name": &*spec.name,
            "description": &*spec.description,
            "schema": &*spec.schema,
        });
        let _ = writeln!(text, "{tool}");
    }
    if query.trim().starts_with(SELECT) && !more.is_empty() {
        let more: Vec<&str> = more.iter().map(|spec| &*spec.name).collect();
        let more = more.join(",");
        let _ = writeln!(
            text,
            "At most {SHOWN_MAX} at a time; the others: {SELECT}{more}"
        );
    }
    files::done_line(text, format!("found {}", names.join(", ")))
}

/// Those that fit, best first; those named after `select:`. The first five are shown.
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
