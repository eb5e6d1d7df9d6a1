//! Which messages have reported changed files to the model, and which of them a compaction folds.
//!
//! The prefix has an instruction file as it was at the session's start. Once the message that reported its change is folded,
//! the model knows only that old text, so the change is reported again.

use std::collections::HashMap;

use proto::record::ReportedFile;
use proto::reset::{CacheReset, Piece};
use proto::{Body, CallId, Record, Seq};

/// A fold over the records of a log.
#[derive(Debug, Default)]
pub struct ChangeReports {
    /// Paths, by calls that have ended and whose results the model has not got.
    ended: HashMap<CallId, Vec<String>>,
    /// The newest message that reported each path.
    reported_by: HashMap<String, Seq>,
}

impl ChangeReports {
    /// Takes one record in.
    pub fn apply(&mut self, record: &Record) {
        match &record.body {
            Body::ToolFinished(finished) if !finished.reported.is_empty() => {
                let paths = paths(&finished.reported).collect();
                self.ended.insert(finished.call.clone(), paths);
            }
            Body::Tool(message) => {
                let paths = self.ended.remove(&message.call);
                self.note(record.seq, paths.into_iter().flatten());
            }
            Body::User(message) => self.note(record.seq, paths(&message.reported)),
            _ => {}
        }
    }

    /// The paths whose newest report this reset takes out of the conversation. They count as not reported from then on.
    pub fn take_folded(&mut self, reset: &CacheReset) -> Vec<String> {
        let Some(base) = reset.base.as_ref().filter(|_| reset.compaction.is_some()) else {
            return Vec::new();
        };
        let keeps = |seq: &Seq| {
            base.iter().any(|piece| match piece {
                Piece::Run(first, last) => (first..=last).contains(&seq),
                // A shortened result may have lost its report.
                Piece::Element { .. } => false,
            })
        };
        let folded = self.reported_by.extract_if(|_, seq| !keeps(seq));
        folded.map(|(path, _)| path).collect()
    }

    fn note(&mut self, seq: Seq, paths: impl Iterator<Item = String>) {
        self.reported_by.extend(paths.map(|path| (path, seq)));
    }
}

fn paths(reported: &[ReportedFile]) -> impl Iterator<Item = String> {
    reported.iter().map(|file| file.path.clone())
}

#[cfg(test)]
mod tests {
    use proto::Stamp;
    use proto::reset::Compaction;
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use super::*;

    fn apply(reports: &mut ChangeReports, seq: u64, body: Body) {
        reports.apply(&Record {
            seq: Seq(seq),
            at: Stamp(0),
            turn: Some(1),
            body,
        });
    }

    fn read<T: DeserializeOwned>(data: serde_json::Value) -> T {
        serde_json::from_value(data).expect("a record")
    }

    /// Of what a compaction keeps.
    fn reset(base: Vec<Piece>) -> CacheReset {
        CacheReset {
            reason: "compaction".to_owned(),
            base: Some(base),
            compaction: Some(Compaction::default()),
            ..CacheReset::default()
        }
    }

    /// Of `/a` by record 3, and of `/b` by record 5.
    fn reported_by_prompt_and_result() -> ChangeReports {
        let mut reports = ChangeReports::default();
        let prompt = json!({"item": "m1.1", "text": "Go on.", "voice": "prompt", "reported": [{"path": "/a"}]});
        apply(&mut reports, 3, Body::User(read(prompt)));
        let finished = json!({
            "call": "c", "tool": "t", "status": "ok", "duration_ms": 1,
            "display": {"type": "line", "text": ""}, "reported": [{"path": "/b"}],
        });
        apply(&mut reports, 4, Body::ToolFinished(read(finished)));
        let result = json!({"item": "m1.3", "call": "c", "tool": "t", "status": "ok", "text": ""});
        apply(&mut reports, 5, Body::Tool(read(result)));
        reports
    }

    #[test]
    fn folded_report_is_returned_once() {
        let mut reports = reported_by_prompt_and_result();
        let base = reset(vec![Piece::Run(Seq(3), Seq(3))]);
        assert_eq!(reports.take_folded(&base), ["/b"]);
        assert_eq!(reports.take_folded(&base), [""; 0]);
        let base = reset(vec![Piece::Element {
            reset: Seq(0),
            element: 0,
        }]);
        assert_eq!(reports.take_folded(&base), ["/a"]);
    }

    #[test]
    fn reset_that_folds_nothing_keeps_all_reports() {
        let mut reports = reported_by_prompt_and_result();
        let reload = CacheReset::default();
        assert_eq!(reports.take_folded(&reload), [""; 0]);
        let whole = reset(vec![Piece::Run(Seq(2), Seq(5))]);
        assert_eq!(reports.take_folded(&whole), [""; 0]);
    }
}
