//! A tool of a server in a session: its definition is pinned, its calls go to the server.

use std::path::PathBuf;
use std::sync::Arc;

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use proto::Pid;
use proto::item::{CallStatus, Display, ToolKind};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::client::{CallError, Connection, LinkDecision, ToolRequest, ToolResult};
use crate::config::{ConfigScope, ReadOnlyPolicy, Transport};
use crate::definition::{self, ApprovedDefinition};
use crate::listing::ListedTool;
use crate::output;
use crate::pins::ApprovedDefinitions;
use crate::resources;
use crate::server::Server;
use crate::state::ServerState;

/// Maximum bytes of the arguments, as JSON, in a call that needs approval. All of them are shown, so that the user knows
/// what the answer is about.
const ARGUMENTS_SHOWN_MAX: usize = 128 * 1024;

/// A tool of a server.
pub struct ServerTool {
    server: Arc<Server>,
    approved: Arc<ApprovedDefinitions>,
    listed: ListedTool,
    /// What definitions are kept by.
    key: String,
    spec: ToolSpec,
    /// The same, where its definition is another than the one that was approved.
    changed_spec: ToolSpec,
}

impl ServerTool {
    /// A tool as it is listed now. `policy`: what read-only sessions may call.
    #[must_use]
    pub fn new(
        server: Arc<Server>,
        listed: ListedTool,
        approved: Arc<ApprovedDefinitions>,
        policy: ReadOnlyPolicy,
        deferred: bool,
    ) -> Self {
        // What a server says of itself counts only where the user has configured it.
        let reads = listed.read_only && server.config.scope == ConfigScope::User;
        let mut spec = ToolSpec::new(
            &*listed.name,
            &*listed.description,
            (*listed.schema).clone(),
            Family::Session,
        );
        spec.schema = Arc::clone(&listed.schema);
        spec.kind = ToolKind::Other;
        // It is needed rarely, and the user's references read resources without it.
        spec.deferred = deferred || listed.of_resources;
        spec.read_only = reads && policy == ReadOnlyPolicy::ReadOnly;
        spec.in_read_only_sessions = policy == ReadOnlyPolicy::Allow;
        let changed_spec = ToolSpec {
            definition_changed: true,
            read_only: false,
            in_read_only_sessions: false,
            ..spec.clone()
        };
        let key = format!("{}/{}", server.config.origin.display(), listed.name);
        Self {
            server,
            approved,
            listed,
            key,
            spec,
            changed_spec,
        }
    }

    /// The hash of its definition as the server has it now; of the pinned one if the server has not listed its tools.
    /// `None`: the server has no such tool any more.
    fn hash_now(&self) -> Option<String> {
        match self.server.listing() {
            Some(listing) => Some(listing.get(&self.listed.name)?.hash.clone()),
            None => Some(self.listed.hash.clone()),
        }
    }

    async fn call(&self, arguments: Map<String, Value>, context: CallContext) -> Outcome {
        let name = &self.server.config.name;
        let connection = tokio::select! {
            connection = self.server.connection() => connection,
            () = context.cancel.cancelled() => return interrupted(),
        };
        let connection = match connection {
            Ok(connection) => connection,
            Err(reason) => {
                return Outcome::failed(format!(
                    "The MCP server `{name}` does not work: {reason}. Nothing was called. The user can see its log with `reasonix mcp logs {name}`."
                ));
            }
        };
        if let Err(outcome) = self.check_definition() {
            return outcome;
        }
        // A call's id is the model's text.
        let number = hex::encode(Sha256::digest(context.call.to_string().as_bytes()));
        let file = format!("mcp-{}.txt", number.get(..16).unwrap_or_default());
        let file = context.spill_dir.join(file);
        if self.listed.of_resources {
            return self
                .read_resource(&*connection, &arguments, context, file)
                .await;
        }
        let request = ToolRequest {
            session: context.session,
            tool: self.listed.tool.clone(),
            arguments,
            timeout: self.server.config.request_timeout,
            cancel: Arc::clone(&context.cancel),
            progress: Arc::clone(&context.progress),
            questions: Arc::clone(&context.questions),
        };
        let called = connection.call(request).await;
        self.server.touch();
        let is_silent = matches!(called, Err(CallError::TimedOut));
        let answered = matches!(called, Ok(_) | Err(CallError::Refused(_)));
        let is_back = answered && self.server.state() != ServerState::Ready;
        if is_silent || is_back {
            self.server.request_probe();
        }
        match called {
            Ok(result) => rendered(result, file).await,
            Err(error) => self.failed(error),
        }
    }

