//! Searches the document.

use crossterm::event::KeyEvent;

use super::KeyOutcome;
use crate::keymap::{self, Action, Context};
use crate::model::Model;
use crate::model::line::Input;
use crate::model::pager::{At, Pager, PartId, SearchNotice};
use crate::view::pager::{RowIndex, document, found};

/// A match: its part, the part's index, the row in it, and whether the part has to be opened for it.
struct Match {
    index: usize,
    id: PartId,
    row: usize,
    turn: bool,
    wrapped: bool,
}

/// The line for words opens.
pub fn begin(pager: &mut Pager) {
    pager.search.typing = Some(Input::default());
    pager.search.notice = SearchNotice::Nothing;
}

/// A key in the search field.
pub fn key(pager: &mut Pager, model: &Model, key: &KeyEvent) -> KeyOutcome {
    let Some(typed) = pager.search.typing.as_mut() else {
        return KeyOutcome::Not;
    };
    match keymap::find(Context::Composer, key) {
        Some(Action::Send) => {
            let words = pager.search.typing.take().unwrap_or_default();
            // Enter alone looks for the same again.
            if !words.text().is_empty() {
                words.text().clone_into(&mut pager.search.query);
                pager.search.found = None;
            }
            next(pager, model);
        }
        Some(Action::Back) => pager.search.typing = None,
        Some(Action::DeleteBack) if typed.text().is_empty() => pager.search.typing = None,
        _ if typed.key(key) => {}
        _ => return KeyOutcome::Not,
    }
    KeyOutcome::Stays
}

/// Goes to the next match, from the last one if that is on the screen, else from the top of the screen.
pub fn next(pager: &mut Pager, model: &Model) {
    if pager.search.query.is_empty() {
        begin(pager);
        return;
    }
    let layout = document(pager, model);
    let top = layout.top();
    let (first, end) = layout.visible(top);
    let last = pager.search.found.and_then(|(id, row)| {
        let index = layout.index(id)?;
        (first..end).contains(&index).then_some((index, row + 1))
    });
    let found = find(pager, model, last.unwrap_or(top));
    let search = &mut pager.search;
    let Some(found) = found else {
        search.found = None;
        search.notice = SearchNotice::Missing;
        return;
    };
    search.notice = match found.wrapped {
        true => SearchNotice::Wrapped,
        false => SearchNotice::Nothing,
    };
    search.found = Some((found.id, found.row));
    if found.turn {
        pager.turn(found.id);
    }
    show(pager, model, (found.index, found.row));
}

/// Brings a row to the screen, with some before it.
fn show(pager: &mut Pager, model: &Model, place: RowIndex) {
    let layout = document(pager, model);
    let rows = layout.rows;
    let mut top = layout.top();
    let mut seen = false;
    for _ in 0..rows {
        if top == place {
            seen = true;
            break;
        }
        top.1 += 1;
        while top.0 < layout.count() && top.1 >= layout.height(top.0) {
            top = (top.0 + 1, 0);
        }
    }
    if seen {
        return;
    }
    let above = isize::try_from(rows / 3).unwrap_or(0);
    pager.at = At::Row {
        part: place.0,
        row: place.1,
    };
    // Where the end is nearer than a screen, the screen shows the end, and the row with it.
    let layout = document(pager, model);
    let at_place = layout.top() == place;
    if at_place {
        let to = layout.moved(-above);
        pager.at = to;
    }
}

/// The first match at or after a position, wrapping around once.
fn find(pager: &Pager, model: &Model, (start, row): RowIndex) -> Option<Match> {
    let layout = document(pager, model);
    let count = layout.count();
    let wanted = pager.search.query.to_lowercase();
    let words: Vec<&str> = wanted.split_whitespace().collect();
    for step in 0..=count {
        let index = (start + step) % count.max(1);
        let from = if step == 0 { row } else { 0 };
        let Some(part) = layout.part(index) else {
            continue;
        };
        let id = part.id();
        let open = pager.is_open(id);
        let wrapped = step > 0 && start + step >= count;
        let hit = |open: bool| {
            let lines = layout.lines(index, Some(open));
            found::rows(&lines, &pager.search.query)
                .into_iter()
                .find(|found| *found >= from)
        };
        let written = part.words().map(|text| text.to_lowercase());
        let holds = written
            .as_ref()
            .is_none_or(|text| words.iter().all(|word| text.contains(word)));
        // A folded part is short: it is looked at as it is, for words of ours in it.
        let folded = part.opens() && !open;
        let shown = (holds || folded).then(|| hit(open)).flatten();
        let inside = || (holds && folded).then(|| hit(true)).flatten();
        let (row, turn) = match shown {
            Some(row) => (row, false),
            None => match inside() {
                Some(row) => (row, true),
                None => continue,
            },
        };
        return Some(Match {
            index,
            id,
            row,
            turn,
            wrapped,
        });
    }
    None
}
