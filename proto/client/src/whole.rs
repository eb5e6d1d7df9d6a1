//! Durable events that are too large for a frame, made whole: the daemon sends them without their data, which is
//! fetched piece by piece. Texts that come in pieces anyway (`session.step`, `session.export`) come together here too.

use proto::methods::{
    Method, SessionEvent, SessionExport, SessionOutput, SessionRead, SessionStep,
};
use proto::params::history::{ExportFormat, ExportParams};
use proto::params::session::{
    EventParams, OutputParams, PieceOutput, ReadParams, StepParams, StepPart,
};
use proto::{CallId, Event, Seq};
use serde_json::value::RawValue;

use crate::call::{CallError, Client};
use crate::event::DecodedEvent;

/// The largest data that is fetched. Larger data stays as it came.
pub const WHOLE_MAX: u64 = 64 * 1024 * 1024;

/// The longest data that says only how much was left out.
const LEFT_MAX: usize = 64;

/// How large the event is that came without its data; `None` for one that is whole.
#[must_use]
pub fn oversized(event: &Event) -> Option<u64> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Left {
        oversized_bytes: u64,
    }
    if event.seq.is_none() || event.data.get().len() > LEFT_MAX {
        return None;
    }
    serde_json::from_str::<Left>(event.data.get())
        .ok()
        .map(|left| left.oversized_bytes)
}

/// A text that is being fetched: the part that is there already.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    text: String,
}

/// What a piece made of the whole.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fetched {
    /// More is to come.
    Part,
    Whole,
    /// The pieces do not fit together, or the whole is too large.
    Broken,
}

impl Pieces {
    /// Where the next piece starts.
    pub(crate) fn offset(&self) -> u64 {
        self.text.len() as u64
    }

    /// Takes the piece that starts at [`Self::offset`].
    pub(crate) fn take(&mut self, piece: &PieceOutput) -> Fetched {
        if piece.total > WHOLE_MAX || self.offset() + piece.text.len() as u64 > piece.total {
            return Fetched::Broken;
        }
        self.text.push_str(&piece.text);
        match piece.next {
            Some(next) if next == self.offset() && !piece.text.is_empty() => Fetched::Part,
            None if self.offset() == piece.total => Fetched::Whole,
            _ => Fetched::Broken,
        }
    }

    /// The event with the data that has come together; `None` if that is not JSON.
    pub(crate) fn fill(&mut self, event: &Event) -> Option<Event> {
        let data = RawValue::from_string(std::mem::take(&mut self.text)).ok()?;
        Some(Event {
            data,
            ..event.clone()
        })
    }
}

impl Client {
    /// The event, decoded, with its data if it came without. One that cannot be had whole is returned as it came.
    pub async fn whole(&self, session: &str, event: Event) -> DecodedEvent {
        let (Some(seq), Some(bytes)) = (event.seq, oversized(&event)) else {
            return event.into();
        };
        if bytes > WHOLE_MAX {
            return event.into();
        }
        let mut pieces = Pieces::default();
        loop {
            let fetched = match self.piece(session, seq, pieces.offset()).await {
                Ok(piece) => pieces.take(&piece),
                Err(_) => Fetched::Broken,
            };
            match fetched {
                Fetched::Part => {}
                Fetched::Whole => return pieces.fill(&event).unwrap_or(event).into(),
                Fetched::Broken => return event.into(),
            }
        }
    }

    /// Durable events of a session from one on, whole, page by page into `each`: at most `count` of them, all if that
    /// is `None`.
    ///
    /// # Errors
    /// There is no such session, or the daemon is gone; what `each` answers.
    pub async fn read<E: From<CallError>>(
        &self,
        session: &str,
        mut from: Seq,
        count: Option<u64>,
        mut each: impl FnMut(DecodedEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left = count;
        while left != Some(0) {
            let params = ReadParams {
                session: session.to_owned(),
                from_seq: from,
                limit: left.unwrap_or(0),
            };
            let page = self.call::<SessionRead>(&params).await?;
            for event in page.events {
                each(self.whole(session, event).await)?;
                left = left.map(|left| left.saturating_sub(1));
            }
            match page.next {
                Some(next) if next > from => from = next,
                _ => break,
            }
        }
        Ok(())
    }

    /// A piece of an event's data.
    pub(crate) async fn piece(
        &self,
        session: &str,
        seq: Seq,
        offset: u64,
    ) -> Result<PieceOutput, CallError> {
        let params = EventParams {
            session: session.to_owned(),
            seq,
            offset,
        };
        self.call::<SessionEvent>(&params).await
    }

    /// All that one step sent, or got, piece by piece into `out`.
    ///
    /// # Errors
    /// There is no such step, or the daemon is gone; what `out` answers; pieces that do not fit together.
    pub async fn step<E: From<CallError>>(
        &self,
        session: &str,
        n: u64,
        part: StepPart,
        mut out: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        self.pieces::<SessionStep, E>(&mut out, |offset| StepParams {
            session: session.to_owned(),
            n,
            part,
            offset,
        })
        .await
    }

    /// The text of a session, piece by piece into `out`.
    ///
    /// # Errors
    /// There is no such session, or the daemon is gone; what `out` answers; pieces that do not fit together.
    pub async fn export<E: From<CallError>>(
        &self,
        session: &str,
        format: ExportFormat,
        mut out: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        self.pieces::<SessionExport, E>(&mut out, |offset| ExportParams {
            session: session.to_owned(),
            format,
            offset,
        })
        .await
    }

    /// All that a call printed: what the daemon takes of an output, 64 MB at most.
    ///
    /// # Errors
    /// There is no such call, or the daemon is gone; pieces that do not fit together.
    pub async fn output(&self, session: &str, call: &CallId) -> Result<String, CallError> {
        let mut all = String::new();
        let mut take = |text: &str| -> Result<(), CallError> {
            all.push_str(text);
            Ok(())
        };
        self.pieces::<SessionOutput, CallError>(&mut take, |offset| OutputParams {
            session: session.to_owned(),
            call: call.clone(),
            offset,
        })
        .await?;
        Ok(all)
    }

    async fn pieces<M, E>(
        &self,
        out: &mut impl FnMut(&str) -> Result<(), E>,
        params: impl Fn(u64) -> M::Params,
    ) -> Result<(), E>
    where
        M: Method<Output = PieceOutput>,
        M::Params: Sync,
        E: From<CallError>,
    {
        let mut offset = 0;
        loop {
            let piece = self.call::<M>(&params(offset)).await?;
            out(&piece.text)?;
            let end = offset + piece.text.len() as u64;
            match piece.next {
                None if end == piece.total => return Ok(()),
                Some(next) if next == end && !piece.text.is_empty() => offset = next,
                _ => {
                    let method = M::NAME.to_owned();
                    return Err(CallError::Pieces { method }.into());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
