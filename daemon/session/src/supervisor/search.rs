//! Answers `history.search`, `history.around` and `history.prompts` from the index of messages.
//!
//! Names and directories come from the catalog and from loaded sessions. A session that they do not know was deleted:
//! nothing of it is answered.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use history_index::query::{QueryError, TERMS_MAX, parse};
use history_index::search::{IndexHit, Search, SearchScope as IndexScope};
use history_index::window::Window;
use history_index::{HistoryFeed, IndexError};
use proto::params::history::{
    AroundOutput, AroundParams, HistoryMessage, Hit, IndexingProgress, PromptsOutput,
    PromptsParams, SearchOutput, SearchParams, SearchScope,
};
use proto::params::session::{ListParams, SessionSummary};
use proto::state::Kind;
use proto::{ErrorName, Failure, Pid, SessionId};

use crate::context::first_message;
use crate::supervisor::Supervisor;
use crate::supervisor::listing::index_failure;
use crate::tasks::{self, blocking};

/// Hits if the caller gives no number.
const LIMIT: u64 = 50;
/// Maximum number of hits.
const LIMIT_MAX: u64 = 1_000;
/// Messages before and after one if the caller gives no number.
const AROUND: u64 = 5;
/// Maximum number of messages before one, and after it.
const AROUND_MAX: u64 = 50;
/// Characters of a message.
const MESSAGE_MAX: usize = 4_000;
/// Sessions of a directory whose prompts are answered.
const PROMPT_SESSIONS: u64 = 50;
/// How long a search waits for the index to take in earlier records.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long after its start the daemon looks for what the index lacks, unless somebody asks for it earlier.
const START_AFTER: Duration = Duration::from_secs(2);

/// Why the newest messages may be missing where nothing has failed.
const BUSY: &str = "it is still taking in what was written last";

/// Why hits may be missing while the catalog is made again.
const UNLISTED: &str = "some sessions are not in the catalog yet";

/// What the index answered.
struct Indexed<T> {
    /// `None`: it is being built.
    answer: Option<T>,
    /// All that was written before is in it.
    is_fresh: bool,
}

impl Supervisor {
    /// Has the index take in records written without it. Later: a start has more urgent work.
    pub(crate) fn index_history_later(&self) {
        let me = self.me.clone();
        tasks::spawn(async move {
            tokio::time::sleep(START_AFTER).await;
            if let Some(supervisor) = me.upgrade() {
                supervisor.services.history.start();
            }
        });
    }

    /// See `history.search`.
    ///
    /// # Errors
    /// `invalid_params`: no words, too many, or a scope without its session; `not_found`, `ambiguous`: the session;
    /// `storage`: the index cannot be read.
    pub async fn search(&self, params: SearchParams) -> Result<SearchOutput, Failure> {
        let scope = self.scope(&params).await?;
        self.search_in(scope, params).await
    }

    /// As `search`, for a session whose own the scopes are.
    ///
    /// # Errors
    /// As `search`.
    pub(crate) async fn search_for(
        &self,
        session: SessionId,
        root: String,
        params: SearchParams,
    ) -> Result<SearchOutput, Failure> {
        let scope = match params.scope {
            SearchScope::Global => IndexScope::Global,
            SearchScope::Project => IndexScope::Root(root),
            SearchScope::Session => IndexScope::Session(session),
        };
        self.search_in(scope, params).await
    }

    async fn search_in(
        &self,
        scope: IndexScope,
        params: SearchParams,
    ) -> Result<SearchOutput, Failure> {
        let terms = parse(&params.query).map_err(invalid_query)?;
        let limit = match params.limit {
            0 => LIMIT,
            limit => limit.min(LIMIT_MAX),
        };
        let wanted = Search {
            terms,
            scope,
            role: params.role,
            since: params.since,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
        };
        let home = Arc::clone(&self.services.home);
        let found = self
            .indexed(move || history_index::search::search(&home, &wanted))
            .await?;
        let indexing = self.indexing();
        let behind = match (indexing, found.is_fresh) {
            (None, false) => Some(
                self.services
                    .history
                    .failure()
                    .unwrap_or_else(|| BUSY.to_owned()),
            ),
            (Some(_), _) | (None, true) => None,
        };
        let Some(found) = found.answer else {
            return Ok(SearchOutput {
                indexing: indexing.or(Some(UNKNOWN)),
                ..SearchOutput::default()
            });
        };
        let count = found.hits.len();
        let hits = self.with_sessions(found.hits).await?;
        let unlisted = (hits.len() < count).then(|| UNLISTED.to_owned());
        let behind = behind.or(unlisted);
        Ok(SearchOutput {
            complete: found.matches <= limit
                && !found.has_too_many
                && indexing.is_none()
                && behind.is_none(),
            matches: found.matches,
            too_many: found.has_too_many,
            hits,
            indexing,
            behind,
        })
    }

