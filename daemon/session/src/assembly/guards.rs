//! What the settings forbid in a directory, and how a running session takes over new prohibitions: only
//! stricter settings. Loosened ones wait until the session is opened again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use policy::Layer;
use proto::record::Rules;
use workspace::Workspace;

use crate::assembly::sandbox_settings::{SandboxDemand, SandboxSettings};
use crate::assembly::setup::{Assembly, RuleLayer};

/// Rules, and what commands may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guards {
    pub layers: Vec<RuleLayer>,
    pub allow_write: Vec<PathBuf>,
    pub deny_read: Vec<String>,
    pub confine: SandboxSettings,
    /// Not all of the files could be read: a missing setting means nothing.
    pub incomplete: bool,
}

impl Guards {
    /// Added to the denying rules while a file that may contain some cannot be read. It matches no call, so
    /// that every call that changes something is asked about.
    pub const UNREAD: &str = "[permissions]";

    /// Takes over what `now` forbids beyond these. `root`: of the workspace, which stays writable. Returns what has become
    /// stricter, for people; empty if nothing has.
    pub fn tighten(&mut self, now: &Self, root: &Path) -> Vec<String> {
        let mut stricter = Vec::new();
        for layer in &now.layers {
            let position = self.layers.iter().position(|own| own.layer == layer.layer);
            let own = match position {
                Some(position) => &mut self.layers[position],
                None => {
                    self.layers.push(RuleLayer {
                        rules: Rules::default(),
                        ..layer.clone()
                    });
                    let last = self.layers.len() - 1;
                    &mut self.layers[last]
                }
            };
            tighten_layer(own, layer, now.incomplete, &mut stricter);
        }
        let mut denied = Vec::new();
        for pattern in &now.deny_read {
            if !self.deny_read.contains(pattern) {
                self.deny_read.push(pattern.clone());
                denied.push(format!("Read({pattern})"));
            }
        }
        if !now.incomplete {
            self.forbid_writing(now, root, &mut denied);
            tighten_sandbox(&mut self.confine, &now.confine, &mut stricter);
        }
        let own = self.layers.iter_mut();
        let own = own.into_iter().find(|own| own.layer == Layer::User);
        if let Some(own) = own {
            for rule in denied {
                add(&mut own.rules.deny, &rule, "deny", &mut stricter);
            }
        }
        stricter
    }

    /// Directories beside the workspace that may not be written any more are denied by a rule.
    fn forbid_writing(&mut self, now: &Self, root: &Path, denied: &mut Vec<String>) {
        let (kept, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.allow_write)
            .into_iter()
            .partition(|dir| now.allow_write.contains(dir));
        self.allow_write = kept;
        for dir in gone {
            let still = |open: &Path| dir.starts_with(open);
            // Directories that are writable for another reason stay so.
            if still(root) || self.allow_write.iter().any(|open| still(open)) {
                continue;
            }
            denied.push(format!("Edit({}/**)", literal(&dir.to_string_lossy())));
        }
    }
}

/// A path as a pattern that matches nothing else: its directories may have names with wildcards.
fn literal(path: &str) -> String {
    let escaped = path.chars().flat_map(|c| {
        let is_special = matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\');
        is_special.then_some('\\').into_iter().chain([c])
    });
    escaped.collect()
}

/// Denials and questions are added, permissions taken away.
fn tighten_layer(
    own: &mut RuleLayer,
    now: &RuleLayer,
    incomplete: bool,
    stricter: &mut Vec<String>,
) {
    // The project may have had no file until now, or another one.
    if own.rules == Rules::default() {
        own.origin.clone_from(&now.origin);
    } else if now.rules != Rules::default() && !own.origin.contains(&now.origin) {
        own.origin = format!("{}, {}", own.origin, now.origin);
    }
    for rule in &now.rules.deny {
        add(&mut own.rules.deny, rule, "deny", stricter);
    }
    for rule in &now.rules.ask {
        add(&mut own.rules.ask, rule, "ask", stricter);
    }
    if incomplete {
        return;
    }
    own.rules.deny.retain(|rule| rule != Guards::UNREAD);
    let (was, is) = (own.trusted, now.trusted);
    own.trusted &= is;
    own.rules.allow.retain(|rule| {
        let stays = is && now.rules.allow.contains(rule);
        if !stays && was {
            stricter.push(format!("no longer allow {rule}"));
        }
        stays
    });
}

fn add(rules: &mut Vec<String>, rule: &str, list: &str, stricter: &mut Vec<String>) {
    if rules.iter().any(|known| known == rule) {
        return;
    }
    rules.push(rule.to_owned());
    stricter.push(format!("{list} {rule}"));
}

fn tighten_sandbox(own: &mut SandboxSettings, now: &SandboxSettings, stricter: &mut Vec<String>) {
    let strictness = |demand| match demand {
        SandboxDemand::Off => 0,
        SandboxDemand::Warn => 1,
        SandboxDemand::Enforce => 2,
    };
    if strictness(now.demand) > strictness(own.demand) {
        own.demand = now.demand;
        stricter.push("sandbox.bash".to_owned());
    }
    for (own, now, name) in [
        (&mut own.network, now.network, "sandbox.network"),
        (
            &mut own.accept_partial,
            now.accept_partial,
            "sandbox.accept_partial",
        ),
    ] {
        if *own && !now {
            *own = false;
            stricter.push(name.to_owned());
        }
    }
    for (own, now, name) in [
        (&mut own.caches, &now.caches, "sandbox.caches"),
        (&mut own.sockets, &now.sockets, "sandbox.sockets"),
    ] {
        let before = own.len();
        own.retain(|open| now.contains(open));
        if own.len() < before {
            stricter.push(name.to_owned());
        }
    }
}

/// Whether what a session forbids is still all that the settings forbid.
pub(crate) struct GuardWatch {
    pub assembly: Arc<dyn Assembly>,
    pub workspace: Arc<Workspace>,
    /// What the session forbids.
    pub own: Arc<Guards>,
    /// The settings as it has seen them last.
    pub seen: Option<Arc<Guards>>,
    /// The number of the rules that are kept for the workspace.
    pub kept: u64,
}

/// The session is not judged by all that the settings forbid now.
pub(crate) struct Outdated {
    /// `None` if only the rules kept for the workspace changed.
    pub guards: Option<Arc<Guards>>,
}

impl GuardWatch {
    /// Changes since then, if they matter to the session. Blocks: looks at files.
    pub fn outdated(&self) -> Option<Outdated> {
        let kept = self.assembly.kept_rules(self.workspace.root());
        let kept_changed = kept.in_force().0 != self.kept;
        let guards = self.changed();
        (kept_changed || guards.is_some()).then_some(Outdated { guards })
    }

    fn changed(&self) -> Option<Arc<Guards>> {
        let now = self.assembly.guards(self.workspace.cwd())?;
        let seen = self.seen.as_ref();
        if seen.is_some_and(|seen| Arc::ptr_eq(seen, &now)) {
            return None;
        }
        let mut own = Guards::clone(&self.own);
        own.tighten(&now, self.workspace.root());
        (own != *self.own).then_some(now)
    }
}

#[cfg(test)]
mod tests;
