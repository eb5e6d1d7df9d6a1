//! The cost of requests if a provider's cache holds their beginnings: a tenth of the price for cached tokens. Pure.

use serde::Deserialize;
use serde_json::value::RawValue;
use testkit::model::cache::BlockCache;

/// The parts of a request, in the order of its bytes.
#[derive(Deserialize)]
struct Chat<'a> {
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
    #[serde(borrow)]
    tools: &'a RawValue,
}

/// Tokens of all requests as they are billed.
pub fn whole(bodies: &[Vec<u8>]) -> u64 {
    billed(bodies.iter().map(Vec::as_slice))
}

/// The same of requests without system prompt and tools.
pub fn bare(bodies: &[Vec<u8>]) -> u64 {
    let bare: Vec<_> = bodies.iter().map(|body| conversation(body)).collect();
    billed(bare.iter().map(String::as_bytes))
}

/// Bytes of system prompt and schemas of tools.
pub fn prefix(body: &[u8]) -> usize {
    let chat = chat(body);
    chat.messages[0].get().len() + chat.tools.get().len()
}

fn conversation(body: &[u8]) -> String {
    let messages = chat(body).messages;
    // The system prompt is the first message.
    let messages: Vec<_> = messages[1..].iter().map(|message| message.get()).collect();
    format!("{{\"messages\":[{}]}}", messages.join(","))
}

fn chat(body: &[u8]) -> Chat<'_> {
    serde_json::from_slice(body).expect("a request of chat completions")
}

fn billed<'a>(bodies: impl Iterator<Item = &'a [u8]>) -> u64 {
    let mut cache = BlockCache::default();
    // In tenths of a token.
    let tenths = bodies.map(|body| {
        let usage = cache.serve(body);
        (usage.prompt - usage.cached) * 10 + usage.cached
    });
    tenths.sum::<u64>() / 10
}
