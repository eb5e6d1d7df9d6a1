//! Makes an actor from its parts: for a new session, and for one that was read from its log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hooks::Hooks;
use knowledge::memory::FactStores;
use proto::budget::Spent;
use proto::hook::HookEvent;
use proto::params::session::SessionSummary;
use proto::record::{Rules, SessionCreated};
use proto::state::{ApprovalMode, State};
use proto::{Body, ErrorName, Failure, Pid, Record, Seq, Stamp};
use tokio::sync::{mpsc, watch};
use turn::{Facts, Machine};
use workspace::{Workspace, WorkspaceOptions};

use crate::actor::commands::directory;
use crate::actor::commands::interactions::InteractionState;
use crate::actor::commands::prompt_gate::PromptGate;
use crate::actor::handle::{Activity, PublishedState, SessionHandle, Shared};
use crate::actor::inbox::{Command, Happened, call_reporter, journal_reporter};
use crate::actor::life::Life;
use crate::actor::publish::Publisher;
use crate::actor::replies::Replies;
use crate::actor::{Actor, Inbox};
use crate::assembly::guards::Guards;
use crate::assembly::options::rank;
use crate::assembly::setup::{Layered, Profile, Setup};
use crate::assembly::tool_repair;
use crate::calls::background::Children;
use crate::calls::call::CallEnvironment;
use crate::calls::environment::Environment;
use crate::calls::external_changes::Notes;
use crate::calls::hooks::HookState;
use crate::calls::instructions::{InstructionWatch, untrusted_notice};
use crate::calls::permissions::close_unasked;
use crate::calls::sandbox;
use crate::calls::skills::SessionSkills;
use crate::calls::state::CallState;
use crate::context::ResetState;
use crate::context::first_message;
use crate::context::prefix::{self, FrozenPrefix, PrefixFiles};
use crate::history::summary;
use crate::journal::{Cause, Closed, Journal};
use crate::request::Requests;
use crate::request::budget::{self, BudgetMember};
use crate::request::in_flight::Arrived;
use crate::request::keys::Keys;
use crate::request::route::ModelRoute;
use crate::supervisor::agents::{self, SessionAgents};
use crate::supervisor::load::{SessionLog, SessionServices};
use crate::supervisor::past_messages::SessionHistory;
use crate::viewers::Viewers;
use crate::viewers::absence::AwaySummary;
use crate::viewers::fanout::{Departure, Fanout};
use checkpoint::Keeper;
use store::blob::BlobStore;

/// What a session's actor is made from.
pub struct Parts {
    pub created: SessionCreated,
    pub log: SessionLog,
    pub setup: Setup,
    pub keys: Arc<Keys>,
    /// The whole environment of its commands.
    pub env: BTreeMap<String, String>,
    /// Its marker of unfinished work is there.
    pub marked: bool,
}

