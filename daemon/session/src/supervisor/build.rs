//! Makes an actor from its parts: for a new session, and for one that was read from its log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hooks::Hooks;
use proto::budget::Spent;
use proto::hook::HookEvent;
use proto::params::session::SessionSummary;
use proto::record::SessionCreated;
use proto::state::{ApprovalMode, State};
use proto::{Body, Failure, Record, Seq};
use tokio::sync::{mpsc, watch};
use turn::{Facts, Machine};
use workspace::Workspace;

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
use crate::assembly::setup::{Profile, Setup};
use crate::assembly::tool_repair;
use crate::calls::background::Children;
use crate::calls::call::CallEnvironment;
use crate::calls::environment::Environment;
use crate::calls::external_changes::Notes;
use crate::calls::hooks::HookState;
use crate::calls::instructions::InstructionWatch;
use crate::calls::sandbox;
use crate::calls::skills::SessionSkills;
use crate::calls::state::CallState;
use crate::context::ResetState;
use crate::context::first_message;
use crate::history::summary;
use crate::journal::{Cause, Closed, Journal};
use crate::request::Requests;
use crate::request::budget::{self, BudgetMember};
use crate::request::in_flight::Arrived;
use crate::request::keys::Keys;
use crate::request::route::ModelRoute;
use crate::supervisor::agents::SessionAgents;
use crate::supervisor::load::{SessionLog, SessionServices};
use crate::supervisor::past_messages::SessionHistory;
use crate::supervisor::{memory, workspaces};
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
    let Parts {
        created,
        log,
        mut setup,
        keys,
        env,
        marked,
    } = parts;
    let dir = services.home.session_dir(created.session);
    let is_new = log.index.last() == Seq(0);
    let epoch = epoch_of(&log, &created, is_new);
    let added_dirs = &log.facts.added_dirs;
    let (workspace, lost) = workspaces::of_session(services, &created, &setup, added_dirs, is_new)?;
    let (to, inbox) = queues();
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
    let unusable = setup.unusable.take();
    journal.set_closed(log.read_only.or_else(|| unworkable(unusable, lost)));
    let own = machine.facts().approval_mode();
    let configured = setup.options.approval_mode.unwrap_or_default();
    let warning = looser(own, configured).filter(|_| !is_new);
    let key_variable = setup.profile.model.key_variable.clone();
    let (seen, see) = watch::channel(first_seen(&machine, &journal, &created, key_variable));
    let route = ModelRoute::new(&setup.profile.model, log.prefix.prefix);
    let budget = budget_member(services, &machine, &created);
    let happened = &to.happened;
    let calls = calls(services, &created, setup, workspace, env, &budget, happened);
    let call_environment = calls.call_environment();
    call_environment.memory.note_known_files(&log.known);
    call_environment
        .instructions
        .restore(&log.prefix.text, &log.known, log.reports);
    let activity = Arc::new(Activity::default());
    let shared = Shared {
        id: created.session,
        pid: created.pid,
        epoch,
        commands: to.commands,
        seen: see,
        activity: Arc::clone(&activity),
        reopen: services.supervisor.clone(),
        tried: tokio::sync::Mutex::default(),
        notes: calls.call_environment().notes.clone(),
        instructions: Arc::clone(&calls.call_environment().instructions),
        recalls: calls.call_environment().recall.is_some(),
    };
    let has_exited = !is_new && machine.facts().state.state == State::Exited;
    let actor = Actor {
        id: created.session,
        epoch,
        machine,
        journal,
        requests: Requests::new(route, keys, budget, to.arrived, &dir, is_new),
        viewers: viewers(services, &created, log.missed, to.gone),
        resets: ResetState::new(services.texts.share(log.prefix.text)),
        calls,
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
    let shared = Arc::new(shared);
    Ok((actor, inbox, SessionHandle { shared }))
}

/// The epoch that the cursors of the session's clients belong to.
fn epoch_of(log: &SessionLog, created: &SessionCreated, is_new: bool) -> u64 {
    match (&log.shortened, is_new) {
        (Some(shortened), _) => shortened.epoch,
        (None, true) => created.epoch,
        (None, false) => log.facts.epoch(),
    }
}

/// The state of its calls, and the rules that they are judged by.
fn calls(
    services: &SessionServices,
    created: &SessionCreated,
    setup: Setup,
    workspace: Arc<Workspace>,
    env: BTreeMap<String, String>,
    budget: &BudgetMember,
    happened: &mpsc::UnboundedSender<Happened>,
) -> CallState {
    let environment = Environment::new(created, env, setup.environment_filter());
    let call_environment = call_environment(
        services,
        created,
        &setup,
        workspace,
        &environment,
        budget,
        happened,
    );
    let root = call_environment.workspace.root();
    let kept_rules = services.assembly.kept_rules(root);
    let profile = setup.profile;
    let guards = Guards {
        layers: profile.rules,
        allow_write: setup.allow_write,
        deny_read: setup.deny_read,
        confine: setup.confine,
        incomplete: false,
    };
    CallState::new(
        call_environment,
        environment,
        guards,
        kept_rules,
        profile.model.limits.grace_ms,
    )
}

/// What the session may use, and has used so far, for who holds budgets.
fn budget_member(
    services: &SessionServices,
    machine: &Machine,
    created: &SessionCreated,
) -> BudgetMember {
    let budget_member = BudgetMember {
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
    budget_member.join(created.pid, limit, spent, &facts.agents);
    budget_member
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

/// What its calls share.
fn call_environment(
    services: &SessionServices,
    created: &SessionCreated,
    setup: &Setup,
    workspace: Arc<Workspace>,
    environment: &Environment,
    budget: &BudgetMember,
    happened: &mpsc::UnboundedSender<Happened>,
) -> CallEnvironment {
    let assembly = &services.assembly;
    let dir = services.home.session_dir(created.session);
    let spawn = assembly.spawn();
    let memory = assembly.tool_memory(Arc::clone(&workspace));
    let env = sandbox::environment(environment.whole(), workspace.temp(), &setup.confine);
    let files = Arc::clone(&workspace);
    let budget = budget.clone();
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
            brought: Mutex::default(),
            reports: Mutex::default(),
        }),
        recall: (setup.memory.enabled && setup.memory.recall)
            .then(|| memory::facts(services, Path::new(&created.root))),
        keeper: Arc::new(Keeper::new(created.pid, &dir, files, Arc::clone(&spawn))),
        memory,
        env: Arc::new(env),
        workspace,
        spill_dir: workspaces::spill_dir(&dir),
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
        prefetch_bounds: Arc::new(move || budget.note_bounds()),
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
