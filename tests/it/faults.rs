//! Faults of the disk under the real daemon: killed at a system call, calls that fail or take long, a disk that is full
//! and then is not. Rows of the fault matrix; the number in a test's name is its row there.
//!
//! `REASONIX_SWEEP=20` kills at the first twenty calls of each kind.

pub(crate) mod clock;
mod crowd;
mod edits;
mod endless_answer;
mod full;
mod half_close;
mod handed_over;
mod large;
mod lost_lock;
mod network;
mod queues;
mod system_calls;
