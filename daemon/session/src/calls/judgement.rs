//! How a call is judged: what is gathered for it, and the verdict of the rules.
//!
//! The one place for it: the calls that a session runs and those that `permissions explain` is asked about both come
//! through here, so that the explanation and the judgement agree. Looks at the disk (blocks); starts nothing, and makes
//! nothing but the session's temporary directory, if the sandbox needs it and somebody has removed it.
//! Called by `call` and `permissions`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::{
    CallAction, Decision, EffectivePermissions, Family, Outcome, SandboxSpec, Spawn, Tool, ToolSet,
    is_server_tool,
};
use policy::{Call, Context, Explanation, RuleSet, Subjects};
use proto::params::interaction::NamedProgram;
use proto::record::{Quarantined, SkillUse, Verdict};
use proto::state::{ApprovalMode, OnAsk};
use serde_json::{Map, Value};
use workspace::{PathError, Workspace};

use crate::assembly::sandbox_settings::SandboxSettings;
use crate::calls::git_config as gitsays;
use crate::calls::outside::{self, OutsidePrograms, ProgramSearch};
use crate::calls::sandbox::{self, CommandSandbox, SandboxContext};
use checkpoint::PathSnapshots;

mod paths;
mod unfit;

pub use unfit::UnjudgeableCall;

use paths::leads_to;

/// Where calls are judged: in a session, or in a directory as a new session would find it.
pub struct Surroundings<'a> {
    pub tools: &'a ToolSet,
    pub workspace: &'a Workspace,
    pub user_home: &'a Path,
    pub trusted: bool,
    /// The agent's own directories.
    pub masked: &'a [PathBuf],
    /// How commands are to be held, and what would hold them.
    pub confine: &'a SandboxSettings,
    pub spawn: &'a dyn Spawn,
    /// The environment of commands.
    pub env: &'a [(String, String)],
}

/// What a judgement depends on beside the call and its surroundings.
#[derive(Clone, Debug)]
pub struct Standpoint {
    pub rules: Arc<RuleSet>,
    pub approval_mode: ApprovalMode,
    /// What the session may do now.
    pub effective_permissions: EffectivePermissions,
    /// Why the sandbox stopped the call, if it did: the call is to run unsandboxed.
    pub outside: Option<String>,
    /// What the call's command made under protected names: it is to be put back, and nothing runs.
    pub quarantined: Vec<Quarantined>,
    /// The skills in force: they rule calls out, and allow none.
    pub skills: Vec<SkillUse>,
    /// What becomes of questions that nobody is there for.
    pub on_ask: OnAsk,
    /// The user has said that their home is an ordinary workspace.
    pub in_home: bool,
    /// The commands that the call runs one by one from the session's directory, as the user wrote them: it checks a goal.
    pub checks: Vec<String>,
}

impl Standpoint {
    /// Whether nothing in it is of one call alone.
    pub fn is_plain(&self) -> bool {
        self.outside.is_none() && self.quarantined.is_empty() && self.checks.is_empty()
    }

    /// Whether both lead to the same judgements.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.rules, &other.rules)
            && self.approval_mode == other.approval_mode
            && self.effective_permissions == other.effective_permissions
            && self.outside == other.outside
            && self.quarantined == other.quarantined
            && self.skills == other.skills
            && self.on_ask == other.on_ask
            && self.in_home == other.in_home
            && self.checks == other.checks
    }

    /// Whether every change needs approval: a command that runs unasked because it only reads is kept from writing.
    fn holds_readers(&self) -> bool {
        self.effective_permissions.refuses().is_some() || self.on_ask == OnAsk::Deny
    }
}

/// Where a tool's calls start from, and which variables earlier ones have changed for them.
#[derive(Default)]
pub struct ShellPosition {
    pub cwd: PathBuf,
    /// `None`: unset.
    pub altered: BTreeMap<String, Option<String>>,
}

/// The tool that a call leads to, and its arguments as that tool reads them.
pub struct ResolvedCall<'a> {
    pub tool: &'a Arc<dyn Tool>,
    pub arguments: Map<String, Value>,
    /// Never `CallTool`: that has been followed.
    pub action: CallAction,
}

/// The outcome of a judgement, and its inputs.
pub struct Judged {
    pub explanation: Explanation,
    /// What the call is about: its command, or the first of its paths.
    pub subject: String,
    pub is_command: bool,
    /// Where its paths lead, each place once.
    pub leads_to: Vec<PathBuf>,
    /// The present files at the places that it may change, unless it is a command.
    pub places: PathSnapshots,
    /// What its command may touch.
    pub sandbox: Option<Arc<SandboxSpec>>,
    /// The programs that its command starts, if no sandbox restricts it.
    pub programs: OutsidePrograms,
    /// It runs because it only reads, in a session that must not change anything: its command gets no variables that name programs.
    pub holds_reader: bool,
}

