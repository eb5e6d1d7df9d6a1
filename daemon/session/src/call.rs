//! One call's life outside the machine: arguments, policy, preview; then the run.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use contract::tool::{Cancel, Progress, Shells};
use contract::{CallContext, Decision, Family, Outcome, Spawn, Stance, Tool, Walls};
use futures::FutureExt;
use futures::future::BoxFuture;
use policy::{Access, Call, Context, ResolvedPath, RuleSet};
use proto::hook::HookEvent;
use proto::item::{CallStatus, Display, ToolCall};
use proto::params::approval::Approval;
use proto::record::{Changed, Verdict};
use proto::state::Posture;
use proto::{ApprovalId, CallId, Pid, Stamp};
use serde_json::{Map, Value};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use turn::Judgement;
use turn::input::Proposal;
use workspace::{FileKind, PathError, Workspace};

use crate::arguments;
use crate::checkpoint::{Checkpoint, Keeper, Places, Watched};
use crate::commands::Happened;
use crate::gitsays;
use crate::hooked::{Asker, Seen};
use crate::notes::Notes;
use crate::prefix::digest;
use crate::walls::{self, Around, Confine, Held};

/// What the calls of a session share.
#[derive(Clone)]
pub struct Bench {
    pub session: Pid,
    pub tools: BTreeMap<&'static str, Arc<dyn Tool>>,
    pub workspace: Arc<Workspace>,
    pub memory: Arc<dyn std::any::Any + Send + Sync>,
    pub env: Arc<Vec<(String, String)>>,
    pub spill_dir: PathBuf,
    pub spawn: Arc<dyn Spawn>,
    pub shells: Arc<dyn Shells>,
    pub user_home: PathBuf,
    pub trusted: bool,
    /// The agent's own directories.
    pub masked: Vec<PathBuf>,
    /// How commands are to be held.
    pub confine: Confine,
    /// Keeps what files were before calls change them.
    pub keeper: Arc<Keeper>,
    /// Who knows what others have changed.
    pub notes: Notes,
}

/// Tools that make directories: what is in one that is there already stays as it is.
const MAKE_DIRECTORIES: &[&str] = &["make_dir"];

/// A call that may run: the tool (another than the call's where it stands for one), and its parsed arguments.
#[derive(Clone, Debug, Default)]
pub struct Ready {
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// What is looked at again when it has ended.
    pub watched: Watched,
    /// What stands beside its checkpoint, in the log's line.
    pub own: Option<String>,
    /// What its command may touch.
    pub walls: Option<Arc<Walls>>,
}

/// A tool, and what it is called with.
type Found<'a> = (&'a Arc<dyn Tool>, Map<String, Value>);

/// What a judgement depends on beside the call.
pub struct Standpoint {
    pub rules: Arc<RuleSet>,
    pub posture: Posture,
    /// What the session may do now.
    pub stance: Stance,
    /// Files that the turn has kept already.
    pub kept: BTreeSet<String>,
    /// The work tree too, or it was said why not.
    pub tree_kept: bool,
    /// Why the sandbox stopped the call, where it did: it is to run outside.
    pub outside: Option<String>,
}

impl Bench {
    fn context(
        &self,
        call: CallId,
        progress: Arc<dyn Progress>,
        cancel: Arc<dyn Cancel>,
    ) -> CallContext {
        CallContext {
            session: self.session,
            call,
            cwd: self.workspace.cwd().to_path_buf(),
            env: Arc::clone(&self.env),
            spill_dir: self.spill_dir.clone(),
            spawn: Arc::clone(&self.spawn),
            memory: Arc::clone(&self.memory),
            progress,
            cancel,
            shells: Arc::clone(&self.shells),
            walls: None,
        }
    }

    /// Judges a call: its arguments, its paths, the rules; what a person would be shown. Blocks.
    pub fn judge(&self, call: &ToolCall, standpoint: &Standpoint) -> (Judgement, Ready) {
        match self.try_judge(call, standpoint) {
            Ok(judged) => judged,
            Err(outcome) => (Judgement::Refused(outcome), Ready::default()),
        }
    }

