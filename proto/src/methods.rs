//! The method table. From here come the server's dispatch, the typed client, the schema and the reference.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::hello::{HelloOutput, HelloParams, Role};
use crate::params::{
    Empty, cache, compact, config, daemon, history, hook, interaction, process, rules, session,
};

/// One method of the protocol.
pub trait Method {
    const NAME: &'static str;
    /// The least role that may call it.
    const ROLE: Role;
    /// Whether it changes anything. Mutating methods take a `request_id` where repeating them would matter.
    const MUTATES: bool;
    /// One sentence for the reference.
    const ABOUT: &'static str;
    type Params: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
    type Output: Clone + Serialize + DeserializeOwned + JsonSchema + Send + 'static;
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
        "The first call of a connection: versions, role, who is there.";
    DaemonStatus = "daemon.status", Watch, false, Empty => daemon::StatusOutput,
        "Versions, uptime, memory, sessions, clients, problems.";
    DaemonShutdown = "daemon.shutdown", Drive, true, daemon::ShutdownParams => Empty,
        "Stops the daemon: at once, or when the last turn has ended.";
    SessionCreate = "session.create", Drive, true, session::CreateParams => session::CreateOutput,
        "Makes a session, with its first prompt in the same commit.";
    SessionList = "session.list", Watch, false, session::ListParams => session::ListOutput,
        "Stored sessions, newest first, page by page.";
    SessionGet = "session.get", Watch, false, session::OneParams => session::SessionSummary,
        "One session in short.";
    SessionAttach = "session.attach", Watch, false, session::AttachParams => session::AttachOutput,
        "Follows a session: snapshot or replay, then `sync`, then live, as notifications `event`; `event.ended` is the last one.";
    SessionDetach = "session.detach", Watch, false, session::DetachParams => Empty,
        "Ends a subscription.";
    SessionPrompt = "session.prompt", Drive, true, session::PromptParams => session::PromptOutput,
        "Gives a session a prompt. The answer means: it is on disk.";
    SessionUnqueue = "session.unqueue", Drive, true, session::UnqueueParams => Empty,
        "Takes back a prompt that has not started.";
    SessionEdit = "session.edit", Drive, true, session::EditParams => session::QueueOutput,
        "Gives a prompt that has not started other words.";
    SessionReorder = "session.reorder", Drive, true, session::ReorderParams => session::QueueOutput,
        "Gives a prompt that has not started another place in the queue.";
    SessionInterrupt = "session.interrupt", Drive, true, session::OneParams => session::SignalOutput,
        "Stops the running turn.";
    SessionSignal = "session.signal", Drive, true, session::SignalParams => session::SignalOutput,
        "INT, TERM, KILL, PAUSE or RESUME.";
    SessionWait = "session.wait", Watch, false, session::WaitParams => session::WaitOutput,
        "Answers when the turn or the session has ended, or a person is needed.";
    SessionSet = "session.set", Drive, true, session::SetParams => session::SessionSummary,
        "Changes settings of a session.";
    SessionRead = "session.read", Watch, false, session::ReadParams => session::ReadOutput,
        "A page of durable events.";
    SessionEvent = "session.event", Watch, false, session::EventParams => session::PieceOutput,
        "The data of one durable event, piece by piece: for those that are too large for a frame.";
    SessionSteps = "session.steps", Watch, false, session::StepsParams => session::StepsOutput,
        "Answers of the model with their times, tokens and calls.";
    SessionStep = "session.step", Watch, false, session::StepParams => session::PieceOutput,
        "Exactly what one step sent, or what it got, piece by piece.";
    SessionOutput = "session.output", Watch, false, session::OutputParams => session::PieceOutput,
        "All that a call printed, or else what it returned, piece by piece.";
    SessionCache = "session.cache", Watch, false, cache::CacheParams => cache::CacheOutput,
        "What the provider's cache served of each request, what was to be expected, and why it missed.";
    SessionPrefix = "session.prefix", Watch, false, cache::PrefixParams => cache::PrefixOutput,
        "The frozen prefix part by part, with bytes and estimated tokens: of a session, or of a new one in a directory.";
    SessionInspect = "session.inspect", Watch, false, session::InspectParams => session::InspectOutput,
        "Looks into a session: status, context, files, children, environment.";
    SessionClose = "session.close", Drive, true, session::OneParams => Empty,
        "Ends an interactive session; it can be resumed.";
    SessionFork = "session.fork", Drive, true, history::ForkParams => history::ForkOutput,
        "Makes a session that begins with the same conversation, up to the end of a turn.";
    SessionRewind = "session.rewind", Drive, true, history::RewindParams => history::RewindOutput,
        "Goes back to the end of a turn: conversation, files, or both; or takes that back.";
    SessionCompact = "session.compact", Drive, true, compact::CompactParams => compact::CompactOutput,
        "Folds old messages into a summary, says what that would do, or takes it back.";
    SessionPin = "session.pin", Drive, true, compact::PinParams => Empty,
        "Keeps a message, or a turn, word for word in every compaction; or no longer.";
    SessionCheckpoints = "session.checkpoints", Watch, false, session::OneParams => history::CheckpointsOutput,
        "Turns that can be gone back to, with the files that they changed.";
    SessionExport = "session.export", Watch, false, history::ExportParams => session::PieceOutput,
        "A session as Markdown or as JSON lines, piece by piece.";
    SessionDelete = "session.delete", Drive, true, history::DeleteParams => history::DeleteOutput,
        "Deletes a session for good. What it used stays in the statistics.";
    SessionPrune = "session.prune", Drive, true, history::PruneParams => history::PruneOutput,
        "Deletes sessions that nobody has used for long.";
    ProcessList = "process.list", Watch, false, process::ListParams => process::ListOutput,
        "What runs: sessions and the processes of their tools.";
    ProcessKill = "process.kill", Drive, true, process::KillParams => process::KillOutput,
        "Stops a command that runs in the background.";
    InteractionList = "interaction.list", Watch, false, interaction::ListParams => interaction::ListOutput,
        "What waits for the user: approvals of calls, questions and plans of models; oldest first.";
    InteractionAnswer = "interaction.answer", Approve, true, interaction::AnswerParams => Empty,
        "Answers one of them. The first answer counts.";
    PermissionExplain = "permission.explain", Watch, false, rules::ExplainParams => rules::ExplainOutput,
        "What would become of a call: its parts, the rule for each, the verdict. Nothing is done.";
    RulesList = "rules.list", Watch, false, rules::ListParams => rules::ListOutput,
        "Permission rules in force, where each stands, and what is wrong with them; page by page.";
    RulesRevoke = "rules.revoke", Drive, true, rules::RevokeParams => rules::RevokeOutput,
        "Takes back what was allowed: in a session, always, or in the user's own config.";
    RulesCheck = "rules.check", Watch, false, rules::CheckParams => rules::CheckOutput,
        "Runs cases: calls under rules, and the verdicts that are right.";
    HistorySearch = "history.search", Watch, false, history::SearchParams => history::SearchOutput,
        "Messages of all sessions that hold some words.";
    StatsQuery = "stats.query", Watch, false, history::StatsParams => history::StatsOutput,
        "Tokens and cost by day, model and session.";
    HookList = "hook.list", Watch, false, hook::ListParams => hook::ListOutput,
        "Hooks of a directory or a session: what runs when, whether it is trusted or broken, how it went last.";
    HookReload = "hook.reload", Drive, true, hook::ReloadParams => hook::ListOutput,
        "Has a session read its hooks again. They count for what is asked next.";
    ProviderList = "provider.list", Watch, false, config::CheckParams => config::ProviderListOutput,
        "Configured providers, and whether they have a key.";
    ConfigCheck = "config.check", Watch, false, config::CheckParams => config::CheckOutput,
        "Settings in force with their origins, problems, and what an untrusted project may not set.";
    ConfigSet = "config.set", Drive, true, config::SetParams => config::SetOutput,
        "Changes a setting of the user's own config; comments and order stay.";
    ProviderSet = "provider.set", Drive, true, config::ProviderSetParams => config::SetOutput,
        "Adds or changes a provider in the user's own config.";
    ProviderProbe = "provider.probe", Drive, false, config::ProviderProbeParams => config::ProviderProbeOutput,
        "Asks a provider whether it can be reached and takes the key. Sends no prompt.";
    CredentialSet = "credential.set", Drive, true, config::CredentialSetParams => config::CredentialSetOutput,
        "Stores a key, or forgets it.";
    TrustGet = "trust.get", Watch, false, config::TrustGetParams => config::TrustOutput,
        "Whether a project's config may take effect, and what is held back.";
    TrustSet = "trust.set", Drive, true, config::TrustSetParams => config::TrustOutput,
        "Trusts a project's config as it was shown, or stops trusting it.";
    DoctorRun = "doctor.run", Watch, false, config::DoctorParams => config::DoctorOutput,
        "Checks the daemon's side: home, store, confinement, config, providers. `rebuild_index` takes the role `drive`.";
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
