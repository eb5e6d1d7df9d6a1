//! What calls came to: by tool, from the logs of existing sessions. Deleted sessions are not counted, and calls that a
//! fork got from its origin count there.

use std::collections::BTreeMap;

use contract::estimate;
use proto::Body;
use proto::item::CallStatus;
use proto::params::history::ToolRow;
use store::catalog::CountedSession;
use store::format::RawRecord;
use store::home::Home;

use super::StatsFilter;
use super::counting::{created, turns_of_origin};

/// Rows of an answer.
const ROWS_MAX: usize = 200;

/// Tools by name.
#[derive(Default)]
pub(super) struct ToolTally(BTreeMap<String, ToolRow>);

impl ToolTally {
    /// Adds all that a session's log says. Blocks.
    pub(super) fn add(&mut self, home: &Home, entry: &CountedSession, wanted: &StatsFilter) {
        let dir = home.session_dir(entry.session);
        let read = created(home, entry.session).and_then(|created| {
            let forked = turns_of_origin(&created);
            let read = store::log::read(&dir, &mut |raw| {
                let is_own = raw.turn.is_none_or(|turn| turn > forked);
                if is_own && wanted.is_in(raw.at) {
                    self.take(raw);
                }
            });
            read.map(drop).map_err(|error| store::reason(&error))
        });
        if let Err(reason) = read {
            tracing::warn!(pid = %entry.pid, reason, "what a session's tools did cannot be counted");
        }
    }

    fn take(&mut self, raw: &RawRecord<'_>) {
        if !matches!(&*raw.kind, "tool.finished" | "message.tool") {
            return;
        }
        if let Ok(record) = raw.record() {
            self.count(&record.body);
        }
    }

    pub(super) fn count(&mut self, body: &Body) {
        match body {
            Body::ToolFinished(done) => {
                let row = self.row(&done.tool);
                row.calls += 1;
                row.failed += u64::from(done.status != CallStatus::Ok);
                row.time_ms = row.time_ms.saturating_add(done.duration_ms);
            }
            Body::Tool(result) => {
                let row = self.row(&result.tool);
                row.result_bytes += result.text.len() as u64;
                row.result_tokens += estimate::tokens(&result.text) as u64;
            }
            _ => {}
        }
    }

    fn row(&mut self, tool: &str) -> &mut ToolRow {
        self.0.entry(tool.to_owned()).or_insert_with(|| ToolRow {
            tool: tool.to_owned(),
            ..ToolRow::default()
        })
    }

    /// Those whose results were the longest first.
    pub(super) fn finish(self) -> Vec<ToolRow> {
        let mut rows: Vec<ToolRow> = self.0.into_values().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.result_tokens));
        rows.truncate(ROWS_MAX);
        rows
    }
}
