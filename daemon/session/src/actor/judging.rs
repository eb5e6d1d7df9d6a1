//! Where the actor has calls judged. That looks at files, so it is done on a thread that may block; the verdict comes back as
//! a message.
//!
//! Calls are judged one after the other, as the machine wants them. But each trip to another thread and back takes longer than
//! to judge a call or to read a short file. So a trip also judges the file readers after it, and does those that are
//! quick: when the machine wants them judged, or done, the answer is there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::{Family, Outcome};
use futures::FutureExt as _;
use proto::hook::HookFinished;
use proto::item::ToolCall;
use tokio::sync::mpsc::UnboundedSender;
use turn::Judgement;
use turn::facts::CallStage;

use crate::actor::Actor;
use crate::actor::inbox::Happened;
use crate::assembly::guards::GuardWatch;
use crate::calls::ahead::EarlyJudgement;
use crate::calls::call::{CachedChangeCheck, CallEnvironment, KeptPaths, Ready};
use crate::calls::hooks as hooked;
use crate::calls::judgement::Standpoint;
use crate::tasks;

/// Calls that are judged in one go, at most.
const TOGETHER_MAX: usize = 8;
/// How long records wait for those that a judgement and quick readers are about to add: one write and one sync for all.
const GATHER: Duration = Duration::from_millis(2);

impl Actor {
    /// Has a call judged.
    pub(crate) fn judge(&mut self, call: ToolCall) {
        let standpoint = Arc::new(self.standpoint_of(&call));
        let asked = self.asker_before(&call);
        if asked.is_none()
            && let Some(ahead) = self.calls.take_ahead(&call, &standpoint)
        {
            let _ = self.happened.send(Happened::Judged {
                call: call.id,
                judgement: ahead.judgement,
                ready: Box::new(ahead.ready),
                hooks: Vec::new(),
            });
            return;
        }
        // Its judgement adds records at once, unless hooks are asked first.
        match self.is_file_call(&call) && standpoint.is_plain() && asked.is_none() {
            true => self.journal.gather(GATHER),
            false => self.journal.gather_no_more(),
        }
        let following = match self.is_file_reader(&call) && standpoint.is_plain() {
            true => self.readers_after(&call),
            false => Vec::new(),
        };
        let open = self.machine.facts().open.as_ref();
        let job = Job {
            environment: Arc::clone(self.calls.call_environment()),
            watch: self.calls.guard_watch(Arc::clone(&self.assembly)),
            standpoint,
            kept: KeptPaths {
                files: open.map(|open| open.kept.clone()).unwrap_or_default(),
                tree: open.is_some_and(|open| open.tree_kept),
            },
            // A call that the user has just denied is not done if it is made again: the machine refuses it.
            does_quick: open.is_none_or(|open| open.refused.is_empty()),
            happened: self.happened.clone(),
        };
        let Some((asker, stop)) = asked else {
            tasks::spawn_blocking(move || job.run(call, following, Vec::new()));
            return;
        };
        tasks::spawn(async move {
            // What cannot be read is refused without anybody being asked.
            let asked = AssertUnwindSafe(async {
                match job.environment.seen(&call) {
                    Some(seen) => asker.ask(seen.before(), &stop).await,
                    None => Some(hooks::HookChain::default()),
                }
            });
            let chain = match asked.catch_unwind().await {
                Ok(Some(chain)) => chain,
                // Stopped: nobody waits for it any more.
                Ok(None) => return,
                Err(_) => return job.refuse(call, crashed(), Vec::new()),
            };
            if let Some(why) = chain.why_blocked() {
                return job.refuse(call, hooked::blocked(&why), chain.finished);
            }
            tasks::spawn_blocking(move || job.run(call, Vec::new(), chain.finished));
        });
    }

    /// What a call is judged by.
    fn standpoint_of(&mut self, call: &ToolCall) -> Standpoint {
        let facts = self.machine.facts();
        let open = facts.open.as_ref();
        let quarantined = facts.quarantined(&call.id).to_vec();
        let outside = facts.blocked(&call.id).filter(|_| quarantined.is_empty());
        let outside = outside.map(str::to_owned);
        let checks = open.map_or_else(Vec::new, |open| open.checks(&call.id).to_vec());
        Standpoint {
            quarantined,
            checks,
            ..self.standpoint(outside)
        }
    }

