//! Scenarios as text: lines with `>` are events; the lines below are the machine's effects, separated by `|`.
//!
//! ```text
//! > session headless repair mode=plan read_only=true max_steps=2 timeout_ms=9 tries=2 parallel=1 backoff=1000 window=1000 fallback=q/n planner=q/n      (first, unless the default session is used)
//! > user TEXT            > steer TEXT             > agent TEXT            (the result of a sub-agent)            > adds steps=2|ms=9   > unqueue TEXT            > set kind=headless|max_steps=2|paused=true|mode=plan|read_only=true|model=q/m|budget=9
//! > model says TEXT [using 850]      > model thinks TEXT      > model cut TEXT          > model filtered TEXT
//! > model calls read a, write b, x:write b, read c!       (ids `a`, `b`, `x`, `c`; `!`: cut by the output limit)
//! > model breaks transient|busy|permanent|too-long|unpaid|no-key|lost-key [after 7s] [showing TEXT]
//! > policy a allow|ask|deny|refuse|left-denied|left-allowed [seeing OTHER | keeping FILE | doing TODO TODO] [as TOOL INPUT]
//! > policy a allow stale                          (it was judged in plan mode)
//! > policy a questions|left-questions             (questions of `a` to the user; `left-`: no client is attached)
//! > ann yes|always|no 7.1 [NOTE]                  > nobody leaves 7.1 [WHY]
//! > policy a plans|left-plans                     (a plan for the user to approve; `left-`: no client is attached)
//! > ann approves|rejects 7.1 [NOTE]               > ann says 7.1 LABEL
//! > asks a 1 [alone]      (a question of the running call `a` for an MCP server; `alone`: no client is attached)
//! > withdraws a 1         > ann accepts|declines|cancels 7.1 [WORDS]
//! > ends a ok|failed|blocked|interrupted [changing FILE]
//! > stop user|term|kill|shutdown [showing TEXT]   > retry | key | close | gated | sent | restart due
//! > time up 1 [early]     (when the timer expires; early: now)  > wait 500     (milliseconds)
//! > edit TEXT to OTHER    > edit TEXT to steer OTHER        > move TEXT to 0
//! > compact WORDS | uncompact                     > job resets|nothing|full|fails|asks|switches [to less]
//! > pause | resume        > suspend [now]                    > child 9 runs | ends     (a background command)
//! > rewind to 1 [files|all] | rewind undo         (only the conversation by default; takes effect with `rewound`)
//! > rewound | not rewound | files kept             > show conversation    (the messages, including folded ones)
//! > show request          (the pieces of the next request)        > show compaction       (the outcome of the newest one)
//! > hooks finished        (after `run the stop hooks`, in a session with `hooks`)
//! > goal TEXT [turns 3] [check COMMAND]            > ungoal                          (a user stops it)
//! > regoal [turns 3] [tokens 100]                   (a user changes the goal's limits)
//! > policy a reports complete|complete-unproven|continue|blocked WORDS     (the model's report about the goal)
//! > planner plans TEXT | fails WHY
//! > crash continue|idle [before KIND | after KIND] [showing TEXT | showing TEXT of ITEM]
//! ```
//!
//! `write` is a writing tool, `read` and `ask` are read-only. A crash keeps the whole log, or cuts it at the last record
//! of a kind.

use contract::CallAction;
use proto::params::history::What;
use proto::params::session::When;
use proto::record::{
    AddedLimits, PromptEdited, PromptMoved, PromptQueued, SessionRewound, Verdict,
};
use proto::reset::{CacheReset, Compaction, Piece, Wire};
use proto::state::{Kind, Mode, RestartPolicy};
use proto::{Body, ItemId, Pid, Record, Seq, Stamp};
use proto::{ErrorName, Failure};

use super::checker::Checker;
use super::made::{ask, checkpoint, created, fallback, judgement, means, prompt_id, todo};
use crate::compacting::{CompactionEnd, ResetJob, ResetJobOutcome, Summary};
use crate::compaction::{FullContext, NothingToCompact};
use crate::input::Unattended;
use crate::words;
use crate::{
    Answer, Decided, Effect, Facts, Fallback, Input, Judgement, Limits, Machine, Now, RecoverPolicy,
};

