//! The session's own life as happenings: its start, its end, its restarts, its goal and its notices.

use proto::record::{
    GoalChanged, GoalContinued, GoalEnded, GoalStarted, Notice, SessionCreated, SessionExited,
    SessionGaveUp, SessionRestarted,
};

use super::{What, short, short_translated};
use crate::messages::Language;
use crate::messages::trace::Msg;
use crate::transcript::words;

pub(super) fn created(created: SessionCreated) -> What {
    What::Created {
        pid: created.pid,
        model: created.options.model.unwrap_or_default(),
        cwd: created.cwd,
        forked_from: created.origin.map(|origin| (origin.pid, origin.turn)),
    }
}

pub(super) fn exited(exited: &SessionExited) -> What {
    What::Exited {
        outcome: exited.outcome,
        reason: exited.reason,
        exit_code: exited.exit_code,
    }
}

pub(super) fn restarted(language: Language, restarted: &SessionRestarted) -> What {
    What::Restarted {
        number: restarted.number,
        outcome: restarted.outcome,
        reason: short_translated(language, &restarted.reason),
        wait_ms: restarted.wait_ms,
    }
}

pub(super) fn gave_up(language: Language, gave_up: &SessionGaveUp) -> What {
    What::GaveUp {
        reason: gave_up.reason,
        restarts: gave_up.restarts,
        detail: short_translated(language, &gave_up.detail),
    }
}

pub(super) fn goal_started(language: Language, started: &GoalStarted) -> What {
    let by = words::who(language, &started.by);
    What::Goal {
        text: language.fill(Msg::GoalStarted, &[&by, &short(&started.text)]),
    }
}

pub(super) fn goal_changed(language: Language, changed: &GoalChanged) -> What {
    let by = words::who(language, &changed.by);
    let limits = words::goal_limits(language, changed.max_turns, changed.budget);
    What::Goal {
        text: language.fill(Msg::GoalChanged, &[&by, &limits]),
    }
}

pub(super) fn goal_continued(language: Language, continued: &GoalContinued) -> What {
    What::Goal {
        text: short(&words::goal_continued(language, continued)),
    }
}

pub(super) fn goal_ended(language: Language, ended: &GoalEnded) -> What {
    What::Goal {
        text: short(&words::goal_ended(language, ended)),
    }
}

pub(super) fn notice(language: Language, notice: &Notice) -> What {
    What::Notice {
        level: notice.level,
        text: short_translated(language, &notice.text),
    }
}
