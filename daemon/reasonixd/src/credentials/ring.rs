//! The system's keyring: one entry a home, with all its keys, as text.
//!
//! Built in with the feature `keychain`. A keyring may ask a person to open it, or never answer: nobody waits for it
//! longer than a bound, and no text of it is in an error. Called by `credentials` alone; blocks.

use std::path::Path;
use std::sync::Arc;
#[cfg(any(feature = "keychain", test))]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(any(feature = "keychain", test))]
use std::sync::mpsc;
#[cfg(any(feature = "keychain", test))]
use std::time::Duration;

/// Whoever uses this program's entries, in the keyring's own words.
#[cfg(feature = "keychain")]
const SERVICE: &str = "reasonix";

/// How long an answer may take: there may be somebody who types a password.
#[cfg(any(feature = "keychain", test))]
const ANSWER_MAX: Duration = Duration::from_secs(20);

/// The store of one text. Errors are for people, and hold nothing of the text.
pub(super) trait KeyringEntry: Send + Sync {
    /// The text that is kept.
    fn read(&self) -> Result<Option<String>, String>;
    /// Keeps another text in its place.
    fn write(&self, text: &str) -> Result<(), String>;
}

/// The keyring of whoever runs the daemon, for one home.
///
/// # Errors
/// In words: why there is none.
#[cfg(feature = "keychain")]
pub(super) fn system(home: &Path) -> Result<Arc<dyn KeyringEntry>, String> {
    let account = home.display().to_string();
    bounded(move || {
        let store = store().map_err(|error| words(&error))?;
        Ok(Arc::new(SystemKeyring { store, account }) as Arc<dyn KeyringEntry>)
    })
    .map(|ring| Arc::new(TimeoutKeyring(ring)) as Arc<dyn KeyringEntry>)
}

/// The keyring of whoever runs the daemon, for one home.
///
/// # Errors
/// Always: this program was built without it.
#[cfg(not(feature = "keychain"))]
pub(super) fn system(_home: &Path) -> Result<Arc<dyn KeyringEntry>, String> {
    Err(ABSENT.to_owned())
}

/// Why there is no keyring, if none was built in.
pub(super) const ABSENT: &str =
    "this program was built without the system's keyring (feature `keychain`)";

/// Whether one was built in.
pub(super) const fn is_built_in() -> bool {
    cfg!(feature = "keychain")
}

#[cfg(all(feature = "keychain", target_os = "linux"))]
fn store() -> keyring_core::Result<Arc<keyring_core::CredentialStore>> {
    let store = zbus_secret_service_keyring_store::Store::new()?;
    Ok(store)
}

#[cfg(all(feature = "keychain", target_os = "macos"))]
fn store() -> keyring_core::Result<Arc<keyring_core::CredentialStore>> {
    let store = apple_native_keyring_store::keychain::Store::new()?;
    Ok(store)
}

/// A keyring's error in words for users. An error that carries the stored text is worded without it.
#[cfg(feature = "keychain")]
fn words(error: &keyring_core::Error) -> String {
    use keyring_core::Error;
    match error {
        Error::PlatformFailure(why) | Error::NoStorageAccess(why) => {
            format!("the system's keyring is not available: {why}")
        }
        Error::NoEntry => "the system's keyring has no such entry".to_owned(),
        Error::TooLong(_, most) => {
            format!("the system's keyring accepts at most {most} characters")
        }
        Error::Ambiguous(_) => "the system's keyring has more than one such entry".to_owned(),
        Error::NotSupportedByStore(_) | Error::NoDefaultStore => {
            "this system has no supported keyring".to_owned()
        }
        _ => "the content of the system's keyring cannot be read".to_owned(),
    }
}

/// An entry of a keyring.
#[cfg(feature = "keychain")]
struct SystemKeyring {
    store: Arc<keyring_core::CredentialStore>,
    account: String,
}

#[cfg(feature = "keychain")]
impl SystemKeyring {
    fn entry(&self) -> Result<keyring_core::Entry, String> {
        let entry = self.store.build(SERVICE, &self.account, None);
        entry.map_err(|error| words(&error))
    }
}

#[cfg(feature = "keychain")]
impl KeyringEntry for SystemKeyring {
    fn read(&self) -> Result<Option<String>, String> {
        match self.entry()?.get_password() {
            Ok(text) => Ok(Some(text)),
            Err(keyring_core::Error::NoEntry) => Ok(None),
            Err(error) => Err(words(&error)),
        }
    }

    fn write(&self, text: &str) -> Result<(), String> {
        let written = self.entry()?.set_password(text);
        written.map_err(|error| words(&error))
    }
}

