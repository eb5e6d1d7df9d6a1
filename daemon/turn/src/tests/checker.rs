//! What must hold for every log, whatever happened: the strictest reader of records.
//!
//! Knows nothing of the machine. Panics with the invariant's number where one is broken.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use proto::item::{AssistantMessage, CallStatus, ToolCall, ToolMessage, UserMessage, Voice};
use proto::outcome::{OutcomeKind, Reason, TurnEnded};
use proto::params::interaction::{
    Approval, ApprovalDecision, Interaction, InteractionAnswer, InteractionRequest, PlanDecision,
};
use proto::record::{
    CallEdit, CallsRepaired, InteractionResolved, PolicyDecided, SessionSet, ToolBlocked,
    ToolStarted, Unattended, Verdict,
};
use proto::reset::Wire;
use proto::state::{Mode, State};
use proto::{Body, CallId, InteractionId, Pid, PromptId, Record, Seq, Stamp};

use crate::words;

mod shown;

pub use shown::{Place, Shown};

/// A call, for ever: ids are the session's own, turns only make messages readable.
pub type Key = (u64, CallId);

/// What may follow what, by the contract: not the machine's own table.
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

#[derive(Clone, Debug, Default)]
pub struct Checker {
    pub seq: u64,
    suspended: bool,
    /// The newest turn was ended by a budget, and nobody has said more since.
    over_budget: bool,
    /// When the newest record was made.
    at: Stamp,
    state: Standing,
    turns: u64,
    pub open: Option<Open>,
    /// What waits for the user, and what did.
    pub interactions: BTreeMap<InteractionId, Interaction>,
    settled: HashSet<InteractionId>,
    /// What the session may do.
    pub mode: Mode,
    pub read_only: bool,
    /// The call whose files were kept right now: it starts next.
    kept: Option<CallId>,
    /// What requests show.
    pub shown: Shown,
    /// Prompts that wait, in their order, and those that ever came.
    pub queued: Vec<Queued>,
    /// Nothing may start.
    pub paused: bool,
    /// Commands in the background.
    pub children: BTreeSet<Pid>,
    pub accepted: HashSet<PromptId>,
    spoken: HashSet<PromptId>,
    unqueued: HashSet<PromptId>,
    call_ids: HashSet<CallId>,
    /// Calls that something or somebody said no to.
    pub denied: HashSet<Key>,
    last: Option<Last>,
    pub exited: bool,
    who: Asked,
}

/// Who is asked: `provider/model` and effort; and who again, behind the turn in which another one stands in.
#[derive(Clone, Debug, Default)]
struct Asked {
    now: (String, String),
    first: Option<(String, String)>,
    /// What the first one failed with.
    cause: String,
}

/// A prompt that waits, as it was said last.
#[derive(Clone, Debug)]
pub struct Queued {
    pub id: PromptId,
    text: String,
    steer: bool,
}

#[derive(Clone, Copy, Debug)]
struct Standing(State);

impl Default for Standing {
    fn default() -> Self {
        Self(State::Idle)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    User,
    Assistant,
    Tool,
}

/// A turn that has started.
#[derive(Clone, Debug, Default)]
pub struct Open {
    pub number: u64,
    prompt: Option<PromptId>,
    /// By the stamps of the records, less its pauses.
    ran_ms: u64,
    items: u64,
    /// Calls of the newest answer that have no result yet, in their order.
    pub unanswered: Vec<CallId>,
    cut: HashSet<CallId>,
    /// Newest start of each call of the newest answer: where it stands, and whether it only reads.
    pub started: HashMap<CallId, (Seq, bool)>,
    finished: HashSet<CallId>,
    unattended: Vec<CallId>,
    /// How the results stand, in order: a good one, or one that nobody was there to allow.
    ledger: Vec<bool>,
    /// Calls that policy would have a person asked about, and what people said yes to.
    asked: HashSet<CallId>,
    approved: HashMap<CallId, String>,
    /// What users made of calls.
    edited: HashMap<CallId, CallEdit>,
    /// Calls whose questions a person answered.
    answered: HashSet<CallId>,
    /// Calls that the sandbox stopped, and what they came to; those that ran again outside; those that never do.
    blocked: HashMap<CallId, ToolBlocked>,
    outside: HashSet<CallId>,
    kept_inside: HashSet<CallId>,
    pub summing_up: bool,
    /// It is so because the model went in circles.
    pub stuck: bool,
    /// A person approved a plan in it, and nobody took that back.
    pub window: bool,
    /// A plan was proposed to nobody.
    unapproved: bool,
}

impl Checker {
    /// A log that was cut off by crashes behind these records.
    pub fn of(records: &[Record], cuts: &[u64]) -> Self {
        let mut checker = Self::default();
        for record in records {
            checker.take(record);
            if cuts.contains(&checker.seq) {
                checker.kept = None;
                checker.shown.cut_off();
            }
        }
        checker
    }

