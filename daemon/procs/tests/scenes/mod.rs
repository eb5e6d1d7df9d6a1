//! Commands as the daemon runs them, from start to complete cleanup.
//!
//! Each test starts real processes and waits for conditions. A process is identified by a unique
//! number: the argument of a `sleep`, or a mark in its environment. All of them run with every
//! containment method: see the files above this directory.

mod cost;
mod limits;
mod memory;
mod nothing_left;
mod refused;
mod start;
mod stop;
mod survive;
mod whole;

use crate::stage::*;
