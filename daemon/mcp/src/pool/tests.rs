use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::*;
use crate::client::{ConnectRequest, Connection};
use crate::config::Servers;

/// Servers that never answer.
struct Hanging;

impl Connect for Hanging {
    fn connect(
        &self,
        _request: ConnectRequest,
    ) -> BoxFuture<'static, Result<Arc<dyn Connection>, String>> {
        futures::future::pending().boxed()
    }
}

fn pool(dir: &Path) -> Arc<Pool> {
    Pool::new(PoolOptions {
        connect: Arc::new(Hanging),
        dir: dir.to_path_buf(),
        runtime: tokio::runtime::Handle::current(),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_that_hangs_delays_one_session_only() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"{"mcpServers": {"slow": {"command": "slow"}, "slower": {"command": "slower"}}}"#;
    let servers = Servers::from_json(text, Path::new("/mcp.json"), ConfigScope::User);
    let tools = |pool: &Pool, first| {
        let choice = ToolsChoice {
            policy: ReadOnlyPolicy::Disabled,
            deferred_above: 40,
            first,
        };
        let started = Instant::now();
        let found = pool.session_tools(&servers.servers, dir.path(), choice);
        assert_eq!((found.tools.len(), found.notices.len()), (0, 2));
        started.elapsed()
    };
    let first = pool(dir.path());
    // One that does not wait has not waited in vain.
    assert!(tools(&first, FirstListing::Skip) < FIRST_LISTING);
    assert!(tools(&first, FirstListing::Wait) >= FIRST_LISTING);
    assert!(tools(&first, FirstListing::Wait) < FIRST_LISTING);
    // Nor does the next daemon wait.
    assert!(tools(&pool(dir.path()), FirstListing::Wait) < FIRST_LISTING);
}
