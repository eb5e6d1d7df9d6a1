//! What an actor does first: it writes the first records of a new session, or brings to an end what an earlier life left
//! half done.

use std::sync::Arc;

use proto::Body;
use proto::params::session::When;
use proto::record::{Level, Notice, PromptQueued, SessionCreated, SessionShortened};
use proto::state::Kind;
use turn::{Input, RecoverPolicy};

use crate::actor::Actor;
use crate::actor::inbox::{self, Reply};
use crate::calls::events::CallEvent;

/// What the user is shown when a session is created.
#[derive(Default)]
pub struct FirstNotices {
    pub of_session: Vec<String>,
    /// References of the first prompt that are not attached: notices below it say so.
    pub of_prompt: Vec<String>,
}

impl Actor {
    /// Writes the first records of a new session: creation, notices and first prompt are one commit.
    /// `created_on_disk` is answered when they are on disk. `paused_by`: it starts paused, for the whole tree.
    pub fn write_first_records(
        &mut self,
        created: SessionCreated,
        notices: FirstNotices,
        paused_by: Option<String>,
        prompt: Option<PromptQueued>,
        created_on_disk: Reply<()>,
    ) {
        let now = self.now();
        let mut effects = self.machine.record(Body::SessionCreated(created), now);
        let notice = |text| {
            Body::Notice(Notice {
                level: Level::Warning,
                text,
            })
        };
        for text in notices.of_session {
            effects.extend(self.machine.record(notice(text), now));
        }
        if let Some(by) = paused_by {
            let pause = Input::Pause {
                paused: true,
                tree: true,
                by,
                request_id: None,
            };
            effects.extend(self.machine.step(pause, now));
        }
        let mut last = self.machine.facts().seq;
        if let Some(prompt) = prompt {
            last = last.next();
            effects.extend(self.machine.step(
                Input::Prompt {
                    prompt,
                    when: When::Queue,
                },
                now,
            ));
        }
        for text in notices.of_prompt {
            effects.extend(self.machine.record(notice(text), now));
        }
        self.reply_when(last, created_on_disk, ());
        self.perform(effects);
    }

    /// Brings a session that was in mid-turn to a valid state.
    pub fn recover(
        &mut self,
        setting: Option<RecoverPolicy>,
        shortened: Option<SessionShortened>,
        notices: Vec<String>,
    ) {
        if self.journal.is_closed() {
            return;
        }
        self.requests.expect_keys();
        let mut effects = Vec::new();
        let notices = notices.into_iter().map(|text| {
            Body::Notice(Notice {
                level: Level::Warning,
                text,
            })
        });
        for body in shortened
            .map(Body::SessionShortened)
            .into_iter()
            .chain(notices)
        {
            let now = self.now();
            effects.extend(self.machine.record(body, now));
        }
        let facts = self.machine.facts();
        let policy = setting.unwrap_or(match facts.options.kind.unwrap_or_default() {
            Kind::Headless => RecoverPolicy::Continue,
            Kind::Interactive if facts.goal.is_some() => RecoverPolicy::Continue,
            Kind::Interactive => RecoverPolicy::Idle,
        });
        let now = self.now();
        // No command of an earlier life in memory keeps running without the log knowing it.
        let call_environment = self.calls.call_environment();
        call_environment
            .spawn
            .stop_session(call_environment.session, 0);
        let kept = self.requests.take_recovered();
        effects.extend(self.machine.recover(policy, kept, now));
        effects.extend(self.warn(now));
        self.perform(effects);
    }

    /// A look for protected names that came during commands of a killed daemon. Blocks.
    pub fn leftovers(&self) -> impl FnOnce() + Send + 'static {
        let call_environment = Arc::clone(self.calls.call_environment());
        let reporter = inbox::call_reporter(&self.happened);
        move || {
            let session = call_environment.session;
            let items = call_environment.spawn.leftovers(session);
            if !items.is_empty() {
                reporter.report(CallEvent::Quarantined(items));
            }
        }
    }
}
