//! What a session is made of at this moment: parts of it for people to look at, and the rules that judge its calls.
//! Changes nothing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use policy::RuleSet;
use proto::item::{CallStatus, Display};
use proto::live::ClientPresence;
use proto::params::session::{ChangedFile, InspectOutput, InspectPart};
use proto::record::{FileState, SessionCreated};
use proto::{Body, ErrorName, Failure, Record, Seq};
use serde_json::json;
use turn::compaction::TokenRatio;

use crate::actor::Actor;
use crate::actor::handle::SessionHandle;
use crate::assembly::guards::Outdated;
use crate::calls::environment::Environment;
use crate::calls::judgement::Standpoint;
use crate::calls::permissions::PermissionState;
use crate::journal::Cause;
use crate::request::blocks::RequestComposition;
use crate::request::in_flight::Material;
use crate::tasks::blocking;

/// Changed files that are listed.
const FILES_MAX: usize = 2_000;

impl Actor {
    /// What a request up to this record was made from.
    pub(crate) fn material(&self, upto: Seq) -> Result<Material, Failure> {
        if let Some(closed) = self.journal.closed()
            && closed.cause == Cause::Provider
        {
            // Its codec is not the one that made the requests.
            let message = format!("The requests cannot be rebuilt: {}", closed.reason);
            return Err(Failure::new(closed.name(), message, closed.hint()));
        }
        Ok(self.made_from(upto))
    }

    /// What the next request would begin with, and the known facts of the newest one.
    pub(crate) fn makeup(&self) -> Result<RequestComposition, Failure> {
        let facts = self.machine.facts();
        Ok(RequestComposition {
            material: self.material(self.journal.last())?,
            wire: facts.wire.clone(),
            measure: TokenRatio::new(facts.measure),
            cached: facts.cached_tokens,
            pins: facts.pins.clone(),
        })
    }

    pub(crate) fn inspect(&self, part: InspectPart) -> Result<InspectOutput, Failure> {
        let facts = self.machine.facts();
        let Some(created) = &facts.created else {
            return Err(unborn());
        };
        Ok(match part {
            InspectPart::Status => InspectOutput::Status {
                summary: self.summary().ok_or_else(unborn)?,
                queue: facts.queue.iter().cloned().collect(),
                settings: self.settings(),
                clients: self.viewers.fanout().clients(),
            },
            InspectPart::Context => {
                let parts = self.made_from(self.journal.last()).parts;
                let bytes: usize = parts.iter().map(|part| part.fragment.len()).sum();
                let prefix = [
                    &self.requests.route().prefix.model,
                    &self.requests.route().prefix.system,
                    &self.requests.route().prefix.tools,
                    &self.requests.route().prefix.extra,
                ];
                let prefix: usize = prefix.iter().map(|part| part.len()).sum();
                let (tokens, estimated) = self.context_tokens();
                InspectOutput::Context {
                    tokens,
                    estimated,
                    window: facts.wire.context_window,
                    prefix_sha256: facts.wire.prefix_sha256.clone(),
                    prefix_bytes: prefix as u64,
                    messages: parts.len() as u64,
                    message_bytes: bytes as u64,
                    // Read from the log, by whoever asks.
                    blocks: Vec::new(),
                }
            }
            InspectPart::Children => InspectOutput::Children {
                children: self.calls.call_environment().running_processes(),
            },
            InspectPart::Env => {
                let has_key = |name: &str| self.requests.has_key(name);
                env(created, self.calls.environment(), has_key)
            }
            InspectPart::Budget => {
                self.requests.budget().ran(self.ran_ms());
                // From all sessions: whoever asks puts it together.
                InspectOutput::Budget { nodes: Vec::new() }
            }
            // From the log: whoever asks reads it.
            InspectPart::Files => InspectOutput::Files {
                changed: Vec::new(),
            },
        })
    }

    /// Options and rules in force, each as JSON.
    fn settings(&self) -> BTreeMap<String, String> {
        let facts = self.machine.facts();
        let (mut allow, mut ask, mut deny) = (Vec::new(), Vec::new(), Vec::new());
        let configured = self.calls.configured_layers().iter();
        let layers = configured.map(|layer| (&layer.rules, layer.trusted));
        let own = facts.options.rules.iter().map(|rules| (rules, true));
        for (rules, trusted) in layers.chain(own) {
            // Rules of an untrusted project can only tighten.
            allow.extend(trusted.then_some(&rules.allow).into_iter().flatten());
            ask.extend(&rules.ask);
            deny.extend(&rules.deny);
        }
        let grants: Vec<_> = facts.grants.iter().map(|scope| &scope.rule).collect();
        let mut values = match json!(facts.options) {
            serde_json::Value::Object(options) => options,
            _ => serde_json::Map::new(),
        };
        // They are listed with those of the config.
        values.remove("rules");
        let rules = [
            ("allow", json!(allow)),
            ("ask", json!(ask)),
            ("deny", json!(deny)),
        ];
        values.extend(rules.map(|(name, value)| (name.to_owned(), value)));
        values.insert("grants".to_owned(), json!(grants));
        let values = values.into_iter();
        values
            .map(|(name, value)| (name, value.to_string()))
            .collect()
    }

    /// The rules in force now.
    pub(crate) fn rules(&mut self) -> Arc<RuleSet> {
        let facts = self.machine.facts();
        self.calls.rules(facts.created.as_ref(), &facts.grants)
    }