/// Builds the actor. Nothing runs yet: see `Actor::run`.
pub fn build(
    services: &SessionServices,
    parts: Parts,
) -> Result<(Actor, Inbox, SessionHandle), Failure> {
    let dir = services.home.session_dir(parts.created.session);
    let is_new = parts.log.index.last() == Seq(0);
    let epoch = match (&parts.log.shortened, is_new) {
        (Some(shortened), _) => shortened.epoch,
        (None, true) => parts.created.epoch,
        (None, false) => parts.log.facts.epoch(),
    };
    let (workspace, lost) =
        workspace_of(services, &parts, &dir, &parts.log.facts.added_dirs, is_new)?;
    let Parts {
        created,
        log,
        setup,
        keys,
        env,
        marked,
    } = parts;
    let (to, inbox) = queues();
    let environment = Environment::new(&created, env, setup.environment_filter());
    let call_environment = call_environment(
        services,
        &created,
        &setup,
        workspace,
        &environment,
        &to.happened,
    );
    call_environment.memory.note_known_files(&log.known);
    let hooks = services.assembly.hooks(Path::new(&created.cwd));
    let machine = machine(log.facts, &setup.profile, &hooks, &created);
    let mut journal = Journal::new(
        log.file,
        log.index,
        created.session,
        Arc::clone(&services.home),
        marked,
        journal_reporter(&to.happened),
    );
    for (reset, elements) in log.elements {
        journal.note_elements(reset, elements);
    }
    journal.set_closed(log.read_only.or_else(|| unworkable(setup.unusable, lost)));
    let (seen, see) = watch::channel(first_seen(
        &machine,
        &journal,
        &created,
        setup.profile.model.key_variable.clone(),
    ));
    let activity = Arc::new(Activity::default());
    let handle = SessionHandle {
        shared: Arc::new(Shared {
            id: created.session,
            pid: created.pid,
            epoch,
            commands: to.commands,
            seen: see,
            activity: Arc::clone(&activity),
            reopen: services.supervisor.clone(),
            tried: tokio::sync::Mutex::default(),
            notes: call_environment.notes.clone(),
            instructions: Arc::clone(&call_environment.instructions),
            recalls: call_environment.recall.is_some(),
        }),
    };
    let own = machine.facts().approval_mode();
    let configured = setup.options.approval_mode.unwrap_or_default();
    let warning = looser(own, configured).filter(|_| !is_new);
    let budget = seat(services, &machine, &created);
    let profile = setup.profile;
    let guards = Guards {
        layers: profile.rules,
        allow_write: setup.allow_write,
        deny_read: setup.deny_read,
        confine: setup.confine,
        incomplete: false,
    };
    let route = ModelRoute::new(&profile.model, log.prefix.prefix);
    let kept_rules = services
        .assembly
        .kept_rules(call_environment.workspace.root());
    let viewers = viewers(services, &created, log.missed, to.gone);
    let has_exited = !is_new && machine.facts().state.state == State::Exited;
    let actor = Actor {
        id: created.session,
        epoch,
        machine,
        journal,
        requests: Requests::new(route, keys, budget, to.arrived, &dir, is_new),
        viewers,
        resets: ResetState::new(services.texts.share(log.prefix.text)),
        calls: CallState::new(
            call_environment,
            environment,
            guards,
            kept_rules,
            profile.model.limits.grace_ms,
        ),
        hooks: HookState::new(hooks),
        replies: Replies::default(),
        publisher: Publisher::new(
            seen,
            services.catalog.clone(),
            services.history.clone(),
            services.changes.clone(),
        ),
        gate: PromptGate::default(),
        life: Life::new(activity, warning),
        interactions: InteractionState::default(),
        happened: to.happened,
        assembly: Arc::clone(&services.assembly),
    };
    if has_exited {
        // It was only loaded to be looked at, until a prompt comes.
        actor.calls.session_exited();
    }
    Ok((actor, inbox, handle))
}

/// What the session may use, and has used so far, for who holds budgets.
fn seat(services: &SessionServices, machine: &Machine, created: &SessionCreated) -> BudgetMember {
    let seat = BudgetMember {
        ledger: Arc::clone(&services.ledger),
        session: created.session,
        root: store::worktrees::project_of(&created.root),
        cwd: PathBuf::from(&created.cwd),
        above: created.agent.as_ref().map(|agent| agent.parent),
        noted: Arc::default(),
    };
    let facts = machine.facts();
    // Before its first record is folded a new one has no settings.
    let options = match facts.created {
        Some(_) => &facts.options,
        None => &created.options,
    };
    let limit = options.budget.unwrap_or_default();
    let spent = Spent {
        ms: facts.ran_ms,
        ..budget::spent(&facts.usage)
    };
    seat.join(created.pid, limit, spent, &facts.agents);
    seat
}

/// The viewers of a session: none so far.
fn viewers(
    services: &SessionServices,
    created: &SessionCreated,
    missed: Option<AwaySummary>,
    gone: mpsc::UnboundedSender<Departure>,
) -> Viewers {
    let fanout = Fanout::new(created.pid, services.queues.clone());
    let above = created.agent.as_ref().map(|agent| agent.parent);
    let attendance = services
        .attendance
        .join(created.session, above, gone.clone());
    let dir = services.home.session_dir(created.session);
    Viewers::new(fanout, dir, missed, gone, attendance)
}

/// Where an actor's messages are put in.
struct Queues {
    commands: mpsc::Sender<Command>,
    gone: mpsc::UnboundedSender<Departure>,
    happened: mpsc::UnboundedSender<Happened>,
    arrived: mpsc::Sender<(u64, Arrived)>,
}

