//! The turn machine: decides everything that happens in a session, and performs nothing itself.
//!
//! It has no I/O, no async runtime and no clock. Events come in as `Input`; actions go out as `Effect`s, in order.
//! Only `session` calls it.

mod asking;
mod call_repair;
mod calls;
pub mod compacting;
pub mod compaction;
mod complexity;
pub mod extraction;
pub mod facts;
mod fallback;
mod gated;
mod goal;
mod guard;
mod hold;
pub mod input;
pub mod loop_detector;
pub mod machine;
mod next;
mod planning;
mod recover;
pub mod repair;
mod restarted;
pub mod review;
mod rewinding;
mod stopping;
mod stopwatch;
mod supervision;
mod turns;
mod words;

pub use facts::Facts;
pub use fallback::Fallback;
pub use goal::change::GoalChangeRefusal;
pub use input::{
    Answer, AskedModel, Decided, Effect, Input, Judgement, Now, RequestInfo, StopReason,
};
pub use machine::{Limits, Machine};
pub use recover::RecoverPolicy;
pub use supervision::RestartLimits;
pub use words::{CONTINUE_AFTER_LIMIT, no_summary_writer};

#[cfg(any(test, fuzzing))]
pub mod fuzz;
#[cfg(test)]
mod tests;
