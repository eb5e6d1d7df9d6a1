//! A random simulation of everything around the machine: a model, policy, tools, users, a clock, a disk, and crashes.
//!
//! Does what a session does with effects, in any order that a session could see. Checks after every step; see
//! `checker` for what must hold of the log, and `holds` for what must hold of the moment.

use std::collections::{HashMap, HashSet};

use contract::{PlanRequest, ToolChoice};
use proto::hook::{HookEvent, HookFinished, HookOutcome};
use proto::item::{CallStatus, ToolCall};
use proto::outcome::Reason;
use proto::params::history::What;
use proto::params::session::When;
use proto::record::{PromptQueued, SessionRewound, Verdict};
use proto::state::Kind;
use proto::{Body, CallId, InteractionId, ItemId, Record, Seq, Stamp};

use super::chance::Chance;
use super::checker::{Checker, Key, MessageRef};
use super::made::{created, fallback, judgement, means, outcome, prompt_id};
use crate::compacting::Summary;
use crate::input::Unattended;
use crate::{
    Answer, Effect, Facts, Fallback, Input, Limits, Machine, Now, RecoverPolicy, StopReason,
};

mod compacting;
mod goals;
mod going_back;
mod holds;
mod others;
mod planning;

/// After this many steps without trouble, a simulation must be idle.
const PEACE: usize = 5_000;

pub struct Simulation {
    chance: Chance,
    machine: Machine,
    limits: Limits,
    now: Now,
    /// The log in memory, how much of it is on disk, and the positions at which crashes have cut it off.
    log: Vec<Record>,
    durable: u64,
    cuts: Vec<u64>,
    check: Checker,
    /// The log folded record by record, for comparison with the machine's facts.
    shadow: Facts,
    outside: Outside,
    /// All calls with side effects that were ever started.
    wrote: HashSet<Key>,
    /// All calls that ever ran unsandboxed.
    let_out: HashSet<Key>,
    /// Calls that may have run, according to a recovery.
    tainted: HashSet<Key>,
    /// The text that the policy's last judgement would show to users, by call.
    shown: HashMap<CallId, String>,
    /// The item of the newest request in this daemon process.
    tried: Option<ItemId>,
    /// The newest request's messages, and the number of cache resets before it.
    sent: Option<(u64, Vec<MessageRef>)>,
    /// The messages of each request, and the end of the log at that time.
    requests: Vec<(Seq, Vec<MessageRef>)>,
    prompts: u64,
    calls: u64,
    /// The daemon shuts down: clients are refused.
    closing: bool,
    /// The daemon hands over: nothing more may start in this process.
    handing: bool,
    /// From now on everything succeeds.
    peace: bool,
    /// Decides which calls ask. A separate generator: the other choices stay as they are.
    asking: Chance,
    /// The questions of calls so far.
    questions: u64,
    /// A record of events, if it is printed.
    story: Vec<String>,
    reported: bool,
    /// The model that answers if the session's own model is down.
    fallback: Option<Fallback>,
    /// Decides what the planner does. A separate generator, as for `asking`.
    planning: Chance,
}

/// The work outside the machine. Lost in a crash.
#[derive(Default)]
struct Outside {
    request: Option<(ItemId, bool)>,
    /// A job that changes earlier bytes of requests.
    job: Option<compacting::Work>,
    /// The request in flight is for a summary.
    summary: bool,
    /// The request is not sent yet: it waits for its turn.
    gated: bool,
    judging: Vec<ToolCall>,
    held: Vec<(Seq, ToolCall)>,
    running: Vec<Running>,
    retries: Vec<(ItemId, u32)>,
    /// When timers of restarts expire.
    restarts: Vec<u64>,
    /// The planner works on this.
    planning: Option<PlanRequest>,
    /// A rewind in progress, and its result; an inner `None` means that it fails.
    rewinding: Option<Option<SessionRewound>>,
    /// The `Stop` hooks run.
    notifying: bool,
    /// Timers of turns, and when they expire.
    times: Vec<(u64, u64)>,
    /// When the newest timer expires.
    due_ms: u64,
}

