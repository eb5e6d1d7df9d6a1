//! One call of a session before it runs: it is judged, the files it may change are kept, and the question that a user would be
//! asked is made. Module `judgement` judges it, module `run` runs it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::tool::{Cancel, Progress, Shells, SkillLibrary};
use contract::{
    Agents, Basis, CallContext, Decision, Outcome, PastMessages, Questions, SandboxSpec, Spawn,
    Tool, ToolMemory, ToolSet, ToolSpec,
};
use knowledge::memory::FactStores;
use proto::item::{Display, ToolCall, ToolKind};
use proto::params::interaction::Approval;
use proto::params::process::ChildProcess;
use proto::record::{Quarantined, Verdict};
use proto::{CallId, Pid, SessionId};
use serde_json::{Map, Value};
use store::blob::BlobStore;
use turn::repair::flatten::FlatSchema;
use turn::{Decided, Judgement};
use workspace::Workspace;

use crate::assembly::sandbox_settings::SandboxSettings;
use crate::assembly::server_content::ServerContent;
use crate::calls::arguments;
use crate::calls::external_changes::Notes;
use crate::calls::hooks::HookedCall;
use crate::calls::instructions::InstructionWatch;
use crate::calls::judgement::{
    Judged, ResolvedCall, ShellPosition, Standpoint, Surroundings, UnjudgeableCall,
};
use crate::calls::skills::SessionSkills;
use crate::context::prefix::digest;
use checkpoint::{Checkpoint, Keeper, PathSnapshots, Watched};

mod early;
mod edit;
mod images;
mod printed;
mod questions;
mod run;
mod shown;
mod stop;

pub use early::EarlyResult;
pub use printed::Printed;
pub use run::overdue;
pub(crate) use run::{CachedChangeCheck, Started};
pub use stop::Stop;

use printed::Quiet;
use stop::Never;

/// What the calls of a session share.
#[derive(Clone)]
pub struct CallEnvironment {
    pub session: Pid,
    pub session_id: SessionId,
    pub tools: ToolSet,
    /// Those whose parameters are shown flat, and the way back.
    pub flat: BTreeMap<Arc<str>, FlatSchema>,
    pub workspace: Arc<Workspace>,
    pub memory: Arc<dyn ToolMemory>,
    pub env: Arc<Vec<(String, String)>>,
    pub spill_dir: PathBuf,
    /// Where images of results are kept.
    pub blobs: BlobStore,
    pub spawn: Arc<dyn Spawn>,
    pub shells: Arc<dyn Shells>,
    pub history: Arc<dyn PastMessages>,
    pub agents: Arc<dyn Agents>,
    pub user_home: PathBuf,
    /// The directory of the user's custom commands.
    pub user_commands: PathBuf,
    pub skills: Arc<SessionSkills>,
    /// The directory of the user's agents.
    pub user_agents: PathBuf,
    /// Prompts and resources of MCP servers.
    pub server_content: Arc<dyn ServerContent>,
    pub trusted: bool,
    /// The agent's own directories.
    pub masked: Vec<PathBuf>,
    /// How commands are to be held.
    pub confine: SandboxSettings,
    /// Keeps what files were before calls change them.
    pub keeper: Arc<Keeper>,
    /// Knows the files that others have changed.
    pub notes: Notes,
    /// Finds instruction files that are newer than the prefix.
    pub instructions: Arc<InstructionWatch>,
    /// Facts of earlier sessions, if those that fit a prompt come with it.
    pub recall: Option<FactStores>,
    /// Reads the budget bounds that the next request needs. Blocks: called on a blocking thread when a call ends, so that the
    /// request needs no such thread of its own.
    pub prefetch_bounds: Arc<dyn Fn() + Send + Sync>,
}

/// A call that may run: the tool (not the call's own if it replaces that), and its parsed arguments.
#[derive(Debug, Default)]
pub struct Ready {
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// The places to look at again when it has ended.
    pub watched: Watched,
    /// Data beside its checkpoint, in the log's line.
    pub own: Option<String>,
    /// What its command may touch.
    pub sandbox: Option<Arc<SandboxSpec>>,
    /// Where its paths lead.
    pub leads_to: Vec<PathBuf>,
    /// The names that are put back, instead of a run.
    pub put_back: Vec<Quarantined>,
    /// The `PATH` that its command gets in place of its own.
    pub path: Option<String>,
    /// Its command gets no variables that name programs.
    pub holds_reader: bool,
    /// Its result, if it was done while it was judged.
    pub done: Option<Box<EarlyResult>>,
}

/// What the turn has kept already, so that it is not kept again.
#[derive(Clone, Debug, Default)]
pub struct KeptPaths {
    /// Files, by their absolute paths.
    pub files: BTreeSet<String>,
    /// The work tree too, or it was said why not.
    pub tree: bool,
}

