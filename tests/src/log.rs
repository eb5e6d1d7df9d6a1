//! A session's log read by its document alone (`docs/log-format.md`), not by the code that wrote it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proto::item::{AssistantMessage, ToolMessage};
use proto::params::interaction::Interaction;
use proto::record::{InteractionResolved, SessionCreated, SessionState, ToolFinished, ToolStarted};
use proto::state::State;
use proto::{Body, CallId, InteractionId, Pid, Seq};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wait::until;

/// `,"crc":"` + 8 digits + `"}`.
const SUFFIX: usize = 18;

/// A log whose every line is valid.
#[derive(Debug)]
pub struct Log {
    pub path: PathBuf,
    pub lines: Vec<Line>,
}

/// One line.
#[derive(Debug)]
pub struct Line {
    pub seq: Seq,
    pub turn: Option<u64>,
    pub durable: Seq,
    pub kind: String,
    pub data: String,
    /// The wire bytes of a message, with the brackets around them.
    pub fragment: Option<String>,
}

impl Line {
    /// Its content.
    ///
    /// # Panics
    /// The data is not of its kind's form.
    #[must_use]
    pub fn body(&self) -> Body {
        let raw = RawValue::from_string(self.data.clone()).expect("data that is JSON");
        Body::decode(&self.kind, &raw).unwrap_or_else(|error| {
            panic!(
                "record {} ({}): {error}: {}",
                self.seq, self.kind, self.data
            )
        })
    }
}

/// Members in the order of the document; others are refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    seq: Seq,
    at: proto::Stamp,
    turn: Option<u64>,
    durable: Seq,
    kind: String,
    data: Box<RawValue>,
    #[serde(default)]
    own: Option<Box<RawValue>>,
    #[serde(default)]
    fragment: Option<Box<RawValue>>,
    crc: String,
}

impl Log {
    /// Reads a log and checks every line. The daemon may be writing it: a last line without an end is looked at again
    /// until it has one.
    ///
    /// # Panics
    /// A line is not valid, with its number; there is none; or the last one gets no end.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        Self::read_existing(path).unwrap_or_else(|| panic!("no log `{}`", path.display()))
    }

    /// The same; `None`: its directory is gone, as that of a session that was deleted or never came to be.
    ///
    /// # Panics
    /// As `read`.
    #[must_use]
    pub fn read_existing(path: &Path) -> Option<Self> {
        let what = format!("{} and the end of a line", path.display());
        let bytes = until(&what, || match fs::read(path) {
            Ok(bytes) => bytes.ends_with(b"\n").then_some(Some(bytes)),
            Err(_) => (!path.parent()?.exists()).then_some(None),
        })?;
        let text = String::from_utf8(bytes).expect("a log in UTF-8");
        let mut lines: Vec<Line> = Vec::new();
        for (index, text) in text.lines().enumerate() {
            let line = line(text)
                .unwrap_or_else(|why| panic!("{}:{}: {why}: {text}", path.display(), index + 1));
            assert_eq!(
                line.seq.0,
                index as u64 + 1,
                "{}: numbers are contiguous from 1",
                path.display()
            );
            assert!(
                line.durable < line.seq,
                "the watermark of record {} is above it",
                line.seq
            );
            let before = lines.last().map_or(Seq(0), |line| line.durable);
            assert!(
                line.durable >= before,
                "the watermark falls at record {}",
                line.seq
            );
            lines.push(line);
        }
        Some(Self {
            path: path.to_path_buf(),
            lines,
        })
    }

    /// The first record.
    ///
    /// # Panics
    /// It is something else than a creation.
    #[must_use]
    pub fn created(&self) -> SessionCreated {
        match self.lines[0].body() {
            Body::SessionCreated(created) => created,
            other => panic!(
                "a log begins with `session.created`, not `{}`",
                other.kind()
            ),
        }
    }

    /// Whose log it is.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.created().pid
    }

    /// The kinds, in order.
    #[must_use]
    pub fn kinds(&self) -> Vec<&str> {
        self.lines.iter().map(|line| line.kind.as_str()).collect()
    }

    /// How many records are of this kind.
    #[must_use]
    pub fn count(&self, kind: &str) -> usize {
        self.lines.iter().filter(|line| line.kind == kind).count()
    }

    /// What all records say, in order.
    #[must_use]
    pub fn bodies(&self) -> Vec<Body> {
        self.lines.iter().map(Line::body).collect()
    }

    /// The results of tool calls, in order.
    #[must_use]
    pub fn results(&self) -> Vec<ToolMessage> {
        let results = self.bodies().into_iter().filter_map(|body| match body {
            Body::Tool(message) => Some(message),
            _ => None,
        });
        results.collect()
    }

    /// The interactions that were opened, in order.
    #[must_use]
    pub fn opened(&self) -> Vec<Interaction> {
        let opened = self.bodies().into_iter().filter_map(|body| match body {
            Body::InteractionOpened(opened) => Some(opened),
            _ => None,
        });
        opened.collect()
    }

    /// How interactions were resolved, in order.
    #[must_use]
    pub fn resolved(&self) -> Vec<InteractionResolved> {
        let resolved = self.bodies().into_iter().filter_map(|body| match body {
            Body::InteractionResolved(resolved) => Some(resolved),
            _ => None,
        });
        resolved.collect()
    }

    /// Checks that the records are consistent: states move as the table allows and say why, turns open and
    /// close, every call has exactly one result in the order of the calls, nothing with side effects ran unjudged.
    ///
    /// # Panics
    /// At the first record that cannot be.
    pub fn check(&self) -> &Self {
        let mut story = Story::default();
        for line in &self.lines {
            story.next(line);
        }
        story.end();
        self
    }
}