fn queues() -> (Queues, Inbox) {
    let (commands, command_inbox) = mpsc::channel(256);
    let (gone, gone_inbox) = mpsc::unbounded_channel();
    let (happened, happened_inbox) = mpsc::unbounded_channel();
    let (arrived, arrived_inbox) = mpsc::channel(256);
    let to = Queues {
        commands,
        gone,
        happened,
        arrived,
    };
    let inbox = Inbox {
        commands: command_inbox,
        gone: gone_inbox,
        happened: happened_inbox,
        arrived: arrived_inbox,
    };
    (to, inbox)
}

/// The workspace, and why it cannot be worked in, if so.
fn workspace_of(
    services: &SessionServices,
    parts: &Parts,
    dir: &Path,
    added_dirs: &[String],
    is_new: bool,
) -> Result<(Arc<Workspace>, Option<String>), Failure> {
    let temp = temp_of(services, parts.created.pid);
    let cwd = Path::new(&parts.created.cwd);
    let places = WorkspacePaths {
        root: Path::new(&parts.created.root),
        cwd,
        rules: parts.created.options.rules.as_ref(),
        add_dirs: &parts.created.add_dirs,
        readable: vec![spill_dir(dir)],
    };
    let opened = open_workspace(services, &parts.setup, places, temp);
    let (workspace, lost) = match opened {
        Ok(workspace) => (workspace, None),
        // The directory of an old session may be gone: it can still be read.
        Err(failure) if !is_new => {
            let reason = match cwd.is_dir() {
                true => failure.message,
                false => directory::missing(&parts.created.cwd),
            };
            (nowhere(dir)?, Some(reason))
        }
        Err(failure) => return Err(failure),
    };
    for dir in added_dirs {
        workspace.add_root(PathBuf::from(dir));
    }
    Ok((Arc::new(workspace), lost))
}

/// Where outputs that were cut are kept whole.
fn spill_dir(dir: &Path) -> PathBuf {
    dir.join("spill")
}

/// What its calls share.
fn call_environment(
    services: &SessionServices,
    created: &SessionCreated,
    setup: &Setup,
    workspace: Arc<Workspace>,
    environment: &Environment,
    happened: &mpsc::UnboundedSender<Happened>,
) -> CallEnvironment {
    let assembly = &services.assembly;
    let dir = services.home.session_dir(created.session);
    let spawn = assembly.spawn();
    let memory = assembly.tool_memory(Arc::clone(&workspace));
    let env = sandbox::environment(environment.whole(), workspace.temp(), &setup.confine);
    let files = Arc::clone(&workspace);
    let skills = SessionSkills {
        workspace: Arc::clone(&workspace),
        places: setup.skills.places(services.home.skills()),
        asked_for: Mutex::default(),
    };
    CallEnvironment {
        session: created.pid,
        session_id: created.session,
        tools: setup.profile.tools.clone(),
        flat: tool_repair::flat(&setup.profile.tools),
        notes: Notes::new(Arc::clone(&memory)),
        instructions: Arc::new(InstructionWatch {
            workspace: Arc::clone(&workspace),
            user_file: services.home.instructions(),
            memory: Arc::clone(&memory),
            trusted: setup.trusted,
            told: Mutex::default(),
        }),
        recall: (setup.memory.enabled && setup.memory.recall)
            .then(|| facts(services, Path::new(&created.root))),
        keeper: Arc::new(Keeper::new(created.pid, &dir, files, Arc::clone(&spawn))),
        memory,
        env: Arc::new(env),
        workspace,
        spill_dir: spill_dir(&dir),
        blobs: BlobStore::new(&dir),
        spawn,
        confine: setup.confine.clone(),
        shells: Arc::new(Children {
            pids: Arc::clone(&services.pids),
            reporter: call_reporter(happened),
        }),
        history: Arc::new(SessionHistory {
            supervisor: services.supervisor.clone(),
            session: created.session,
            root: created.root.clone(),
        }),
        agents: Arc::new(SessionAgents {
            supervisor: services.supervisor.clone(),
            session: created.session,
            reporter: call_reporter(happened),
        }),
        user_home: assembly.user_home(),
        user_commands: services.home.commands(),
        skills: Arc::new(skills),
        user_agents: services.home.agents(),
        server_content: assembly.server_content(),
        trusted: setup.trusted,
        masked: services.assembly.closed(),
    }
}

