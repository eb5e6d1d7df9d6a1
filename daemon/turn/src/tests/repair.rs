//! Calls that are repaired: the vectors of the original, and its weaknesses.

mod close;
mod flatten;
mod scavenge;
mod storm;
