//! Which rules are in force, for a session or in a directory; what becomes of a call under them, without making it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::Stance;
use policy::{Explanation, Layer, RuleProblem, RuleSet};
use proto::record::{Rules, SessionSet};
use proto::state::Posture;
use proto::{ErrorName, Failure, Pid};
use serde_json::{Map, Value};
use workspace::{Workspace, WorkspaceOptions};

use crate::actor::Actor;
use crate::call::Bench;
use crate::commands::Command;
use crate::handle::SessionHandle;
use crate::judging::{Found, Standpoint, Stands, Surroundings};
use crate::opening;
use crate::setup::{Assembly, Layered, Terms, tools_by_name};
use crate::supervisor::{Supervisor, blocking};

/// Names a session's temporary directory where there is none: sessions count from 1.
const NO_SESSION: &str = "0";

/// What compiled rules are as of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RulesAsOf {
    grants: Vec<String>,
    kept: u64,
}

/// What judging depends on in a session now.
pub struct Standing {
    pid: Pid,
    layers: Vec<Layered>,
    standpoint: Standpoint,
    bench: Arc<Bench>,
}

/// Where rules are asked for.
#[derive(Clone, Debug)]
pub enum Asked {
    /// A session, by pid, id or name.
    Session(String),
    /// A directory, as a new session would find it.
    Directory(PathBuf),
}

/// The rules in force, layer by layer.
#[derive(Clone, Debug)]
pub struct Permissions {
    /// The session, where one was asked for.
    pub session: Option<Pid>,
    pub root: PathBuf,
    pub posture: Posture,
    pub layers: Vec<Layered>,
    /// Rules that are not understood as their author may think.
    pub misread: Vec<RuleProblem>,
    /// What else is wrong with the files that they come from.
    pub problems: Vec<String>,
}

/// What became of a call that was not made.
#[derive(Clone, Debug)]
pub struct Explained {
    pub explanation: Explanation,
    pub posture: Posture,
    pub tool: String,
}

impl Actor {
    /// The layers that judge its calls, the session's own last.
    fn layers(&self) -> Vec<Layered> {
        let facts = self.machine.facts();
        let created = facts.created.as_ref();
        let run = created.map(|created| created.rules.clone());
        let allow = facts.grants.iter().map(|scope| scope.rule.clone());
        let granted = Rules {
            allow: allow.collect(),
            ..Rules::default()
        };
        let pid = created.map(|created| created.pid).unwrap_or_default();
        let of_its_own = |layer, rules, origin| Layered {
            layer,
            rules,
            origin,
            trusted: true,
        };
        let mut layers = self.layers.clone();
        let kept = self.kept_rules.in_force().1;
        layers.extend([
            of_its_own(Layer::Kept, Rules::clone(&kept), self.kept_rules.origin()),
            of_its_own(
                Layer::Run,
                run.unwrap_or_default(),
                format!("the start of session {pid}"),
            ),
            of_its_own(Layer::Session, granted, format!("answers in session {pid}")),
        ]);
        layers
    }

    /// The rules in force: the files', what is kept for the workspace, the session's own, and what people allowed in it.
    pub(crate) fn rules(&mut self) -> Arc<RuleSet> {
        let grants = self.machine.facts().grants.iter();
        let as_of = RulesAsOf {
            grants: grants.map(|scope| scope.rule.clone()).collect(),
            kept: self.kept_rules.in_force().0,
        };
        if let Some((known, rules)) = &self.compiled
            && *known == as_of
        {
            return Arc::clone(rules);
        }
        let rules = Arc::new(compiled(&self.layers()).0);
        self.compiled = Some((as_of, Arc::clone(&rules)));
        rules
    }

    /// What its calls are judged by now. `outside`: why the sandbox stopped the call, where it did.
    pub(crate) fn standpoint(&mut self, outside: Option<String>) -> Standpoint {
        let rules = self.rules();
        let facts = self.machine.facts();
        Standpoint {
            rules,
            posture: facts.settings.posture,
            stance: facts.stance(),
            outside,
        }
    }