    /// The tool that a call leads to, with its parsed arguments: that of `tool_call` is the one that it names.
    fn tool_of(&self, call: &ToolCall) -> Result<Found<'_>, Outcome> {
        let tool = self.tool(&call.name)?;
        let raw = arguments::read(&call.arguments).map_err(Outcome::refused)?;
        let arguments = tool.parse(&raw)?;
        let Some((name, arguments)) = tool.stands_for(&arguments) else {
            return Ok((tool, arguments));
        };
        let tool = self.tool(&name)?;
        let arguments = tool.parse(&arguments)?;
        if tool.stands_for(&arguments).is_some() {
            return Err(Outcome::refused(format!(
                "`{}` calls other tools, not itself.",
                call.name
            )));
        }
        Ok((tool, arguments))
    }

    /// A call as hooks are told of it, the tool that it leads to and its arguments; none where these cannot be read.
    pub fn seen(&self, call: &ToolCall) -> Option<Seen> {
        let (tool, arguments) = self.tool_of(call).ok()?;
        Some(Seen {
            call: call.id.clone(),
            tool: tool.spec().name.to_owned(),
            arguments,
        })
    }

    fn tool(&self, name: &str) -> Result<&Arc<dyn Tool>, Outcome> {
        self.tools.get(name).ok_or_else(|| {
            let known: Vec<_> = self.tools.keys().copied().collect();
            Outcome::refused(format!(
                "There is no tool `{name}`. Tools: {}.",
                known.join(", ")
            ))
        })
    }

    fn try_judge(
        &self,
        call: &ToolCall,
        standpoint: &Standpoint,
    ) -> Result<(Judgement, Ready), Outcome> {
        let (tool, arguments) = self.tool_of(call)?;
        let spec = tool.spec();
        let touches = tool.touches(&arguments);
        let asked = Call {
            tool: spec.name,
            family: spec.family,
            read_only_tool: spec.read_only,
            arguments: &arguments,
            touches: &touches,
        };
        let subjects = policy::subjects(&asked);
        let quiet = self.context(call.id.clone(), Arc::new(Quiet), Arc::new(Never));
        let cwd = tool.cwd(&quiet);
        let cwd = cwd.unwrap_or_else(|| self.workspace.cwd().to_path_buf());
        let is_command = spec.family == Family::Bash && subjects.command.is_some();
        let outside = standpoint.outside.as_deref();
        let held = match is_command && outside.is_none() {
            true => self.held(&standpoint.rules),
            false => Held::default(),
        };
        let mut context = Context {
            paths: subjects
                .paths
                .iter()
                .map(|subject| self.resolve(&cwd, &subject.text, subject.access))
                .collect(),
            root: self.workspace.root().to_path_buf(),
            cwd,
            user_home: self.user_home.clone(),
            altered: tool.altered(&quiet),
            git_programs: match subjects.git {
                true => gitsays::programs(&self.workspace, &self.user_home),
                false => Vec::new(),
            },
            posture: standpoint.posture,
            stance: standpoint.stance,
            sandbox: held.strength,
            leaks: held.leaks,
            unconfined: held.unconfined,
            masked: self.masked.clone(),
            trusted: self.trusted,
        };
        let places = if spec.family == Family::Edit {
            self.look_before(spec.name, &mut context)
        } else {
            Places::default()
        };
        let mut decision = policy::decide(&standpoint.rules, &context, &asked);
        if let Some(why) = outside {
            let stands = (standpoint.posture, standpoint.stance);
            decision = policy::escape(&standpoint.rules, stands, decision, why);
        }
        let subject = subjects
            .command
            .or_else(|| subjects.paths.first().map(|subject| subject.text.clone()))
            .unwrap_or_default();
        let preview = if decision.verdict == Verdict::Ask {
            tool.preview(&arguments, &quiet)?.display
        } else {
            Display::Line {
                text: subject.clone(),
            }
        };
        let (watched, checkpoint) = if decision.verdict == Verdict::Deny {
            (Watched::Nothing, None)
        } else {
            self.keep_before(&decision, is_command, places, standpoint)?
        };
        let own = checkpoint.as_ref().and_then(|kept| kept.own.clone());
        let checkpoint = checkpoint.map(|mut kept| {
            kept.record.call = Some(call.id.clone());
            kept.record
        });
        // What was judged is what runs: a path that leads elsewhere by then is refused.
        let mut places: Vec<PathBuf> = Vec::new();
        for place in context
            .paths
            .iter()
            .filter_map(|path| path.absolute.as_ref())
        {
            if !places.contains(place) {
                places.push(place.clone());
            }
        }
        if decision.verdict != Verdict::Deny && !places.is_empty() {
            tool.bind(&places, &quiet);
        }
        let canonical = Value::Object(arguments.clone()).to_string();
        let shown = serde_json::to_string(&preview).unwrap_or_default();
        let input_sha256 = digest(&[spec.name.as_bytes(), canonical.as_bytes()]);
        let question = Approval {
            approval_id: ApprovalId(String::new()),
            session: self.session,
            call: call.id.clone(),
            tool: spec.name.to_owned(),
            // A yes to a run within is none to one outside.
            shown_hash: match outside {
                None => digest(&[
                    spec.name.as_bytes(),
                    subject.as_bytes(),
                    canonical.as_bytes(),
                    shown.as_bytes(),
                ]),
                Some(why) => digest(&[
                    b"outside the sandbox",
                    why.as_bytes(),
                    spec.name.as_bytes(),
                    subject.as_bytes(),
                    canonical.as_bytes(),
                    shown.as_bytes(),
                ]),
            },
            subject: subject.clone(),
            preview,
            rule: decision.rule.clone(),
            escape: outside.map(str::to_owned),
            scopes: decision.scopes.clone(),
            asked_at: Stamp::default(),
        };
        Ok((
            Judgement::Decided {
                decision,
                subject,
                input_sha256,
                question,
                // The actor says: it knows who is attached when the judgement comes in.
                unattended: turn::input::Unattended::Wait,
                tool: spec.name.to_owned(),
                questions: tool.questions(&arguments),
                plan: tool.plan(&arguments).map(|plan| Proposal {
                    shown_hash: digest(&[spec.name.as_bytes(), plan.as_bytes()]),
                    plan,
                }),
                stance: standpoint.stance,
                checkpoint,
            },
            Ready {
                tool: spec.name.to_owned(),
                arguments,
                watched,
                own,
                walls: held.walls,
            },
        ))
    }

    /// What would hold a command.
    fn held(&self, rules: &RuleSet) -> Held {
        let about = Around {
            workspace: &self.workspace,
            confine: &self.confine,
            masked: &self.masked,
            strength: self.spawn.strength(),
            env: &self.env,
        };
        walls::around(&about, rules)
    }

    /// Clears away what walls like these have left, made by a daemon that was killed.
    pub(crate) fn clear(&self, rules: &RuleSet) {
        if let Some(walls) = self.held(rules).walls {
            self.spawn.clear(&walls);
        }
    }

    /// Looks at what a call may change, and notes what of it could not be brought back.
    pub(crate) fn look_before(&self, tool: &str, context: &mut Context) -> Places {
        let changes = |path: &&mut ResolvedPath| {
            let closed = path.masked || path.denied || path.error.is_some();
            path.access == Access::Edit && path.writable && !closed
        };
        let named: Vec<(&mut ResolvedPath, Vec<PathBuf>)> = context
            .paths
            .iter_mut()
            .filter(changes)
            .map(|path| {
                let absolute = path.absolute.clone();
                // A link may be meant itself, and not what it leads to.
                let link = self.unfollowed(&context.cwd, &path.text);
                (path, absolute.into_iter().chain(link).collect())
            })
            .collect();
        let all: BTreeSet<PathBuf> = named.iter().flat_map(|(_, all)| all.clone()).collect();
        let below = !MAKE_DIRECTORIES.contains(&tool);
        let places = self.keeper.look_at(&all, below);
        for (path, all) in named {
            path.unkept = all.iter().any(|place| places.unkept.contains(place));
        }
        places
    }

    /// The place that a path names, its last name not followed.
    fn unfollowed(&self, cwd: &Path, text: &str) -> Option<PathBuf> {
        let written = Path::new(text);
        let name = written.file_name()?;
        let above = written.parent()?.to_str()?;
        let above = if above.is_empty() { "." } else { above };
        let at = self.workspace.locate(cwd, above).ok()?;
        (at.writable() && !at.masked()).then(|| at.path().join(name))
    }

    /// Keeps what a call may change, where the turn has not done so yet.
    fn keep_before(
        &self,
        decision: &Decision,
        is_command: bool,
        places: Places,
        standpoint: &Standpoint,
    ) -> Result<(Watched, Option<Checkpoint>), Outcome> {
        if is_command {
            if decision.read_only {
                return Ok((Watched::Nothing, None));
            }
            return Ok(self
                .keeper
                .before_command(&self.path(), standpoint.tree_kept));
        }
        self.keeper.keep(places, &standpoint.kept).map_err(|why| {
            Outcome::failed(format!(
                "Not run: what it would change could not be kept first ({why}). Tell the user; the disk may be full."
            ))
        })
    }

    /// Where programs are looked for.
    pub(crate) fn path(&self) -> String {
        let path = self.env.iter().find(|(name, _)| name == "PATH");
        path.map_or_else(
            || "/usr/local/bin:/usr/bin:/bin".to_owned(),
            |(_, path)| path.clone(),
        )
    }

    fn resolve(&self, cwd: &Path, text: &str, access: Access) -> ResolvedPath {
        resolve(&self.workspace, cwd, text, access)
    }

    /// Where a tool's calls start from, and which variables earlier ones have changed for them.
    pub(crate) fn stands(&self, tool: &dyn Tool) -> (PathBuf, Vec<String>) {
        let quiet = self.context(CallId(String::new()), Arc::new(Quiet), Arc::new(Never));
        let cwd = tool.cwd(&quiet);
        let cwd = cwd.unwrap_or_else(|| self.workspace.cwd().to_path_buf());
        (cwd, tool.altered(&quiet))
    }

    /// Starts a call. Its end comes back as `Happened::CallEnded`, also where the tool panics.
    pub fn start(
        &self,
        call: &ToolCall,
        ready: Ready,
        printed: &Arc<Printed>,
        stop: &Arc<Stop>,
        asker: Option<Asker>,
        happened: UnboundedSender<Happened>,
    ) -> Option<tokio::task::AbortHandle> {
        let Ready {
            tool,
            arguments,
            watched,
            own: _,
            walls,
        } = ready;
        let asker = asker.filter(|asker| asker.has(HookEvent::PostToolUse, &tool));
        let after = asker.map(|asker| {
            let seen = Seen {
                call: call.id.clone(),
                tool: tool.clone(),
                arguments: arguments.clone(),
            };
            (asker, seen, stop.token.clone())
        });
        let tool = Arc::clone(self.tools.get(tool.as_str())?);
        let progress: Arc<dyn Progress> = Arc::clone(printed) as Arc<dyn Progress>;
        let cancel: Arc<dyn Cancel> = Arc::clone(stop) as Arc<dyn Cancel>;
        let context = CallContext {
            walls,
            ..self.context(call.id.clone(), progress, cancel)
        };
        let id = call.id.clone();
        let keeper = Arc::clone(&self.keeper);
        let notes = self.notes.clone();
        // What others change while it runs cannot be told from what it does itself.
        let changes = matches!(tool.spec().family, Family::Bash | Family::Edit);
        let task = tokio::spawn(async move {
            let note = notes.of_others().await;
            let started = Instant::now();
            let run =
                AssertUnwindSafe(async move { tool.run(arguments, context).await }).catch_unwind();
            let mut outcome = run.await.unwrap_or_else(|_| {
                Outcome::failed("The tool crashed: a bug in Reasonix. What it did before is not known; look before you go on.")
            });
            let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            if !matches!(watched, Watched::Nothing) {
                take_in(&mut outcome.changed, looked(&keeper, &watched).await);
            }
            if changes {
                notes.absorb().await;
            }
            let mut told: Vec<String> = note.into_iter().collect();
            if let Some((asker, seen, stop)) = after {
                let status = serde_json::to_value(outcome.status).unwrap_or_default();
                let what = seen.after(&outcome, status.as_str().unwrap_or_default());
                let ran = asker.ask(what, &stop).await;
                if let Some(chain) = ran.filter(|chain| !chain.finished.is_empty()) {
                    // What a hook has made of the files belongs to the call where it is taken back, and the model is
                    // told of it: it knows them as they were before.
                    take_anew(&mut outcome.changed, looked(&keeper, &watched).await);
                    told.extend(notes.of_others().await);
                    let _ = happened.send(Happened::HooksRan(chain.finished));
                }
            }
            for note in told {
                outcome.text = format!("{}\n\n{note}", outcome.text.trim_end_matches('\n'));
            }
            let _ = happened.send(Happened::CallEnded {
                call: id,
                outcome: Box::new(outcome),
                duration_ms,
            });
        });
        Some(task.abort_handle())
    }
}

