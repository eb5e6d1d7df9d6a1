//! The parent keeps the keys that clients brought, so that a crash of the daemon does not lose them (I23): in its memory
//! only, on no disk, and never where another process can read it.
//!
//! Parent and daemon share a socket pair; the daemon's end is its standard input. Each line is a [`KeptKeys`]: the keys kept
//! for one session from now on. The parent begins with all that it has and an empty line; after that only the daemon
//! speaks.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use contract::Secret;
use proto::SessionId;
use serde::{Deserialize, Serialize};
use session::{KeyKeeper, KeysByVariable};

/// The argument by which the daemon knows that its standard input is the parent's socket.
pub const ARGUMENT: &str = "--keys-on-stdin";

/// How long either side waits for the other: both only ever copy memory.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// The keys of one session from now on; none: it has none any more.
#[derive(Serialize, Deserialize)]
struct KeptKeys {
    /// `None`: offered to all sessions.
    session: Option<SessionId>,
    keys: BTreeMap<String, String>,
}

impl KeptKeys {
    fn line(session: Option<SessionId>, keys: &KeysByVariable) -> std::io::Result<String> {
        let keys = keys.iter();
        let keys = keys.map(|(name, key)| (name.clone(), key.expose().to_owned()));
        let mut line = serde_json::to_string(&Self {
            session,
            keys: keys.collect(),
        })?;
        line.push('\n');
        Ok(line)
    }

    fn secrets(self) -> (Option<SessionId>, KeysByVariable) {
        let keys = self.keys.into_iter();
        let keys = keys.map(|(name, key)| (name, Secret::new(key)));
        (self.session, keys.collect())
    }
}

/// Keys by session.
type BySession = BTreeMap<Option<SessionId>, KeysByVariable>;

fn note(kept: &mut BySession, session: Option<SessionId>, keys: KeysByVariable) {
    match keys.is_empty() {
        true => kept.remove(&session),
        false => kept.insert(session, keys),
    };
}

/// The parent's side, over all daemons that it starts.
#[derive(Default)]
pub struct ParentKeyStore(BySession);

impl ParentKeyStore {
    /// Begins to keep for a daemon. Gives the descriptor that becomes its standard input, and the end of the work: it
    /// comes when the daemon has ended, with the kept keys.
    ///
    /// # Errors
    /// No socket pair, or no thread.
    pub fn serve(self) -> std::io::Result<(OwnedFd, JoinHandle<Self>)> {
        let (ours, theirs) = UnixStream::pair()?;
        let attending = std::thread::Builder::new()
            .name("keys".into())
            .stack_size(256 * 1024)
            .spawn(move || {
                let mut kept = self;
                // A daemon that does not read, or writes what does not read, is not helped by an end of its parent.
                let _ = kept.hand_over(&ours).and_then(|()| kept.listen(ours));
                kept
            })?;
        Ok((theirs.into(), attending))
    }

    fn hand_over(&self, mut daemon: &UnixStream) -> std::io::Result<()> {
        daemon.set_write_timeout(Some(ANSWER_MAX))?;
        for (session, keys) in &self.0 {
            daemon.write_all(KeptKeys::line(*session, keys)?.as_bytes())?;
        }
        daemon.write_all(b"\n")
    }

    fn listen(&mut self, daemon: UnixStream) -> std::io::Result<()> {
        for line in BufReader::new(daemon).lines() {
            let (session, keys) = serde_json::from_str::<KeptKeys>(&line?)?.secrets();
            note(&mut self.0, session, keys);
        }
        Ok(())
    }
}

/// The daemon's side.
pub struct ParentKeyKeeper {
    /// `None`: there is no parent that keeps anything, or it does not listen any more.
    parent: Mutex<Option<UnixStream>>,
    /// The same as the parent has: a session may be loaded more than once.
    kept: Mutex<BySession>,
}

impl ParentKeyKeeper {
    /// A daemon without a parent: keys end with it.
    pub fn nobody() -> Self {
        Self {
            parent: Mutex::new(None),
            kept: Mutex::default(),
        }
    }

    /// Takes over standard input, which is empty from then on, and reads the kept keys.
    ///
    /// # Errors
    /// Standard input is not a socket of a parent, or the parent does not send its keys.
    pub fn on_stdin() -> std::io::Result<Self> {
        let parent = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        let nothing = std::fs::File::open("/dev/null")?;
        rustix::stdio::dup2_stdin(&nothing)?;
        Self::of(UnixStream::from(parent))
    }

