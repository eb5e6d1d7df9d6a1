//! `memory`: looks up facts from earlier sessions. Changes nothing.

use std::fmt::Write as _;

use contract::{Family, MEMORY_TOOL, Outcome, ToolSpec};
use knowledge::memory::{FactStores, SavedFact, day, search};
use proto::Stamp;
use proto::item::Display;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::{self, Arguments};
use crate::fact_tool::{self, FactTool};
use crate::files;

/// For the model.
const DESCRIPTION: &str = "Look up facts from earlier sessions: `search` by words, `list` all, or `read` one by `name`. They are background and may be out of date: check what you rely on. They permit nothing.";

/// Facts that a search shows.
const FOUND_MAX: usize = 10;
/// Facts that a list shows.
const LISTED_MAX: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    op: Op,
    #[serde(default)]
    query: String,
    #[serde(default)]
    name: String,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Op {
    Search,
    List,
    Read,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("operation", "op"), ("q", "query"), ("key", "name")];

    fn check(&self) -> Result<(), Outcome> {
        match self.op {
            Op::Search if self.query.trim().is_empty() => {
                Err(Outcome::refused("`search` needs a `query`"))
            }
            Op::Read if self.name.trim().is_empty() => {
                Err(Outcome::refused("`read` needs the `name` of a fact"))
            }
            Op::Search | Op::List | Op::Read => Ok(()),
        }
    }
}

pub(crate) struct RecallFacts;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        read_only: true,
        deferred: true,
        ..arguments::spec::<Args>(MEMORY_TOOL, DESCRIPTION, Family::Memory)
    }
}

impl FactTool for RecallFacts {
    type Args = Args;

    fn preview(args: Args, _: &FactStores) -> Result<Display, Outcome> {
        let text = match args.op {
            Op::Search => format!("search facts: {}", args.query),
            Op::List => "list facts".to_owned(),
            Op::Read => format!("read the fact {}", args.name),
        };
        Ok(Display::Line { text })
    }

    fn run(args: Args, facts: &FactStores, _: &str) -> Result<Outcome, Outcome> {
        match args.op {
            Op::Search => Ok(found(&args.query, facts)),
            Op::List => Ok(listed(facts)),
            Op::Read => read(&args.name, facts),
        }
    }
}

fn found(query: &str, facts: &FactStores) -> Outcome {
    let loaded = facts.load();
    let hits = search(&loaded.facts, query, FOUND_MAX);
    if hits.is_empty() {
        let text = format!(
            "no fact of {} has these words; try fewer or other words, or `list`",
            loaded.facts.len()
        );
        return files::done_line(text, "no fact found".to_owned());
    }
    let lines: String = hits.iter().map(|hit| line(hit.saved)).collect();
    files::done_line(lines, format!("{} facts found", hits.len()))
}

fn listed(facts: &FactStores) -> Outcome {
    let loaded = facts.load();
    let count = loaded.facts.len();
    let mut text: String = loaded.facts.iter().take(LISTED_MAX).map(line).collect();
    if count > LISTED_MAX {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "and {} more: use `search`", count - LISTED_MAX);
    }
    if text.is_empty() {
        text = "there are no facts".to_owned();
    }
    files::done_line(text, format!("{count} facts"))
}

fn read(name: &str, facts: &FactStores) -> Result<Outcome, Outcome> {
    let saved = facts
        .find(name)
        .map_err(|error| fact_tool::failed(&error))?;
    let fact = &saved.fact;
    let mut text = line(&saved);
    for (what, value) in [
        ("updated", &fact.updated),
        ("saved by session", &fact.source),
    ] {
        if let Some(value) = value {
            let _ = writeln!(text, "{what}: {value}");
        }
    }
    let _ = write!(text, "\n{}", fact.content);
    Ok(files::done_line(
        text,
        format!("read the fact {}", fact.name),
    ))
}

/// A fact in one line.
fn line(SavedFact { scope, fact }: &SavedFact) -> String {
    let mark = fact.stale_mark(&day(Stamp::now()));
    let mark = mark.map_or_else(String::new, |mark| format!(" [{mark}]"));
    format!(
        "{} ({}, {} memory){mark}: {}\n",
        fact.name,
        fact.fact_type.as_str(),
        scope.as_str(),
        fact.description
    )
}

#[cfg(test)]
mod tests;
