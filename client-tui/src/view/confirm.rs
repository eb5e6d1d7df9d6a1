//! A yes or no.

use super::Panel;
use super::framed::{self, Hint, hints, words};
use crate::keymap::{Action, Context};
use crate::messages::dialog::Msg;
use crate::model::Model;
use crate::model::confirm::Confirm;
use crate::theme::Ink;

/// Its rows.
#[must_use]
pub fn panel(confirm: &Confirm, model: &Model, width: usize) -> Panel {
    let look = &model.look;
    let say = |message| look.language.say(message);
    let mut rows = vec![framed::title(say(Msg::TitleConfirm), "", look, width)];
    let keys = [
        Hint::of(Context::Confirm, Action::Yes, say(Msg::KeyYes)),
        Hint::of(Context::Confirm, Action::No, say(Msg::KeyNo)),
    ];
    let keys = hints(&keys, look, width);
    for line in &confirm.words {
        // They may hold names and paths that others gave.
        let line = client::text::line(line);
        rows.extend(words(&line, Ink::Text, look, width));
    }
    let room = super::dialog_room(look).1;
    rows.truncate(room.saturating_sub(keys.len()).max(1));
    rows.extend(keys);
    Panel::of(rows)
}

#[cfg(test)]
mod tests;
