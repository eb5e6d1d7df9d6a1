//! The line that a list is filtered by.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

use super::{dialog_mut, loaded, moves};
use crate::effect::Effect;
use crate::keymap::{self, Action, Context};
use crate::model::Model;

/// Letters of a filter at most: more narrows nothing.
const LETTERS_MAX: usize = 200;

/// Takes a key while the filter is written.
pub fn key(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    if let KeyCode::Char(letter) = key.code
        && (key.modifiers - KeyModifiers::SHIFT).is_empty()
    {
        write(model, letter.encode_utf8(&mut [0; 4]));
        return Some(Vec::new());
    }
    match keymap::find(Context::Composer, key) {
        Some(Action::DeleteBack) => return Some(delete(model, last_letter)),
        Some(Action::DeleteWordBack) => return Some(delete(model, last_word)),
        Some(Action::DeleteToStart) => return Some(delete(model, |_| 0)),
        _ => {}
    }
    let action = keymap::find(Context::List, key)?;
    match action {
        Action::Accept => {
            dialog_mut(model)?.filter.open = false;
            Some(Vec::new())
        }
        Action::Close => {
            let filter = &mut dialog_mut(model)?.filter;
            // What is written goes first, then the line.
            match filter.text.is_empty() {
                true => filter.open = false,
                false => {
                    filter.text.clear();
                    loaded::narrow(model);
                }
            }
            Some(Vec::new())
        }
        _ => moves(model, action),
    }
}

/// Opens the line. The second step of going back has none: its rows are few.
pub fn open(model: &mut Model) {
    if let Some(dialog) = dialog_mut(model) {
        dialog.filter.open = dialog.restore.is_none();
    }
}

/// Everything is shown again.
pub fn clear(model: &mut Model) {
    if let Some(dialog) = dialog_mut(model) {
        dialog.filter = Default::default();
    }
    loaded::narrow(model);
}

/// Writes into the line.
pub fn write(model: &mut Model, text: &str) {
    let Some(dialog) = dialog_mut(model) else {
        return;
    };
    let filter = &mut dialog.filter.text;
    let room = LETTERS_MAX.saturating_sub(filter.chars().count());
    filter.extend(client::text::line(text).chars().take(room));
    loaded::narrow(model);
}

fn delete(model: &mut Model, to: impl Fn(&str) -> usize) -> Vec<Effect> {
    if let Some(dialog) = dialog_mut(model) {
        let to = to(&dialog.filter.text);
        dialog.filter.text.truncate(to);
    }
    loaded::narrow(model);
    Vec::new()
}

/// Where the last character begins, as it is drawn.
fn last_letter(text: &str) -> usize {
    text.grapheme_indices(true)
        .next_back()
        .map_or(0, |(at, _)| at)
}

/// Where the last word begins.
fn last_word(text: &str) -> usize {
    let words = text.trim_end();
    words.rfind(char::is_whitespace).map_or(0, |at| {
        let blank = words.get(at..).and_then(|rest| rest.chars().next());
        at + blank.map_or(0, char::len_utf8)
    })
}
