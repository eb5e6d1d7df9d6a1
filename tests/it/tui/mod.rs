//! The terminal interface as people meet it: the real program in a pseudo-terminal, the real daemon, a scripted model.

mod agents;
mod among;
mod earlier_prompts;
mod editing;
mod endings;
mod goal;
mod goldens;
mod harness;
mod keys;
mod offered;
mod outputs;
mod pickers;
mod pictures;
mod planning;
mod rest;
mod scenes;
mod scrollback;
mod started;
mod storm;
mod together;
mod top;
