//! Events that do not fit a frame. Durable events can be read in other ways; where a client's view starts cannot, so
//! `snapshot` and `sync` are shortened and never left out. Called by the pumps of `session`.

use std::sync::Arc;

use proto::{Seq, frame};
use serde_json::{Value, json};

/// What the frame needs beside the event.
const ENVELOPE: usize = 512;
/// Bytes that a text keeps, tried in this order. Names and ids are shorter than the last.
const KEPT: [usize; 4] = [64 * 1024, 8 * 1024, 1024, 200];
/// Lists that may be cut where even short texts are too much, in the order in which they are missed least.
const LISTS: [&str; 3] = ["live", "queue", "interactions"];

/// The event itself, or the part of it that fits.
pub fn fitting(seq: Option<Seq>, text: Arc<str>) -> Arc<str> {
    let max = frame::OUTBOUND_MAX - ENVELOPE;
    if text.len() <= max {
        return text;
    }
    let Ok(mut event) = serde_json::from_str::<Value>(&text) else {
        return json!({"seq": seq, "oversized_bytes": text.len()})
            .to_string()
            .into();
    };
    if matches!(event["kind"].as_str(), Some("snapshot" | "sync"))
        && let Some(short) = shortened(&event, max)
    {
        return short.into();
    }
    event["data"] = json!({"oversized_bytes": text.len()});
    event.to_string().into()
}

fn shortened(event: &Value, max: usize) -> Option<String> {
    let mut event = event.clone();
    for kept in KEPT {
        cut(&mut event["data"], kept);
        let text = event.to_string();
        if text.len() <= max {
            return Some(text);
        }
    }
    for list in LISTS {
        while let Some(entries) = event["data"][list]
            .as_array_mut()
            .filter(|list| !list.is_empty())
        {
            // The oldest stay: the longest waiting matter most.
            entries.truncate(entries.len() / 2);
            let text = event.to_string();
            if text.len() <= max {
                return Some(text);
            }
        }
    }
    None
}

/// Cuts every text within. A prefix stays, so that offsets of messages in progress keep their meaning.
fn cut(value: &mut Value, kept: usize) {
    match value {
        Value::String(text) => text.truncate(text.floor_char_boundary(kept)),
        Value::Array(values) => values.iter_mut().for_each(|value| cut(value, kept)),
        Value::Object(members) => members.values_mut().for_each(|value| cut(value, kept)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests;
