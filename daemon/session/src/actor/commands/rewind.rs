//! Going back: what an earlier turn left, of the conversation, of the files, or of both; and taking that back.
//!
//! The actor says where to and lets no turn start meanwhile. The files are a task's work (`restore`), on a thread that
//! may block; its end comes back to the actor, who writes the record.

use std::path::Path;
use std::sync::Arc;

use proto::params::history::{CheckpointsOutput, RewindOutput, RewindParams, TurnCheckpoint, What};
use proto::record::{CheckpointCreated, RewoundFile, SessionCreated, SessionRewound, Todo};
use proto::{Body, ErrorName, Failure, Record, Seq, Stamp};
use tokio::sync::mpsc::UnboundedSender;
use turn::Input;
use turn::facts::{TurnMark, content_of_rewind};

use crate::actor::Actor;
use crate::actor::handle::SessionHandle;
use crate::actor::inbox::{Happened, Reply};
use crate::actor::replies::refuse;
use crate::calls::call::CallEnvironment;
use crate::context::first_message;
use crate::context::known_files::KnownFilesFold;
use crate::history::rewind_aim::{RewindTarget, aim};
use crate::tasks::{self, blocking};
use checkpoint::Checkpoint;
use checkpoint::{FileHistory, InterruptedRewinds};
use contract::KnownState;

/// The actor's answer to a request to go back.
pub enum Begun {
    /// It was done before, under the same request id.
    Done { turns: u64, turn: u64, seq: Seq },
    /// The session waits until it gets the outcome.
    Go(Box<Going>),
}

/// Where to, and with what.
pub struct Going {
    aim: RewindTarget,
    /// Rewinds that broke off: their checkpoints.
    broken_off: Vec<Seq>,
    call_environment: Arc<CallEnvironment>,
    created: Option<SessionCreated>,
    /// `None`: nothing is to be done, only reported.
    happened: Option<Waiting>,
    by: String,
    params: RewindParams,
}

/// The session waits for the end of a rewind: it is notified whatever happens to the worker.
struct Waiting {
    happened: UnboundedSender<Happened>,
    reported: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.reported {
            // The actor may be gone: then nobody waits.
            let _ = self.happened.send(Happened::NotRewound);
        }
    }
}

/// A rewind that has come to its end.
pub struct Rewound {
    record: SessionRewound,
    /// The text before the words of a first message, should the next one be that.
    context: String,
    /// The files that the model knows in the conversation that is shown then; `None`: that does not change.
    known: Option<Vec<KnownState>>,
    output: RewindOutput,
    reply: Reply<RewindOutput>,
}

/// What the list of checkpoints is made from.
pub struct Marks {
    marks: Vec<TurnMark>,
    undo: bool,
    call_environment: Arc<CallEnvironment>,
}

impl Actor {
    /// Says where a request to go back leads, and lets no turn start until that is over.
    pub(crate) fn begin_rewind(&mut self, params: RewindParams, by: String, reply: Reply<Begun>) {
        let to_turn = params.to_turn.filter(|_| !params.undo);
        let content = content_of_rewind(to_turn, params.what);
        match self.repeated(params.request_id, &content) {
            Some(Ok(done)) => {
                let facts = self.machine.facts();
                let (turns, turn) = (facts.turns_of(done.seq), facts.shown_turn());
                let seq = done.seq;
                return self.reply_when(seq, reply, Begun::Done { turns, turn, seq });
            }
            Some(Err(failure)) => return refuse(reply, failure),
            None => {}
        }
        let aim = match self.refusal() {
            Some(failure) => Err(failure),
            None => aim(self.machine.facts(), &params),
        };
        let aim = match aim.and_then(|aim| self.at_rest(&aim, &params).map(|()| aim)) {
            Ok(aim) => aim,
            Err(failure) => return refuse(reply, failure),
        };
        if !params.dry_run {
            self.step(Input::Rewind);
        }
        let facts = self.machine.facts();
        let going = Going {
            aim,
            broken_off: facts.broken_off.iter().map(|broken| broken.seq).collect(),
            call_environment: Arc::clone(self.calls.call_environment()),
            created: facts.created.clone(),
            happened: (!params.dry_run).then(|| Waiting {
                happened: self.happened.clone(),
                reported: false,
            }),
            by,
            params,
        };
        // By then the records that it reads are in the log.
        let seq = facts.seq;
        self.reply_when(seq, reply, Begun::Go(Box::new(going)));
    }

