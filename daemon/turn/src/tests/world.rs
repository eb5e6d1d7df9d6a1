//! Everything around the machine, played by chance: a model, policy, tools, people, a clock, a disk, and crashes.
//!
//! Does what a session does with effects, in any order that a session could see. Checks after every step; see
//! `checker` for what must hold of the log, and `holds` for what must hold of the moment.

use std::collections::HashSet;
use std::time::Duration;

use contract::provider::{ErrorKind, ProviderError, Reported};
use contract::{Basis, Confinement, Decision, Outcome, ToolChoice};
use proto::item::{CallStatus, Display, Finish, ToolCall};
use proto::params::approval::{Approval, Decision as Answered, Scope};
use proto::params::session::When;
use proto::record::{PromptQueued, SessionCreated, SessionSet, Verdict};
use proto::state::{Kind, OnAsk, Posture};
use proto::{ApprovalId, Body, CallId, ItemId, Pid, PromptId, Record, Seq, SessionId, Stamp};

use super::chance::Chance;
use super::checker::{Checker, Key};
use crate::input::{Resolution, Unattended};
use crate::{Answer, Effect, Facts, Input, Judgement, Limits, Machine, Now, RecoverPolicy, StopReason};

/// Steps within which a world that is left in peace must come to rest.
const PEACE: usize = 5_000;

pub struct World {
    chance: Chance,
    machine: Machine,
    limits: Limits,
    now: Now,
    /// The log in memory, and how much of it is on disk.
    log: Vec<Record>,
    durable: u64,
    check: Checker,
    /// The log folded record by record, beside the machine.
    shadow: Facts,
    outside: Outside,
    /// Calls with side effects that were started, ever.
    wrote: HashSet<Key>,
    /// Calls of which a recovery found that they may have run.
    tainted: HashSet<Key>,
    prompts: u64,
    calls: u64,
    /// The daemon goes down: clients are refused.
    closing: bool,
    /// No trouble any more: everything goes well.
    peace: bool,
    /// What happened, where somebody wants to read it.
    story: Vec<String>,
    told: bool,
}

/// What goes on outside. Gone with a crash.
#[derive(Default)]
struct Outside {
    request: Option<(ItemId, bool)>,
    judging: Vec<ToolCall>,
    held: Vec<(Seq, ToolCall)>,
    running: Vec<Running>,
    retries: Vec<(ItemId, u32)>,
    times: Vec<u64>,
}

struct Running {
    call: ToolCall,
    writes: bool,
    cancelled: bool,
}

/// Plays one world. The same numbers give the same world.
pub fn play(seed: u64, steps: usize) {
    if live(&mut World::new(seed, false), steps).is_err() {
        // Once more, and this time it is told.
        let mut world = World::new(seed, true);
        let why = live(&mut world, steps).expect_err("the same numbers give the same world");
        let story = world.story[world.story.len().saturating_sub(80)..].join("\n");
        panic!("{story}\n{why}\nagain: play({seed:#x}, {steps})");
    }
}

/// Lives a life. The error says what was broken.
fn live(world: &mut World, steps: usize) -> Result<(), String> {
    let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        world.be_born();
        for _ in 0..steps {
            world.anything();
        }
        world.come_to_rest();
    }));
    lived.map_err(|broken| {
        let why = broken.downcast_ref::<String>().map(String::as_str).or(broken.downcast_ref::<&str>().copied());
        why.unwrap_or("the machine panicked").to_owned()
    })
}

