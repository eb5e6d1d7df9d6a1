//! The program against a fake daemon: its output, its exit codes, and that it never hangs.

#[path = "../../../proto/client/tests/fake/mod.rs"]
#[allow(
    dead_code,
    reason = "shared with other tests, which use other parts of it"
)]
mod fake;

mod attach;
mod commands;
mod completions;
mod control;
mod history;
mod listings;
mod looking;
mod lost;
mod program;
mod questions;
mod rewind;
mod rm;
mod run;
mod schema;
mod settings;
mod setup;
mod start;
mod terminal;
mod versions;