/// What is other now at the places of a call.
async fn looked(keeper: &Arc<Keeper>, watched: &Watched) -> Vec<Changed> {
    let (keeper, watched) = (Arc::clone(keeper), watched.clone());
    let looked = tokio::task::spawn_blocking(move || keeper.changed(&watched)).await;
    looked.unwrap_or_default()
}

/// A second look knows better than anything that was said before.
fn take_anew(said: &mut Vec<Changed>, looked: Vec<Changed>) {
    for known in said.iter_mut() {
        if let Some(fresh) = looked.iter().find(|fresh| fresh.path == known.path) {
            known.now.clone_from(&fresh.now);
        }
    }
    take_in(said, looked);
}

/// What a tool says of a place itself it knows better than a look from outside.
fn take_in(said: &mut Vec<Changed>, looked: Vec<Changed>) {
    let known: BTreeSet<String> = said.iter().map(|changed| changed.path.clone()).collect();
    let fresh = looked
        .into_iter()
        .filter(|changed| !known.contains(&changed.path));
    said.extend(fresh);
}

/// The outcome of a call that did not come back after it was told to stop.
pub fn overdue() -> Outcome {
    Outcome::with_status(
        CallStatus::Unknown,
        "The call was told to stop and did not come back in time. What it did is not known.",
    )
}

