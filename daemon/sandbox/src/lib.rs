//! The kernel sandbox of one command.
//!
//! [`MountPlan`] is an ordered list of mounts: pure data, the same for every backend. [`bubblewrap`]
//! renders it as arguments of that program. `direct` executes it with system calls. [`ProcessRestrictions`] has
//! the restrictions that the process applies to itself before it becomes the command: Landlock and
//! a system call filter. [`broker`] makes the connections of commands in their place.
//!
//! This crate starts no process, and does not manage process lifetimes: `procs` does. All `unsafe`
//! code of the product is in this crate.

mod absent;
#[cfg(target_os = "linux")]
pub mod broker;
#[cfg(target_os = "linux")]
mod capabilities;
mod file_system;
mod fork;
mod held_file;
mod join;
#[cfg(target_os = "linux")]
mod landlock_rules;
#[cfg(target_os = "linux")]
mod listener;
#[cfg(target_os = "linux")]
mod network_namespace;
#[cfg(not(target_os = "linux"))]
#[path = "network_namespace_none.rs"]
mod network_namespace;
mod new_repository;
mod plan;
mod quarantine;
mod repositories;
mod restrictions;
mod sockets;
#[cfg(target_os = "linux")]
mod syscall_filter;

pub mod bubblewrap;
#[cfg(target_os = "linux")]
pub mod direct;
pub mod seatbelt;

pub use absent::{AbsentName, Arrival};
pub use file_system::{FileKind, FileSystem, HostFileSystem};
pub use fork::fork;
pub use held_file::{HeldFile, HeldFileStatus};
pub use join::join_on_start;
pub use network_namespace::{NetworkNamespace, enter_on_start};
pub use plan::{MountPlan, MountStep, PlanError};
pub use quarantine::{Quarantine, QuarantineOutcome};
pub use repositories::{FoundRepositories, new_repositories};
pub use restrictions::ProcessRestrictions;
pub use sockets::SocketRules;