    /// What its calls are judged by now. `outside`: why the sandbox stopped the call, if it did.
    pub(crate) fn standpoint(&mut self, outside: Option<String>) -> Standpoint {
        let rules = self.rules();
        let facts = self.machine.facts();
        Standpoint {
            rules,
            approval_mode: facts.approval_mode(),
            effective_permissions: facts.effective_permissions(),
            outside,
            quarantined: Vec::new(),
            skills: facts
                .open
                .as_ref()
                .map_or_else(Vec::new, |open| open.skills.clone()),
            on_ask: facts.on_ask(),
            in_home: facts.options.in_home.unwrap_or_default(),
            checks: Vec::new(),
        }
    }

    pub(crate) fn standing(&mut self) -> PermissionState {
        self.standing_of(None)
    }

    /// The same. `new`: the first record, if it is not written yet.
    pub(crate) fn standing_of(&mut self, new: Option<&SessionCreated>) -> PermissionState {
        let facts = self.machine.facts();
        let created = facts.created.as_ref().or(new);
        // Before `standpoint`, which takes the compiled rules.
        self.calls.rules(created, &facts.grants);
        let standpoint = self.standpoint(None);
        let facts = self.machine.facts();
        let created = facts.created.as_ref().or(new);
        PermissionState {
            pid: self.calls.call_environment().session,
            layers: self.calls.layers(created, &facts.grants),
            standpoint,
            call_environment: Arc::clone(self.calls.call_environment()),
        }
    }
}

impl SessionHandle {
    pub(crate) async fn standing(&self) -> Result<PermissionState, Failure> {
        self.read(|actor| actor.standing()).await
    }

    /// Whether it follows stricter settings than before, now that the files were looked at.
    pub(crate) async fn tighten(&self) -> Result<bool, Failure> {
        let watch = self.read(|actor| {
            let assembly = Arc::clone(&actor.assembly);
            actor.calls.guard_watch(assembly)
        });
        let watch = watch.await?;
        match blocking(move || watch.outdated()).await? {
            Some(Outdated { guards: Some(now) }) => {
                self.read(move |actor| actor.tighten(&now)).await
            }
            _ => Ok(false),
        }
    }
}

/// What commands see, by whether it may be shown. Keys are no part of it: `has_key` says of one whether it is there.
fn env(
    created: &SessionCreated,
    environment: &Environment,
    has_key: impl Fn(&str) -> bool,
) -> InspectOutput {
    let (mut hidden, mut lost) = (environment.hidden(), environment.lost());
    let known = |name: &String| {
        environment.shown().contains_key(name) || hidden.contains(name) || lost.contains(name)
    };
    let keys = created.env_names.iter().filter(|name| !known(name));
    let (here, gone): (Vec<_>, Vec<_>) = keys.cloned().partition(|name| has_key(name));
    hidden.extend(here);
    lost.extend(gone);
    hidden.sort();
    lost.sort();
    InspectOutput::Env {
        shown: environment.shown().clone(),
        hidden,
        lost,
        held_back: environment.held_back(),
    }
}

fn unborn() -> Failure {
    Failure::new(ErrorName::Internal, "The session has no first record.", "")
}

/// The files that tools have changed, folded from a log.
#[derive(Default)]
pub struct Files {
    /// With the number of the record, to know the newest.
    changed: HashMap<String, (Seq, ChangedFile)>,
}

impl Files {
    /// Takes the next record in.
    pub fn take(&mut self, record: &Record) {
        let Body::ToolFinished(finished) = &record.body else {
            return;
        };
        let by_command = matches!(finished.display, Display::Command { .. });
        // A command that failed may have changed something.
        if !by_command && finished.status != CallStatus::Ok {
            return;
        }
        let known = finished.changed.iter();
        let known = known.filter(|change| !matches!(change.now, FileState::Unknown { .. }));
        let paths: Vec<_> = known.map(|change| &change.path).collect();
        for path in &paths {
            let file = self.changed(record, path);
            file.by_command |= by_command;
            file.edited |= !by_command;
            // Of several files the lines are known of all of them together.
            if let (Display::Diff { added, removed, .. }, [_]) = (&finished.display, &paths[..]) {
                file.added += added;
                file.removed += removed;
            }
        }
    }

    /// The file that this record changes.
    fn changed(&mut self, record: &Record, path: &str) -> &mut ChangedFile {
        let (seq, file) = self.changed.entry(path.to_owned()).or_insert_with(|| {
            let file = ChangedFile {
                path: path.to_owned(),
                turn: 0,
                at: record.at,
                added: 0,
                removed: 0,
                edited: false,
                by_command: false,
            };
            (record.seq, file)
        });
        *seq = record.seq;
        file.turn = record.turn.unwrap_or(0);
        file.at = record.at;
        file
    }

    /// Newest first. If there are too many, those that commands alone have changed are left out first.
    pub fn finish(self) -> Vec<ChangedFile> {
        let mut changed: Vec<_> = self.changed.into_values().collect();
        let newest = |(seq, file): &(Seq, ChangedFile)| (Reverse(*seq), file.path.clone());
        changed.sort_by_cached_key(|file| (!file.1.edited, newest(file)));
        changed.truncate(FILES_MAX);
        changed.sort_by_cached_key(newest);
        changed.into_iter().map(|(_, file)| file).collect()
    }
}

impl crate::viewers::fanout::Fanout {
    /// Who is attached, in the order they came.
    pub fn clients(&self) -> Vec<ClientPresence> {
        let followers = self.followers();
        followers
            .map(|follower| ClientPresence {
                name: follower.name.clone(),
                role: follower.role,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
