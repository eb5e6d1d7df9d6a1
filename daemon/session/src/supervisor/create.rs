//! How a session is made: setup, prefix, pid, log, first records; and the answer to a repeated request.

mod profile;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use contract::ToolSet;
use hooks::HookPayload;
use knowledge::ResolvedReferences;
use proto::hook::HookEvent;
use proto::params::session::{CreateOutput, CreateParams, ReadParams};
use proto::record::{PromptQueued, Rules, SessionCreated};
use proto::state::{Kind, OnAsk};
use proto::{ErrorName, Failure, Pid, PromptId, Seq, SessionId, SessionOptions, UntypedText};
use store::log::LogFile;

use crate::actor::handle::SessionHandle;
use crate::actor::start::FirstNotices;
use crate::actor::{Actor, Inbox};
use crate::assembly::options;
use crate::assembly::setup::{ModelSetup, ProfileChoice, Setup};
use crate::calls::hooks as hooked;
use crate::calls::references::{self, PromptText};
use crate::context::first_message;
use crate::context::prefix::{self, FrozenPrefix};
use crate::request::keys::Keys;
use crate::supervisor::agents::Parent;
use crate::supervisor::build::{Parts, build};
use crate::supervisor::load::{SessionLog, SessionServices};
use crate::supervisor::workspaces::SessionPlace;
use crate::supervisor::{Client, Supervisor, prefixes, storage};
use crate::tasks::blocking;

/// How long a directory, a config or the store may take to answer.
const PREPARING_MAX: Duration = Duration::from_secs(30);

/// Names of variables whose values may be in the log: what commands need to find programs and to print well.
const LOGGED: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "EDITOR",
    "TERM",
    "COLORTERM",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// Records in which the first prompt of a session is looked for.
const FIRST_RECORDS: u64 = 64;

impl Supervisor {
    /// Makes a session, with its first prompt in the same commit. A repeat answers with the same session.
    ///
    /// # Errors
    /// `invalid_config`, `not_found` (model), `invalid_params`, `storage`, `shutting_down`.
    pub async fn create(
        &self,
        params: CreateParams,
        client: &Client,
        profile: &ProfileChoice,
    ) -> Result<CreateOutput, Failure> {
        self.create_for(params, client, profile, None).await
    }

    /// The same, for a call of another session if there is a `parent`. Every session is made here.
    pub(crate) async fn create_for(
        &self,
        params: CreateParams,
        client: &Client,
        profile: &ProfileChoice,
        parent: Option<&Parent>,
    ) -> Result<CreateOutput, Failure> {
        self.refuse_when_closing()?;
        let prompt = params.prompt.as_deref().unwrap_or_default();
        UntypedText::check(prompt, &params.untyped)?;
        let slot = self.slots.claim(params.session);
        if slot.known || self.exists(params.session).await? {
            return self.created_before(&params).await;
        }
        let mut prompt_id = None;
        let made = slot
            .cell
            .get_or_try_init(async || {
                let made = self.create_new(&params, client, profile, parent).await;
                let (handle, prompt) = made?;
                prompt_id = prompt;
                Ok::<_, Failure>(handle)
            })
            .await
            .cloned();
        drop(slot);
        let handle = self.unless_closing(made?).await?;
        Ok(output(&handle, prompt_id))
    }

    /// Whether there is such a session. What a crash left of one that nobody was notified of is cleared away.
    pub(crate) async fn exists(&self, session: SessionId) -> Result<bool, Failure> {
        let home = Arc::clone(&self.services.home);
        blocking(move || {
            // One that cannot be read is there.
            let exists = store::session_dirs::was_created(&home, session).unwrap_or(true);
            if !exists {
                store::session_dirs::remove_dir(&home.session_dir(session))
                    .map_err(|error| storage(store::reason(&error)))?;
            }
            Ok(exists)
        })
        .await?
    }

