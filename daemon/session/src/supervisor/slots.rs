//! Which sessions are in memory, one slot each: whoever wants one that is being loaded waits for the same load, and
//! whoever wants one that is just leaving waits until it has left.

use std::sync::{Arc, OnceLock};

use dashmap::{DashMap, Entry};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use proto::{Pid, SessionId};
use tokio::sync::OnceCell;

use crate::actor::handle::SessionHandle;

/// What became of the life before.
#[derive(Clone)]
pub enum Left {
    /// It stays: it had something to do.
    Stays(SessionHandle),
    /// Nothing of it is left.
    Gone,
}

/// The end of a life in memory. Whoever waits for it drives it.
pub type End = Shared<BoxFuture<'static, Left>>;

/// A session that is loaded, or being loaded.
#[derive(Default)]
pub struct Slot {
    pub cell: OnceCell<SessionHandle>,
    /// The number of a session that is being created, from its first record on: it works before it is on disk.
    created_as: OnceLock<Pid>,
    /// An earlier life that is about to end: its log is not to be had before.
    before: Option<End>,
}

impl Slot {
    /// A session whose life in memory ends so.
    fn ending(end: &End) -> Arc<Self> {
        Arc::new(Self {
            before: Some(end.clone()),
            ..Self::default()
        })
    }

    /// Whether no earlier life occupies the slot.
    fn is_free(&self) -> bool {
        let before = self.before.as_ref();
        before.is_none_or(|before| matches!(before.peek(), Some(Left::Gone)))
    }

    /// Waits for the end of the life before. `Some`: it goes on.
    pub async fn before(&self) -> Option<SessionHandle> {
        match self.before.clone()?.await {
            Left::Stays(handle) => Some(handle),
            Left::Gone => None,
        }
    }
}

/// All slots. Whoever looks at a slot's counts holds its entry: nobody gets at a slot or a handle but through the map.
#[derive(Default)]
pub struct Slots(DashMap<SessionId, Arc<Slot>>);

/// Somebody's interest in a slot. An empty slot goes with the last interest in it.
pub struct Claim<'a> {
    slots: &'a Slots,
    session: SessionId,
    slot: Option<Arc<Slot>>,
    /// Whether there was a slot already.
    pub known: bool,
}

impl std::ops::Deref for Claim<'_> {
    type Target = Slot;

    fn deref(&self) -> &Slot {
        self.slot
            .as_ref()
            .unwrap_or_else(|| unreachable!("only dropping takes it"))
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let Entry::Occupied(entry) = self.slots.0.entry(self.session) else {
            return;
        };
        let Some(slot) = self.slot.take() else { return };
        // Two: ours, and the map's.
        let last = Arc::strong_count(&slot) == 2 && slot.cell.get().is_none() && slot.is_free();
        let is_there = Arc::ptr_eq(entry.get(), &slot);
        // While the entry is held: of two who go at once, the second must see that it is the last.
        drop(slot);
        if last && is_there {
            entry.remove();
        }
    }
}