    pub fn take(&mut self, record: &Record) {
        assert_eq!(record.seq.0, self.seq + 1, "I5: seqs are contiguous");
        self.seq += 1;
        if let Some(open) = self.open.as_mut().filter(|_| !self.paused) {
            open.ran_ms += u64::try_from(record.at.0 - self.at.0).expect("time goes on");
        }
        self.at = record.at;
        let going_on = matches!(
            record.body,
            Body::SessionState(_) | Body::SessionSet(_) | Body::TurnStarted(_) | Body::TurnEnded(_)
        );
        self.suspended &= !going_on;
        let open = self.open.as_ref().map(|open| open.number);
        match &record.body {
            Body::TurnStarted(_) => assert_eq!(record.turn, Some(self.turns + 1), "turns count up"),
            _ => assert_eq!(
                record.turn, open,
                "a record names the turn it stands in: {:?}",
                record.body
            ),
        }
        self.shown.take(record);
        if let Some(call) = self.kept.take() {
            assert!(
                matches!(&record.body, Body::ToolStarted(started) if started.call == call),
                "files are kept directly before their call starts"
            );
        }
        match &record.body {
            Body::TurnStarted(started) => {
                self.may_start("a turn");
                assert!(
                    !self.over_budget,
                    "what waits behind a turn that a budget has ended waits on"
                );
                assert!(open.is_none(), "turns alternate: {} is open", self.turns);
                assert_eq!(
                    self.queued.first().map(|queued| queued.id),
                    Some(started.prompt_id),
                    "a turn starts with the prompt that stands first"
                );
                assert!(
                    !self.exited,
                    "an exited session is reopened before a turn starts"
                );
                self.turns += 1;
                self.open = Some(Open {
                    number: self.turns,
                    prompt: Some(started.prompt_id),
                    ..Open::default()
                });
            }
            Body::TurnEnded(ended) => {
                self.over_budget = ended.outcome == OutcomeKind::BudgetExceeded;
                self.ended(ended);
            }
            Body::User(message) => self.user(message),
            Body::Assistant(message) => self.assistant(message),
            Body::Tool(message) => self.tool(message),
            Body::PolicyDecided(decided) => self.decided(decided),
            Body::ToolStarted(started) => self.started(started, record.seq),
            Body::ToolBlocked(blocked) => self.blocked(blocked),
            Body::ToolFinished(finished) => {
                let open = self.open.as_mut().expect("a call ends within its turn");
                assert!(
                    open.unanswered.contains(&finished.call),
                    "a call is finished before it has its result"
                );
                assert!(
                    !self
                        .interactions
                        .values()
                        .any(|open| open.call == finished.call),
                    "a call does not end while it waits for the user"
                );
                open.finished.insert(finished.call.clone());
            }
            Body::InteractionOpened(interaction) => self.opens(interaction),
            Body::InteractionResolved(resolved) => self.resolved(resolved),
            Body::PromptQueued(prompt) => {
                self.over_budget = false;
                self.accepted.insert(prompt.prompt_id);
                assert!(
                    !self
                        .queued
                        .iter()
                        .any(|queued| queued.id == prompt.prompt_id),
                    "a prompt is queued once"
                );
                self.queued.push(Queued {
                    id: prompt.prompt_id,
                    text: prompt.text.clone(),
                    steer: prompt.steer,
                });
            }
            Body::PromptUnqueued(prompt) => {
                self.waiting(prompt.prompt_id);
                self.queued.retain(|queued| queued.id != prompt.prompt_id);
                self.unqueued.insert(prompt.prompt_id);
            }
            Body::PromptEdited(edited) => {
                let place = self.waiting(edited.prompt_id);
                self.queued[place].text.clone_from(&edited.text);
                self.queued[place].steer = edited.steer;
            }
            Body::PromptMoved(moved) => {
                let place = self.waiting(moved.prompt_id);
                let prompt = self.queued.remove(place);
                let place = usize::try_from(moved.position).expect("small");
                self.queued.insert(place.min(self.queued.len()), prompt);
            }
            Body::SessionState(state) => {
                if self.paused {
                    assert_eq!(state.state, State::Paused, "what is paused stays so");
                }
                self.moves_to(state.state);
            }
            Body::SessionSet(set) => {
                let options = &set.options;
                self.over_budget &= options.budget.is_none();
                self.chosen(set);
                self.read_only = options.read_only.unwrap_or(self.read_only);
                self.mode = options.mode.unwrap_or(self.mode);
                if options.mode == Some(Mode::Plan)
                    && let Some(open) = &mut self.open
                {
                    open.window = false;
                }
                if let Some(paused) = set.paused {
                    assert_ne!(
                        self.paused, paused,
                        "a pause that changes nothing is no record"
                    );
                    assert!(!self.exited, "an exited session is not paused");
                    self.paused = paused;
                }
            }
            Body::SessionSuspended(_) => {
                assert!(!self.suspended, "a session is suspended once");
                self.suspended = true;
            }
            Body::ChildSpawned(child) => {
                assert!(self.children.insert(child.pid), "a child comes once");
            }
            Body::ChildExited(child) => {
                assert!(self.children.remove(&child.pid), "a child goes once");
            }
            Body::SessionExited(_) => {
                assert!(open.is_none(), "a session exits between turns");
                self.moves_to(State::Exited);
                self.exited = true;
                self.paused = false;
            }
            Body::SessionReopened(_) => {
                self.moves_to(State::Idle);
                self.exited = false;
            }
            Body::CheckpointCreated(checkpoint) => {
                self.kept.clone_from(&checkpoint.call);
                match &checkpoint.call {
                    Some(_) => self.may_start("a call"),
                    None => assert!(open.is_none(), "a rewind begins at rest"),
                }
            }
            Body::SessionRewound(_) => {
                assert!(open.is_none(), "a session goes back at rest");
            }
            Body::SessionCreated(created) => {
                let options = created.options.clone();
                self.who.now = (
                    options.model.unwrap_or_default(),
                    options.effort.unwrap_or_default(),
                );
                self.mode = options.mode.unwrap_or_default();
                self.read_only = options.read_only.unwrap_or_default();
            }
            Body::CallsRepaired(repaired) => self.repaired(repaired),
            Body::HookFinished(_)
            | Body::AgentFinished(_)
            | Body::Usage(_)
            | Body::Notice(_)
            | Body::TodoUpdated(_)
            | Body::CacheReset(_)
            | Body::MessagePinned(_)
            | Body::ReasoningExtracted(_)
            | Body::Unknown { .. } => {}
        }
    }

