//! The terminal interface: events in, calls out. It holds no agent logic.
//!
//! Model, update, view: [`event`]s from keyboard and daemon change the [`model`] in `update`, which is pure and answers
//! with [`effect`]s; `view` makes rows of the model; `screen` writes what has changed of them.

pub mod effect;
pub mod event;
pub mod keymap;
pub mod messages;
pub mod model;
pub mod render;
pub mod slash;
pub mod theme;
pub mod update;
pub mod view;
