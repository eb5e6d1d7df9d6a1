//! What `--json` of each command prints: JSON Schema, made of the very types that are printed.
//!
//! A command that gets `--json` gets a row here; a test prints each and compares.

use proto::params::config::{self, Check};
use proto::params::session::{InspectOutput, QueuedPrompt, SessionSummary, Step};
use proto::params::{cache, history, memory, process, rules};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::commands;
use crate::commands::signal::Sent;

/// What one command prints.
struct Row {
    /// The words after `reasonix`, and the option if that changes the output.
    command: &'static str,
    /// One value a line, as many as there are; else one line.
    lines: bool,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

/// One line of this.
const fn one<T: JsonSchema>(command: &'static str) -> Row {
    Row {
        command,
        lines: false,
        schema: SchemaGenerator::subschema_for::<T>,
    }
}

/// Such lines.
const fn lines<T: JsonSchema>(command: &'static str) -> Row {
    Row {
        command,
        lines: true,
        schema: SchemaGenerator::subschema_for::<T>,
    }
}

const ROWS: &[Row] = &[
    one::<commands::run::RunResult<'static>>("run"),
    one::<commands::run::RunResult<'static>>("goal"),
    one::<proto::params::goal::StatusOutput>("goal status"),
    one::<proto::params::goal::ChangeOutput>("goal change"),
    one::<Vec<SessionSummary>>("ls"),
    one::<SessionSummary>("show"),
    one::<SessionSummary>("rename"),
    one::<history::ForkOutput>("fork"),
    one::<history::RewindOutput>("rewind"),
    one::<history::CheckpointsOutput>("rewind --list"),
    one::<proto::params::compact::CompactOutput>("compact"),
    one::<proto::params::reload::ReloadOutput>("reload"),
    one::<SessionSummary>("model"),
    one::<InspectOutput>("budget"),
    one::<Vec<history::DeleteOutput>>("rm"),
    one::<history::PruneOutput>("rm --older-than"),
    one::<history::SearchOutput>("search"),
    one::<history::SearchOutput>("history search"),
    one::<history::AroundOutput>("history around"),
    one::<commands::stats::Shown<'static>>("stats"),
    one::<proto::params::hook::ListOutput>("hooks"),
    one::<proto::params::mcp::ListOutput>("mcp"),
    one::<proto::params::mcp::ListOutput>("mcp list"),
    one::<proto::params::mcp::ListOutput>("mcp add"),
    one::<Vec<commands::mcp::presets::ListedPreset>>("mcp presets"),
    one::<proto::params::mcp::ListOutput>("mcp remove"),
    one::<proto::params::mcp::McpServer>("mcp test"),
    one::<proto::params::mcp::LogsOutput>("mcp logs"),
    one::<proto::params::Empty>("mcp restart"),
    one::<proto::params::mcp::McpServer>("mcp login"),
    one::<proto::params::mcp::LogoutOutput>("mcp logout"),
    one::<proto::params::command::ListOutput>("commands"),
    one::<proto::params::agent::ListOutput>("agents"),
    one::<proto::params::skill::ListOutput>("skills"),
    one::<memory::ListOutput>("memory"),
    one::<memory::ListOutput>("memory list"),
    one::<memory::ListOutput>("memory search"),
    one::<memory::FactOutput>("memory show"),
    one::<memory::FactOutput>("memory add"),
    one::<memory::FactOutput>("memory edit"),
    one::<memory::FactOutput>("memory forget"),
    one::<memory::FactOutput>("memory restore"),
    one::<process::ListOutput>("ps"),
    one::<proto::params::session::PromptOutput>("send"),
    one::<Vec<QueuedPrompt>>("queue"),
    one::<InspectOutput>("inspect"),
    one::<Vec<Step>>("steps"),
    one::<cache::CacheOutput>("cache"),
    one::<cache::PrefixOutput>("prompt"),
    lines::<client::trace::Line>("strace"),
    lines::<proto::Event>("logs"),
    lines::<commands::wait::Waited>("wait"),
    lines::<Sent>("kill"),
    lines::<Sent>("pause"),
    lines::<Sent>("resume"),
    lines::<Sent>("close"),
    one::<Vec<commands::inbox::waits::Waits>>("inbox"),
    one::<commands::daemon::Status>("daemon status"),
    one::<Vec<commands::models::Row>>("models"),
    one::<commands::setup::SetUp>("setup"),
    one::<commands::login::LoggedIn>("login"),
    one::<Vec<config::Value>>("config"),
    one::<commands::config::Shown<'static>>("config get"),
    one::<config::SetOutput>("config set"),
    one::<config::SetOutput>("config unset"),
    one::<config::CheckOutput>("config check"),
    one::<String>("config path"),
    one::<config::TrustOutput>("trust"),
    one::<rules::ListOutput>("permissions"),
    one::<rules::ListOutput>("permissions list"),
    one::<rules::ExplainOutput>("permissions explain"),
    one::<rules::RevokeOutput>("permissions revoke"),
    lines::<commands::permissions::Line<'static>>("permissions check"),
    one::<Vec<Check>>("doctor"),
];

/// The names of all commands that print JSON.
pub fn commands() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.command)
}

/// The schema of what one command prints, complete in itself; `None`: it prints no JSON.
pub fn schema(command: &str) -> Option<Value> {
    let row = ROWS.iter().find(|row| row.command == command)?;
    let mut generator = generator();
    let mut schema = (row.schema)(&mut generator);
    schema.insert("$defs".to_owned(), generator.take_definitions(true).into());
    Some(schema.into())
}

/// Those of all commands.
pub fn all() -> Value {
    let mut generator = generator();
    let rows: Map<String, Value> = ROWS
        .iter()
        .map(|row| {
            let schema = (row.schema)(&mut generator);
            let shown = json!({"lines": row.lines, "schema": schema});
            (row.command.to_owned(), shown)
        })
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "commands": rows, "$defs": generator.take_definitions(true),
    })
}

/// Describes output: a field that is always there is required.
fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
}

#[cfg(test)]
mod tests;