    fn repaired(&mut self, repaired: &CallsRepaired) {
        let Some(call) = &repaired.held_back else {
            return;
        };
        let open = self.open.as_mut().expect("calls stand in a turn");
        let new = open.unanswered.contains(call) && !open.started.contains_key(call);
        assert!(new, "what has begun is not held back");
        // It never runs, as one that was cut.
        open.cut.insert(call.clone());
    }

    fn opens(&mut self, interaction: &Interaction) {
        self.may_start("an interaction");
        let open = self.open.as_ref().expect("the user is asked within a turn");
        let (id, call) = (&interaction.interaction_id, &interaction.call);
        assert!(
            open.unanswered.contains(call),
            "only calls without a result wait for the user"
        );
        assert!(
            !self.interactions.values().any(|open| open.call == *call),
            "one interaction a call at a time"
        );
        assert!(!interaction.shown_hash.is_empty(), "I24: it has a hash");
        match &interaction.request {
            InteractionRequest::Approval(approval) => self.may_ask_approval(call, approval),
            InteractionRequest::Questions { .. } => self.may_stand_for_a_run(call),
            InteractionRequest::Plan { .. } => {
                assert_eq!(self.mode, Mode::Plan, "plans are made in plan mode");
                self.may_stand_for_a_run(call);
            }
        }
        assert!(!self.settled.contains(id), "I6: an id is used once");
        let before = self.interactions.insert(id.clone(), interaction.clone());
        assert!(before.is_none(), "I6: an id is used once");
    }

