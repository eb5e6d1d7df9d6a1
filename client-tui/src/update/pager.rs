//! Keys of the pager.

pub mod outputs;
mod search;

use std::cell::RefCell;

use crossterm::event::KeyEvent;
use proto::Seq;

use crate::effect::{Call, Effect, ErrorReport};
use crate::keymap::{self, Action, Context};
use crate::model::pager::{At, Earlier, Pager, PagerContent, PartId, SearchNotice};
use crate::model::{Dialog, Model};
use crate::view::pager::document;
use client::DecodedEvent;

/// Opens something to read.
pub fn open(model: &mut Model, what: PagerContent) -> Vec<Effect> {
    let mut pager = Pager::new(what);
    pager.earlier.generation = model.transcript.generation;
    let mut effects = earlier(&mut pager, model);
    effects.extend(outputs::next(&mut pager, model));
    super::interaction::keep(model);
    model.dialog = Some(Dialog::Pager(pager));
    effects
}

/// Takes a key; `None`: it means nothing here.
pub fn key(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    let read = with(model, |pager, model| {
        let layout = document(pager, model);
        let at_end = layout.top() == layout.end();
        pager.is_read |= at_end;
        pager.judged.clone().filter(|_| pager.is_read)
    });
    if let Some(asked) = read.flatten() {
        super::interaction::was_read(model, &asked);
    }
    let taken = with(model, |pager, model| {
        if pager.search.typing.is_some() {
            return search::key(pager, model, key);
        }
        pager.search.notice = SearchNotice::Nothing;
        match keymap::find(Context::Pager, key) {
            Some(Action::Close) => KeyOutcome::Closes,
            Some(action) => act(pager, model, action),
            None => KeyOutcome::Not,
        }
    })?;
    match taken {
        KeyOutcome::Not => None,
        KeyOutcome::Stays => with(model, earlier),
        KeyOutcome::Closes => {
            model.dialog = None;
            Some(Vec::new())
        }
    }
}

/// The outcome of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyOutcome {
    /// It means nothing here.
    Not,
    Stays,
    Closes,
}

/// Takes a paste: words to be looked for.
pub fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    with(model, |pager, _| {
        if let Some(typed) = &mut pager.search.typing {
            typed.insert(text.trim());
        }
    });
    Vec::new()
}

/// Turns of the mouse wheel: rows up where negative.
pub fn wheel(model: &mut Model, rows: i16) -> Vec<Effect> {
    with(model, |pager, model| {
        pager.at = document(pager, model).moved(isize::from(rows));
        earlier(pager, model)
    })
    .unwrap_or_default()
}

/// Takes earlier events of a session, read back.
pub fn take(model: &mut Model, session: &str, result: Result<Vec<DecodedEvent>, ErrorReport>) {
    if shown(model).as_deref() != Some(session) {
        return;
    }
    let trouble = with(model, |pager, model| {
        renewed(pager, model);
        if !pager.earlier.asked {
            return None;
        }
        pager.earlier.asked = false;
        match result {
            Ok(events) => {
                before(pager, model, &events);
                None
            }
            // It is not asked for again by itself: the same would come of it.
            Err(trouble) => {
                pager.earlier.ended = true;
                Some(trouble)
            }
        }
    });
    if let Some(trouble) = trouble.flatten() {
        model.trouble(&trouble);
    }
}

/// Does something with the pager while the rest of the model is looked at.
fn with<T>(model: &mut Model, act: impl FnOnce(&mut Pager, &Model) -> T) -> Option<T> {
    match model.dialog.take() {
        Some(Dialog::Pager(mut pager)) => {
            let done = act(&mut pager, model);
            model.dialog = Some(Dialog::Pager(pager));
            Some(done)
        }
        other => {
            model.dialog = other;
            None
        }
    }
}

/// Does what a key says.
fn act(pager: &mut Pager, model: &Model, action: Action) -> KeyOutcome {
    let layout = document(pager, model);
    let page = isize::try_from(layout.rows.saturating_sub(1).max(1)).unwrap_or(1);
    let to = match action {
        Action::ScrollUp => Some(layout.moved(-1)),
        Action::ScrollDown => Some(layout.moved(1)),
        Action::PageUp => Some(layout.moved(-page)),
        Action::PageDown => Some(layout.moved(page)),
        Action::First => Some(At::Row { part: 0, row: 0 }),
        Action::Last => Some(At::End),
        _ => None,
    };
    if let Some(to) = to {
        pager.at = to;
        return KeyOutcome::Stays;
    }
    match action {
        Action::NextPart => select(pager, model, true),
        Action::PreviousPart => select(pager, model, false),
        Action::OpenOne => turn(pager, model),
        Action::OpenAll => {
            hold(pager, model);
            pager.open = !pager.open;
            pager.turned.clear();
        }
        Action::Raw => {
            hold(pager, model);
            pager.raw = !pager.raw;
        }
        Action::Search => search::begin(pager),
        Action::SearchNext => search::next(pager, model),
        _ => return KeyOutcome::Not,
    }
    KeyOutcome::Stays
}

