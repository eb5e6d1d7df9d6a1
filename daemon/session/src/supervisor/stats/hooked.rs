//! What hooks did: by hook, from the logs of existing sessions. Deleted sessions are not counted.

use std::collections::BTreeMap;

use proto::Body;
use proto::hook::{HookFinished, HookOutcome};
use proto::params::history::HookRow;
use store::catalog::CountedSession;
use store::format::RawRecord;
use store::home::Home;

use super::StatsFilter;
use super::repaired::RepairTally;

/// Rows of an answer.
const ROWS_MAX: usize = 200;

/// Hooks by file, event and name.
#[derive(Default)]
pub(super) struct HookTally(BTreeMap<(String, &'static str, String), HookRow>);

impl HookTally {
    /// Adds all that a session's log says, of repaired calls too: it is read once. Blocks.
    pub(super) fn add(
        &mut self,
        repaired: &mut RepairTally,
        home: &Home,
        entry: &CountedSession,
        wanted: &StatsFilter,
    ) {
        let dir = home.session_dir(entry.session);
        let read = store::log::read(&dir, &mut |raw| {
            self.take(raw, wanted);
            repaired.take(raw, wanted);
        });
        if let Err(error) = read {
            let reason = store::reason(&error);
            tracing::warn!(pid = %entry.pid, reason, "what a session's hooks did cannot be counted");
        }
    }

    fn take(&mut self, raw: &RawRecord<'_>, wanted: &StatsFilter) {
        if raw.kind != "hook.finished" || !wanted.is_in(raw.at) {
            return;
        }
        if let Ok(Body::HookFinished(ran)) = raw.record().map(|record| record.body) {
            self.count(&ran);
        }
    }

    pub(super) fn count(&mut self, ran: &HookFinished) {
        let key = (ran.source.clone(), ran.event.as_str(), ran.hook.clone());
        let row = self.0.entry(key).or_insert_with(|| HookRow {
            hook: ran.hook.clone(),
            event: ran.event,
            source: ran.source.clone(),
            runs: 0,
            blocked: 0,
            failed: 0,
            time_ms: 0,
        });
        let passed = ran.outcome == HookOutcome::Pass;
        row.runs += 1;
        row.blocked += u64::from(ran.blocks());
        row.failed += u64::from(!passed && !ran.blocks());
        row.time_ms = row.time_ms.saturating_add(ran.duration_ms);
    }

    /// Those that took the most time first.
    pub(super) fn finish(self) -> Vec<HookRow> {
        let mut rows: Vec<HookRow> = self.0.into_values().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.time_ms));
        rows.truncate(ROWS_MAX);
        rows
    }
}
