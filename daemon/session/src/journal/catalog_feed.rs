//! Feeds the catalog of sessions from the logs' facts, off everybody's path.
//!
//! One thread. Summaries that come while it writes are merged: only the newest summary of a session counts. The catalog may
//! always lag or be gone; it is never asked for anything that the log must answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use proto::SessionId;
use proto::params::session::SessionSummary;
use store::catalog::Catalog;
use tokio::sync::oneshot;

/// Takes summaries in. Cheap to clone.
#[derive(Clone)]
pub struct CatalogFeed(Sender<Note>);

/// Called when a summary has been written.
pub type Written = Box<dyn FnOnce() + Send>;

enum Note {
    Put {
        summary: Box<SessionSummary>,
        written: Option<Written>,
    },
    Flush(oneshot::Sender<()>),
}

impl CatalogFeed {
    /// Starts the thread. It ends when the last feed is dropped.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(catalog: Arc<Catalog>) -> std::io::Result<Self> {
        let (notes, inbox) = channel();
        std::thread::Builder::new()
            .name("catalog".into())
            .spawn(move || feed(&catalog, &inbox))?;
        Ok(Self(notes))
    }

    /// Takes a summary in. `written` is called once this or a newer one of the session is in the catalog.
    pub fn put(&self, summary: SessionSummary, written: Option<Written>) {
        // The thread lives as long as any feed: a failure means the daemon is going down, and the log has it all.
        let _ = self.0.send(Note::Put {
            summary: Box::new(summary),
            written,
        });
    }

    /// Resolves when everything that was put before is written.
    pub async fn flush(&self) {
        let (done, wait) = oneshot::channel();
        if self.0.send(Note::Flush(done)).is_ok() {
            let _ = wait.await;
        }
    }
}

fn feed(catalog: &Catalog, inbox: &Receiver<Note>) {
    while let Ok(first) = inbox.recv() {
        let mut newest: BTreeMap<SessionId, (SessionSummary, Vec<Written>)> = BTreeMap::new();
        let mut flushed = Vec::new();
        for note in std::iter::once(first).chain(inbox.try_iter()) {
            match note {
                Note::Put { summary, written } => {
                    let entry = newest
                        .entry(summary.session)
                        .or_insert_with(|| (summary.as_ref().clone(), Vec::new()));
                    entry.0 = *summary;
                    entry.1.extend(written);
                }
                Note::Flush(done) => flushed.push(done),
            }
        }
        for (session, (summary, written)) in newest {
            // Only what somebody waits for has to be on disk: the rest is found again by the session's marker.
            let put = if written.is_empty() {
                catalog.put_lazy(&summary)
            } else {
                catalog.put(&summary)
            };
            match put {
                Ok(()) => written.into_iter().for_each(|written| written()),
                Err(error) => tracing::warn!(%session, %error, "the catalog is behind"),
            }
        }
        for done in flushed {
            let _ = done.send(());
        }
    }
}