struct Running {
    call: ToolCall,
    writes: bool,
    cancelled: bool,
    /// The number of its question that has no answer yet.
    asks: Option<u64>,
}

/// Runs one simulation. Equal arguments give equal simulations.
pub fn play(seed: u64, steps: usize) {
    if live(&mut Simulation::new(seed, false), steps).is_err() {
        // Run it again, this time with a record of events.
        let mut simulation = Simulation::new(seed, true);
        let why =
            live(&mut simulation, steps).expect_err("the same numbers give the same simulation");
        let story = simulation.story[simulation.story.len().saturating_sub(80)..].join("\n");
        panic!("{story}\n{why}\nagain: play({seed:#x}, {steps})");
    }
}

/// The log of one simulation.
pub fn log_of(seed: u64, steps: usize) -> Vec<Record> {
    let mut simulation = Simulation::new(seed, false);
    live(&mut simulation, steps).expect("`play` tells why");
    simulation.log
}

/// Runs a simulation to its end. The error names the broken invariant.
fn live(simulation: &mut Simulation, steps: usize) -> Result<(), String> {
    let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        simulation.create_session();
        for _ in 0..steps {
            simulation.anything();
        }
        simulation.come_to_rest();
    }));
    lived.map_err(|broken| {
        let why = broken
            .downcast_ref::<String>()
            .map(String::as_str)
            .or(broken.downcast_ref::<&str>().copied());
        why.unwrap_or("the machine panicked").to_owned()
    })
}

impl Simulation {
    fn new(seed: u64, reported: bool) -> Self {
        let mut chance = Chance::new(seed);
        // From a separate generator, so that simulations without failures stay the same.
        let mut separate = Chance::new(!seed);
        let fallback = separate
            .once_in(2)
            .then(|| fallback(separate.one_of(&["p/n", "q/m", "q/m"])));
        let asking = Chance::new(seed.rotate_left(17));
        let planning = Chance::new(seed.rotate_left(29));
        let limits = Limits {
            parallel: 1 + chance.below(4),
            retry_tries: 1 + u32::try_from(chance.below(3)).expect("small"),
            retry_total_ms: chance.one_of(&[1_000, 600_000]),
            ..Limits::default()
        };
        Self {
            chance,
            machine: Machine::new(Facts::default(), limits),
            limits,
            now: Now {
                wall: Stamp(1_000_000),
                mono_ms: 0,
            },
            log: Vec::new(),
            durable: 0,
            cuts: Vec::new(),
            check: Checker::default(),
            shadow: Facts::default(),
            outside: Outside::default(),
            wrote: HashSet::new(),
            let_out: HashSet::new(),
            tainted: HashSet::new(),
            shown: HashMap::new(),
            tried: None,
            sent: None,
            requests: Vec::new(),
            prompts: 0,
            calls: 0,
            closing: false,
            handing: false,
            peace: false,
            asking,
            questions: 0,
            story: Vec::new(),
            reported,
            fallback,
            planning,
        }
    }

    fn create_session(&mut self) {
        self.machine.set_context("Working directory: /w".into());
        self.machine.set_notify_turn_end(self.chance.once_in(2));
        self.machine.set_fallback(self.fallback.clone());
        if self.chance.once_in(2) {
            self.machine.set_call_repair(Some(means()));
        }
        let mut created = created(
            self.chance.one_of(&[Kind::Interactive, Kind::Headless]),
            self.chance.one_of(&[0, 0, 1, 2, 4]),
            self.chance.one_of(&[0, 60_000]),
        );
        created.context_window = self.chance.one_of(&[0, 1_000, 1_000, 1_000]);
        created.options.planner_model = self.planning.once_in(4).then(|| "p/planner".into());
        let effects = self.machine.record(Body::SessionCreated(created), self.now);
        self.perform(effects);
        self.durable = self.seq();
        self.prompt(When::Queue);
    }

