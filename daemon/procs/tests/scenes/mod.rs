//! Commands as the daemon runs them, from start to nothing left.
//!
//! Each scene starts real processes and waits for what must become true. A process is followed by a number
//! that nothing else uses: the argument of a `sleep`, or a mark in its environment. All of them are played
//! in all ways in which commands are held: see the files above this folder.

mod cost;
mod limits;
mod nothing_left;
mod refused;
mod start;
mod stop;
mod survive;
mod whole;

use crate::stage::*;
