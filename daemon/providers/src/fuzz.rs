//! Properties that hold for any bytes from a vendor: fuzz targets, see `tests/fuzz/README.md`.

use crate::playback;
use crate::sse::{EventTooLarge, SseParser};

/// The kinds that stream answers.
const KINDS: [&str; 4] = ["openai", "openai-responses", "anthropic", "command"];

/// Events: chunking makes no difference, and none exceeds the cap. The first byte is the chunk
/// size, the second the cap.
pub fn sse(data: &[u8]) {
    let [size, cap, stream @ ..] = data else {
        return;
    };
    let (size, cap) = (usize::from(*size).max(1), 16 * usize::from(*cap));
    let whole = events(&[stream], cap);
    let pieces: Vec<&[u8]> = stream.chunks(size).collect();
    let cut = events(&pieces, cap);
    assert_eq!(cut.0, whole.0, "in pieces of {size} bytes");
    assert_eq!(cut.1, whole.1, "in pieces of {size} bytes");
    // An invalid UTF-8 byte becomes a character of three bytes.
    assert!(whole.0.iter().all(|event| event.len() <= 3 * cap));
}

fn events(pieces: &[&[u8]], cap: usize) -> (Vec<String>, Result<(), EventTooLarge>) {
    let mut found = Vec::new();
    let mut events = SseParser::new(cap);
    let mut each = |event: &str| {
        found.push(event.to_owned());
        Ok::<(), EventTooLarge>(())
    };
    let fed = pieces
        .iter()
        .try_for_each(|piece| events.feed(piece, &mut each))
        .and_then(|()| events.finish(&mut each));
    (found, fed)
}

/// Answers of all kinds: each has one end, calls equal the streamed fragments, and chunking makes
/// no difference. The first byte is the kind, the second the chunk size.
pub fn wires(data: &[u8]) {
    let [kind, size, stream @ ..] = data else {
        return;
    };
    if stream.is_empty() {
        return;
    }
    let kind = KINDS[usize::from(*kind) % KINDS.len()];
    let whole = playback::play(kind, &[stream]);
    let pieces: Vec<&[u8]> = stream.chunks(usize::from(*size).max(1)).collect();
    assert_eq!(
        playback::play(kind, &pieces),
        whole,
        "{kind} in pieces of {size} bytes"
    );
}

#[cfg(test)]
#[path = "../../../tests/fuzz/seeds.rs"]
mod seeds;

#[test]
fn seeds_of_sse() {
    seeds::each("sse", sse);
}

#[test]
fn seeds_of_wires() {
    seeds::each("wires", wires);
}
