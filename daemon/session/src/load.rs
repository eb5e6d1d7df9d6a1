//! Makes an actor: for a new session, or from a log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use contract::Prefix;
use proto::hook::HookEvent;
use proto::params::session::{SessionSummary, When};
use proto::record::{CheckpointCreated, Level, Notice, PromptQueued, SessionCreated};
use proto::state::{Kind, Posture};
use proto::{Body, ErrorName, Failure, Pid, Record, Seq, SessionId};
use serde::Deserialize;
use store::aside::Aside;
use store::home::Home;
use store::log::{Index, LogFile};
use store::pids::Pids;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use turn::{Facts, Input, Limits, Machine, RecoverPolicy};
use workspace::{Options, Workspace};

use crate::actor::{Actor, Inbox};
use crate::aside::AsideFile;
use crate::away::{Absence, Bit, Digest, Left};
use crate::call::Bench;
use crate::catalog::CatalogFeed;
use crate::checkpoint::Keeper;
use crate::commands::Reply;
use crate::environment::Environment;
use crate::fanout::Fanout;
use crate::handle::{Activity, Seen, SessionHandle, Shared};
use crate::hooked::Hooked;
use crate::journal::{Broken, Cause, Closed, Journal};
use crate::keeping::Keeping;
use crate::keys::Keys;
use crate::notes::Notes;
use crate::rewind::Planned;
use crate::setup::{Assembly, Setup, tools_by_name};
use crate::shells::Children;
use crate::supervisor::Supervisor;
use crate::{keeping, opening, summary, walls};

/// What every session is made with.
#[derive(Clone)]
pub struct Ground {
    pub home: Arc<Home>,
    pub assembly: Arc<dyn Assembly>,
    pub catalog: CatalogFeed,
    pub pids: Arc<Pids>,
    /// Who owns the sessions.
    pub supervisor: Weak<Supervisor>,
}

/// A session read from its log.
pub struct Read {
    pub file: LogFile,
    pub index: Index,
    pub facts: Facts,
    pub prefix: Prefix,
    pub repair: Option<String>,
    pub read_only: Option<Closed>,
    /// What happened since the last person left.
    pub missed: Option<Digest>,
}

/// The daemon's own part of the first record.
#[derive(Deserialize)]
struct OwnPrefix {
    prefix: Prefix,
}

/// Reads a log: the fold of its records. Blocks.
pub fn read(ground: &Ground, session: SessionId) -> Result<Read, Failure> {
    let dir = ground.home.session_dir(session);
    let (mut facts, mut prefix, mut strange) = (Facts::default(), None, None);
    let left = store::aside::get(&dir, Aside::Seen).and_then(|content| Left::read(&content));
    let mut missed = left.map(Digest::new);
    let opened = LogFile::open_with(&dir, ground.assembly.syncer(), &mut |raw| {
        if let Some(own) = raw.own
            && prefix.is_none()
        {
            prefix = serde_json::from_str::<OwnPrefix>(own.get()).ok();
        }
        match raw.record() {
            Ok(record) => {
                facts.apply(&record);
                if let Body::CheckpointCreated(CheckpointCreated { call: None, .. }) = &record.body
                    && let Some(own) = raw.own
                {
                    facts.begun_to_undo(Planned::of(own.get()).undoes);
                }
                if let (Some(missed), Some(bit)) = (&mut missed, Bit::of(&record)) {
                    missed.apply(&bit);
                }
            }
            Err(error) => strange = Some(format!("record {} is not readable: {error}", raw.seq)),
        }
    });
    let opened = opened.map_err(|error| unreadable(session, &store::reason(&error)))?;
    let (Some(_), Some(OwnPrefix { prefix })) = (&facts.created, prefix) else {
        return Err(unreadable(session, "its first record is missing"));
    };
    let repair = opened.repair.map(|repair| {
        format!(
            "The end of the log was torn and has been set aside ({} bytes in `{}`): {}",
            repair.bytes,
            repair.torn.display(),
            repair.why
        )
    });
    let upto = opened.index.last();
    let trouble = opened.trouble;
    let refused = opened.read_only.map(|reason| match trouble {
        Some(trouble) => Closed::by_disk(reason, Some(Broken { upto, trouble })),
        None => Closed::new(Cause::Log, reason),
    });
    // A record that this build cannot read may matter: look, but do not touch.
    let read_only = refused.or(strange.map(|reason| Closed::new(Cause::Log, reason)));
    Ok(Read {
        file: opened.file,
        index: opened.index,
        facts,
        prefix,
        repair,
        read_only,
        missed,
    })
}