    fn seq(&self) -> u64 {
        u64::try_from(self.log.len()).expect("a log of a test is short")
    }

    /// Advances both clocks.
    fn pass(&mut self, ms: u64) {
        self.now.mono_ms += ms;
        self.now.wall.0 += ms.cast_signed();
    }

    // Events.

    /// A random event that is possible now.
    fn anything(&mut self) {
        let ms = u64::try_from(self.chance.below(2_000)).expect("small");
        self.pass(ms);
        self.a_call_asks();
        match self.chance.below(100) {
            0..60 => self.work_goes_on(),
            60..72 => self.disk(),
            72..76 if !self.closing => self.pause(),
            76..84 if !self.closing => self.people(),
            84..86 if !self.closing => self.rewind(),
            86..89 if !self.closing => self.compact(),
            89..90 => self.stop(),
            90..93 => self.something_late(),
            93 => self.step(Input::CredentialsArrived),
            94..96 => self.time_is_up(),
            96..98 => self.crash(),
            98 => self.suspend(),
            _ => self.work_goes_on(),
        }
        if self.closing && self.machine.is_idle() {
            // The daemon shuts down cleanly: everything is on disk.
            self.durable = self.seq();
            self.crash();
        }
        if self.machine.is_suspended() && self.chance.once_in(3) {
            self.hand_over();
        }
    }

    fn work_goes_on(&mut self) {
        let mut kinds = Vec::new();
        kinds.extend(self.outside.request.is_some().then_some(0));
        kinds.extend((!self.outside.judging.is_empty()).then_some(1));
        kinds.extend((!self.outside.running.is_empty()).then_some(2));
        kinds.extend((!self.outside.retries.is_empty()).then_some(3));
        kinds.extend((self.is_asked() && !self.closing).then_some(4));
        kinds.extend(self.outside.rewinding.is_some().then_some(5));
        kinds.extend(self.outside.notifying.then_some(6));
        kinds.extend(self.outside.job.is_some().then_some(7));
        kinds.extend(self.outside.planning.is_some().then_some(8));
        kinds.extend((!self.outside.restarts.is_empty()).then_some(9));
        match kinds.is_empty() {
            true => self.disk(),
            false => match self.chance.one_of(&kinds) {
                0 => self.model(),
                1 => self.policy(),
                2 => self.tool_ends(),
                3 => self.retry_due(),
                4 => self.person_answers(),
                6 => self.stop_hooks_finish(),
                7 => self.job_ends(),
                8 => self.planner_ends(),
                9 => self.restart_due(),
                _ => self.rewinding_ends(),
            },
        }
    }

    /// Whether a user could answer an interaction.
    fn is_asked(&self) -> bool {
        !self.check.interactions.is_empty()
    }

    fn stop_hooks_finish(&mut self) {
        self.outside.notifying = false;
        let reported = Body::HookFinished(HookFinished {
            event: HookEvent::Stop,
            hook: "true".into(),
            source: "/h/settings.json".into(),
            outcome: HookOutcome::Pass,
            reason: None,
            duration_ms: 1,
            call: None,
        });
        let effects = self.machine.record(reported, self.now);
        self.perform(effects);
        self.step(Input::TurnEndNotified);
    }

    fn disk(&mut self) {
        let waiting = usize::try_from(self.seq() - self.durable).expect("small");
        let batch = if self.peace {
            waiting
        } else {
            self.chance.below(waiting + 1)
        };
        self.durable += u64::try_from(batch).expect("small");
        self.send(|simulation| format!("durable {}", simulation.durable));
        let (due, held) = std::mem::take(&mut self.outside.held)
            .into_iter()
            .partition(|(seq, _)| seq.0 <= self.durable);
        self.outside.held = held;
        let due: Vec<(Seq, ToolCall)> = due;
        for (_, call) in due {
            self.start(call, true);
        }
    }

