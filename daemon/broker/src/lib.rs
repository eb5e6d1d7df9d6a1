//! Shares each vendor between all sessions: how many requests of a key are in flight, which is
//! next, and whether the vendor accepts requests at all.
//!
//! `gate` decides, pure and without a clock. `broker` lets requests wait in it. `brokered` adds it
//! to a provider.

mod broker;
mod brokered;
mod gate;
mod queue;

pub use broker::Brokers;
pub use brokered::{Account, Brokered};
pub use gate::{Gate, GateTiming, QueuePosition, Ticket, VendorFailure, WaitReason};

#[cfg(test)]
mod tests;