    async fn scope(&self, params: &SearchParams) -> Result<IndexScope, Failure> {
        match (params.scope, &params.session, &params.cwd) {
            (SearchScope::Global, _, _) => Ok(IndexScope::Global),
            (SearchScope::Session, Some(session), _) => {
                Ok(IndexScope::Session(self.find_id(session).await?))
            }
            (SearchScope::Project, _, Some(cwd)) => Ok(self.root(cwd)),
            (SearchScope::Project, Some(session), None) => {
                Ok(self.root(&self.summary(session).await?.cwd))
            }
            (SearchScope::Session | SearchScope::Project, None, _) => Err(Failure::new(
                ErrorName::InvalidParams,
                format!("The scope `{}` needs a session.", params.scope.as_str()),
                "Give `session`; for the scope `project`, `cwd` will do.",
            )),
        }
    }

    /// Sessions of the workspace that a directory belongs to.
    fn root(&self, cwd: &str) -> IndexScope {
        let assembly = &self.services.assembly;
        let root = first_message::root_of(Path::new(cwd), &assembly.user_home());
        IndexScope::Root(root.to_string_lossy().into_owned())
    }

    /// See `history.around`.
    ///
    /// # Errors
    /// `not_found`, `ambiguous`: the session; `not_found`: it has no such message; `storage`.
    pub async fn around(&self, params: AroundParams) -> Result<AroundOutput, Failure> {
        let summary = self.summary(&params.session).await?;
        let count = |wanted: Option<u64>| {
            usize::try_from(wanted.unwrap_or(AROUND).min(AROUND_MAX)).unwrap_or(usize::MAX)
        };
        let (before, after) = (count(params.before), count(params.after));
        let (home, session, seq) = (Arc::clone(&self.services.home), summary.session, params.seq);
        let window = move || history_index::window::window(&home, session, seq, (before, after));
        let found = self.indexed(window).await?;
        let indexing = self.indexing();
        let window = found.answer.unwrap_or_default();
        if window.messages.is_empty() && indexing.is_none() {
            return Err(Failure::new(
                ErrorName::NotFound,
                format!("Session {} has no message there.", summary.pid),
                "Give the `seq` of a hit of `history.search`. Ephemeral sessions are not indexed.",
            ));
        }
        Ok(around(summary, window, indexing))
    }

    /// See `history.prompts`. Without an index there are none.
    ///
    /// # Errors
    /// `storage`.
    pub async fn prompts(&self, params: PromptsParams) -> Result<PromptsOutput, Failure> {
        let of_directory = ListParams {
            cwd: Some(params.cwd),
            limit: PROMPT_SESSIONS,
            ..ListParams::default()
        };
        let listed = self.list(of_directory).await?.sessions.into_iter();
        let of_users = listed.filter(|one| one.kind == Kind::Interactive && one.ppid == Pid(0));
        let sessions: Vec<SessionId> = of_users.map(|one| one.session).collect();
        let home = Arc::clone(&self.services.home);
        let read = move || history_index::prompts::newest_prompts(&home, &sessions);
        let found = self.indexed(read).await?;
        Ok(PromptsOutput {
            prompts: found.answer.unwrap_or_default(),
        })
    }

