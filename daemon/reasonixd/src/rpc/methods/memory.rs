//! `memory.*`: facts that outlive sessions, as the user sees and changes them.

use std::sync::Arc;

use knowledge::memory::{
    ArchivedFact, FactDraft, FactStores, MemoryError, SavedFact, day, search as find,
};
use proto::params::memory::{
    FactInfo, FactOutput, ForgetParams, ListOutput, ListParams, ReadParams, RestoreParams,
    SearchParams, WriteParams,
};
use proto::{Failure, Stamp};

use super::interaction::refuse_tools;
use super::rules::asked;
use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

/// Facts that a search returns, if no number is given.
const FOUND: u64 = 10;
/// The most facts that a search returns.
const FOUND_MAX: u64 = 50;

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ListParams,
) -> Result<ListOutput, Failure> {
    let scope = asked(params.session, params.cwd)?;
    let work = move |facts: &FactStores| {
        let loaded = facts.load();
        let active = loaded.facts.iter().map(|saved| info(facts, saved, None));
        let mut list: Vec<_> = active.collect();
        if params.archived {
            let archived = facts.archived()?;
            list.extend(
                archived
                    .iter()
                    .map(|archived| archived_info(facts, archived)),
            );
        }
        Ok(ListOutput {
            facts: list,
            problems: loaded.problems,
        })
    };
    daemon.supervisor.with_facts(&scope, work).await
}

pub async fn read(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ReadParams,
) -> Result<FactOutput, Failure> {
    let scope = asked(params.session, params.cwd)?;
    let work = move |facts: &FactStores| facts.find(&params.name).map(|saved| output(facts, saved));
    daemon.supervisor.with_facts(&scope, work).await
}

pub async fn search(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: SearchParams,
) -> Result<ListOutput, Failure> {
    let scope = asked(params.session, params.cwd)?;
    let limit = params.limit.unwrap_or(FOUND).min(FOUND_MAX);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let work = move |facts: &FactStores| {
        let loaded = facts.load();
        let hits = find(&loaded.facts, &params.query, limit);
        let hits = hits.iter().map(|hit| info(facts, hit.saved, None));
        Ok(ListOutput {
            facts: hits.collect(),
            problems: loaded.problems,
        })
    };
    daemon.supervisor.with_facts(&scope, work).await
}

pub async fn write(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: WriteParams,
) -> Result<FactOutput, Failure> {
    refuse_tools(&peer)?;
    let scope = asked(params.session, params.cwd)?;
    let work = move |facts: &FactStores| {
        if params.create && facts.find(&params.name).is_ok() {
            return Err(MemoryError::Exists(params.name));
        }
        let draft = FactDraft {
            name: params.name,
            description: params.description,
            fact_type: params.fact_type,
            content: params.content,
            expires: params.expires.filter(|day| !day.is_empty()),
            superseded_by: params.superseded_by.filter(|name| !name.is_empty()),
            source: None,
        };
        let saved = facts.save(draft, Stamp::now())?;
        Ok(output(facts, saved))
    };
    daemon.supervisor.with_facts(&scope, work).await
}

pub async fn forget(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: ForgetParams,
) -> Result<FactOutput, Failure> {
    refuse_tools(&peer)?;
    let scope = asked(params.session, params.cwd)?;
    let work =
        move |facts: &FactStores| facts.forget(&params.name).map(|saved| output(facts, saved));
    daemon.supervisor.with_facts(&scope, work).await
}

pub async fn restore(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: RestoreParams,
) -> Result<FactOutput, Failure> {
    refuse_tools(&peer)?;
    let scope = asked(params.session, params.cwd)?;
    let work = move |facts: &FactStores| {
        let restored = facts.restore(&params.name, params.version);
        restored.map(|saved| output(facts, saved))
    };
    daemon.supervisor.with_facts(&scope, work).await
}

fn output(facts: &FactStores, saved: SavedFact) -> FactOutput {
    FactOutput {
        fact: info(facts, &saved, None),
        content: saved.fact.content,
    }
}

fn archived_info(facts: &FactStores, archived: &ArchivedFact) -> FactInfo {
    FactInfo {
        file: facts.archived_path(archived).to_string_lossy().into_owned(),
        ..info(facts, &archived.saved, Some(archived.version))
    }
}

fn info(facts: &FactStores, saved: &SavedFact, archived: Option<u64>) -> FactInfo {
    let fact = &saved.fact;
    FactInfo {
        name: fact.name.clone(),
        description: fact.description.clone(),
        fact_type: fact.fact_type,
        scope: saved.scope,
        created: fact.created.clone(),
        updated: fact.updated.clone(),
        source: fact.source.clone(),
        expires: fact.expires.clone(),
        superseded_by: fact.superseded_by.clone(),
        stale: fact.is_stale(&day(Stamp::now())),
        archived,
        file: facts.path(saved).to_string_lossy().into_owned(),
    }
}