    fn of(parent: UnixStream) -> std::io::Result<Self> {
        parent.set_read_timeout(Some(ANSWER_MAX))?;
        parent.set_write_timeout(Some(ANSWER_MAX))?;
        let mut kept = BySession::new();
        for line in BufReader::new(&parent).lines() {
            let line = line?;
            if line.is_empty() {
                break;
            }
            let (session, keys) = serde_json::from_str::<KeptKeys>(&line)?.secrets();
            kept.insert(session, keys);
        }
        Ok(Self {
            parent: Mutex::new(Some(parent)),
            kept: Mutex::new(kept),
        })
    }
}

impl KeyKeeper for ParentKeyKeeper {
    fn keep(&self, session: Option<SessionId>, keys: &KeysByVariable) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        note(&mut kept, session, keys.clone());
        drop(kept);
        let mut parent = self.parent.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(stream) = parent.as_mut() else {
            return;
        };
        let sent = KeptKeys::line(session, keys).and_then(|line| stream.write_all(line.as_bytes()));
        if let Err(error) = sent {
            tracing::warn!(%error, "the parent does not keep keys any more: a crash would lose them");
            // A partial line may have been sent: the parent could not parse the next one.
            *parent = None;
        }
    }

    fn restore(&self, session: Option<SessionId>) -> KeysByVariable {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&session).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(value: &str) -> KeysByVariable {
        [("ACME_API_KEY".to_owned(), Secret::new(value.to_owned()))].into()
    }

    /// A daemon that begins, does something and ends.
    fn life(kept: ParentKeyStore, lived: impl FnOnce(&ParentKeyKeeper)) -> ParentKeyStore {
        let (stdin, attending) = kept.serve().expect("a keeper");
        let daemon = ParentKeyKeeper::of(UnixStream::from(stdin)).expect("the kept keys");
        lived(&daemon);
        drop(daemon);
        attending.join().expect("the end")
    }

    #[test]
    fn the_next_daemon_has_what_the_last_one_kept_and_not_what_it_forgot() {
        let (first, second) = (SessionId::new(), SessionId::new());
        let kept = life(ParentKeyStore::default(), |daemon| {
            daemon.keep(None, &keys("for all"));
            daemon.keep(Some(first), &keys("old"));
            daemon.keep(Some(first), &keys("new"));
            daemon.keep(Some(second), &keys("of a session that is deleted"));
            daemon.keep(Some(second), &KeysByVariable::new());
        });
        let kept = life(kept, |daemon| {
            assert_eq!(daemon.restore(None), keys("for all"));
            assert_eq!(daemon.restore(Some(first)), keys("new"));
            let again = daemon.restore(Some(first));
            assert_eq!(again, keys("new"), "it may be loaded more than once");
            assert_eq!(daemon.restore(Some(second)), KeysByVariable::new());
            daemon.keep(Some(first), &KeysByVariable::new());
        });
        life(kept, |daemon| {
            assert_eq!(daemon.restore(None), keys("for all"));
            assert_eq!(daemon.restore(Some(first)), KeysByVariable::new());
        });
    }

    #[test]
    fn more_keys_than_a_socket_holds_are_handed_over() {
        let many: Vec<_> = (0..500).map(|_| SessionId::new()).collect();
        let long = keys(&"k".repeat(8_000));
        let kept = life(ParentKeyStore::default(), |daemon| {
            many.iter()
                .for_each(|session| daemon.keep(Some(*session), &long));
        });
        life(kept, |daemon| {
            assert!(
                many.iter()
                    .all(|session| daemon.restore(Some(*session)) == long)
            );
        });
    }

    #[test]
    fn a_parent_that_is_gone_ends_no_daemon() {
        let (stdin, attending) = ParentKeyStore::default().serve().expect("a keeper");
        let stream = UnixStream::from(stdin);
        let daemon =
            ParentKeyKeeper::of(stream.try_clone().expect("a copy")).expect("nothing kept");
        stream.shutdown(std::net::Shutdown::Both).expect("cut");
        attending.join().expect("the end");
        daemon.keep(None, &keys("old"));
        daemon.keep(None, &keys("new"));
        assert_eq!(
            daemon.restore(None),
            keys("new"),
            "it has them as long as it lives"
        );
    }
}
