//! The world around an engine that is killed: the disk and its contents, side effects, the acknowledgements that clients got.
//!
//! Everything that the engine does to the outside passes a numbered point here. At one of them the world stops for
//! good: whatever the engine still does after that is not heard. Unsynced data is lost in part.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, IoSlice, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use proto::{Event, Seq};
use store::log::Syncer;
use tests::Chance;
use tokio::sync::watch;

/// A kind of place where the engine may be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Point {
    /// Bytes were written to the log.
    Append,
    SyncStarts,
    SyncEnds,
    /// A directory entry was synced.
    Named,
    /// A request reached the model.
    Asked,
    /// A part of an answer is on its way.
    Part,
    ToolStarts,
    ToolEnds,
    /// A subscriber got a durable event.
    Published,
    /// A client got its answer.
    Acknowledged,
}

/// All of them.
pub const POINTS: [Point; 10] = [
    Point::Append,
    Point::SyncStarts,
    Point::SyncEnds,
    Point::Named,
    Point::Asked,
    Point::Part,
    Point::ToolStarts,
    Point::ToolEnds,
    Point::Published,
    Point::Acknowledged,
];

/// Where a life ends.
#[derive(Clone, Copy, Debug)]
pub struct Kill {
    /// Points of this kind alone are counted; `None`: all.
    pub of: Option<Point>,
    /// The how-manieth, from 1.
    pub nth: u64,
}

/// What outlives a kill, or is compared with what does.
#[derive(Default)]
pub struct State {
    /// The world has stopped.
    dead: bool,
    kill: Option<Kill>,
    passed: BTreeMap<Point, u64>,
    /// The newest points, for messages.
    pub trail: Vec<Point>,
    /// Where the lives so far ended.
    pub ends: Vec<Point>,
    /// Bytes of the log that are on disk for certain.
    pub synced: u64,
    /// Directory entries that were synced since the log was made.
    named: u32,
    /// Calls with side effects, by id: how often each began and ended.
    pub runs: BTreeMap<String, (u32, u32)>,
    /// The messages of every request of this life.
    pub requests: Vec<Vec<u8>>,
    /// Every durable event that a client saw, over all lives.
    pub seen: Vec<Event>,
    /// The highest record whose presence a client learned.
    pub acknowledged_seq: u64,
    /// The log takes only part of a write, now and then.
    pub short_writes: bool,
    writes: u64,
    /// What every earlier life left for certain: it must never change.
    kept: Vec<u8>,
}

/// The world of one session.
pub struct World {
    log: PathBuf,
    state: Mutex<State>,
    stopped: watch::Sender<bool>,
}

