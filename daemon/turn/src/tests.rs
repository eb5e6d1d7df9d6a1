//! The machine played: by scenes that a person can read, and by a world that does everything in every order.

mod chance;
mod checker;
mod made;
mod recovery;
mod scenes;
mod script;
mod storm;
mod trouble;
mod world;
