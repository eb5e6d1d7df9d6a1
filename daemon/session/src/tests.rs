//! Scenes of one session in this process: a scripted model, a tool that tells when it runs, a disk that can be held.

mod house;

mod arguments;
mod following;
mod keys;
mod opening;
mod order;
mod printed;
mod signals;
