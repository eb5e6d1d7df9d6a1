//! Forks: a new session whose log begins with what another one's conversation is up to the end of a turn.
//!
//! The same prefix and the same fragments, byte for byte, so that the provider's cache serves the fork too. Nothing is
//! taken over that was used, asked or kept outside the log. The new log is filled under another name: a crash leaves no half one.

use std::collections::BTreeMap;
use std::path::Path;

use proto::params::forecast::Forecast;
use proto::params::history::{ForkOutput, ForkParams};
use proto::record::{Origin, SessionCreated};
use proto::state::Kind;
use proto::{Body, ErrorName, Failure, Pid, Seq, SessionId, SessionOptions, Stamp};
use store::home::Home;
use store::log::LogFile;
use turn::Facts;

mod copy;
mod rebuilt;

use copy::Copy;
use rebuilt::Rebuilt;

use crate::actor::handle::SessionHandle;
use crate::assembly::names;
use crate::context::forecast;
use crate::context::prefix::FrozenPrefix;
use crate::journal::elements;
use crate::supervisor::load::SessionServices;
use crate::supervisor::{Supervisor, storage};
use crate::tasks::blocking;

/// The kinds of records that a fork begins with.
const TAKEN: [&str; 10] = [
    "turn.started",
    "turn.ended",
    "message.user",
    "message.assistant",
    "message.tool",
    "policy.decided",
    "tool.started",
    "tool.finished",
    "todo.updated",
    "message.pinned",
];

impl Supervisor {
    /// See `session.fork`. A repeat answers with the same session.
    ///
    /// # Errors
    /// As `find`; `not_found`: there is no such turn, or it has not ended; `invalid_params` for a name that cannot be
    /// one; `request_id_reused`: the id belongs to another session; `storage`, `shutting_down`.
    pub async fn fork(&self, params: ForkParams) -> Result<ForkOutput, Failure> {
        self.refuse_when_closing()?;
        params.name.as_deref().map_or(Ok(()), names::check_name)?;
        let slot = self.slots.claim(params.fork);
        // A second caller with the same request waits for the first.
        let made = slot
            .cell
            .get_or_try_init(async || {
                if let Some(handle) = slot.before().await {
                    return Ok(handle);
                }
                if !self.exists(params.fork).await? {
                    let log = self.log_of(&params.session).await?;
                    let (services, wanted) = (self.services.clone(), params.clone());
                    blocking(move || write(&services, (log.session, log.upto), &wanted)).await??;
                }
                self.read_in(params.fork).await
            })
            .await
            .cloned();
        drop(slot);
        let handle = self.unless_closing(made?).await?;
        let forked = self.is_that_fork(&handle, &params).await?;
        // It has no marker that would have the next start look at it: lists have to know it.
        self.services.catalog.put(handle.summary(), None);
        self.services.catalog.flush().await;
        Ok(forked)
    }

    /// The answer, if this session is the requested one: the id may belong to another.
    async fn is_that_fork(
        &self,
        handle: &SessionHandle,
        params: &ForkParams,
    ) -> Result<ForkOutput, Failure> {
        let summary = handle.summary();
        // The origin may have been deleted since.
        let from = self.find_id(&params.session).await.ok();
        let fits = summary.origin.filter(|origin| {
            from.is_none_or(|from| from == origin.session)
                && params.at_turn.is_none_or(|turn| turn == origin.turn)
        });
        match fits {
            Some(origin) => Ok(ForkOutput {
                session: handle.id(),
                pid: handle.pid(),
                at_turn: origin.turn,
                forecast: self.first_prompt(&origin).await,
            }),
            None => Err(Failure::new(
                ErrorName::RequestIdReused,
                "A session with this id already exists and is not this fork.",
                "Use a new id for each fork.",
            )),
        }
    }
}