mod goal;
mod happens;
mod reported;

use happens::{answer, asks, child, ends, kind, model, number, planner, set, stop, withdraws};
use reported::reported;

/// Plays a scenario, and compares the effects of each line.
#[track_caller]
pub fn check(script: &str) {
    let mut stage = CallStage::new();
    let (mut played, mut wanted) = (Vec::new(), Vec::new());
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        match line.strip_prefix("> ") {
            Some(happens) => {
                played.push((happens, stage.play(happens)));
                wanted.push((happens, Vec::new()));
            }
            None => {
                let (_, made) = wanted.last_mut().expect("a scenario starts with an event");
                made.extend(
                    line.split('|')
                        .map(str::trim)
                        .filter(|part| !part.is_empty())
                        .map(str::to_owned),
                );
            }
        }
    }
    let print = |scenario: &[(&str, Vec<String>)]| -> String {
        scenario
            .iter()
            .map(|(happens, made)| format!("> {happens}\n  {}\n", made.join(" | ")))
            .collect()
    };
    assert!(
        played == wanted,
        "it went so:\n{}\nand not so:\n{}",
        print(&played),
        print(&wanted)
    );
    Checker::of(&stage.log, &stage.cuts).no_prompt_is_lost();
}

/// The log of a scenario. Its effects are not compared.
pub fn log_of(script: &str) -> Vec<Record> {
    let mut stage = CallStage::new();
    for line in script.lines().map(str::trim) {
        if let Some(happens) = line.strip_prefix("> ") {
            stage.play(happens);
        }
    }
    stage.log
}

struct CallStage {
    machine: Machine,
    limits: Limits,
    /// Whether calls are repaired.
    repair: bool,
    /// The model that answers if the session's own model is down.
    fallback: Option<Fallback>,
    log: Vec<Record>,
    /// The positions at which crashes have cut it off.
    cuts: Vec<u64>,
    now: Now,
    prompts: Vec<String>,
    /// The newest scheduled retry.
    retry: (ItemId, u32),
    /// When the newest timer of a turn expires.
    due_ms: u64,
    /// The result of the rewind in progress.
    rewound: Option<SessionRewound>,
    /// The newest job that changes earlier bytes of requests.
    job: Option<ResetJob>,
}

impl CallStage {
    fn repair(&mut self) {
        self.machine.set_fallback(self.fallback.clone());
        if self.repair {
            self.machine.set_call_repair(Some(means()));
        }
    }

    fn new() -> Self {
        let mut stage = Self {
            machine: Machine::new(Facts::default(), Limits::default()),
            limits: Limits::default(),
            repair: false,
            fallback: None,
            log: Vec::new(),
            cuts: Vec::new(),
            now: Now {
                wall: Stamp(0),
                mono_ms: 0,
            },
            prompts: Vec::new(),
            retry: (ItemId::from("none"), 0),
            due_ms: 0,
            rewound: None,
            job: None,
        };
        stage.begin("");
        stage
    }

