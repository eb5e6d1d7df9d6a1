//! One call's run: it starts, and its end comes back as a message with all that is known of it by then.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use contract::tool::{Cancel, Progress};
use contract::{
    CallAction, CallContext, ExternalChanges, Family, Outcome, Tool, ToolMemory, UserShell,
};
use futures::FutureExt;
use proto::hook::{HookEvent, HookFinished};
use proto::item::{CallStatus, Display, ToolCall};
use proto::program_variables::is_unset_for_read_only_commands;
use proto::record::{Changed, Verdict};
use proto::{CallId, Pid};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::early::EarlyResult;
use super::images::store_images;
use super::questions::CallQuestions;
use super::{CallEnvironment, Printed, Ready, Stop};
use crate::calls::events::CallEvent;
use crate::calls::external_changes::Notes;
use crate::calls::hooks::{HookRunner, HookedCall};
use crate::calls::quarantine;
use crate::reporter::Reporter;
use crate::tasks;
use checkpoint::{Keeper, Watched};
use store::blob::BlobStore;
use turn::Judgement;

/// A call that runs in a task of its own.
struct Run {
    call: CallId,
    tool: Arc<dyn Tool>,
    arguments: Map<String, Value>,
    context: CallContext,
    /// The places to look at again when it has ended.
    watched: Watched,
    /// Where a file tool may create something.
    creates: Vec<PathBuf>,
    /// Its result, if it was done while it was judged.
    done: Option<Box<EarlyResult>>,
    keeper: Arc<Keeper>,
    notes: Notes,
    /// See [`CallEnvironment::prefetch_bounds`].
    prefetch_bounds: Arc<dyn Fn() + Send + Sync>,
    /// The hooks that run after it.
    after: Option<After>,
    /// Where its images go.
    blobs: BlobStore,
    reporter: Reporter<CallEvent>,
}

/// Hooks after a call: their input, and what stops them.
struct After {
    asker: HookRunner,
    seen: HookedCall,
    stop: CancellationToken,
}

/// A call that has started.
pub(crate) enum Started {
    Running(tokio::task::AbortHandle),
    /// It was done while it was judged: its outcome, and how long it took in milliseconds.
    Done(Box<Outcome>, u64),
}

impl CallEnvironment {
    /// Starts a call that is not done yet: its end comes back as `CallEvent::Ended`, also if the tool panics.
    pub(crate) fn start(
        &self,
        call: &ToolCall,
        ready: Ready,
        printed: &Arc<Printed>,
        stop: &Arc<Stop>,
        asker: Option<HookRunner>,
        reporter: Reporter<CallEvent>,
    ) -> Option<Started> {
        if !ready.put_back.is_empty() {
            let run = quarantine::put_back(Arc::clone(&self.spawn), ready.put_back);
            let call = call.id.clone();
            let task = tasks::spawn(async move {
                let outcome = Box::new(run.await);
                reporter.report(CallEvent::Ended {
                    call,
                    outcome,
                    duration_ms: 0,
                });
            });
            return Some(Started::Running(task.abort_handle()));
        }
        let tool = Arc::clone(self.tools.get(ready.tool.as_str())?);
        let asker = asker.filter(|asker| asker.has(HookEvent::PostToolUse, tool.spec()));
        let after = asker.map(|asker| After {
            asker,
            seen: HookedCall {
                call: call.id.clone(),
                tool: Arc::clone(&tool),
                arguments: ready.arguments.clone(),
            },
            stop: stop.token.clone(),
        });
        let done = match ready.done {
            Some(done) if after.is_none() && !done.has_images() => {
                let (outcome, duration_ms) = done.take();
                return Some(Started::Done(
                    Box::new(without_held_keys(outcome)),
                    duration_ms,
                ));
            }
            done => done,
        };
        let progress: Arc<dyn Progress> = Arc::clone(printed) as Arc<dyn Progress>;
        let cancel: Arc<dyn Cancel> = Arc::clone(stop) as Arc<dyn Cancel>;
        let questions = Arc::new(CallQuestions::new(call.id.clone(), reporter.clone()));
        let mut context = self.context(call.id.clone(), progress, questions, cancel);
        if ready.holds_reader {
            let kept = self.env.iter();
            let kept = kept.filter(|(name, _)| !is_unset_for_read_only_commands(name));
            context.env = Arc::new(kept.cloned().collect());
        }
        let run = Run {
            call: call.id.clone(),
            tool,
            arguments: ready.arguments,
            context: CallContext {
                sandbox: ready.sandbox,
                path: ready.path,
                ..context
            },
            watched: ready.watched,
            creates: ready.leads_to,
            done,
            keeper: Arc::clone(&self.keeper),
            notes: self.notes.clone(),
            prefetch_bounds: Arc::clone(&self.prefetch_bounds),
            after,
            blobs: self.blobs.clone(),
            reporter,
        };
        Some(Started::Running(tasks::spawn(run.finish()).abort_handle()))
    }