    fn may_ask_approval(&self, call: &CallId, approval: &Approval) {
        let open = self.open.as_ref().expect("it stands in a turn");
        assert_eq!(
            approval.escape.is_some(),
            open.blocked.contains_key(call),
            "what the sandbox stopped is asked about as that"
        );
        if approval.escape.is_some() {
            assert!(
                !open.outside.contains(call) && !open.kept_inside.contains(call),
                "a way out is offered once"
            );
            assert!(
                self.mode == Mode::Normal && !self.read_only,
                "no way out of plan mode, nor of a session that only reads"
            );
        }
    }

    /// Questions and plans take the place of a run.
    fn may_stand_for_a_run(&self, call: &CallId) {
        let open = self.open.as_ref().expect("it stands in a turn");
        assert!(!open.cut.contains(call), "a call that was cut asks nothing");
        assert!(
            !self.denied.contains(&(open.number, call.clone())),
            "I7: a denied call asks nothing"
        );
    }

    fn resolved(&mut self, resolved: &InteractionResolved) {
        let asked = self.interactions.remove(&resolved.interaction_id);
        let asked = asked.expect("I6: only what is open is resolved, and once");
        assert_eq!(asked.call, resolved.call, "an answer is about its call");
        self.settled.insert(resolved.interaction_id.clone());
        let open = self.open.as_mut().expect("it stands in a turn");
        if let Some(edit) = &resolved.edit {
            open.approved.remove(&asked.call);
            open.edited.insert(asked.call, edit.clone());
            return;
        }
        match (asked.request, &resolved.answer) {
            (
                InteractionRequest::Approval(_),
                Some(InteractionAnswer::Approval {
                    decision:
                        ApprovalDecision::AllowOnce
                        | ApprovalDecision::AllowSession
                        | ApprovalDecision::AllowAlways,
                    ..
                }),
            ) => {
                open.approved.insert(asked.call, asked.shown_hash);
            }
            (InteractionRequest::Approval(approval), _) if approval.escape.is_some() => {
                open.kept_inside.insert(asked.call);
            }
            (InteractionRequest::Approval(_), _) => self.deny(&asked.call, resolved.unattended),
            (
                InteractionRequest::Questions { .. },
                Some(InteractionAnswer::Questions { replies }),
            ) => {
                assert!(!replies.is_empty(), "an answer says something");
                open.answered.insert(asked.call);
            }
            (
                InteractionRequest::Plan { .. },
                Some(InteractionAnswer::Plan {
                    decision: PlanDecision::Approve,
                    ..
                }),
            ) => {
                open.answered.insert(asked.call);
                open.window = true;
                self.mode = Mode::Normal;
            }
            (InteractionRequest::Plan { .. }, None) if resolved.unattended => {
                open.unattended.push(asked.call);
                open.unapproved = true;
            }
            (InteractionRequest::Questions { .. } | InteractionRequest::Plan { .. }, _) => {}
        }
    }

    /// Where a prompt stands that has to wait.
    fn waiting(&self, prompt: PromptId) -> usize {
        let place = self.queued.iter().position(|queued| queued.id == prompt);
        place.expect("only prompts that wait are changed")
    }

    fn may_start(&self, what: &str) {
        assert!(!self.paused, "{what} starts in a pause");
    }

    fn moves_to(&mut self, next: State) {
        assert!(
            MOVES.contains(&(self.state.0, next)),
            "the state table has no {:?} → {next:?}",
            self.state.0
        );
        self.state = Standing(next);
    }

    fn item(&mut self, item: &proto::ItemId) -> &mut Open {
        let open = self.open.as_mut().expect("messages stand within turns");
        open.items += 1;
        assert_eq!(
            item.0,
            format!("m{}.{}", open.number, open.items),
            "messages count up in their turn"
        );
        open
    }

    fn user(&mut self, message: &UserMessage) {
        if let Some(prompt) = &message.prompt_id {
            self.said(*prompt, message);
        }
        assert_eq!(
            message.prompt_id.is_none(),
            message.voice == Voice::Daemon,
            "people speak through prompts"
        );
        let open = self.item(&message.item);
        assert!(
            open.unanswered.is_empty(),
            "I2: every call has its result before the next message"
        );
        if message.voice == Voice::Daemon
            && [words::SUM_UP, words::STUCK].contains(&message.text.as_str())
        {
            open.stuck = message.text == words::STUCK;
            open.summing_up = true;
        }
        self.last = Some(Last::User);
    }

