//! The choices of a decision: described, one per line if there is room, else a few words each.

use client::form::{Decision, Label};
use proto::params::interaction::{ApprovalDecision, Scope};
use ratatui::text::Line;

use super::scopes;
use crate::keymap::{Action, Context};
use crate::messages::dialog::Msg;
use crate::model::ViewOptions;
use crate::view::framed::{Hint, hints};

/// How the choices are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// One a line, with what a yes for more than once covers.
    Full,
    /// A word or two each. The scopes are in the scrollable part.
    Short,
}

/// A yes for more than once: its key, and its words in either size.
const REACHING: [(Action, ApprovalDecision, Msg, Msg); 2] = [
    (
        Action::AllowSession,
        ApprovalDecision::AllowSession,
        Msg::KeySession,
        Msg::KeySessionShort,
    ),
    (
        Action::AllowAlways,
        ApprovalDecision::AllowAlways,
        Msg::KeyAlways,
        Msg::KeyAlwaysShort,
    ),
];

/// The rows of the choices that a question offers, and of no others.
pub(super) fn rows(
    shape: &Decision<'_>,
    selected: usize,
    size: Size,
    look: &ViewOptions,
    width: usize,
) -> Vec<Line<'static>> {
    let of = |action, words: &str| Hint::of(Context::Approval, action, words);
    let say = |full, short| match size {
        Size::Full => look.language.say(full),
        Size::Short => look.language.say(short),
    };
    let say_label = |label: &Label| match size {
        Size::Full => look.language.say(label.key),
        Size::Short => look.language.say(label.short),
    };
    let mut answers = vec![of(Action::AllowOnce, say_label(&shape.yes))];
    if let Some(label) = &shape.yes_keep_asking {
        answers.push(of(Action::ApproveKeepAsking, say_label(label)));
    }
    for (action, decision, full, short) in REACHING {
        if let Some(scope) = shape.scope(decision, selected) {
            answers.push(match size {
                Size::Full => of(action, &covering(full, scope, look)),
                Size::Short => of(action, look.language.say(short)),
            });
        }
    }
    answers.push(of(Action::Deny, say_label(&shape.no)));
    if shape.others > 0 {
        let words = match size {
            Size::Full => look
                .language
                .fill(Msg::KeyRest, &[&shape.others.to_string()]),
            Size::Short => look
                .language
                .fill(Msg::KeyRestShort, &[&shape.others.to_string()]),
        };
        answers.push(of(Action::DenyRest, &words));
    }
    if shape.command.is_some() {
        let words = say(Msg::KeyEdit, Msg::KeyEditShort);
        answers.push(of(Action::EditCommand, words));
    }
    let mut others = Vec::new();
    if shape.scopes.len() > 1 {
        let words = say(Msg::KeyScope, Msg::KeyScopeShort);
        others.push(of(Action::EditScope, words));
    }
    let words = say(Msg::KeyAside, Msg::KeyAsideShort);
    others.push(of(Action::SetAside, words));
    match size {
        Size::Full => {
            let lines = answers.into_iter();
            let mut rows: Vec<_> = lines
                .flat_map(|choice| hints(&[choice], look, width))
                .collect();
            rows.extend(hints(&others, look, width));
            rows
        }
        Size::Short => {
            answers.extend(others);
            hints(&answers, look, width)
        }
    }
}

/// The choices that cover more than this call, for the scrollable part: short labels do not name their scope.
pub(super) fn covers(
    shape: &Decision<'_>,
    selected: usize,
    look: &ViewOptions,
    width: usize,
) -> Vec<Line<'static>> {
    let covered = REACHING
        .into_iter()
        .filter_map(|(action, decision, full, _)| {
            let scope = shape.scope(decision, selected)?;
            Some(Hint::of(
                Context::Approval,
                action,
                covering(full, scope, look),
            ))
        });
    covered
        .flat_map(|choice| hints(&[choice], look, width))
        .collect()
}

fn covering(message: Msg, scope: &Scope, look: &ViewOptions) -> String {
    let scope = scopes::scope_words(scope, look);
    look.language.fill(message, &[&scope])
}
