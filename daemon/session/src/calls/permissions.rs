//! Which rules are in force, for a session or in a directory; what becomes of a call under them, without making it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::{EffectivePermissions, ToolSet};
use policy::{Access, Explanation, Layer, RuleProblem, RuleSet};
use proto::record::Rules;
use proto::state::{ApprovalMode, OnAsk};
use proto::{ErrorName, Failure, Pid};
use serde_json::{Map, Value};
use workspace::{Workspace, WorkspaceOptions};

use crate::assembly::setup::{Assembly, DirectoryPolicy, RuleLayer};
use crate::calls::call::CallEnvironment;
use crate::calls::judgement::{ResolvedCall, ShellPosition, Standpoint, Surroundings};
use crate::context::first_message;

/// Names a session's temporary directory if there is no session: sessions count from 1.
const NO_SESSION: &str = "0";

/// What compiled rules are as of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RulesAsOf {
    pub(crate) grants: Vec<String>,
    pub(crate) kept: u64,
    pub(crate) tightened: u64,
}

/// What judging depends on in a session now.
pub struct PermissionState {
    pub(crate) pid: Pid,
    pub(crate) layers: Vec<RuleLayer>,
    pub(crate) standpoint: Standpoint,
    pub(crate) call_environment: Arc<CallEnvironment>,
}

/// Where rules are asked for.
#[derive(Clone, Debug)]
pub enum PermissionScope {
    /// A session, by pid, id or name.
    Session(String),
    /// A directory, as a new session would find it.
    Directory(PathBuf),
}

/// The rules in force, layer by layer.
#[derive(Clone, Debug)]
pub struct Permissions {
    /// The session, if one was asked for.
    pub session: Option<Pid>,
    pub root: PathBuf,
    pub approval_mode: ApprovalMode,
    pub layers: Vec<RuleLayer>,
    /// Rules that are not understood as their author may think.
    pub misread: Vec<RuleProblem>,
    /// What else is wrong with the files that they come from.
    pub problems: Vec<String>,
}

/// What became of a call that was not made.
#[derive(Clone, Debug)]
pub struct Explained {
    pub explanation: Explanation,
    pub approval_mode: ApprovalMode,
    pub tool: String,
}

pub(crate) fn compiled(layers: &[RuleLayer], tools: &ToolSet) -> (RuleSet, Vec<RuleProblem>) {
    let layers: Vec<_> = layers
        .iter()
        .map(|layer| (layer.layer, &layer.rules, layer.trusted))
        .collect();
    RuleSet::parse(&layers, &tools.specs().collect::<Vec<_>>())
}

pub(crate) fn root_of(terms: &DirectoryPolicy, cwd: &Path, user_home: &Path) -> PathBuf {
    workspace_root(terms.workspace_root.as_deref(), cwd, user_home)
}

/// The root of the workspace that a directory is in. `configured`: as the settings name it.
#[must_use]
pub fn workspace_root(configured: Option<&Path>, cwd: &Path, user_home: &Path) -> PathBuf {
    let root = configured.map(Path::to_path_buf);
    let root = root.unwrap_or_else(|| first_message::root_of(cwd, user_home));
    root.canonicalize().unwrap_or(root)
}

/// The layers of a directory, and the rules kept for its workspace.
pub(crate) fn with_kept(
    terms: &mut DirectoryPolicy,
    assembly: &dyn Assembly,
    root: &Path,
) -> Vec<RuleLayer> {
    let kept = assembly.kept_rules(root);
    terms.problems.extend(kept.problems());
    let mut layers = std::mem::take(&mut terms.layers);
    layers.push(RuleLayer {
        layer: Layer::Persisted,
        rules: Rules::clone(&kept.in_force().1),
        origin: kept.origin(),
        trusted: true,
    });
    layers
}

/// Closes to a workspace's unasked reads what the rules of these layers deny to read.
pub(crate) fn close_unasked(workspace: &Workspace, layers: &[RuleLayer], tools: &ToolSet) {
    let (rules, _) = compiled(layers, tools);
    workspace.close_unasked(rules.denied_paths(Access::Read));
}

