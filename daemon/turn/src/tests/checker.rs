//! Checks the invariants that every log must satisfy, record by record.
//!
//! Independent of the machine. Panics with the invariant's number if one is violated.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use proto::item::{AssistantMessage, CallStatus, ToolCall, ToolMessage, UserMessage, Voice};
use proto::outcome::{OutcomeKind, Reason, TurnEnded};
use proto::params::interaction::{
    Approval, ApprovalDecision, Interaction, InteractionAnswer, InteractionKind,
    InteractionRequest, PlanDecision,
};
use proto::record::{
    CallEdit, ContinueReason, InteractionResolved, PolicyDecided, SessionSet, ToolBlocked,
    ToolStarted, Unattended, Verdict,
};
use proto::reset::Wire;
use proto::state::{Mode, State};
use proto::{Body, CallId, InteractionId, Pid, PromptId, Record, Seq, Stamp};

use crate::words;

mod conversation;

pub use conversation::{MessageRef, ShownConversation};

/// Identifies a call. Call ids are unique in the session; the turn only makes messages readable.
pub type Key = (u64, CallId);

/// Allowed state transitions by the contract, independent of the machine's own table.
const MOVES: [(State, State); 18] = {
    use State::{Exited, Idle, Paused, Running, Waiting};
    [
        (Idle, Running),
        // A restart that an earlier daemon left.
        (Idle, Waiting),
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
    /// A budget ended the newest turn, and no prompt arrived since.
    over_budget: bool,
    /// The time of the newest record.
    at: Stamp,
    state: CurrentState,
    turns: u64,
    pub open: Option<Open>,
    /// Open interactions, and the ids of resolved ones.
    pub interactions: BTreeMap<InteractionId, Interaction>,
    settled: HashSet<InteractionId>,
    /// The session's permissions.
    pub mode: Mode,
    pub read_only: bool,
    /// The call of the checkpoint in the previous record: it starts next.
    kept: Option<CallId>,
    /// The messages of requests.
    pub shown: ShownConversation,
    /// The prompt of the goal's newest turn but its first.
    continued: Option<PromptId>,
    /// The prompts of restarts, with their own texts.
    restarted: Vec<(PromptId, String)>,
    /// Queued prompts, in their order, and all prompts ever accepted.
    pub queued: Vec<Queued>,
    /// The session is paused: nothing may start.
    pub paused: bool,
    /// The pause holds for the sub-agents too.
    tree_paused: bool,
    /// Background commands.
    pub children: BTreeSet<Pid>,
    /// Those of users.
    pub user_commands: BTreeSet<Pid>,
    pub accepted: HashSet<PromptId>,
    spoken: HashSet<PromptId>,
    unqueued: HashSet<PromptId>,
    call_ids: HashSet<CallId>,
    /// Calls that a rule, the daemon or a user denied.
    pub denied: HashSet<Key>,
    last: Option<LastMessage>,
    pub exited: bool,
    who: ChosenModel,
}

/// The model (`provider/model`) and effort in use; and the session's own ones while the fallback is in use.
#[derive(Clone, Debug, Default)]
struct ChosenModel {
    now: (String, String),
    first: Option<(String, String)>,
    /// The failure of the session's own model.
    cause: String,
}

/// A queued prompt, as last edited.
#[derive(Clone, Debug)]
pub struct Queued {
    pub id: PromptId,
    text: String,
    steer: bool,
    /// It continues work that a limit has stopped: the daemon wrote it.
    pub added: bool,
}

#[derive(Clone, Copy, Debug)]
struct CurrentState(State);

impl Default for CurrentState {
    fn default() -> Self {
        Self(State::Idle)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastMessage {
    User,
    Assistant,
    Tool,
}

/// The open turn.
#[derive(Clone, Debug, Default)]
pub struct Open {
    pub number: u64,
    prompt: Option<PromptId>,
    /// Running time by the timestamps of the records, without pauses.
    ran_ms: u64,
    items: u64,
    /// Calls of the newest answer that have no result yet, in their order.
    pub unanswered: Vec<CallId>,
    cut: HashSet<CallId>,
    /// The newest start of each call of the newest answer: its record, and whether the call is read-only.
    pub started: HashMap<CallId, (Seq, bool)>,
    finished: HashSet<CallId>,
    unattended: Vec<CallId>,
    /// The relevant results, in order: true for a success, false for an unattended denial.
    ledger: Vec<bool>,
    /// Calls that the policy wants the user to approve, and the shown text of approved ones.
    asked: HashSet<CallId>,
    approved: HashMap<CallId, String>,
    /// The users' changes of calls.
    edited: HashMap<CallId, CallEdit>,
    /// Calls whose questions a user answered.
    answered: HashSet<CallId>,
    /// Calls that the sandbox blocked, with their outcomes; those that ran again unsandboxed; those that never do.
    blocked: HashMap<CallId, ToolBlocked>,
    outside: HashSet<CallId>,
    kept_inside: HashSet<CallId>,
    /// The user wants no further question about a call of the newest answer.
    denied_rest: bool,
    pub summing_up: bool,
    /// The turn sums up because the model repeated its calls.
    pub stuck: bool,
    /// A user approved a plan in it, and plan mode was not switched on again since.
    pub window: bool,
    /// A plan was presented while no client was attached.
    unapproved: bool,
    /// The planner works on it.
    planning: bool,
}

impl Checker {
    /// Checks a log that crashes have cut off after the records `cuts`.
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
                "a record names its turn: {:?}",
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
                assert!(
                    self.user_commands.is_empty(),
                    "a prompt waits for users' commands"
                );
                self.may_start("a turn");
                assert!(
                    !self.over_budget,
                    "prompts queued after a turn that a budget ended keep waiting"
                );
                assert!(open.is_none(), "turns alternate: {} is open", self.turns);
                assert_eq!(
                    self.queued.first().map(|queued| queued.id),
                    Some(started.prompt_id),
                    "a turn starts with the first queued prompt"
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
                self.over_budget &= prompt.from.is_some();
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
                    added: prompt.added.is_some(),
                });
            }
            Body::GoalStarted(_) => self.over_budget = false,
            Body::GoalChanged(changed) => self.over_budget &= changed.resumed.is_none(),
            Body::GoalContinued(continued) => {
                assert!(self.queued.is_empty(), "prompts of people go before a goal");
                let again = continued.why != ContinueReason::Started;
                self.continued = again.then_some(continued.prompt_id);
                self.queued.push(Queued {
                    id: continued.prompt_id,
                    text: continued.text.clone(),
                    steer: false,
                    added: false,
                });
            }
            Body::SessionRestarted(restarted) => {
                if let Some(prompt) = &restarted.prompt {
                    self.restarted.push((prompt.prompt_id, prompt.text.clone()));
                    let queued = Queued {
                        id: prompt.prompt_id,
                        text: prompt.text.clone(),
                        steer: false,
                        added: false,
                    };
                    self.queued.insert(0, queued);
                }
            }
            Body::PromptUnqueued(prompt) => {
                self.queue_index(prompt.prompt_id);
                self.queued.retain(|queued| queued.id != prompt.prompt_id);
                self.unqueued.insert(prompt.prompt_id);
            }
            Body::PromptEdited(edited) => {
                let place = self.queue_index(edited.prompt_id);
                self.queued[place].text.clone_from(&edited.text);
                self.queued[place].steer = edited.steer;
            }
            Body::PromptMoved(moved) => {
                let place = self.queue_index(moved.prompt_id);
                let prompt = self.queued.remove(place);
                let place = usize::try_from(moved.position).expect("small");
                self.queued.insert(place.min(self.queued.len()), prompt);
            }
            Body::SessionState(state) => {
                if self.paused {
                    assert_eq!(
                        state.state,
                        State::Paused,
                        "a paused session keeps its state"
                    );
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
                    // A pause of the session alone may become one of its tree.
                    let further = paused && set.tree == Some(true) && !self.tree_paused;
                    assert!(
                        self.paused != paused || further,
                        "a pause that changes nothing is not logged"
                    );
                    self.tree_paused = paused && set.tree == Some(true);
                    assert!(!self.exited, "an exited session is not paused");
                    self.paused = paused;
                }
            }
            // The machine does not write it: it comes when a log is loaded.
            Body::SessionShortened(_) => {}
            Body::SessionSuspended(_) => {
                assert!(!self.suspended, "a session is suspended once");
                self.suspended = true;
            }
            Body::ChildSpawned(child) => {
                assert!(self.children.insert(child.pid), "a child comes once");
                if child.user.is_some() {
                    self.user_commands.insert(child.pid);
                }
            }
            Body::ChildExited(child) => {
                assert!(self.children.remove(&child.pid), "a child goes once");
                self.user_commands.remove(&child.pid);
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
                    None => assert!(open.is_none(), "a rewind starts between turns"),
                }
            }
            Body::SessionRewound(_) => {
                assert!(open.is_none(), "a session rewinds between turns");
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
            Body::PlannerStarted(_) => {
                let open = self.open.as_mut().expect("a turn is planned");
                assert!(open.items == 0, "a turn is planned before anything is said");
                assert!(
                    !std::mem::replace(&mut open.planning, true),
                    "it is planned once"
                );
            }
            Body::PlannerFinished(finished) => {
                let open = self.open.as_mut().expect("a turn is planned");
                assert_eq!(open.number, finished.turn, "a plan is for its turn");
                assert!(std::mem::take(&mut open.planning), "a planner ends once");
            }
            Body::HookFinished(_)
            | Body::SessionGaveUp(_)
            | Body::AgentFinished(_)
            | Body::Usage(_)
            | Body::Notice(_)
            | Body::TodoUpdated(_)
            | Body::GoalReported(_)
            | Body::GoalEnded(_)
            | Body::CacheReset(_)
            | Body::MessagePinned(_)
            | Body::ReasoningExtracted(_)
            | Body::CallReviewed(_)
            | Body::CallsRepaired(_)
            | Body::Unknown { .. } => {}
        }
    }

    fn opens(&mut self, interaction: &Interaction) {
        // A call that runs in a pause may still ask.
        if interaction.request.kind() != InteractionKind::Elicitation {
            self.may_start("an interaction");
        }
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
            InteractionRequest::Approval(approval) => {
                assert!(!open.denied_rest, "no question after a no to all of them");
                self.may_ask_approval(call, approval);
            }
            InteractionRequest::Questions { .. } => self.may_ask_instead_of_running(call),
            InteractionRequest::Plan { .. } => {
                assert_eq!(self.mode, Mode::Plan, "plans are made in plan mode");
                self.may_ask_instead_of_running(call);
            }
            InteractionRequest::Elicitation(_) => {
                let started = open.started.contains_key(call);
                assert!(started, "only a call that runs asks for its server");
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
            "a blocked call is shown as blocked"
        );
        if approval.escape.is_some() {
            assert!(
                !open.outside.contains(call) && !open.kept_inside.contains(call),
                "an unsandboxed run is offered once"
            );
            assert!(
                self.mode == Mode::Normal && !self.read_only,
                "no way out of plan mode, nor of a session that only reads"
            );
        }
    }

    /// Checks that a call may ask questions or present a plan, which it does instead of running.
    fn may_ask_instead_of_running(&self, call: &CallId) {
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
        if let Some(InteractionAnswer::Approval { decision, .. }) = &resolved.answer {
            open.denied_rest |= *decision == ApprovalDecision::DenyRest;
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
                    decision: decision @ (PlanDecision::Approve | PlanDecision::ApproveKeepAsking),
                    ..
                }),
            ) => {
                open.answered.insert(asked.call);
                open.window = *decision == PlanDecision::Approve;
                self.mode = Mode::Normal;
            }
            (InteractionRequest::Plan { .. }, None) if resolved.unattended => {
                open.unattended.push(asked.call);
                open.unapproved = true;
            }
            (
                InteractionRequest::Questions { .. }
                | InteractionRequest::Plan { .. }
                | InteractionRequest::Elicitation(_),
                _,
            ) => {}
        }
    }

    /// The index of a prompt, which must be queued.
    fn queue_index(&self, prompt: PromptId) -> usize {
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
        self.state = CurrentState(next);
    }

    fn item(&mut self, item: &proto::ItemId) -> &mut Open {
        let open = self.open.as_mut().expect("messages are within turns");
        open.items += 1;
        assert_eq!(
            item.0,
            format!("m{}.{}", open.number, open.items),
            "messages count up in their turn"
        );
        open
    }

    fn user(&mut self, message: &UserMessage) {
        let mut queued = self.queued.iter();
        let added = queued.any(|queued| Some(queued.id) == message.prompt_id && queued.added);
        if let Some(prompt) = &message.prompt_id {
            self.said(*prompt, message);
        }
        let restart = self
            .restarted
            .iter()
            .any(|(id, text)| Some(*id) == message.prompt_id && *text == message.text);
        assert_eq!(
            message.prompt_id.is_none() || self.continued == message.prompt_id || added || restart,
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
        self.last = Some(LastMessage::User);
    }

    /// Checks that a prompt's message has its newest text, and comes in order: the turn's own prompt, or the first steering.
    fn said(&mut self, prompt: PromptId, message: &UserMessage) {
        let place = self.queued.iter().position(|queued| queued.id == prompt);
        let place = place.expect("a prompt is said once, and none that was taken back");
        assert_eq!(
            self.queued[place].text, message.text,
            "it is said as edited"
        );
        let first_steering = self.queued.iter().position(|queued| queued.steer);
        if message.voice == Voice::Session && first_steering == Some(place) {
            // It joins a turn, or begins one.
        } else if message.voice == Voice::Steer {
            assert_eq!(
                first_steering,
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
            Some(LastMessage::Assistant),
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
        open.denied_rest = false;
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
        self.last = Some(LastMessage::Assistant);
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
            "a result is logged for users, too"
        );
        open.unanswered.remove(0);
        let report = "The user (ann) changed the command of this call";
        let text = match open.edited.get(&message.call) {
            Some(edited) => {
                let said =
                    message.text.starts_with(report) && message.text.contains(&edited.command);
                assert!(said, "the model is notified of the user's change");
                message.text.splitn(4, '\n').nth(3).unwrap_or_default()
            }
            None => &message.text,
        };
        if let Some(blocked) = open.blocked.get(&message.call) {
            if open.outside.contains(&message.call) {
                assert!(
                    message.text.contains("outside the sandbox"),
                    "the result reports both runs"
                );
            } else {
                assert_eq!(
                    message.status, blocked.status,
                    "the status is that of the sandboxed run"
                );
                // The check of a goal has words of its own before it.
                let said = text.contains(blocked.text.trim_end());
                assert!(said, "the outcome of the sandboxed run is the result");
            }
        }
        match message.status {
            CallStatus::Ok => {
                assert!(!denied, "I7: a denied call has no good result");
                let did = open.started.contains_key(&message.call)
                    || open.answered.contains(&message.call);
                assert!(
                    did || message.text.contains(words::NOBODY_ANSWERS),
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
        self.last = Some(LastMessage::Tool);
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
                "a call whose unsandboxed run was refused is not judged again"
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
                "only a user's approval of exactly this allows an unsandboxed run"
            );
            assert!(
                !open.kept_inside.contains(&started.call),
                "a call whose unsandboxed run was refused never runs unsandboxed"
            );
            assert!(
                open.outside.insert(started.call.clone()),
                "I4: a call runs outside once"
            );
        } else if let Some((_, read_only)) = open.started.get(&started.call) {
            assert!(read_only, "I4: a call that changes things starts once");
            assert!(!started.outside, "only blocked calls run unsandboxed");
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
            "only a call that ran can be blocked"
        );
        assert!(
            self.mode == Mode::Normal && !self.read_only,
            "no way out of plan mode, nor of a session that only reads"
        );
        let before = open.blocked.insert(call.clone(), blocked.clone());
        assert!(before.is_none(), "an unsandboxed run is not blocked");
    }

    /// Whether the newest start of a call was unsandboxed.
    pub fn is_outside(&self, call: &CallId) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|open| open.outside.contains(call))
    }

    /// Applies a choice of the model, or the start of a fallback.
    fn chosen(&mut self, set: &SessionSet) {
        let options = &set.options;
        if let Some(failure) = &set.stand_in {
            assert!(self.open.is_some(), "a fallback starts within a turn");
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

    /// Checks that a new request goes to the chosen model.
    pub fn assert_chosen_model(&self, wire: &Wire) {
        let model = format!("{}/{}", wire.provider, wire.model);
        let effort = wire.effort.clone().unwrap_or_default();
        assert_eq!(
            self.who.now,
            (model, effort),
            "the request goes to the chosen model"
        );
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
                "the error names the original failure"
            );
            assert_ne!(
                ended.outcome,
                OutcomeKind::ContextFull,
                "the session's own model did not find the request too long"
            );
        }
        assert!(!open.planning, "a planner does not outlive its turn");
        assert!(
            open.unanswered.is_empty(),
            "I2: every call has its result when the turn ends"
        );
        assert!(
            self.interactions.is_empty(),
            "no question outlives its turn"
        );
        assert_eq!(ended.duration_ms, open.ran_ms, "pauses do not count");
        let reported: BTreeSet<_> = ended.denied.iter().map(|denied| &denied.call).collect();
        assert_eq!(
            reported.len(),
            ended.denied.len(),
            "a denial is reported once"
        );
        assert_eq!(
            reported,
            open.unattended.iter().collect(),
            "every unattended denial is reported, and no other"
        );
        let left = !open.unattended.is_empty() && open.ledger.last() != Some(&true);
        let blocked = left || open.unapproved;
        match ended.outcome {
            OutcomeKind::Blocked => assert!(
                open.stuck && ended.reason == Some(Reason::Loop)
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

    /// Checks that the conversation is valid for the strictest provider.
    pub fn assert_sendable(&self) {
        let open = self.open.as_ref().expect("requests are made within a turn");
        assert!(
            open.unanswered.is_empty(),
            "I2: every call has its result before the next request"
        );
        assert!(
            matches!(self.last, Some(LastMessage::User | LastMessage::Tool)),
            "a request ends with words or a result"
        );
        assert!(
            self.interactions.is_empty(),
            "no request while a question is open"
        );
        self.shown.assert_valid();
    }

    /// Checks that a new request includes a notice of the current permissions. Not for retries, which are unchanged.
    pub fn assert_permissions_reported(&self) {
        if self.open.as_ref().is_some_and(|open| !open.summing_up) {
            self.shown
                .assert_permissions_reported(self.mode, self.read_only);
        }
    }

    /// Checks that a call which needs approval runs only if a user approved exactly what would be shown now.
    pub fn assert_allowed(&self, call: &CallId, shown: Option<&String>) {
        let open = self.open.as_ref().expect("calls run within a turn");
        if open.asked.contains(call) {
            let edited = open.edited.contains_key(call) && !open.blocked.contains_key(call);
            let same = open.approved.get(call) == shown;
            assert!(edited || same, "I24: only the shown call runs: {call}");
        }
    }

    /// Checks that a call which a user changed is judged and run only in the changed form.
    pub fn assert_edited(&self, call: &ToolCall) {
        let edited = self
            .open
            .as_ref()
            .and_then(|open| open.edited.get(&call.id));
        if let Some(edited) = edited {
            assert_eq!(call.arguments, edited.edited, "the original never runs");
        }
    }

    /// A call's turn and id.
    pub fn key(&self, call: &CallId) -> Key {
        (
            self.open.as_ref().map_or(0, |open| open.number),
            call.clone(),
        )
    }

    /// Writing calls that may have had effects: started, and without a result.
    pub fn half_done(&self) -> Vec<Key> {
        let Some(open) = &self.open else {
            return Vec::new();
        };
        let writers = open
            .started
            .iter()
            .filter(|(call, (_, read_only))| !read_only && open.unanswered.contains(call))
            // A blocked call has ended, unless it was started again.
            .filter(|(call, _)| !open.blocked.contains_key(*call) || open.outside.contains(*call));
        writers
            .map(|(call, _)| (open.number, call.clone()))
            .collect()
    }

    /// Checks that every accepted prompt was sent, was withdrawn, or is queued.
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
