//! The rewind phase, in which nothing else starts. `facts::view` computes which conversation is left.

use proto::Body;
use proto::record::{Level, SessionRewound};
use proto::reset::CacheReset;

use crate::machine::{Phase, Step};
use crate::words;

impl Step<'_> {
    /// Starts a rewind if the session is idle. Not in a hand-over: nothing new starts, and a suspended session stays so.
    pub(crate) fn rewind(&mut self, phase: Phase) -> Phase {
        match phase {
            Phase::Idle if self.is_at_rest() => Phase::Rewinding { stop: None },
            Phase::Idle
            | Phase::Asking(_)
            | Phase::Planning
            | Phase::Compacting(_)
            | Phase::Calls(_)
            | Phase::Held
            | Phase::Rewinding { .. }
            | Phase::Stopping { .. }
            | Phase::Ending { .. } => phase,
        }
    }

    /// Finishes a successful rewind: the files are restored, and the new conversation is logged.
    pub(crate) fn rewound(&mut self, phase: Phase, rewound: SessionRewound) -> Phase {
        let Phase::Rewinding { stop } = phase else {
            return phase;
        };
        self.append(Body::SessionRewound(rewound));
        self.reset_cache();
        self.continue_idle(stop)
    }

    /// Ends a failed rewind. If it restored only some files, notifies users.
    pub(crate) fn not_rewound(&mut self, phase: Phase) -> Phase {
        let Phase::Rewinding { stop } = phase else {
            return phase;
        };
        self.notify_half_rewound();
        self.continue_idle(stop)
    }

    /// Logs the records that are missing if the daemon died during a rewind or right after it.
    pub(crate) fn recover_rewind(&mut self) {
        self.reset_cache();
        self.notify_half_rewound();
    }

    /// Logs a cache reset if the next request does not extend the previous one because of a rewind.
    fn reset_cache(&mut self) {
        if self.facts.reset_due {
            let reason = "rewind".to_owned();
            self.append(Body::CacheReset(CacheReset {
                reason,
                ..CacheReset::default()
            }));
        }
    }

    fn notify_half_rewound(&mut self) {
        if self.facts.has_unfinished_rewind {
            self.notice(Level::Warning, words::HALF_REWOUND);
        }
    }
}
