//! The method table. From here come the server's dispatch, the typed client, the schema and the reference.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::hello::{HelloOutput, HelloParams, Role};
use crate::params::{
    Empty, agent, cache, command, compact, config, daemon, goal, history, hook, interaction, mcp,
    memory, process, reload, rules, session, skill, symbol, worktree,
};

/// One method of the protocol.
pub trait Method {
    const NAME: &'static str;
    /// The least role that may call it.
    const ROLE: Role;
    /// Whether it changes anything. Mutating methods take a `request_id` if a repetition would matter.
    const MUTATES: bool;
    /// One sentence for the reference.
    const ABOUT: &'static str;
    type Params: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
    type Output: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
}

/// A row of the table, for the reference and the schema.
pub struct Row {
    pub name: &'static str,
    pub role: Role,
    pub mutates: bool,
    pub about: &'static str,
    pub params: Schema,
    pub output: Schema,
}

macro_rules! methods {
    ($($method:ident = $name:literal, $role:ident, $mutates:literal, $params:ty => $output:ty, $about:literal;)*) => {
        $(
            #[doc = $about]
            pub struct $method;

            impl Method for $method {
                const NAME: &'static str = $name;
                const ROLE: Role = Role::$role;
                const MUTATES: bool = $mutates;
                const ABOUT: &'static str = $about;
                type Params = $params;
                type Output = $output;
            }
        )*

        /// The names of all methods, in the order of the table.
        pub const NAMES: &[&str] = &[$($name),*];

        /// Whether the method of this name changes something.
        #[must_use]
        pub fn mutates(name: &str) -> bool {
            match name {
                $($name => $mutates,)*
                _ => false,
            }
        }

        /// All rows, with schemas made by `generator`.
        pub fn rows(generator: &mut SchemaGenerator) -> Vec<Row> {
            vec![$(Row {
                name: $name,
                role: Role::$role,
                mutates: $mutates,
                about: $about,
                params: generator.subschema_for::<$params>(),
                output: generator.subschema_for::<$output>(),
            }),*]
        }
    };
}

