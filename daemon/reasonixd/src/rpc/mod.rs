//! The daemon's front door: connections, calls, subscriptions.

mod conn;
mod dispatch;
pub(crate) mod frame;
mod listen;
mod methods;
mod peer;
mod room;

pub use listen::{Socket, serve};
pub use methods::module;
pub use peer::Clients;