/// A keyring that is not waited for longer than a bound.
#[cfg_attr(
    not(any(feature = "keychain", test)),
    allow(dead_code, reason = "nothing to wait for")
)]
pub(super) struct TimeoutKeyring(pub(super) Arc<dyn KeyringEntry>);

#[cfg(any(feature = "keychain", test))]
impl KeyringEntry for TimeoutKeyring {
    fn read(&self) -> Result<Option<String>, String> {
        let ring = Arc::clone(&self.0);
        bounded(move || ring.read())
    }

    fn write(&self, text: &str) -> Result<(), String> {
        let (ring, text) = (Arc::clone(&self.0), text.to_owned());
        bounded(move || ring.write(&text))
    }
}

/// Somebody was not answered and is still waiting: no second one waits beside them.
#[cfg(any(feature = "keychain", test))]
static STUCK: AtomicBool = AtomicBool::new(false);

/// Says when it is dropped that nobody waits any more.
#[cfg(any(feature = "keychain", test))]
struct Over(Arc<AtomicBool>);

#[cfg(any(feature = "keychain", test))]
impl Drop for Over {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
        STUCK.store(false, Ordering::SeqCst);
    }
}

/// Asks in a separate thread, which is abandoned if no answer comes.
#[cfg(any(feature = "keychain", test))]
fn bounded<T: Send + 'static>(
    ask: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    if STUCK.load(Ordering::SeqCst) {
        return Err("the system's keyring has not answered yet".to_owned());
    }
    let (sender, answers) = mpsc::sync_channel(1);
    let done = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&done);
    let asked = std::thread::Builder::new()
        .name("keyring".into())
        .spawn(move || {
            // Also where asking panics: the next one may be answered.
            let over = Over(ended);
            let answer = ask();
            drop(over);
            let _ = sender.send(answer);
        });
    asked.map_err(|error| format!("no thread to ask the system's keyring in: {error}"))?;
    match answers.recv_timeout(ANSWER_MAX) {
        Ok(answer) => answer,
        Err(mpsc::RecvTimeoutError::Timeout) => {
            STUCK.store(true, Ordering::SeqCst);
            // It came in between.
            if done.load(Ordering::SeqCst) {
                STUCK.store(false, Ordering::SeqCst);
            }
            Err(format!(
                "the system's keyring has not answered within {} seconds",
                ANSWER_MAX.as_secs()
            ))
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Err("asking the system's keyring has failed".to_owned())
        }
    }
}

#[cfg(test)]
mod patience {
    use super::*;

    #[test]
    fn keyring_call_that_panicked_does_not_block_later_calls() {
        let failed = bounded::<()>(|| panic!("a bug"));
        assert!(failed.unwrap_err().contains("has failed"));
        let ended = Arc::new(AtomicBool::new(false));
        let over = Over(Arc::clone(&ended));
        let late = std::thread::spawn(move || {
            let _over = over;
            panic!("a bug")
        });
        assert!(late.join().is_err());
        assert!(ended.load(Ordering::SeqCst));
        assert_eq!(bounded(|| Ok(1)), Ok(1));
    }
}

#[cfg(all(test, feature = "keychain"))]
mod tests {
    use super::*;

    /// The crate's own mock.
    fn mocked(account: &str, store: &Arc<keyring_core::mock::Store>) -> SystemKeyring {
        SystemKeyring {
            store: Arc::clone(store) as Arc<keyring_core::CredentialStore>,
            account: account.to_owned(),
        }
    }

    #[test]
    fn a_text_is_kept_a_home_and_read_again() {
        let store = keyring_core::mock::Store::new().unwrap();
        let ring = mocked("/user/ann/.reasonix", &store);
        assert_eq!(ring.read(), Ok(None));
        ring.write("A = \"1\"\n").unwrap();
        ring.write("A = \"2\"\n").unwrap();
        let again = TimeoutKeyring(Arc::new(mocked("/user/ann/.reasonix", &store)));
        assert_eq!(again.read(), Ok(Some("A = \"2\"\n".to_owned())));
        assert_eq!(mocked("/user/bob/.reasonix", &store).read(), Ok(None));
    }

    #[test]
    fn no_error_holds_what_is_kept() {
        let kept = "canary-51c0ffee".to_owned();
        for error in [
            keyring_core::Error::BadEncoding(kept.clone().into_bytes()),
            keyring_core::Error::Invalid(kept.clone(), kept.clone()),
            keyring_core::Error::BadStoreFormat(kept),
        ] {
            assert!(!words(&error).contains("canary"), "{error:?}");
        }
    }
}