/// The published state of a session before it has done anything.
fn first_seen(
    machine: &Machine,
    journal: &Journal,
    created: &SessionCreated,
    key_variable: Option<String>,
) -> PublishedState {
    let facts = machine.facts();
    let summary = summary::of(facts, 0, journal.read_only());
    PublishedState {
        summary: summary.unwrap_or_else(|| unborn(created)),
        // Of a session that was read from its log: all of that is durable.
        interactions: facts.interactions.values().cloned().collect(),
        in_turn: facts.open.is_some(),
        key_variable,
        closed: journal.closed().cloned(),
    }
}

fn machine(facts: Facts, profile: &Profile, hooks: &Hooks, created: &SessionCreated) -> Machine {
    let mut machine = Machine::new(facts, profile.model.limits);
    if machine.facts().spoken == 0 {
        machine.set_context(first_message::context(created));
    }
    machine.set_notify_turn_end(hooks.any(HookEvent::Stop));
    machine.set_call_repair(tool_repair::wanted(&profile.model, &profile.tools));
    machine.set_fallback(profile.model.fallback.clone());
    machine
}

/// Why a session whose log is intact cannot be worked in, if so.
fn unworkable(unusable: Option<String>, lost: Option<String>) -> Option<Closed> {
    let provider = unusable.map(|reason| Closed::new(Cause::Provider, reason));
    provider.or_else(|| lost.map(|reason| Closed::new(Cause::Directory, reason)))
}

/// The session's own temporary directory. `None`: it cannot be made, and without it commands cannot be sandboxed.
fn temp_of(services: &SessionServices, pid: Pid) -> Option<PathBuf> {
    let temp = services.assembly.temp()?.join(pid.to_string());
    sandbox::make_private(&temp).ok()?;
    Some(temp)
}

/// Where a session works, and what it may read there.
#[derive(Clone, Copy)]
pub struct SessionPlace<'a> {
    pub root: &'a Path,
    pub cwd: &'a Path,
    /// The session's own rules.
    pub rules: &'a Rules,
}

/// The instruction files, skills and facts of a session in this place. Blocks.
pub fn prefix_files(
    services: &SessionServices,
    setup: &Setup,
    place: SessionPlace<'_>,
) -> Result<PrefixFiles, Failure> {
    let workspace = bare_workspace(services, setup, place)?;
    let user_file = services.home.instructions();
    let found = knowledge::find_instructions(&workspace, &user_file);
    let places = setup.skills.places(services.home.skills());
    let skills = knowledge::find_skills(&workspace, &places);
    let (index, left_out) = knowledge::skill_index(&skills);
    let mut problems = found.problems;
    if !setup.trusted {
        problems.extend(untrusted_notice(&found.files));
    }
    problems.extend(skill_problems(skills.problems.clone(), left_out));
    let mut memory = Vec::new();
    if setup.memory.enabled {
        let facts = facts(services, place.root).load();
        memory = facts.index_lines(Stamp::now());
        problems.extend(facts.problems);
    }
    Ok(PrefixFiles {
        instructions: found.files,
        agents_of_the_user: skills.have_agents_of_the_user(),
        skills: index,
        memory,
        problems,
    })
}

/// The problems of skills, in a sentence or two: all of it is listed elsewhere.
fn skill_problems(problems: Vec<String>, left_out: usize) -> Vec<String> {
    let count = problems.len();
    let mut notices: Vec<String> = problems.into_iter().take(1).collect();
    if count > 1 {
        let more = count - 1;
        notices.push(format!(
            "{more} more problems with skills: see `reasonix skills`."
        ));
    }
    if left_out > 0 {
        notices.push(format!(
            "The list of skills is full: {left_out} are not offered to the model. Run them with `/NAME`, or disable others with `skills.disabled`."
        ));
    }
    notices
}

/// The facts that a session with this root reaches.
pub fn facts(services: &SessionServices, root: &Path) -> FactStores {
    // As the workspace has it, which tools go by.
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let home = &services.home;
    FactStores::new(home.memory(), home.project_memory(&root))
}

