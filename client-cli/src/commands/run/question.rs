//! Questions asked at the run's own terminal, one at a time: about tool calls, of the model, and whether its plans are good.

use std::collections::VecDeque;

use client::{CallError, Client};
use proto::{ErrorName, InteractionId};

use crate::dialog::{self, Dialog};
use crate::exit::Error;
use crate::messages::run::Msg;
use crate::messages::translated;
use crate::output;
use crate::paint::Painter;
use crate::terminal::Lines;
use crate::text;

/// The open questions of a run, the first of them drawn.
#[derive(Default)]
pub struct Questions {
    open: VecDeque<Dialog>,
    drawn: Option<InteractionId>,
    lines: Option<Lines>,
    /// Nobody types any more.
    ended: bool,
}

impl Questions {
    /// One more question; a known one is not asked twice.
    pub fn add(&mut self, asked: Dialog) {
        if self.open.iter().all(|open| open.id() != asked.id()) {
            self.open.push_back(asked);
        }
        self.draw();
    }

    /// A question is closed, by whomever. False: it was not open here any more.
    pub fn close(&mut self, id: &InteractionId) -> bool {
        let before = self.open.len();
        self.open.retain(|open| open.id() != id);
        if self.drawn.as_ref() == Some(id) {
            self.drawn = None;
            output::progress("");
        }
        self.open.len() < before
    }

    /// Draws the first question, unless one is drawn.
    pub fn draw(&mut self) {
        let Some(asked) = self.open.front() else {
            return;
        };
        if self.drawn.is_some() {
            return;
        }
        let mut painter = Painter::new(output::colour(&std::io::stderr()), usize::MAX);
        for piece in asked.pieces() {
            output::progress_part(&painter.paint(&piece));
        }
        self.drawn = Some(asked.id().clone());
        let lines = self.lines.get_or_insert_with(Lines::start);
        // Input typed before the question appeared does not answer it.
        lines.flush();
        output::question(&asked.prompt());
    }

    /// The next line typed while a question is drawn. Cancel-safe; never ends if there is no open question.
    pub async fn typed(&mut self) -> String {
        if self.drawn.is_none() || self.ended {
            return std::future::pending().await;
        }
        match &mut self.lines {
            None => std::future::pending().await,
            Some(lines) => match lines.next().await {
                Some(line) => line,
                None => {
                    self.ended = true;
                    output::progress(say!(Msg::NoInput));
                    std::future::pending().await
                }
            },
        }
    }

    /// Takes a typed line as the answer to the question that is drawn.
    pub async fn answer(&mut self, client: &Client, line: &str) -> Result<(), Error> {
        let Some(asked) = self.open.front_mut() else {
            return Ok(());
        };
        let typed = asked.typed(line);
        let Ok(Some(params)) = typed else {
            if let Err(why) = typed
                && !why.is_empty()
            {
                output::progress(&format!("! {}", text::line(&why)));
            } else {
                for line in asked.next_question() {
                    output::progress(&format!("? {}", text::exact(&line)));
                }
            }
            output::question(&asked.prompt());
            return Ok(());
        };
        match dialog::send(client, &params).await {
            Ok(()) => {}
            // The event that says who answered comes by itself.
            Err(CallError::Failure(failure))
                if matches!(
                    failure.name,
                    ErrorName::AlreadyResolved | ErrorName::Stale | ErrorName::NotFound
                ) =>
            {
                let words = client::hint::answered_before(&failure).unwrap_or(failure.message);
                output::progress(&format!("! {}", text::line(&translated(&words))));
            }
            Err(error) => return Err(error.into()),
        }
        self.drawn = None;
        self.open.pop_front();
        self.draw();
        Ok(())
    }
}
