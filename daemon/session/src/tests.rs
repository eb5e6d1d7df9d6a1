//! Scenes of one session in this process: a scripted model, a tool that tells when it runs, a disk that can be held.

mod house;
pub mod world;

mod arguments;
mod away;
mod children;
mod environment;
mod evicting;
mod following;
mod handing_over;
mod healing;
mod keeping;
mod keys;
mod names;
mod opening;
mod order;
mod posture;
mod printed;
mod queue;
mod signals;
mod silence;
mod tmpfs;
