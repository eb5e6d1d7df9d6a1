//! One view of a vendor for all sessions: how many requests of a key are under way, who is next, and whether the vendor
//! wants any at all.
//!
//! `gate` decides, pure and without a clock; `broker` lets requests wait in it; `brokered` puts it before a provider.

mod broker;
mod brokered;
mod gate;
mod line;

pub use broker::Brokers;
pub use brokered::{Account, Brokered};
pub use gate::{Bounds, Failure, Gate, Standing, Ticket, Why};

#[cfg(test)]
mod tests;
