//! The session goes back: nothing else begins meanwhile. What it goes back to stands in `facts::view`.

use proto::Body;
use proto::record::{Level, SessionRewound};
use proto::reset::CacheReset;

use crate::machine::{Phase, Step};
use crate::words;

impl Step<'_> {
    /// Begins, at rest. In a hand-over it does not: nothing new starts, and what has been marked as suspended stays so.
    pub(crate) fn rewind(&mut self, phase: Phase) -> Phase {
        match phase {
            Phase::Idle if self.facts.open.is_none() && !self.hold.suspending => {
                Phase::Rewinding { stop: None }
            }
            Phase::Idle
            | Phase::Asking(_)
            | Phase::Compacting(_)
            | Phase::Calls(_)
            | Phase::Held
            | Phase::Rewinding { .. }
            | Phase::Stopping { .. }
            | Phase::Ending { .. } => phase,
        }
    }

    /// Files are as they are to be, and what was gone back to is told.
    pub(crate) fn rewound(&mut self, phase: Phase, rewound: SessionRewound) -> Phase {
        let Phase::Rewinding { stop } = phase else {
            return phase;
        };
        self.append(Body::SessionRewound(rewound));
        self.reset_cache();
        self.go_on_at_rest(stop)
    }

    /// Nothing came of it, or only a part: then people are told.
    pub(crate) fn not_rewound(&mut self, phase: Phase) -> Phase {
        let Phase::Rewinding { stop } = phase else {
            return phase;
        };
        self.tell_half_rewound();
        self.go_on_at_rest(stop)
    }

    /// What a rewind owes the log, where the daemon died in it or right behind it.
    pub(crate) fn recover_rewind(&mut self) {
        self.reset_cache();
        self.tell_half_rewound();
    }

    /// Says that the next request does not extend the one before it, where that is so and has not been said.
    fn reset_cache(&mut self) {
        if self.facts.reset_due {
            let reason = "rewind".to_owned();
            self.append(Body::CacheReset(CacheReset {
                reason,
                ..CacheReset::default()
            }));
        }
    }

    fn tell_half_rewound(&mut self) {
        if self.facts.half_rewound {
            self.notice(Level::Warning, words::HALF_REWOUND);
        }
    }
}