    /// Asks the index, which waits until earlier records are indexed.
    async fn indexed<T: Send + 'static>(
        &self,
        ask: impl FnOnce() -> Result<T, IndexError> + Send + 'static,
    ) -> Result<Indexed<T>, Failure> {
        let feed: HistoryFeed = self.services.history.clone();
        let answered = blocking(move || {
            let is_fresh = feed.flush(PATIENCE);
            let answer = match ask() {
                Err(error) if error.is_damage() => {
                    tracing::warn!(error = %store::reason(&error), "the history index is damaged");
                    feed.rebuild();
                    Ok(None)
                }
                Err(IndexError::Missing) => {
                    // It was removed while the daemon runs, or is not there yet.
                    if feed.progress().is_complete {
                        feed.rebuild();
                    }
                    Ok(None)
                }
                answered => answered.map(Some),
            };
            answer.map(|answer| Indexed { answer, is_fresh })
        });
        let answered = answered.await?;
        match (answered, self.services.history.failure()) {
            (Ok(Indexed { answer: None, .. }), Some(reason)) => Err(unusable(&reason)),
            (Ok(answered), _) => Ok(answered),
            (Err(error), _) => Err(unusable(&store::reason(&error))),
        }
    }

    /// Why the history index cannot be used. `None`: it can, or is not there yet.
    ///
    /// # Errors
    /// The look at it failed.
    pub async fn history_problem(&self) -> Result<Option<String>, Failure> {
        if let Some(reason) = self.services.history.failure() {
            return Ok(Some(reason));
        }
        let home = Arc::clone(&self.services.home);
        let looked = blocking(move || history_index::database::look(&home)).await?;
        Ok(looked.err().map(|error| store::reason(&error)))
    }

    fn indexing(&self) -> Option<IndexingProgress> {
        let progress = self.services.history.progress();
        (!progress.is_complete).then_some(IndexingProgress {
            sessions: progress.sessions,
            of: progress.of,
        })
    }

    /// Hits with the names and directories of their sessions.
    async fn with_sessions(&self, found: Vec<IndexHit>) -> Result<Vec<Hit>, Failure> {
        let mut sessions: Vec<SessionId> = found.iter().map(|hit| hit.session).collect();
        sessions.sort_unstable();
        sessions.dedup();
        self.services.catalog.flush().await;
        let catalog = Arc::clone(&self.catalog);
        let read = move || {
            let known = sessions.into_iter().map(|session| catalog.get(session));
            known.collect::<Result<Vec<_>, _>>()
        };
        let known = blocking(read)
            .await?
            .map_err(|error| index_failure(&error))?;
        let mut known: Vec<SessionSummary> = known.into_iter().flatten().collect();
        self.freshen(&mut known);
        let hits = found.into_iter().filter_map(|hit| {
            let summary = known.iter().find(|known| known.session == hit.session)?;
            Some(Hit {
                session: hit.session,
                pid: hit.pid,
                name: summary.name.clone(),
                cwd: summary.cwd.clone(),
                seq: hit.seq,
                turn: hit.turn,
                at: hit.at,
                role: hit.role,
                text: hit.snippet.text,
                marks: hit.snippet.marks,
            })
        });
        Ok(hits.collect())
    }
}

/// Nothing is known of the index yet.
const UNKNOWN: IndexingProgress = IndexingProgress { sessions: 0, of: 0 };

fn invalid_query(error: QueryError) -> Failure {
    let text = match error {
        QueryError::Empty => "No search words were given.".to_owned(),
        QueryError::TooLong => format!("There are more than {TERMS_MAX} words."),
    };
    Failure::new(
        ErrorName::InvalidParams,
        text,
        "Give words that appear in the message, in any order.",
    )
}

fn around(
    summary: SessionSummary,
    window: Window,
    indexing: Option<IndexingProgress>,
) -> AroundOutput {
    let messages = window.messages.into_iter().map(|message| {
        let all = message.text.chars().count();
        let text: String = message.text.chars().take(MESSAGE_MAX).collect();
        HistoryMessage {
            seq: message.seq,
            turn: message.turn,
            at: message.at,
            role: message.role,
            cut: all.saturating_sub(MESSAGE_MAX) as u64,
            text,
        }
    });
    AroundOutput {
        session: summary.session,
        pid: summary.pid,
        name: summary.name,
        cwd: summary.cwd,
        messages: messages.collect(),
        earlier: window.has_earlier,
        later: window.has_later,
        indexing,
    }
}

fn unusable(reason: &str) -> Failure {
    Failure::new(
        ErrorName::Storage,
        format!("The history index cannot be used: {reason}"),
        "Rebuild it from the logs with `reasonix doctor --rebuild-index`.",
    )
}