fn line(text: &str) -> Result<Line, String> {
    let at = text.len().checked_sub(SUFFIX).ok_or("too short")?;
    let (head, suffix) = text.split_at_checked(at).ok_or("no crc at the end")?;
    let crc = suffix
        .strip_prefix(",\"crc\":\"")
        .and_then(|rest| rest.strip_suffix("\"}"))
        .ok_or("the crc is not last")?;
    let expected = format!("{:08x}", crc32c::crc32c(head.as_bytes()));
    if crc != expected {
        return Err(format!("the crc is {crc}, and should be {expected}"));
    }
    let envelope: Envelope = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let turn = envelope
        .turn
        .map_or_else(|| "null".to_owned(), |turn| turn.to_string());
    let mut again = format!(
        r#"{{"seq":{},"at":"{}","turn":{turn},"durable":{},"kind":"{}","data":{}"#,
        envelope.seq, envelope.at, envelope.durable, envelope.kind, envelope.data
    );
    for (name, raw) in [("own", &envelope.own), ("fragment", &envelope.fragment)] {
        if let Some(raw) = raw {
            again.push_str(&format!(",\"{name}\":{raw}"));
        }
    }
    if again != head {
        return Err(format!(
            "members out of order, or blanks between them; it should be {again}"
        ));
    }
    assert_eq!(envelope.crc, crc);
    Ok(Line {
        seq: envelope.seq,
        turn: envelope.turn,
        durable: envelope.durable,
        kind: envelope.kind,
        data: envelope.data.get().to_owned(),
        fragment: envelope.fragment.map(|raw| raw.get().to_owned()),
    })
}

/// What may follow what, by the contract (`docs/contract/20-sessions.md`), and not by the product's own table. Who waits
/// may come to wait for something else.
const MOVES: [(State, State); 17] = {
    use State::{Exited, Idle, Paused, Running, Waiting};
    [
        (Idle, Running),
        (Running, Idle),
        (Running, Waiting),
        (Waiting, Running),
        (Waiting, Waiting),
        (Waiting, Idle),
        (Idle, Paused),
        (Running, Paused),
        (Waiting, Paused),
        (Paused, Idle),
        (Paused, Running),
        (Paused, Waiting),
        (Idle, Exited),
        (Running, Exited),
        (Waiting, Exited),
        (Paused, Exited),
        (Exited, Idle),
    ]
};

/// The state at one position of the log.
#[derive(Default)]
struct Story {
    state: Option<State>,
    /// The number of the open turn.
    open: Option<u64>,
    turns: u64,
    /// Calls without a result, in the order in which the model made them.
    calls: Vec<CallId>,
    judged: BTreeSet<CallId>,
    running: BTreeSet<CallId>,
    /// Calls that the sandbox stopped, until they run again or have their result.
    blocked: BTreeSet<CallId>,
    /// Open interactions, and the call that waits for each.
    interactions: BTreeMap<InteractionId, CallId>,
    /// Numbers of commands in the background that run.
    children: BTreeSet<Pid>,
}