methods! {
    DaemonHello = "daemon.hello", Watch, false, HelloParams => HelloOutput,
        "Opens a connection: versions, role, client. Must be the first call.";
    DaemonStatus = "daemon.status", Watch, false, Empty => daemon::StatusOutput,
        "Returns versions, uptime, memory, sessions, clients and problems.";
    DaemonShutdown = "daemon.shutdown", Drive, true, daemon::ShutdownParams => Empty,
        "Stops the daemon: at once, or when the last turn has ended.";
    SessionCreate = "session.create", Drive, true, session::CreateParams => session::CreateOutput,
        "Creates a session, with its first prompt in the same commit.";
    SessionList = "session.list", Watch, false, session::ListParams => session::ListOutput,
        "Lists stored sessions, newest first, page by page.";
    SessionGet = "session.get", Watch, false, session::OneParams => session::SessionSummary,
        "Returns the summary of a session.";
    SessionAttach = "session.attach", Watch, false, session::AttachParams => session::AttachOutput,
        "Follows a session: snapshot or replay, then `sync`, then live, as notifications `event`; `event.ended` is the last one.";
    SessionDetach = "session.detach", Watch, false, session::DetachParams => Empty,
        "Ends a subscription.";
    SessionPrompt = "session.prompt", Drive, true, session::PromptParams => session::PromptOutput,
        "Queues a prompt in a session. It is on disk when the answer comes.";
    SessionShell = "session.shell", Drive, true, session::ShellParams => session::ShellOutput,
        "Runs a user's shell command in the session's directory, outside the sandbox. The model sees it with the next prompt.";
    SessionUnqueue = "session.unqueue", Drive, true, session::UnqueueParams => Empty,
        "Removes a queued prompt.";
    SessionEdit = "session.edit", Drive, true, session::EditParams => session::QueueOutput,
        "Replaces the text of a queued prompt.";
    SessionReorder = "session.reorder", Drive, true, session::ReorderParams => session::QueueOutput,
        "Moves a queued prompt to another position.";
    SessionInterrupt = "session.interrupt", Drive, true, session::OneParams => session::SignalOutput,
        "Stops the running turn.";
    SessionSignal = "session.signal", Drive, true, session::SignalParams => session::SignalOutput,
        "Signals a session: INT, TERM, KILL, PAUSE or RESUME.";
    SessionResume = "session.resume", Drive, true, session::ResumeParams => session::PromptOutput,
        "Continues work that a step or time limit stopped, with more steps or time.";
    SessionWait = "session.wait", Watch, false, session::WaitParams => session::WaitOutput,
        "Waits until the turn or the session has ended, or needs the user.";
    SessionSet = "session.set", Drive, true, session::SetParams => session::SessionSummary,
        "Changes settings of a session.";
    SessionRead = "session.read", Watch, false, session::ReadParams => session::ReadOutput,
        "Reads a page of durable events.";
    SessionEvent = "session.event", Watch, false, session::EventParams => session::PieceOutput,
        "Reads one durable event that is too large for a frame, piece by piece.";
    SessionSteps = "session.steps", Watch, false, session::StepsParams => session::StepsOutput,
        "Lists the requests of a session with times, tokens and calls.";
    SessionStep = "session.step", Watch, false, session::StepParams => session::PieceOutput,
        "Reads the exact request or answer of one step, piece by piece.";
    SessionOutput = "session.output", Watch, false, session::OutputParams => session::PieceOutput,
        "Reads the whole output or result of a call, piece by piece.";
    SessionCache = "session.cache", Watch, false, cache::CacheParams => cache::CacheOutput,
        "Lists cache hits per request: served, expected, and causes of misses.";
    SessionPrefix = "session.prefix", Watch, false, cache::PrefixParams => cache::PrefixOutput,
        "Returns the fixed start of requests part by part, with bytes and estimated tokens: of a session, or of a new one in a directory.";
    SessionInspect = "session.inspect", Watch, false, session::InspectParams => session::InspectOutput,
        "Returns details of a session: status, context, files, children, environment or budget.";
    SessionWorktree = "session.worktree", Drive, false, session::OneParams => worktree::WorktreeOutput,
        "Returns what changed in the git worktree of a session. If the session has exited and nothing changed, removes the worktree.";
    SessionClose = "session.close", Drive, true, session::OneParams => Empty,
        "Closes an interactive session; its next prompt opens it again.";
    SessionFork = "session.fork", Drive, true, history::ForkParams => history::ForkOutput,
        "Copies the conversation up to the end of a turn into a new session.";
    SessionRewind = "session.rewind", Drive, true, history::RewindParams => history::RewindOutput,
        "Goes back to the end of a turn: conversation, files, or both; or undoes that.";
    SessionCompact = "session.compact", Drive, true, compact::CompactParams => compact::CompactOutput,
        "Replaces old messages with a summary, previews that, or undoes it.";
    SessionReload = "session.reload", Drive, true, reload::ReloadParams => reload::ReloadOutput,
        "Reads the instruction files and the index of memory again and puts them in the fixed start of requests. Resets the cache if anything has changed.";
    SessionPin = "session.pin", Drive, true, compact::PinParams => Empty,
        "Pins or unpins a message or a turn: compactions keep it word for word.";
    SessionCheckpoints = "session.checkpoints", Watch, false, session::OneParams => history::CheckpointsOutput,
        "Lists the turns to rewind to, with the files that they changed.";
    SessionExport = "session.export", Watch, false, history::ExportParams => session::PieceOutput,
        "Exports a session as Markdown or JSON lines, piece by piece.";
    SessionDelete = "session.delete", Drive, true, history::DeleteParams => history::DeleteOutput,
        "Deletes a session for good. Its usage stays in the statistics.";
    SessionPrune = "session.prune", Drive, true, history::PruneParams => history::PruneOutput,
        "Deletes sessions that have been unused for a number of days.";
    GoalStart = "goal.start", Drive, true, goal::StartParams => goal::StartOutput,
        "Gives a session a goal: it works on by itself, turn after turn, until the goal ends.";
    GoalStatus = "goal.status", Watch, false, session::OneParams => goal::StatusOutput,
        "Returns the goal of a session, and how the last one ended.";
    GoalChange = "goal.change", Drive, true, goal::ChangeParams => goal::ChangeOutput,
        "Changes the limits of a goal. A goal that a limit has ended goes on if the limit is raised.";
    GoalStop = "goal.stop", Drive, true, goal::StopParams => goal::StopOutput,
        "Ends the goal of a session and stops the turn that works on it.";
    ProcessList = "process.list", Watch, false, process::ListParams => process::ListOutput,
        "Lists live sessions and the processes of their tools.";
    ProcessWait = "process.wait", Watch, false, process::WaitParams => process::WaitOutput,
        "Waits until the answer of `process.list` changes.";
    ProcessKill = "process.kill", Drive, true, process::KillParams => process::KillOutput,
        "Stops a background command.";
    InteractionList = "interaction.list", Watch, false, interaction::ListParams => interaction::ListOutput,
        "Lists open interactions: approvals, questions and plans; oldest first.";
    InteractionAnswer = "interaction.answer", Approve, true, interaction::AnswerParams => Empty,
        "Answers an interaction. The first answer counts.";
    PermissionExplain = "permission.explain", Watch, false, rules::ExplainParams => rules::ExplainOutput,
        "Judges a call without running it: its parts, the rule for each, the verdict.";
    RulesList = "rules.list", Watch, false, rules::ListParams => rules::ListOutput,
        "Lists permission rules in force with their origin and problems, page by page.";
    RulesRevoke = "rules.revoke", Drive, true, rules::RevokeParams => rules::RevokeOutput,
        "Revokes an allow rule: of a session, of the workspace, or of the user's config.";
    RulesCheck = "rules.check", Watch, false, rules::CheckParams => rules::CheckOutput,
        "Checks test cases: calls, rules, and expected verdicts.";
    HistorySearch = "history.search", Watch, false, history::SearchParams => history::SearchOutput,
        "Searches the messages of all sessions, best hits first.";
    HistoryAround = "history.around", Watch, false, history::AroundParams => history::AroundOutput,
        "Returns the messages before and after one of a session.";
    HistoryPrompts = "history.prompts", Watch, false, history::PromptsParams => history::PromptsOutput,
        "Returns the newest prompts that users wrote in the interactive sessions of a directory.";
    StatsQuery = "stats.query", Watch, false, history::StatsParams => history::StatsOutput,
        "Returns tokens and cost by day, model and session.";
    CommandList = "command.list", Watch, false, command::ListParams => command::ListOutput,
        "Lists the custom commands of a directory or a session, and the files that are left out.";
    AgentList = "agent.list", Watch, false, agent::ListParams => agent::ListOutput,
        "Lists the sub-agents of a directory or a session, and what is wrong with their files.";
    SkillList = "skill.list", Watch, false, skill::ListParams => skill::ListOutput,
        "Lists the skills of a directory or a session, and the files that are left out.";
    SymbolList = "symbol.list", Watch, false, symbol::ListParams => symbol::ListOutput,
        "Lists definitions in the source files of a directory, for references in prompts. Takes at most 2 s.";
    MemoryList = "memory.list", Watch, false, memory::ListParams => memory::ListOutput,
        "Lists the facts that a directory or a session reaches, and the files that are left out.";
    MemoryRead = "memory.read", Watch, false, memory::ReadParams => memory::FactOutput,
        "Returns a fact with its text.";
    MemorySearch = "memory.search", Watch, false, memory::SearchParams => memory::ListOutput,
        "Searches facts, best match first.";
    MemoryWrite = "memory.write", Drive, true, memory::WriteParams => memory::FactOutput,
        "Saves a fact, as the user's own act. The version before goes to the archive.";
    MemoryForget = "memory.forget", Drive, true, memory::ForgetParams => memory::FactOutput,
        "Moves a fact to the archive, as the user's own act.";
    MemoryRestore = "memory.restore", Drive, true, memory::RestoreParams => memory::FactOutput,
        "Makes an archived version of a fact active again.";
    HookList = "hook.list", Watch, false, hook::ListParams => hook::ListOutput,
        "Lists the hooks of a directory or a session, with trust, problems and last outcome.";
    HookReload = "hook.reload", Drive, true, hook::ReloadParams => hook::ListOutput,
        "Makes a session read its hooks again. They apply from the next event.";
    McpList = "mcp.list", Watch, false, mcp::ListParams => mcp::ListOutput,
        "Lists the MCP servers of a directory with their states and tools, and the entries that are ignored.";
    McpResources = "mcp.resources", Watch, false, mcp::ListParams => mcp::ResourcesOutput,
        "Lists the resources of the MCP servers of a directory that are ready. Starts none, and waits at most 3 s.";
    McpTest = "mcp.test", Drive, false, mcp::ServerParams => mcp::McpServer,
        "Starts an MCP server if it does not run, waits until it is ready or has failed, and returns its state.";
    McpRestart = "mcp.restart", Drive, true, mcp::RestartParams => Empty,
        "Restarts the process of an MCP server. Its running calls fail.";
    McpLogs = "mcp.logs", Watch, false, mcp::ServerParams => mcp::LogsOutput,
        "Returns the newest lines of an MCP server's standard error.";
    McpAdd = "mcp.add", Drive, true, mcp::AddParams => mcp::ListOutput,
        "Adds an MCP server to the user's `mcp.json`. New sessions have its tools.";
    McpLogin = "mcp.login", Drive, true, mcp::LoginParams => mcp::LoginOutput,
        "Begins the login to an MCP server: registers a client with its authorization server, and returns the address to open in a browser.";
    McpLoginFinish = "mcp.login_finish", Drive, true, mcp::LoginFinishParams => mcp::McpServer,
        "Completes a login with the address that the browser was redirected to: stores the tokens, starts the server, and returns its state.";
    McpLogout = "mcp.logout", Drive, true, mcp::ServerParams => mcp::LogoutOutput,
        "Deletes the login to an MCP server, and restarts the server without it.";
    McpRemove = "mcp.remove", Drive, true, mcp::RemoveParams => mcp::ListOutput,
        "Removes an MCP server from the user's `mcp.json`.";
    ProviderList = "provider.list", Watch, false, config::CheckParams => config::ProviderListOutput,
        "Lists providers and the state of their keys.";
    ConfigCheck = "config.check", Watch, false, config::CheckParams => config::CheckOutput,
        "Returns the settings in force with their origins, problems, and settings that an untrusted project may not set.";
    ConfigSet = "config.set", Drive, true, config::SetParams => config::SetOutput,
        "Changes a setting of the user's config; keeps comments and order.";
    ProviderSet = "provider.set", Drive, true, config::ProviderSetParams => config::SetOutput,
        "Adds or changes a provider in the user's config.";
    ProviderProbe = "provider.probe", Drive, false, config::ProviderProbeParams => config::ProviderProbeOutput,
        "Checks that a provider answers and accepts the key, and keeps its list of models.";
    CredentialSet = "credential.set", Drive, true, config::CredentialSetParams => config::CredentialSetOutput,
        "Stores or removes a key.";
    TrustGet = "trust.get", Watch, false, config::TrustGetParams => config::TrustOutput,
        "Returns whether a project is trusted, and its settings without effect.";
    TrustSet = "trust.set", Drive, true, config::TrustSetParams => config::TrustOutput,
        "Trusts a project with its shown config, or stops trusting it.";
    DoctorRun = "doctor.run", Watch, false, config::DoctorParams => config::DoctorOutput,
        "Checks the daemon: home, store, sandbox, config, providers. `rebuild_index` needs the role `drive`.";
}