impl<'a> Surroundings<'a> {
    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Result<&'a Arc<dyn Tool>, UnjudgeableCall> {
        let unfit = || match self.tools.is_missing(name) {
            true if self.tools.is_redefined(name) => {
                UnjudgeableCall::RedefinedTool(name.to_owned())
            }
            true if is_server_tool(name) => UnjudgeableCall::MissingServerTool(name.to_owned()),
            true => UnjudgeableCall::MissingTool(name.to_owned()),
            false => UnjudgeableCall::NoTool {
                name: name.to_owned(),
                known: self.tools.names().map(str::to_owned).collect(),
            },
        };
        self.tools.get(name).ok_or_else(unfit)
    }

    /// What a call of a tool leads to: that of `tool_call` is the one that it names.
    pub fn found(
        &self,
        tool: &'a Arc<dyn Tool>,
        arguments: &Map<String, Value>,
    ) -> Result<ResolvedCall<'a>, UnjudgeableCall> {
        let outer = ResolvedCall::parse(tool, arguments)?;
        let Some((named, arguments)) = outer.action.named_call() else {
            return Ok(outer);
        };
        let found = ResolvedCall::parse(self.tool(named)?, arguments)?;
        if found.action.named_call().is_some() {
            let why = format!("`{}` calls other tools, not itself.", tool.spec().name);
            return Err(Outcome::refused(why).into());
        }
        Ok(found)
    }

    /// Judges a call: its paths, what would hold it, the rules.
    pub fn judge(
        &self,
        found: &ResolvedCall<'_>,
        position: ShellPosition,
        standpoint: &Standpoint,
    ) -> Judged {
        let spec = found.tool.spec();
        let touches = found.tool.touches(&found.arguments);
        let call = Call {
            tool: spec,
            arguments: &found.arguments,
            touches: &touches,
        };
        let subjects = policy::subjects(&call);
        let is_command = spec.family == Family::Bash && subjects.command.is_some();
        let mut held = match is_command && standpoint.outside.is_none() {
            true => self.held(&standpoint.rules),
            false => CommandSandbox::default(),
        };
        if spec.family == Family::Edit {
            self.protect_named(&position.cwd, &subjects);
        }
        let programs = match (&subjects.command, &held.sandbox) {
            (Some(command), None) if is_command => self.programs(command, &position),
            _ => OutsidePrograms::default(),
        };
        let mut context = self.context(&subjects, position, standpoint, &held);
        let places = match spec.family {
            Family::Edit => self.look_before(spec, &mut context),
            Family::Bash
            | Family::Read
            | Family::WebFetch
            | Family::WebSearch
            | Family::Task
            | Family::Memory
            | Family::Session => PathSnapshots::default(),
        };
        let mut explanation = policy::explain(&standpoint.rules, &context, &call);
        if is_command && policy::may_be_covered(&explanation.decision) {
            let allowing = self.checks_allowed(found, &context.altered, standpoint, &held);
            explanation.decision = match allowing {
                Some(by) => policy::covered(explanation.decision, by),
                None => explanation.decision,
            };
        }
        explanation.decision = self.where_it_runs(explanation.decision, standpoint, programs.own());
        let decision = &explanation.decision;
        let runs_unasked = decision.verdict == Verdict::Allow && decision.read_only;
        let holds_reader = is_command && runs_unasked && standpoint.holds_readers();
        if holds_reader {
            held.sandbox = held.sandbox.as_deref().map(sandbox::read_only);
        }
        explanation.decision = self.narrowed(explanation.decision, standpoint, &context, &call);
        let first = || subjects.paths.first().map(|subject| subject.text.clone());
        Judged {
            explanation,
            leads_to: leads_to(&context),
            is_command,
            places,
            sandbox: held.sandbox,
            programs,
            holds_reader,
            subject: subjects.command.clone().or_else(first).unwrap_or_default(),
        }
    }

    /// The decision, with what a run outside the sandbox and a workspace that holds the home add to it. `own`: the program
    /// that the session may have written itself.
    fn where_it_runs(
        &self,
        decision: Decision,
        standpoint: &Standpoint,
        own: Option<&NamedProgram>,
    ) -> Decision {
        let permissions = (standpoint.approval_mode, standpoint.effective_permissions);
        let decision = match (standpoint.outside.as_deref(), own) {
            (Some(why), _) => policy::escape(&standpoint.rules, permissions, decision, why),
            (None, Some(program)) => {
                let why = outside::reason(program);
                policy::with_own_program(decision, permissions, &why)
            }
            (None, None) => decision,
        };
        let may_change = !decision.read_only && !standpoint.in_home;
        match may_change && workspace::holds_home(self.workspace.root(), self.user_home) {
            true => policy::in_home(decision),
            false => decision,
        }
    }

    /// The decision, with what a call that puts paths back and skills in force take away from it.
    fn narrowed(
        &self,
        mut decision: Decision,
        standpoint: &Standpoint,
        context: &Context,
        call: &Call<'_>,
    ) -> Decision {
        if !standpoint.quarantined.is_empty() {
            let denied = self.denied_to_change(&standpoint.quarantined);
            decision = policy::put_back(standpoint.effective_permissions, decision, denied);
        }
        if !standpoint.skills.is_empty() {
            let tools: Vec<_> = self.tools.specs().collect();
            decision = policy::under_skills(decision, &standpoint.skills, &tools, context, call);
        }
        decision
    }

    /// The decision that allows the first of a goal's check commands, if rules allow each of them as the user wrote it.
    fn checks_allowed(
        &self,
        found: &ResolvedCall<'_>,
        altered: &[String],
        standpoint: &Standpoint,
        held: &CommandSandbox,
    ) -> Option<Decision> {
        let unset = |name: &String| (name.clone(), None);
        let judge = |check: &String| {
            let arguments = policy::with_command(found.tool.spec(), &found.arguments, check);
            let call = Call {
                tool: found.tool.spec(),
                arguments: &arguments,
                touches: &[],
            };
            let position = ShellPosition {
                cwd: self.workspace.cwd().to_path_buf(),
                altered: altered.iter().map(unset).collect(),
            };
            let context = self.context(&policy::subjects(&call), position, standpoint, held);
            policy::decide(&standpoint.rules, &context, &call)
        };
        let mut checks = standpoint.checks.iter().map(judge);
        let first = checks.next()?;
        let allows = |decision: &Decision| decision.verdict == Verdict::Allow;
        (allows(&first) && checks.all(|next| allows(&next))).then_some(first)
    }

    /// Why one of these paths may not be changed, whoever says yes.
    fn denied_to_change(&self, items: &[Quarantined]) -> Option<String> {
        items.iter().find_map(|item| {
            let resolved = self.workspace.resolve(&item.path, workspace::Access::Write);
            let denied = |error: &PathError| matches!(error, PathError::Denied { .. });
            resolved.err().filter(denied).map(|error| error.to_string())
        })
    }

    fn context(
        &self,
        subjects: &Subjects,
        position: ShellPosition,
        standpoint: &Standpoint,
        held: &CommandSandbox,
    ) -> Context {
        let paths = subjects.paths.iter();
        Context {
            paths: paths
                .map(|subject| self.resolve(&position.cwd, &subject.text, subject.access))
                .collect(),
            root: self.workspace.root().to_path_buf(),
            cwd: position.cwd,
            user_home: self.user_home.to_path_buf(),
            altered: position.altered.into_keys().collect(),
            git_programs: match subjects.git {
                true => gitsays::programs(self.workspace, self.user_home),
                false => Vec::new(),
            },
            approval_mode: standpoint.approval_mode,
            effective_permissions: standpoint.effective_permissions,
            sandbox: held.strength,
            leaks: held.leaks,
            unconfined: held.unconfined.clone(),
            masked: self.masked.to_vec(),
            trusted: self.trusted,
        }
    }

    /// The programs of a command that no sandbox restricts.
    fn programs(&self, command: &str, position: &ShellPosition) -> OutsidePrograms {
        let search = ProgramSearch {
            workspace: self.workspace,
            beside: &self.confine.caches,
            env: self.env,
        };
        search.look(command, position)
    }

    /// What would hold a command.
    pub fn held(&self, rules: &RuleSet) -> CommandSandbox {
        let about = SandboxContext {
            workspace: self.workspace,
            confine: self.confine,
            masked: self.masked,
            strength: self.spawn.strength(),
            env: self.env,
        };
        sandbox::around(&about, rules)
    }
}

impl<'a> ResolvedCall<'a> {
    fn parse(tool: &'a Arc<dyn Tool>, arguments: &Map<String, Value>) -> Result<Self, Outcome> {
        let arguments = tool.parse(arguments)?;
        let action = tool.action(&arguments)?;
        Ok(Self {
            tool,
            arguments,
            action,
        })
    }
}
