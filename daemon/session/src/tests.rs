//! Scenes of one session in this process: a scripted model, a tool that says when it runs, a disk that can be held.

pub mod fixtures;
pub mod house;
pub mod world;

mod approval_mode;
mod arguments;
mod away;
mod checkpoints;
mod children;
mod deleting;
mod environment;
mod evicting;
mod following;
mod forking;
mod handing_over;
mod healing;
mod keeping;
mod keys;
mod names;
mod notes;
mod opening;
mod order;
mod printed;
mod profile;
mod queue;
mod quick_readers;
mod rewind_broken;
mod rewind_properties;
mod rewinding;
mod shortened;
mod signals;
mod silence;
mod tmpfs;
mod tools;
mod workshop;
