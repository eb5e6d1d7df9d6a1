//! Commands that change options of the session.

use client::amounts;
use proto::SessionOptions;
use proto::params::session::{InspectPart, SetParams};

use super::{called, inspect};
use crate::effect::{Call, Effect};
use crate::messages::app::Msg;
use crate::messages::models::Msg as Models;
use crate::model::{Link, Model, Tone};
use crate::update::answers::set_options;
use crate::update::everywhere;

/// Changes options of the session. Before the provider's cache is lost the person has to confirm it.
pub(in crate::update) fn set(session: String, options: SessionOptions) -> Vec<Effect> {
    called(Call::Set(Box::new(SetParams::new(session, options))))
}

/// Changes options of the session; before the first prompt those of the session that it will make.
fn change(model: &mut Model, options: SessionOptions) -> Vec<Effect> {
    if let Some(session) = &model.session {
        return set(session.id.to_string(), options);
    }
    let language = model.look.language;
    let changes = set_options::lines(language, &options).join("; ");
    let words = language.fill(Models::Next, &[&changes]);
    everywhere::set_for_next(model, &options, Tone::Good, &words)
}

pub(super) fn rename(session: String, name: &str) -> Vec<Effect> {
    let options = SessionOptions {
        name: Some(name.to_owned()),
        ..SessionOptions::default()
    };
    set(session, options)
}

/// `auto` is the provider's own.
pub(super) fn effort(model: &mut Model, effort: &str) -> Vec<Effect> {
    let effort = if effort == "auto" { "" } else { effort };
    let options = SessionOptions {
        effort: Some(effort.to_owned()),
        ..SessionOptions::default()
    };
    change(model, options)
}

/// Before the first prompt it takes the place of an effort and of samples that were chosen before it.
pub(super) fn preset(model: &mut Model, preset: &str) -> Vec<Effect> {
    if let Some(session) = &model.session {
        return called(Call::Set(Box::new(SetParams {
            preset: Some(preset.to_owned()),
            ..SetParams::new(session.id.to_string(), SessionOptions::default())
        })));
    }
    if model.link == Link::None {
        let template = &mut model.place.template;
        template.preset = Some(preset.to_owned());
        (template.options.effort, template.options.samples) = (None, None);
    }
    let language = model.look.language;
    let preset = language.fill(Msg::SetPreset, &[&client::text::line(preset)]);
    let words = language.fill(Models::Next, &[&preset]);
    everywhere::set_for_next(model, &SessionOptions::default(), Tone::Good, &words)
}

pub(super) fn extract_reasoning(model: &mut Model, arguments: &str) -> Vec<Effect> {
    let options = SessionOptions {
        extract_reasoning: Some(arguments == "on"),
        ..SessionOptions::default()
    };
    change(model, options)
}

pub(super) fn samples(model: &mut Model, samples: &str) -> Vec<Effect> {
    let options = SessionOptions {
        samples: samples.parse().ok(),
        ..SessionOptions::default()
    };
    change(model, options)
}

/// Shows the budget, or changes one of its limits: `usd 2`.
pub(super) fn budget(model: &mut Model, session: String, arguments: &str) -> Vec<Effect> {
    let mut words = arguments.split_whitespace();
    let (name, value, more) = (words.next(), words.next(), words.next());
    let (name, value) = match (name, value, more) {
        (None, _, _) => {
            return inspect(session, InspectPart::Budget);
        }
        (Some(name), Some(value), None) => (name, value),
        _ => return wrong_budget(model, arguments),
    };
    match amounts::change(name, value) {
        Ok(budget) => set(
            session,
            SessionOptions {
                budget: Some(budget),
                ..SessionOptions::default()
            },
        ),
        Err(_) => wrong_budget(model, arguments),
    }
}

/// Says what is wrong with a change of the budget, and how to write one.
fn wrong_budget(model: &mut Model, arguments: &str) -> Vec<Effect> {
    let arguments = client::text::line(arguments.trim());
    let words = model.look.language.fill(Msg::BudgetHow, &[&arguments]);
    model.toast(Tone::Warning, words);
    Vec::new()
}