    fn at_rest(&self, aim: &RewindTarget, params: &RewindParams) -> Result<(), Failure> {
        if !self.machine.is_idle() {
            return Err(Failure::new(
                ErrorName::Busy,
                "A turn is running.",
                "Interrupt it first, or wait until it ends.",
            )
            .retryable());
        }
        let running = self.machine.facts().children.keys().next();
        let files = aim.what != What::Conversation && !params.dry_run;
        match running.filter(|_| files) {
            Some(pid) => Err(Failure::new(
                ErrorName::Busy,
                "A background command may still be changing files.",
                format!("Stop it with `reasonix kill {pid}`, or rewind only the conversation."),
            )),
            None => Ok(()),
        }
    }

    /// Keeps the present files at the places that a rewind is about to change. Answers when that is on disk.
    pub(crate) fn keep_for_rewind(
        &mut self,
        kept: Checkpoint,
        undoes: Option<Seq>,
        reply: Reply<()>,
    ) {
        if let Some(refusal) = self.refusal() {
            return refuse(reply, refusal);
        }
        self.calls.set_rewind_own(kept.own);
        let record = CheckpointCreated {
            call: None,
            ..kept.record
        };
        let now = self.now();
        let effects = self.machine.record_rewind_checkpoint(record, undoes, now);
        let seq = self.machine.facts().seq;
        self.perform(effects);
        self.reply_when(seq, reply, ());
    }

    /// The files are as they are to be: the record of it.
    pub(crate) fn rewound(&mut self, rewound: Rewound) {
        let Rewound {
            mut record,
            context,
            known,
            mut output,
            reply,
        } = rewound;
        if !self.machine.is_rewinding() {
            // Only where the log has failed meanwhile.
            return refuse(reply, self.refusal().unwrap_or_else(unwritten));
        }
        if record.shown.is_some() {
            // Taken only by a message that is the first again.
            self.machine.set_context(context);
        }
        if let Some(known) = known {
            let call_environment = self.calls.call_environment();
            let instructions = &call_environment.instructions;
            instructions.after_rewind(&self.resets.text(), &known);
            call_environment.memory.replace_known_files(&known);
        }
        let seq = self.machine.facts().seq.next();
        output.seq = Some(seq);
        record.todos = self.todos_after(&record);
        self.step(Input::Rewound(record));
        self.reply_when(seq, reply, output);
    }

    /// The to-do list that a rewind brings back. `None`: it stays.
    fn todos_after(&self, rewound: &SessionRewound) -> Option<Vec<Todo>> {
        let facts = self.machine.facts();
        let mut after = facts.clone();
        after.apply(&Record {
            seq: facts.seq.next(),
            at: self.now().wall,
            turn: None,
            body: Body::SessionRewound(rewound.clone()),
        });
        (after.todos != facts.todos).then_some(after.todos)
    }

    /// When the first turn after this one began.
    pub(crate) fn began_after(&self, turn: u64) -> Option<Stamp> {
        let mut marks = self.machine.facts().marks.iter();
        marks.find(|mark| mark.turn > turn).map(|mark| mark.at)
    }

    /// The workspace root of the session.
    pub(crate) fn root(&self) -> Option<String> {
        let created = self.machine.facts().created.as_ref();
        created.map(|created| created.root.clone())
    }

    pub(crate) fn marks(&self) -> Marks {
        let facts = self.machine.facts();
        Marks {
            marks: facts.marks.clone(),
            undo: facts.undoable().is_some() || !facts.broken_off.is_empty(),
            call_environment: Arc::clone(self.calls.call_environment()),
        }
    }
}

fn unwritten() -> Failure {
    Failure::new(ErrorName::Storage, "The record could not be written.", "")
}

impl SessionHandle {
    /// Goes back to the end of a turn, or takes the newest rewind back. Answers when that is on disk. Comes to its end
    /// also when nobody waits for it any more.
    ///
    /// # Errors
    /// `busy`, `not_found`, `invalid_params`, `request_id_reused`, `storage`.
    pub async fn rewind(&self, params: RewindParams, by: String) -> Result<RewindOutput, Failure> {
        let handle = self.clone();
        let work = tasks::shielded(async move {
            let begun = handle
                .change(|actor, reply| actor.begin_rewind(params, by, reply))
                .await?;
            handle.rewinding(begun).await
        });
        work.await?
    }

    async fn rewinding(&self, begun: Begun) -> Result<RewindOutput, Failure> {
        match begun {
            Begun::Done { turns, turn, seq } => {
                let dir = self.read(|actor| actor.marks()).await?;
                let dir = dir.call_environment.keeper.dir().to_owned();
                let record = blocking(move || checkpoint::rewound_at(&dir, seq)).await??;
                Ok(RewindOutput {
                    seq: Some(seq),
                    turn,
                    turns,
                    files: record.files,
                    notes: Vec::new(),
                })
            }
            Begun::Go(going) => {
                let handle = self.clone();
                blocking(move || going.go(&handle)).await?
            }
        }
    }