impl Supervisor {
    /// What the fork's first prompt costs now. The provider's cache has what the origin sent, as long as it keeps that.
    /// `None`: the origin is gone.
    async fn first_prompt(&self, origin: &Origin) -> Option<Forecast> {
        let log = self.log_of(&origin.session.to_string()).await.ok()?;
        let (services, turn) = (self.services.clone(), origin.turn);
        let reckon = move || {
            let dir = services.home.session_dir(log.session);
            let whole = look(&dir, log.upto).ok()?;
            // Also records made after that turn, as the fork has them.
            whole.ends.get(&turn)?;
            let then = look(&dir, last_seq_after(&whole, turn, log.upto)).ok()?;
            let setup = services.assembly.resume(&then.facts.created_now()?);
            let model = setup.profile.model;
            let (limits, price) = (model.limits, model.price.as_ref());
            let now = Stamp::now();
            // Later turns have used the same beginning since, if nothing came between.
            let used = match whole.facts.cache.resets == then.facts.cache.resets {
                true => whole.facts.cache.sent(),
                false => then.facts.cache.sent(),
            };
            let age = used?.0.saturating_sub(then.facts.cache.sent()?.0);
            let as_if = Stamp(now.0.saturating_sub(age));
            let (facts, tokens) = (&then.facts, then.facts.context_tokens);
            Some(forecast::standing(facts, tokens, &limits, price, as_if))
        };
        blocking(reckon).await.ok()?
    }
}

/// The facts of the origin, read before anything is copied.
struct Source {
    facts: Facts,
    /// Its newest prefix, and the text of it.
    frozen: FrozenPrefix,
    created: SessionCreated,
    /// Turns that have ended, and where.
    ends: BTreeMap<u64, Seq>,
}

/// The last record before the turn that follows this one.
fn last_seq_after(source: &Source, turn: u64, upto: Seq) -> Seq {
    let marks = &source.facts.marks;
    let next = marks.iter().find(|mark| mark.turn > turn);
    next.map_or(upto, |mark| Seq(mark.seq.0.saturating_sub(1)))
}

/// Makes the log of the fork, whole and durable. Blocks.
fn write(
    services: &SessionServices,
    source: (SessionId, Seq),
    params: &ForkParams,
) -> Result<(), Failure> {
    let home = &services.home;
    let (session, upto) = source;
    let dir = home.session_dir(session);
    let source = look(&dir, upto)?;
    let (turn, end) = choose(&source, params)?;
    // Who was asked then, with which prefix, and what stood in the place of messages.
    // Also records made between the end of that turn and the beginning of the next one.
    let then = look(&dir, last_seq_after(&source, turn, upto))?;
    if !then.facts.is_rendered() {
        return Err(not_rendered());
    }
    let pid = services
        .pids
        .next()
        .map_err(|error| storage(store::reason(&error)))?;
    let mut created = first_record((&source, &then), params, pid, turn);
    services.assembly.version().clone_into(&mut created.version);
    if params.ephemeral {
        store::markers::mark_ephemeral(home, params.fork)
            .map_err(|error| storage(store::reason(&error)))?;
    }
    let unborn = store::session_dirs::staging_dir(home, params.fork);
    let filled = store::session_dirs::remove_dir(&unborn)
        .map_err(|error| store::reason(&error))
        .and_then(|()| {
            let file = LogFile::create(&unborn).map_err(|error| store::reason(&error))?;
            let file = file.with_syncer(services.assembly.syncer());
            let runs = source.facts.shown_upto(end);
            let mut copy = Copy::new(file, dir.clone(), &unborn);
            copy.first(&created, &then.frozen)?;
            let mut base = then.facts.base_at(then.facts.seq).map(Rebuilt::new);
            let read = store::log::read(&dir, &mut |raw| {
                if let Some(base) = base.as_mut().filter(|_| raw.kind == "cache.reset") {
                    copy.reset(base, raw);
                }
                let shown = runs
                    .iter()
                    .any(|(first, last)| (*first..=*last).contains(&raw.seq));
                if raw.seq <= upto && shown && TAKEN.contains(&raw.kind.as_ref()) {
                    copy.take(raw);
                }
            });
            read.map_err(|error| store::reason(&error))?;
            copy.asks(&then.facts);
            copy.finish(&created)
        })
        .and_then(|()| publish(home, params.fork));
    filled.map_err(|reason| {
        if let Err(error) = store::session_dirs::remove_dir(&unborn) {
            tracing::warn!(%error, "the rest of a fork that was not made stays until the next start");
        }
        storage(format!("The fork cannot be written: {reason}"))
    })
}

