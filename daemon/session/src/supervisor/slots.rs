//! Which sessions are in memory, one slot each: whoever wants one that is being loaded waits for the same load, and
//! whoever wants one that is just leaving waits until it has left.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use proto::SessionId;
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
    /// An earlier life that is about to end: its log is not to be had before.
    before: Option<End>,
}

impl Slot {
    /// Whether no life before stands in the way.
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

type Map = HashMap<SessionId, Arc<Slot>>;

/// All slots.
#[derive(Default)]
pub struct Slots(Mutex<Map>);

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
        let mut map = self.slots.lock();
        let Some(slot) = self.slot.take() else { return };
        // Two: ours, and the map's. Counts change under the lock only.
        let last = Arc::strong_count(&slot) == 2 && slot.cell.get().is_none() && slot.is_free();
        if last && is_at(&map, self.session, &slot) {
            map.remove(&self.session);
        }
        drop(slot);
        drop(map);
    }
}

impl Slots {
    fn lock(&self) -> MutexGuard<'_, Map> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The slot of a session, which is made where there is none.
    pub fn claim(&self, session: SessionId) -> Claim<'_> {
        let mut map = self.lock();
        let known = map.contains_key(&session);
        let slot = Some(Arc::clone(map.entry(session).or_default()));
        Claim {
            slots: self,
            session,
            slot,
            known,
        }
    }

    /// All sessions that are loaded.
    pub fn handles(&self) -> Vec<SessionHandle> {
        let map = self.lock();
        map.values()
            .filter_map(|slot| slot.cell.get().cloned())
            .collect()
    }

    /// The session, where it is loaded.
    pub fn loaded(&self, session: SessionId) -> Option<SessionHandle> {
        self.lock()
            .get(&session)
            .and_then(|slot| slot.cell.get().cloned())
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
        self.lock().values().filter_map(who).collect()
    }

    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Forgets a session whose actor is gone, unless there is another by now.
    pub fn remove(&self, session: SessionId, is_it: impl Fn(&SessionHandle) -> bool) {
        let mut map = self.lock();
        if map
            .get(&session)
            .and_then(|slot| slot.cell.get())
            .is_some_and(is_it)
        {
            map.remove(&session);
        }
    }

    /// Takes sessions out of memory that nobody holds. `choose` picks among those; `leave` makes the end of each, which
    /// is awaited by whoever wants it again.
    pub fn part(
        &self,
        choose: impl FnOnce(Vec<SessionHandle>) -> Vec<SessionId>,
        leave: impl Fn(SessionHandle) -> BoxFuture<'static, Left>,
    ) -> Vec<(SessionId, End)> {
        let mut map = self.lock();
        // Nobody gets at a slot or a handle but through this lock.
        let alone = |slot: &Arc<Slot>| {
            let handle = slot.cell.get()?;
            let alone = Arc::strong_count(slot) == 1 && Arc::strong_count(&handle.shared) == 1;
            alone.then(|| handle.clone())
        };
        let chosen = choose(map.values().filter_map(alone).collect());
        let mut leaving = Vec::with_capacity(chosen.len());
        for session in chosen {
            let Some(handle) = map.get(&session).and_then(|slot| slot.cell.get().cloned()) else {
                continue;
            };
            let end = leave(handle).shared();
            let slot = Slot {
                before: Some(end.clone()),
                ..Slot::default()
            };
            map.insert(session, Arc::new(slot));
            leaving.push((session, end));
        }
        leaving
    }

    /// Puts a session back that was to leave and stays, unless it has been replaced since.
    pub fn stay(&self, handle: &SessionHandle, end: &End) {
        let mut map = self.lock();
        let waits = map.get(&handle.id()).and_then(|slot| slot.before.as_ref());
        if waits.is_some_and(|before| before.ptr_eq(end)) {
            // A slot of its own: the old one would hold the handle for ever.
            let slot = Slot {
                cell: OnceCell::new_with(Some(handle.clone())),
                before: None,
            };
            map.insert(handle.id(), Arc::new(slot));
        }
    }

    /// Keeps a session out of memory that is in nobody's hands, until `leave` has come to its end. `None`: it is in
    /// memory, or about to be.
    pub fn hold(
        &self,
        session: SessionId,
        leave: impl FnOnce() -> BoxFuture<'static, Left>,
    ) -> Option<End> {
        let mut map = self.lock();
        let free = map.get(&session).is_none_or(|slot| {
            Arc::strong_count(slot) == 1 && slot.cell.get().is_none() && slot.is_free()
        });
        if !free {
            return None;
        }
        let end = leave().shared();
        let slot = Slot {
            before: Some(end.clone()),
            ..Slot::default()
        };
        map.insert(session, Arc::new(slot));
        Some(end)
    }

    /// Takes this very life of a session out of memory, whoever holds it. `None`: it is not the one that is loaded.
    pub fn retire(
        &self,
        handle: &SessionHandle,
        leave: impl FnOnce() -> BoxFuture<'static, Left>,
    ) -> Option<End> {
        let mut map = self.lock();
        let slot = map.get(&handle.id())?;
        let loaded = slot.cell.get()?;
        if !Arc::ptr_eq(&loaded.shared, &handle.shared) {
            return None;
        }
        let end = leave().shared();
        let slot = Slot {
            before: Some(end.clone()),
            ..Slot::default()
        };
        map.insert(handle.id(), Arc::new(slot));
        Some(end)
    }
}

fn is_at(map: &Map, session: SessionId, slot: &Arc<Slot>) -> bool {
    map.get(&session).is_some_and(|at| Arc::ptr_eq(at, slot))
}