fn unreadable(session: SessionId, why: &str) -> Failure {
    Failure::new(
        ErrorName::Storage,
        format!("The log of session {session} cannot be opened: {why}"),
        "Run `reasonix doctor` to see what is wrong with the store.",
    )
}

/// What the life before left, as far as an actor is built with it.
#[derive(Default)]
pub struct Before {
    pub keys: Arc<Keys>,
    /// Variables of its commands that do not stand in its log.
    pub env: BTreeMap<String, String>,
}

/// An actor from a log, before `recover`.
pub struct Revived {
    pub actor: Actor,
    pub inbox: Inbox,
    pub handle: SessionHandle,
    pub recover: Option<RecoverPolicy>,
    pub repair: Option<String>,
}

/// Builds a session's actor from its log. Blocks.
pub fn revive(ground: &Ground, session: SessionId, before: Before) -> Result<Revived, Failure> {
    let Read {
        file,
        index,
        facts,
        prefix,
        repair,
        read_only,
        missed,
    } = read(ground, session)?;
    let Some(created) = facts.created.clone() else {
        return Err(unreadable(session, "its first record is missing"));
    };
    let setup = ground.assembly.resume(&created);
    let recover = setup.recover;
    let mut env = created.env.clone();
    env.extend(before.env);
    let parts = Parts {
        created,
        file,
        index,
        facts,
        prefix,
        setup,
        keys: before.keys,
        env,
        marked: store::markers::is_marked(&ground.home, session),
        read_only,
        missed,
    };
    let (actor, inbox, handle) = build(ground, parts)?;
    Ok(Revived {
        actor,
        inbox,
        handle,
        recover,
        repair,
    })
}

/// What a session's actor is made from.
pub struct Parts {
    pub created: SessionCreated,
    pub file: LogFile,
    pub index: Index,
    pub facts: Facts,
    pub prefix: Prefix,
    pub setup: Setup,
    pub keys: Arc<Keys>,
    /// The whole environment of its commands.
    pub env: BTreeMap<String, String>,
    /// Its marker of unfinished work is there.
    pub marked: bool,
    pub read_only: Option<Closed>,
    pub missed: Option<Digest>,
}

