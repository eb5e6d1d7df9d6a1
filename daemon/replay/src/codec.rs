//! The cassette's wire: neutral items as JSON, one fragment an item.
//!
//! Knows no vendor. Called by `session` through `contract::Codec`; `play` reads the body back to find its place.

use contract::{Asked, Codec, Prefix, ToolChoice, ToolSpec};
use proto::item::Item;
use serde::Deserialize;
use serde_json::{Value, json};

/// Renders items as they are.
pub(crate) struct Plain;

/// What `play` needs of a body.
#[derive(Deserialize)]
pub(crate) struct Body {
    pub messages: Vec<Item>,
}

impl Codec for Plain {
    fn prefix(&self, model: &str, system: &str, tools: &[ToolSpec]) -> Prefix {
        let tools: Vec<String> = tools
            .iter()
            .map(|tool| {
                json!({"name": &*tool.name, "description": &*tool.description, "schema": &*tool.schema})
                    .to_string()
            })
            .collect();
        Prefix {
            model: model.to_owned(),
            system: Value::from(system).to_string(),
            tools: tools.join(","),
            extra: String::new(),
        }
    }

    fn render(&self, item: &Item) -> Option<String> {
        serde_json::to_string(item).ok()
    }

    fn assemble(&self, asked: &Asked<'_>) -> Vec<u8> {
        let prefix = asked.prefix;
        let fragments: usize = asked
            .fragments
            .iter()
            .map(|fragment| fragment.bytes.len() + 1)
            .sum();
        let mut body =
            Vec::with_capacity(fragments + prefix.system.len() + prefix.tools.len() + 128);
        body.extend_from_slice(b"{\"system\":");
        body.extend_from_slice(prefix.system.as_bytes());
        body.extend_from_slice(b",\"tools\":[");
        body.extend_from_slice(prefix.tools.as_bytes());
        body.extend_from_slice(b"],\"messages\":[");
        for (index, fragment) in asked.fragments.iter().enumerate() {
            if index > 0 {
                body.push(b',');
            }
            body.extend_from_slice(fragment.bytes);
        }
        body.extend_from_slice(match asked.tool_choice {
            ToolChoice::Auto => b"],\"tool_choice\":\"auto\"}".as_slice(),
            ToolChoice::None => b"],\"tool_choice\":\"none\"}".as_slice(),
        });
        body
    }
}