    /// A prompt is said in the words that it had last, and in its turn: the one that the turn began with, or the first
    /// that steers.
    fn said(&mut self, prompt: PromptId, message: &UserMessage) {
        let place = self.queued.iter().position(|queued| queued.id == prompt);
        let place = place.expect("a prompt is said once, and none that was taken back");
        assert_eq!(
            self.queued[place].text, message.text,
            "it is said as edited"
        );
        if message.voice == Voice::Steer {
            assert_eq!(
                self.queued.iter().position(|queued| queued.steer),
                Some(place),
                "steering is said in the order of the queue"
            );
        } else {
            let began = self.open.as_ref().and_then(|open| open.prompt);
            assert_eq!(began, Some(prompt), "a turn says the prompt it began with");
        }
        self.queued.remove(place);
        self.spoken.insert(prompt);
    }

    fn assistant(&mut self, message: &AssistantMessage) {
        assert_ne!(
            self.last,
            Some(Last::Assistant),
            "an answer follows words or results"
        );
        for call in &message.calls {
            assert!(
                self.call_ids.insert(call.id.clone()),
                "call ids are unique within a session: {}",
                call.id
            );
        }
        let open = self.item(&message.item);
        assert!(
            open.unanswered.is_empty(),
            "I2: every call has its result before the next answer"
        );
        open.unanswered = message.calls.iter().map(|call| call.id.clone()).collect();
        open.cut = message
            .calls
            .iter()
            .filter(|call| call.cut)
            .map(|call| call.id.clone())
            .collect();
        open.started.clear();
        open.finished.clear();
        open.answered.clear();
        open.blocked.clear();
        open.outside.clear();
        open.kept_inside.clear();
        open.edited.clear();
        self.last = Some(Last::Assistant);
    }

    fn tool(&mut self, message: &ToolMessage) {
        let number = self.open.as_ref().map_or(0, |open| open.number);
        let denied = self.denied.contains(&(number, message.call.clone()));
        let open = self.item(&message.item);
        assert_eq!(
            open.unanswered.first(),
            Some(&message.call),
            "I2: one result a call, in call order"
        );
        assert!(
            open.finished.contains(&message.call),
            "people hear of a result as well"
        );
        open.unanswered.remove(0);
        let told = "The user (ann) changed the command of this call";
        let text = match open.edited.get(&message.call) {
            Some(edited) => {
                let said = message.text.starts_with(told) && message.text.contains(&edited.command);
                assert!(said, "the model is told what the user changed");
                message.text.splitn(4, '\n').nth(3).unwrap_or_default()
            }
            None => &message.text,
        };
        if let Some(blocked) = open.blocked.get(&message.call) {
            if open.outside.contains(&message.call) {
                assert!(
                    message.text.contains("outside the sandbox"),
                    "the model is told of both runs"
                );
            } else {
                assert_eq!(message.status, blocked.status, "it has come to that");
                let begins = text.starts_with(blocked.text.trim_end());
                assert!(begins, "what it came to is its result");
            }
        }
        match message.status {
            CallStatus::Ok => {
                assert!(!denied, "I7: a denied call has no good result");
                let did = open.started.contains_key(&message.call)
                    || open.answered.contains(&message.call);
                assert!(
                    did || message.text == words::NOBODY_ANSWERS,
                    "only what ran or was answered can have gone well"
                );
                if did {
                    open.ledger.push(true);
                }
            }
            CallStatus::Denied if open.unattended.contains(&message.call) => {
                open.ledger.push(false)
            }
            CallStatus::Denied
            | CallStatus::Failed
            | CallStatus::Interrupted
            | CallStatus::Unknown
            | CallStatus::Refused => {}
        }
        self.last = Some(Last::Tool);
    }

    fn decided(&mut self, decided: &PolicyDecided) {
        self.may_start("a decision");
        let open = self.open.as_mut().expect("calls are judged within a turn");
        assert!(
            open.unanswered.contains(&decided.call),
            "only calls without a result are judged"
        );
        let asked = decided.verdict == Verdict::Ask && decided.unattended.is_none();
        if asked {
            open.asked.insert(decided.call.clone())
        } else {
            open.asked.remove(&decided.call)
        };
        let left = decided.unattended == Some(Unattended::Denied);
        if open.blocked.contains_key(&decided.call) {
            assert!(
                !open.kept_inside.contains(&decided.call),
                "what stays inside is not judged again"
            );
            if left || decided.verdict == Verdict::Deny {
                open.kept_inside.insert(decided.call.clone());
            }
            return;
        }
        if left || decided.verdict == Verdict::Deny {
            self.deny(&decided.call, left);
        }
    }