impl CallEnvironment {
    fn context(
        &self,
        call: CallId,
        progress: Arc<dyn Progress>,
        questions: Arc<dyn Questions>,
        cancel: Arc<dyn Cancel>,
    ) -> CallContext {
        CallContext {
            session: self.session,
            session_id: self.session_id,
            call,
            cwd: self.workspace.cwd().to_path_buf(),
            env: Arc::clone(&self.env),
            spill_dir: self.spill_dir.clone(),
            spawn: Arc::clone(&self.spawn),
            memory: Arc::clone(&self.memory),
            tools: self.tools.clone(),
            progress,
            questions,
            cancel,
            shells: Arc::clone(&self.shells),
            skills: Arc::clone(&self.skills) as Arc<dyn SkillLibrary>,
            history: Arc::clone(&self.history),
            agents: Arc::clone(&self.agents),
            sandbox: None,
            path: None,
        }
    }

    /// Where its calls are judged.
    pub(crate) fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            tools: &self.tools,
            workspace: &self.workspace,
            user_home: &self.user_home,
            trusted: self.trusted,
            masked: &self.masked,
            confine: &self.confine,
            spawn: &*self.spawn,
            env: &self.env,
        }
    }

    /// Where a call starts from, and which variables earlier ones have changed for it. A tool may bind the call to that;
    /// `None`: nobody makes the call.
    pub(crate) fn shell_position(&self, tool: &dyn Tool, call: Option<&CallId>) -> ShellPosition {
        let nobody = || CallId(String::new());
        let quiet = self.quiet(call.cloned().unwrap_or_else(nobody));
        let cwd = tool.cwd(&quiet);
        ShellPosition {
            cwd: cwd.unwrap_or_else(|| self.workspace.cwd().to_path_buf()),
            altered: tool.altered(&quiet),
        }
    }

    /// The context for asking a tool without running it: nothing is printed, nothing is stopped.
    fn quiet(&self, call: CallId) -> CallContext {
        self.context(call, Arc::new(Quiet), Arc::new(()), Arc::new(Never))
    }

    /// The directory of a work tree that a command makes outside the roots, if it may become one of them.
    fn added_work_tree(&self, command: &str, cwd: &Path) -> Option<String> {
        let named = policy::added_work_tree(command)?;
        let directory = self.workspace.addable(cwd, Path::new(&named))?;
        directory.into_os_string().into_string().ok()
    }

    /// The tool that a call leads to, with its parsed arguments.
    fn found(&self, call: &ToolCall) -> Result<ResolvedCall<'_>, UnjudgeableCall> {
        let surroundings = self.surroundings();
        let tool = surroundings.tool(&call.name)?;
        let mut raw = arguments::read(&call.arguments).map_err(Outcome::refused)?;
        if let Some(flat) = self.flat.get(call.name.as_str())
            && let Value::Object(nested) = flat.nest(Value::Object(std::mem::take(&mut raw)))
        {
            raw = nested;
        }
        surroundings.found(tool, &raw)
    }

    /// A call as hooks are notified of it, the tool that it leads to and its arguments; none where these cannot be read.
    pub fn seen(&self, call: &ToolCall) -> Option<HookedCall> {
        let ResolvedCall {
            tool, arguments, ..
        } = self.found(call).ok()?;
        Some(HookedCall {
            call: call.id.clone(),
            tool: Arc::clone(tool),
            arguments,
        })
    }

    /// Judges a call: its arguments, its paths, the rules; what a person would be shown. Keeps the files it may change, and
    /// binds it to where its paths lead. Blocks.
    pub fn judge(
        &self,
        call: &ToolCall,
        standpoint: &Standpoint,
        kept: &KeptPaths,
    ) -> (Judgement, Ready) {
        match self.try_judge(call, standpoint, kept) {
            Ok(judged) => judged,
            Err(outcome) => (Judgement::Refused(outcome), Ready::default()),
        }
    }

    fn try_judge(
        &self,
        call: &ToolCall,
        standpoint: &Standpoint,
        kept: &KeptPaths,
    ) -> Result<(Judgement, Ready), Outcome> {
        let found = self.found(call)?;
        let position = self.shell_position(&**found.tool, Some(&call.id));
        let cwd = position.cwd.clone();
        let mut judged = self.surroundings().judge(&found, position, standpoint);
        if call.found {
            asked_always(&mut judged.explanation.decision);
        }
        let quiet = self.quiet(call.id.clone());
        let spec = found.tool.spec();
        if matches!(spec.kind, ToolKind::Agent | ToolKind::Goal)
            && let Display::Line { text } = found.tool.preview(&found.arguments, &quiet)?.display
        {
            judged.subject = text;
        }
        let decision = &judged.explanation.decision;
        let verdict = decision.verdict;
        let preview = match verdict == Verdict::Ask {
            true => found.tool.preview(&found.arguments, &quiet)?.display,
            false => Display::Line {
                text: judged.subject.clone(),
            },
        };
        let places = std::mem::take(&mut judged.places);
        let (watched, checkpoint) = self.keep_before(decision, judged.is_command, places, kept)?;
        // The judged call is the one that runs: a path that leads elsewhere by then is refused.
        if verdict != Verdict::Deny && !judged.leads_to.is_empty() {
            found.tool.bind(&judged.leads_to, &quiet);
        }
        let own = checkpoint.as_ref().and_then(|kept| kept.own.clone());
        let checkpoint = checkpoint.map(|mut kept| {
            kept.record.call = Some(call.id.clone());
            kept.record
        });
        let decided = Decided {
            checkpoint,
            ..self.decided(&found, &judged, preview, &cwd, standpoint)
        };
        let ready = Ready {
            tool: spec.name.to_string(),
            arguments: found.arguments,
            watched,
            own,
            sandbox: judged.sandbox,
            leads_to: judged.leads_to,
            put_back: standpoint.quarantined.clone(),
            // Where the sandbox is off, programs found on `PATH` are the user's own choice.
            path: judged
                .programs
                .path
                .filter(|_| standpoint.outside.is_some()),
            holds_reader: judged.holds_reader,
            done: None,
        };
        Ok((Judgement::Decided(decided), ready))
    }

    /// The judgement of a call for the machine, without its checkpoint. `cwd`: where the call starts from.
    fn decided(
        &self,
        found: &ResolvedCall<'_>,
        judged: &Judged,
        preview: Display,
        cwd: &Path,
        standpoint: &Standpoint,
    ) -> Decided {
        let spec = found.tool.spec();
        let canonical = Value::Object(found.arguments.clone()).to_string();
        let shown_hash = shown::shown_hash(
            found,
            &canonical,
            &preview,
            (&judged.subject, &judged.programs),
            standpoint,
        );
        let runs_own_files = judged.programs.runs_own_files();
        Decided {
            again_hash: runs_own_files.then(|| shown::again_hash(&shown_hash)),
            shown_hash,
            approval: self.approval(spec, judged, preview, cwd, standpoint),
            decision: judged.explanation.decision.clone(),
            in_read_only_sessions: spec.in_read_only_sessions,
            subject: judged.subject.clone(),
            input_sha256: digest(&[spec.name.as_bytes(), canonical.as_bytes()]),
            // The actor says: it knows who is attached when the judgement comes in.
            unattended: turn::input::Unattended::Wait,
            tool: spec.name.to_string(),
            kind: spec.kind,
            action: found.action.clone(),
            effective_permissions: standpoint.effective_permissions,
            checkpoint: None,
        }
    }

    /// What the user would be shown of a call.
    fn approval(
        &self,
        spec: &ToolSpec,
        judged: &Judged,
        preview: Display,
        cwd: &Path,
        standpoint: &Standpoint,
    ) -> Approval {
        let decision = &judged.explanation.decision;
        let outside = standpoint.outside.as_ref();
        let adds_dir = outside.and_then(|_| self.added_work_tree(&judged.subject, cwd));
        Approval {
            review: None,
            tool: spec.name.to_string(),
            kind: spec.kind,
            subject: judged.subject.clone(),
            preview,
            rule: decision.rule.clone(),
            escape: outside.cloned(),
            quarantined: standpoint.quarantined.clone(),
            programs: judged.programs.programs.clone(),
            left_out: match outside {
                Some(_) => judged.programs.left_out.clone(),
                None => Vec::new(),
            },
            again: false,
            adds_dir,
            scopes: decision.scopes.clone(),
            // The other questions about a command are not about its text.
            following: 0,
            editable: judged.is_command && outside.is_none() && standpoint.quarantined.is_empty(),
        }
    }

    /// Keeps what a call may change, if it is not denied and the turn has not done so yet.
    fn keep_before(
        &self,
        decision: &Decision,
        is_command: bool,
        places: PathSnapshots,
        kept: &KeptPaths,
    ) -> Result<(Watched, Option<Checkpoint>), Outcome> {
        if decision.verdict == Verdict::Deny {
            return Ok((Watched::Nothing, None));
        }
        if is_command {
            if decision.read_only {
                return Ok((Watched::Nothing, None));
            }
            return Ok(self.keeper.before_command(&self.path(), kept.tree));
        }
        self.keeper.keep(places, &kept.files).map_err(|why| {
            Outcome::failed(format!(
                "Not run: what it would change could not be kept first ({why}). Tell the user; the disk may be full."
            ))
        })
    }

    /// The commands of the session that run.
    pub(crate) fn running_processes(&self) -> Vec<ChildProcess> {
        self.spawn.running(self.session)
    }

    /// Where programs are looked for.
    pub(crate) fn path(&self) -> String {
        let path = self.env.iter().find(|(name, _)| name == "PATH");
        path.map_or_else(
            || "/usr/local/bin:/usr/bin:/bin".to_owned(),
            |(_, path)| path.clone(),
        )
    }
}

/// A call that the model did not declare may have been quoted from a file that it read: if the call changes anything, the user is
/// asked, whatever the approval mode, and for this once.
fn asked_always(decision: &mut Decision) {
    if decision.read_only || decision.verdict == Verdict::Deny {
        return;
    }
    decision.verdict = Verdict::Ask;
    "the call was written as text, not made as a tool call".clone_into(&mut decision.rule);
    "built-in".clone_into(&mut decision.layer);
    decision.basis = Basis::AlwaysAsked;
    decision.scopes.clear();
    decision.confinement_suffices = false;
}

#[cfg(test)]
pub(crate) mod tests;
