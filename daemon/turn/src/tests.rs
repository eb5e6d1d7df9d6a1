//! The machine played: by scenes that a person can read, and by a world that does everything in every order.

mod checker;
mod chance;
mod storm;
mod world;
