//! What one log says of use: added up by quarters of an hour, model and purpose, for the catalog and the usage ledger.

use std::collections::BTreeMap;

use proto::outcome::UsageTotals;
use proto::record::{Purpose, SessionCreated};
use proto::{Body, Seq, SessionId, Stamp};
use store::catalog::{Catalog, CountedSession, UsageRow};
use store::format::RawRecord;
use store::home::Home;
use store::log::LogPosition;
use store::usage_ledger::{self, LedgerEntry};

/// Counts records added to a log since it was counted last.
pub(super) fn count(
    home: &Home,
    catalog: &Catalog,
    entry: &CountedSession,
    upto: Option<Seq>,
) -> Result<(), String> {
    let dir = home.session_dir(entry.session);
    let upto = upto.unwrap_or(Seq(u64::MAX));
    let created = created(home, entry.session)?;
    let mut from = entry.counted;
    loop {
        let mut counting = Counting::new(&created);
        let reached = store::log::tail(&dir, from, upto, &mut |raw| counting.take(raw));
        match reached.map_err(|error| store::reason(&error))? {
            Some(reached) => {
                let used = counting.finish(entry.session);
                let counted = catalog.count_usage(entry.session, from, reached, &used);
                return counted.map(drop).map_err(|error| store::reason(&error));
            }
            // The log is not the one that was counted: it was repaired by hand.
            None if from != LogPosition::default() => from = LogPosition::default(),
            None => return Ok(()),
        }
    }
}

/// The first record of a session.
pub(super) fn created(home: &Home, session: SessionId) -> Result<SessionCreated, String> {
    let dir = home.session_dir(session);
    let first = store::log::first(&dir, |raw| raw.record().map(|record| record.body));
    match first.map_err(|error| store::reason(&error))? {
        Some(Ok(Body::SessionCreated(created))) => Ok(created),
        _ => Err("its first record cannot be read".to_owned()),
    }
}

/// The turns that a session got from the one it was forked from: they count there.
pub(super) fn turns_of_origin(created: &SessionCreated) -> u64 {
    created.origin.as_ref().map_or(0, |origin| origin.turn)
}

/// Puts a session's usage into the usage ledger, durably: deletion follows. A log without a first record used nothing.
pub(crate) fn close_books(home: &Home, session: SessionId) -> Result<(), String> {
    let Ok(created) = created(home, session) else {
        return Ok(());
    };
    let mut counting = Counting::new(&created);
    let dir = home.session_dir(session);
    store::log::read(&dir, &mut |raw| counting.take(raw)).map_err(|error| store::reason(&error))?;
    let entries = counting
        .finish(session)
        .into_iter()
        .map(|used| LedgerEntry {
            at: used.at,
            session,
            pid: created.pid,
            cwd: created.cwd.clone(),
            model: used.model,
            usage: used.usage,
            purpose: used.purpose,
            turns: used.turns,
            root: created.root.clone(),
        });
    let entries: Vec<_> = entries.collect();
    if entries.is_empty() {
        return Ok(());
    }
    usage_ledger::append(home, &entries).map_err(|error| store::reason(&error))
}

/// The sums of one session.
struct Counting {
    /// `provider/model` of the session's first record: of requests that do not name theirs.
    model: String,
    /// Turns up to this one are of the session that it was forked from.
    forked: u64,
    /// By the quarter, the model and the purpose. Turns are counted in rows without a model.
    rows: BTreeMap<(i64, String, Purpose), (u64, UsageTotals)>,
}

impl Counting {
    fn new(created: &SessionCreated) -> Self {
        Self {
            model: created.options.model.clone().unwrap_or_default(),
            forked: turns_of_origin(created),
            rows: BTreeMap::new(),
        }
    }

    fn take(&mut self, raw: &RawRecord<'_>) {
        let quarter = usage_ledger::quarter_start(raw.at).0;
        match &*raw.kind {
            "usage" => {
                let Ok(Body::Usage(usage)) = raw.record().map(|record| record.body) else {
                    return;
                };
                let model = match (usage.provider.as_str(), usage.model.as_str()) {
                    ("", _) | (_, "") => self.model.clone(),
                    (provider, model) => format!("{provider}/{model}"),
                };
                let row = self.rows.entry((quarter, model, usage.purpose));
                row.or_default().1.add(&UsageTotals::of(&usage));
            }
            "turn.ended" if raw.turn.is_some_and(|turn| turn > self.forked) => {
                let key = (quarter, String::new(), Purpose::Answer);
                self.rows.entry(key).or_default().0 += 1;
            }
            _ => {}
        }
    }

    fn finish(self, session: SessionId) -> Vec<UsageRow> {
        let used = self.rows.into_iter();
        let used = used.map(|((at, model, purpose), (turns, usage))| UsageRow {
            session,
            at: Stamp(at),
            model,
            purpose,
            turns,
            usage,
        });
        used.collect()
    }
}
