//! `session.reload`: the instruction files, skills, facts and tools of MCP servers of now in the frozen prefix, as a cache
//! reset.
//!
//! The supervisor reads the files; the actor compares, renders and logs between two messages.

mod server_tools;

use std::sync::Arc;

use contract::{InstructionText, Prefix, PrefixText, SKILL_TOOL, SkillText, ToolSet};
use proto::params::forecast::Forecasts;
use proto::params::reload::{ReloadOutput, ReloadParams};
use proto::record::SessionCreated;
use proto::reset::{CacheReset, Wire};
use proto::{Body, ErrorName, Failure, Seq, Stamp};
use turn::compaction::TokenRatio;
use turn::facts::RELOAD;

use crate::actor::Actor;
use crate::actor::handle::SessionHandle;
use crate::actor::inbox::Reply;
use crate::actor::replies::refuse;
use crate::assembly::setup::ToolsNow;
use crate::assembly::tool_repair;
use crate::context::forecast;
use crate::context::prefix::{self, FrozenPrefix, PrefixFiles};
use crate::journal::elements;

/// The name of the lines of facts in the list of changes.
const MEMORY: &str = "memory";

impl Actor {
    /// The session's first record, with the model that is asked now.
    fn created_now(&mut self, reply: Reply<SessionCreated>) {
        match self.machine.facts().created_now() {
            // The caller may be gone.
            Some(created) => drop(reply.send(Ok(created))),
            None => refuse(
                reply,
                Failure::new(ErrorName::Internal, "The session has no first record.", ""),
            ),
        }
    }

    fn reload(
        &mut self,
        params: &ReloadParams,
        mut fresh: PrefixFiles,
        tools: Option<ToolsNow>,
        reply: Reply<ReloadOutput>,
    ) {
        match self.repeated(params.request_id, RELOAD) {
            Some(Ok(done)) => {
                let seq = Some(done.seq);
                let output = ReloadOutput {
                    seq,
                    ..ReloadOutput::default()
                };
                return self.reply_when(done.seq, reply, output);
            }
            Some(Err(failure)) => return refuse(reply, failure),
            None => {}
        }
        if let Some(refusal) = self.refusal().or_else(|| self.busy()) {
            return refuse(reply, refusal);
        }
        let before = self.resets.text();
        let has_tool = before.tools.iter().any(|tool| *tool.name == *SKILL_TOOL);
        if !has_tool && !fresh.skills.is_empty() {
            // The tools of a session are as they were at its start.
            fresh.skills.clear();
            fresh.problems.push(NO_SKILLS.to_owned());
        }
        let mut changed = changed_names(&before.instructions, &fresh.instructions);
        changed.extend(changed_skills(&before.skills, &fresh.skills));
        changed.extend((before.memory != fresh.memory).then(|| MEMORY.to_owned()));
        let mut text = PrefixText {
            instructions: fresh.instructions,
            skills: fresh.skills,
            memory: fresh.memory,
            ..PrefixText::clone(&before)
        };
        let old_tools = &self.calls.call_environment().tools;
        let tools = tools.map(|now| server_tools::taken_up(old_tools, &before, now));
        if let Some(tools) = &tools {
            changed.extend(tools.changed.iter().cloned());
            fresh.problems.extend(tools.problems.iter().cloned());
            text.tools.clone_from(&tools.declared);
            text.tool_names.clone_from(&tools.names);
        }
        let tools = tools.map(|tools| tools.set);
        let mut output = ReloadOutput {
            changed,
            problems: fresh.problems,
            ..ReloadOutput::default()
        };
        if text == *before {
            // The implementation of a tool may have changed all the same.
            self.take_tools(tools);
            // The caller may be gone.
            return drop(reply.send(Ok(output)));
        }
        let frozen = self.rendered(text);
        let forecasts = self.reload_forecasts(&frozen.prefix);
        if self.machine.facts().context_tokens > 0 && !params.confirm {
            return refuse(reply, unconfirmed(&output.changed, &forecasts));
        }
        match self.log_reload(params, frozen) {
            Ok(seq) => {
                self.take_tools(tools);
                output.seq = Some(seq);
                output.forecasts = Some(Box::new(forecasts));
                self.reply_when(seq, reply, output);
            }
            Err(failure) => refuse(reply, failure),
        }
    }

    fn busy(&self) -> Option<Failure> {
        let busy = Failure::new(
            ErrorName::Busy,
            "The session is busy.",
            "Interrupt the turn first, or wait until the session is idle.",
        );
        (!self.machine.is_idle()).then(|| busy.retryable())
    }

    /// These tools count for the calls from now on.
    fn take_tools(&mut self, tools: Option<ToolSet>) {
        let Some(tools) = tools else { return };
        if self.requests.route().repairs {
            self.machine
                .set_call_repair(Some(tool_repair::means(&tools)));
        }
        self.calls.set_tools(tools);
    }

