//! The terminal interface as people meet it: the real program in a pseudo-terminal, the real daemon, a scripted model.

mod harness;
#[allow(
    dead_code,
    reason = "what the tests of the interface need, until they are on"
)]
mod scenes;
// They need the interface itself:
// mod endings;
// mod goldens;
// mod keys;
// mod together;
