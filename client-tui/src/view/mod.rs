//! The model as rows. Nothing is changed here but the cache of lines that were made.

pub mod composer;
pub mod confirm;
mod framed;
pub mod help;
pub mod interaction;
pub mod list;
pub mod pager;
pub mod status;
mod toast;
pub mod transcript;

use ratatui::text::Line;

use crate::model::{Dialog, Model, ViewOptions};
use crate::render::{Cache, wrap};

/// Rows, and the position of the terminal's cursor in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    pub rows: Vec<Line<'static>>,
    /// Row and column, from 0; `None`: it is hidden.
    pub cursor: Option<(u16, u16)>,
}

impl Panel {
    /// Rows without a cursor.
    #[must_use]
    pub fn of(rows: Vec<Line<'static>>) -> Self {
        Self { rows, cursor: None }
    }

    /// Puts rows below these; the cursor is where the lower ones have it.
    pub fn below(&mut self, lower: Self) {
        let offset = u16::try_from(self.rows.len()).unwrap_or(u16::MAX);
        if let Some((row, column)) = lower.cursor {
            self.cursor = Some((row.saturating_add(offset), column));
        }
        self.rows.extend(lower.rows);
    }
}

/// All rows that are drawn now: of the viewport at the bottom, or of the whole screen where something covers it. `above`:
/// rows of the screen that are above the viewport for certain.
pub fn draw(
    model: &Model,
    printed: &transcript::Printed,
    cache: &mut Cache,
    above: usize,
) -> Panel {
    let width = usize::from(model.look.columns);
    let rows = usize::from(model.look.rows);
    if let Some(dialog) = model.dialog.as_ref().filter(|dialog| dialog.covers()) {
        return dialog_panel(dialog, model, cache, width, rows);
    }
    let lower = lower(model, cache, width, rows);
    let left = rows.saturating_sub(lower.rows.len());
    let mut all = match model.look.fullscreen {
        true => Panel::of(transcript::page(
            &model.transcript,
            &model.look,
            cache,
            model.scroll,
            left,
        )),
        false => {
            let most = left.saturating_sub(1);
            let live = transcript::live(&model.transcript, printed, &model.look, cache, most);
            let running = transcript::running_rows(&model.transcript, &model.look, cache);
            let room = |live: &[Line<'static>]| live_room(live, &lower.rows, (width, rows), above);
            Panel::of(last_rows(live, running, room))
        }
    };
    all.below(lower);
    all
}

/// The last live rows that fit. If a running call at the end, of so many rows, is cut, its first row, which names it, takes
/// the place of the first row shown.
fn last_rows(
    mut live: Vec<Line<'static>>,
    running: usize,
    room: impl Fn(&[Line<'static>]) -> usize,
) -> Vec<Line<'static>> {
    let cut = live.len().saturating_sub(room(&live));
    let start = live.len().checked_sub(running);
    let is_name = |row: &Line<'static>| wrap::cells(row) > 0;
    let name = start.and_then(|start| Some(start + live.get(start..)?.iter().position(is_name)?));
    let name = name.filter(|name| *name < cut);
    let name = name.and_then(|name| live.get(name).cloned());
    live.drain(..cut);
    if let (Some(name), Some(first)) = (name, live.first_mut()) {
        *first = name;
        // It may be longer than the row whose place it takes.
        while live.len() > LIVE_MIN && room(&live) < live.len() {
            live.remove(1);
        }
    }
    live
}

/// Rows of what grows that are shown, where the screen has them.
const LIVE_MIN: usize = 2;

/// Columns of the narrowest window that is cared for.
const NARROWEST: usize = 40;

/// How many of the last live rows are shown. A terminal that breaks rows at a new edge, or gets lower, pushes rows into
/// its scrollback from the top: in a window half as wide, half as high, or half as wide and three fifths as high, these
/// must be printed ones. What grows is printed once it is whole, so it would be there twice.
fn live_room(
    live: &[Line<'static>],
    lower: &[Line<'static>],
    (columns, rows): (usize, usize),
    above: usize,
) -> usize {
    let narrow = NARROWEST.max(columns / 2);
    let pushed = |row: &Line<'static>| wrap::cells(row).saturating_sub(1) / narrow;
    let low = rows * 3 / 5;
    let mut taken: usize = lower.iter().map(pushed).sum();
    // The rows of the viewport in that narrow window.
    let mut broken = lower.len() + taken;
    let fits = live.iter().rev().take_while(|row| {
        taken += pushed(row);
        broken += 1 + pushed(row);
        taken <= above && broken <= low
    });
    let half = (rows / 2).saturating_sub(lower.len());
    fits.count().min(half).max(LIVE_MIN)
}

/// Rows of the transcript on a screen that is full of it.
pub fn page_rows(model: &Model, cache: &mut Cache) -> usize {
    let rows = usize::from(model.look.rows);
    let lower = lower(model, cache, usize::from(model.look.columns), rows);
    rows.saturating_sub(lower.rows.len())
}

/// The rows below the transcript.
fn lower(model: &Model, cache: &mut Cache, width: usize, rows: usize) -> Panel {
    let mut lower = Panel::default();
    match &model.dialog {
        Some(dialog) => {
            lower.rows.push(Line::default());
            let rows = dialog_room(&model.look).1;
            lower.below(dialog_panel(dialog, model, cache, width, rows));
        }
        None => {
            lower.below(status::above(model, width));
            if lower.rows.is_empty() {
                lower.rows.push(Line::default());
            }
            lower.below(composer::panel(&model.composer, model, width, rows / 2));
        }
    }
    lower.below(status::panel(model, width));
    lower
}

/// Columns and rows that a dialog has that does not cover the screen.
fn dialog_room(look: &ViewOptions) -> (usize, usize) {
    let rows = usize::from(look.rows);
    (usize::from(look.columns), rows.saturating_sub(3))
}

pub(crate) fn dialog_panel(
    dialog: &Dialog,
    model: &Model,
    cache: &mut Cache,
    width: usize,
    rows: usize,
) -> Panel {
    match dialog {
        Dialog::Interaction(dialog) => interaction::panel(dialog, model, width, rows),
        Dialog::List(dialog) => list::panel(dialog, model, width, rows),
        Dialog::Pager(dialog) => pager::panel(dialog, model, cache, width, rows),
        Dialog::Confirm(dialog) => confirm::panel(dialog, model, width),
    }
}

#[cfg(test)]
mod tests;