    /// The answer to a repeated create.
    async fn created_before(&self, params: &CreateParams) -> Result<CreateOutput, Failure> {
        let handle = self.load(params.session).await?;
        // With a worktree, the session works in a directory that was made for it.
        if !params.worktree && handle.summary().cwd != params.cwd {
            return Err(Failure::new(
                ErrorName::RequestIdReused,
                "A session with this id already exists in another directory.",
                "Use a new id for each session.",
            ));
        }
        let first = ReadParams {
            session: handle.pid().to_string(),
            from_seq: Seq(1),
            limit: FIRST_RECORDS,
        };
        let first = self.read(&first).await?;
        let prompt = first.events.iter().find_map(|event| match event.body() {
            Ok(proto::Body::PromptQueued(prompt)) => Some(prompt),
            _ => None,
        });
        let is_whole = first.next.is_none();
        let is_same = match (&params.prompt, &prompt) {
            (None, _) => true,
            (Some(text), Some(prompt)) => *text == prompt.text,
            // Notices precede it: if there are very many of them, it is not known.
            (Some(_), None) => !is_whole,
        };
        if !is_same {
            return Err(Failure::new(
                ErrorName::RequestIdReused,
                "A session with this id already exists, with another first prompt.",
                "Use a new id for each session, or send the prompt with `session.prompt`.",
            ));
        }
        Ok(output(&handle, prompt.map(|prompt| prompt.prompt_id)))
    }

    async fn create_new(
        &self,
        params: &CreateParams,
        client: &Client,
        profile: &ProfileChoice,
        parent: Option<&Parent>,
    ) -> Result<(SessionHandle, Option<PromptId>), Failure> {
        if !params.worktree {
            return self.create_in(params, client, profile, parent).await;
        }
        let inside = self.make_own_worktree(params).await?;
        let apart = CreateParams {
            cwd: inside.to_string_lossy().into_owned(),
            ..params.clone()
        };
        let created = self.create_in(&apart, client, profile, parent).await;
        if created.is_err() && matches!(self.exists(params.session).await, Ok(false)) {
            self.discard_worktree(params.session).await;
        }
        created
    }

    /// Makes a session that works in the directory of these parameters.
    async fn create_in(
        &self,
        params: &CreateParams,
        client: &Client,
        profile: &ProfileChoice,
        parent: Option<&Parent>,
    ) -> Result<(SessionHandle, Option<PromptId>), Failure> {
        let (services, wanted) = (self.services.clone(), params.clone());
        let (profile, made_for) = (profile.clone(), parent.cloned());
        // Config, cassette, directory and log are on disks that may hang: not on this thread, and not for ever.
        let preparing = blocking(move || prepare(&services, &wanted, &profile, made_for.as_ref()));
        let Ok(prepared) = tokio::time::timeout(PREPARING_MAX, preparing).await else {
            return Err(storage(format!("`{}` does not answer.", params.cwd)));
        };
        let Prepared {
            mut actor,
            inbox,
            handle,
            created,
            notices,
        } = prepared??;
        let mut referenced = ResolvedReferences {
            found: parent.and_then(|parent| parent.references.clone()),
            problems: Vec::new(),
        };
        let recalls = handle.recalls();
        // What a model writes refers to nothing, and runs no command of the user.
        let typed = params.prompt.as_deref().filter(|_| parent.is_none());
        let typed = typed.map(|text| PromptText::new(text, &params.untyped));
        if let Some(text) = typed.filter(|text| recalls || text.may_refer()) {
            let standing = actor.standing_of(Some(&created));
            referenced = match references::resolve(standing, text).await {
                Ok(resolved) => resolved,
                Err(failure) => {
                    drop((actor, handle));
                    self.discard(params.session).await;
                    return Err(failure);
                }
            };
            actor.calls.note_references(referenced.found.as_ref());
        }
        let prompt = params.prompt.as_ref().map(|text| PromptQueued {
            untyped: params.untyped.clone(),
            from: None,
            added: None,
            references: referenced.found.clone(),
            on_ask: None,
            prompt_id: PromptId::new(),
            text: text.clone(),
            steer: false,
            by: client.name.clone(),
            request_id: params.request_id,
        });
        let prompt_id = prompt.as_ref().map(|prompt| prompt.prompt_id);
        let mut reported = Vec::new();
        let asked = prompt.as_ref().filter(|_| parent.is_none());
        if let (Some(prompt), Some(asker)) = (asked, actor.asker(HookEvent::UserPromptSubmit)) {
            let what = HookPayload::Prompt { text: &prompt.text };
            let chain = asker
                .ask(what, actor.life.ended())
                .await
                .unwrap_or_default();
            if let Some(failure) = hooked::refused(&chain) {
                drop((actor, handle));
                self.discard(params.session).await;
                return Err(failure);
            }
            reported = chain.finished;
        }
        let (created_on_disk, on_disk) = tokio::sync::oneshot::channel();
        let notices = FirstNotices {
            of_session: notices,
            of_prompt: referenced.problems,
        };
        let paused = parent.is_some_and(|parent| parent.paused);
        let paused_by = paused.then(|| client.name.clone());
        // Its first request may go out before it is on disk.
        self.slots.begins(params.session, handle.pid());
        actor.write_first_records(created, notices, paused_by, prompt, created_on_disk);
        actor.tell_hooks(reported);
        self.house(&handle, actor, inbox);
        match on_disk.await {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => {
                drop(handle);
                self.discard(params.session).await;
                return Err(failure);
            }
            Err(_) => {
                return Err(Failure::new(
                    ErrorName::Internal,
                    "The session ended before it started.",
                    "",
                ));
            }
        }
        Ok((handle, prompt_id))
    }
}

