//! Call repair: the test cases of the original Reasonix, and its weaknesses.

mod close;
mod flatten;
mod scavenge;