/// What a running call has printed since it was looked at last.
pub struct Printed {
    state: Mutex<Fresh>,
    happened: UnboundedSender<Happened>,
}

#[derive(Default)]
struct Fresh {
    text: String,
    /// Bytes of the output that came before `text`.
    offset: u64,
    /// Bytes that came after `text` and are not shown.
    dropped: u64,
}

/// Output that waits to be shown: what comes on top of it is dropped from the live view (the result has it).
const PRINTED_MAX: usize = 64 * 1024;

impl Printed {
    pub fn new(happened: UnboundedSender<Happened>) -> Self {
        Self {
            state: Mutex::default(),
            happened,
        }
    }

    /// Takes what is fresh, with the bytes that came before it.
    pub fn take(&self) -> Option<(u64, String)> {
        let mut fresh = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (offset, text) = (fresh.offset, std::mem::take(&mut fresh.text));
        fresh.offset += text.len() as u64 + std::mem::take(&mut fresh.dropped);
        (!text.is_empty()).then_some((offset, text))
    }
}

impl Progress for Printed {
    fn output(&self, text: &str) {
        let mut fresh = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Once something was dropped, the rest is too until this was taken: a text has no holes.
        if fresh.dropped > 0 || fresh.text.len() + text.len() > PRINTED_MAX {
            fresh.dropped += text.len() as u64;
            return;
        }
        let first = fresh.text.is_empty();
        fresh.text.push_str(text);
        drop(fresh);
        if first {
            let _ = self.happened.send(Happened::Output);
        }
    }
}

