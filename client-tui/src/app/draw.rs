//! The drawing half of the loop: lines for the scrollback, and the viewport.

use std::io;
use std::time::Instant;

use super::App;
use crate::model::{Dialog, Link, Model};
use crate::view::transcript::PrintedLine;
use crate::view::{self, transcript};

/// Rows that go into the scrollback at once: keys wait for them.
const PRINTED: usize = 1_000;

impl App {
    /// One frame.
    pub(super) fn draw(&mut self) -> io::Result<()> {
        let covers = self.model.dialog.as_ref().is_some_and(Dialog::covers);
        self.screen.cover(self.model.look.fullscreen || covers);
        if self.printed.generation != self.model.transcript.generation {
            // Nobody has the words of those rows any more.
            self.screen.forget();
        }
        let again = match self.screen.stale() {
            true => self.reprint(),
            false => self.screen.above(),
        };
        self.dirty = false;
        self.drawn = Instant::now();
        self.scroll();
        let above = self.settled(PRINTED);
        let model = &self.model;
        let rows = again + above.len();
        let panel = view::draw(model, &self.printed, &mut self.cache, rows);
        self.screen.draw(above, &panel)?;
        self.dirty = self.has_unprinted;
        self.model.shown(Instant::now());
        Ok(())
    }

    /// Keeps the full-screen scroll position within the transcript.
    fn scroll(&mut self) {
        let model = &mut self.model;
        if model.scroll == 0 || !model.look.fullscreen {
            self.below = None;
            return;
        }
        // A covering dialog does not move it.
        if model.dialog.as_ref().is_none_or(|dialog| !dialog.covers()) {
            let rows = view::page_rows(model, &mut self.cache);
            model.scroll = transcript::scrolled(
                &model.transcript,
                &model.look,
                &mut self.cache,
                &mut self.below,
                model.scroll,
                rows,
            );
        }
    }

    /// Lines for the scrollback: as many as make `most` rows, where the screen has a place for them.
    fn settled(&mut self, most: usize) -> Vec<PrintedLine> {
        self.has_unprinted = false;
        // While a session is replayed nobody knows yet which of its rows are the newest.
        if self.screen.is_covered() || self.model.link == Link::Replaying {
            return Vec::new();
        }
        let Model {
            transcript, look, ..
        } = &self.model;
        let printed = &mut self.printed;
        let rows = transcript::settled(transcript, printed, look, &mut self.cache, most);
        self.has_unprinted = transcript::waits(transcript, printed);
        rows
    }

    /// Gives the terminal back, with all that is to stay on it.
    pub(super) fn leave(&mut self) -> io::Result<()> {
        let covers = self.model.look.fullscreen;
        self.screen.cover(covers);
        let above = self.settled(usize::MAX);
        self.screen.leave(above)
    }

    /// Prints the visible transcript again, in its current look. Returns its rows.
    fn reprint(&mut self) -> usize {
        let again = transcript::again(
            &self.model.transcript,
            &self.printed,
            &self.model.look,
            &mut self.cache,
            &self.screen.parts(),
        );
        let (from, rows) = again.map_or_else(Default::default, |(from, rows)| (Some(from), rows));
        let count = rows.len();
        self.screen.reprint(from, rows);
        count
    }
}
