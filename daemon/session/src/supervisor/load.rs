//! A session from its log: the fold of its records, and the actor of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use contract::KnownState;
use history_index::HistoryFeed;
use proto::record::{CheckpointCreated, SessionShortened};
use proto::{Body, ErrorName, Failure, Record, Seq, SessionId, Stamp};
use store::format::RawRecord;
use store::home::Home;
use store::log::{LogFile, LogIndex};
use store::pids::PidCounter;
use store::sidecar::Sidecar;
use turn::{Facts, RecoverPolicy};

use crate::actor::handle::SessionHandle;
use crate::actor::{Actor, Inbox};
use crate::assembly::setup::Assembly;
use crate::context::change_reports::ChangeReports;
use crate::context::known_files::KnownFilesFold;
use crate::context::prefix::{FrozenPrefix, SharedTexts};
use crate::journal::catalog_feed::CatalogFeed;
use crate::journal::elements::{self, ElementAt};
use crate::journal::{Broken, Cause, Closed};
use crate::request::budget::Ledger;
use crate::request::keys::Keys;
use crate::supervisor::Supervisor;
use crate::supervisor::build::{Parts, build};
use crate::viewers::absence::{AwayEvent, AwaySummary, Left};
use crate::viewers::attendance::Attendance;
use crate::viewers::list_changes::ListChanges;
use crate::viewers::queue_bytes::AllQueues;
use checkpoint::PlannedRewind;

/// What every session is made with.
#[derive(Clone)]
pub struct SessionServices {
    pub home: Arc<Home>,
    pub assembly: Arc<dyn Assembly>,
    pub catalog: CatalogFeed,
    pub history: HistoryFeed,
    pub pids: Arc<PidCounter>,
    /// Who owns the sessions.
    pub supervisor: Weak<Supervisor>,
    /// Their limits and their usage.
    pub ledger: Arc<Ledger>,
    /// The texts of their prefixes.
    pub texts: Arc<SharedTexts>,
    /// The queued bytes of their followers.
    pub queues: AllQueues,
    /// Counts what would change lists of them.
    pub changes: ListChanges,
    /// Which of them a user is attached to.
    pub attendance: Attendance,
}

/// What an actor has from its session's log.
pub struct SessionLog {
    pub file: LogFile,
    pub index: LogIndex,
    pub facts: Facts,
    pub prefix: FrozenPrefix,
    /// What became of the log's end, for the user.
    pub repairs: Vec<String>,
    /// Records that the catalog knew are gone: to be recorded, so that cursors of before are refused.
    pub shortened: Option<SessionShortened>,
    pub read_only: Option<Closed>,
    /// Where the elements of cache resets are in their lines.
    pub elements: Vec<(Seq, Vec<ElementAt>)>,
    /// What happened since the last person left.
    pub missed: Option<AwaySummary>,
    /// The files that the model knows, the oldest first.
    pub known: Vec<KnownState>,
    /// The messages that have reported changed files to it.
    pub reports: ChangeReports,
}

impl SessionLog {
    /// One without any record.
    pub fn new(file: LogFile, prefix: FrozenPrefix) -> Self {
        let known = prefix.known_files();
        Self {
            file,
            index: LogIndex::new(),
            facts: Facts::default(),
            prefix,
            repairs: Vec::new(),
            shortened: None,
            read_only: None,
            elements: Vec::new(),
            missed: None,
            known,
            reports: ChangeReports::default(),
        }
    }
}

/// Reads a log: the fold of its records. Blocks.
pub fn read(services: &SessionServices, session: SessionId) -> Result<SessionLog, Failure> {
    let dir = services.home.session_dir(session);
    let left = store::sidecar::get(&dir, Sidecar::Seen).and_then(|content| Left::read(&content));
    let mut fold = Fold {
        missed: left.map(AwaySummary::new),
        ..Fold::default()
    };
    let syncer = services.assembly.syncer();
    let opened = LogFile::open_with(&dir, syncer, &mut |raw| fold.take(raw));
    let opened = opened.map_err(|error| unreadable(session, &store::reason(&error)))?;
    let upto = opened.index.last();
    let shown = fold.facts.shown_upto(upto);
    let known = fold.known.shown(&shown);
    let (Some(_), Some(prefix)) = (&fold.facts.created, fold.known.prefix) else {
        return Err(unreadable(session, "its first record is missing"));
    };
    let repair = opened.repair.map(|repair| {
        format!(
            "The end of the log was damaged and was moved away ({} bytes in `{}`): {}",
            repair.bytes,
            repair.torn.display(),
            repair.why
        )
    });
    let trouble = opened.disk_failure;
    let refused = opened.read_only.map(|reason| match trouble {
        Some(trouble) => Closed::by_disk(reason, Some(Broken { upto, trouble })),
        None => Closed::new(Cause::Log, reason),
    });
    // A record that this build cannot read may matter: look, but do not touch.
    let strange = fold.strange.map(|reason| Closed::new(Cause::Log, reason));
    Ok(SessionLog {
        file: opened.file,
        index: opened.index,
        facts: fold.facts,
        prefix,
        repairs: repair.into_iter().collect(),
        shortened: None,
        read_only: refused.or(strange),
        elements: fold.elements,
        missed: fold.missed,
        known,
        reports: fold.known.reports,
    })
}

