//! Calls that are mended: the vectors of the original, and its weaknesses.

mod close;
mod coerce;
mod flatten;
mod scavenge;
mod storm;