/// Stays at the part that is at the top now, whatever becomes of heights.
fn hold(pager: &mut Pager, model: &Model) {
    let (part, row) = document(pager, model).top();
    pager.at = At::Row { part, row };
}

/// Selects the next part that a key can open, or the one before; brings it to the screen.
fn select(pager: &mut Pager, model: &Model, down: bool) {
    let layout = document(pager, model);
    let top = layout.top();
    let (first, end) = layout.visible(top);
    let selected = pager.selected.and_then(|id| layout.index(id));
    let selected = selected.filter(|index| (first..end).contains(index));
    let stops = |index: &usize| layout.part(*index).is_some_and(|part| part.stops());
    let found = match (down, selected) {
        (true, Some(index)) => (index + 1..layout.count()).find(stops),
        (true, None) => (first..layout.count()).find(stops),
        (false, Some(index)) => (0..index).rev().find(stops),
        (false, None) => (0..end).rev().find(stops),
    };
    let Some(index) = found else { return };
    let jumps = !matches!(pager.what, PagerContent::Transcript);
    let begins = index > first || index == first && top.1 == 0;
    let seen = begins && index < end && !jumps;
    let id = layout.part(index).map(|part| part.id());
    pager.selected = id;
    if !seen {
        pager.at = At::Row {
            part: index,
            row: 0,
        };
    }
}

/// The part that a key opens: the selected one if it is on the screen, else the first one there that can be opened.
fn current(pager: &Pager, model: &Model) -> Option<(usize, PartId)> {
    let layout = document(pager, model);
    let (first, end) = layout.visible(layout.top());
    let opens = |index: usize| {
        let part = layout.part(index)?;
        part.opens().then(|| (index, part.id()))
    };
    let mut seen = (first..end).filter_map(opens);
    let selected = seen.clone().find(|(_, id)| pager.selected == Some(*id));
    selected.or_else(|| seen.next())
}

fn turn(pager: &mut Pager, model: &Model) {
    let Some((index, id)) = current(pager, model) else {
        return;
    };
    let (part, row) = document(pager, model).top();
    pager.at = match part == index {
        // Its beginning is above the screen: folded, it would be gone from sight.
        true => At::Row { part, row: 0 },
        false => At::Row { part, row },
    };
    pager.selected = Some(id);
    pager.turn(id);
}

/// The session's id, as used in calls and answers.
fn shown(model: &Model) -> Option<String> {
    model.session.as_ref().map(|session| session.id.to_string())
}

/// Requests earlier records, if the screen is at the beginning and there are more.
fn earlier(pager: &mut Pager, model: &Model) -> Vec<Effect> {
    let reads = matches!(pager.what, PagerContent::Transcript);
    renewed(pager, model);
    if !reads || pager.earlier.asked || pager.earlier.ended {
        return Vec::new();
    }
    match (beginning(pager, model), shown(model)) {
        (Some(before), Some(session)) if before > Seq(1) => {
            if document(pager, model).top() != (0, 0) {
                return Vec::new();
            }
            pager.earlier.asked = true;
            vec![Effect::Call(Call::Earlier { session, before })]
        }
        _ => Vec::new(),
    }
}

/// The first record of the document. If the transcript has none yet, all records of the session are before it.
fn beginning(pager: &Pager, model: &Model) -> Option<Seq> {
    let mut entries = model.transcript.entries.iter();
    pager
        .earlier
        .first
        .or_else(|| entries.find_map(|entry| entry.seq))
        .or_else(|| Some(model.session.as_ref()?.seq.next()))
}

/// Drops earlier entries if the transcript has been rebuilt since.
fn renewed(pager: &mut Pager, model: &Model) {
    let generation = model.transcript.generation;
    if pager.earlier.generation != generation {
        pager.earlier = Earlier {
            generation,
            ..Earlier::default()
        };
        // Parts have new numbers: cached rows of the old ones are invalid.
        *pager.sheet = RefCell::default();
    }
}

/// Puts earlier events before the document; the screen stays where it is.
fn before(pager: &mut Pager, model: &Model, events: &[DecodedEvent]) {
    let known = beginning(pager, model);
    let is_new = |event: &&DecodedEvent| event.seq.is_some() && event.seq < known;
    let records: Vec<_> = events.iter().filter(is_new).cloned().collect();
    if records.is_empty() {
        pager.earlier.ended = true;
        return;
    }
    let layout = document(pager, model);
    let (top, row) = layout.top();
    let below = layout.count().saturating_sub(top);
    let id = layout.part(top).map(|part| part.id());
    let at_end = pager.at == At::End;
    pager.earlier.take(records, &model.transcript);
    // Entries that were split between two pages look different now.
    *pager.sheet = RefCell::default();
    if !at_end {
        let layout = document(pager, model);
        let stays = id.and_then(|id| layout.index(id));
        let part = stays.unwrap_or_else(|| layout.count().saturating_sub(below));
        pager.at = At::Row { part, row };
    }
}

#[cfg(test)]
mod tests;
