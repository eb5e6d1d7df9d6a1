//! The test house: everything that tests of the whole need. A test gets a [`House`]: a home, a project, a daemon and
//! clients of its own, and the promise that nothing of them is left when it ends.
//!
//! Used by `it/` and by the benches; knows the product only through its binaries, its socket and its files.

pub mod chance;
pub mod figures;
pub mod follow;
pub mod gate;
pub mod house;
pub mod interactions;
pub mod log;
pub mod processes;
pub mod program;
pub mod proxy;
pub mod raw;
pub mod soak;
pub mod terminal;
pub mod wait;
mod watchdog;

pub use chance::Chance;
pub use gate::Gate;
pub use house::{House, NEXT_VERSION};
pub use program::{Done, Running};
pub use proxy::Proxy;
pub use raw::Raw;
pub use terminal::Terminal;
pub use testkit::skip;
pub use wait::{BOUND, soon, until, within};
