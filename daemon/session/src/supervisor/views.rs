//! Read-only views of a session: single events, steps, its setup.
//!
//! Facts that the log alone contains are read from the log, whether the session is loaded or not.

use std::sync::Arc;

use contract::ToolChoice;
use proto::params::session as p;
use proto::{Body, ErrorName, Failure, Record, Seq, SessionId};
use store::format::RawRecord;
use store::home::Home;
use store::log::LogScan;
use turn::Facts;

use crate::actor::commands::inspection::Files;
use crate::history::steps::{StepFilter, Steps};
use crate::supervisor::{Supervisor, storage};
use crate::tasks::blocking;

mod cache;
mod output;

/// The most that is sent of a text at once: 512 KiB.
const PIECE: usize = 512 * 1024;

impl Supervisor {
    /// See `session.event`.
    ///
    /// # Errors
    /// As `find`; `not_found`: there is no such durable record; `invalid_params`: no piece starts there; `storage`.
    pub async fn event(&self, params: &p::EventParams) -> Result<p::PieceOutput, Failure> {
        let handle = self.find(&params.session).await?;
        let (seq, from) = (params.seq, params.offset);
        let page = match seq {
            Seq(0) => None,
            seq => handle.lines(seq).await?,
        };
        let Some((file, offset, len, _)) = page.filter(|(_, _, len, _)| *len > 0) else {
            return Err(Failure::new(
                ErrorName::NotFound,
                format!("There is no record {seq}."),
                "`session.get` returns the number of the latest record.",
            ));
        };
        blocking(move || {
            let bytes = file
                .read_at(offset, len)
                .map_err(|error| storage(format!("cannot read the log: {error}")))?;
            // A page is whole lines; the first is the one.
            let line = bytes
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default();
            let raw = store::format::decode(line)
                .map_err(|error| storage(format!("a line of the log is damaged: {error}")))?;
            piece(raw.data.get(), from)
        })
        .await?
    }

    /// See `session.steps`.
    ///
    /// # Errors
    /// As `find`; `storage`.
    pub async fn steps(&self, params: &p::StepsParams) -> Result<p::StepsOutput, Failure> {
        let log = self.log_of(&params.session).await?;
        let wanted = StepFilter {
            turn: params.turn,
            after: params.after,
            limit: params.limit,
        };
        blocking(move || {
            let mut steps = Steps::new(wanted);
            log.read(Steps::reads, |record, _| steps.take(record))?;
            Ok(steps.finish())
        })
        .await?
    }

    /// See `session.step`.
    ///
    /// # Errors
    /// As `find`; `not_found`: there is no such step; `invalid_params`: no piece starts there; `invalid_config`: its
    /// provider is gone (for the sent bytes); `storage`.
    pub async fn step(&self, params: &p::StepParams) -> Result<p::PieceOutput, Failure> {
        let (n, offset) = (params.n, params.offset);
        match params.part {
            p::StepPart::Got => {
                let log = self.log_of(&params.session).await?;
                blocking(move || piece(&got(&log, n)?, offset)).await?
            }
            p::StepPart::Sent => {
                // Its codec is needed, so it has to be loaded.
                let handle = self.find(&params.session).await?;
                let log = self.log_of(&params.session).await?;
                let (upto, tool_choice) = blocking(move || asked(&log, n)).await??;
                let material = handle.material(upto).await?;
                blocking(move || {
                    let body = material.body(tool_choice).map_err(storage)?;
                    let text = std::str::from_utf8(&body)
                        .map_err(|_| storage("the request is not text".to_owned()))?;
                    piece(text, offset)
                })
                .await?
            }
        }
    }

    /// See `session.inspect`.
    ///
    /// # Errors
    /// As `find`; `storage`.
    pub async fn inspect(&self, params: &p::InspectParams) -> Result<p::InspectOutput, Failure> {
        if params.part == p::InspectPart::Files {
            let log = self.log_of(&params.session).await?;
            return blocking(move || {
                let mut files = Files::default();
                log.read(
                    |kind| kind == "tool.finished",
                    |record, _| files.take(record),
                )?;
                Ok(p::InspectOutput::Files {
                    changed: files.finish(),
                })
            })
            .await?;
        }
        let handle = self.find(&params.session).await?;
        let mut output = handle.inspect(params.part).await?;
        // Of a session whose provider is gone nothing is known of its requests.
        if let p::InspectOutput::Context { blocks, .. } = &mut output
            && let Ok(made) = handle.makeup().await
        {
            *blocks = blocking(move || made.blocks()).await?.map_err(storage)?;
        }
        if let p::InspectOutput::Budget { nodes } = &mut output {
            let summary = handle.summary();
            let cwd = std::path::Path::new(&summary.cwd);
            *nodes = self.services.ledger.show(handle.id(), cwd).await?;
        }
        Ok(output)
    }