/// The prefix of a new session in this place, and problems of the files that go into it. Blocks.
pub fn frozen_prefix(
    services: &SessionServices,
    setup: &mut Setup,
    place: SessionPlace<'_>,
) -> Result<(FrozenPrefix, Vec<String>), Failure> {
    let found = prefix_files(services, setup, place)?;
    setup.profile.agents = agents::listed(services, setup, place)?;
    let skills = prefix::offer_skills(&mut setup.profile, found.skills, found.agents_of_the_user);
    let prefix = FrozenPrefix::of(&setup.profile, found.instructions, skills, found.memory);
    Ok((prefix, found.problems))
}

/// A workspace to read files in before the session is there. Blocks.
pub fn bare_workspace(
    services: &SessionServices,
    setup: &Setup,
    place: SessionPlace<'_>,
) -> Result<Workspace, Failure> {
    let places = WorkspacePaths {
        root: place.root,
        cwd: place.cwd,
        rules: Some(place.rules),
        add_dirs: &[],
        readable: Vec::new(),
    };
    open_workspace(services, setup, places, None)
}

/// Where a session works.
struct WorkspacePaths<'a> {
    root: &'a Path,
    cwd: &'a Path,
    /// The session's own rules.
    rules: Option<&'a Rules>,
    /// Directories to write in, chosen by the session's creator.
    add_dirs: &'a [String],
    /// Directories of ours that the session may read.
    readable: Vec<PathBuf>,
}

fn open_workspace(
    services: &SessionServices,
    setup: &Setup,
    places: WorkspacePaths<'_>,
    temp: Option<PathBuf>,
) -> Result<Workspace, Failure> {
    let (cwd, mut readable) = (places.cwd, places.readable);
    let mut extra_writable = setup.allow_write.clone();
    extra_writable.extend(places.add_dirs.iter().map(PathBuf::from));
    readable.extend([
        services.home.instructions(),
        services.home.commands(),
        services.home.skills(),
        services.home.agents(),
    ]);
    let options = WorkspaceOptions {
        root: places.root.to_owned(),
        cwd: cwd.to_owned(),
        extra_writable,
        masked: services.assembly.closed(),
        readable,
        temp,
        deny_read: setup.deny_read.clone(),
        user_home: services.assembly.user_home(),
    };
    let workspace = Workspace::open(options).map_err(|error| {
        Failure::new(
            ErrorName::InvalidParams,
            format!("The directory `{}` cannot be used: {error}", cwd.display()),
            "Use an existing directory that you can read.",
        )
    })?;
    let mut layers = setup.profile.rules.clone();
    layers.extend(places.rules.map(|rules| Layered {
        layer: policy::Layer::Run,
        rules: rules.clone(),
        origin: String::new(),
        trusted: true,
    }));
    close_unasked(&workspace, &layers, &setup.profile.tools);
    Ok(workspace)
}

/// The notice for a session whose approval mode is looser than the config's present one.
fn looser(own: ApprovalMode, configured: ApprovalMode) -> Option<String> {
    (rank(own) > rank(configured)).then(|| {
        format!(
            "This session keeps its approval mode `{}`, which is less strict than the configured `{}`.",
            own.as_str(),
            configured.as_str()
        )
    })
}

/// A workspace in which nothing can be done: for a session that is only read.
fn nowhere(dir: &Path) -> Result<Workspace, Failure> {
    let options = WorkspaceOptions {
        root: dir.to_path_buf(),
        cwd: dir.to_path_buf(),
        ..WorkspaceOptions::default()
    };
    Workspace::open(options)
        .map_err(|error| Failure::new(ErrorName::Storage, error.to_string(), ""))
}

/// The summary of a session that has no record yet.
fn unborn(created: &SessionCreated) -> SessionSummary {
    let mut facts = Facts::default();
    facts.apply(&Record {
        seq: Seq(0),
        at: proto::Stamp::now(),
        turn: None,
        body: Body::SessionCreated(created.clone()),
    });
    summary::of(&facts, 0, None).unwrap_or_else(|| unreachable!("the facts have a first record"))
}
