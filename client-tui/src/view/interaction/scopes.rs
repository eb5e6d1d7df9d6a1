//! How far a yes reaches: a scope in words, and the list that one is chosen from.

use proto::params::interaction::Scope;
use ratatui::text::Line;

use crate::keymap::{self, Action, Context};
use crate::messages::dialog::Msg;
use crate::model::ViewOptions;
use crate::theme::TextRole;
use crate::view::Panel;
use crate::view::framed::{self, Hint, hints, on_one_line, words};

/// The list of scopes.
pub(super) fn list(
    scopes: &[Scope],
    at: usize,
    head: Vec<Line<'static>>,
    look: &ViewOptions,
    width: usize,
    rows: usize,
) -> Panel {
    let say = |message| look.language.say(message);
    let mut panel = Panel::of(head);
    panel
        .rows
        .extend(words(say(Msg::ScopeTitle), TextRole::Question, look, width));
    let keys = [
        Hint::named("↑ ↓", say(Msg::KeyNumbers)),
        Hint::of(Context::Approval, Action::Accept, say(Msg::KeyTake)),
        Hint::of(Context::Approval, Action::SetAside, say(Msg::KeyBack)),
    ];
    let keys = hints(&keys, look, width);
    let mut list = Vec::new();
    let mut marked = 0..0;
    for (index, scope) in scopes.iter().enumerate() {
        let (mark, ink) = match index == at {
            true => ("› ", TextRole::Strong),
            false => ("  ", TextRole::Text),
        };
        let from = list.len();
        list.extend(framed::hanging(
            mark,
            &reaching(scope, look),
            ink,
            look,
            width,
        ));
        if index == at {
            marked = from..list.len();
        }
    }
    let room = rows.saturating_sub(panel.rows.len() + keys.len());
    let scroll = framed::in_sight(&marked, list.len(), room);
    let moves = [Action::ScrollDown, Action::ScrollUp];
    let moves = moves.map(|action| keymap::shown(Context::Approval, action));
    let moves = framed::ScrollKeys::both(moves);
    let shown = framed::window(&[&list], scroll, room, &moves, look, width);
    panel.rows.extend(shown);
    panel.rows.extend(keys);
    framed::fitted(panel, rows)
}

/// A scope in words.
pub(super) fn scope_words(scope: &Scope, look: &ViewOptions) -> String {
    let rule = on_one_line(&scope.rule);
    let command = inside(&rule, "Bash(");
    match command.map(|command| command.strip_suffix(":*").ok_or(command)) {
        Some(Ok(begin)) => look.language.fill(Msg::ScopeBegins, &[begin]),
        Some(Err(_)) => look.language.say(Msg::ScopeExact).to_owned(),
        None if inside(&rule, "Edit(").is_some() => {
            let file = inside(&rule, "Edit(").unwrap_or_default();
            look.language.fill(Msg::ScopeFile, &[file])
        }
        None if inside(&rule, "WebFetch(domain:").is_some() => {
            let host = inside(&rule, "WebFetch(domain:").unwrap_or_default();
            look.language.fill(Msg::ScopeHost, &[host])
        }
        None if rule == "Edit" => look.language.say(Msg::ScopeEdit).to_owned(),
        // A rule that this build has no words for, in those of the daemon.
        None => {
            let words = on_one_line(&look.language.translate(&scope.words));
            look.language.fill(Msg::ScopeWords, &[&words, &rule])
        }
    }
}

/// A scope in the list: with the rule that it makes, and whether it may be kept beyond the session.
fn reaching(scope: &Scope, look: &ViewOptions) -> String {
    let rule = on_one_line(&scope.rule);
    let words = scope_words(scope, look);
    let words = match words.ends_with(&rule) {
        true => words,
        false => look.language.fill(Msg::ScopeWords, &[&words, &rule]),
    };
    match scope.always {
        true => words,
        false => look.language.fill(Msg::ScopeSessionOnly, &[&words]),
    }
}

/// The text in the parentheses of a rule.
fn inside<'a>(rule: &'a str, before: &str) -> Option<&'a str> {
    rule.strip_prefix(before)?.strip_suffix(')')
}
