//! Commands within walls, and what they try against them. Played in every way in which walls are held fully; as
//! root, and as an ordinary user.

mod files;
mod honest;
mod network;
mod stubs;

use contract::Strength;

use crate::stage::room::{Room, User, everywhere};
use crate::stage::*;

/// Rooms for all who can play here, both in `/tmp`, whose place the session's own takes, and elsewhere. None
/// where walls are not held fully.
async fn rooms() -> Vec<Room> {
    let procs = Procs::start(options()).unwrap();
    if procs.settled().await != Strength::Full {
        say(&format!(
            "SKIPPED, no full walls here: {}",
            procs.mechanism()
        ));
        return Vec::new();
    }
    everywhere()
}
