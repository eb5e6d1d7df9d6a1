//! The vendor's own compaction: an item at the end of the input has the vendor answer with one encrypted item, which
//! stands in later requests in place of the items that it summarises.

use contract::codec::FragmentRole;
use contract::{Asked, Codec, Fragment, RequestBuffer, ServerCompaction};
use serde_json::{Value, json};

use super::codec::Responses;

/// Asks for a compaction of all items before it. It must be the last one.
const TRIGGER: &str = "{\"type\":\"compaction_trigger\"}";

/// How the item begins here. The vendor's order of members does not matter.
const ITEM: &str = "{\"type\":\"compaction\"";

/// The encrypted content of a compaction, and its id.
pub(super) fn parse(data: &str) -> Option<(Value, Option<Value>)> {
    let item: Value = serde_json::from_str(data).ok()?;
    let content = item.get("encrypted_content")?.clone();
    let has_content = content.as_str().is_some_and(|text| !text.is_empty());
    let id = item.get("id").filter(|id| id.is_string()).cloned();
    (item["type"] == "compaction" && has_content).then_some((content, id))
}

impl ServerCompaction for Responses {
    fn request(&self, asked: &Asked<'_>, demand: Option<&str>) -> Option<RequestBuffer> {
        if !self.compacts || demand.is_some() {
            return None;
        }
        let trigger = Fragment {
            role: FragmentRole::User,
            bytes: TRIGGER.as_bytes(),
        };
        let fragments: Vec<_> = asked.fragments.iter().copied().chain([trigger]).collect();
        Some(self.assemble(&Asked {
            fragments: &fragments,
            ..*asked
        }))
    }

    /// The item as the vendor takes it: answers have more members.
    fn fragment(&self, data: &str) -> Option<String> {
        let (content, id) = parse(data)?;
        let id = id.map_or_else(String::new, |id| format!(",\"id\":{id}"));
        let content = json!(content);
        Some(format!("{ITEM}{id},\"encrypted_content\":{content}}}"))
    }

    fn text(&self, _: &str) -> Option<String> {
        None
    }

    fn is_compaction(&self, fragment: &[u8]) -> bool {
        fragment.starts_with(ITEM.as_bytes())
    }

    fn is_single(&self) -> bool {
        false
    }

    fn binds_reasoning(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