    /// Starts a new session with these settings.
    fn begin(&mut self, settings: &str) {
        let mut record = created(Kind::Interactive, 0, 0);
        let options = &mut record.options;
        (self.limits, self.fallback) = (Limits::default(), None);
        self.limits.restarts.base_ms = 0;
        for setting in settings.split_whitespace() {
            match setting.split_once('=') {
                None if ["hooks", "repair"].contains(&setting) => {}
                None => options.kind = Some(kind(setting)),
                Some(("mode", mode)) => options.mode = Some(Mode::named(mode).expect("a mode")),
                Some(("read_only", only)) => options.read_only = Some(only == "true"),
                Some(("max_steps", steps)) => options.max_steps = Some(number(steps)),
                Some(("timeout_ms", ms)) => options.timeout_ms = Some(number(ms)),
                Some(("restart", policy)) => {
                    options.restart = Some(RestartPolicy::named(policy).expect("a policy"));
                }
                Some(("window", tokens)) => record.context_window = number(tokens),
                Some(("planner", model)) => options.planner_model = Some(model.to_owned()),
                Some(("fallback", model)) => self.fallback = Some(fallback(model)),
                Some(("tries", tries)) => {
                    self.limits.retry_tries = tries.parse().expect("a number")
                }
                Some(("backoff", ms)) => self.limits.restarts.base_ms = number(ms),
                Some(("parallel", count)) => {
                    self.limits.parallel = count.parse().expect("a number")
                }
                Some((other, _)) => panic!("there is no setting `{other}`"),
            }
        }
        self.machine = Machine::new(Facts::default(), self.limits);
        let hooks = settings
            .split_whitespace()
            .any(|setting| setting == "hooks");
        self.machine.set_notify_turn_end(hooks);
        self.repair = settings
            .split_whitespace()
            .any(|setting| setting == "repair");
        self.repair();
        self.log.clear();
        let effects = self.machine.record(Body::SessionCreated(record), self.now);
        self.keep(&effects);
    }

    /// Plays a line of the script, and returns its effects as text.
    fn play(&mut self, line: &str) -> Vec<String> {
        let (who, what) = line.split_once(' ').unwrap_or((line, ""));
        let input = match who {
            "session" => {
                self.begin(what);
                return Vec::new();
            }
            "crash" => {
                let effects = self.crash(what);
                return self.keep(&effects);
            }
            "user" => self.prompt(what, When::Queue),
            "steer" => self.prompt(what, When::Steer),
            "agent" => self.agent(what),
            "adds" => self.adds(what),
            "unqueue" => Input::Unqueue(self.prompt_named(what)),
            "set" => set(what),
            "model" => model(what),
            "policy" => self.policy(what),
            "ann" | "nobody" => answer(what),
            "rewind" => {
                if !self.plan(what) {
                    return vec!["there is no such turn".into()];
                }
                Input::Rewind
            }
            "rewound" => Input::Rewound(self.rewound.take().expect("a rewind has begun")),
            "not" => Input::NotRewound,
            "files" => {
                let kept = Body::CheckpointCreated(checkpoint(None, "/w/a"));
                let effects = self.machine.record(kept, self.now);
                return self.keep(&effects);
            }
            "compact" => Input::Compact {
                instructions: what.to_owned(),
                request_id: None,
            },
            "uncompact" => Input::UndoCompaction { request_id: None },
            "window" => Input::ContextWindow(number(what)),
            "job" => self.job_ends(what),
            "show" if what == "request" => return vec![self.request()],
            "show" if what == "compaction" => return vec![self.compaction()],
            "show" => return self.conversation(),
            "ends" => ends(what),
            "asks" => asks(what),
            "withdraws" => withdraws(what),
            "stop" => stop(what),
            "edit" => self.edit(what),
            "move" => {
                let (text, place) = what.split_once(" to ").expect("move TEXT to PLACE");
                Input::Move(PromptMoved {
                    prompt_id: self.prompt_named(text),
                    position: number(place),
                    by: "ann".into(),
                    request_id: None,
                })
            }
            "pause" | "resume" => Input::Pause {
                paused: who == "pause",
                tree: false,
                by: "ann".into(),
                request_id: None,
            },
            "suspend" if what == "now" => Input::SuspendNow { partial: None },
            "suspend" => Input::Suspend,
            "child" => child(what),
            "goal" => goal::started(what),
            "ungoal" => goal::stopped(),
            "regoal" => match goal::changed(self.machine.facts(), what) {
                Ok(input) => input,
                Err(refusal) => return vec![format!("refused: {refusal:?}")],
            },
            "wait" => {
                self.wait(number(what));
                return Vec::new();
            }
            "time" => {
                let turn = what.strip_prefix("up ").expect("time up TURN");
                let (turn, early) = turn
                    .strip_suffix(" early")
                    .map_or((turn, false), |turn| (turn, true));
                if !early {
                    self.wait(self.due_ms.saturating_sub(self.now.mono_ms));
                }
                let turn = number(turn);
                Input::TimeUp {
                    turn,
                    partial: None,
                }
            }
            "retry" => Input::RetryDue {
                item: self.retry.0.clone(),
                attempt: self.retry.1,
            },
            "gated" => Input::RequestWaits {
                down: what == "down",
                cause: "full".into(),
                in_ms: None,
            },
            "restart" => Input::RestartDue,
            "sent" => Input::RequestSent,
            "hooks" => Input::TurnEndNotified,
            "planner" => planner(what, self.machine.facts().turns),
            "key" => Input::CredentialsArrived,
            "close" => Input::Close { request_id: None },
            other => panic!("nobody is called `{other}`"),
        };
        let effects = self.machine.step(input, self.now);
        self.keep(&effects)
    }

