//! The usage since the beginning of a day, by project: the starting point of budgets.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use proto::{Failure, Seq, SessionId, Stamp};
use store::catalog::{Catalog, CatalogError};
use store::home::Home;
use store::usage_ledger;
use store::worktrees::project_of;

use super::counting::created;
use super::{count_new, there};
use crate::context::first_message;
use crate::request::budget::{Past, PastUsage, spent};
use crate::supervisor::Supervisor;
use crate::supervisor::listing::index_failure;
use crate::tasks::blocking;

impl PastUsage for Supervisor {
    fn used_since(self: Arc<Self>, since: Stamp) -> BoxFuture<'static, Result<Past, Failure>> {
        async move {
            let live = self.reached().await;
            let (catalog, home) = (Arc::clone(&self.catalog), Arc::clone(&self.services.home));
            let user_home = self.services.assembly.user_home();
            let read = blocking(move || read(&home, &catalog, &live, since, &user_home));
            read.await?.map_err(|error| index_failure(&error))
        }
        .boxed()
    }
}

fn read(
    home: &Home,
    catalog: &Catalog,
    live: &HashMap<SessionId, Seq>,
    since: Stamp,
    user_home: &Path,
) -> Result<Past, CatalogError> {
    let since = usage_ledger::quarter_start(since);
    let there = there(home)?;
    let mut listed = catalog.counted_sessions()?;
    listed.retain(|entry| there.contains(&entry.session));
    count_new(home, catalog, live, &listed);
    let mut past = Past::default();
    for entry in catalog.counted_sessions()? {
        past.counted.insert(entry.session, entry.counted.seq);
    }
    let mut roots: HashMap<SessionId, String> = HashMap::new();
    for used in catalog.used()? {
        if used.at >= since && there.contains(&used.session) {
            let root = roots.entry(used.session).or_insert_with(|| {
                // Without its first record it is of no project, but of the day.
                created(home, used.session)
                    .map_or_else(|_| String::new(), |created| project_of(&created.root))
            });
            let sum = past.used.entry(root.clone()).or_default();
            *sum = sum.plus(&spent(&used.usage));
        }
    }
    for entry in usage_ledger::read(home)? {
        if there.contains(&entry.session) {
            continue;
        }
        past.counted.insert(entry.session, Seq(u64::MAX));
        if entry.at >= since {
            // Lines of before it was noted.
            let root = match entry.root.is_empty() {
                true => {
                    let root = first_message::root_of(Path::new(&entry.cwd), user_home);
                    root.to_string_lossy().into_owned()
                }
                false => project_of(&entry.root),
            };
            let sum = past.used.entry(root).or_default();
            *sum = sum.plus(&spent(&entry.usage));
        }
    }
    Ok(past)
}
