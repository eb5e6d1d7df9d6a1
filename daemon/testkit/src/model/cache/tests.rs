//! What the cache serves of requests that extend each other, and of those that do not.

use super::*;

/// A request whose prompt has so many bytes; what stands behind the messages is no part of it.
fn body(bytes: usize, last: char) -> String {
    let head = "{\"messages\":[\"";
    let text = "x".repeat(bytes - head.len() - 2);
    format!("{head}{text}{last}\"],\"tool_choice\":\"auto\"}}")
}

#[test]
fn whole_blocks_of_what_was_seen_are_served() {
    let block = BLOCK * TOKEN;
    let mut cache = BlockCache::default();
    let served = |cache: &mut BlockCache, bytes: usize, last| {
        let usage = cache.serve(body(bytes, last).as_bytes());
        (usage.prompt, usage.cached)
    };
    assert_eq!(served(&mut cache, block, 'x'), (128, 0));
    assert_eq!(served(&mut cache, block, 'x'), (128, 128));
    // Another last byte: that block was never seen.
    assert_eq!(served(&mut cache, block, 'y'), (128, 0));
    assert_eq!(served(&mut cache, 3 * block - 4, 'x'), (383, 0));
    assert_eq!(served(&mut cache, 3 * block, 'y'), (384, 256));
}