    /// The log of a session, as far as others may know it.
    pub(crate) async fn log_of(&self, text: &str) -> Result<Log, Failure> {
        let session = self.find_id(text).await?;
        let handles = self.handles();
        let loaded = handles.iter().find(|handle| handle.id() == session);
        // After the newest durable record the file may hold records that are never acknowledged.
        let upto = loaded.map_or(Seq(u64::MAX), |handle| handle.summary().seq);
        Ok(Log {
            home: Arc::clone(&self.services.home),
            session,
            upto,
        })
    }
}

/// A log that is read to be looked at.
pub(crate) struct Log {
    pub home: Arc<Home>,
    pub session: SessionId,
    /// The newest record that is on disk; the highest number where the session is not loaded.
    pub upto: Seq,
}

impl Log {
    /// Whether records that are on disk as far as the loaded session knows come after this one, the last that was read.
    pub(crate) fn lacks_records(&self, last: Seq) -> bool {
        self.upto != Seq(u64::MAX) && last < self.upto
    }

    /// Reads the records of the kinds that are wanted, in order, to the first line that is damaged. Blocks.
    pub(crate) fn read(
        &self,
        wanted: impl Fn(&str) -> bool,
        mut take: impl FnMut(&Record, &RawRecord<'_>),
    ) -> Result<LogScan, Failure> {
        let mut strange = None;
        let read = store::log::read(&self.home.session_dir(self.session), &mut |raw| {
            if raw.seq > self.upto || strange.is_some() || !wanted(&raw.kind) {
                return;
            }
            match raw.record() {
                Ok(record) => take(&record, raw),
                Err(error) => {
                    strange = Some(format!("record {} is not readable: {error}", raw.seq))
                }
            }
        });
        let scan = read.map_err(|error| storage(store::reason(&error)))?;
        strange.map_or(Ok(scan), |reason| Err(storage(reason)))
    }
}

impl Log {
    /// Reads all records as they are, in order, to the first line that is damaged. Blocks.
    pub(crate) fn read_raw(
        &self,
        mut take: impl FnMut(&RawRecord<'_>),
    ) -> Result<LogScan, Failure> {
        let read = store::log::read(&self.home.session_dir(self.session), &mut |raw| {
            if raw.seq <= self.upto {
                take(raw);
            }
        });
        read.map_err(|error| storage(store::reason(&error)))
    }
}

/// The answer of a step and the results of its calls, as JSON lines.
fn got(log: &Log, n: u64) -> Result<String, Failure> {
    let (mut count, mut text) = (0, String::new());
    let messages = |kind: &str| matches!(kind, "message.assistant" | "message.tool");
    log.read(messages, |record, raw| {
        count += u64::from(matches!(record.body, Body::Assistant(_)));
        if count == n && n > 0 {
            text.push_str(raw.data.get());
            text.push('\n');
        }
    })?;
    if text.is_empty() {
        return Err(no_step(n, count));
    }
    Ok(text)
}

/// Up to which record the request of a step went, and whether it left the model its tools.
fn asked(log: &Log, n: u64) -> Result<(Seq, ToolChoice), Failure> {
    let (mut count, mut facts, mut found) = (0, Facts::default(), None);
    log.read(
        |_| true,
        |record, _| {
            if found.is_some() {
                return;
            }
            if matches!(record.body, Body::Assistant(_)) {
                count += 1;
                if count == n {
                    let turn = facts.open.as_ref();
                    let choice = match turn.is_some_and(|turn| turn.summing_up) {
                        true => ToolChoice::None,
                        false => ToolChoice::Auto,
                    };
                    found = Some((Seq(record.seq.0 - 1), choice));
                    return;
                }
            }
            facts.apply(record);
        },
    )?;
    found.ok_or_else(|| no_step(n, count))
}

fn no_step(n: u64, count: u64) -> Failure {
    let hint = match count {
        0 => "The model has not answered yet.".to_owned(),
        count => format!("Steps are numbered from 1 to {count}."),
    };
    Failure::new(ErrorName::NotFound, format!("There is no step {n}."), hint)
}

/// A piece of a text, cut between characters.
pub(crate) fn piece(text: &str, offset: u64) -> Result<p::PieceOutput, Failure> {
    let start = usize::try_from(offset).ok();
    let Some(rest) = start.and_then(|start| text.get(start..)) else {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            format!("Byte {offset} is past the end of {}.", text.len()),
            "Start at 0, then continue with `next`.",
        ));
    };
    let end = (0..=PIECE.min(rest.len()))
        .rev()
        .find(|end| rest.is_char_boundary(*end))
        .unwrap_or(0);
    let next = offset + end as u64;
    Ok(p::PieceOutput {
        text: rest.get(..end).unwrap_or_default().to_owned(),
        total: text.len() as u64,
        next: (end < rest.len()).then_some(next),
    })
}

#[cfg(test)]
mod tests;
