//! The deferred tools of MCP servers that the model has found, as the results in the log show them.
//!
//! The prefix does not declare these tools, so a session that is loaded again compares them with what the model has read.

use std::collections::HashMap;

use contract::{ToolDeclaration, is_server_tool};
use proto::{Body, Record};
use serde::Deserialize;
use serde_json::Value;
use turn::facts::RELOAD;

/// A fold over the records of a log.
#[derive(Debug, Default)]
pub struct FoundTools {
    /// Definitions by name, by the tool whose result has them: which one finds tools is known once the session has its set.
    by_source: HashMap<String, HashMap<String, ToolDeclaration>>,
}

/// A line of the result of the tool that finds others.
#[derive(Deserialize)]
struct FoundTool {
    name: String,
    description: String,
    schema: Value,
}

impl FoundTools {
    /// Takes one record in. The newest result that has a tool counts.
    pub fn apply(&mut self, record: &Record) {
        match &record.body {
            Body::Tool(message) => {
                let lines = message.text.lines().filter(|line| line.starts_with('{'));
                // A line that is cut off shows no definition.
                let found = lines.filter_map(|line| serde_json::from_str::<FoundTool>(line).ok());
                for tool in found.filter(|tool| is_server_tool(&tool.name)) {
                    let declaration = ToolDeclaration {
                        name: tool.name.as_str().into(),
                        description: tool.description.into(),
                        schema: tool.schema.into(),
                    };
                    let source = self.by_source.entry(message.tool.clone()).or_default();
                    source.insert(tool.name, declaration);
                }
            }
            // The user has taken up the definitions of then.
            Body::CacheReset(reset) if reset.reason == RELOAD => self.by_source.clear(),
            _ => {}
        }
    }

    /// What the model has read of tools by the results of this one.
    pub fn declarations(mut self, source: &str) -> Vec<ToolDeclaration> {
        let found = self.by_source.remove(source).unwrap_or_default();
        found.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use proto::reset::CacheReset;
    use proto::{Seq, Stamp};
    use serde_json::json;

    use super::*;

    fn apply(found: &mut FoundTools, body: Body) {
        found.apply(&Record {
            seq: Seq(1),
            at: Stamp(0),
            turn: Some(1),
            body,
        });
    }

    /// The result of a tool.
    fn result(tool: &str, text: String) -> Body {
        let message =
            json!({"item": "m1.1", "call": "c", "tool": tool, "status": "ok", "text": text});
        Body::Tool(serde_json::from_value(message).expect("a message"))
    }

    fn line(name: &str, description: &str) -> String {
        let schema = json!({"type": "object"});
        json!({"name": name, "description": description, "schema": schema}).to_string()
    }

    fn descriptions(found: FoundTools) -> Vec<String> {
        let mut all: Vec<_> = found
            .declarations("search")
            .iter()
            .map(|tool| format!("{}: {}", tool.name, tool.description))
            .collect();
        all.sort();
        all
    }

    #[test]
    fn newest_definition_of_each_server_tool_counts() {
        let mut found = FoundTools::default();
        let lines = [
            line("mcp__s__a", "Old."),
            line("mcp__s__b", "B."),
            line("forget", "Ours."),
            "{\"name\": \"mcp__s__c\", \"desc".to_owned(),
        ];
        apply(&mut found, result("search", lines.join("\n")));
        apply(&mut found, result("search", line("mcp__s__a", "New.")));
        apply(&mut found, result("other", line("mcp__s__b", "Forged.")));
        assert_eq!(descriptions(found), ["mcp__s__a: New.", "mcp__s__b: B."]);
    }

    #[test]
    fn reload_takes_up_other_definitions() {
        let mut found = FoundTools::default();
        apply(&mut found, result("search", line("mcp__s__a", "Old.")));
        let reset = CacheReset {
            reason: RELOAD.to_owned(),
            ..CacheReset::default()
        };
        apply(&mut found, Body::CacheReset(reset));
        assert_eq!(descriptions(found), Vec::<String>::new());
    }
}
