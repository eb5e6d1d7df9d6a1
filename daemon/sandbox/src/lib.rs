//! The kernel's walls around one command: from what it may touch to what the kernel is told.
//!
//! [`Plan`] says it as data, an ordered list of mounts: pure, and the same for every way of doing it.
//! [`bubblewrap`] writes it down as arguments of that program; `direct` does it by system calls. [`Inner`] is what the process that will become
//! the command does to itself at the end, whatever stands around it: Landlock and a filter of system calls.
//! Nothing here starts a process, and nothing here knows what holds one together: that is `procs`.
//!
//! All `unsafe` of the product is in this crate.

#[cfg(target_os = "linux")]
mod beneath;
#[cfg(target_os = "linux")]
mod calls;
mod inner;
mod look;
#[cfg(target_os = "linux")]
mod might;
#[cfg(target_os = "linux")]
mod place;
#[cfg(not(target_os = "linux"))]
#[path = "place_none.rs"]
mod place;
mod plan;

#[cfg(unix)]
mod stub;

pub mod bubblewrap;
#[cfg(target_os = "linux")]
pub mod direct;
pub mod seatbelt;

pub use inner::Inner;
pub use look::{Host, Kind, Look};
pub use place::{Place, enter_on_start};
pub use plan::{Plan, Refused, Step};
#[cfg(unix)]
pub use stub::Stubs;