impl Slots {
    /// The slot of a session, which is made if there is none.
    pub fn claim(&self, session: SessionId) -> Claim<'_> {
        let (slot, known) = match self.0.entry(session) {
            Entry::Occupied(entry) => (Arc::clone(entry.get()), true),
            Entry::Vacant(entry) => (Arc::clone(&entry.insert(Arc::default())), false),
        };
        Claim {
            slots: self,
            session,
            slot: Some(slot),
            known,
        }
    }

    /// The session that is being created works from now on, under this number.
    pub fn begins(&self, session: SessionId, pid: Pid) {
        if let Some(slot) = self.0.get(&session) {
            // Set before: the same number.
            let _ = slot.created_as.set(pid);
        }
    }

    /// The session that was, or is being, created under this number.
    pub fn created_as(&self, pid: Pid) -> Option<SessionId> {
        let mut slots = self.0.iter();
        let slot = slots.find(|slot| slot.created_as.get() == Some(&pid))?;
        Some(*slot.key())
    }

    /// All sessions that are loaded.
    pub fn handles(&self) -> Vec<SessionHandle> {
        let slots = self.0.iter();
        slots.filter_map(|slot| slot.cell.get().cloned()).collect()
    }

    /// The session, if it is loaded.
    pub fn loaded(&self, session: SessionId) -> Option<SessionHandle> {
        self.0.get(&session)?.cell.get().cloned()
    }

    /// Everybody who is in memory. Of those that are about to leave it is awaited whether they stay; those that are
    /// being loaded are not among them.
    pub fn everybody(&self) -> Vec<BoxFuture<'static, Option<SessionHandle>>> {
        let who = |slot: &Arc<Slot>| match (slot.cell.get().cloned(), slot.before.clone()) {
            (Some(handle), _) => Some(std::future::ready(Some(handle)).boxed()),
            (None, Some(before)) => {
                let stays = async move {
                    match before.await {
                        Left::Stays(handle) => Some(handle),
                        Left::Gone => None,
                    }
                };
                Some(stays.boxed())
            }
            (None, None) => None,
        };
        self.0.iter().filter_map(|slot| who(&slot)).collect()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets a session whose actor is gone, unless there is another by now.
    pub fn remove(&self, session: SessionId, is_it: impl Fn(&SessionHandle) -> bool) {
        self.0
            .remove_if(&session, |_, slot| slot.cell.get().is_some_and(is_it));
    }

    /// Takes sessions out of memory that nobody holds. `choose` picks among those; `leave` makes the end of each, which
    /// is awaited by whoever wants it again.
    pub fn part(
        &self,
        choose: impl FnOnce(Vec<SessionHandle>) -> Vec<SessionId>,
        leave: impl Fn(SessionHandle) -> BoxFuture<'static, Left>,
    ) -> Vec<(SessionId, End)> {
        let candidates = self.0.iter().filter_map(|slot| alone(&slot)).collect();
        let mut leaving = Vec::new();
        for session in choose(candidates) {
            let Entry::Occupied(mut entry) = self.0.entry(session) else {
                continue;
            };
            // Somebody may have come since.
            let Some(handle) = alone(entry.get()) else {
                continue;
            };
            let end = leave(handle).shared();
            entry.insert(Slot::ending(&end));
            leaving.push((session, end));
        }
        leaving
    }

    /// Puts a session back that was to leave and stays, unless it has been replaced since.
    pub fn stay(&self, handle: &SessionHandle, end: &End) {
        let Entry::Occupied(mut entry) = self.0.entry(handle.id()) else {
            return;
        };
        let waits = entry.get().before.as_ref();
        if waits.is_some_and(|before| before.ptr_eq(end)) {
            // A slot of its own: the old one would hold the handle for ever.
            entry.insert(Arc::new(Slot {
                cell: OnceCell::new_with(Some(handle.clone())),
                ..Slot::default()
            }));
        }
    }

    /// Keeps a session out of memory that is in nobody's hands, until `leave` has come to its end. `None`: it is in
    /// memory, or about to be.
    pub fn hold(
        &self,
        session: SessionId,
        leave: impl FnOnce() -> BoxFuture<'static, Left>,
    ) -> Option<End> {
        let entry = self.0.entry(session);
        if let Entry::Occupied(entry) = &entry {
            let slot = entry.get();
            let free = Arc::strong_count(slot) == 1 && slot.cell.get().is_none() && slot.is_free();
            if !free {
                return None;
            }
        }
        let end = leave().shared();
        entry.insert(Slot::ending(&end));
        Some(end)
    }

    /// Takes this very life of a session out of memory, whoever holds it. `None`: it is not the one that is loaded.
    pub fn retire(
        &self,
        handle: &SessionHandle,
        leave: impl FnOnce() -> BoxFuture<'static, Left>,
    ) -> Option<End> {
        let Entry::Occupied(mut entry) = self.0.entry(handle.id()) else {
            return None;
        };
        let loaded = entry.get().cell.get()?;
        if !Arc::ptr_eq(&loaded.shared, &handle.shared) {
            return None;
        }
        let end = leave().shared();
        entry.insert(Slot::ending(&end));
        Some(end)
    }
}

/// The session in a slot, if nobody else holds slot or session.
fn alone(slot: &Arc<Slot>) -> Option<SessionHandle> {
    let handle = slot.cell.get()?;
    let alone = Arc::strong_count(slot) == 1 && Arc::strong_count(&handle.shared) == 1;
    alone.then(|| handle.clone())
}