    fn prompt(&mut self, when: When) {
        self.prompts += 1;
        let text = format!("prompt {}", self.prompts);
        let prompt = PromptQueued {
            untyped: Vec::new(),
            from: None,
            added: None,
            references: None,
            on_ask: None,
            prompt_id: prompt_id(self.prompts),
            text,
            steer: when == When::Steer,
            by: "ann".into(),
            request_id: None,
        };
        self.step(Input::Prompt { prompt, when });
    }

    fn stop(&mut self) {
        let reasons = [
            StopReason::User,
            StopReason::User,
            StopReason::Term,
            StopReason::Kill,
            StopReason::Shutdown,
        ];
        let reason = self.chance.one_of(&reasons);
        self.closing |= reason == StopReason::Shutdown;
        let partial = self.partial();
        self.step(Input::Stop { reason, partial });
    }

    fn restart_due(&mut self) {
        if let Some(due_ms) = self.chance.take(&mut self.outside.restarts) {
            // Timers from before a pause fire early, in the eyes of the newest one.
            self.pass(due_ms.saturating_sub(self.now.mono_ms));
            self.step(Input::RestartDue);
        }
    }

    fn time_is_up(&mut self) {
        if let Some((turn, due_ms)) = self.chance.take(&mut self.outside.times) {
            // Some timers fire early, like those from before a pause.
            if self.chance.once_in(2) {
                self.pass(due_ms.saturating_sub(self.now.mono_ms));
            }
            let partial = self.partial();
            self.step(Input::TimeUp { turn, partial });
        }
    }

    fn partial(&mut self) -> Option<Box<Answer>> {
        self.outside.request.as_ref()?;
        let partial = self.answer();
        Some(Box::new(Answer {
            finish: None,
            ..partial
        }))
    }

    /// Late messages that nothing waits for change nothing.
    fn something_late(&mut self) {
        let late = match self.chance.below(8) {
            0 => Input::CallEnded {
                call: self.any_call_id(),
                outcome: Box::new(outcome(CallStatus::Ok)),
                duration_ms: 1,
            },
            1 => {
                let turn = self.check.open.as_ref().map_or(1, |open| open.number + 1);
                Input::TimeUp {
                    turn,
                    partial: None,
                }
            }
            2 => {
                let (item, attempt) = (ItemId::from("m1.2"), 1);
                if self.outside.retries.contains(&(item.clone(), attempt)) {
                    return;
                }
                Input::RetryDue { item, attempt }
            }
            3 | 4 | 6 => {
                let id = InteractionId(format!("7.{}", 1 + self.chance.below(4)));
                if self.check.interactions.contains_key(&id) {
                    return;
                }
                self.late_answer(id)
            }
            5 if self.outside.rewinding.is_none() => self.chance.one_of(&[
                Input::NotRewound,
                Input::Rewound(SessionRewound {
                    to_turn: 0,
                    what: What::Both,
                    undoes: None,
                    shown: Some(Vec::new()),
                    todos: None,
                    files: Vec::new(),
                    by: "ann".into(),
                    request_id: None,
                }),
            ]),
            _ => {
                let id = self.any_call_id();
                if self.outside.judging.iter().any(|judging| judging.id == id) {
                    return;
                }
                let call = ToolCall {
                    id,
                    name: "write".into(),
                    arguments: "{}".into(),
                    cut: false,
                    found: false,
                };
                let judgement =
                    Box::new(judgement(&call, Verdict::Allow, Unattended::Wait, false, 0));
                Input::Judged {
                    call: call.id,
                    judgement,
                }
            }
        };
        self.send(|_| format!("> late: {}", short(&late)));
        let effects = self.machine.step(late, self.now);
        assert_eq!(effects, [], "late messages change nothing");
        self.holds();
    }