    /// Takes the definition of the server as approved, if it is the one that was judged.
    ///
    /// # Errors
    /// The tool has changed or is gone: the result for the model.
    fn check_definition(&self) -> Result<(), Outcome> {
        let name = &self.server.config.name;
        let Some(hash) = self.hash_now() else {
            return Err(Outcome::failed(format!(
                "The MCP server `{name}` has no tool `{}` any more. Nothing was called.",
                self.listed.tool
            )));
        };
        // Neither the model nor the user has seen what would run: nothing judged by the former definition gets there.
        if hash != self.listed.hash {
            return Err(Outcome::failed(format!(
                "The MCP server `{name}` has changed the definition of `{}` since this session started. Nothing was called. Sessions that start from now on have the new definition, as has this one after the user's `/reload`, and the user is asked about it.",
                self.listed.tool
            )));
        }
        self.approved
            .approve(&self.key, ApprovedDefinition::new(&self.listed));
        Ok(())
    }

    /// Reads resources; `file`: for what is too long to be shown.
    async fn read_resource(
        &self,
        connection: &dyn Connection,
        arguments: &Map<String, Value>,
        context: CallContext,
        file: PathBuf,
    ) -> Outcome {
        let name = &self.server.config.name;
        let read = resources::call(connection, arguments);
        let limit = self.server.config.request_timeout;
        let result = tokio::select! {
            result = tokio::time::timeout(limit, read) => result,
            () = context.cancel.cancelled() => return interrupted(),
        };
        self.server.touch();
        if result.is_err() {
            self.server.request_probe();
        }
        match result {
            Ok(Ok(result)) => rendered(result, file).await,
            Ok(Err(reason)) => Outcome::failed(format!(
                "The MCP server `{name}` does not give it: {reason}"
            )),
            Err(_) => Outcome::failed(format!(
                "The MCP server `{name}` did not answer within {} s.",
                limit.as_secs()
            )),
        }
    }

    /// The outcome of a failed call, worded for the model.
    fn failed(&self, error: CallError) -> Outcome {
        let name = &self.server.config.name;
        match error {
            CallError::Cancelled => interrupted(),
            CallError::Refused(reason) => Outcome::failed(format!(
                "The MCP server `{name}` refused the call: {reason}"
            )),
            CallError::Unreachable { reason, arrived } => {
                let effects = match arrived {
                    true => "The call is not repeated; it may have had effects.",
                    false => "The call had no effect.",
                };
                Outcome::failed(format!(
                    "The MCP server `{name}` cannot be reached: {reason}. {effects}"
                ))
            }
            CallError::TimedOut => Outcome::with_status(
                CallStatus::Failed,
                format!(
                    "The MCP server `{name}` did not answer within {} s; the call was cancelled. It may have had effects.",
                    self.server.config.request_timeout.as_secs()
                ),
            ),
            CallError::NeedsLogin => {
                self.server.ask_restart();
                Outcome::failed(format!(
                    "The MCP server `{name}` does not accept the user's login for this call, which had no effect. The user can log in again with `reasonix mcp login {name}`; ask them to, and do not repeat the call before."
                ))
            }
            CallError::NeedsLinks { links, decision } => {
                Outcome::failed(needs_links(name, &links, decision))
            }
            CallError::Lost => Outcome::failed(lost(
                name,
                &self.server.config.transport,
                &self.server.state(),
            )),
        }
    }
}

