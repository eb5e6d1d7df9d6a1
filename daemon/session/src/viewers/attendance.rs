//! The sessions that a user who can answer is attached to, for all sessions of the daemon.
//!
//! A sub-agent is attended if a session above it is: its questions are those of the session that the user has open, and
//! when that user leaves, the sub-agents below wait for an answer no longer than the session itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use proto::SessionId;
use tokio::sync::mpsc;

use crate::viewers::fanout::Departure;

/// Sessions above one another. More than sub-agents nest, in case a log says otherwise.
const ABOVE_MAX: usize = 16;

/// Shared by all sessions. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Attendance(Arc<Mutex<HashMap<SessionId, Entry>>>);

struct Entry {
    /// The session that it works for, if it is a sub-agent.
    above: Option<SessionId>,
    /// Whether a user who can answer is attached to it.
    attended: bool,
    /// Where it is notified that the last such user above it has left.
    departures: mpsc::UnboundedSender<Departure>,
}

/// One session among all. It leaves when this is dropped.
pub(crate) struct SessionAttendance {
    all: Attendance,
    session: SessionId,
    departures: mpsc::UnboundedSender<Departure>,
}

impl Attendance {
    /// Adds a session that has been loaded. `above`: the session that it works for.
    pub fn join(
        &self,
        session: SessionId,
        above: Option<SessionId>,
        departures: mpsc::UnboundedSender<Departure>,
    ) -> SessionAttendance {
        let entry = Entry {
            above,
            attended: false,
            departures: departures.clone(),
        };
        self.lock().insert(session, entry);
        SessionAttendance {
            all: self.clone(),
            session,
            departures,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionAttendance {
    /// Whether a user who can answer is attached to a session above this one.
    pub fn is_attended_above(&self) -> bool {
        is_attended_above(&self.all.lock(), self.session)
    }

    /// Notes whether a user who can answer is attached. The sub-agents below are notified when the last one has left.
    pub fn set(&self, attended: bool) {
        let mut all = self.all.lock();
        let Some(entry) = all.get_mut(&self.session) else {
            return;
        };
        let left = std::mem::replace(&mut entry.attended, attended) && !attended;
        if !left {
            return;
        }
        for (session, entry) in all.iter() {
            if above(&all, *session).any(|above| above == self.session) {
                // One that has left memory waits for nobody.
                let _ = entry.departures.send(Departure::UsersAbove);
            }
        }
    }
}

impl Drop for SessionAttendance {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        let entry = all.get(&self.session);
        // Its next life may be there already.
        if entry.is_some_and(|entry| entry.departures.same_channel(&self.departures)) {
            all.remove(&self.session);
        }
    }
}

/// The sessions above one, nearest first.
fn above(
    all: &HashMap<SessionId, Entry>,
    session: SessionId,
) -> impl Iterator<Item = SessionId> + '_ {
    let next = |session: &SessionId| all.get(session)?.above;
    std::iter::successors(all.get(&session).and_then(|entry| entry.above), next).take(ABOVE_MAX)
}

fn is_attended_above(all: &HashMap<SessionId, Entry>, session: SessionId) -> bool {
    let mut above = above(all, session).filter_map(|above| all.get(&above));
    above.any(|entry| entry.attended)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Departures = mpsc::UnboundedReceiver<Departure>;

    fn join(all: &Attendance, above: Option<SessionId>) -> (SessionAttendance, Departures) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (all.join(SessionId::new(), above, sender), receiver)
    }

    #[test]
    fn user_at_the_root_attends_all_sub_agents_below() {
        let all = Attendance::default();
        let (root, mut at_root) = join(&all, None);
        let (child, mut at_child) = join(&all, Some(root.session));
        let (grandchild, mut at_grandchild) = join(&all, Some(child.session));
        let (stranger, mut at_stranger) = join(&all, None);
        root.set(true);
        assert!(child.is_attended_above() && grandchild.is_attended_above());
        assert!(!root.is_attended_above() && !stranger.is_attended_above());
        assert!(at_grandchild.try_recv().is_err(), "nobody has left");
        root.set(false);
        root.set(false);
        assert!(!child.is_attended_above() && !grandchild.is_attended_above());
        for (queue, count) in [
            (&mut at_root, 0),
            (&mut at_child, 1),
            (&mut at_grandchild, 1),
            (&mut at_stranger, 0),
        ] {
            let notified = std::iter::from_fn(|| queue.try_recv().ok()).count();
            assert_eq!(notified, count);
        }
    }

    #[test]
    fn end_of_an_earlier_life_does_not_remove_the_next_one() {
        let all = Attendance::default();
        let (root, _queue) = join(&all, None);
        let (child, _queue) = join(&all, Some(root.session));
        let (sender, _queue) = mpsc::unbounded_channel();
        let next_life = all.join(root.session, None, sender);
        drop(root);
        next_life.set(true);
        assert!(child.is_attended_above());
        drop(next_life);
        assert!(!child.is_attended_above());
        drop(child);
        assert!(all.lock().is_empty());
    }
}
