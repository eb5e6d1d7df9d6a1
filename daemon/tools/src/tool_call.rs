//! `tool_call`: calls a tool that is not in the prefix.
//!
//! The session unwraps it before policy looks: it is judged, shown and run as the tool that it names.

use contract::{CallAction, CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use proto::item::Display;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::arguments::{self, Arguments};

/// Names that are offered for one that is unknown.
const OFFERED_MAX: usize = 3;
/// Names of tools that come from outside begin like this: they are not known here.
const OUTSIDE: &str = "mcp__";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("name", "tool"),
        ("tool_name", "tool"),
        ("args", "arguments"),
        ("input", "arguments"),
        ("parameters", "arguments"),
    ];
}

pub(crate) struct ToolCall {
    spec: ToolSpec,
    /// All tools that there are.
    names: Vec<&'static str>,
}

impl ToolCall {
    pub(crate) fn new(names: Vec<&'static str>) -> Self {
        Self {
            spec: ToolSpec {
                name: "tool_call",
                description: include_str!("tool_call.md").trim_ascii(),
                schema: arguments::schema::<Args>(),
                family: Family::Session,
                // Never judged itself.
                read_only: true,
                deferred: false,
            },
            names,
        }
    }
}

impl Tool for ToolCall {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        // Some models write the inner arguments as text.
        let read = |value: &Value| match value.as_str().map(serde_json::from_str) {
            Some(Ok(object @ Value::Object(_))) => object,
            _ => value.clone(),
        };
        let arguments = arguments
            .iter()
            .map(|(key, value)| (key.clone(), read(value)));
        let arguments = arguments::canonical::<Args>(&self.spec.schema, &arguments.collect())?;
        let Args { tool, .. } = arguments::typed(arguments.clone())?;
        if tool.starts_with(OUTSIDE) || self.names.contains(&tool.as_str()) {
            return Ok(arguments);
        }
        let near = nearest(&tool, &self.names);
        Err(Outcome::refused(format!(
            "there is no tool `{tool}`; nearest are `{}`. `tool_search` lists them",
            near.join("`, `")
        )))
    }

    fn preview(&self, arguments: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        let Args { tool, .. } = arguments::typed(arguments.clone())?;
        Ok(Preview {
            display: Display::Line { text: tool },
        })
    }

    fn action(&self, arguments: &Map<String, Value>) -> Result<CallAction, Outcome> {
        let Args { tool, arguments } = arguments::typed(arguments.clone())?;
        Ok(CallAction::CallTool { tool, arguments })
    }
}

/// The names most like this one.
fn nearest<'a>(wanted: &str, names: &[&'a str]) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let mut near: Vec<(usize, &str)> = names
        .iter()
        .map(|name| (distance(&wanted, name), *name))
        .collect();
    near.sort_unstable();
    near.truncate(OFFERED_MAX);
    near.into_iter().map(|(_, name)| name).collect()
}

/// Letters to be put in, taken out or changed to make one of the other; a name within the other is near.
fn distance(one: &str, two: &str) -> usize {
    if !one.is_empty() && (two.contains(one) || one.contains(two)) {
        return 1;
    }
    let two: Vec<char> = two.chars().collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    // Longer names than any there is are not compared to their end.
    for (at, char) in one.chars().take(64).enumerate() {
        let mut diagonal = at;
        let mut left = at + 1;
        for (other, above) in two.iter().zip(row.iter_mut().skip(1)) {
            let changed = diagonal + usize::from(char != *other);
            diagonal = *above;
            left = changed.min(left + 1).min(*above + 1);
            *above = left;
        }
        if let Some(first) = row.first_mut() {
            *first = at + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
