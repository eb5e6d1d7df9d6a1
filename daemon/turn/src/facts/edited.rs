//! What a session is at work on, as a fold: the files that it edited last, and the plan that was approved.

use proto::item::{CallStatus, Display};
use proto::params::plan::Decision;
use proto::record::{PlanResolved, ToolFinished};

use super::Facts;
use crate::compaction::EditedFile;

/// Files that are remembered (contract, chapter 60).
const FILES: usize = 5;

impl Facts {
    pub(super) fn apply_file_edited(&mut self, finished: &ToolFinished) {
        let Display::Diff { path, diff, .. } = &finished.display else {
            return;
        };
        if finished.status != CallStatus::Ok {
            return;
        }
        self.edited.retain(|file| file.path != *path);
        self.edited.push_front(EditedFile {
            path: path.clone(),
            lines: touched(diff),
        });
        self.edited.truncate(FILES);
    }

    /// Called before the plan leaves those that are open.
    pub(super) fn apply_plan_in_force(&mut self, resolved: &PlanResolved) {
        if resolved.decision == Some(Decision::Approve)
            && let Some(plan) = self.plans.get(&resolved.plan_id)
        {
            self.plan_in_force = Some(plan.plan.clone());
        }
    }
}

/// The lines of the new file that a unified diff touches, first and last of each hunk.
fn touched(diff: &str) -> Vec<(u64, u64)> {
    let heads = diff.lines().filter_map(|line| line.strip_prefix("@@ "));
    let runs = heads.filter_map(|head| {
        let new = head.split(' ').find_map(|word| word.strip_prefix('+'))?;
        let (first, count) = new.split_once(',').unwrap_or((new, "1"));
        let (first, count): (u64, u64) = (first.parse().ok()?, count.parse().ok()?);
        Some((first, first.saturating_add(count.saturating_sub(1))))
    });
    runs.collect()
}