    /// The turns that can be gone back to.
    ///
    /// # Errors
    /// `storage`.
    pub async fn checkpoints(&self) -> Result<CheckpointsOutput, Failure> {
        let Marks {
            marks,
            undo,
            call_environment,
        } = self.read(|actor| actor.marks()).await?;
        let turns = blocking(move || {
            let turns = marks.iter().map(|mark| mark.turn).collect();
            let past = checkpoint::read(call_environment.keeper.dir(), &turns)?;
            let shown = |path: &String| call_environment.workspace.shown(Path::new(path));
            let listed = marks.into_iter().map(|mark| TurnCheckpoint {
                files: past.files_of(mark.turn).map(shown).collect(),
                notes: past.notes_of(mark.turn),
                turn: mark.turn,
                at: mark.at,
                prompt: mark.prompt,
                cause: mark.cause,
            });
            Ok::<_, Failure>(listed.collect())
        });
        Ok(CheckpointsOutput {
            turns: turns.await??,
            undo,
        })
    }
}

impl Going {
    /// All of it. Blocks.
    fn go(mut self, handle: &SessionHandle) -> Result<RewindOutput, Failure> {
        let keeper = Arc::clone(&self.call_environment.keeper);
        // Before anything is changed: a log that cannot be read leaves all as it is.
        let known = match self.aim.shown.is_some() && !self.params.dry_run {
            true => KnownFilesFold::read(keeper.dir())?,
            false => KnownFilesFold::default(),
        };
        let (mut files, mut notes) = (Vec::new(), Vec::new());
        if self.aim.what != What::Conversation {
            let past = match self.aim.undoes {
                Some(_) if self.aim.undoes_interrupted => FileHistory::default(),
                Some(seq) => checkpoint::read_rewind(keeper.dir(), seq)?,
                None => checkpoint::read(keeper.dir(), &self.aim.back)?,
            };
            notes = past.notes();
            let path = self.call_environment.path();
            let request = checkpoint::RestoreOptions {
                broken: InterruptedRewinds::read(keeper.dir(), &self.broken_off)?,
                undoes: self.aim.undoes,
                undoes_interrupted: self.aim.undoes_interrupted,
                force: self.params.force,
            };
            let restore = checkpoint::Restore::plan(&keeper, &path, past, request)?;
            files = if self.params.dry_run {
                restore.planned_results()
            } else {
                restore.run(|kept| self.keep(handle, kept))?
            };
        }
        let output = RewindOutput {
            seq: None,
            turn: self.aim.turn,
            turns: self.aim.turns,
            files: files.clone(),
            notes,
        };
        let Some(waiting) = self.happened.take() else {
            return Ok(output);
        };
        self.finish(waiting, known, files, output)
    }

    /// Has the actor record the files that are there now.
    fn keep(&self, handle: &SessionHandle, kept: Checkpoint) -> Result<(), Failure> {
        let undoes = self.aim.undoes;
        let asked = handle.ask(move |actor, reply| actor.keep_for_rewind(kept, undoes, reply));
        tokio::runtime::Handle::current().block_on(asked)
    }

    fn finish(
        self,
        mut waiting: Waiting,
        known: KnownFilesFold,
        files: Vec<RewoundFile>,
        output: RewindOutput,
    ) -> Result<RewindOutput, Failure> {
        let (reply, answer) = tokio::sync::oneshot::channel();
        let record = SessionRewound {
            to_turn: self.aim.to_turn,
            what: self.aim.what,
            undoes: self.aim.undoes,
            shown: self.aim.shown.clone(),
            todos: None,
            files,
            by: self.by.clone(),
            request_id: self.params.request_id,
        };
        let known = known.after_rewind(&record);
        waiting.reported = true;
        let sent = waiting.happened.send(Happened::Rewound(Box::new(Rewound {
            record,
            context: self.context(),
            known,
            output,
            reply,
        })));
        sent.map_err(|_| unwritten())?;
        let answer = tokio::runtime::Handle::current().block_on(answer);
        // Later changes can be shown.
        self.call_environment.memory.read_missing_contents();
        answer.map_err(|_| unwritten())?
    }

    fn context(&self) -> String {
        let created = self.created.as_ref();
        created.map_or_else(String::new, first_message::context)
    }
}