impl Supervisor {
    /// Takes away what there is of a session whose first records did not reach the disk. Nobody was notified of it, and
    /// what a failed sync left of its log must never be taken for one.
    async fn discard(&self, session: SessionId) {
        let home = Arc::clone(&self.services.home);
        let gone = blocking(move || {
            std::fs::remove_dir_all(home.session_dir(session))
                .map_err(|error| error.to_string())?;
            store::markers::unmark(&home, session)
                .and_then(|()| store::markers::unmark_ephemeral(&home, session))
                .map_err(|error| store::reason(&error))
        });
        match gone.await {
            Ok(Ok(())) => {}
            Ok(Err(reason)) => {
                tracing::warn!(%session, reason, "the rest of a session that was not made stays");
            }
            Err(failure) => {
                tracing::warn!(%session, %failure, "the rest of a session that was not made stays");
            }
        }
    }
}

/// What can be seen from the parameters, and the directories that they name. Blocks.
fn check(params: &CreateParams) -> Result<(), Failure> {
    options::check(&params.options)?;
    if params
        .prompt
        .as_ref()
        .is_some_and(|prompt| prompt.trim().is_empty())
    {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            "The prompt is empty.",
            "Describe what to do.",
        ));
    }
    params
        .profile
        .add_dirs
        .iter()
        .try_for_each(|dir| check_added(dir))
}

/// Whether a directory can be added to those that the session may write in.
fn check_added(dir: &str) -> Result<(), Failure> {
    let path = Path::new(dir);
    let real = path.canonicalize();
    let reason = match real {
        _ if !path.is_absolute() => "is not an absolute path",
        Err(_) => "does not exist",
        Ok(real) if !real.is_dir() => "is not a directory",
        Ok(real) if real.parent().is_none() => "is the root of the file system",
        Ok(_) => return Ok(()),
    };
    Err(Failure::new(
        ErrorName::InvalidParams,
        format!("The directory `{dir}` cannot be added: it {reason}."),
        "Give existing directories that the session may write in.",
    ))
}

/// Whether the rules of the session can be read, by its tools.
fn check_rules(rules: &Rules, tools: &ToolSet) -> Result<(), Failure> {
    let layer = (policy::Layer::Run, rules, true);
    let (_, problems) = policy::RuleSet::parse(&[layer], &tools.specs().collect::<Vec<_>>());
    match problems.first() {
        None => Ok(()),
        Some(problem) => Err(Failure::new(
            ErrorName::InvalidParams,
            format!(
                "{} `{}` cannot be used: {}.",
                match problem.list {
                    policy::List::Allow => "The allow rule",
                    policy::List::Ask => "The ask rule",
                    policy::List::Deny => "The deny rule",
                },
                problem.text,
                problem.fault
            ),
            "Fix the rule. Examples: `Bash(cargo test:*)`, `Edit(docs/**)`, or only a tool's name.",
        )),
    }
}

/// A session that is ready to write its first record.
struct Prepared {
    actor: Actor,
    inbox: Inbox,
    handle: SessionHandle,
    created: SessionCreated,
    notices: Vec<String>,
}

