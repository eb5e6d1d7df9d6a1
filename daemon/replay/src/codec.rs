//! The cassette's wire format: neutral items as JSON, one fragment per item.
//!
//! Knows no vendor. `session` calls it through `contract::Codec`. `play` parses the body to find
//! its position.

use contract::{Asked, Codec, Fragment, Prefix, RequestBuffer, ToolChoice, ToolDeclaration};
use proto::item::Item;
use serde::Deserialize;
use serde_json::{Value, json};

/// Renders items unchanged.
pub(crate) struct ReplayCodec;

/// The part of a body that `play` needs.
#[derive(Deserialize)]
pub(crate) struct RequestBody {
    pub messages: Vec<Item>,
}

impl Codec for ReplayCodec {
    fn prefix(&self, model: &str, system: &str, tools: &[ToolDeclaration]) -> Prefix {
        let tools = tools.iter().map(|tool| {
            json!({"name": tool.name, "description": tool.description, "schema": tool.schema})
                .to_string()
        });
        Prefix {
            model: model.to_owned(),
            system: Value::from(system).to_string(),
            tools: tools.collect::<Vec<_>>().join(","),
            extra: String::new(),
        }
    }

    fn render(&self, item: &Item) -> Option<String> {
        serde_json::to_string(item).ok()
    }

    fn assemble(&self, asked: &Asked<'_>) -> RequestBuffer {
        let prefix = asked.prefix;
        let (system, tools) = (&prefix.system, &prefix.tools);
        let head = format!("{{\"system\":{system},\"tools\":[{tools}],\"messages\":[");
        let length = |fragment: &Fragment<'_>| fragment.bytes.len() + 1;
        let fragments = asked.fragments.iter().map(length).sum::<usize>();
        let mut body = RequestBuffer::with_capacity(head.len() + fragments + 32);
        body.extend_from_slice(head.as_bytes());
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