/// The text of a call whose server ended while it ran.
fn lost(server: &str, transport: &Transport, state: &ServerState) -> String {
    let ended = match transport {
        Transport::Stdio { .. } => {
            format!("The MCP server `{server}` ended while the call ran, and is started again.")
        }
        Transport::Http { .. } => {
            format!("The connection to the MCP server `{server}` broke while the call ran.")
        }
    };
    match state {
        ServerState::Withdrawn { reason } | ServerState::Disabled { reason } => format!(
            "The MCP server `{server}` was stopped while the call ran: {reason}. The call may have had effects."
        ),
        ServerState::Resting => format!(
            "The MCP server `{server}` was stopped while the call ran: its session has exited. The call may have had effects."
        ),
        ServerState::Starting { .. }
        | ServerState::Ready
        | ServerState::Unreachable { .. }
        | ServerState::BackingOff { .. }
        | ServerState::Failed { .. }
        | ServerState::NeedsLogin { .. } => {
            format!("{ended} The call is not repeated; it may have had effects.")
        }
    }
}

/// The text of a call that was not made because the user must open links first.
fn needs_links(server: &str, links: &[String], decision: LinkDecision) -> String {
    let links = links.join(" and ");
    let next = match decision {
        LinkDecision::Accepted => {
            "The user was shown the link and opens it. Make the same call again; if the server asks for the same again, the user is not done there: ask them, and wait for their answer."
        }
        LinkDecision::Declined => {
            "The user was shown the link and declined. Do not repeat the call; ask the user how to go on."
        }
        LinkDecision::NotAsked => {
            "The user has not seen it. Tell them what it is for; the call can be made again once they have opened it."
        }
    };
    format!(
        "The MCP server `{server}` wants the user to open {links} first, and did nothing. {next}"
    )
}

/// The outcome of a call with this result. A long text goes to the file.
async fn rendered(result: ToolResult, file: PathBuf) -> Outcome {
    let rendering = tokio::task::spawn_blocking(move || output::outcome(&result, &file));
    rendering.await.unwrap_or_else(|_| {
        Outcome::failed("The result of the call cannot be read, a bug in Reasonix.")
    })
}

fn interrupted() -> Outcome {
    Outcome::with_status(CallStatus::Interrupted, "Interrupted by the user.")
}

impl Tool for ServerTool {
    fn spec(&self) -> &ToolSpec {
        match self.approved.is_other(&self.key, &self.listed.hash) {
            true => &self.changed_spec,
            false => &self.spec,
        }
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        let missing = self.listed.schema.get("required").and_then(Value::as_array);
        let missing = missing.into_iter().flatten().filter_map(Value::as_str);
        let missing: Vec<_> = missing
            .filter(|name| !arguments.contains_key(*name))
            .collect();
        if missing.is_empty() {
            return Ok(arguments.clone());
        }
        Err(Outcome::refused(format!(
            "missing arguments: {}",
            missing.join(", ")
        )))
    }

    fn preview(
        &self,
        arguments: &Map<String, Value>,
        _context: &CallContext,
    ) -> Result<Preview, Outcome> {
        let text = Value::Object(arguments.clone()).to_string();
        if text.len() > ARGUMENTS_SHOWN_MAX {
            return Err(Outcome::refused(format!(
                "The arguments have {} bytes, more than can be shown for approval ({ARGUMENTS_SHOWN_MAX}). Split the call.",
                text.len()
            )));
        }
        let text = match self.approved.is_other(&self.key, &self.listed.hash) {
            true => {
                let before = self.approved.kept(&self.key);
                let target = self.server.config.shown_target();
                let change = definition::change(before.as_ref(), &self.listed, &target);
                format!("{text}\n{change}")
            }
            false => text,
        };
        Ok(Preview {
            display: Display::Line { text },
        })
    }

    fn note_session(&self, session: Pid) {
        self.server.note_owner(session);
    }

    fn session_exited(&self, session: Pid) {
        self.server.rest(session);
    }

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        let tool = Self {
            server: Arc::clone(&self.server),
            approved: Arc::clone(&self.approved),
            listed: self.listed.clone(),
            key: self.key.clone(),
            spec: self.spec.clone(),
            changed_spec: self.changed_spec.clone(),
        };
        async move { tool.call(arguments, context).await }.boxed()
    }
}
