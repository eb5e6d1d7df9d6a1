//! Attempts of sandboxed commands to escape, with every backend of full strength, as root and as an
//! ordinary user.

mod absent;
mod files;
mod honest;
mod network;
mod sockets;
mod tracing;

use contract::SandboxStrength;

use crate::stage::room::{SandboxRoom, User, everywhere};
use crate::stage::*;

/// Rooms for all users, both in `/tmp`, which the session's own directory replaces, and elsewhere.
/// None if the sandbox is not full.
async fn rooms() -> Vec<SandboxRoom> {
    let procs = Procs::start(options()).unwrap();
    let is_full = procs.settled().await == SandboxStrength::Full;
    if testkit::skip::unless(is_full, &format!("a full sandbox ({})", procs.mechanism())) {
        return Vec::new();
    }
    everywhere()
}

/// Those of the user that runs the tests.
async fn own_rooms() -> Vec<SandboxRoom> {
    let mut rooms = rooms().await;
    rooms.retain(|room| room.user == User::Own);
    rooms
}
