//! `tool_call`: calls a tool that is not in the prefix.
//!
//! The session unwraps it before policy looks: it is judged, shown and run as the tool that it names.

use contract::{CallAction, CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use proto::item::{Display, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::arguments::{self, Arguments};

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
}

impl ToolCall {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                kind: ToolKind::Tools,
                read_only: true,
                ..arguments::spec::<Args>(
                    "tool_call",
                    include_str!("tool_call.md"),
                    Family::Session,
                )
            },
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
        // Whether there is such a tool is known to the session that has the tools.
        arguments::typed::<Args>(arguments.clone())?;
        Ok(arguments)
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

#[cfg(test)]
mod tests;