fn publish(home: &Home, fork: SessionId) -> Result<(), String> {
    store::session_dirs::publish(home, fork).map_err(|error| store::reason(&error))
}

/// Reads the origin, up to the first damage.
fn look(dir: &Path, upto: Seq) -> Result<Source, Failure> {
    let (mut facts, mut frozen, mut ends) = (Facts::default(), None, BTreeMap::new());
    let mut readable = true;
    let read = store::log::read(dir, &mut |raw| {
        if raw.seq > upto || !readable {
            return;
        }
        let Ok(record) = raw.record() else {
            readable = false;
            return;
        };
        if raw.seq == Seq(1) {
            frozen = raw.own.and_then(|own| FrozenPrefix::read(own.get()));
        } else if raw.kind == "cache.reset"
            && let Some(frozen) = &mut frozen
        {
            elements::update_prefix(raw, &mut frozen.prefix, &mut frozen.text);
        }
        if let (Body::TurnEnded(_), Some(turn)) = (&record.body, record.turn) {
            ends.insert(turn, record.seq);
        }
        facts.apply(&record);
    });
    read.map_err(|error| storage(store::reason(&error)))?;
    if let Some(open) = &facts.open {
        ends.remove(&open.number);
    }
    let (Some(created), Some(frozen)) = (facts.created.clone(), frozen) else {
        return Err(storage("its first record is missing".to_owned()));
    };
    Ok(Source {
        facts,
        frozen,
        created,
        ends,
    })
}

/// The last turn that the fork gets, and its end.
fn choose(source: &Source, params: &ForkParams) -> Result<(u64, Seq), Failure> {
    let ended = |turn: u64| source.ends.get(&turn).map(|end| (turn, *end));
    let shown: Vec<_> = source
        .facts
        .marks
        .iter()
        .filter_map(|mark| ended(mark.turn))
        .collect();
    let chosen = match params.at_turn {
        Some(wanted) => shown.iter().find(|(turn, _)| *turn == wanted),
        None => shown.last(),
    };
    if let Some(chosen) = chosen {
        return Ok(*chosen);
    }
    let what = match params.at_turn {
        Some(turn) => format!("Turn {turn} does not exist or has not ended."),
        None => "This session has no finished turn yet.".to_owned(),
    };
    let turns: Vec<u64> = shown.iter().map(|(turn, _)| *turn).collect();
    let hint = match (turns.first(), turns.last()) {
        (None, _) | (_, None) => "Wait until its first turn ends.".to_owned(),
        _ => format!("You can fork it after turn {}.", spans(&turns)),
    };
    Err(Failure::new(ErrorName::NotFound, what, hint).with("turns", turns))
}

/// Numbers in a row as `1-3, 7`.
fn spans(numbers: &[u64]) -> String {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match spans.last_mut() {
            Some((_, last)) if last.saturating_add(1) == *number => *last = *number,
            _ => spans.push((*number, *number)),
        }
    }
    let words: Vec<_> = spans
        .iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        })
        .collect();
    words.join(", ")
}

/// The same place, model and prefix, and the settings that are in force now.
fn first_record(
    (source, then): (&Source, &Source),
    params: &ForkParams,
    pid: Pid,
    turn: u64,
) -> SessionCreated {
    let origin = then.facts.created_now();
    let origin = origin.as_ref().unwrap_or(&source.created);
    let first = origin
        .origin
        .as_ref()
        .map_or(origin.session, |origin| origin.first);
    let options = SessionOptions {
        model: origin.options.model.clone(),
        effort: origin.options.effort.clone(),
        kind: Some(params.kind.unwrap_or(Kind::Interactive)),
        name: params.name.clone(),
        labels: None,
        ..source.facts.options.clone()
    };
    SessionCreated {
        session: params.fork,
        pid,
        ppid: Pid(0),
        epoch: 1,
        request_id: None,
        origin: Some(Origin {
            session: origin.session,
            pid: origin.pid,
            turn,
            first,
        }),
        agent: None,
        options,
        ..origin.clone()
    }
}

fn not_rendered() -> Failure {
    Failure::new(
        ErrorName::Busy,
        "The session was rewound to before a change of provider and has had no prompt since.",
        "Send it a prompt first, or fork it at another turn.",
    )
}
