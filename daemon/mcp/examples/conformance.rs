//! A client for the conformance suite of MCP: connects to the address in its last argument by this crate's own connector,
//! logs in if the server wants it, lists the tools and calls each of them once. `docs/mcp-conformance.md` says how to run it
//! and what it showed.
#![expect(clippy::print_stderr, reason = "it is a program of its own")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract::tool::{Cancel, Progress};
use contract::{ElicitationAnswer, Questions, SamplingAnswer, SamplingRequest, Secret};
use futures::FutureExt as _;
use futures::future::{BoxFuture, pending, ready};
use mcp::client::{CallError, Connect as _, ConnectError, ConnectRequest, ToolRequest};
use mcp::{
    ConfigScope, Connection, LoginStore, Logins, OAuthClient, SdkConnector, ServerConfig, Servers,
};
use proto::Pid;
use proto::params::elicitation::Elicitation;
use serde_json::{Map, Value, json};

/// Where the suite's authorization servers send the browser. Nobody listens: the redirect is read and not followed.
const REDIRECT: &str = "http://127.0.0.1:3999/callback";

/// Logins in memory.
#[derive(Default)]
struct InMemory(Mutex<BTreeMap<String, Secret>>);

impl LoginStore for InMemory {
    fn load(&self, name: &str) -> Option<Secret> {
        let logins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logins.get(name).cloned()
    }

    fn save(&self, name: &str, text: Option<&Secret>) -> Result<(), String> {
        let mut logins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match text {
            Some(text) => logins.insert(name.to_owned(), text.clone()),
            None => logins.remove(name),
        };
        Ok(())
    }
}

/// Nobody watches, and nobody stops it.
struct Nobody;

impl Progress for Nobody {
    fn output(&self, text: &str) {
        eprint!("{text}");
    }
}

impl Cancel for Nobody {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn cancelled(&self) -> BoxFuture<'static, ()> {
        pending().boxed()
    }
}

/// A user who leaves everything as it is proposed.
struct Agrees;

impl Questions for Agrees {
    fn ask(&self, _: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        ready(ElicitationAnswer::Accept(Map::new())).boxed()
    }

    fn sample(&self, _: Elicitation, _: SamplingRequest) -> BoxFuture<'static, SamplingAnswer> {
        ready(SamplingAnswer::Declined).boxed()
    }
}

/// The client that the suite has registered by hand, if it has.
fn registered() -> Option<OAuthClient> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").ok()?;
    let context: Value = serde_json::from_str(&context).ok()?;
    let text = |name: &str| Some(context[name].as_str()?.to_owned());
    Some(OAuthClient {
        id: Some(text("client_id")?),
        secret: text("client_secret"),
        callback_port: None,
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), String> {
    let url = std::env::args().next_back().unwrap_or_default();
    let entries = json!({"mcpServers": {"server": {"url": url}}}).to_string();
    let mut servers = Servers::from_json(&entries, Path::new("/mcp.json"), ConfigScope::User);
    let mut config = servers.servers.pop().ok_or(servers.problems.join("; "))?;
    config.oauth = registered();
    let logins = Logins::new(Arc::new(InMemory::default()));
    let connector = SdkConnector {
        programs: None,
        logins: Arc::clone(&logins),
    };
    let request = ConnectRequest {
        config: config.clone(),
        cwd: PathBuf::from("/"),
        log: Arc::default(),
    };
    // Once for the login, and once for more rights.
    for _ in 0..3 {
        let done = match connector.connect(request.clone()).await {
            Ok(connection) => use_tools(&*connection).await,
            Err(ConnectError::NeedsLogin) => Err(CallError::NeedsLogin),
            Err(ConnectError::Failed(reason) | ConnectError::NoSandbox(reason)) => {
                Err(CallError::Refused(reason))
            }
        };
        match done {
            Err(CallError::NeedsLogin) => log_in(&logins, &config).await?,
            done => return done.map_err(|error| format!("{error:?}")),
        }
    }
    Err("the server wants one login after the other".to_owned())
}

/// Plays the browser and the user, who says yes.
async fn log_in(logins: &Arc<Logins>, config: &ServerConfig) -> Result<(), String> {
    let begun = logins.begin(config, REDIRECT).await?;
    eprintln!("opens {}", begun.authorization_url);
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let browser = browser.build().map_err(|error| error.to_string())?;
    let page = browser.get(&begun.authorization_url).send().await;
    let page = page.map_err(|error| error.to_string())?;
    let location = page.headers().get("location");
    let location = location.and_then(|location| location.to_str().ok());
    let location = location.ok_or("the authorization server sends nobody back")?;
    let finished = logins.finish(config, location).await;
    finished.map_err(|error| format!("{error:?}"))
}

async fn use_tools(connection: &dyn Connection) -> Result<(), CallError> {
    let tools = connection.list_tools().await;
    let tools = tools.map_err(|error| match error {
        ConnectError::NeedsLogin => CallError::NeedsLogin,
        ConnectError::Failed(reason) | ConnectError::NoSandbox(reason) => {
            CallError::Refused(reason)
        }
    });
    for tool in tools?.tools {
        let called = connection
            .call(ToolRequest {
                session: Pid(1),
                arguments: arguments(&tool.schema),
                tool: tool.name.clone(),
                timeout: Duration::from_secs(20),
                cancel: Arc::new(Nobody),
                progress: Arc::new(Nobody),
                questions: Arc::new(Agrees),
            })
            .await;
        eprintln!("{}: {called:?}", tool.name);
        called?;
    }
    Ok(())
}

/// A value for each property of a schema.
fn arguments(schema: &Map<String, Value>) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let value = |schema: &Value| match schema["type"].as_str() {
        Some("number" | "integer") => json!(2),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    };
    let properties = properties.into_iter().flatten();
    properties
        .map(|(name, schema)| (name.clone(), value(schema)))
        .collect()
}
