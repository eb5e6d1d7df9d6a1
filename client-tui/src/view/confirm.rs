//! A yes or no.

use ratatui::text::Line;

use super::Panel;
use super::framed::{self, Hint, hints, words};
use crate::keymap::{self, Action, Context};
use crate::messages::dialog::Msg;
use crate::model::confirm::Confirm;
use crate::model::seen::VisibleRows;
use crate::model::{Model, ViewOptions};
use crate::theme::TextRole;

/// Its rows.
#[must_use]
pub fn panel(confirm: &Confirm, model: &Model, width: usize) -> Panel {
    let look = &model.look;
    let say = |message| look.language.say(message);
    let mut rows = vec![framed::title(say(confirm.title), "", look, width)];
    let keys = [
        Hint::of(Context::Confirm, Action::Yes, say(Msg::KeyYes)),
        Hint::of(Context::Confirm, Action::No, say(Msg::KeyNo)),
    ];
    let mut keys = hints(&keys, look, width);
    let body = body(confirm, look, width);
    if let Some(why) = refusal(confirm, &body, look) {
        let mut rows = words(&why, TextRole::Warning, look, width);
        rows.append(&mut keys);
        keys = rows;
    }
    let room = room(look, keys.len());
    let (last, _) = framed::reach(body.len(), room);
    rows.extend(framed::window(
        &[&body],
        confirm.scroll.min(last),
        room,
        &framed::ScrollKeys::of(Context::Confirm),
        look,
        width,
    ));
    rows.extend(keys);
    Panel::of(rows)
}

/// How far it can be scrolled, and how many rows of it are shown.
#[must_use]
pub fn reach(confirm: &Confirm, look: &ViewOptions) -> (usize, usize) {
    let width = usize::from(look.columns);
    // The keys take a row; on a narrow screen two, and then the last row is reached all the same.
    framed::reach(body(confirm, look, width).len(), room(look, 1))
}

/// Why a yes does not count yet, if one was pressed, or if there is no room to show the text.
fn refusal(confirm: &Confirm, body: &[Line<'static>], look: &ViewOptions) -> Option<String> {
    if confirm.seen.is_all() {
        return None;
    }
    let say = look.language;
    if !is_readable(body.len(), look) {
        return Some(say.say(Msg::TooSmallToShow).to_owned());
    }
    let key = keymap::shown(Context::Confirm, Action::PageDown);
    confirm
        .is_refused
        .then(|| say.fill(Msg::ReadConfirm, &[&key]))
}

/// Rows that the keys and a word about them take at most.
const KEYS_MAX: usize = 3;

fn is_readable(rows: usize, look: &ViewOptions) -> bool {
    let room = super::dialog_room(look).1.saturating_sub(1 + KEYS_MAX);
    framed::is_readable(rows, room)
}

/// The visible part of the text.
#[must_use]
pub fn visible(confirm: &Confirm, look: &ViewOptions) -> VisibleRows {
    let width = usize::from(look.columns);
    let body = body(confirm, look, width);
    let refusal = refusal(confirm, &body, look).is_some();
    // Assume one row less than there may be, so that these rows are on the screen for certain.
    let (last, page) = framed::reach(body.len(), room(look, 1 + usize::from(refusal)));
    let at = confirm.scroll.min(last);
    VisibleRows {
        rows: (at, at.saturating_add(page).min(body.len())),
        count: body.len(),
        width,
        is_readable: is_readable(body.len(), look),
    }
}

fn room(look: &ViewOptions, keys: usize) -> usize {
    super::dialog_room(look).1.saturating_sub(1 + keys).max(1)
}

/// Every word of it: nothing that is agreed to is left out.
fn body(confirm: &Confirm, look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
    // They may hold names and paths that others gave.
    let lines = confirm.words.iter().map(|line| client::text::line(line));
    lines
        .flat_map(|line| words(&line, TextRole::Text, look, width))
        .collect()
}

#[cfg(test)]
mod tests;
