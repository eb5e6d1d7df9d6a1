//! The overview of all sessions has come: questions of sub-agents are asked here, lists show it.

use client::form::{Form, ShownInteraction};

use super::{daemon, list};
use crate::effect::Effect;
use crate::messages::app::Msg;
use crate::model::Model;
use crate::model::overview::Overview;

/// Takes it.
pub fn take(model: &mut Model, overview: Overview) -> Vec<Effect> {
    model.overview = overview;
    let mut effects = share_overview_with_session(model);
    effects.extend(list::overview(model));
    effects
}

/// Gives the open session the questions of its sub-agents, and what is new of its goal.
pub fn share_overview_with_session(model: &mut Model) -> Vec<Effect> {
    let Some(session) = &mut model.session else {
        return Vec::new();
    };
    let asked = model.overview.asked_below(session.pid);
    let before = std::mem::take(&mut session.borrowed);
    session.borrowed = asked.into_iter().cloned().collect();
    let own = model.overview.session(session.pid);
    // Events of this session say nothing of what its sub-agents use.
    if let Some(tree) = own.and_then(|own| own.tree_usage) {
        session.tree_usage = Some(tree);
    }
    let line = own.and_then(|own| own.goal.as_deref());
    if let (Some(goal), Some(line)) = (&mut session.goal, line) {
        goal.learn(line);
    }
    let is_new = |asked: &&proto::params::interaction::Interaction| {
        let asked = ShownInteraction::from(*asked);
        before
            .iter()
            .all(|known| ShownInteraction::from(known) != asked)
    };
    let newest = session.borrowed.iter().find(is_new);
    let words = newest.map(|asked| Form::of(asked).headline().to_owned());
    words.map_or_else(Vec::new, |words| daemon::call(model, Msg::NeedsYou, &words))
}