impl World {
    /// The world of a session whose log will be here.
    pub fn new(log: PathBuf, short_writes: bool) -> Arc<Self> {
        let state = State {
            short_writes,
            ..State::default()
        };
        Arc::new(Self {
            log,
            state: Mutex::new(state),
            stopped: watch::Sender::new(false),
        })
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A life begins; it ends at `kill`.
    pub fn begin(&self, kill: Option<Kill>) {
        let mut state = self.state();
        (state.dead, state.kill) = (false, kill);
        state.passed.clear();
        state.trail.clear();
        state.requests.clear();
        // Later bytes may be lost again, until the next sync.
        state.synced = state.kept.len() as u64;
        self.stopped.send_replace(false);
    }

    /// Something happens, and with it the world may stop. `None`: nobody hears of it any more.
    pub fn pass<T>(&self, point: Point, act: impl FnOnce(&mut State) -> T) -> Option<T> {
        let mut state = self.state();
        if state.dead {
            return None;
        }
        let done = act(&mut state);
        *state.passed.entry(point).or_default() += 1;
        state.trail.push(point);
        let due = state.kill.is_some_and(|kill| {
            let passed = match kill.of {
                Some(of) => state.passed.get(&of).copied().unwrap_or(0),
                None => state.passed.values().sum(),
            };
            passed >= kill.nth
        });
        if due {
            state.dead = true;
            state.ends.push(point);
            self.stopped.send_replace(true);
            return None;
        }
        Some(done)
    }

    /// As `pass`; who is not heard any more waits for ever.
    pub async fn pass_or_wait<T>(&self, point: Point, act: impl FnOnce(&mut State) -> T) -> T {
        match self.pass(point, act) {
            Some(done) => done,
            None => std::future::pending().await,
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.state().dead
    }

    /// Resolves when the world has stopped.
    pub async fn stops(&self) {
        let mut stopped = self.stopped.subscribe();
        // The sender lives in `self`.
        let _ = stopped.wait_for(|stopped| *stopped).await;
    }

    /// After a life: data that others relied on must be on disk for certain; a part of the rest is lost.
    pub fn crash(&self, chance: &mut Chance) {
        let mut state = self.state();
        let written = fs::read(&self.log).unwrap_or_default();
        let synced = usize::try_from(state.synced).expect("a length");
        let certain = written.get(..synced).expect("synced bytes are there");
        check_kept(&state, certain);
        state.kept = certain.to_vec();
        if !self.log.exists() {
            return;
        }
        if state.named < 2 && chance.once_in(2) {
            // Nobody synced the directories: the name may be gone, and with it everything.
            assert_eq!(
                state.acknowledged_seq, 0,
                "the log has no name, and was relied on"
            );
            fs::remove_dir_all(self.log.parent().expect("a directory")).expect("lose the session");
            (state.kept, state.named) = (Vec::new(), 0);
            return;
        }
        let cut = synced + chance.index(written.len() - synced + 1);
        let mut left = written[..cut].to_vec();
        match chance.below(6) {
            // Blocks that were allotted and never filled.
            0 => left.resize(written.len().max(cut), 0),
            // Only the end reached the disk.
            1 if cut < written.len() => left[synced..].fill(0),
            _ => {}
        }
        fs::write(&self.log, left).expect("lose unsynced data");
    }
}

/// Everything that the engine has shown is on disk for certain.
fn check_kept(state: &State, certain: &[u8]) {
    assert!(
        certain.starts_with(&state.kept),
        "what an earlier life had synced has changed"
    );
    assert!(
        certain.last().is_none_or(|byte| *byte == b'\n'),
        "a batch ends with a line"
    );
    let records = certain.iter().filter(|byte| **byte == b'\n').count() as u64;
    let shown = state
        .seen
        .last()
        .and_then(|event| event.seq)
        .unwrap_or(Seq(0));
    assert!(
        shown.0 <= records,
        "record {shown} was published, and {records} are on disk"
    );
    assert!(
        state.acknowledged_seq <= records,
        "record {} was acknowledged, and {records} are on disk",
        state.acknowledged_seq
    );
    let text = String::from_utf8_lossy(certain);
    for call in state.runs.keys() {
        let started = text.lines().any(|line| {
            line.contains(r#""kind":"tool.started""#)
                && line.contains(&format!(r#""call":"{call}""#))
        });
        assert!(
            started,
            "call {call} began before its start was on disk (I4)"
        );
    }
    let messages = fragments(&text);
    for request in &state.requests {
        assert!(
            request.starts_with(&messages) || messages.starts_with(request),
            "a request and the log disagree about the conversation (I1):\n{}\n{}",
            String::from_utf8_lossy(request),
            String::from_utf8_lossy(&messages),
        );
    }
}

/// The messages of a log, as a request contains them.
pub fn fragments(log: &str) -> Vec<u8> {
    let fragment = |line: &str| {
        let (_, rest) = line.rsplit_once(r#","fragment":["#)?;
        let (fragment, _) = rest.rsplit_once(r#"],"crc":"#)?;
        Some(fragment.to_owned())
    };
    let all: Vec<_> = log.lines().filter_map(fragment).collect();
    all.join(",").into_bytes()
}

fn killed() -> io::Error {
    io::Error::other("killed")
}

impl Syncer for World {
    fn write(&self, mut file: &File, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let written = self.pass(Point::Append, |state| {
            state.writes += 1;
            let first = parts.iter().find(|part| !part.is_empty());
            match first {
                // Some of the first part: the rest has to follow.
                Some(first) if state.short_writes && state.writes.is_multiple_of(3) => {
                    file.write(&first[..first.len().div_ceil(2)])
                }
                _ => file.write_vectored(parts),
            }
        });
        written.unwrap_or_else(|| Err(killed()))
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.pass(Point::SyncStarts, |_| ()).ok_or_else(killed)?;
        let length = file.metadata()?.len();
        self.pass(Point::SyncEnds, |state| state.synced = length)
            .ok_or_else(killed)
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        self.pass(Point::Named, |state| state.named += 1)
            .ok_or_else(killed)
    }
}