    /// A call that is not running.
    fn any_call_id(&mut self) -> CallId {
        let id = CallId(format!("c{}", self.chance.below(6)));
        let held = self.outside.held.iter().map(|(_, call)| &call.id);
        let busy = self
            .outside
            .running
            .iter()
            .map(|running| &running.call.id)
            .chain(held)
            .any(|busy| *busy == id);
        if busy { CallId::from("nobody") } else { id }
    }

    /// The daemon dies and restarts: a random part of the records that were not on disk is lost.
    fn crash(&mut self) {
        (self.closing, self.handing) = (false, false);
        let kept = self.kept();
        let lost = usize::try_from(self.seq() - self.durable).expect("small");
        let kept_records = self.log.len() - self.chance.below(lost + 1);
        self.log.truncate(kept_records);
        self.durable = self.seq();
        self.outside = Outside::default();
        self.tried = None;
        if lost > 0 {
            // The request may have shown records that did not reach the disk.
            self.sent = None;
        }
        self.cuts.retain(|cut| *cut < self.durable);
        self.cuts.push(self.durable);
        let elements = std::mem::take(&mut self.check.shown.elements);
        self.check = Checker::of(&self.log, &self.cuts);
        self.check.shown.elements = elements;
        let end = self.durable;
        self.requests.retain(|(upto, _)| upto.0 <= end);
        self.tainted.extend(self.check.half_done());
        self.shadow = Facts::fold(&self.log);
        self.machine = Machine::new(self.shadow.clone(), self.limits);
        self.machine.set_fallback(self.fallback.clone());
        let policy = self
            .chance
            .one_of(&[RecoverPolicy::Continue, RecoverPolicy::Idle]);
        self.send(|_| format!("crash at {kept_records}, {policy:?}, {}", short(&kept)));
        self.now.mono_ms = 0;
        if self.chance.once_in(2) {
            self.machine.set_call_repair(Some(means()));
        }
        let suspended = self.shadow.suspended;
        self.machine.set_notify_turn_end(self.chance.once_in(2));
        let effects = self.machine.recover(policy, kept, self.now);
        self.perform(effects);
        self.holds();
        if suspended {
            let ended = self.log[kept_records..].iter().any(|record| {
                matches!(&record.body, Body::TurnEnded(ended) if ended.reason == Some(Reason::Shutdown))
            });
            assert!(!ended, "what was suspended goes on");
        }
        assert!(!self.shadow.suspended, "it goes on once");
        assert_eq!(
            self.check.children,
            std::collections::BTreeSet::default(),
            "no command outlives the daemon"
        );
    }

    // Effects.