/// Builds the actor. Nothing runs yet: see `Actor::run`.
pub fn build(ground: &Ground, parts: Parts) -> Result<(Actor, Inbox, SessionHandle), Failure> {
    let Parts {
        created,
        file,
        index,
        facts,
        prefix,
        setup,
        keys,
        env,
        marked,
        read_only,
        missed,
    } = parts;
    let dir = ground.home.session_dir(created.session);
    let is_new = index.last() == Seq(0);
    let spill_dir = dir.join("spill");
    let temp = temp_of(ground, created.pid);
    let (workspace, lost) = match open_workspace(ground, &created, &setup, &spill_dir, temp) {
        Ok(workspace) => (workspace, None),
        // The directory of an old session may be gone: it can still be read.
        Err(failure) if !is_new => (nowhere(&dir)?, Some(failure.message)),
        Err(failure) => return Err(failure),
    };
    let workspace = Arc::new(workspace);
    let (commands, command_inbox) = mpsc::channel(256);
    let (gone, gone_inbox) = mpsc::unbounded_channel();
    let (happened, happened_inbox) = mpsc::unbounded_channel();
    let environment = Environment::new(&created, env, setup.holding());
    let (found, kept) = if is_new {
        (false, None)
    } else {
        keeping::found(&dir)
    };
    let shells = Children {
        pids: Arc::clone(&ground.pids),
        happened: happened.clone(),
    };
    let spawn = ground.assembly.spawn();
    let keeper = Keeper::new(
        created.pid,
        &dir,
        Arc::clone(&workspace),
        Arc::clone(&spawn),
    );
    let memory = ground.assembly.memory(Arc::clone(&workspace));
    let notes = Notes::new(Arc::clone(&ground.assembly), Arc::clone(&memory));
    let bench = Arc::new(Bench {
        session: created.pid,
        tools: tools_by_name(&setup.tools),
        memory,
        env: Arc::new(walls::environment(
            environment.whole(),
            workspace.temp(),
            &setup.confine,
        )),
        workspace,
        spill_dir,
        spawn,
        confine: setup.confine.clone(),
        shells: Arc::new(shells),
        user_home: ground.assembly.user_home(),
        trusted: setup.trusted,
        masked: masked(ground),
        keeper: Arc::new(keeper),
        notes: notes.clone(),
    });
    let kept_rules = ground.assembly.kept_rules(bench.workspace.root());
    let (arrived, arrived_inbox) = mpsc::channel(256);
    let mut machine = machine(facts, setup.limits, &created);
    let hooks = ground.assembly.hooks(Path::new(&created.cwd));
    machine.tell_ends(hooks.any(HookEvent::Stop));
    let warning = if is_new {
        None
    } else {
        looser(machine.facts().settings.posture, setup.posture)
    };
    let mut journal = Journal::new(
        file,
        index,
        created.session,
        Arc::clone(&ground.home),
        marked,
        happened.clone(),
    );
    journal.failed = read_only.or_else(|| unworkable(setup.unusable, lost));
    let first =
        summary::of(machine.facts(), 0, journal.read_only()).unwrap_or_else(|| unborn(&created));
    let (seen, see) = watch::channel(Seen {
        summary: first,
        pending: Vec::new(),
        asked: Vec::new(),
        plans: Vec::new(),
        in_turn: machine.facts().open.is_some(),
        closed: journal.failed.clone(),
    });
    let activity = Arc::new(Activity::default());
    let handle = SessionHandle {
        shared: Arc::new(Shared {
            id: created.session,
            pid: created.pid,
            epoch: created.epoch,
            commands,
            seen: see,
            activity: Arc::clone(&activity),
            supervisor: ground.supervisor.clone(),
            tried: tokio::sync::Mutex::default(),
            notes,
        }),
    };
    let actor = Actor {
        id: created.session,
        epoch: created.epoch,
        machine,
        journal,
        fanout: Fanout::new(created.pid),
        codec: setup.codec,
        provider: setup.provider,
        prefix: Arc::new(prefix),
        bench,
        layers: setup.layers,
        kept_rules,
        lasting: Vec::new(),
        compiled: None,
        keys,
        key_variable: setup.key_variable,
        own_key: setup.own_key,
        catalog: ground.catalog.clone(),
        seen,
        happened,
        arrived,
        ended: CancellationToken::new(),
        gather: None,
        asked: 0,
        judged: std::collections::HashMap::new(),
        held: Vec::new(),
        running: BTreeMap::new(),
        replies: Vec::new(),
        waiters: Vec::new(),
        joining: Vec::new(),
        gone,
        asked_at: std::collections::HashMap::new(),
        signalled: std::collections::VecDeque::new(),
        rewind_own: None,
        live_due: None,
        listed: None,
        closing: Vec::new(),
        children_due: None,
        stopped: BTreeMap::new(),
        suspending: Vec::new(),
        leaving: false,
        born: tokio::time::Instant::now(),
        grace_ms: setup.limits.grace_ms,
        keeping: Keeping::new(&dir, found),
        kept,
        absence: Absence::new(missed),
        seen_file: AsideFile::new(dir.clone(), Aside::Seen),
        turn_ended_at: None,
        environment,
        warning,
        parting: None,
        assembly: Arc::clone(&ground.assembly),
        activity,
        hooked: Hooked::new(hooks),
    };
    let inbox = Inbox {
        commands: command_inbox,
        gone: gone_inbox,
        happened: happened_inbox,
        arrived: arrived_inbox,
    };
    Ok((actor, inbox, handle))
}

fn machine(facts: Facts, limits: Limits, created: &SessionCreated) -> Machine {
    let mut machine = Machine::new(facts, limits);
    if machine.facts().spoken == 0 {
        let shell = created.env.get("SHELL").map(String::as_str);
        let (cwd, root) = (Path::new(&created.cwd), Path::new(&created.root));
        machine.set_context(opening::context(cwd, root, shell));
    }
    machine
}

/// Why a session whose log is well cannot be worked in, where that is so.
fn unworkable(unusable: Option<String>, lost: Option<String>) -> Option<Closed> {
    let provider = unusable.map(|reason| Closed::new(Cause::Provider, reason));
    provider.or_else(|| lost.map(|reason| Closed::new(Cause::Directory, reason)))
}

