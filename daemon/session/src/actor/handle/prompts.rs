//! A prompt on its way to the actor. What comes with it is looked up first, on the caller's task: the files that it refers to,
//! new instruction files, and what others have changed meanwhile.

use std::sync::Arc;
use std::time::Duration;

use contract::ExternalChanges;
use knowledge::ResolvedReferences;
use proto::params::session::{EditParams, PromptOutput, PromptParams, QueueOutput};
use proto::{Failure, UntypedText};

use crate::actor::handle::SessionHandle;
use crate::calls::instructions::NewInstructions;
use crate::calls::references::{self, PromptText};
use crate::tasks;

/// How long a prompt waits for a look at the files that were read.
const NOTE_MAX: Duration = Duration::from_millis(500);

impl SessionHandle {
    /// Gives it a prompt. Answers when the prompt is on disk.
    ///
    /// # Errors
    /// `busy`, `request_id_reused`, `storage`, `invalid_params`.
    pub async fn prompt(&self, params: PromptParams, by: String) -> Result<PromptOutput, Failure> {
        self.check_directory(params.request_id).await?;
        // What its references and the changes of files show is judged by the rules as the files have them. A session that
        // has left memory is loaded below, by those of then.
        let _ = self.tighten().await;
        UntypedText::check(&params.text, &params.untyped)?;
        let text = PromptText::new(&params.text, &params.untyped);
        let references = self.resolve_references(text).await?;
        let mut new = self.new_instructions().await;
        let watch = Arc::clone(&self.shared.instructions);
        let references = watch.attach(&mut new, references);
        // Last: what is noted is not noted again, so the prompt must not be refused behind it.
        let note = self.note().await;
        let taken = self
            .change(|actor, reply| actor.take_prompt(params, by, note, references, reply))
            .await?;
        watch.note(new);
        Ok(taken)
    }

    /// Instruction files that came since the prefix was frozen. None while a turn runs: a prompt that waits may be taken back.
    async fn new_instructions(&self) -> NewInstructions {
        if !self.starts_at_once() {
            return NewInstructions::default();
        }
        let Ok(prefix) = self.read(|actor| actor.resets.text()).await else {
            return NewInstructions::default();
        };
        let watch = Arc::clone(&self.shared.instructions);
        let look = tasks::blocking(move || watch.look(&prefix));
        // A prompt does not wait for a disk that hangs.
        match tokio::time::timeout(NOTE_MAX, look).await {
            Ok(Ok(new)) => new,
            Ok(Err(_)) | Err(_) => NewInstructions::default(),
        }
    }

    /// Whether a prompt starts at once: neither a turn runs nor another one waits.
    fn starts_at_once(&self) -> bool {
        let seen = self.shared.seen.borrow();
        !seen.in_turn && seen.summary.queued == 0 && seen.closed.is_none()
    }

    /// Gives a prompt that has not started other words. Answers when that is on disk.
    ///
    /// # Errors
    /// `not_found` if it has started, or never existed; `invalid_params`, `request_id_reused`, `storage`.
    pub async fn edit(&self, params: EditParams, by: String) -> Result<QueueOutput, Failure> {
        let untyped = self.untyped_after(&params).await?;
        let text = PromptText::new(&params.text, &untyped);
        let references = self.resolve_references(text).await?;
        self.change(|actor, reply| actor.take_edit(params, untyped, by, references, reply))
            .await
    }

    /// The parts of an edited prompt that nobody typed.
    async fn untyped_after(&self, edited: &EditParams) -> Result<Vec<UntypedText>, Failure> {
        let id = edited.prompt_id;
        let queued = self.read(move |actor| actor.queued(id)).await?;
        Ok(queued.map_or_else(Vec::new, |queued| {
            UntypedText::edited(&queued.text, &queued.untyped, &edited.text)
        }))
    }

    /// What a prompt refers to, with the command that it runs.
    async fn resolve_references(&self, prompt: PromptText) -> Result<ResolvedReferences, Failure> {
        match self.shared.recalls || prompt.may_refer() {
            true => references::resolve(self.standing().await?, prompt).await,
            false => Ok(ResolvedReferences::default()),
        }
    }

    /// Files that others have changed while the session rested. During a turn, results report them.
    async fn note(&self) -> Option<ExternalChanges> {
        if !self.starts_at_once() {
            return None;
        }
        // A prompt does not wait for a disk that hangs: then the tools report the changes.
        let note = self.shared.notes.of_others();
        tokio::time::timeout(NOTE_MAX, note).await.ok().flatten()
    }
}
