//! The provider kind `replay`: answers from a script (a cassette) in a model's place.
//!
//! Tests, benches and the demo use it: no network, no key, the same every time. Keeps no state of its own: the place
//! in the script follows from the conversation, so that a killed session plays on where it was.

mod cassette;
mod codec;
mod play;

use std::sync::Arc;

use contract::{Codec, Provider};

pub use cassette::{Cassette, CassetteError};

/// The codec and the provider that play a cassette.
#[must_use]
pub fn open(cassette: Cassette) -> (Arc<dyn Codec>, Arc<dyn Provider>) {
    (
        Arc::new(codec::Plain),
        Arc::new(play::Player::new(cassette)),
    )
}