    /// The text for the model that is asked now. Parameters stay as they are, to the byte, and so do tools that are the same.
    fn rendered(&self, text: PrefixText) -> FrozenPrefix {
        let route = self.requests.route();
        let model = &route.prefix.model;
        let rendered = prefix::render_with(&*route.codec, model, &text, route.repairs);
        let is_same = text.tools == self.resets.text().tools;
        let prefix = Prefix {
            system: rendered.system,
            tools: match is_same {
                true => route.prefix.tools.clone(),
                false => rendered.tools,
            },
            ..Prefix::clone(&route.prefix)
        };
        FrozenPrefix { prefix, text }
    }

    /// The cost of the next prompt now, and with this prefix.
    fn reload_forecasts(&self, prefix: &Prefix) -> Forecasts {
        let facts = self.machine.facts();
        let ratio = TokenRatio::new(facts.measure);
        let tokens =
            |prefix: &Prefix| ratio.tokens((prefix.system.len() + prefix.tools.len()) as u64);
        let route = self.requests.route();
        let now = self.forecast();
        let others = now.prompt_tokens.saturating_sub(tokens(&route.prefix));
        let then = forecast::ahead(
            now.model.clone(),
            others.saturating_add(tokens(prefix)),
            0,
            route.price.as_deref(),
            Stamp::now(),
        );
        Forecasts { now, then }
    }

    /// The record of the reset, with the new prefix and its text beside it. From here on requests begin with it.
    fn log_reload(&mut self, params: &ReloadParams, frozen: FrozenPrefix) -> Result<Seq, Failure> {
        let own = elements::own_prefix(&frozen.prefix, &frozen.text).map_err(|error| {
            Failure::new(
                ErrorName::Internal,
                format!("A message cannot be written as JSON: {error}"),
                "Please report this as a bug in Reasonix.",
            )
        })?;
        let wire = Wire {
            prefix_sha256: prefix::hash(&frozen.prefix),
            ..self.machine.facts().wire.clone()
        };
        self.note_instructions(&frozen.text);
        self.requests.set_prefix(frozen.prefix);
        self.resets.set_text(Arc::new(frozen.text));
        self.resets.put_done(Some(own), None, None);
        let reset = CacheReset {
            reason: RELOAD.to_owned(),
            wire: Some(wire),
            request_id: params.request_id,
            ..CacheReset::default()
        };
        let now = self.now();
        let effects = self.machine.record(Body::CacheReset(reset), now);
        self.perform(effects);
        self.resets.clear_done();
        Ok(self.machine.facts().seq)
    }

    /// The model knows the files as the new prefix has them: only later changes are reported.
    fn note_instructions(&self, text: &PrefixText) {
        let memory = &self.calls.call_environment().memory;
        let before = prefix::known_files(&self.resets.text());
        let paths: Vec<_> = before.into_iter().map(|known| known.file.path).collect();
        memory.forget_files(&paths);
        memory.note_known_files(&prefix::known_files(text));
    }
}

impl SessionHandle {
    /// The session's first record, with the model that is asked now.
    pub(crate) async fn created_now(&self) -> Result<SessionCreated, Failure> {
        self.ask(Actor::created_now).await
    }

    /// Puts these instructions, skills and tools into the prefix.
    pub(crate) async fn reload(
        &self,
        params: ReloadParams,
        fresh: PrefixFiles,
        tools: Option<ToolsNow>,
    ) -> Result<ReloadOutput, Failure> {
        self.change(move |actor, reply| actor.reload(&params, fresh, tools, reply))
            .await
    }
}

/// Said where a session without skills is to take some up.
const NO_SKILLS: &str = "This session started without skills, so the model cannot load any: start a new session for them, or run them with `/NAME`.";

/// Skills that are new, described otherwise or gone.
fn changed_skills(before: &[SkillText], after: &[SkillText]) -> Vec<String> {
    let added = after.iter().filter(|skill| !before.contains(skill));
    let gone = before.iter().filter(|skill| {
        let same = |other: &SkillText| other.name == skill.name;
        !after.iter().any(same)
    });
    let names = added
        .chain(gone)
        .map(|skill| format!("skill {}", skill.name));
    names.collect()
}

/// Files that are new, changed or gone.
fn changed_names(before: &[InstructionText], after: &[InstructionText]) -> Vec<String> {
    let differs = |file: &&InstructionText, others: &[InstructionText]| {
        let same = |other: &InstructionText| other.name == file.name && other.text == file.text;
        !others.iter().any(same)
    };
    let added = after.iter().filter(|file| differs(file, before));
    let gone = before
        .iter()
        .filter(|file| !after.iter().any(|other| other.name == file.name));
    added.chain(gone).map(|file| file.name.clone()).collect()
}

fn unconfirmed(changed: &[String], forecasts: &Forecasts) -> Failure {
    Failure::new(
        ErrorName::ConfirmNeeded,
        format!("This resets the provider's cache; {}.", forecasts.words()),
        "Confirm with `--yes`. Without a reload, the next prompt reports the changes.",
    )
    .with("changed", changed)
    .with("forecasts", serde_json::json!(forecasts))
}
