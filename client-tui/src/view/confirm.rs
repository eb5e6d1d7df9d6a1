//! A yes or no.

use ratatui::text::Line;

use super::Panel;
use super::framed::{self, Hint, hints, words};
use crate::keymap::{self, Action, Context};
use crate::messages::dialog::Msg;
use crate::model::confirm::Confirm;
use crate::model::{Look, Model};
use crate::theme::Ink;

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
    let keys = hints(&keys, look, width);
    let body = body(confirm, look, width);
    let room = room(look, keys.len());
    let (down, page) = (
        keymap::shown(Context::Confirm, Action::ScrollDown),
        keymap::shown(Context::Confirm, Action::PageDown),
    );
    let (last, _) = framed::reach(body.len(), room);
    rows.extend(framed::window(
        &[&body],
        confirm.scroll.min(last),
        room,
        (&down, &page),
        look,
        width,
    ));
    rows.extend(keys);
    Panel::of(rows)
}

/// How far it can be scrolled, and how many rows of it are shown.
#[must_use]
pub fn reach(confirm: &Confirm, look: &Look) -> (usize, usize) {
    let width = usize::from(look.columns);
    // The keys take a row; on a narrow screen two, and then the last row is reached all the same.
    framed::reach(body(confirm, look, width).len(), room(look, 1))
}

fn room(look: &Look, keys: usize) -> usize {
    super::dialog_room(look).1.saturating_sub(1 + keys).max(1)
}

/// Every word of it: nothing that is agreed to is left out.
fn body(confirm: &Confirm, look: &Look, width: usize) -> Vec<Line<'static>> {
    // They may hold names and paths that others gave.
    let lines = confirm.words.iter().map(|line| client::text::line(line));
    lines
        .flat_map(|line| words(&line, Ink::Text, look, width))
        .collect()
}

#[cfg(test)]
mod tests;
