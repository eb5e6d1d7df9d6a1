//! The daemon as a whole, in this process: its socket, its gates, its life. With the real programs it is tested in the
//! workspace's `tests`.

mod house;
mod life;
mod recorded;
mod roles;
mod setting;