/// What the lines of a log come to, while they are read.
#[derive(Default)]
struct Fold {
    facts: Facts,
    known: KnownFilesFold,
    /// Why a line is not readable by this build, if one is not.
    strange: Option<String>,
    elements: Vec<(Seq, Vec<ElementAt>)>,
    missed: Option<AwaySummary>,
}

impl Fold {
    fn take(&mut self, raw: &RawRecord<'_>) {
        self.known.take_line(raw);
        if raw.kind == "cache.reset" {
            self.elements.push((raw.seq, elements::elements(raw)));
        }
        match raw.record() {
            Ok(record) => self.apply(&record, raw),
            Err(error) => {
                self.strange = Some(format!("record {} is not readable: {error}", raw.seq));
            }
        }
    }

    fn apply(&mut self, record: &Record, raw: &RawRecord<'_>) {
        if let Body::CacheReset(reset) = &record.body
            && let Some((_, found)) = self.elements.last()
            && elements::names(reset) > found.len()
        {
            self.strange = Some(format!(
                "what record {} puts in the place of messages is not readable",
                raw.seq
            ));
        }
        self.facts.apply(record);
        self.known.apply(record);
        if let Body::CheckpointCreated(CheckpointCreated { call: None, .. }) = &record.body
            && let Some(own) = raw.own
        {
            let planned = PlannedRewind::parse(own.get());
            self.facts.note_undo_started(planned.undoes);
        }
        if let (Some(missed), Some(bit)) = (&mut self.missed, AwayEvent::of(record)) {
            missed.apply(&bit);
        }
    }
}

fn unreadable(session: SessionId, why: &str) -> Failure {
    Failure::new(
        ErrorName::Storage,
        format!("The log of session {session} cannot be opened: {why}"),
        "Run `reasonix doctor` to check the store.",
    )
}

/// What the life before left, as far as an actor is built with it.
pub struct Before {
    pub keys: Arc<Keys>,
    /// Variables of its commands that are not in its log.
    pub env: BTreeMap<String, String>,
}

/// An actor from a log, before `recover`.
pub struct RestoredActor {
    pub actor: Actor,
    pub inbox: Inbox,
    pub handle: SessionHandle,
    pub recover: Option<RecoverPolicy>,
    pub repairs: Vec<String>,
    pub shortened: Option<SessionShortened>,
}

/// Notices that a log ends before the newest record that the catalog knows: it was cut, or restored from a backup.
/// A log that is damaged in the middle says so itself.
fn note_loss(log: &mut SessionLog, known: Option<Seq>) {
    let (Some(known), last) = (known, log.index.last()) else {
        return;
    };
    let noted = log.facts.shortened.as_ref();
    let is_damaged = log
        .read_only
        .as_ref()
        .is_some_and(|closed| closed.cause == Cause::Log);
    if known <= last || is_damaged || noted.is_some_and(|noted| noted.known == known) {
        return;
    }
    // Never one that this log had before it was cut: several cuts may lead to the same record.
    let now = u64::try_from(Stamp::now().0).unwrap_or_default();
    log.shortened = Some(SessionShortened {
        epoch: now.max(log.facts.epoch() + 1),
        known,
    });
    log.repairs.push(format!(
        "The log ends at record {last}, but record {known} had been saved: it was cut, or restored from a backup. The session continues from record {last}; files may contain later changes."
    ));
}

/// Builds a session's actor from its log. `known`: the newest record that the catalog knows. Blocks.
pub fn revive(
    services: &SessionServices,
    session: SessionId,
    before: Before,
    known: Option<Seq>,
) -> Result<RestoredActor, Failure> {
    let mut log = read(services, session)?;
    note_loss(&mut log, known);
    let Some(created) = log.facts.created.clone() else {
        return Err(unreadable(session, "its first record is missing"));
    };
    let as_now = log.facts.created_now();
    let mut setup = services
        .assembly
        .resume(as_now.as_ref().unwrap_or(&created));
    let profile = &mut setup.profile;
    let names = log.prefix.text.tool_names.as_ref();
    let tools = profile.tools.restricted_to(names.unwrap_or(&created.tools));
    profile.tools = tools.without_redefined(&log.prefix.text.tools);
    let recover = setup.recover;
    let mut env = created.env.clone();
    env.extend(before.env);
    let repairs = std::mem::take(&mut log.repairs);
    let shortened = log.shortened.clone();
    let parts = Parts {
        created,
        log,
        setup,
        keys: before.keys,
        env,
        marked: store::markers::is_marked(&services.home, session),
    };
    let (actor, inbox, handle) = build(services, parts)?;
    Ok(RestoredActor {
        actor,
        inbox,
        handle,
        recover,
        repairs,
        shortened,
    })
}
