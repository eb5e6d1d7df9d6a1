//! A provider's cache of prefixes, as vendors describe theirs: it keeps whole blocks of 128 tokens, each with all that stands
//! before it, and serves a request as many of its leading blocks as it has seen. A token is four bytes.
//!
//! Exact where a vendor's is not: nothing is evicted, and what was served once is served again.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::answer::Usage;

/// Bytes of a token.
const TOKEN: usize = 4;
/// Tokens of a block.
pub const BLOCK: usize = 128;

/// What it has seen.
#[derive(Debug, Default)]
pub struct BlockCache {
    /// Of each block: a digest of it and of all before it.
    seen: HashSet<u64>,
}

impl BlockCache {
    /// Serves a request of chat completions, and keeps it. The prompt is the body up to the end of its newest message: what
    /// follows there (the closing brackets, what else a vendor is asked) is no text for the model.
    ///
    /// # Panics
    /// It is no such request.
    pub fn serve(&mut self, body: &[u8]) -> Usage {
        let prompt = prompt(body);
        let (mut digest, mut served, mut hits) = (0_u64, 0, true);
        for block in prompt.chunks_exact(BLOCK * TOKEN) {
            let mut hasher = DefaultHasher::new();
            (digest, block).hash(&mut hasher);
            digest = hasher.finish();
            hits &= !self.seen.insert(digest);
            served += if hits { BLOCK } else { 0 };
        }
        Usage {
            prompt: (prompt.len() / TOKEN) as u64,
            cached: served as u64,
            output: 1,
            reasoning: 0,
        }
    }
}

/// The body up to the end of its newest message.
fn prompt(body: &[u8]) -> &[u8] {
    #[derive(Deserialize)]
    struct Chat<'a> {
        #[serde(borrow)]
        messages: &'a RawValue,
    }
    let chat: Chat<'_> = serde_json::from_slice(body).expect("a request of chat completions");
    let messages = chat.messages.get();
    // The value is borrowed from the body: where it begins there is where its address says.
    let start = messages.as_ptr().addr() - body.as_ptr().addr();
    &body[..start + messages.len() - 1]
}

#[cfg(test)]
mod tests;
