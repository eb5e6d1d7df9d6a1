//! A session written out: for people as Markdown, for programs as its durable events, one a line. Sent piece by piece.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use proto::params::history::{ExportFormat, ExportParams};
use proto::params::session::PieceOutput;
use proto::{ErrorName, Failure, Pid, Record, Seq, SessionId};
use store::log::LogScan;
use tokio::sync::Semaphore;
use turn::Facts;

use crate::supervisor::Supervisor;
use crate::supervisor::views::{Log, piece};
use crate::tasks::{self, blocking};
use crate::viewers::fanout::event_text;

mod markdown;

/// The longest log that is written out: 64 MiB. About a third of it is words; the rest are wire bytes and checkpoints.
const LOG_MAX: u64 = 64 * 1024 * 1024;
/// How long a text is kept for the next piece of it.
const KEPT: Duration = Duration::from_secs(60);

/// The text that was written out last, so that its later pieces need not be made again.
#[derive(Clone, Default)]
pub(crate) struct Exported {
    kept: Arc<Mutex<Option<CachedExport>>>,
    /// One text is made at a time, whoever asks and leaves meanwhile: it is as large as a log.
    permits: ExportPermits,
}

/// One, for the text that is being made.
#[derive(Clone)]
struct ExportPermits(Arc<Semaphore>);

impl Default for ExportPermits {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

struct CachedExport {
    session: SessionId,
    format: ExportFormat,
    /// Bytes of the log that it was made from.
    log_len: u64,
    text: Arc<str>,
}

impl Exported {
    /// The text that was kept. `log_len`: only if it was made from a log of this length.
    fn get(
        &self,
        session: SessionId,
        format: ExportFormat,
        log_len: Option<u64>,
    ) -> Option<Arc<str>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.as_ref()?;
        let is_it = kept.session == session && kept.format == format;
        let is_new = log_len.is_none_or(|len| len == kept.log_len);
        (is_it && is_new).then(|| Arc::clone(&kept.text))
    }

    /// Keeps a text for a while, in the place of the one before.
    fn put(&self, kept: CachedExport) {
        // Only what is kept holds the text: one that another has replaced is gone when its readers are.
        let text = Arc::downgrade(&kept.text);
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        let me = self.clone();
        tasks::spawn(async move {
            tokio::time::sleep(KEPT).await;
            if let Some(text) = text.upgrade() {
                me.forget(&text);
            }
        });
    }

    fn forget(&self, text: &Arc<str>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept
            .as_ref()
            .is_some_and(|kept| Arc::ptr_eq(&kept.text, text))
        {
            *kept = None;
        }
    }
}

impl Supervisor {
    /// See `session.export`.
    ///
    /// # Errors
    /// As `find`; `limit`: the log is too long; `invalid_params`: no piece starts there; `storage`.
    pub async fn export(&self, params: &ExportParams) -> Result<PieceOutput, Failure> {
        let log = self.log_of(&params.session).await?;
        let (session, format, offset) = (log.session, params.format, params.offset);
        let later = (offset > 0).then(|| self.exported.get(session, format, None));
        if let Some(text) = later.flatten() {
            let part = piece(&text, offset)?;
            if part.next.is_none() {
                self.exported.forget(&text);
            }
            return Ok(part);
        }
        let permits = Arc::clone(&self.exported.permits.0);
        let permit = permits.acquire_owned().await;
        let exported = self.exported.clone();
        // It goes on, and holds the permit, also if nobody waits for it any more.
        let text = blocking(move || {
            let _permit = permit;
            exported.newest(&log, format)
        });
        let text = text.await??;
        let part = piece(&text, offset)?;
        if part.next.is_none() {
            self.exported.forget(&text);
        }
        Ok(part)
    }
}

impl Exported {
    /// The text of the log as it is now: the kept one, if somebody else has just asked for the same. Blocks.
    fn newest(&self, log: &Log, format: ExportFormat) -> Result<Arc<str>, Failure> {
        let path = log.home.session_dir(log.session).join(store::log::LOG_NAME);
        let log_len = std::fs::metadata(&path).map_or(0, |found| found.len());
        if let Some(text) = self.get(log.session, format, Some(log_len)) {
            return Ok(text);
        }
        let text: Arc<str> = written_out(log, format)?.into();
        self.put(CachedExport {
            session: log.session,
            format,
            log_len,
            text: Arc::clone(&text),
        });
        Ok(text)
    }
}

/// Blocks.
fn written_out(log: &Log, format: ExportFormat) -> Result<String, Failure> {
    let path = log.home.session_dir(log.session).join(store::log::LOG_NAME);
    let len = std::fs::metadata(&path).map_or(0, |found| found.len());
    if len > LOG_MAX {
        return Err(Failure::new(
            ErrorName::Limit,
            format!(
                "The log has {len} bytes, more than the {LOG_MAX} that can be exported at once."
            ),
            "Print the same events with `reasonix logs --json`.",
        ));
    }
    match format {
        ExportFormat::Markdown => {
            let (mut facts, mut records) = (Facts::default(), Vec::<Record>::new());
            let scan = log.read(
                |_| true,
                |record, _| {
                    facts.apply(record);
                    if markdown::lists(&record.body) {
                        records.push(record.clone());
                    }
                },
            )?;
            whole(log, &scan)?;
            Ok(markdown::render(&facts, &records))
        }
        ExportFormat::Jsonl => {
            let (mut pid, mut text) = (Pid(0), String::new());
            let scan = log.read_raw(|raw| {
                if let Ok(proto::Body::SessionCreated(created)) =
                    raw.record().map(|record| record.body)
                {
                    pid = created.pid;
                }
                let event = event_text(
                    Some(raw.seq),
                    pid,
                    raw.at,
                    raw.turn,
                    &raw.kind,
                    raw.data.get(),
                );
                text.push_str(&event);
                text.push('\n');
            })?;
            whole(log, &scan)?;
            Ok(text)
        }
    }
}

/// A part must not pass for the session.
///
/// # Errors
/// The log is damaged.
fn whole(log: &Log, scan: &LogScan) -> Result<(), Failure> {
    // Records at the end that nobody was promised may be cut, but never the first one.
    let is_damaged = scan.damaged() || scan.last == Seq(0);
    let why = match &scan.invalid {
        Some(why) if is_damaged || log.lacks_records(scan.last) => why,
        None if log.lacks_records(scan.last) => "records that were on disk are missing",
        Some(_) | None => return Ok(()),
    };
    Err(Failure::new(
        ErrorName::Storage,
        format!(
            "The log is damaged after record {}: {why}. Nothing was exported.",
            scan.last
        ),
        "`reasonix logs SESSION` prints what can be read of it.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn replaced_export_text_is_freed_when_its_last_reader_is_dropped() {
        let exported = Exported::default();
        let put = |text: &str| {
            let text: Arc<str> = text.into();
            exported.put(CachedExport {
                session: SessionId::new(),
                format: ExportFormat::Markdown,
                log_len: 0,
                text: Arc::clone(&text),
            });
            text
        };
        let read = put("one");
        let one = Arc::downgrade(&read);
        put("two");
        drop(read);
        // The tasks that forget texts wait by now.
        tokio::task::yield_now().await;
        assert!(one.upgrade().is_none());
    }
}