/// Refuses a model whose key nobody has: the first turn would fail at once.
fn has_key(model: &ModelSetup, brought: &[&str]) -> Result<(), Failure> {
    let missing = model.key_variable.as_deref();
    let missing = missing.filter(|name| model.own_key.is_none() && !brought.contains(name));
    let Some(variable) = missing else {
        return Ok(());
    };
    Err(Failure::new(
        ErrorName::InvalidConfig,
        format!(
            "The provider `{}` has no key: `{variable}` is not set.",
            model.provider_name
        ),
        format!(
            "Set `{variable}` in the environment, or store the key with `reasonix login {}`.",
            model.provider_name
        ),
    ))
}

/// Refuses a run in the user's home: nobody is asked there about what starts at the next login.
fn check_home(
    params: &CreateParams,
    setup: &Setup,
    user_home: &Path,
    cwd: &Path,
) -> Result<(), Failure> {
    let options = &params.options;
    if options.kind != Some(Kind::Headless) || options.in_home == Some(true) {
        return Ok(());
    }
    let mut roots = vec![first_message::workspace_root(setup, cwd, user_home)];
    roots.extend(params.profile.add_dirs.iter().map(PathBuf::from));
    let real = |root: PathBuf| root.canonicalize().unwrap_or(root);
    let mut roots = roots.into_iter().map(real);
    let Some(root) = roots.find(|root| workspace::holds_home(root, user_home)) else {
        return Ok(());
    };
    Err(Failure::new(
        ErrorName::InvalidParams,
        format!(
            "The workspace `{}` is your home directory or contains it.",
            root.display()
        ),
        "Run it in a project's directory. To work there all the same, add `--in-home`.",
    ))
}

/// Everything that touches a disk before the first record. Blocks.
fn prepare(
    services: &SessionServices,
    params: &CreateParams,
    choice: &ProfileChoice,
    parent: Option<&Parent>,
) -> Result<Prepared, Failure> {
    check(params)?;
    let cwd = PathBuf::from(&params.cwd);
    if !cwd.is_absolute() || !cwd.is_dir() {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            format!("The directory `{}` does not exist.", params.cwd),
            "Give the absolute path of the directory to work in.",
        ));
    }
    let brought = params.credentials.iter();
    let brought = brought
        .filter(|(_, key)| !key.trim().is_empty())
        .map(|(variable, _)| variable.as_str());
    let inherited = parent.map(|parent| parent.keys.names()).unwrap_or_default();
    let brought: Vec<_> = brought
        .chain(inherited.iter().map(String::as_str))
        .collect();
    let preset = params.preset.as_deref();
    let bundle = preset
        .map(|name| services.assembly.preset(&cwd, name, None))
        .transpose()?;
    let mut setup = profile::begin(services, params, bundle.as_ref(), &cwd, &brought)?;
    profile::narrow(services, &mut setup, choice, parent)?;
    profile::pace(services, params, &mut setup, bundle.as_ref(), &cwd)?;
    let model = &setup.profile.model;
    let is_priced = model.price.is_some();
    let budget = parent.map_or(params.options.budget, |parent| parent.budget);
    options::check_budget(budget, &model.full_name(), is_priced)?;
    if params.prompt.is_some() {
        has_key(model, &brought)?;
    }
    let planner = params.options.planner_model.as_deref();
    options::check_planner(&*services.assembly, &cwd, planner, budget)?;
    let rules = params.options.rules.clone().unwrap_or_default();
    check_rules(&rules, &setup.profile.tools)?;
    let root = first_message::workspace_root(&setup, &cwd, &services.assembly.user_home());
    let place = SessionPlace {
        root: &root,
        cwd: &cwd,
        rules: &rules,
    };
    let (prefix, problems) = prefixes::frozen_prefix(services, &mut setup, place)?;
    let keys = Arc::new(Keys::restored(
        Some(params.session),
        services.assembly.key_keeper(),
    ));
    keys.put(params.credentials.clone());
    if let Some(parent) = parent {
        keys.fill_from(&parent.keys);
    }
    let (pid, file) = new_log(services, params)?;
    // A client withholds the secrets it knows of; those that another client sends are held back here.
    let (env, mut held) = setup.environment_filter().split(&params.env);
    held.extend(params.env_held.iter().cloned());
    let mut created = first_record(
        &services.assembly.user_home(),
        params,
        &setup,
        &prefix,
        pid,
        &cwd,
        &env,
    );
    created.env_held = held.into_iter().collect();
    services.assembly.version().clone_into(&mut created.version);
    if let Some(parent) = parent {
        created.ppid = parent.pid;
        created.agent = Some(parent.agent.clone());
        created.env_names.extend(inherited);
    }
    let bundled = bundle
        .map(|bundle| bundle.samples)
        .filter(|samples| *samples > 1);
    created.options.samples = created.options.samples.or(bundled);
    let mut notices = setup.notices.clone();
    notices.extend(problems);
    let parts = Parts {
        created: created.clone(),
        log: SessionLog::new(file, prefix),
        setup,
        keys,
        env,
        marked: false,
    };
    let (actor, inbox, handle) = build(services, parts).inspect_err(|_| {
        // Nobody was notified of it: an empty directory would only be in the way.
        let dir = services.home.session_dir(params.session);
        if let Err(error) = std::fs::remove_dir_all(&dir) {
            tracing::warn!(%error, dir = %dir.display(), "the directory of a session that was not made stays");
        }
    })?;
    notices.extend(actor.calls.kept_rules().problems());
    Ok(Prepared {
        actor,
        inbox,
        handle,
        created,
        notices,
    })
}

