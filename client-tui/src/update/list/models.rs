//! Choosing a model.

use proto::SessionOptions;

use crate::effect::Effect;
use crate::messages::models::Msg;
use crate::model::list::models::present;
use crate::model::{Model, Tone};
use crate::update::{commands, everywhere};

/// Takes one of the list.
pub fn take(model: &mut Model, name: &str) -> Vec<Effect> {
    model.dialog = None;
    match present(model) == name {
        true => Vec::new(),
        false => choose(model, name),
    }
}

/// Switches the session to a model; before the first prompt it is the next session's.
pub fn choose(model: &mut Model, name: &str) -> Vec<Effect> {
    let options = SessionOptions {
        model: Some(name.to_owned()),
        ..SessionOptions::default()
    };
    if let Some(session) = &model.session {
        return commands::set(session.id.to_string(), options);
    }
    name.clone_into(&mut model.place.model);
    let shown = client::text::line(name);
    let words = model.look.language.fill(Msg::Next, &[&shown]);
    everywhere::set_for_next(model, &options, Tone::Good, &words)
}
