//! Something to read on the whole screen.

mod document;
pub mod found;
mod parts;

use ratatui::text::Line;

use super::status::fit::{self, Group};
use super::{Panel, framed, status};
use crate::keymap::{Action, Context, shown};
use crate::messages::pager::Msg;
use crate::model::Model;
use crate::model::line::Input;
use crate::model::pager::{Pager, PagerContent, SearchNotice};
use crate::render::{Cache, short, wrap};
use crate::theme::TextRole;
use client::text;

pub use document::{Document, RowIndex};
#[cfg(test)]
pub use parts::DocumentPart;

/// Rows that are not text: the title, and the bottom row.
const FRAME: usize = 2;

/// The document, laid out for the whole screen as it is now.
pub fn document<'a>(pager: &'a Pager, model: &'a Model) -> Document<'a> {
    let rows = usize::from(model.look.rows).saturating_sub(FRAME);
    Document::new(pager, model, usize::from(model.look.columns), rows)
}

/// Exactly `rows` rows.
pub fn panel(pager: &Pager, model: &Model, _: &mut Cache, width: usize, rows: usize) -> Panel {
    let document = Document::new(pager, model, width, rows.saturating_sub(FRAME));
    let top = document.top();
    let mut panel = Panel::of(vec![title(pager, model, width)]);
    panel.rows.extend(document.screen(top));
    let room = rows.saturating_sub(1);
    panel.rows.resize(room, Line::default());
    let mut bottom = match &pager.search.typing {
        Some(typed) => typing(model, typed, width),
        None => Panel::of(vec![bottom(&document, top, width)]),
    };
    bottom.rows.truncate(rows.saturating_sub(room));
    panel.below(bottom);
    panel.rows.truncate(rows);
    panel
}

fn title(pager: &Pager, model: &Model, width: usize) -> Line<'static> {
    let say = |message| model.look.language.say(message);
    let words = match &pager.what {
        PagerContent::Transcript => say(Msg::Transcript).to_owned(),
        PagerContent::Help => say(Msg::Help).to_owned(),
        PagerContent::Lines { title, .. } | PagerContent::Diff { title, .. } => text::line(title),
    };
    let left = vec![Group::new(0, TextRole::Heading, wrap::cut(&words, width))];
    let mut right = Vec::new();
    if pager.earlier.asked {
        right.push(Group::new(2, TextRole::Dim, say(Msg::ReadingEarlier)));
    }
    if pager.raw {
        right.push(Group::new(3, TextRole::Text, say(Msg::Raw)));
    }
    if status::waits(model) {
        right.push(Group::new(1, TextRole::Question, say(Msg::Waits)));
    }
    fit::line(&model.look, left, right, width)
}

/// The search field, while it is open.
fn typing(model: &Model, typed: &Input, width: usize) -> Panel {
    let (line, column) = framed::input("/", typed, &model.look, width);
    Panel {
        rows: vec![line],
        cursor: Some((0, column)),
    }
}

/// The position in the document, and the most important keys.
fn bottom(document: &Document<'_>, top: RowIndex, width: usize) -> Line<'static> {
    let (pager, look) = (document.pager, &document.model.look);
    let language = look.language;
    let mut left = position(document, top);
    match pager.search.notice {
        SearchNotice::Nothing => {}
        SearchNotice::Missing => {
            let query = text::line(&pager.search.query);
            let words = language.fill(Msg::NoMatch, &[&query]);
            left.insert(
                0,
                Group::new(0, TextRole::Warning, wrap::cut(&words, width)),
            );
        }
        SearchNotice::Wrapped => {
            left.push(Group::new(1, TextRole::Dim, language.say(Msg::Wrapped)))
        }
    }
    let parts = !matches!(pager.what, PagerContent::Lines { .. });
    let opened = matches!(
        pager.what,
        PagerContent::Transcript | PagerContent::Diff { .. }
    );
    let searched = !pager.search.query.is_empty();
    let keys = [
        (2, Action::Close, Msg::Close, true),
        (3, Action::Search, Msg::Search, !searched),
        (3, Action::SearchNext, Msg::Next, searched),
        (4, Action::NextPart, Msg::Part, parts),
        (5, Action::OpenOne, Msg::Open, opened),
        (7, Action::OpenAll, Msg::All, opened),
        (6, Action::Raw, Msg::Written, opened),
    ];
    let right = keys
        .into_iter()
        .filter(|(.., there)| *there)
        .map(|(rank, action, message, _)| {
            let key = shown(Context::Pager, action);
            Group::new(rank, TextRole::Dim, language.fill(message, &[&key]))
        })
        .collect();
    fit::line(look, left, right, width)
}

/// `12–34 of 200 · 17 %`; `~` where parts that nobody has seen yet are only estimated.
fn position(document: &Document<'_>, top: RowIndex) -> Vec<Group> {
    let language = document.model.look.language;
    let (before, all, exact) = document.measure(top);
    if all == 0 {
        return vec![Group::new(1, TextRole::Text, language.say(Msg::Empty))];
    }
    let last = (before + document.rows).min(all);
    let number = |value: usize| u64::try_from(value).unwrap_or(u64::MAX);
    let share = short::percent(number(last), number(all)).unwrap_or(100);
    let about = if exact { "" } else { "~" };
    let total = format!("{about}{all}");
    let first = (before + 1).min(last);
    let words = language.fill(Msg::Rows, &[&first.to_string(), &last.to_string(), &total]);
    vec![
        Group::new(1, TextRole::Text, words),
        Group::new(5, TextRole::Text, format!("{share} %")),
    ]
}