/// JSON Schema (2020-12) of all methods, of the event envelope, and of every durable kind's data.
#[must_use]
pub fn schema() -> serde_json::Value {
    let mut generator = SchemaGenerator::default();
    let mut methods = serde_json::Map::new();
    for row in rows(&mut generator) {
        methods.insert(
            row.name.to_owned(),
            serde_json::json!({
                "about": row.about, "role": row.role, "mutates": row.mutates,
                "params": row.params, "result": row.output,
            }),
        );
    }
    let event = generator.subschema_for::<crate::Event>();
    let notification = generator.subschema_for::<session::EventNotification>();
    let ended = generator.subschema_for::<session::EndedNotification>();
    let by_kind = |rows: Vec<(&str, Schema)>| -> serde_json::Map<_, _> {
        let rows = rows.into_iter();
        rows.map(|(kind, schema)| (kind.to_owned(), schema.into()))
            .collect()
    };
    let records = by_kind(crate::Body::schemas(&mut generator));
    let live = by_kind(crate::live::Live::schemas(&mut generator));
    let definitions = generator.take_definitions(true);
    serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "protocol": crate::PROTOCOL, "methods": methods, "event": event, "notification": notification, "ended": ended,
        "records": records, "live": live, "$defs": definitions,
    })
}

#[cfg(test)]
mod tests;
