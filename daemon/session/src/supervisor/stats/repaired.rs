//! How many calls were repaired: from the logs of the sessions that are there.

use proto::Body;
use proto::params::history::RepairCounts;
use proto::record::CallsRepaired;
use store::format::RawRecord;

use super::StatsFilter;

/// The counts so far.
#[derive(Default)]
pub(super) struct RepairTally(RepairCounts);

impl RepairTally {
    pub(super) fn take(&mut self, raw: &RawRecord<'_>, wanted: &StatsFilter) {
        if raw.kind != "calls.repaired" || !wanted.is_in(raw.at) {
            return;
        }
        if let Ok(Body::CallsRepaired(repaired)) = raw.record().map(|record| record.body) {
            self.count(&repaired);
        }
    }

    pub(super) fn count(&mut self, repaired: &CallsRepaired) {
        let counts = &mut self.0;
        counts.taken_up += repaired.taken_up.len() as u64;
        counts.closed += repaired.closed.len() as u64;
        counts.nested += repaired.nested.len() as u64;
    }

    pub(super) fn finish(self) -> RepairCounts {
        self.0
    }
}
