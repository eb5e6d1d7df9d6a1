//! What a long history costs each request: a round of one read with ten megabytes of conversation before it, and with none.

use std::time::{Duration, Instant};

use proto::hello::Role;

use super::endpoint::{Endpoint, Round};
use super::table::{Figure, median, row};
use super::{Size, load};
use crate::House;

/// Bytes of a prompt that makes the history long: less than what a client may send at once.
const PROMPT: usize = 250_000;

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let long = rounds(size, &endpoint, size.history);
    let short = rounds(size, &endpoint, 0);
    vec![row(
        "assembling a request from a 10 MB history: what a round of one read takes more (floor: memcpy)",
        long.saturating_sub(short),
        copy(size.history),
        "10 ms",
    )]
}

/// Median of the time from an answer's end until the next request begins to arrive, after so many bytes of conversation.
fn rounds(size: Size, endpoint: &Endpoint, history: usize) -> Duration {
    let house = House::new();
    // So large a window that nothing is compacted.
    house.provider(&format!(
        "name = \"test\"\nkind = \"openai\"\nbase_url = \"{}\"\nmodel = \"test-model\"\ncontext_window = 100000000",
        endpoint.base_url()
    ));
    house.files("//- read_0.txt\nline one\nline two\n");
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let session = load::create(&house, &mut raw, "test", None);
    let piece = "Words of a prompt that is long.\n".repeat(PROMPT.min(history) / 32);
    for _ in 0..history / PROMPT.min(history.max(1)) {
        endpoint.play(vec![Round::Words(24)]);
        load::prompt(&mut raw, &session, &piece);
    }
    let mut script = vec![Round::Reads(1); size.rounds.min(30)];
    script.push(Round::Words(24));
    endpoint.play(script);
    load::prompt(&mut raw, &session, "go on");
    let exchanges = endpoint.exchanges();
    let pairs = exchanges.windows(2);
    let gaps = pairs.map(|pair| pair[1].begun.duration_since(pair[0].answered));
    median(gaps.collect())
}

/// Median of copying so many bytes.
fn copy(bytes: usize) -> Duration {
    let from = vec![b'x'; bytes];
    let mut to = vec![0; bytes];
    let times = (0..9).map(|_| {
        let begun = Instant::now();
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&to);
        begun.elapsed()
    });
    median(times.collect())
}