    pub(crate) fn standing(&mut self) -> Standing {
        Standing {
            pid: self.bench.session,
            layers: self.layers(),
            standpoint: self.standpoint(None),
            bench: Arc::clone(&self.bench),
        }
    }
}

fn compiled(layers: &[Layered]) -> (RuleSet, Vec<RuleProblem>) {
    let layers: Vec<_> = layers
        .iter()
        .map(|layer| (layer.layer, &layer.rules, layer.trusted))
        .collect();
    RuleSet::parse(&layers)
}

impl SessionHandle {
    async fn standing(&self) -> Result<Standing, Failure> {
        self.ask(|reply| Command::Standing { reply }).await
    }
}

impl Supervisor {
    /// The rules in force.
    ///
    /// # Errors
    /// No such session; the log of it cannot be opened.
    pub async fn permissions(&self, asked: &Asked) -> Result<Permissions, Failure> {
        match asked {
            Asked::Session(session) => {
                let standing = self.find(session).await?.standing().await?;
                let misread = compiled(&standing.layers).1;
                Ok(Permissions {
                    session: Some(standing.pid),
                    root: standing.bench.workspace.root().to_path_buf(),
                    posture: standing.standpoint.posture,
                    layers: standing.layers,
                    misread,
                    problems: Vec::new(),
                })
            }
            Asked::Directory(cwd) => {
                let (ground, cwd) = (self.ground.clone(), cwd.clone());
                blocking(move || {
                    let assembly = &ground.assembly;
                    let mut terms = assembly.terms(&cwd);
                    let root = root_of(&terms, &cwd, &assembly.user_home());
                    let layers = with_kept(&mut terms, &**assembly, &root);
                    let misread = compiled(&layers).1;
                    Permissions {
                        session: None,
                        root,
                        posture: terms.posture,
                        layers,
                        misread,
                        problems: terms.problems,
                    }
                })
                .await
            }
        }
    }

    /// Judges a call as it would be judged now, or in this posture, and does nothing of it.
    ///
    /// # Errors
    /// No such session, no such tool, arguments that it does not take, a directory that cannot be opened.
    pub async fn explain(
        &self,
        asked: &Asked,
        tool: String,
        arguments: Map<String, Value>,
        posture: Option<Posture>,
    ) -> Result<Explained, Failure> {
        match asked {
            Asked::Session(session) => {
                let mut standing = self.find(session).await?.standing().await?;
                if let Some(posture) = posture {
                    standing.standpoint.posture = posture;
                }
                blocking(move || in_session(&standing, &tool, &arguments)).await?
            }
            Asked::Directory(cwd) => {
                let (assembly, cwd) = (Arc::clone(&self.ground.assembly), cwd.clone());
                let judge = move || in_directory(&*assembly, &cwd, &tool, &arguments, posture);
                blocking(judge).await?
            }
        }
    }

    /// Takes back what was allowed in a session; false: it was not.
    ///
    /// # Errors
    /// No such session; its log takes no more.
    pub async fn revoke(&self, session: &str, rule: &str, by: String) -> Result<bool, Failure> {
        let handle = self.find(session).await?;
        let standing = handle.standing().await?;
        let mut layers = standing.layers.iter();
        let granted = layers.find(|layer| layer.layer == Layer::Session);
        if !granted.is_some_and(|layer| layer.rules.allow.iter().any(|known| known == rule)) {
            return Ok(false);
        }
        let set = SessionSet {
            revoked: Some(rule.to_owned()),
            by: Some(by),
            ..SessionSet::default()
        };
        handle.set(set).await?;
        Ok(true)
    }
}

fn root_of(terms: &Terms, cwd: &Path, user_home: &Path) -> PathBuf {
    let root = terms.workspace_root.clone();
    let root = root.unwrap_or_else(|| opening::root_of(cwd, user_home));
    root.canonicalize().unwrap_or(root)
}

