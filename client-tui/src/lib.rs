//! The terminal interface: events in, calls out. It holds no agent logic.
//!
//! Model, update, view: [`event`]s from keyboard and daemon change the [`model`] in `update`, which is pure and answers
//! with [`effect`]s; `view` makes rows of the model; `screen` writes what has changed of them.

mod app;
pub mod clipboard;
pub mod editor;
pub mod effect;
pub mod event;
pub mod input;
pub mod keymap;
pub mod messages;
pub mod model;
mod perform;
pub mod render;
pub mod screen;
pub mod slash;
pub mod terminal;
pub mod theme;
pub mod update;
pub mod view;

pub use app::{Open, Options, run};
