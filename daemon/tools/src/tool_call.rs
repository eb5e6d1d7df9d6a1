//! `tool_call`: calls a tool that is not in the prefix.
//!
//! The session unwraps it before the policy decides: it is decided, shown and run as the tool that it names. Whether
//! there is such a tool is checked there.

use contract::{CallAction, Family, ToolSpec};
use proto::item::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::arguments::{self, Arguments};
use crate::typed_tool::TypedTool;

/// Its name.
pub(crate) const NAME: &str = "tool_call";

/// For the model.
const DESCRIPTION: &str = "Run a tool that `tool_search` found.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
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

pub(crate) struct ToolCall;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        kind: ToolKind::Tools,
        read_only: true,
        ..arguments::spec::<Args>(NAME, DESCRIPTION, Family::Session)
    }
}

impl TypedTool for ToolCall {
    type Args = Args;

    fn preview(args: Args) -> String {
        args.tool
    }

    fn action(Args { tool, arguments }: Args) -> CallAction {
        CallAction::CallTool { tool, arguments }
    }
}

#[cfg(test)]
mod tests;