    fn keep(&mut self, effects: &[Effect]) -> Vec<String> {
        for effect in effects {
            match effect {
                Effect::Append(record) => self.log.push(record.clone()),
                Effect::Reset(job) => self.job = Some(job.clone()),
                Effect::Retry { item, attempt, .. } => self.retry = (item.clone(), *attempt),
                Effect::ArmTimeout { in_ms, .. } => self.due_ms = self.now.mono_ms + in_ms,
                _ => {}
            }
        }
        effects.iter().filter_map(reported).collect()
    }

    /// `resets`, `nothing`, `full`, `fails`, `asks`.
    fn job_ends(&self, what: &str) -> Input {
        let job = self.job.as_ref().expect("a job has begun");
        let facts = self.machine.facts();
        let end = match what {
            "resets" => {
                // All messages but the newest are folded.
                let pieces = facts.pieces_upto(facts.seq);
                let newest = pieces.iter().rev().find_map(|piece| match piece {
                    Piece::Element { .. } => Some(piece.clone()),
                    Piece::Run(first, last) => {
                        let among = |record: &&Record| (*first..=*last).contains(&record.seq);
                        let mut records = self.log.iter().rev().filter(among);
                        let newest = records.find(|record| item(record).is_some())?.seq;
                        Some(Piece::Run(newest, newest))
                    }
                });
                let newest = newest.expect("something was said");
                ResetJobOutcome::Reset(CacheReset {
                    reason: "compaction".into(),
                    base: Some(vec![element(0), newest]),
                    compaction: Some(Compaction {
                        tokens_before: facts.context_tokens,
                        tokens_after: facts.context_tokens / 4,
                        mechanical: job.summary == Summary::Mechanical,
                        ..Compaction::default()
                    }),
                    ..CacheReset::default()
                })
            }
            "switches" | "switches to less" => {
                let less = u64::from(what == "switches to less") * 100;
                let count = u32::from(facts.wants_rendering());
                ResetJobOutcome::Reset(CacheReset {
                    reason: "switch".into(),
                    base: (count > 0).then(|| vec![element(0)]),
                    wire: Some(Wire {
                        provider: facts.options.provider().to_owned(),
                        model: facts.options.model_name().to_owned(),
                        effort: facts.options.effort.clone(),
                        context_window: facts.wire.context_window.saturating_sub(less),
                        ..facts.wire.clone()
                    }),
                    ..CacheReset::default()
                })
            }
            "nothing" => ResetJobOutcome::Nothing(NothingToCompact::TooLittle),
            "full" => ResetJobOutcome::Full(FullContext {
                kept: 900,
                ..FullContext::default()
            }),
            "fails" => ResetJobOutcome::Failed(Failure::new(ErrorName::Storage, "no", "")),
            "asks" => ResetJobOutcome::Ask,
            "asks the provider" => ResetJobOutcome::AskServer,
            other => panic!("a job has no outcome `{other}`"),
        };
        Input::JobEnded {
            number: job.number,
            end: Box::new(end),
        }
    }

