//! The terminal interface as people meet it: the real program in a pseudo-terminal, the real daemon, a scripted model.

mod endings;
mod goldens;
mod harness;
mod keys;
mod pictures;
mod scenes;
mod together;
