//! Sessions that nobody is attached to and that do nothing leave memory, and come back from their logs when needed.

use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use proto::state::State;
use tokio::sync::oneshot;

use crate::actor::departure::{EvictionReason, EvictionRequest};
use crate::actor::handle::SessionHandle;
use crate::supervisor::Supervisor;
use crate::supervisor::slots::Left;
use crate::tasks;

/// Limits of the sessions that are kept in memory.
#[derive(Clone, Copy, Debug)]
pub struct ResidencyLimits {
    /// How long a session that does nothing stays.
    pub idle: Duration,
    /// How many such sessions stay; the one that has done nothing for longest leaves first.
    pub idle_max: usize,
}

impl Default for ResidencyLimits {
    /// Ten minutes; 64 sessions, a few descriptors each.
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(600),
            idle_max: 64,
        }
    }
}

impl SessionHandle {
    /// Whether it seems to rest, as far as others know. Its actor has the last word.
    fn rests(&self) -> bool {
        let seen = self.shared.seen.borrow();
        let summary = &seen.summary;
        let idle = summary.state == State::Idle && summary.queued == 0;
        // Work that waits in an exited session does not move.
        (idle
            || matches!(summary.state, State::Exited | State::Paused)
            || summary.read_only.is_some())
            && summary.attached == 0
            && summary.children == 0
            && seen.interactions.is_empty()
    }

    fn idle_for(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.shared.activity.last())
    }
}

impl Supervisor {
    /// Puts sessions away that have done nothing for long, and the longest idle of those that are too many. Returns when
    /// they have left, with their number.
    pub async fn evict_idle(&self, now: Instant) -> usize {
        let bounds = self.residency_limits;
        let choose = |alone: Vec<SessionHandle>| {
            let resting = alone.into_iter().filter(SessionHandle::rests);
            let mut resting: Vec<_> = resting
                .map(|handle| (handle.idle_for(now), handle.id()))
                .collect();
            resting.sort_unstable_by(|one, other| other.cmp(one));
            let too_many = resting.len().saturating_sub(bounds.idle_max);
            let leaves = |(place, (idle, session))| {
                (place < too_many || idle >= bounds.idle).then_some(session)
            };
            resting.into_iter().enumerate().filter_map(leaves).collect()
        };
        let me = self.me.clone();
        let leaving = self
            .slots
            .part(choose, |handle| leave(me.clone(), handle, None));
        // Each in a task of its own: it comes to its end whoever stops waiting for it.
        let ends = leaving.into_iter().map(|(session, end)| {
            let me = self.me.clone();
            tasks::shielded(async move {
                let left = end.clone().await;
                let Some(supervisor) = me.upgrade() else {
                    return 0;
                };
                if let Left::Stays(handle) = left {
                    supervisor.slots.stay(&handle, &end);
                    return 0;
                }
                // Dropping the last claim takes the empty slot away.
                drop(supervisor.slots.claim(session));
                1
            })
        });
        let ended = futures::future::join_all(ends).await;
        ended.into_iter().map(|left| left.unwrap_or(0)).sum()
    }

    /// Has one session leave memory, if it rests. Returns whether it has.
    pub(crate) async fn evict(&self, handle: &SessionHandle) -> bool {
        let me = self.me.clone();
        let end = self
            .slots
            .retire(handle, || leave(me, handle.clone(), None));
        let Some(end) = end else {
            return false;
        };
        if let Left::Stays(handle) = end.clone().await {
            self.slots.stay(&handle, &end);
            return false;
        }
        // Dropping the last claim takes the empty slot away.
        drop(self.slots.claim(handle.id()));
        true
    }

    /// Looks whether there are too many, unless somebody does already.
    pub(crate) fn sweep_when_crowded(&self) {
        if self.slots.len() <= self.residency_limits.idle_max
            || self.sweeping.swap(true, Ordering::Relaxed)
        {
            return;
        }
        let me = self.me.clone();
        tasks::spawn(async move {
            let Some(supervisor) = me.upgrade() else {
                return;
            };
            // Allowed again before the look: who comes during it gets one of his own.
            supervisor.sweeping.store(false, Ordering::Relaxed);
            supervisor.evict_idle(Instant::now()).await;
        });
    }

    /// Sweeps now and then, as long as there is a supervisor.
    pub(crate) fn sweep_by_time(&self) {
        let every = (self.residency_limits.idle / 10)
            .clamp(Duration::from_secs(1), Duration::from_secs(60));
        let me: Weak<Self> = self.me.clone();
        tasks::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                let Some(supervisor) = me.upgrade() else {
                    return;
                };
                supervisor.sweep_ephemeral().await;
                let left = supervisor.evict_idle(Instant::now()).await;
                if left > 0 {
                    tracing::debug!(left, "idle sessions have left memory");
                }
            }
        });
    }
}

/// Asks an actor to leave, and keeps its state. `word`: it has to, and the notice says why when it is loaded again.
pub(crate) fn leave(
    supervisor: Weak<Supervisor>,
    handle: SessionHandle,
    word: Option<String>,
) -> BoxFuture<'static, Left> {
    async move {
        let (reply, left) = oneshot::channel();
        let reason = match word {
            Some(_) => EvictionReason::Forced,
            None => EvictionReason::Unused,
        };
        let leave = EvictionRequest { reason, reply };
        if !handle
            .send(Box::new(|actor| actor.leave_memory(leave)))
            .await
        {
            // It ended before: of a bug, or with the daemon.
            return Left::Gone;
        }
        match left.await {
            Ok(mut kept) => {
                kept.word = word;
                if let Some(supervisor) = supervisor.upgrade() {
                    supervisor.kept.put(handle.id(), *kept);
                }
                Left::Gone
            }
            Err(_) if handle.shared.commands.is_closed() => Left::Gone,
            Err(_) => Left::Stays(handle),
        }
    }
    .boxed()
}
