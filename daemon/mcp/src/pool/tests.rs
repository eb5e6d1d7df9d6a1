use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt as _;
use futures::future::{BoxFuture, pending, ready};
use serde_json::{Map, Value};

use super::*;
use crate::client::{
    CallError, ConnectError, ConnectRequest, Connection, RawResource, ToolRequest, ToolResult,
};
use crate::config::Servers;
use crate::listing::{RawTool, RawTools};
use crate::prompt::RawPrompt;

/// How long a server that works takes until it answers: more than a tenth of the wait of a session, so that ten of them
/// would not be ready in time one after the other.
const START: Duration = Duration::from_millis(400);

/// Servers named `slow…` never answer, `closed…` want a login; others answer after a moment.
struct Connector;

impl Connect for Connector {
    fn connect(
        &self,
        request: ConnectRequest,
    ) -> BoxFuture<'static, Result<Arc<dyn Connection>, ConnectError>> {
        if request.config.name.starts_with("slow") {
            return pending().boxed();
        }
        if request.config.name.starts_with("closed") {
            return ready(Err(ConnectError::NeedsLogin)).boxed();
        }
        async {
            tokio::time::sleep(START).await;
            Ok(Arc::new(OneTool) as Arc<dyn Connection>)
        }
        .boxed()
    }
}

/// A connection to a server with one tool, which nobody calls.
struct OneTool;

impl Connection for OneTool {
    fn list_tools(&self) -> BoxFuture<'_, Result<RawTools, ConnectError>> {
        let tool = RawTool {
            name: "only".to_owned(),
            description: "The only tool.".to_owned(),
            schema: Map::from_iter([("type".to_owned(), Value::from("object"))]),
            read_only: false,
        };
        let listed = RawTools {
            tools: vec![tool],
            malformed: Vec::new(),
        };
        ready(Ok(listed)).boxed()
    }

    fn call(&self, _request: ToolRequest) -> BoxFuture<'_, Result<ToolResult, CallError>> {
        ready(Err(CallError::Lost)).boxed()
    }

    fn list_prompts(&self) -> BoxFuture<'_, Result<Vec<RawPrompt>, String>> {
        ready(Ok(Vec::new())).boxed()
    }

    fn prompt<'a>(
        &'a self,
        _name: &'a str,
        _arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, String>> {
        ready(Err("it has no prompts".to_owned())).boxed()
    }

    fn has_resources(&self) -> bool {
        false
    }

    fn list_resources(&self) -> BoxFuture<'_, Result<Vec<RawResource>, String>> {
        ready(Ok(Vec::new())).boxed()
    }

    fn resource<'a>(&'a self, _uri: &'a str) -> BoxFuture<'a, Result<String, String>> {
        ready(Err("it has no resources".to_owned())).boxed()
    }

    fn list_changed(&self) -> BoxFuture<'_, ()> {
        pending().boxed()
    }

    fn reach_changed<'a>(&'a self, _known: Option<&'a str>) -> BoxFuture<'a, Option<String>> {
        pending().boxed()
    }

    fn ping(&self) -> BoxFuture<'_, Result<(), ConnectError>> {
        ready(Ok(())).boxed()
    }

    fn os_pid(&self) -> Option<u32> {
        None
    }

    fn is_outdated(&self) -> bool {
        false
    }

    fn close(&self) {}

    fn closed(&self) -> BoxFuture<'_, String> {
        pending().boxed()
    }
}

fn pool(dir: &Path) -> Arc<Pool> {
    pool_with(dir, Arc::default())
}

fn pool_with(dir: &Path, admission: Arc<Refusing>) -> Arc<Pool> {
    Pool::new(PoolOptions {
        connect: Arc::new(Connector),
        dir: dir.to_path_buf(),
        runtime: tokio::runtime::Handle::current(),
        admission,
    })
}

/// Refuses all servers while it is set.
#[derive(Default)]
struct Refusing(AtomicBool);

impl Admission for Refusing {
    fn refusal(&self, _config: &ServerConfig, _cwd: &Path) -> Option<String> {
        let is_refused = self.0.load(Ordering::SeqCst);
        is_refused.then(|| "nobody configures it".to_owned())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_may_not_run_any_more_is_stopped_and_runs_again_once_it_may() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"{"mcpServers": {"a": {"command": "a"}}}"#;
    let servers = Servers::from_json(text, Path::new("/mcp.json"), ConfigScope::User);
    let admission = Arc::new(Refusing::default());
    let pool = pool_with(dir.path(), Arc::clone(&admission));
    let server = pool.server(&servers.servers[0], dir.path());
    assert!(server.connection().await.is_ok());
    admission.0.store(true, Ordering::SeqCst);
    pool.withdraw_refused();
    assert_eq!(server.state().word(), "stopped");
    server.ask_restart();
    for _ in 0..2 {
        let refused = server.connection().await.err();
        assert_eq!(refused.as_deref(), Some("nobody configures it"));
    }
    admission.0.store(false, Ordering::SeqCst);
    assert!(server.connection().await.is_ok());
    assert_eq!(server.state(), crate::state::ServerState::Ready);
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

/// One after the other, four that hang would take 8 s, and six that work 2.4 s.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn ten_servers_of_which_some_hang_are_waited_for_together() {
    let dir = tempfile::tempdir().unwrap();
    // Those that hang come first, in between and last.
    let names = [
        "slow1", "a", "b", "slow2", "c", "slow3", "d", "e", "f", "slow4",
    ];
    let entries = names.map(|name| (name.to_owned(), serde_json::json!({"command": name})));
    let text = serde_json::json!({"mcpServers": Map::from_iter(entries)}).to_string();
    let servers = Servers::from_json(&text, Path::new("/mcp.json"), ConfigScope::User);
    assert_eq!(servers.servers.len(), names.len());
    let choice = ToolsChoice {
        policy: ReadOnlyPolicy::Disabled,
        deferred_above: 40,
        first: FirstListing::Wait,
    };
    let started = Instant::now();
    let found = pool(dir.path()).session_tools(&servers.servers, dir.path(), choice);
    let took = started.elapsed();
    assert!(took >= FIRST_LISTING, "{took:?}");
    assert!(took < FIRST_LISTING * 2, "{took:?}");
    let mut tools: Vec<_> = found.tools.iter().map(|tool| &*tool.spec().name).collect();
    tools.sort_unstable();
    let expected = ["a", "b", "c", "d", "e", "f"].map(|name| format!("mcp__{name}__only"));
    assert_eq!(tools, expected);
    assert_eq!(found.notices.len(), 4, "{:?}", found.notices);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_server_that_needs_a_login_delays_no_session_and_says_how() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"{"mcpServers": {"closed": {"url": "https://a.example/mcp"}}}"#;
    let servers = Servers::from_json(text, Path::new("/mcp.json"), ConfigScope::User);
    let choice = ToolsChoice {
        policy: ReadOnlyPolicy::Disabled,
        deferred_above: 40,
        first: FirstListing::Wait,
    };
    let started = Instant::now();
    let pool = pool(dir.path());
    let found = pool.session_tools(&servers.servers, dir.path(), choice);
    assert!(started.elapsed() < FIRST_LISTING);
    assert!(found.tools.is_empty());
    let notice = found.notices.first().expect("a notice");
    assert!(notice.contains("`reasonix mcp login closed`"), "{notice}");
    let server = pool.find(&servers.servers[0], dir.path()).expect("it");
    assert_eq!(server.state().word(), "needs login");
}
