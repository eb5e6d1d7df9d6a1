//! The request for a compaction's summary: how it is sent, answered, retried and stopped.

use contract::codec::COMPACTION;
use contract::provider::{ErrorKind, ProviderError};
use proto::record::{Level, Purpose};
use proto::state::{State, WaitingFor};
use proto::{ErrorName, Failure, ItemId};

use super::{AfterCompaction, Compacting, CompactionEnd, CompactionWait, Summary};
use crate::asking::{backoff, failure_of};
use crate::input::{Answer, Effect, StopReason};
use crate::machine::{Asking, Phase, RequestWait, Step};
use crate::words;

/// Maximum tries of a summary request.
const TRIES: u32 = 3;

impl Step<'_> {
    /// Sends the summary request. It is not part of the conversation.
    pub(super) fn ask_summary(&mut self, compacting: Compacting) -> Phase {
        let asking = Asking {
            item: ItemId(format!("d{}", self.facts.compactions + 1)),
            attempt: 1,
            since_ms: self.now.mono_ms,
            not_running_since_ms: None,
            waits: RequestWait::Answer,
        };
        self.send_summary(compacting, asking)
    }

    /// Sends a try of the summary request. During a pause the request of a turn waits, but one that a user requested while
    /// the session was idle is sent. In a hand-over the compaction is left to the next daemon process.
    pub(super) fn send_summary(&mut self, compacting: Compacting, asking: Asking) -> Phase {
        if self.hold.suspending {
            return self.leave_to_next_daemon(compacting);
        }
        if self.facts.paused && compacting.then == AfterCompaction::Ask {
            let waits = RequestWait::Resume;
            return Phase::Compacting(Compacting {
                waits: CompactionWait::Summary(Asking { waits, ..asking }),
                ..compacting
            });
        }
        self.set_turn_running(match compacting.server {
            true => "the provider is compacting the conversation",
            false => "the model is writing a summary",
        });
        self.effects.push(Effect::AskSummary {
            item: asking.item.clone(),
            attempt: asking.attempt,
        });
        Phase::Compacting(Compacting {
            waits: CompactionWait::Summary(asking),
            ..compacting
        })
    }

    /// Handles the model's summary.
    pub(crate) fn summary_answered(&mut self, compacting: Compacting, answer: &Answer) -> Phase {
        let CompactionWait::Summary(asking) = &compacting.waits else {
            return Phase::Compacting(compacting);
        };
        self.log_usage_for(asking, answer, Purpose::Summary);
        if compacting.server {
            return self.server_answered(compacting, answer);
        }
        let whole = answer.finish.is_none_or(|finish| {
            matches!(
                finish,
                proto::item::Finish::Stop | proto::item::Finish::ToolCalls
            )
        });
        if answer.text.trim().is_empty() || !whole {
            if answer.asked.is_some() {
                return self.ask_own_model(compacting, "it wrote no summary");
            }
            let failure = Failure::new(
                ErrorName::ProviderFailed,
                "The model did not write a summary.",
                "Describe what the summary should keep (`reasonix compact SESSION WORDS`), or continue: nothing was lost.",
            );
            return self.reset_failed(compacting, failure);
        }
        let waits = self.job(&compacting.why, Summary::Written(answer.text.clone()));
        Phase::Compacting(Compacting {
            waits,
            ..compacting
        })
    }

    /// Handles the provider's own compaction, or an answer without one.
    fn server_answered(&mut self, compacting: Compacting, answer: &Answer) -> Phase {
        let mut thoughts = answer.thoughts.iter();
        let Some(made) = thoughts.find(|thought| thought.kind == COMPACTION) else {
            return self.server_failed(compacting, "it answered without one");
        };
        let waits = self.job(&compacting.why, Summary::ByServer(made.data.clone()));
        Phase::Compacting(Compacting {
            waits,
            ..compacting
        })
    }

    /// Has a model write the summary, because the provider itself did not compact.
    fn server_failed(&mut self, compacting: Compacting, why: &str) -> Phase {
        if compacting.then == AfterCompaction::Ask && self.held() {
            return Phase::Held;
        }
        self.notice(Level::Warning, words::no_server_compaction(why));
        let waits = self.job(&compacting.why, Summary::WantedByModel);
        Phase::Compacting(Compacting {
            waits,
            server: false,
            ..compacting
        })
    }

    /// Handles a failed summary request.
    pub(crate) fn summary_broke(
        &mut self,
        compacting: Compacting,
        error: &ProviderError,
        partial: &Answer,
        jitter: f64,
    ) -> Phase {
        let CompactionWait::Summary(asking) = compacting.waits.clone() else {
            return Phase::Compacting(compacting);
        };
        let asking = self.not_sent(asking);
        if partial.reported.is_some() {
            self.log_usage_for(&asking, partial, Purpose::Summary);
        }
        if self.hold.suspending {
            let waits = RequestWait::Resume;
            return self.leave_to_next_daemon(Compacting {
                waits: CompactionWait::Summary(Asking { waits, ..asking }),
                ..compacting
            });
        }
        if partial.asked.is_some() && error.kind != ErrorKind::Budget {
            return self.ask_own_model(compacting, &error.message);
        }
        if error.kind == ErrorKind::ContextLength && !compacting.server {
            self.learn_window(error);
            return self.summary_too_long(compacting);
        }
        if error.kind == ErrorKind::Budget {
            return self.summary_over_budget(compacting, error);
        }
        // A summary needs no tools: if the model made a call, it may answer without one at the next try.
        let may_pass = matches!(
            error.kind,
            ErrorKind::Transient | ErrorKind::NotRunning | ErrorKind::InvalidCall
        );
        if may_pass && asking.attempt < TRIES {
            let limits = self.limits;
            let wait = error.retry_after.map_or_else(
                || {
                    let (base, cap) = (limits.retry_base_ms, limits.retry_cap_ms);
                    backoff(base, cap, asking.attempt, jitter)
                },
                |after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            );
            if wait <= limits.retry_total_ms {
                return self.try_summary_again(compacting, asking, &error.message, wait);
            }
        }
        let is_account = matches!(error.kind, ErrorKind::Credentials | ErrorKind::OutOfCredit);
        if compacting.server && !is_account {
            // It does not offer it, or not for this model.
            self.hold.no_server_compaction |= error.kind == ErrorKind::Permanent;
            return self.server_failed(compacting, &error.message);
        }
        let failure = Failure::new(
            ErrorName::ProviderFailed,
            error.message.clone(),
            error.hint.clone(),
        );
        self.reset_failed(compacting, failure)
    }

    pub(super) fn try_summary_again(
        &mut self,
        compacting: Compacting,
        asking: Asking,
        why: &str,
        wait_ms: u64,
    ) -> Phase {
        if self.facts.open.is_some() {
            let next = asking.attempt + 1;
            let cause = format!("{why} (attempt {next} of {TRIES} for a summary)");
            let retry = Some(WaitingFor::Retry);
            self.state(State::Waiting, retry, &cause, Some(wait_ms));
        }
        self.effects.push(Effect::Retry {
            item: asking.item.clone(),
            attempt: asking.attempt,
            in_ms: wait_ms,
        });
        let due_ms = self.now.mono_ms.saturating_add(wait_ms);
        Phase::Compacting(Compacting {
            waits: CompactionWait::Summary(Asking {
                waits: RequestWait::Retry { due_ms },
                ..asking
            }),
            ..compacting
        })
    }

    /// Handles a summary request that is itself too long: tries an excerpt, then a mechanical summary.
    fn summary_too_long(&mut self, compacting: Compacting) -> Phase {
        if compacting.then == AfterCompaction::Ask && self.held() {
            return Phase::Held;
        }
        let summary = match compacting.short {
            true => Summary::Mechanical,
            false => Summary::WantedShort,
        };
        let waits = self.job(&compacting.why, summary);
        Phase::Compacting(Compacting {
            waits,
            short: true,
            ..compacting
        })
    }

    /// Has the session's own model write the summary: another was asked, and failed.
    fn ask_own_model(&mut self, compacting: Compacting, why: &str) -> Phase {
        if compacting.then == AfterCompaction::Ask && self.held() {
            return Phase::Held;
        }
        self.notice(Level::Warning, words::no_summary_writer(why));
        let waits = self.job(&compacting.why, Summary::WantedByOwnModel);
        Phase::Compacting(Compacting {
            waits,
            ..compacting
        })
    }

    /// Handles a budget that forbids the summary request. It would also forbid the request that follows.
    fn summary_over_budget(&mut self, compacting: Compacting, error: &ProviderError) -> Phase {
        match compacting.then {
            AfterCompaction::Ask => self.end_over_budget(error),
            AfterCompaction::Rest | AfterCompaction::Compact(_) => {
                self.hold.compacted = Some(CompactionEnd::Failed(failure_of(error)));
                let then = AfterCompaction::Rest;
                self.after_reset(Compacting { then, ..compacting })
            }
        }
    }

    /// Sends the next try of a summary request when its wait is over.
    pub(crate) fn summary_due(
        &mut self,
        compacting: Compacting,
        item: &ItemId,
        attempt: u32,
    ) -> Phase {
        let CompactionWait::Summary(asking) = compacting.waits.clone() else {
            return Phase::Compacting(compacting);
        };
        let due = matches!(asking.waits, RequestWait::Retry { .. });
        if !due || asking.item != *item || asking.attempt != attempt {
            return Phase::Compacting(compacting);
        }
        let asking = Asking {
            attempt: attempt + 1,
            waits: RequestWait::Answer,
            ..asking
        };
        self.send_summary(compacting, asking)
    }

    /// Sends a summary request that waited for the end of a pause.
    pub(crate) fn release_summary(&mut self, compacting: Compacting) -> Phase {
        match compacting.waits.clone() {
            CompactionWait::Summary(asking) if asking.waits == RequestWait::Resume => {
                let attempt = asking.attempt.max(1);
                let waits = RequestWait::Answer;
                let asking = Asking {
                    attempt,
                    waits,
                    ..asking
                };
                self.send_summary(compacting, asking)
            }
            _ => Phase::Compacting(compacting),
        }
    }

    /// Stops a compaction together with the turn or session; nothing has changed.
    pub(crate) fn stop_summary(
        &mut self,
        compacting: Compacting,
        reason: StopReason,
        partial: Option<Answer>,
    ) -> Option<StopReason> {
        if let (CompactionWait::Summary(asking), Some(partial)) =
            (compacting.waits.clone(), partial)
            && partial.reported.is_some()
        {
            // The request failed, but the provider billed it: the usage ledger must match (I15).
            self.log_usage_for(&asking, &partial, Purpose::Summary);
        }
        self.stop_compacting(compacting, reason)
    }
}