impl Story {
    fn next(&mut self, line: &Line) {
        let seq = line.seq;
        assert!(
            line.turn.is_none_or(|turn| turn <= self.turns + 1),
            "record {seq} is of a turn that never began"
        );
        match line.body() {
            Body::SessionCreated(_) => {
                assert_eq!(seq, Seq(1), "a session is made once");
                self.state = Some(State::Idle);
            }
            Body::SessionState(SessionState { state, cause, .. }) => {
                self.moves(line, state, &cause)
            }
            Body::SessionExited(_) => self.state = Some(State::Exited),
            Body::SessionReopened(_) => self.state = Some(State::Idle),
            Body::TurnStarted(_) => {
                assert_eq!(self.open, None, "record {seq}: a turn begins in another");
                self.turns += 1;
                assert_eq!(
                    line.turn,
                    Some(self.turns),
                    "record {seq}: turns are counted"
                );
                self.open = line.turn;
            }
            Body::TurnEnded(_) => {
                assert_eq!(
                    self.open, line.turn,
                    "record {seq}: another turn ends than began"
                );
                assert!(
                    self.open.is_some(),
                    "record {seq}: a turn ends that never began"
                );
                assert!(
                    self.calls.is_empty(),
                    "record {seq}: the turn ends with calls that have no result: {:?}",
                    self.calls
                );
                assert!(
                    self.interactions.is_empty(),
                    "record {seq}: the turn ends with open interactions: {:?}",
                    self.interactions
                );
                self.open = None;
                self.judged.clear();
            }
            Body::User(_) => assert!(
                self.calls.is_empty(),
                "record {seq}: words of a user between a call and its result"
            ),
            Body::Assistant(AssistantMessage { calls, .. }) => {
                assert!(
                    self.calls.is_empty(),
                    "record {seq}: an answer between a call and its result"
                );
                self.calls = calls.into_iter().map(|call| call.id).collect();
            }
            Body::Tool(ToolMessage { call, .. }) => {
                assert_eq!(
                    self.calls.first(),
                    Some(&call),
                    "record {seq}: a result out of order, or of no call"
                );
                self.calls.remove(0);
                self.running.remove(&call);
                self.blocked.remove(&call);
            }
            Body::PolicyDecided(decided) => {
                self.judged.insert(decided.call);
            }
            Body::ToolStarted(ToolStarted {
                call,
                read_only,
                outside,
                ..
            }) => {
                assert_eq!(
                    outside,
                    self.blocked.remove(&call),
                    "record {seq}: a call runs outside the sandbox once it was stopped there"
                );
                assert!(
                    self.judged.contains(&call),
                    "record {seq}: call {call} runs and was never judged"
                );
                // A reader that a crash has cut off is run again; what changes things never is.
                let fresh = self.running.insert(call);
                assert!(fresh || read_only, "record {seq}: a call runs twice");
            }
            Body::ToolBlocked(blocked) => {
                assert!(
                    self.running.remove(&blocked.call),
                    "record {seq}: call {} is stopped that does not run",
                    blocked.call
                );
                // Its files are put back inside: it does not run again.
                if blocked.quarantined.is_empty() {
                    self.blocked.insert(blocked.call);
                }
            }
            Body::ToolFinished(ToolFinished { call, .. }) => {
                // One that was refused or denied ends without having run.
                let known = self.running.remove(&call) || self.calls.contains(&call);
                assert!(
                    known,
                    "record {seq}: call {call} ends that neither runs nor waits"
                );
            }
            Body::InteractionOpened(opened) => {
                assert!(
                    self.calls.contains(&opened.call),
                    "record {seq}: an interaction of no open call"
                );
                let id = opened.interaction_id;
                let known = self.interactions.insert(id.clone(), opened.call);
                assert_eq!(known, None, "record {seq}: {id} is opened twice");
            }
            Body::InteractionResolved(resolved) => {
                let id = resolved.interaction_id;
                assert_eq!(
                    self.interactions.remove(&id),
                    Some(resolved.call),
                    "record {seq}: {id} is resolved, and was not open for this call"
                );
            }
            Body::SessionRewound(_) => assert_eq!(
                self.open, None,
                "record {seq}: a session goes back in the middle of a turn"
            ),
            Body::ChildSpawned(child) => {
                assert!(
                    self.children.insert(child.pid),
                    "record {seq}: a child has a number that another had"
                );
            }
            Body::ChildExited(child) => assert!(
                self.children.remove(&child.pid),
                "record {seq}: child {} ends, and did not run",
                child.pid
            ),
            Body::SessionRestarted(_) | Body::SessionGaveUp(_) => assert_eq!(
                self.open, None,
                "record {seq}: supervision decides in the middle of a turn"
            ),
            Body::SessionSet(_)
            | Body::SessionSuspended(_)
            | Body::SessionShortened(_)
            | Body::PromptEdited(_)
            | Body::PromptMoved(_)
            | Body::PromptQueued(_)
            | Body::PromptUnqueued(_)
            | Body::TodoUpdated(_)
            | Body::GoalStarted(_)
            | Body::GoalChanged(_)
            | Body::GoalReported(_)
            | Body::GoalContinued(_)
            | Body::GoalEnded(_)
            | Body::CheckpointCreated(_)
            | Body::CacheReset(_)
            | Body::MessagePinned(_)
            | Body::AgentFinished(_)
            | Body::PlannerStarted(_)
            | Body::CallReviewed(_)
            | Body::PlannerFinished(_)
            | Body::Usage(_)
            | Body::HookFinished(_)
            | Body::CallsRepaired(_)
            | Body::ReasoningExtracted(_)
            | Body::Notice(_) => {}
            Body::Unknown { kind, .. } => panic!("record {seq}: nobody writes `{kind}`"),
        }
    }

    fn moves(&mut self, line: &Line, state: State, cause: &str) {
        let from = self.state.expect("a state before");
        assert!(
            MOVES.contains(&(from, state)),
            "record {}: from {from:?} to {state:?} because of `{cause}`",
            line.seq
        );
        assert!(
            !cause.is_empty(),
            "record {}: a move of state says why",
            line.seq
        );
        self.state = Some(state);
    }

    fn end(&self) {
        if self.open.is_none() {
            assert!(
                self.calls.is_empty(),
                "calls without a result at the end: {:?}",
                self.calls
            );
            assert!(
                !matches!(self.state, Some(State::Running | State::Waiting)),
                "no turn is open, and the state is {:?}",
                self.state
            );
        }
    }
}
