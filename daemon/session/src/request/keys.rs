//! The keys that clients brought: of one session, or offered to all. In memory only, and with the keeper, so that they
//! outlive a crash of the daemon.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use contract::Secret;
use proto::SessionId;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::assembly::key_keeper::{KeyKeeper, KeysByVariable, NoKeeper};

/// Keys by variable name, as clients brought them.
pub struct Keys {
    /// Whose they are; `None`: they were offered to all sessions.
    session: Option<SessionId>,
    keeper: Arc<dyn KeyKeeper>,
    keys: Mutex<KeysByVariable>,
    /// Signalled after every change.
    changed: Notify,
}

/// A key that is missing, and that a client may bring soon.
pub struct AwaitedKey {
    pub keys: Arc<Keys>,
    pub variable: String,
    pub until: Instant,
}

impl AwaitedKey {
    /// Waits for the key. `None`: it has not come in time.
    pub async fn wait(self) -> Option<Secret> {
        let arrival = async {
            loop {
                // Listened for before the look, so that no change is missed.
                let mut changed = std::pin::pin!(self.keys.changed.notified());
                changed.as_mut().enable();
                if let Some(key) = self.keys.get(&self.variable) {
                    return key;
                }
                changed.await;
            }
        };
        tokio::time::timeout_at(self.until, arrival).await.ok()
    }
}

/// Of nobody, kept by nobody.
impl Default for Keys {
    fn default() -> Self {
        Self::restored(None, Arc::new(NoKeeper))
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Keys").field(&*self.lock()).finish()
    }
}

impl Keys {
    /// With what the daemon before this one left.
    #[must_use]
    pub fn restored(session: Option<SessionId>, keeper: Arc<dyn KeyKeeper>) -> Self {
        let keys = Mutex::new(keeper.restore(session));
        Self {
            session,
            keeper,
            keys,
            changed: Notify::new(),
        }
    }

    /// Takes in what a client sends. An empty text does not count as a key.
    pub fn put(&self, credentials: BTreeMap<String, String>) {
        self.change(|keys| keys.extend(secrets(credentials)));
    }

    /// Takes in what a client offers to every session: only missing keys, so that nobody's key is replaced.
    pub fn fill(&self, credentials: BTreeMap<String, String>) {
        self.fill_secrets(secrets(credentials));
    }

    /// As `fill`, from the keys that were offered to all.
    pub fn fill_from(&self, offered: &Self) {
        self.fill_secrets(offered.lock().clone());
    }

    /// The key that this variable held.
    #[must_use]
    pub fn get(&self, variable: &str) -> Option<Secret> {
        self.lock().get(variable).cloned()
    }

    /// The variables that hold them.
    pub fn names(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    fn fill_secrets(&self, secrets: KeysByVariable) {
        self.change(|keys| {
            for (name, key) in secrets {
                keys.entry(name).or_insert(key);
            }
        });
    }

    /// Changes them, and has the keeper keep them if anything changed.
    fn change(&self, change: impl FnOnce(&mut KeysByVariable)) {
        let mut keys = self.lock();
        let before = keys.clone();
        change(&mut keys);
        if *keys != before {
            self.keeper.keep(self.session, &keys);
            self.changed.notify_waiters();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, KeysByVariable> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn secrets(credentials: BTreeMap<String, String>) -> KeysByVariable {
    let given = credentials.into_iter();
    given
        .filter(|(_, key)| !key.trim().is_empty())
        .map(|(name, key)| (name, Secret::new(key)))
        .collect()
}
