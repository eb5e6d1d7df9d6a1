//! `tool_call`: stands for a call of a tool that is not in the prefix.
//!
//! The session unwraps it before policy looks: it is judged, shown and run as the tool that it names.

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::item::Display;
use proto::near;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::arguments::{self, Arguments};

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
        let near = near::nearest(&tool, self.names.iter().copied());
        let nearest = match near.is_empty() {
            true => String::new(),
            false => format!("; nearest are `{}`", near.join("`, `")),
        };
        Err(Outcome::refused(format!(
            "there is no tool `{tool}`{nearest}. `tool_search` lists them"
        )))
    }

    fn preview(&self, arguments: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        let Args { tool, .. } = arguments::typed(arguments.clone())?;
        Ok(Preview {
            display: Display::Line { text: tool },
        })
    }

    fn stands_for(&self, arguments: &Map<String, Value>) -> Option<(String, Map<String, Value>)> {
        let Args { tool, arguments } = arguments::typed(arguments.clone()).ok()?;
        Some((tool, arguments))
    }

    fn run(&self, _: Map<String, Value>, _: CallContext) -> BoxFuture<'static, Outcome> {
        async {
            Outcome::failed("the tool was not run, a bug in Reasonix; call it by its own name")
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
