//! Call repair: the test cases of the original Reasonix, and its weaknesses.

mod close;
mod flatten;
mod loop_detector;
mod scavenge;
