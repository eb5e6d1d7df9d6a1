//! The gate with random events, and waiting requests with a paused clock.

mod chance;
mod waiting;
