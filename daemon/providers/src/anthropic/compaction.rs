//! The vendor's own compaction, on demand (its beta of 2026-09-04).
//!
//! A request with the member `compaction` is answered with one signed block and nothing else. Later requests begin with
//! that block, in place of the messages that it summarises. Both need the beta's header.

use contract::{Asked, Codec, RequestBuffer, ServerCompaction};
use serde_json::{Map, Value};

use super::codec::Messages;
use crate::json::quoted;

/// The beta's name in the header `anthropic-beta`.
const BETA: &str = "compact-2026-09-04";

/// The member that asks for a compaction.
const ASKS: &str = ",\"compaction\":{\"type\":\"summarize\"";

/// How a block begins here. The vendor's order of members does not matter.
const BLOCK: &str = "{\"type\":\"compaction\"";

/// The start of messages with a block. It is always the first of all.
const CARRIES: &str = "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"compaction\"";

/// The longest prompt for a summary that the vendor takes, in characters.
const DEMAND_MAX: usize = 16_384;

/// The beta that a body needs.
pub(super) fn beta(body: &[u8]) -> Option<&'static str> {
    let has = |part: &str| {
        let mut windows = body.windows(part.len());
        windows.any(|window| window == part.as_bytes())
    };
    (has(ASKS) || has(CARRIES)).then_some(BETA)
}

/// The members of a block. Empty if it is none.
pub(super) fn members(raw: &str) -> Map<String, Value> {
    serde_json::from_str(raw).unwrap_or_default()
}

/// Whether these are the members of a block with a summary.
pub(super) fn has_summary(block: &Map<String, Value>) -> bool {
    let content = block.get("content").and_then(Value::as_str);
    block.get("type").is_some_and(|kind| kind == "compaction")
        && content.is_some_and(|text| !text.trim().is_empty())
}

fn parse(data: &str) -> Option<Map<String, Value>> {
    Some(members(data)).filter(has_summary)
}

impl ServerCompaction for Messages {
    fn request(&self, asked: &Asked<'_>, demand: Option<&str>) -> Option<RequestBuffer> {
        let fits = demand.is_none_or(|demand| demand.chars().count() <= DEMAND_MAX);
        if !self.compacts || !fits {
            return None;
        }
        let mut body = self.assemble(asked);
        body.pop();
        body.extend_from_slice(ASKS.as_bytes());
        if let Some(demand) = demand {
            body.extend_from_slice(format!(",\"instructions\":{}", quoted(demand)).as_bytes());
        }
        body.extend_from_slice(b"}}");
        Some(body)
    }

    fn fragment(&self, data: &str) -> Option<String> {
        let block = parse(data)?;
        let members = block.iter().filter(|(key, _)| *key != "type");
        let members: String = members
            .map(|(key, value)| format!(",{}:{value}", quoted(key)))
            .collect();
        Some(format!("{BLOCK}{members}}}"))
    }

    fn text(&self, data: &str) -> Option<String> {
        let block = parse(data)?;
        block.get("content")?.as_str().map(str::to_owned)
    }

    fn is_compaction(&self, fragment: &[u8]) -> bool {
        fragment.starts_with(BLOCK.as_bytes())
    }

    fn is_single(&self) -> bool {
        true
    }

    /// Not by the models whose thinking has a budget (before Opus 4.7): these demand the newest thinking of a tool round.
    fn binds_reasoning(&self) -> bool {
        !self.extra.contains("\"budget_tokens\"")
    }
}

#[cfg(test)]
mod tests;