    /// Starts a command of a user, with its number, name and line. Its end comes back as that of a call.
    pub fn start_user_command(
        &self,
        shell: Arc<dyn UserShell>,
        (number, call, line): (Pid, CallId, String),
        printed: &Arc<Printed>,
        stop: &Arc<Stop>,
        reporter: Reporter<CallEvent>,
    ) -> tokio::task::AbortHandle {
        let progress: Arc<dyn Progress> = Arc::clone(printed) as Arc<dyn Progress>;
        let cancel: Arc<dyn Cancel> = Arc::clone(stop) as Arc<dyn Cancel>;
        let context = self.context(call.clone(), progress, Arc::new(()), cancel);
        let task = tasks::spawn(async move {
            let started = Instant::now();
            let run = AssertUnwindSafe(shell.run(line, number, context)).catch_unwind();
            let outcome = run.await.unwrap_or_else(|_| {
                Outcome::failed("Running the command crashed: a bug in Reasonix. Its earlier effects are not known.")
            });
            reporter.report(CallEvent::Ended {
                call,
                outcome: Box::new(outcome),
                duration_ms: since(started),
            });
        });
        task.abort_handle()
    }
}

/// What a call came to, before hooks look at it.
struct Ran {
    outcome: Outcome,
    duration_ms: u64,
    /// What others have changed meanwhile.
    notes: Vec<ExternalChanges>,
}

impl Run {
    async fn finish(mut self) {
        let ran = match self.done.take() {
            Some(done) => {
                let (outcome, duration_ms) = done.take();
                Ran {
                    outcome,
                    duration_ms,
                    notes: Vec::new(),
                }
            }
            None if self.tool.as_file_worker().is_some() => self.work_on_files().await,
            None => self.run().await,
        };
        let Ran {
            mut outcome,
            duration_ms,
            mut notes,
        } = ran;
        if let Some(finished) = hooks_after(self.after.take(), &outcome).await {
            // What a hook has made of the files belongs to the call when it is undone, and the model is
            // notified of it: it knows the files as they were before.
            take_anew(
                &mut outcome.changed,
                looked(&self.keeper, &self.watched).await,
            );
            notes.extend(self.notes.of_others().await);
            self.reporter.report(CallEvent::HooksRan(finished));
        }
        for note in notes {
            outcome.text = format!("{}\n\n{}", outcome.text.trim_end_matches('\n'), note.text);
            outcome.reported.extend(note.files);
        }
        let mut outcome = without_held_keys(outcome);
        if !outcome.images.is_empty() {
            outcome = stored(self.blobs, outcome).await;
        }
        self.reporter.report(CallEvent::Ended {
            call: self.call,
            outcome: Box::new(outcome),
            duration_ms,
        });
    }