/// What no tool of any session touches; the session's own temporary directory is an exception in it.
fn masked(ground: &Ground) -> Vec<PathBuf> {
    let mut masked = ground.assembly.masked();
    masked.extend(ground.assembly.temp());
    masked
}

/// The session's own temporary directory. `None`: it cannot be made, and commands have no walls without it.
fn temp_of(ground: &Ground, pid: Pid) -> Option<PathBuf> {
    let temp = ground.assembly.temp()?.join(pid.to_string());
    walls::make_private(&temp).ok()?;
    Some(temp)
}

fn open_workspace(
    ground: &Ground,
    created: &SessionCreated,
    setup: &Setup,
    spill_dir: &Path,
    temp: Option<PathBuf>,
) -> Result<Workspace, Failure> {
    let options = Options {
        root: PathBuf::from(&created.root),
        cwd: PathBuf::from(&created.cwd),
        extra_writable: setup.allow_write.clone(),
        masked: masked(ground),
        readable: vec![spill_dir.to_path_buf()],
        temp,
        deny_read: setup.deny_read.clone(),
        user_home: ground.assembly.user_home(),
    };
    Workspace::open(options).map_err(|error| {
        Failure::new(
            ErrorName::InvalidParams,
            format!(
                "The directory `{}` cannot be worked in: {error}",
                created.cwd
            ),
            "Start from a directory that exists and that you may read.",
        )
    })
}

/// What is to be said of a session whose posture is looser than what the config says now.
fn looser(own: Posture, configured: Posture) -> Option<String> {
    let rank = |posture| match posture {
        Posture::Ask => 0,
        Posture::Auto => 1,
        Posture::Yolo => 2,
    };
    (rank(own) > rank(configured)).then(|| {
        format!(
            "This session keeps its posture `{}`, which is looser than the `{}` that is configured now.",
            own.name(),
            configured.name()
        )
    })
}

/// A workspace in which nothing can be done: for a session that is only read.
fn nowhere(dir: &Path) -> Result<Workspace, Failure> {
    let options = Options {
        root: dir.to_path_buf(),
        cwd: dir.to_path_buf(),
        ..Options::default()
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

impl Actor {
    /// Writes the first records of a new session: creation, notices and first prompt are one commit.
    /// `born` is answered when they are on disk.
    pub fn bear(
        &mut self,
        created: SessionCreated,
        notices: Vec<String>,
        prompt: Option<PromptQueued>,
        born: Reply<()>,
    ) {
        let now = self.now();
        let mut effects = self.machine.record(Body::SessionCreated(created), now);
        for text in notices {
            effects.extend(self.machine.record(
                Body::Notice(Notice {
                    level: Level::Warning,
                    text,
                }),
                now,
            ));
        }
        let mut last = self.machine.facts().seq;
        if let Some(prompt) = prompt {
            last = last.next();
            effects.extend(self.machine.step(
                Input::Prompt {
                    prompt,
                    when: When::Queue,
                },
                now,
            ));
        }
        self.reply_when(last, born, ());
        self.perform(effects);
    }

    /// Brings a session that was in mid-turn to a valid state.
    pub fn recover(&mut self, setting: Option<RecoverPolicy>, repair: Option<String>) {
        if self.journal.failed.is_some() {
            return;
        }
        let mut effects = Vec::new();
        if let Some(text) = repair {
            let now = self.now();
            effects = self.machine.record(
                Body::Notice(Notice {
                    level: Level::Warning,
                    text,
                }),
                now,
            );
        }
        let policy = setting.unwrap_or(match self.machine.facts().settings.kind {
            Kind::Headless => RecoverPolicy::Continue,
            Kind::Interactive => RecoverPolicy::Idle,
        });
        let now = self.now();
        // Nothing of an earlier life in memory runs on behind the log's back.
        self.bench.spawn.stop_session(self.bench.session, 0);
        let kept = self.kept.take();
        effects.extend(self.machine.recover(policy, kept, now));
        effects.extend(self.warn(now));
        self.perform(effects);
    }

    /// What clears away what the walls of an earlier daemon may have left in the workspace. To be run where it may block.
    pub fn clearing(&mut self) -> impl FnOnce() + Send + 'static {
        let rules = self.rules();
        let bench = Arc::clone(&self.bench);
        move || bench.surroundings().clear(&rules)
    }
}
