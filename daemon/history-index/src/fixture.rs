//! Logs of invented sessions, and their index.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use proto::{Seq, SessionId, Stamp};
use serde_json::{Value, json};
use store::format::{Envelope, encode};
use store::home::Home;
use store::log::LOG_NAME;
use tempfile::TempDir;

use crate::feed::HistoryFeed;
use crate::query::parse;
use crate::search::{Search, SearchResult, search};

/// Longer than any build of a test takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct IndexFixture {
    _dir: TempDir,
    pub(crate) home: Arc<Home>,
    pub(crate) feed: HistoryFeed,
}

/// A session that writes its log.
pub(crate) struct Writing {
    pub(crate) session: SessionId,
    home: Arc<Home>,
    pub(crate) seq: u64,
    pub(crate) at: i64,
    lines: Vec<u8>,
}

impl IndexFixture {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Arc::new(Home::open(&dir.path().join("home")).unwrap());
        let feed = HistoryFeed::new(Arc::clone(&home));
        Self {
            _dir: dir,
            home,
            feed,
        }
    }

    pub(crate) fn session(&self, pid: u64, root: &str) -> Writing {
        let session = SessionId::new();
        std::fs::create_dir(self.home.session_dir(session)).unwrap();
        let mut writing = Writing {
            session,
            home: Arc::clone(&self.home),
            seq: 0,
            at: 1_000_000 + i64::try_from(pid).unwrap() * 10_000_000,
            lines: Vec::new(),
        };
        writing.put(
            "session.created",
            &json!({"session": session, "pid": pid, "ppid": 0, "epoch": 1, "cwd": root, "root": root,
                "provider_kind": "replay", "context_window": 0, "prefix_sha256": "", "tools": [],
                "env": {}, "version": "test"}),
        );
        writing.save();
        writing
    }

    /// As a new daemon: another feed, once the first has ended.
    pub(crate) fn restart(&mut self) {
        let next = HistoryFeed::new(Arc::clone(&self.home));
        std::mem::replace(&mut self.feed, next).end(PATIENCE);
    }

    pub(crate) fn settle(&self) {
        self.feed.flush(PATIENCE);
        assert!(
            self.feed.progress().is_complete,
            "the index is not built in time"
        );
    }

    pub(crate) fn search(&self, query: &str) -> SearchResult {
        self.search_with(query, |_| {})
    }

    pub(crate) fn search_with(
        &self,
        query: &str,
        change: impl FnOnce(&mut Search),
    ) -> SearchResult {
        self.settle();
        let mut wanted = Search {
            terms: parse(query).unwrap(),
            limit: 50,
            ..Search::default()
        };
        change(&mut wanted);
        search(&self.home, &wanted).unwrap()
    }

    /// The texts that were found.
    pub(crate) fn found(&self, query: &str) -> Vec<String> {
        let found = self.search(query);
        found.hits.into_iter().map(|hit| hit.snippet.text).collect()
    }
}

impl Writing {
    pub(crate) fn put(&mut self, kind: &str, data: &Value) -> u64 {
        self.seq += 1;
        self.at += 1_000;
        let line = encode(&Envelope {
            seq: Seq(self.seq),
            at: Stamp(self.at),
            turn: Some(1),
            durable: Seq(self.seq - 1),
            kind,
            data: &data.to_string(),
            own: None,
            fragment: None,
        });
        self.lines.extend_from_slice(&line.bytes);
        self.seq
    }

    pub(crate) fn user(&mut self, text: &str) -> u64 {
        self.put(
            "message.user",
            &json!({"item": "i", "text": text, "voice": "prompt"}),
        )
    }

    pub(crate) fn assistant(&mut self, text: &str) -> u64 {
        self.put(
            "message.assistant",
            &json!({"item": "i", "text": text, "finish": "stop"}),
        )
    }

    pub(crate) fn tool(&mut self, text: &str) -> u64 {
        let data = json!({"item": "i", "call": "c", "tool": "bash", "status": "ok", "text": text});
        self.put("message.tool", &data)
    }

    /// Writes it out.
    pub(crate) fn save(&mut self) {
        let path = self.home.session_dir(self.session).join(LOG_NAME);
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .unwrap();
        file.write_all(&std::mem::take(&mut self.lines)).unwrap();
    }

    /// Writes it out, and notifies the feed.
    pub(crate) fn save_and_notify(&mut self, past: &IndexFixture) {
        self.save();
        past.feed.written(self.session, Seq(self.seq));
    }
}