/// Tells a running call to stop, and how hard.
#[derive(Default)]
pub struct Stop {
    token: CancellationToken,
    grace_ms: AtomicU64,
}

impl Stop {
    pub fn stop(&self, grace_ms: u64) {
        self.grace_ms.store(grace_ms, Ordering::Relaxed);
        self.token.cancel();
    }
}

impl Cancel for Stop {
    fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'static, ()> {
        let token = self.token.clone();
        Box::pin(async move { token.cancelled().await })
    }

    fn grace_ms(&self) -> u64 {
        self.grace_ms.load(Ordering::Relaxed)
    }
}

/// For previews: nothing is printed, nothing is stopped.
struct Quiet;

impl Progress for Quiet {
    fn output(&self, _text: &str) {}
}

struct Never;

impl Cancel for Never {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn cancelled(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

/// A path of a call, followed as far as it leads.
pub(crate) fn resolve(
    workspace: &Workspace,
    cwd: &Path,
    text: &str,
    access: Access,
) -> ResolvedPath {
    let wanted = match access {
        Access::Read => workspace::Access::Read,
        Access::Edit => workspace::Access::Write,
    };
    // The workspace resolves from the session's directory; a shell may stand elsewhere.
    let from = match text {
        "" => None,
        _ if text.starts_with('~') || cwd == workspace.cwd() => None,
        _ => cwd.join(text).into_os_string().into_string().ok(),
    };
    let whole = from.as_deref().unwrap_or(text);
    let error = workspace.resolve(whole, wanted).err();
    let located = workspace.locate(cwd, text).ok();
    let at = located.as_ref();
    ResolvedPath {
        text: text.to_owned(),
        access,
        absolute: at.map(|at| at.path().to_path_buf()),
        writable: at.is_some_and(workspace::Resolved::writable),
        protected: at.is_some_and(workspace::Resolved::protected),
        // What leads through `/proc/self` leads elsewhere for the command that will follow it.
        masked: matches!(error, Some(PathError::Masked { .. }))
            || at.is_some_and(workspace::Resolved::through_process),
        denied: matches!(error, Some(PathError::Denied { .. })),
        holds_closed: at.is_some_and(workspace::Resolved::holds_closed),
        directory: at.is_some_and(|at| at.kind() == Some(FileKind::Directory)),
        unkept: false,
        error: error.map(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests;
