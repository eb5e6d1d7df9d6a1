//! Questions asked at the run's own terminal, one at a time: about tool calls, of the model, and whether its plans are good.

use std::collections::VecDeque;

use client::{CallError, Client};
use proto::ErrorName;
use proto::params::approval::Decision;

use crate::asked::{Answer, Asked, Id};
use crate::exit::Error;
use crate::output;
use crate::paint::Painter;
use crate::pieces::ask_lines;
use crate::terminal::Lines;
use crate::text;

/// The open questions of a run, the first of them drawn.
#[derive(Default)]
pub struct Questions {
    open: VecDeque<Asked>,
    drawn: Option<Id>,
    lines: Option<Lines>,
    /// Nobody types any more.
    ended: bool,
}

impl Questions {
    /// One more question; a known one is not asked twice.
    pub fn add(&mut self, asked: Asked) {
        if self.open.iter().all(|open| open.id() != asked.id()) {
            self.open.push_back(asked);
        }
        self.draw();
    }

    /// A question is closed, by whomever.
    pub fn close(&mut self, id: &Id) {
        self.open.retain(|open| open.id() != *id);
        if self.drawn.as_ref() == Some(id) {
            self.drawn = None;
            output::progress("");
        }
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
        self.drawn = Some(asked.id());
        let lines = self.lines.get_or_insert_with(Lines::start);
        // What was typed before the question stood there is no answer to it.
        lines.flush();
        prompt(asked);
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
        let Some(asked) = self.open.front_mut() else {
            return Ok(());
        };
        let Some(answer) = understood(asked, line) else {
            prompt(asked);
            return Ok(());
        };
        match answer.send(client).await {
            Ok(()) => {}
            // The event that tells who answered comes by itself.
            Err(CallError::Failure(failure))
                if matches!(
                    failure.name,
                    ErrorName::AlreadyResolved | ErrorName::Stale | ErrorName::NotFound
                ) =>
            {
                let words = client::hint::answered_before(&failure).unwrap_or(failure.message);
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

/// The answer that a line completes; `None`: more is needed, and why was said.
fn understood(asked: &mut Asked, line: &str) -> Option<Answer> {
    match asked {
        Asked::Approval(approval) => {
            let (decision, note) = read(line)?;
            let once = approval.escape.is_some();
            if once && matches!(decision, Decision::AllowSession | Decision::AllowAlways) {
                output::progress("! outside the sandbox a call runs once: y, or n");
                return None;
            }
            let lasting = approval.scopes.iter().any(|scope| scope.always);
            if decision == Decision::AllowAlways && !lasting {
                output::progress("! this cannot be allowed always: once, or for the session");
                return None;
            }
            asked.decided(decision, note)
        }
        Asked::Plan(_) => {
            let (decision, note) = read(line)?;
            asked.decided(decision, note)
        }
        Asked::Question(replies) => match replies.take(line) {
            Ok(Some(all)) => Some(Answer::replies(replies.question.question_id.clone(), all)),
            Ok(None) => {
                if let Some((ask, number, count)) = replies.next() {
                    for line in ask_lines(ask, number, count) {
                        output::progress(&format!("? {}", text::exact(&line)));
                    }
                }
                None
            }
            Err(why) => {
                output::progress(&format!("! {}", text::line(&why)));
                None
            }
        },
    }
}

fn prompt(asked: &Asked) {
    let words = match asked {
        Asked::Approval(approval) if approval.escape.is_some() => {
            "? y once, outside the sandbox · n [words to the model] no: ".to_owned()
        }
        Asked::Approval(approval) => {
            let always = match approval.scopes.iter().any(|scope| scope.always) {
                true => " · a always",
                false => "",
            };
            format!("? y once · s for the session{always} · n [words to the model] no: ")
        }
        Asked::Plan(_) => "? y approve it · n [words to the model] go on planning: ".to_owned(),
        Asked::Question(replies) => {
            let (several, place) = match replies.next() {
                Some((ask, number, count)) => (
                    ask.multi_select,
                    match count {
                        0 | 1 => String::new(),
                        _ => format!(" {number}/{count}"),
                    },
                ),
                None => (false, String::new()),
            };
            let numbers = if several { "numbers (1,3)" } else { "a number" };
            format!("? answer{place}: {numbers}, or words of your own: ")
        }
    };
    output::progress_part(&words);
}

/// What a typed line says; `None`: nothing that counts.
fn read(line: &str) -> Option<(Decision, Option<String>)> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let note = Some(rest.trim().to_owned()).filter(|note| !note.is_empty());
    match word {
        "y" | "Y" | "yes" if note.is_none() => Some((Decision::AllowOnce, None)),
        "s" | "S" if note.is_none() => Some((Decision::AllowSession, None)),
        "a" | "A" if note.is_none() => Some((Decision::AllowAlways, None)),
        "n" | "N" | "no" => Some((Decision::Deny, note)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