    fn deny(&mut self, call: &CallId, unattended: bool) {
        let open = self.open.as_mut().expect("calls are denied within a turn");
        if unattended {
            open.unattended.push(call.clone());
        }
        assert!(
            self.denied.insert((open.number, call.clone())),
            "a denied call is not judged again: {call}"
        );
    }

    fn started(&mut self, started: &ToolStarted, seq: Seq) {
        self.may_start("a call");
        let open = self.open.as_mut().expect("calls run within a turn");
        assert!(
            open.unanswered.contains(&started.call),
            "a call starts before it has its result"
        );
        assert!(
            !open.cut.contains(&started.call),
            "a call that was cut never starts"
        );
        assert!(
            !self.denied.contains(&(open.number, started.call.clone())),
            "I7: a denied call never starts"
        );
        assert!(
            started.read_only || (self.mode == Mode::Normal && !self.read_only),
            "I7: what changes things starts neither in plan mode nor in a session that only reads"
        );
        if let Some(blocked) = open.blocked.get(&started.call) {
            assert!(
                started.outside && !started.read_only,
                "outside it may do anything: {}",
                blocked.call
            );
            assert!(
                open.approved
                    .get(&started.call)
                    .is_some_and(|shown| shown.starts_with("outside")),
                "only a person's yes to that lets a call out of the sandbox"
            );
            assert!(
                !open.kept_inside.contains(&started.call),
                "what was kept inside stays there"
            );
            assert!(
                open.outside.insert(started.call.clone()),
                "I4: a call runs outside once"
            );
        } else if let Some((_, read_only)) = open.started.get(&started.call) {
            assert!(read_only, "I4: a call that changes things starts once");
            assert!(!started.outside, "only what was stopped runs outside");
        }
        open.started
            .insert(started.call.clone(), (seq, started.read_only));
    }

    fn blocked(&mut self, blocked: &ToolBlocked) {
        let open = self.open.as_mut().expect("a call is stopped in its turn");
        let call = &blocked.call;
        assert!(
            open.unanswered.contains(call),
            "a call is stopped before it has its result"
        );
        assert!(
            open.started.contains_key(call),
            "only what ran can have been stopped"
        );
        assert!(
            self.mode == Mode::Normal && !self.read_only,
            "no way out of plan mode, nor of a session that only reads"
        );
        let before = open.blocked.insert(call.clone(), blocked.clone());
        assert!(before.is_none(), "outside nothing stops a call");
    }