    /// `to 1`, `to 1 files`, `to 1 all`, `undo`. False: there is no such turn or rewind.
    fn plan(&mut self, what: &str) -> bool {
        let facts = self.machine.facts();
        let words: Vec<_> = what.split(' ').collect();
        let (what, undoes, plan) = match words[..] {
            ["undo"] => match facts.undoable() {
                Some(rewind) => {
                    let plan = facts.plan_undo(rewind);
                    (rewind.what, Some(rewind.seq), Some(plan))
                }
                None => (What::Both, None, None),
            },
            ["to", turn, "files"] => (What::Code, None, facts.plan_rewind(number(turn))),
            ["to", turn, "all"] => (What::Both, None, facts.plan_rewind(number(turn))),
            ["to", turn] => (What::Conversation, None, facts.plan_rewind(number(turn))),
            _ => panic!("rewind to TURN [files|all], or undo"),
        };
        let planned = plan.is_some();
        self.rewound = plan.map(|plan| SessionRewound {
            to_turn: plan.to_turn,
            what,
            undoes,
            shown: (what != What::Code).then_some(plan.shown),
            todos: None,
            files: Vec::new(),
            by: "ann".into(),
            request_id: None,
        });
        planned
    }

    /// The messages of the conversation, and facts about it.
    fn conversation(&self) -> Vec<String> {
        let facts = self.machine.facts();
        let runs = facts.shown_upto(facts.seq);
        let shown = |seq: Seq| {
            runs.iter()
                .any(|(first, last)| *first <= seq && seq <= *last)
        };
        let records = self.log.iter().filter(|record| shown(record.seq));
        let items = records.filter_map(item);
        let todos = facts.todos.iter().map(|todo| todo.content.as_str());
        let todos: Vec<_> = todos.collect();
        let items: Vec<_> = items.collect();
        let items = if items.is_empty() {
            "no message".into()
        } else {
            items.join(" ")
        };
        let counts = format!(
            "{} answers, {} said, to do: {}",
            facts.answered,
            facts.spoken,
            todos.join(" ")
        );
        let mut shown = vec![items, counts.trim_end().to_owned()];
        shown.extend(facts.cut_off.map(|how| format!("cut off: {how:?}")));
        shown
    }

    /// The pieces of the next request.
    fn request(&self) -> String {
        let facts = self.machine.facts();
        let mut sent = Vec::new();
        for piece in facts.pieces_upto(facts.seq) {
            match piece {
                Piece::Element { .. } => sent.push("element".to_owned()),
                Piece::Run(first, last) => {
                    let records = self.log.iter();
                    let among = records.filter(|record| (first..=last).contains(&record.seq));
                    sent.extend(among.filter_map(item));
                }
            }
        }
        sent.join(" ")
    }

    /// The outcome of the newest compaction.
    fn compaction(&mut self) -> String {
        match self.machine.take_compaction_end() {
            None => "nothing is known".into(),
            Some(CompactionEnd::Done(seq, _)) => {
                let record = self.log.iter().find(|record| record.seq == seq);
                format!("done: {}", record.map_or("?", |record| record.body.kind()))
            }
            Some(CompactionEnd::Nothing(why)) => format!("{why:?}"),
            Some(CompactionEnd::Failed(failure)) => failure.message,
        }
    }

    fn prompt(&mut self, text: &str, when: When) -> Input {
        self.prompts.push(text.to_owned());
        let prompt = PromptQueued {
            untyped: Vec::new(),
            from: None,
            added: None,
            references: None,
            on_ask: None,
            prompt_id: self.prompt_named(text),
            text: text.to_owned(),
            steer: when == When::Steer,
            by: "ann".into(),
            request_id: None,
        };
        Input::Prompt { prompt, when }
    }

    /// What a session of the tree sends comes like steering.
    fn agent(&mut self, text: &str) -> Input {
        match self.prompt(text, When::Steer) {
            Input::Prompt { prompt, when } => Input::Prompt {
                prompt: PromptQueued {
                    untyped: Vec::new(),
                    from: Some(Pid(9)),
                    ..prompt
                },
                when,
            },
            other => other,
        }
    }