impl World {
    fn new(seed: u64, told: bool) -> Self {
        let mut chance = Chance::new(seed);
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
            now: Now { wall: Stamp(1_000_000), mono_ms: 0 },
            log: Vec::new(),
            durable: 0,
            check: Checker::default(),
            shadow: Facts::default(),
            outside: Outside::default(),
            wrote: HashSet::new(),
            tainted: HashSet::new(),
            prompts: 0,
            calls: 0,
            closing: false,
            peace: false,
            story: Vec::new(),
            told,
        }
    }

    fn be_born(&mut self) {
        self.machine.set_context("Working directory: /w".into());
        let created = created(
            self.chance.one_of(&[Kind::Interactive, Kind::Headless]),
            self.chance.one_of(&[0, 0, 1, 2, 4]),
            self.chance.one_of(&[0, 60_000]),
        );
        let effects = self.machine.record(Body::SessionCreated(created), self.now);
        self.perform(effects);
        self.durable = self.seq();
        self.prompt(When::Queue);
    }

    fn seq(&self) -> u64 {
        u64::try_from(self.log.len()).expect("a log of a test is short")
    }

    // What happens.

    /// Something that can happen now, by chance.
    fn anything(&mut self) {
        self.now.wall.0 += i64::try_from(self.chance.below(50)).expect("small");
        self.now.mono_ms += u64::try_from(self.chance.below(2_000)).expect("small");
        match self.chance.below(100) {
            0..60 => self.work_goes_on(),
            60..72 => self.disk(),
            72..86 if !self.closing => self.people(),
            86..90 => self.stop(),
            90..93 => self.something_late(),
            93..95 => self.step(Input::CredentialsArrived),
            95 => self.time_is_up(),
            96..99 => self.crash(),
            _ => self.work_goes_on(),
        }
        if self.closing && self.machine.is_idle() {
            // The daemon ends in good order: all is written.
            self.durable = self.seq();
            self.crash();
        }
    }

    fn work_goes_on(&mut self) {
        let mut kinds = Vec::new();
        kinds.extend(self.outside.request.is_some().then_some(0));
        kinds.extend((!self.outside.judging.is_empty()).then_some(1));
        kinds.extend((!self.outside.running.is_empty()).then_some(2));
        kinds.extend((!self.outside.retries.is_empty()).then_some(3));
        kinds.extend((!self.check.pending.is_empty() && !self.closing).then_some(4));
        match kinds.is_empty() {
            true => self.disk(),
            false => match self.chance.one_of(&kinds) {
                0 => self.model(),
                1 => self.policy(),
                2 => self.tool_ends(),
                3 => self.retry_due(),
                _ => self.person_answers(),
            },
        }
    }

    fn disk(&mut self) {
        let waiting = usize::try_from(self.seq() - self.durable).expect("small");
        let batch = if self.peace { waiting } else { self.chance.below(waiting + 1) };
        self.durable += u64::try_from(batch).expect("small");
        self.tell(|world| format!("durable {}", world.durable));
        let (due, held) = std::mem::take(&mut self.outside.held).into_iter().partition(|(seq, _)| seq.0 <= self.durable);
        self.outside.held = held;
        let due: Vec<(Seq, ToolCall)> = due;
        for (_, call) in due {
            self.start(call, true);
        }
    }

    fn people(&mut self) {
        match self.chance.below(10) {
            0..3 => self.prompt(When::Queue),
            3..6 => self.prompt(When::Steer),
            6..8 => {
                let waiting: Vec<_> = self.check.queued.iter().copied().collect();
                let prompt = if waiting.is_empty() { prompt_id(99_999) } else { self.chance.one_of(&waiting) };
                self.step(Input::Unqueue(prompt));
            }
            8 => {
                let set = SessionSet {
                    kind: self.chance.once_in(3).then(|| self.chance.one_of(&[Kind::Interactive, Kind::Headless])),
                    max_steps: self.chance.once_in(2).then(|| self.chance.one_of(&[0, 1, 3])),
                    timeout_ms: self.chance.once_in(2).then(|| self.chance.one_of(&[0, 1_000])),
                    ..SessionSet::default()
                };
                self.step(Input::Set(set));
            }
            _ => self.step(Input::Close { request_id: None }),
        }
    }

    fn prompt(&mut self, when: When) {
        self.prompts += 1;
        let text = format!("prompt {}", self.prompts);
        let prompt = PromptQueued {
            prompt_id: prompt_id(self.prompts),
            text,
            steer: when == When::Steer,
            by: "ann".into(),
            request_id: None,
        };
        self.step(Input::Prompt { prompt, when });
    }

    fn stop(&mut self) {
        let reasons = [StopReason::User, StopReason::User, StopReason::Term, StopReason::Kill, StopReason::Shutdown];
        let reason = self.chance.one_of(&reasons);
        self.closing |= reason == StopReason::Shutdown;
        let partial = self.partial();
        self.step(Input::Stop { reason, partial });
    }

    fn time_is_up(&mut self) {
        if let Some(turn) = self.chance.take(&mut self.outside.times) {
            let partial = self.partial();
            self.step(Input::TimeUp { turn, partial });
        }
    }

    fn partial(&mut self) -> Option<Box<Answer>> {
        self.outside.request.as_ref()?;
        let partial = self.answer();
        Some(Box::new(Answer { finish: None, ..partial }))
    }

    /// Messages that come when nobody waits for them any more.
    fn something_late(&mut self) {
        match self.chance.below(4) {
            0 => {
                let call = self.any_call_id();
                self.step(Input::CallEnded { call, outcome: Box::new(outcome(CallStatus::Ok)), duration_ms: 1 });
            }
            1 => self.step(Input::RetryDue { item: ItemId::from("m1.2"), attempt: 1 }),
            2 => {
                let approval_id = ApprovalId(format!("7.{}", 1 + self.chance.below(4)));
                if !self.check.pending.contains_key(&approval_id) {
                    self.answer_question(approval_id, Answered::AllowOnce);
                }
            }
            _ => {
                let call = self.any_call_id();
                if !self.outside.judging.iter().any(|judging| judging.id == call) {
                    let call = ToolCall { id: call, name: "write".into(), arguments: "{}".into(), cut: false };
                    let judgement = Box::new(judgement(&call, Verdict::Allow, Unattended::Wait, false, 0));
                    self.step(Input::Judged { call: call.id, judgement });
                }
            }
        }
    }

    /// A call that is not running.
    fn any_call_id(&mut self) -> CallId {
        let id = CallId(format!("c{}", self.chance.below(6)));
        let held = self.outside.held.iter().map(|(_, call)| &call.id);
        let busy = self.outside.running.iter().map(|running| &running.call.id).chain(held).any(|busy| *busy == id);
        if busy { CallId::from("nobody") } else { id }
    }

    /// The daemon dies and comes back: what was not on disk is lost, from any record on.
    fn crash(&mut self) {
        self.closing = false;
        let lost = usize::try_from(self.seq() - self.durable).expect("small");
        let kept = self.log.len() - self.chance.below(lost + 1);
        self.log.truncate(kept);
        self.durable = self.seq();
        self.outside = Outside::default();
        self.check = Checker::of(&self.log);
        self.tainted.extend(self.check.half_done());
        self.shadow = Facts::fold(&self.log);
        self.machine = Machine::new(self.shadow.clone(), self.limits);
        let policy = self.chance.one_of(&[RecoverPolicy::Continue, RecoverPolicy::Idle]);
        self.tell(|_| format!("crash at {kept}, {policy:?}"));
        self.now.mono_ms = 0;
        let effects = self.machine.recover(policy, self.now);
        self.perform(effects);
        self.holds();
    }

    // The model.

    fn model(&mut self) {
        let Some((_, without_tools)) = self.outside.request.take() else { return };
        let breaks = !self.peace && self.chance.once_in(4);
        if !breaks {
            let mut answer = self.answer();
            if without_tools && !self.chance.once_in(4) {
                answer.calls.clear();
            }
            return self.step(Input::Answered(Box::new(answer)));
        }
        let kinds =
            [ErrorKind::Transient, ErrorKind::Transient, ErrorKind::Permanent, ErrorKind::Credentials, ErrorKind::ContextLength];
        let kind = self.chance.one_of(&kinds);
        let retry_after = self.chance.once_in(4).then(|| Duration::from_secs(7));
        let error = ProviderError { message: "no".into(), hint: String::new(), kind, status: None, retry_after };
        let partial = if self.chance.once_in(2) { self.answer() } else { Answer::default() };
        let (jitter, key_lost) = (self.chance.part(), self.chance.once_in(2));
        self.step(Input::Broke { error, partial: Box::new(partial), jitter, key_lost });
    }

    fn answer(&mut self) -> Answer {
        let mut answer = Answer { finish: Some(Finish::Stop), ..Answer::default() };
        let kind = if self.peace { 0 } else { self.chance.below(10) };
        answer.reported = (kind % 2 == 0).then_some(Reported { prompt_tokens: 10, output_tokens: 2, ..Reported::default() });
        match kind {
            0..3 => answer.text = "words".into(),
            3 => answer.reasoning = "thoughts".into(),
            4 => {}
            _ => {
                answer.text = self.chance.one_of(&["", "words"]).into();
                answer.calls = (0..=self.chance.below(5)).map(|_| self.call()).collect();
                answer.finish = Some(Finish::ToolCalls);
            }
        }
        if !self.peace && self.chance.once_in(8) {
            answer.finish = Some(Finish::Length);
            if let Some(last) = answer.calls.last_mut() {
                last.cut = true;
            }
        }
        if !self.peace && self.chance.once_in(30) {
            answer.finish = Some(Finish::ContentFilter);
        }
        answer
    }

    /// A call as a model names it: some vendors number the calls of every answer from 0.
    fn call(&mut self) -> ToolCall {
        self.calls += 1;
        let id = if self.chance.once_in(3) { self.calls % 3 } else { self.calls };
        ToolCall {
            id: CallId(format!("c{id}")),
            name: self.chance.one_of(&["read", "read", "write", "bash"]).into(),
            arguments: format!("{{\"path\":\"{}\"}}", self.chance.below(4)),
            cut: false,
        }
    }

    // Policy and people.

    fn policy(&mut self) {
        let Some(call) = self.chance.take(&mut self.outside.judging) else { return };
        let read_only = match call.name.as_str() {
            "read" => true,
            "write" => false,
            _ => self.chance.once_in(2),
        };
        let version = self.chance.below(2);
        let judgement = match if self.peace { 0 } else { self.chance.below(10) } {
            0..4 => judgement(&call, Verdict::Allow, Unattended::Wait, read_only, version),
            4..7 => judgement(&call, Verdict::Ask, Unattended::Wait, read_only, version),
            7 => {
                let left = self.chance.one_of(&[Unattended::Allow, Unattended::Deny("nobody was there".into())]);
                judgement(&call, Verdict::Ask, left, read_only, version)
            }
            8 => judgement(&call, Verdict::Deny, Unattended::Wait, read_only, version),
            _ => Judgement::Refused(Outcome::refused("no such tool")),
        };
        self.step(Input::Judged { call: call.id, judgement: Box::new(judgement) });
    }

    fn person_answers(&mut self) {
        let pending: Vec<_> = self.check.pending.keys().cloned().collect();
        let choices = [Answered::AllowOnce, Answered::AllowOnce, Answered::AllowSession, Answered::Deny];
        let decision = if self.peace { Answered::AllowOnce } else { self.chance.one_of(&choices) };
        let approval_id = self.chance.one_of(&pending);
        self.answer_question(approval_id, decision);
    }

    fn answer_question(&mut self, approval_id: ApprovalId, decision: Answered) {
        let denied = decision == Answered::Deny;
        let resolution = Resolution {
            approval_id,
            decision,
            scope: None,
            note: (denied && self.chance.once_in(2)).then(|| "leave it".into()),
            by: "ann".into(),
            unattended: denied && self.chance.once_in(4),
            request_id: None,
        };
        self.step(Input::Resolved(Box::new(resolution)));
    }

    // Tools and clocks.

    fn start(&mut self, call: ToolCall, writes: bool) {
        if writes {
            let key = self.check.key(&call.id);
            assert!(self.wrote.insert(key), "I4: {} is run a second time", call.id);
        }
        self.outside.running.push(Running { call, writes, cancelled: false });
    }

    fn tool_ends(&mut self) {
        let Some(Running { call, cancelled, .. }) = self.chance.take(&mut self.outside.running) else { return };
        let status = match cancelled {
            true => self.chance.one_of(&[CallStatus::Interrupted, CallStatus::Ok]),
            false => self.chance.one_of(&[CallStatus::Ok, CallStatus::Ok, CallStatus::Failed]),
        };
        self.step(Input::CallEnded { call: call.id, outcome: Box::new(outcome(status)), duration_ms: 5 });
    }

    fn retry_due(&mut self) {
        if let Some((item, attempt)) = self.chance.take(&mut self.outside.retries) {
            self.step(Input::RetryDue { item, attempt });
        }
    }

    // What the machine wants.

    fn step(&mut self, input: Input) {
        self.tell(|_| format!("> {}", short(&input)));
        let effects = self.machine.step(input, self.now);
        self.perform(effects);
        self.holds();
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.tell(|_| format!("  {}", short(&effect)));
            match effect {
                Effect::Append(record) => {
                    self.check.take(&record);
                    self.shadow.apply(&record);
                    self.log.push(record);
                }
                Effect::Ask { upto, item, tool_choice, .. } => self.ask(upto, item, tool_choice),
                Effect::CancelAsk => {
                    assert!(self.outside.request.take().is_some(), "only a request in flight is dropped");
                }
                Effect::Supersede { .. } => {}
                Effect::Retry { item, attempt, .. } => self.outside.retries.push((item, attempt)),
                Effect::Judge { call } => {
                    assert!(!call.cut, "a call that was cut is not judged");
                    assert!(!self.check.denied.contains(&self.check.key(&call.id)), "I7: denied, and judged again");
                    self.outside.judging.push(call);
                }
                Effect::Run { call, after } => self.run(call, after),
                Effect::CancelCalls { .. } => self.cancel_calls(),
                Effect::ArmTimeout { turn, .. } => self.outside.times.push(turn),
            }
        }
    }

    fn ask(&mut self, upto: Seq, item: ItemId, tool_choice: ToolChoice) {
        assert_eq!(upto.0, self.seq(), "the whole conversation is sent");
        assert!(self.outside.request.is_none(), "one request at a time");
        assert!(self.outside.running.is_empty() && self.outside.held.is_empty(), "no request while calls run");
        self.check.may_be_sent();
        let summing_up = self.check.open.as_ref().is_some_and(|open| open.summing_up);
        assert_eq!(tool_choice == ToolChoice::None, summing_up, "tools are there unless it is to sum up");
        self.outside.request = Some((item, summing_up));
    }

    fn run(&mut self, call: ToolCall, after: Option<Seq>) {
        let key = self.check.key(&call.id);
        let open = self.check.open.as_ref().expect("calls run within a turn");
        let (started, read_only) = *open.started.get(&call.id).expect("I4: a start is logged before the call runs");
        assert_eq!(after, (!read_only).then_some(started), "I4: a call that changes things waits for its start");
        assert!(!self.check.denied.contains(&key), "I7: a denied call never runs");
        assert!(!self.tainted.contains(&key), "I4: a recovery found that it may have run");
        let busy = self.outside.running.len() + self.outside.held.len();
        assert!(busy < self.limits.parallel, "at most {} run side by side", self.limits.parallel);
        assert!(read_only || busy == 0, "a call that changes things runs alone");
        let writer_runs = !self.outside.held.is_empty() || self.outside.running.iter().any(|running| running.writes);
        assert!(!writer_runs, "nothing runs beside a call that changes things");
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
        // A call that was held back for the disk never starts: it comes back at once.
        for (_, call) in std::mem::take(&mut self.outside.held) {
            self.outside.running.push(Running { call, writes: false, cancelled: true });
        }
    }

    fn tell(&mut self, what: impl FnOnce(&Self) -> String) {
        if self.told {
            let line = what(self);
            self.story.push(line);
        }
    }

    // What must hold.

    fn holds(&self) {
        assert_eq!(self.shadow, *self.machine.facts(), "the machine knows what the log says, and nothing else");
        let outside = &self.outside;
        let works = outside.request.is_some() || !outside.running.is_empty() || !outside.held.is_empty();
        if self.machine.is_idle() {
            assert!(!works, "idle, and something runs");
            assert!(self.check.pending.is_empty(), "idle, and a question is open");
        }
        let comes = works || !outside.judging.is_empty() || !outside.retries.is_empty();
        if !comes && self.check.pending.is_empty() {
            assert!(self.machine.is_idle() || self.machine.wants_credentials(), "stuck: nothing will ever happen");
        }
    }

    /// Leaves the world in peace, and waits until nothing more happens.
    fn come_to_rest(&mut self) {
        self.peace = true;
        self.quiet();
        if self.closing {
            self.durable = self.seq();
            self.crash();
            self.quiet();
        }
        assert_eq!(Facts::fold(&self.log), *self.machine.facts(), "a fold of the whole log knows the same");
        // Whatever was left waiting (an exit, a recovery that waits for a person) goes on with the next prompt.
        self.prompt(When::Queue);
        self.quiet();
        assert!(self.check.queued.is_empty(), "a session that works leaves no prompt behind");
        let headless = self.machine.facts().settings.kind == Kind::Headless;
        assert_eq!(self.check.exited, headless, "a headless run exits, an interactive one does not");
        self.check.no_prompt_is_lost();
    }

    fn quiet(&mut self) {
        for _ in 0..PEACE {
            self.disk();
            let outside = &self.outside;
            if self.machine.wants_credentials() {
                self.step(Input::CredentialsArrived);
            } else if outside.request.is_none()
                && outside.judging.is_empty()
                && outside.running.is_empty()
                && outside.retries.is_empty()
                && self.check.pending.is_empty()
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

/// The first record of a session with these settings.
pub fn created(kind: Kind, max_steps: u64, timeout_ms: u64) -> SessionCreated {
    SessionCreated {
        session: "00000000-0000-0000-0000-000000000007".parse::<SessionId>().expect("it is a UUID"),
        pid: Pid(7),
        ppid: Pid(0),
        epoch: 1,
        cwd: "/w".into(),
        root: "/w".into(),
        provider: "p".into(),
        provider_kind: "openai".into(),
        model: "m".into(),
        context_window: 0,
        prefix_sha256: String::new(),
        kind,
        posture: Posture::Ask,
        on_ask: OnAsk::Wait,
        name: None,
        labels: Vec::new(),
        max_steps,
        timeout_ms,
        rules: proto::record::Rules::default(),
        env: std::collections::BTreeMap::new(),
        env_names: Vec::new(),
        request_id: None,
        version: "0".into(),
    }
}

pub fn prompt_id(number: u64) -> PromptId {
    format!("00000000-0000-0000-0000-{number:012x}").parse().expect("it is a UUID")
}

pub fn outcome(status: CallStatus) -> Outcome {
    Outcome::with_status(status, "result")
}

/// What policy says to a call. `version`: what a person would be shown may change with the file it is about.
pub fn judgement(call: &ToolCall, verdict: Verdict, unattended: Unattended, read_only: bool, version: usize) -> Judgement {
    let scope = Scope { rule: format!("{}(*)", call.name), words: "all of them".into() };
    let decision = Decision {
        verdict,
        rule: "a rule".into(),
        basis: Basis::Rule,
        layer: "user".into(),
        parts: Vec::new(),
        scopes: vec![scope.clone()],
        read_only,
        confinement: Confinement::None,
    };
    let question = Approval {
        approval_id: ApprovalId(String::new()),
        session: Pid(7),
        call: call.id.clone(),
        tool: call.name.clone(),
        subject: call.arguments.clone(),
        preview: Display::Line { text: format!("version {version}") },
        rule: "a rule".into(),
        scopes: vec![scope],
        shown_hash: format!("{}{version}", call.arguments),
        asked_at: Stamp::default(),
    };
    Judgement::Decided { decision, subject: call.arguments.clone(), input_sha256: String::new(), question, unattended }
}

/// The start of a thing's debug form: enough to follow a story by.
fn short(thing: &impl std::fmt::Debug) -> String {
    format!("{thing:?}").replace("Append(Record ", "").chars().take(240).collect()
}