/// The layers of a directory, and what is kept for its workspace.
fn with_kept(terms: &mut Terms, assembly: &dyn Assembly, root: &Path) -> Vec<Layered> {
    let kept = assembly.kept_rules(root);
    terms.problems.extend(kept.problems());
    let mut layers = std::mem::take(&mut terms.layers);
    layers.push(Layered {
        layer: Layer::Kept,
        rules: Rules::clone(&kept.in_force().1),
        origin: kept.origin(),
        trusted: true,
    });
    layers
}

fn open(
    terms: &Terms,
    assembly: &dyn Assembly,
    cwd: &Path,
    root: &Path,
) -> Result<Workspace, Failure> {
    let options = WorkspaceOptions {
        root: root.to_path_buf(),
        cwd: cwd.to_path_buf(),
        extra_writable: terms.allow_write.clone(),
        masked: assembly.closed(),
        readable: Vec::new(),
        // One that no session has: those of all sessions are closed.
        temp: assembly.temp().map(|temp| temp.join(NO_SESSION)),
        deny_read: terms.deny_read.clone(),
        user_home: assembly.user_home(),
    };
    Workspace::open(options).map_err(|error| {
        Failure::new(
            ErrorName::InvalidParams,
            format!(
                "The directory `{}` cannot be looked at: {error}",
                cwd.display()
            ),
            "Name a directory that exists and that you may read.",
        )
    })
}

/// Judges a call as a session would now.
fn in_session(
    standing: &Standing,
    tool: &str,
    arguments: &Map<String, Value>,
) -> Result<Explained, Failure> {
    let bench = &standing.bench;
    let surroundings = bench.surroundings();
    let found = surroundings.found(surroundings.tool(tool)?, arguments)?;
    let stands = bench.stands(&**found.tool, None);
    Ok(explained(
        &surroundings,
        &found,
        stands,
        &standing.standpoint,
    ))
}

/// Judges a call as a session that were begun now in a directory would.
fn in_directory(
    assembly: &dyn Assembly,
    cwd: &Path,
    tool: &str,
    arguments: &Map<String, Value>,
    posture: Option<Posture>,
) -> Result<Explained, Failure> {
    let mut terms = assembly.terms(cwd);
    let root = root_of(&terms, cwd, &assembly.user_home());
    let layers = with_kept(&mut terms, assembly, &root);
    let workspace = open(&terms, assembly, cwd, &root)?;
    let surroundings = Surroundings {
        tools: &tools_by_name(&terms.tools),
        workspace: &workspace,
        user_home: &assembly.user_home(),
        trusted: terms.trusted,
        masked: &assembly.closed(),
        confine: &terms.confine,
        spawn: &*assembly.spawn(),
        env: &[],
    };
    let found = surroundings.found(surroundings.tool(tool)?, arguments)?;
    let stands = Stands {
        cwd: workspace.cwd().to_path_buf(),
        altered: Vec::new(),
    };
    let standpoint = Standpoint {
        rules: Arc::new(compiled(&layers).0),
        posture: posture.unwrap_or(terms.posture),
        stance: Stance::default(),
        outside: None,
    };
    let explained = explained(&surroundings, &found, stands, &standpoint);
    if let Some(temp) = workspace.temp() {
        // Made by the way where there would be walls. What is not empty, or not there, stays as it is.
        let _ = std::fs::remove_dir(temp);
    }
    Ok(explained)
}

fn explained(
    surroundings: &Surroundings<'_>,
    found: &Found<'_>,
    stands: Stands,
    standpoint: &Standpoint,
) -> Explained {
    Explained {
        explanation: surroundings.judge(found, stands, standpoint).explanation,
        posture: standpoint.posture,
        tool: found.tool.spec().name.to_owned(),
    }
}

#[cfg(test)]
mod tests;