    /// `steps=2`, `ms=9000`: the work that a limit has stopped goes on.
    fn adds(&mut self, what: &str) -> Input {
        let mut added = AddedLimits::default();
        match what.split_once('=').expect("steps=N|ms=N") {
            ("steps", steps) => added.steps = Some(number(steps)),
            ("ms", ms) => added.ms = Some(number(ms)),
            (other, _) => panic!("there is no limit `{other}`"),
        }
        match self.prompt(words::CONTINUE_AFTER_LIMIT, When::Queue) {
            Input::Prompt { prompt, when } => Input::Prompt {
                prompt: PromptQueued {
                    untyped: Vec::new(),
                    added: Some(added),
                    ..prompt
                },
                when,
            },
            other => other,
        }
    }

    /// Advances both clocks.
    fn wait(&mut self, ms: u64) {
        self.now.mono_ms += ms;
        self.now.wall.0 += i64::try_from(ms).expect("small");
    }

    /// `TEXT to OTHER`: later lines name the prompt by its new text.
    fn edit(&mut self, what: &str) -> Input {
        let (text, other) = what.split_once(" to ").expect("edit TEXT to OTHER");
        let (steer, other) = other
            .strip_prefix("steer ")
            .map_or((false, other), |other| (true, other));
        let prompt_id = self.prompt_named(text);
        let place = self.prompts.iter().rposition(|prompt| prompt == text);
        other.clone_into(&mut self.prompts[place.expect("somebody said that")]);
        Input::Edit(PromptEdited {
            untyped: Vec::new(),
            references: None,
            prompt_id,
            text: other.to_owned(),
            steer,
            by: "ann".into(),
            request_id: None,
        })
    }

    fn prompt_named(&self, text: &str) -> proto::PromptId {
        let place = self
            .prompts
            .iter()
            .rposition(|prompt| prompt == text)
            .expect("somebody said that");
        prompt_id(u64::try_from(place).expect("small") + 1)
    }

    fn policy(&self, what: &str) -> Input {
        // The tool that the call resolves to, if it differs from its name.
        let (what, leads_to) = what
            .split_once(" as ")
            .map_or((what, None), |(what, real)| (what, Some(real)));
        let (what, keeping) = what
            .split_once(" keeping ")
            .map_or((what, None), |(what, file)| (what, Some(file)));
        let (what, doing) = what
            .split_once(" doing ")
            .map_or((what, None), |(what, todos)| (what, Some(todos)));
        let (what, twice) = what
            .strip_suffix(" twice")
            .map_or((what, false), |what| (what, true));
        let (what, seeing) = what.split_once(" seeing ").unwrap_or((what, "it"));
        let (what, stale) = what
            .strip_suffix(" stale")
            .map_or((what, false), |what| (what, true));
        let (id, says) = what.split_once(' ').expect("policy CALL VERDICT");
        let open = self
            .machine
            .facts()
            .open
            .iter()
            .flat_map(|open| &open.calls);
        let call = open
            .map(|open| &open.call)
            .find(|call| call.id.0 == id)
            .expect("the model made that call")
            .clone();
        let wait = Unattended::Wait;
        let (verdict, unattended) = match says {
            "allow" | "questions" => (Verdict::Allow, wait),
            "plans" => (Verdict::Ask, wait),
            "left-plans" => (Verdict::Ask, Unattended::Deny("nobody is there".into())),
            "left-questions" => (Verdict::Allow, Unattended::Deny("nobody is there".into())),
            "ask" => (Verdict::Ask, wait),
            "deny" => (Verdict::Deny, wait),
            "left-denied" => (
                Verdict::Ask,
                Unattended::Deny("Nobody was there; `--allow` would do.".into()),
            ),
            "left-allowed" => (Verdict::Ask, Unattended::Allow),
            "refuse" => {
                let judgement = Box::new(Judgement::Refused(contract::Outcome::refused(
                    "There is no such tool.",
                )));
                return Input::Judged {
                    call: call.id,
                    judgement,
                };
            }
            says if says.starts_with("reports ") => (Verdict::Allow, wait),
            other => panic!("policy never says `{other}`"),
        };
        let mut judgement = judgement(&call, verdict, unattended, call.name != "write", 0);
        if let Judgement::Decided(Decided {
            action,
            approval,
            shown_hash,
            again_hash,
            effective_permissions,
            checkpoint: kept,
            tool,
            input_sha256,
            ..
        }) = &mut judgement
        {
            if let Some(real) = leads_to.map(happens::call) {
                *input_sha256 = format!("{} {}", real.name, real.arguments);
                approval.tool.clone_from(&real.name);
                *tool = real.name;
            }
            seeing.clone_into(shown_hash);
            *again_hash = twice.then(|| format!("{seeing} again"));
            if let Some(why) = self.machine.facts().blocked(&call.id) {
                approval.escape = Some(why.to_owned());
                approval.scopes.clear();
                *shown_hash = format!("outside {seeing}");
            }
            *action = match (says, doing) {
                (says, _) if says.starts_with("reports ") => goal::report(says),
                (_, Some(todos)) => CallAction::UpdateTodos(todos.split(' ').map(todo).collect()),
                ("questions" | "left-questions", None) => CallAction::AskUser(vec![ask("Which?")]),
                ("plans" | "left-plans", None) => CallAction::PresentPlan("1. look".into()),
                (_, None) => CallAction::Run,
            };
            *effective_permissions = self.machine.facts().effective_permissions();
            if stale {
                effective_permissions.mode = Mode::Plan;
            }
            *kept = keeping.map(|file| checkpoint(Some(&call.id), file));
        }
        Input::Judged {
            call: call.id,
            judgement: Box::new(judgement),
        }
    }

