//! The provider kind `replay`: answers from a script (a cassette) instead of a model.
//!
//! Used by tests, benchmarks and the demo: no network, no key, deterministic. Keeps no state: the
//! position in the script follows from the conversation, so a killed session continues at its
//! position.

mod cassette;
mod codec;
mod play;

use std::sync::Arc;

use contract::{Codec, Provider};

pub use cassette::{Cassette, CassetteError};

/// Opens the codec and the provider of a cassette.
#[must_use]
pub fn open(cassette: Cassette) -> (Arc<dyn Codec>, Arc<dyn Provider>) {
    (
        Arc::new(codec::ReplayCodec),
        Arc::new(play::CassettePlayer::new(cassette)),
    )
}