/// The log of a session that is being made, and its pid.
fn new_log(services: &SessionServices, params: &CreateParams) -> Result<(Pid, LogFile), Failure> {
    let refused = |error| storage(store::reason(&error));
    let pid = services.pids.next().map_err(refused)?;
    if params.ephemeral {
        store::markers::mark_ephemeral(&services.home, params.session).map_err(refused)?;
    }
    let dir = services.home.session_dir(params.session);
    let file = LogFile::create(&dir).map_err(|error| storage(store::reason(&error)))?;
    Ok((pid, file.with_syncer(services.assembly.syncer())))
}

fn output(handle: &SessionHandle, prompt_id: Option<PromptId>) -> CreateOutput {
    CreateOutput {
        session: handle.id(),
        pid: handle.pid(),
        model: handle.summary().model,
        prompt_id,
    }
}

fn first_record(
    user_home: &Path,
    params: &CreateParams,
    setup: &Setup,
    prefix: &FrozenPrefix,
    pid: Pid,
    cwd: &Path,
    env: &BTreeMap<String, String>,
) -> SessionCreated {
    let root = first_message::workspace_root(setup, cwd, user_home);
    let logged = |name: &str| LOGGED.contains(&name) || name.starts_with("LC_");
    let (env, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
        env.clone().into_iter().partition(|(name, _)| logged(name));
    SessionCreated {
        session: params.session,
        pid,
        ppid: Pid(0),
        epoch: 1,
        cwd: params.cwd.clone(),
        root: root.to_string_lossy().into_owned(),
        provider_kind: setup.profile.model.provider_kind.clone(),
        context_window: setup.profile.model.context_window,
        prefix_sha256: prefix::hash(&prefix.prefix),
        instructions: prefix.instruction_names(),
        add_dirs: params.profile.add_dirs.clone(),
        tools: setup.profile.tools.names().map(str::to_owned).collect(),
        env,
        env_names: others
            .into_keys()
            .chain(params.credentials.keys().cloned())
            .collect(),
        env_held: Vec::new(),
        request_id: params.request_id,
        origin: None,
        agent: None,
        version: String::new(),
        options: resolved(&params.options, setup),
    }
}

/// The options of a new session: the client's, else those of the config.
fn resolved(wanted: &SessionOptions, setup: &Setup) -> SessionOptions {
    let mut options = SessionOptions::default();
    options.apply(&setup.options);
    options.apply(wanted);
    let kind = *options.kind.get_or_insert_default();
    options.on_ask.get_or_insert(match kind {
        Kind::Headless => OnAsk::Sandboxed,
        Kind::Interactive => OnAsk::Wait,
    });
    let model = &setup.profile.model;
    options.model = Some(model.full_name());
    options.effort.clone_from(&model.effort);
    options
}