    /// Runs a tool that waits for more than the disk.
    async fn run(&mut self) -> Ran {
        let note = self.notes.of_others().await;
        if self.tool.spec().family == Family::Edit {
            let creates = std::mem::take(&mut self.creates);
            quarantine::expect(Arc::clone(&self.context.spawn), creates).await;
        }
        let started = Instant::now();
        let arguments = std::mem::take(&mut self.arguments);
        let (tool, context) = (Arc::clone(&self.tool), self.context.clone());
        let run =
            AssertUnwindSafe(async move { tool.run(arguments, context).await }).catch_unwind();
        let mut outcome = run.await.unwrap_or_else(|_| crashed());
        let duration_ms = since(started);
        if !matches!(self.watched, Watched::Nothing) {
            take_in(
                &mut outcome.changed,
                looked(&self.keeper, &self.watched).await,
            );
        }
        if self.may_change_files() {
            let (notes, prefetch_bounds) = (self.notes.clone(), Arc::clone(&self.prefetch_bounds));
            let absorb = move || {
                notes.absorb_blocking();
                prefetch_bounds();
            };
            // A panic there is in the daemon's log.
            let _ = tasks::blocking(absorb).await;
        }
        Ran {
            outcome,
            duration_ms,
            notes: note.into_iter().collect(),
        }
    }

    /// The same for a tool that only works on files: all of it on one thread that may block.
    async fn work_on_files(&mut self) -> Ran {
        let work = FileWork {
            tool: Arc::clone(&self.tool),
            arguments: std::mem::take(&mut self.arguments),
            context: self.context.clone(),
            watched: self.watched.clone(),
            creates: std::mem::take(&mut self.creates),
            keeper: Arc::clone(&self.keeper),
            notes: self.notes.clone(),
            prefetch_bounds: Arc::clone(&self.prefetch_bounds),
            changes: self.may_change_files(),
        };
        let ran = tasks::blocking(move || work.run()).await;
        ran.unwrap_or_else(|_| Ran {
            outcome: crashed(),
            duration_ms: 0,
            notes: Vec::new(),
        })
    }

    /// Changes by others while it runs cannot be distinguished from its own.
    fn may_change_files(&self) -> bool {
        matches!(self.tool.spec().family, Family::Bash | Family::Edit)
    }
}

/// The work of a file tool, from the look before it to the look after it.
struct FileWork {
    tool: Arc<dyn Tool>,
    arguments: Map<String, Value>,
    context: CallContext,
    watched: Watched,
    creates: Vec<PathBuf>,
    keeper: Arc<Keeper>,
    notes: Notes,
    prefetch_bounds: Arc<dyn Fn() + Send + Sync>,
    changes: bool,
}

impl FileWork {
    fn run(self) -> Ran {
        let note = self.notes.of_others_blocking();
        if self.tool.spec().family == Family::Edit {
            // What a person has approved, commands that run have not made.
            self.context.spawn.expect(&self.creates);
        }
        let started = Instant::now();
        let run = || match self.tool.as_file_worker() {
            Some(worker) => worker.run_blocking(self.arguments, &self.context),
            None => crashed(),
        };
        let mut outcome = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| crashed());
        let duration_ms = since(started);
        if !matches!(self.watched, Watched::Nothing) {
            take_in(&mut outcome.changed, self.keeper.changed(&self.watched));
        }
        if self.changes {
            self.notes.absorb_blocking();
        }
        // A panic there loses nothing of this call.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.prefetch_bounds)()));
        Ran {
            outcome,
            duration_ms,
            notes: note.into_iter().collect(),
        }
    }
}

/// Whether others have changed known files: checked once for all calls that are judged together.
#[derive(Default)]
pub(crate) struct CachedChangeCheck(OnceCell<bool>);

impl CachedChangeCheck {
    fn found(&self, memory: &dyn ToolMemory) -> bool {
        *self.0.get_or_init(|| memory.has_external_changes())
    }
}

