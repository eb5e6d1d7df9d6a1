//! The terminal interface: events in, calls out. It holds no agent logic.
//!
//! Model, update, view: `event`s from keyboard and daemon change the [`model`] in `update`, which is pure and answers
//! with `effect`s; `view` renders the model as rows; `screen` writes the rows that have changed.

mod app;
mod clipboard;
pub mod editor;
mod effect;
mod event;
mod input;
pub mod keymap;
mod messages;
pub mod model;
mod perform;
mod render;
pub mod screen;
mod slash;
pub mod terminal;
mod theme;
mod update;
mod view;

#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use app::{Open, Options, run};
pub use effect::ErrorReport;
pub use slash::is_own as is_own_command;
pub use view::Panel;
pub use view::help::markdown as keys_page;