    /// The daemon dies, the log is cut off, and the session is recovered.
    fn crash(&mut self, what: &str) -> Vec<Effect> {
        let (what, shown) = what
            .split_once(" showing ")
            .map_or((what, None), |(what, shown)| (what, Some(shown)));
        let words: Vec<_> = what.split(' ').collect();
        let last = |kind: &str| {
            self.log
                .iter()
                .rposition(|record| record.body.kind() == kind)
                .expect("it is in the log")
        };
        let kept = match words[..] {
            [_] => self.log.len(),
            [_, "before", kind] => last(kind),
            [_, "after", kind] => last(kind) + 1,
            _ => panic!("crash POLICY [before|after KIND]"),
        };
        let policy = match words[0] {
            "continue" => RecoverPolicy::Continue,
            "idle" => RecoverPolicy::Idle,
            other => panic!("there is no recovery `{other}`"),
        };
        self.log.truncate(kept);
        self.cuts.push(kept as u64);
        self.machine = Machine::new(Facts::fold(&self.log), self.limits);
        self.repair();
        self.now.mono_ms = 0;
        let kept = shown.map(|shown| self.kept(shown));
        self.machine.recover(policy, kept, self.now)
    }

    /// The contents of the draft file: for the answer in progress, or for `ITEM`.
    fn kept(&self, shown: &str) -> (ItemId, Answer) {
        let (text, item) = match shown.split_once(" of ") {
            Some((text, item)) => (text, ItemId::from(item)),
            None => {
                let open = self.machine.facts().open.as_ref();
                (shown, open.expect("a turn is open").next_item())
            }
        };
        let answer = Answer {
            text: text.to_owned(),
            ..Answer::default()
        };
        (item, answer)
    }
}

/// The id of a message.
fn item(record: &Record) -> Option<String> {
    match &record.body {
        Body::User(message) => Some(message.item.to_string()),
        Body::Assistant(message) => Some(message.item.to_string()),
        Body::Tool(message) => Some(message.item.to_string()),
        _ => None,
    }
}

/// An element of the reset that is being built.
fn element(element: u32) -> Piece {
    let reset = Seq(0);
    Piece::Element { reset, element }
}
