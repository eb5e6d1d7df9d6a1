//! Questions about tool calls, asked at the run's own terminal, one at a time.

use std::collections::VecDeque;

use client::transcript::approval_pieces;
use client::{CallError, Client};
use proto::methods::ApprovalAnswer;
use proto::params::approval::{AnswerParams, Approval, Decision};
use proto::{ApprovalId, ErrorName, RequestId};

use crate::exit::{self, Error};
use crate::output;
use crate::paint::Painter;
use crate::terminal::Lines;
use crate::text;

/// The open questions of a run, the first of them drawn.
#[derive(Default)]
pub struct Questions {
    open: VecDeque<Approval>,
    drawn: Option<ApprovalId>,
    lines: Option<Lines>,
    /// Nobody types any more.
    ended: bool,
}

impl Questions {
    /// One more question; a known one is not asked twice.
    pub fn ask(&mut self, approval: Approval) {
        if self
            .open
            .iter()
            .all(|open| open.approval_id != approval.approval_id)
        {
            self.open.push_back(approval);
        }
        self.draw();
    }

    /// A question is closed, by whomever.
    pub fn close(&mut self, id: &ApprovalId) {
        self.open.retain(|open| open.approval_id != *id);
        if self.drawn.as_ref() == Some(id) {
            self.drawn = None;
            output::progress("");
        }
    }

    /// Draws the first question, unless one is drawn.
    pub fn draw(&mut self) {
        let Some(approval) = self.open.front() else {
            return;
        };
        if self.drawn.is_some() {
            return;
        }
        let mut painter = Painter::new(output::colour(&std::io::stderr()), usize::MAX);
        for piece in approval_pieces(approval) {
            output::progress_part(&painter.paint(&piece));
        }
        self.drawn = Some(approval.approval_id.clone());
        let lines = self.lines.get_or_insert_with(Lines::start);
        // What was typed before the question stood there is no answer to it.
        lines.flush();
        prompt();
    }

    /// The next line typed while a question is drawn. Cancel-safe; never ends where there is nothing to answer.
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
                    output::progress("\n· nobody types here any more: `reasonix inbox` answers");
                    std::future::pending().await
                }
            },
        }
    }

    /// Takes a typed line as the answer to the question that is drawn.
    pub async fn answer(&mut self, client: &Client, line: &str) -> Result<(), Error> {
        let Some(approval) = self.open.front() else {
            return Ok(());
        };
        let Some((decision, note)) = read(line) else {
            prompt();
            return Ok(());
        };
        let params = AnswerParams {
            approval_id: approval.approval_id.clone(),
            shown_hash: approval.shown_hash.clone(),
            decision,
            scope: None,
            note,
            request_id: Some(RequestId::new()),
        };
        match client.call::<ApprovalAnswer>(&params).await {
            Ok(_) => {}
            // The event that tells who answered comes by itself.
            Err(CallError::Failure(failure))
                if matches!(
                    failure.name,
                    ErrorName::AlreadyResolved | ErrorName::Stale | ErrorName::NotFound
                ) =>
            {
                let words = exit::answered_before(&failure).unwrap_or(failure.message);
                output::progress(&format!("! {}", text::line(&words)));
            }
            Err(error) => return Err(error.into()),
        }
        self.drawn = None;
        self.open.pop_front();
        self.draw();
        Ok(())
    }
}

fn prompt() {
    output::progress_part("? y once · s for the session · n [words to the model] no: ");
}

/// What a typed line says; `None`: nothing that counts.
fn read(line: &str) -> Option<(Decision, Option<String>)> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let note = Some(rest.trim().to_owned()).filter(|note| !note.is_empty());
    match word {
        "y" | "Y" | "yes" if note.is_none() => Some((Decision::AllowOnce, None)),
        "s" | "S" if note.is_none() => Some((Decision::AllowSession, None)),
        "n" | "N" | "no" => Some((Decision::Deny, note)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
