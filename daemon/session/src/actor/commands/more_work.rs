//! Work that a limit of steps or time has stopped goes on, with more of either.

use proto::params::session::{PromptOutput, ResumeParams, When};
use proto::record::{AddedLimits, PromptQueued};
use proto::{ErrorName, Failure, PromptId};
use turn::facts::content_of_resume;
use turn::{CONTINUE_AFTER_LIMIT, Input};

use crate::actor::Actor;
use crate::actor::handle::SessionHandle;
use crate::actor::inbox::Reply;
use crate::actor::replies::refuse;

impl Actor {
    /// See `session.resume`.
    pub(crate) fn resume_work(
        &mut self,
        params: ResumeParams,
        by: String,
        reply: Reply<PromptOutput>,
    ) {
        let added = AddedLimits {
            steps: params.add_steps,
            ms: params.add_ms,
        };
        match self.repeated(params.request_id, &content_of_resume(added)) {
            Some(Ok(done)) => {
                let output = PromptOutput {
                    prompt_id: done.prompt_id.unwrap_or_default(),
                    position: 0,
                    seq: done.seq,
                };
                return self.reply_when(done.seq, reply, output);
            }
            Some(Err(failure)) => return refuse(reply, failure),
            None => {}
        }
        let at_limit = self.machine.facts().at_limit.is_some();
        let refusal = self
            .refusal()
            .or_else(|| nothing_added(added))
            .or_else(|| (!at_limit).then(not_at_limit))
            .or_else(|| self.machine.facts().continues().then(continues_already));
        if let Some(refusal) = refusal {
            return refuse(reply, refusal);
        }
        let facts = self.machine.facts();
        let (position, seq) = (facts.queue.len() as u64, facts.seq.next());
        let prompt_id = PromptId::new();
        self.step(Input::Prompt {
            prompt: PromptQueued {
                untyped: Vec::new(),
                prompt_id,
                text: CONTINUE_AFTER_LIMIT.to_owned(),
                steer: false,
                on_ask: None,
                references: None,
                from: None,
                added: Some(added),
                by,
                request_id: params.request_id,
            },
            when: When::Queue,
        });
        let output = PromptOutput {
            prompt_id,
            position,
            seq,
        };
        self.reply_when(seq, reply, output);
    }
}

/// The refusal of a request that raises no limit, or has a 0: that would be no limit at all.
fn nothing_added(added: AddedLimits) -> Option<Failure> {
    let amounts = [added.steps, added.ms];
    let is_nothing = amounts.iter().all(Option::is_none) || amounts.contains(&Some(0));
    is_nothing.then(|| {
        Failure::new(
            ErrorName::InvalidParams,
            "The number of added steps or minutes is missing or 0.",
            "Say how many, for example `--add-steps 20` or `--add-minutes 10`.",
        )
    })
}

fn continues_already() -> Failure {
    Failure::new(
        ErrorName::InvalidParams,
        "The work of this session continues already: that is queued.",
        "Wait for it, or resume the session if it is paused.",
    )
}

fn not_at_limit() -> Failure {
    Failure::new(
        ErrorName::InvalidParams,
        "No limit of steps or time has stopped this session.",
        "Send a prompt to give it more work. `reasonix resume` without options ends a pause.",
    )
}

impl SessionHandle {
    /// Continues the work that a limit has stopped. Answers when that is on disk.
    ///
    /// # Errors
    /// `invalid_params` if no limit has stopped it, `request_id_reused`, `storage`.
    pub async fn resume_work(
        &self,
        params: ResumeParams,
        by: String,
    ) -> Result<PromptOutput, Failure> {
        self.check_directory(params.request_id).await?;
        self.change(move |actor, reply| actor.resume_work(params, by, reply))
            .await
    }
}