/// The workspace of a directory in which no session is. `readable`: directories of ours that may be read.
pub(crate) fn open(
    terms: &DirectoryPolicy,
    assembly: &dyn Assembly,
    cwd: &Path,
    root: &Path,
    readable: Vec<PathBuf>,
) -> Result<Workspace, Failure> {
    let options = WorkspaceOptions {
        root: root.to_path_buf(),
        cwd: cwd.to_path_buf(),
        extra_writable: terms.allow_write.clone(),
        masked: assembly.closed(),
        readable,
        // One that no session has: those of all sessions are closed.
        temp: assembly.temp().map(|temp| temp.join(NO_SESSION)),
        deny_read: terms.deny_read.clone(),
        user_home: assembly.user_home(),
    };
    let workspace = Workspace::open(options).map_err(|error| {
        Failure::new(
            ErrorName::InvalidParams,
            format!("The directory `{}` cannot be read: {error}", cwd.display()),
            "Give an existing directory that you can read.",
        )
    })?;
    close_unasked(&workspace, &terms.layers, &terms.tools);
    Ok(workspace)
}

/// Judges a call as a session would now.
pub(crate) fn in_session(
    standing: &PermissionState,
    tool: &str,
    arguments: &Map<String, Value>,
) -> Result<Explained, Failure> {
    let call_environment = &standing.call_environment;
    let surroundings = call_environment.surroundings();
    let found = surroundings.found(surroundings.tool(tool)?, arguments)?;
    let position = call_environment.shell_position(&**found.tool, None);
    Ok(explained(
        &surroundings,
        &found,
        position,
        &standing.standpoint,
    ))
}

/// Judges a call as a session that were begun now in a directory would.
pub(crate) fn in_directory(
    assembly: &dyn Assembly,
    cwd: &Path,
    tool: &str,
    arguments: &Map<String, Value>,
    approval_mode: Option<ApprovalMode>,
) -> Result<Explained, Failure> {
    let mut terms = assembly.terms(cwd);
    let root = root_of(&terms, cwd, &assembly.user_home());
    let layers = with_kept(&mut terms, assembly, &root);
    let workspace = open(&terms, assembly, cwd, &root, Vec::new())?;
    let surroundings = Surroundings {
        tools: &terms.tools,
        workspace: &workspace,
        user_home: &assembly.user_home(),
        trusted: terms.trusted,
        masked: &assembly.closed(),
        confine: &terms.confine,
        spawn: &*assembly.spawn(),
        env: &[],
    };
    let found = surroundings.found(surroundings.tool(tool)?, arguments)?;
    let position = ShellPosition {
        cwd: workspace.cwd().to_path_buf(),
        altered: BTreeMap::new(),
    };
    let standpoint = Standpoint {
        rules: Arc::new(compiled(&layers, &terms.tools).0),
        approval_mode: approval_mode.unwrap_or(terms.approval_mode),
        effective_permissions: EffectivePermissions::default(),
        outside: None,
        quarantined: Vec::new(),
        skills: Vec::new(),
        on_ask: OnAsk::Wait,
        in_home: false,
        checks: Vec::new(),
    };
    let explained = explained(&surroundings, &found, position, &standpoint);
    if let Some(temp) = workspace.temp() {
        // The judgement makes it if a sandbox needs it. The removal fails if it is not empty or not there.
        let _ = std::fs::remove_dir(temp);
    }
    Ok(explained)
}

fn explained(
    surroundings: &Surroundings<'_>,
    found: &ResolvedCall<'_>,
    position: ShellPosition,
    standpoint: &Standpoint,
) -> Explained {
    Explained {
        explanation: surroundings.judge(found, position, standpoint).explanation,
        approval_mode: standpoint.approval_mode,
        tool: found.tool.spec().name.to_string(),
    }
}

#[cfg(test)]
mod tests;