impl CallEnvironment {
    /// Does a judged call now, if it runs unasked, is quick, and others have changed no file that the session knows.
    /// Blocks.
    pub(crate) fn do_if_quick(
        &self,
        call: &CallId,
        judgement: &Judgement,
        ready: &Ready,
        changes: &CachedChangeCheck,
    ) -> Option<EarlyResult> {
        let Judgement::Decided(decided) = judgement else {
            return None;
        };
        let decision = &decided.decision;
        let runs = decision.verdict == Verdict::Allow && decision.read_only;
        let worker = self.tools.get(&ready.tool)?.as_file_worker()?;
        let is_quick =
            runs && decided.action == CallAction::Run && worker.is_quick(&ready.leads_to);
        if !is_quick || changes.found(&*self.memory) {
            return None;
        }
        let started = Instant::now();
        let context = self.quiet(call.clone());
        let run = || worker.run_blocking(ready.arguments.clone(), &context);
        // A tool that crashes does so again where that is reported.
        let outcome = catch_unwind(AssertUnwindSafe(run)).ok()?;
        Some(EarlyResult::new(
            outcome,
            since(started),
            Arc::clone(&self.memory),
        ))
    }
}

fn since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn crashed() -> Outcome {
    Outcome::failed(
        "The tool crashed: a bug in Reasonix. What it did before is not known; look before you go on.",
    )
}

/// Logged, shown and sent text contains no key that is held (I11).
fn without_held_keys(mut outcome: Outcome) -> Outcome {
    outcome.text = contract::without_held_keys(outcome.text);
    outcome.display = without_keys(outcome.display);
    outcome
}

/// The outcome with its images stored.
async fn stored(blobs: BlobStore, outcome: Outcome) -> Outcome {
    let mut storing = outcome.clone();
    let stored = tasks::blocking(move || {
        store_images(&blobs, &mut storing);
        storing
    });
    stored.await.unwrap_or(Outcome {
        images: Vec::new(),
        ..outcome
    })
}

fn without_keys(mut display: Display) -> Display {
    let clean = |text: &mut String| *text = contract::without_held_keys(std::mem::take(text));
    match &mut display {
        Display::Line { text } => clean(text),
        Display::Diff { diff, .. } => clean(diff),
        Display::Command { head, tail, .. } => {
            clean(head);
            clean(tail);
        }
    }
    display
}

/// Runs the hooks after a call, and waits for them. `None`: none has run.
async fn hooks_after(after: Option<After>, outcome: &Outcome) -> Option<Vec<HookFinished>> {
    let After { asker, seen, stop } = after?;
    let what = seen.after(outcome, outcome.status.as_str());
    let chain = asker.ask(what, &stop).await?;
    (!chain.finished.is_empty()).then_some(chain.finished)
}

/// The files that have changed at the places of a call.
async fn looked(keeper: &Arc<Keeper>, watched: &Watched) -> Vec<Changed> {
    let (keeper, watched) = (Arc::clone(keeper), watched.clone());
    let looked = tasks::blocking(move || keeper.changed(&watched)).await;
    looked.unwrap_or_default()
}

/// A second look knows better than anything that was said before.
fn take_anew(said: &mut Vec<Changed>, looked: Vec<Changed>) {
    for known in said.iter_mut() {
        if let Some(fresh) = looked.iter().find(|fresh| fresh.path == known.path) {
            known.now.clone_from(&fresh.now);
        }
    }
    take_in(said, looked);
}

/// What a tool says of a place itself it knows better than a look from outside.
fn take_in(said: &mut Vec<Changed>, looked: Vec<Changed>) {
    let known: BTreeSet<String> = said.iter().map(|changed| changed.path.clone()).collect();
    let fresh = looked
        .into_iter()
        .filter(|changed| !known.contains(&changed.path));
    said.extend(fresh);
}

/// The outcome of a call that did not come back after it was asked to stop.
pub fn overdue() -> Outcome {
    Outcome::with_status(
        CallStatus::Unknown,
        "The call was told to stop and did not come back in time. What it did is not known.",
    )
}