    /// Whether the newest start of a call was outside the sandbox.
    pub fn is_outside(&self, call: &CallId) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|open| open.outside.contains(call))
    }

    /// Somebody chooses who is asked; or a model is down, and another one stands in.
    fn chosen(&mut self, set: &SessionSet) {
        let options = &set.options;
        if let Some(failure) = &set.stand_in {
            assert!(self.open.is_some(), "another model stands in within a turn");
            assert!(self.who.first.is_none(), "once a turn");
            assert_ne!(
                options.model.as_ref(),
                Some(&self.who.now.0),
                "not for itself"
            );
            self.who.first = Some(self.who.now.clone());
            self.who.cause.clone_from(&failure.message);
        } else if options.model.is_some() {
            self.who.first = None;
        }
        if let Some(model) = &options.model {
            self.who.now.0.clone_from(model);
        }
        if let Some(effort) = &options.effort {
            let meant = match &mut self.who.first {
                Some(first) if options.model.is_none() => first,
                Some(_) | None => &mut self.who.now,
            };
            meant.1.clone_from(effort);
        }
    }

    /// A request is made that is no other try.
    pub fn right_one(&self, wire: &Wire) {
        let model = format!("{}/{}", wire.provider, wire.model);
        let effort = wire.effort.clone().unwrap_or_default();
        assert_eq!(self.who.now, (model, effort), "who was chosen is asked");
    }

    fn ended(&mut self, ended: &TurnEnded) {
        let open = self.open.take().expect("turns alternate: none is open");
        if let Some(first) = self.who.first.take() {
            self.who.now = first;
            let failed = ended
                .error
                .as_ref()
                .filter(|_| ended.outcome == OutcomeKind::Failed);
            let first_ones =
                |failure: &proto::Failure| failure.message.starts_with(&self.who.cause);
            assert!(
                failed.is_none_or(first_ones),
                "the first one's cause is told"
            );
            assert_ne!(
                ended.outcome,
                OutcomeKind::ContextFull,
                "the first one did not find it too long"
            );
        }
        assert!(
            open.unanswered.is_empty(),
            "I2: every call has its result when the turn ends"
        );
        assert!(
            self.interactions.is_empty(),
            "no question outlives its turn"
        );
        assert_eq!(ended.duration_ms, open.ran_ms, "a pause is no time");
        let reported: BTreeSet<_> = ended.denied.iter().map(|denied| &denied.call).collect();
        assert_eq!(reported.len(), ended.denied.len(), "a denial is told once");
        assert_eq!(
            reported,
            open.unattended.iter().collect(),
            "every unattended denial is told, and no other"
        );
        let left = !open.unattended.is_empty() && open.ledger.last() != Some(&true);
        let blocked = left || open.unapproved;
        match ended.outcome {
            OutcomeKind::Blocked => assert!(
                open.stuck && ended.reason.is_none()
                    || blocked && ended.reason == Some(Reason::Denied),
                "wrongly blocked"
            ),
            OutcomeKind::Completed => assert!(
                !blocked,
                "a run that was denied and did nothing after is blocked"
            ),
            OutcomeKind::Failed
            | OutcomeKind::Interrupted
            | OutcomeKind::Killed
            | OutcomeKind::BudgetExceeded
            | OutcomeKind::MaxSteps
            | OutcomeKind::ContextFull => {}
        }
    }

    /// The conversation may be sent to the strictest provider.
    pub fn may_be_sent(&self) {
        let open = self.open.as_ref().expect("requests are made within a turn");
        assert!(
            open.unanswered.is_empty(),
            "I2: every call has its result before the next request"
        );
        assert!(
            matches!(self.last, Some(Last::User | Last::Tool)),
            "a request ends with words or a result"
        );
        assert!(
            self.interactions.is_empty(),
            "no request while a question is open"
        );
        self.shown.is_valid();
    }

    /// A new request tells the model what the session may do. Another try of one is what that was.
    pub fn is_up_to_date(&self) {
        if self.open.as_ref().is_some_and(|open| !open.summing_up) {
            self.shown.lists(self.mode, self.read_only);
        }
    }

    /// A call that a person had to be asked about runs on a yes to what would be shown now.
    pub fn was_allowed(&self, call: &CallId, shown: Option<&String>) {
        let open = self.open.as_ref().expect("calls run within a turn");
        if open.asked.contains(call) {
            let edited = open.edited.contains_key(call) && !open.blocked.contains_key(call);
            let same = open.approved.get(call) == shown;
            assert!(edited || same, "I24: what was shown is what runs: {call}");
        }
    }

    /// What a user changed is what is judged and run, and nothing else.
    pub fn is_as_edited(&self, call: &ToolCall) {
        let edited = self
            .open
            .as_ref()
            .and_then(|open| open.edited.get(&call.id));
        if let Some(edited) = edited {
            assert_eq!(call.arguments, edited.edited, "the original never runs");
        }
    }

    /// A call's place and id.
    pub fn key(&self, call: &CallId) -> Key {
        (
            self.open.as_ref().map_or(0, |open| open.number),
            call.clone(),
        )
    }

    /// Calls that changed things, or may have: started, and without a result.
    pub fn half_done(&self) -> Vec<Key> {
        let Some(open) = &self.open else {
            return Vec::new();
        };
        let writers = open
            .started
            .iter()
            .filter(|(call, (_, read_only))| !read_only && open.unanswered.contains(call))
            // What was stopped has come to its end, unless it has begun anew.
            .filter(|(call, _)| !open.blocked.contains_key(*call) || open.outside.contains(*call));
        writers
            .map(|(call, _)| (open.number, call.clone()))
            .collect()
    }

    /// Every prompt that was accepted has been said, was taken back, or waits.
    pub fn no_prompt_is_lost(&self) {
        for prompt in &self.accepted {
            let places = [
                self.queued.iter().any(|queued| queued.id == *prompt),
                self.spoken.contains(prompt),
                self.unqueued.contains(prompt),
            ];
            assert_eq!(
                places.iter().filter(|there| **there).count(),
                1,
                "a prompt is in one place: {places:?}"
            );
        }
    }
}
