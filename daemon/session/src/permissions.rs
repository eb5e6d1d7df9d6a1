//! Which rules are in force, for a session or in a directory; what becomes of a call under them, without making it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::{Family, Stance, Strength, Tool};
use policy::{Access, Call, Context, Explanation, Layer, ResolvedPath, RuleProblem, RuleSet};
use proto::record::{Rules, SessionSet};
use proto::state::Posture;
use proto::{ErrorName, Failure, Pid};
use serde_json::{Map, Value};
use workspace::{Options, Workspace};

use crate::actor::Actor;
use crate::call::{Bench, resolve};
use crate::commands::Command;
use crate::gitsays;
use crate::handle::SessionHandle;
use crate::opening;
use crate::setup::{Layered, Terms};
use crate::supervisor::{Supervisor, blocking};
use crate::walls::{self, Around, Confine, Held};

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
    rules: Arc<RuleSet>,
    posture: Posture,
    stance: Stance,
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

    pub(crate) fn standing(&mut self) -> Standing {
        Standing {
            pid: self.bench.session,
            layers: self.layers(),
            rules: self.rules(),
            posture: self.machine.facts().settings.posture,
            stance: self.machine.facts().stance(),
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

/// A place to judge in.
struct Stand {
    workspace: Arc<Workspace>,
    tools: BTreeMap<&'static str, Arc<dyn Tool>>,
    rules: Arc<RuleSet>,
    posture: Posture,
    stance: Stance,
    trusted: bool,
    masked: Vec<PathBuf>,
    user_home: PathBuf,
    confine: Confine,
    strength: Strength,
    /// Where it is a session's: what its shell and its checkpoints know.
    bench: Option<Arc<Bench>>,
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
                    posture: standing.posture,
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

    /// Judges a call as it would be judged now, and does nothing of it.
    ///
    /// # Errors
    /// No such session, no such tool, arguments that it does not take, a directory that cannot be opened.
    pub async fn explain(
        &self,
        asked: &Asked,
        tool: String,
        arguments: Map<String, Value>,
    ) -> Result<Explained, Failure> {
        let assembly = Arc::clone(&self.ground.assembly);
        match asked {
            Asked::Session(session) => {
                let standing = self.find(session).await?.standing().await?;
                blocking(move || {
                    let bench = &standing.bench;
                    let stand = Stand {
                        workspace: Arc::clone(&bench.workspace),
                        tools: bench.tools.clone(),
                        rules: standing.rules,
                        posture: standing.posture,
                        stance: standing.stance,
                        trusted: bench.trusted,
                        masked: bench.masked.clone(),
                        user_home: bench.user_home.clone(),
                        confine: bench.confine.clone(),
                        strength: bench.spawn.strength(),
                        bench: Some(Arc::clone(bench)),
                    };
                    stand.explain(&tool, &arguments)
                })
                .await?
            }
            Asked::Directory(cwd) => {
                let cwd = cwd.clone();
                blocking(move || {
                    let mut terms = assembly.terms(&cwd);
                    let root = root_of(&terms, &cwd, &assembly.user_home());
                    let layers = with_kept(&mut terms, &*assembly, &root);
                    let tools = terms.tools.iter();
                    let stand = Stand {
                        workspace: Arc::new(open(&terms, &*assembly, &cwd, &root)?),
                        tools: tools
                            .map(|tool| (tool.spec().name, Arc::clone(tool)))
                            .collect(),
                        rules: Arc::new(compiled(&layers).0),
                        posture: terms.posture,
                        stance: Stance::default(),
                        trusted: terms.trusted,
                        masked: assembly.masked(),
                        user_home: assembly.user_home(),
                        strength: assembly.spawn().strength(),
                        confine: terms.confine,
                        bench: None,
                    };
                    stand.explain(&tool, &arguments)
                })
                .await?
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
fn with_kept(
    terms: &mut Terms,
    assembly: &dyn crate::setup::Assembly,
    root: &Path,
) -> Vec<Layered> {
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
    assembly: &dyn crate::setup::Assembly,
    cwd: &Path,
    root: &Path,
) -> Result<Workspace, Failure> {
    let options = Options {
        root: root.to_path_buf(),
        cwd: cwd.to_path_buf(),
        extra_writable: terms.allow_write.clone(),
        masked: assembly.masked(),
        readable: Vec::new(),
        // Where a session's own would be made.
        temp: assembly.temp(),
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

/// A tool, and what it is called with.
type Found<'a> = (&'a Arc<dyn Tool>, Map<String, Value>);

impl Stand {
    fn explain(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Explained, Failure> {
        let (tool, arguments) = self.parsed(tool, arguments)?;
        let spec = tool.spec();
        let touches = tool.touches(&arguments);
        let call = Call {
            tool: spec.name,
            family: spec.family,
            read_only_tool: spec.read_only,
            arguments: &arguments,
            touches: &touches,
        };
        let context = self.context(&**tool, &call);
        Ok(Explained {
            explanation: policy::explain(&self.rules, &context, &call),
            posture: self.posture,
            tool: spec.name.to_owned(),
        })
    }

    /// The tool that a call leads to, and its arguments as the tool reads them.
    fn parsed(&self, name: &str, arguments: &Map<String, Value>) -> Result<Found<'_>, Failure> {
        let tool = self.tool(name)?;
        let parsed = tool.parse(arguments).map_err(refused)?;
        match tool.stands_for(&parsed) {
            None => Ok((tool, parsed)),
            Some((name, arguments)) => {
                let tool = self.tool(&name)?;
                let parsed = tool.parse(&arguments).map_err(refused)?;
                Ok((tool, parsed))
            }
        }
    }

    fn tool(&self, name: &str) -> Result<&Arc<dyn Tool>, Failure> {
        self.tools.get(name).ok_or_else(|| {
            let known: Vec<_> = self.tools.keys().copied().collect();
            Failure::new(
                ErrorName::NotFound,
                format!("There is no tool `{name}`."),
                format!("Tools: {}.", known.join(", ")),
            )
        })
    }

    /// As a call of a session is judged in, without keeping anything of what it would change.
    fn context(&self, tool: &dyn Tool, call: &Call<'_>) -> Context {
        let stands = self.bench.as_ref().map(|bench| bench.stands(tool));
        let (cwd, altered) =
            stands.unwrap_or_else(|| (self.workspace.cwd().to_path_buf(), Vec::new()));
        let look = |text: &str, access: Access| -> ResolvedPath {
            resolve(&self.workspace, &cwd, text, access)
        };
        let subjects = policy::subjects(call);
        let about = Around {
            workspace: &self.workspace,
            confine: &self.confine,
            masked: &self.masked,
            strength: self.strength,
            env: &[],
        };
        let held = match call.family {
            Family::Bash => walls::around(&about, &self.rules),
            Family::Read | Family::Edit | Family::Session => Held::default(),
        };
        let mut context = Context {
            paths: subjects
                .paths
                .iter()
                .map(|subject| look(&subject.text, subject.access))
                .collect(),
            root: self.workspace.root().to_path_buf(),
            cwd,
            user_home: self.user_home.clone(),
            altered,
            git_programs: match subjects.git {
                true => gitsays::programs(&self.workspace, &self.user_home),
                false => Vec::new(),
            },
            posture: self.posture,
            stance: self.stance,
            sandbox: held.strength,
            leaks: held.leaks,
            unconfined: held.unconfined,
            masked: self.masked.clone(),
            trusted: self.trusted,
        };
        if let (Family::Edit, Some(bench)) = (call.family, &self.bench) {
            bench.look_before(call.tool, &mut context);
        }
        context
    }
}

fn refused(outcome: contract::Outcome) -> Failure {
    Failure::new(
        ErrorName::InvalidParams,
        outcome.text,
        "Give the arguments as the tool's description has them.",
    )
}
