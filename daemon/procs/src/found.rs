//! What was found out about this machine, once; everybody who starts something waits for it.

use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::mechanism::Mechanism;

/// Finding out takes some ten milliseconds, or where something hangs, some deadlines of the probe.
const PATIENCE: Duration = Duration::from_secs(15);

/// What holds here.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub mechanism: Mechanism,
    pub walls: Walls,
}

/// By what walls are held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Walls {
    /// By mounts and namespaces.
    Mounts {
        /// The commands of a session share a loopback. Else each has its own.
        shared: bool,
    },
    /// By a profile that another program sets before it becomes the command: macOS.
    Seatbelt,
    /// By Landlock and seccomp alone.
    Landlock,
    /// By nothing: a command within walls does not start. Why, in a person's words.
    Not(String),
}

/// The place where the thread that finds out puts it.
#[derive(Clone)]
pub(crate) struct Findings(watch::Receiver<Option<Found>>);

impl Findings {
    /// Nothing yet, and who will say.
    pub fn open() -> (watch::Sender<Option<Found>>, Self) {
        let (sender, receiver) = watch::channel(None);
        (sender, Self(receiver))
    }

    /// What is known now.
    pub fn now(&self) -> Option<Found> {
        self.0.borrow().clone()
    }

    /// Blocks until it is known, but not for ever.
    pub fn soon(&self) -> Option<Found> {
        let end = Instant::now() + PATIENCE;
        loop {
            let found = self.now();
            if found.is_some() || Instant::now() >= end {
                return found;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until it is known. `None`: it never will be, the thread has ended.
    pub async fn settled(&self) -> Option<Found> {
        let mut receiver = self.0.clone();
        let found = receiver.wait_for(Option::is_some).await.ok()?;
        found.clone()
    }
}
