//! A pause of a whole tree: of a session and all sub-agents below it. One that is created during it is created paused.

use futures::FutureExt;
use futures::future::BoxFuture;
use proto::params::process::ListParams;
use proto::params::session::Signal;
use proto::params::session::{SignalOutput, SignalParams};
use proto::state::State;
use proto::{ErrorName, Failure, Pid, SessionId};

use crate::supervisor::Supervisor;

impl Supervisor {
    /// See `session.signal` with `tree`.
    ///
    /// # Errors
    /// As `find` and `signal`; `invalid_params`: another signal than `PAUSE` and `RESUME`.
    pub async fn signal_tree(
        &self,
        params: &SignalParams,
        by: String,
    ) -> Result<SignalOutput, Failure> {
        let paused = match params.signal {
            Signal::Pause => true,
            Signal::Resume => false,
            Signal::Int | Signal::Term | Signal::Kill => {
                return Err(Failure::new(
                    ErrorName::InvalidParams,
                    "`tree` is only for `PAUSE` and `RESUME`.",
                    "Leave it out: a session that exits takes its sub-agents along.",
                ));
            }
        };
        let top = self.find(&params.session).await?;
        let answer = top.pause_for_tree(paused, params.request_id, by.clone());
        let answer = answer.await?;
        if !paused {
            self.load_paused_below(top.pid()).await?;
        }
        let mut agents = self.pause_agents(top.id(), paused, by).await;
        agents.sort_unstable();
        Ok(SignalOutput {
            delivered: answer.delivered || !agents.is_empty(),
            agents,
        })
    }

    /// Loads the sub-agents below a session that are paused and have left memory: they are resumed as well.
    async fn load_paused_below(&self, top: Pid) -> Result<(), Failure> {
        let below = ListParams {
            all: true,
            below: Some(top),
            ..ListParams::default()
        };
        let agents = self.processes(below).await?.into_iter();
        for agent in agents.filter(|agent| agent.state == State::Paused) {
            if let Err(failure) = self.load(agent.session).await {
                tracing::warn!(agent = %agent.session, %failure, "a paused sub-agent was not loaded");
            }
        }
        Ok(())
    }

    /// Pauses the sub-agents below a session, or ends that. Returns those that it changed.
    fn pause_agents(
        &self,
        session: SessionId,
        paused: bool,
        by: String,
    ) -> BoxFuture<'_, Vec<Pid>> {
        async move {
            // One that is being created may have seen its parent as it was before.
            self.places.wait_for_creations().await;
            let mut changed = Vec::new();
            for handle in self.handles() {
                let works = handle.read(move |actor| {
                    let is_agent = actor.parent() == Some(session);
                    is_agent && actor.machine.facts().exited.is_none()
                });
                if !works.await.unwrap_or(false) {
                    continue;
                }
                match handle.pause_for_tree(paused, None, by.clone()).await {
                    Ok(answer) if answer.delivered => changed.push(handle.pid()),
                    Ok(_) => {}
                    // One that takes no records does not go on either.
                    Err(failure) => {
                        tracing::warn!(agent = %handle.id(), %failure, "a sub-agent was not paused or resumed");
                    }
                }
                changed.extend(self.pause_agents(handle.id(), paused, by.clone()).await);
            }
            changed
        }
        .boxed()
    }
}