    fn step(&mut self, input: Input) {
        self.send(|_| format!("> {}", short(&input)));
        let effects = self.machine.step(input, self.now);
        self.perform(effects);
        self.holds();
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.send(|_| format!("  {}", short(&effect)));
            let starts = matches!(
                effect,
                Effect::Ask { .. } | Effect::Judge { .. } | Effect::Run { .. } | Effect::Plan(_)
            );
            let in_turn = self.check.open.is_some();
            let resets = match &effect {
                Effect::AskSummary { .. } => true,
                // The model's summary replaces the old messages.
                Effect::Reset(job) => !matches!(job.summary, Summary::Written(_)),
                _ => false,
            };
            // A user may request it while the session is idle, even during a pause.
            assert!(
                !(resets && in_turn && self.check.paused),
                "a reset begins in a pause"
            );
            let asks = matches!(effect, Effect::AskSummary { .. });
            assert!(!(asks && self.handing), "a request in a hand-over");
            assert!(
                !(starts && self.check.paused),
                "something starts in a pause"
            );
            assert!(!(starts && self.handing), "something starts in a hand-over");
            match effect {
                Effect::Append(record) => {
                    self.check.take(&record);
                    if matches!(record.body, Body::TurnStarted(_)) {
                        let alone = self.outside.rewinding.is_none();
                        assert!(alone, "a turn starts while the session goes back");
                        let reported = !self.outside.notifying;
                        assert!(
                            reported,
                            "a turn starts before the stop hooks have finished"
                        );
                        assert!(!self.closing, "a turn starts while the daemon goes down");
                    }
                    if let Body::TurnEnded(ended) = &record.body
                        && ended.reason == Some(Reason::Timeout)
                    {
                        let due_ms = self.outside.due_ms;
                        assert!(self.now.mono_ms >= due_ms, "a turn ends before its time");
                    }
                    self.shadow.apply(&record);
                    self.log.push(record);
                }
                Effect::Ask {
                    upto,
                    item,
                    tool_choice,
                    ..
                } => self.ask(upto, item, tool_choice),
                Effect::Plan(request) => self.planner_begins(request),
                // The planner of an earlier daemon process may not have been waited for yet.
                Effect::CancelPlan => self.outside.planning = None,
                Effect::Reset(job) => self.job_begins(job),
                Effect::AskSummary { item, .. } => {
                    assert!(self.outside.request.is_none(), "one request at a time");
                    self.check.shown.assert_valid();
                    self.outside.request = Some((item, true));
                    self.outside.summary = true;
                }
                Effect::CancelAsk => {
                    self.outside.gated = false;
                    assert!(
                        self.outside.request.take().is_some(),
                        "only a request in flight is dropped"
                    );
                }
                Effect::Supersede { .. } => {}
                Effect::Retry { item, attempt, .. } => self.outside.retries.push((item, attempt)),
                Effect::ArmRestart { in_ms } => {
                    assert!(in_ms > 0, "one that is due does not wait");
                    self.outside.restarts.push(self.now.mono_ms + in_ms);
                }
                Effect::Judge { call } => {
                    assert!(!call.cut, "a call that was cut is not judged");
                    self.check.assert_edited(&call);
                    assert!(
                        !self.check.denied.contains(&self.check.key(&call.id)),
                        "I7: denied, and judged again"
                    );
                    self.outside.judging.push(call);
                }
                Effect::Run { call, after } => self.run(call, after),
                Effect::AnswerCall { call, number, .. } => {
                    let mut running = self.outside.running.iter_mut();
                    let asker = running.find(|running| running.call.id == call);
                    // It may have ended just now.
                    if let Some(asker) = asker {
                        let asked = asker.asks.take();
                        assert_eq!(asked, Some(number), "each question is answered once");
                    }
                }
                Effect::CancelCalls { .. } => self.cancel_calls(),
                Effect::NotifyTurnEnd => {
                    assert!(!self.outside.notifying, "one end at a time");
                    self.outside.notifying = true;
                }
                Effect::CancelTurnEndNotification => {
                    assert!(self.outside.notifying, "only running hooks are cancelled");
                }
                Effect::ArmTimeout { turn, in_ms } => {
                    self.outside.due_ms = self.now.mono_ms + in_ms;
                    self.outside.times.push((turn, self.outside.due_ms));
                }
            }
        }
    }

    fn ask(&mut self, upto: Seq, item: ItemId, tool_choice: ToolChoice) {
        assert_eq!(upto.0, self.seq(), "the whole conversation is sent");
        assert!(self.outside.request.is_none(), "one request at a time");
        let planned = self.outside.planning.is_none();
        assert!(planned, "no request while the planner works");
        assert!(
            self.outside.running.is_empty() && self.outside.held.is_empty(),
            "no request while calls run"
        );
        self.check.assert_sendable();
        if self.tried.replace(item.clone()).as_ref() != Some(&item) {
            self.check.assert_permissions_reported();
            self.check.assert_chosen_model(&self.machine.facts().wire);
        }
        self.shows();
        let summing_up = self.check.open.as_ref().is_some_and(|open| open.summing_up);
        assert_eq!(
            tool_choice == ToolChoice::None,
            summing_up,
            "tools are there unless it is to sum up"
        );
        self.outside.request = Some((item, summing_up));
        self.outside.summary = false;
    }

    fn run(&mut self, call: ToolCall, after: Option<Seq>) {
        let key = self.check.key(&call.id);
        let open = self.check.open.as_ref().expect("calls run within a turn");
        let (started, read_only) = *open
            .started
            .get(&call.id)
            .expect("I4: a start is logged before the call runs");
        assert_eq!(
            after,
            (!read_only).then_some(started),
            "I4: a call that changes things waits for its start"
        );
        assert!(
            !self.check.denied.contains(&key),
            "I7: a denied call never runs"
        );
        self.check
            .assert_allowed(&call.id, self.shown.get(&call.id));
        self.check.assert_edited(&call);
        assert!(
            !self.tainted.contains(&key),
            "I4: a recovery found that it may have run"
        );
        let busy = self.outside.running.len() + self.outside.held.len();
        assert!(
            busy < self.limits.parallel,
            "at most {} run side by side",
            self.limits.parallel
        );
        assert!(
            read_only || busy == 0,
            "a call that changes things runs alone"
        );
        let writer_runs = !self.outside.held.is_empty()
            || self.outside.running.iter().any(|running| running.writes);
        assert!(
            !writer_runs,
            "nothing runs beside a call that changes things"
        );
        match after {
            Some(seq) if seq.0 > self.durable => self.outside.held.push((seq, call)),
            Some(_) => self.start(call, true),
            None => self.start(call, false),
        }
    }

    fn cancel_calls(&mut self) {
        for running in &mut self.outside.running {
            running.cancelled = true;
        }
        // A call that waited for the disk never starts: it ends at once.
        for (_, call) in std::mem::take(&mut self.outside.held) {
            self.outside.running.push(Running {
                call,
                writes: false,
                cancelled: true,
                asks: None,
            });
        }
    }

    fn send(&mut self, what: impl FnOnce(&Self) -> String) {
        if self.reported {
            let line = what(self);
            self.story.push(line);
        }
    }

    // Without trouble.

    /// Lets everything succeed from now on, and waits until nothing more happens.
    fn come_to_rest(&mut self) {
        self.peace = true;
        self.quiet();
        if self.closing {
            self.durable = self.seq();
            self.crash();
            self.quiet();
        }
        self.end_user_commands();
        self.quiet();
        assert_eq!(
            Facts::fold(&self.log),
            *self.machine.facts(),
            "a fold of the whole log knows the same"
        );
        self.history_holds();
        // Work that was left waiting (after an exit or a recovery that waits for a user) continues with the next
        // prompt.
        self.prompt(When::Queue);
        self.quiet();
        assert!(
            self.check.queued.is_empty(),
            "a session that works leaves no prompt behind"
        );
        let headless = self.machine.facts().options.kind == Some(Kind::Headless);
        assert_eq!(
            self.check.exited, headless,
            "a headless run exits, an interactive one does not"
        );
        self.check.no_prompt_is_lost();
    }

    fn quiet(&mut self) {
        for _ in 0..PEACE {
            self.disk();
            let outside = &self.outside;
            if self.machine.is_suspended() {
                self.hand_over();
            } else if self.check.paused {
                self.set_paused(false);
            } else if self.machine.wants_credentials() {
                self.step(Input::CredentialsArrived);
            } else if outside.request.is_none()
                && outside.judging.is_empty()
                && outside.running.is_empty()
                && outside.retries.is_empty()
                && outside.restarts.is_empty()
                && outside.rewinding.is_none()
                && outside.job.is_none()
                && outside.planning.is_none()
                && !outside.notifying
                && !self.is_asked()
            {
                assert!(self.machine.is_idle(), "at rest, and not idle");
                return;
            } else {
                let closing = std::mem::take(&mut self.closing);
                self.work_goes_on();
                self.closing = closing;
            }
        }
        panic!("the session never comes to rest");
    }
}

/// The start of a value's debug form, enough to follow the events.
fn short(thing: &impl std::fmt::Debug) -> String {
    format!("{thing:?}")
        .replace("Append(Record ", "")
        .chars()
        .take(240)
        .collect()
}
