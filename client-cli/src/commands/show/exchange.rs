//! The last prompt of a session and what the model said to it, found from the end of the log.

use client::{Client, DecodedEvent};
use proto::item::{Attachment, Voice};
use proto::methods::SessionRead;
use proto::outcome::TurnEnded;
use proto::params::session::ReadParams;
use proto::record::Level;
use proto::{Body, Seq};

use crate::exit::Error;

/// Records that are looked at at once.
const WINDOW: u64 = 200;

/// Windows that are looked at: a turn of more records than they hold is not shown.
const WINDOWS_MAX: usize = 10;

/// The last exchange.
#[derive(Debug, PartialEq)]
pub struct Exchange {
    pub prompt: String,
    pub attached: Vec<Attachment>,
    /// Warnings since the prompt, such as references that are not attached.
    pub warnings: Vec<String>,
    /// Empty: there is none yet.
    pub answer: String,
    /// How its turn ended; none: it has not.
    pub ended: Option<TurnEnded>,
}

/// The last exchange before and with record `newest`; `None`: there was none, or it is too long ago.
///
/// # Errors
/// The log cannot be read.
pub async fn last(client: &Client, session: &str, newest: Seq) -> Result<Option<Exchange>, Error> {
    let mut found = PartialExchange::default();
    let mut end = newest.0;
    for _ in 0..WINDOWS_MAX {
        if end == 0 {
            break;
        }
        let begin = end.saturating_sub(WINDOW - 1).max(1);
        let events = window(client, session, begin, end).await?;
        if let Some(exchange) = found.take(&events) {
            return Ok(Some(exchange));
        }
        end = found.before(begin);
    }
    Ok(None)
}

/// The records from one to another, whole.
async fn window(
    client: &Client,
    session: &str,
    begin: u64,
    end: u64,
) -> Result<Vec<DecodedEvent>, Error> {
    let mut events = Vec::new();
    let mut from = Seq(begin);
    while from.0 <= end {
        let params = ReadParams {
            session: session.to_owned(),
            from_seq: from,
            limit: end - from.0 + 1,
        };
        let page = client.call::<SessionRead>(&params).await?;
        for event in page.events {
            if event.seq.is_some_and(|seq| seq.0 <= end) {
                events.push(client.whole(session, event).await);
            }
        }
        match page.next {
            Some(next) if next > from => from = next,
            _ => break,
        }
    }
    Ok(events)
}

/// The parts found so far, going backwards.
#[derive(Debug, Default)]
struct PartialExchange {
    /// The last words of the model.
    answer: Option<String>,
    ended: Option<TurnEnded>,
    /// Newest first.
    warnings: Vec<String>,
    /// What the newest rewind left of the records before it: (that record, first and last of each run).
    shown: Option<(Seq, Vec<(Seq, Seq)>)>,
}

impl PartialExchange {
    /// Takes the records of a window, oldest first. Answers with the exchange when its prompt is among them.
    fn take(&mut self, events: &[DecodedEvent]) -> Option<Exchange> {
        for event in events.iter().rev() {
            let Some(seq) = event.seq else { continue };
            if self.hides(seq) {
                continue;
            }
            match event.body() {
                Some(Body::SessionRewound(rewound)) => {
                    if let (None, Some(runs)) = (&self.shown, &rewound.shown) {
                        self.shown = Some((seq, runs.clone()));
                        // Said after the turn that is gone back to.
                        self.answer = None;
                        self.ended = None;
                        self.warnings.clear();
                    }
                }
                Some(Body::Notice(notice)) if notice.level == Level::Warning => {
                    self.warnings.push(notice.text.clone());
                }
                Some(Body::TurnEnded(ended)) => {
                    self.ended.get_or_insert_with(|| ended.clone());
                }
                Some(Body::Assistant(message)) if !message.text.trim().is_empty() => {
                    self.answer.get_or_insert_with(|| message.text.clone());
                }
                Some(Body::User(message)) if message.voice == Voice::Prompt => {
                    return Some(Exchange {
                        prompt: message.text.clone(),
                        attached: message.attached.clone(),
                        warnings: {
                            self.warnings.reverse();
                            std::mem::take(&mut self.warnings)
                        },
                        answer: self.answer.take().unwrap_or_default(),
                        ended: self.ended.take(),
                    });
                }
                _ => {}
            }
        }
        None
    }

    fn hides(&self, seq: Seq) -> bool {
        self.shown.as_ref().is_some_and(|(rewind, runs)| {
            seq < *rewind
                && !runs
                    .iter()
                    .any(|(first, last)| (*first..=*last).contains(&seq))
        })
    }

    /// The newest record before `begin` that is worth looking at; 0: none.
    fn before(&self, begin: u64) -> u64 {
        let before = begin.saturating_sub(1);
        let Some((_, runs)) = &self.shown else {
            return before;
        };
        runs.iter()
            .filter(|(first, _)| first.0 <= before)
            .map(|(_, last)| last.0.min(before))
            .max()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
