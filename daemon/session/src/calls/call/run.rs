//! One call's run: it starts, and its end comes back as a message with all that is known of it by then.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use contract::tool::{Cancel, Progress};
use contract::{CallContext, ExternalChanges, Family, Outcome, Tool, UserShell};
use futures::FutureExt;
use proto::hook::{HookEvent, HookFinished};
use proto::item::{CallStatus, Display, ToolCall};
use proto::program_variables::scrubbed_for_readers;
use proto::record::Changed;
use proto::{CallId, Pid};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::images::store_images;
use super::questions::CallQuestions;
use super::{CallEnvironment, Printed, Ready, Stop};
use crate::calls::events::CallEvent;
use crate::calls::external_changes::Notes;
use crate::calls::hooks::{Asker, HookedCall};
use crate::calls::quarantine;
use crate::reporter::Reporter;
use checkpoint::{Keeper, Watched};
use store::blob::BlobStore;

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
    keeper: Arc<Keeper>,
    notes: Notes,
    /// The hooks that run after it.
    after: Option<After>,
    /// Where its images go.
    blobs: BlobStore,
    reporter: Reporter<CallEvent>,
}

/// Hooks after a call: their input, and what stops them.
struct After {
    asker: Asker,
    seen: HookedCall,
    stop: CancellationToken,
}

impl CallEnvironment {
    /// Starts a call. Its end comes back as `CallEvent::Ended`, also where the tool panics.
    pub fn start(
        &self,
        call: &ToolCall,
        ready: Ready,
        printed: &Arc<Printed>,
        stop: &Arc<Stop>,
        asker: Option<Asker>,
        reporter: Reporter<CallEvent>,
    ) -> Option<tokio::task::AbortHandle> {
        if !ready.put_back.is_empty() {
            let run = quarantine::put_back(Arc::clone(&self.spawn), ready.put_back);
            let call = call.id.clone();
            let task = tokio::spawn(async move {
                let outcome = Box::new(run.await);
                reporter.report(CallEvent::Ended {
                    call,
                    outcome,
                    duration_ms: 0,
                });
            });
            return Some(task.abort_handle());
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
        let progress: Arc<dyn Progress> = Arc::clone(printed) as Arc<dyn Progress>;
        let cancel: Arc<dyn Cancel> = Arc::clone(stop) as Arc<dyn Cancel>;
        let questions = Arc::new(CallQuestions::new(call.id.clone(), reporter.clone()));
        let mut context = self.context(call.id.clone(), progress, questions, cancel);
        if ready.holds_reader {
            let kept = self.env.iter();
            let kept = kept.filter(|(name, _)| !scrubbed_for_readers(name));
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
            keeper: Arc::clone(&self.keeper),
            notes: self.notes.clone(),
            after,
            blobs: self.blobs.clone(),
            reporter,
        };
        Some(tokio::spawn(run.finish()).abort_handle())
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
        let task = tokio::spawn(async move {
            let started = Instant::now();
            let run = AssertUnwindSafe(shell.run(line, number, context)).catch_unwind();
            let outcome = run.await.unwrap_or_else(|_| {
                Outcome::failed("Running the command crashed: a bug in Reasonix. Its earlier effects are not known.")
            });
            let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            reporter.report(CallEvent::Ended {
                call,
                outcome: Box::new(outcome),
                duration_ms,
            });
        });
        task.abort_handle()
    }
}

impl Run {
    async fn finish(self) {
        let Self {
            call,
            tool,
            arguments,
            context,
            watched,
            creates,
            keeper,
            notes,
            after,
            blobs,
            reporter,
        } = self;
        // Changes by others while it runs cannot be distinguished from its own.
        let changes = matches!(tool.spec().family, Family::Bash | Family::Edit);
        let note = notes.of_others().await;
        if tool.spec().family == Family::Edit {
            quarantine::expect(Arc::clone(&context.spawn), creates).await;
        }
        let started = Instant::now();
        let run =
            AssertUnwindSafe(async move { tool.run(arguments, context).await }).catch_unwind();
        let mut outcome = run.await.unwrap_or_else(|_| {
            Outcome::failed("The tool crashed: a bug in Reasonix. What it did before is not known; look before you go on.")
        });
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        if !matches!(watched, Watched::Nothing) {
            take_in(&mut outcome.changed, looked(&keeper, &watched).await);
        }
        if changes {
            notes.absorb().await;
        }
        let mut notes_of_others: Vec<ExternalChanges> = note.into_iter().collect();
        if let Some(finished) = asked_behind(after, &outcome).await {
            // What a hook has made of the files belongs to the call when it is undone, and the model is
            // notified of it: it knows the files as they were before.
            take_anew(&mut outcome.changed, looked(&keeper, &watched).await);
            notes_of_others.extend(notes.of_others().await);
            reporter.report(CallEvent::HooksRan(finished));
        }
        for note in notes_of_others {
            outcome.text = format!("{}\n\n{}", outcome.text.trim_end_matches('\n'), note.text);
            outcome.reported.extend(note.files);
        }
        // Logged, shown and sent text contains no key that is held (I11).
        outcome.text = contract::without_held_keys(outcome.text);
        outcome.display = without_keys(outcome.display);
        store_images(blobs, &mut outcome).await;
        reporter.report(CallEvent::Ended {
            call,
            outcome: Box::new(outcome),
            duration_ms,
        });
    }
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
async fn asked_behind(after: Option<After>, outcome: &Outcome) -> Option<Vec<HookFinished>> {
    let After { asker, seen, stop } = after?;
    let what = seen.after(outcome, outcome.status.as_str());
    let chain = asker.ask(what, &stop).await?;
    (!chain.finished.is_empty()).then_some(chain.finished)
}

/// The files that have changed at the places of a call.
async fn looked(keeper: &Arc<Keeper>, watched: &Watched) -> Vec<Changed> {
    let (keeper, watched) = (Arc::clone(keeper), watched.clone());
    let looked = tokio::task::spawn_blocking(move || keeper.changed(&watched)).await;
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