    /// Whether the tool of a call does nothing but work on files.
    fn is_file_call(&self, call: &ToolCall) -> bool {
        let tool = self.calls.call_environment().tools.get(&call.name);
        tool.is_some_and(|tool| tool.as_file_worker().is_some())
    }

    /// Whether the tool of a call does nothing but read files.
    fn is_file_reader(&self, call: &ToolCall) -> bool {
        let tool = self.calls.call_environment().tools.get(&call.name);
        self.is_file_call(call) && tool.is_some_and(|tool| tool.spec().family == Family::Read)
    }

    /// The readers after a call, up to the first other call, which may have to wait for their ends.
    fn readers_after(&self, call: &ToolCall) -> Vec<ToolCall> {
        let facts = self.machine.facts();
        // Each call waits for its own.
        if self.hooks.any(proto::hook::HookEvent::PreToolUse) {
            return Vec::new();
        }
        let calls = facts.open.iter().flat_map(|open| &open.calls);
        let following = calls.skip_while(|open| open.call.id != call.id).skip(1);
        let readers = following.take_while(|open| {
            open.stage == CallStage::Open && !open.call.cut && self.is_file_reader(&open.call)
        });
        readers
            .take(TOGETHER_MAX - 1)
            .map(|open| open.effective())
            .collect()
    }
}

/// A trip to a thread that may block.
struct Job {
    environment: Arc<CallEnvironment>,
    watch: GuardWatch,
    standpoint: Arc<Standpoint>,
    kept: KeptPaths,
    /// Quick calls are done at once.
    does_quick: bool,
    happened: UnboundedSender<Happened>,
}

impl Job {
    /// Judges a call and the readers after it, as long as they are quick, and reports. Blocks.
    fn run(self, call: ToolCall, following: Vec<ToolCall>, hooks: Vec<HookFinished>) {
        let since = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| self.watch.outdated())) {
            Ok(Some(outdated)) => {
                let _ = self.happened.send(Happened::Outdated {
                    call,
                    outdated,
                    hooks,
                });
                return;
            }
            Ok(None) => {}
            Err(_) => return self.refuse(call, crashed(), hooks),
        }
        let changes = CachedChangeCheck::default();
        let (judgement, ready) = self.judge(&call, &changes);
        if ready.done.is_some() {
            // The next request comes at once, and needs them.
            let _ = catch_unwind(AssertUnwindSafe(|| (self.environment.prefetch_bounds)()));
            let mut is_quick = true;
            let quick = following.into_iter().map_while(|call| {
                let (judgement, ready) = is_quick.then(|| self.judge(&call, &changes))?;
                is_quick = ready.done.is_some();
                Some(EarlyJudgement {
                    call,
                    judgement: Box::new(judgement),
                    ready,
                    standpoint: Arc::clone(&self.standpoint),
                    since,
                })
            });
            let _ = self
                .happened
                .send(Happened::EarlyJudgement(quick.collect()));
        }
        self.report(call, judgement, ready, hooks);
    }

    /// Judges one call, and does it if it is quick. Blocks.
    fn judge(&self, call: &ToolCall, changes: &CachedChangeCheck) -> (Judgement, Ready) {
        let judged = catch_unwind(AssertUnwindSafe(|| {
            let (environment, standpoint) = (&self.environment, &self.standpoint);
            let (judgement, mut ready) = environment.judge(call, standpoint, &self.kept);
            if self.does_quick {
                let done = environment.do_if_quick(&call.id, &judgement, &ready, changes);
                ready.done = done.map(Box::new);
            }
            (judgement, ready)
        }));
        judged.unwrap_or_else(|_| (Judgement::Refused(crashed()), Ready::default()))
    }

    fn refuse(&self, call: ToolCall, why: Outcome, hooks: Vec<HookFinished>) {
        self.report(call, Judgement::Refused(why), Ready::default(), hooks);
    }

    fn report(&self, call: ToolCall, judgement: Judgement, ready: Ready, hooks: Vec<HookFinished>) {
        // The actor may have ended.
        let _ = self.happened.send(Happened::Judged {
            call: call.id,
            judgement: Box::new(judgement),
            ready: Box::new(ready),
            hooks,
        });
    }
}

/// A call that a bug has kept from being judged, in the words for the model.
fn crashed() -> Outcome {
    Outcome::refused("Not run: the call could not be judged, because of a bug in Reasonix.")
}
