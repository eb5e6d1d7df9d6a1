//! `reasonix inspect`: look into a session.

use clap::ValueEnum;
use proto::hello::Role;
use proto::methods::SessionInspect;
use proto::params::session::{Block, BlockKind, InspectOutput, InspectParams, InspectPart};

use crate::exit::Error;
use crate::{commands, output, reach, text};

/// Look into a session: its state and settings, its context, the files it changed, its commands, its environment, its budget.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Pid, id, or name.
    session: String,
    /// What to look at.
    #[arg(value_enum, default_value_t = Part::Status)]
    part: Part,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Part {
    /// State, queue, settings, who is attached.
    Status,
    /// What a request holds now.
    Context,
    /// Files that its tools have changed.
    Files,
    /// Commands that run.
    Children,
    /// What its commands see of the environment.
    Env,
    /// What it, its project and the day may use, and have used.
    Budget,
}

/// Looks, and changes nothing.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::with("inspect", |options| options.role = Role::Watch).await?;
    let params = InspectParams {
        session: args.session,
        part: match args.part {
            Part::Status => InspectPart::Status,
            Part::Context => InspectPart::Context,
            Part::Files => InspectPart::Files,
            Part::Children => InspectPart::Children,
            Part::Env => InspectPart::Env,
            Part::Budget => InspectPart::Budget,
        },
    };
    let output = client.call::<SessionInspect>(&params).await?;
    if args.json {
        output::json(&output)?;
    } else {
        print(output)?;
    }
    Ok(0)
}

fn print(output: InspectOutput) -> Result<(), Error> {
    match output {
        output @ InspectOutput::Status { .. } => status(output),
        output @ InspectOutput::Context { .. } => context(output),
        InspectOutput::Files { changed } => {
            let rows: Vec<_> = changed
                .iter()
                .map(|file| {
                    let by = match (file.edited, file.by_command) {
                        (true, true) => "both",
                        (false, true) => "a command",
                        (_, false) => "edits",
                    };
                    let counted = file.added + file.removed > 0;
                    let lines = |sign: &str, lines: u64| match counted {
                        true => format!("{sign}{lines}"),
                        false => "-".to_owned(),
                    };
                    [
                        file.turn.to_string(),
                        output::ago(file.at),
                        by.to_owned(),
                        lines("+", file.added),
                        lines("−", file.removed),
                        output::from_here(&file.path),
                    ]
                })
                .collect();
            output::table(["TURN", "AGO", "BY", "ADDED", "REMOVED", "PATH"], &rows)
        }
        InspectOutput::Budget { nodes } => commands::budget::table(&nodes),
        InspectOutput::Children { children } => commands::ps::commands_table(&children),
        InspectOutput::Env {
            shown,
            hidden,
            lost,
            held_back,
        } => {
            for (name, value) in shown {
                output::line(&text::line(&format!("{name}={value}")))?;
            }
            for name in hidden {
                output::line(&text::line(&format!(
                    "{name} (only in the daemon's memory)"
                )))?;
            }
            for name in lost {
                output::line(&text::line(&format!(
                    "{name} (lost in a daemon restart; the next prompt from a client that has it sets it again)"
                )))?;
            }
            for name in held_back {
                output::line(&text::line(&format!(
                    "{name} (not passed to commands; allow it in `tools.shell.pass` if it is not a provider's key)"
                )))?;
            }
            Ok(())
        }
    }
}

/// A name and its value on a line.
fn row(name: &str, value: &str) -> Result<(), Error> {
    output::line(&format!("{:<14} {}", text::line(name), text::line(value)))
}

fn status(status: InspectOutput) -> Result<(), Error> {
    let InspectOutput::Status {
        summary,
        queue,
        settings,
        clients,
    } = status
    else {
        return Ok(());
    };
    row("session", &format!("{} ({})", summary.pid, summary.session))?;
    if let Some(name) = &summary.name {
        row("name", name)?;
    }
    let state = commands::ls::state(&summary);
    let held = commands::ls::held(&summary);
    row("state", &format!("{state} ({}){held}", summary.cause))?;
    if let Some(reason) = &summary.read_only {
        row("read-only", reason)?;
    }
    row("model", &summary.model)?;
    row("directory", &summary.cwd)?;
    let usage = &summary.usage;
    row("turns", &summary.turns.to_string())?;
    row(
        "tokens",
        &format!(
            "{} in ({} cached), {} out, {} requests",
            output::short(usage.prompt_tokens),
            output::short(usage.cached_tokens),
            output::short(usage.output_tokens),
            usage.requests
        ),
    )?;
    row("created", &summary.created_at.to_string())?;
    row("active", &format!("{} ago", output::ago(summary.active_at)))?;
    row("records", &summary.seq.to_string())?;
    row("questions", &summary.pending_interactions.to_string())?;
    row("background", &summary.children.to_string())?;
    for (name, value) in &settings {
        row(name, value)?;
    }
    for client in clients {
        let role = match client.role {
            Role::Watch => "watches",
            Role::Approve => "may answer",
            Role::Drive => "drives",
        };
        row("client", &format!("{} {role}", client.name))?;
    }
    for (index, queued) in queue.iter().enumerate() {
        row(
            &format!("queued {}", index + 1),
            &format!("by {}: {}", queued.by, queued.text),
        )?;
    }
    Ok(())
}

fn context(context: InspectOutput) -> Result<(), Error> {
    let InspectOutput::Context {
        tokens,
        window,
        prefix_sha256,
        prefix_bytes,
        messages,
        message_bytes,
        blocks,
    } = context
    else {
        return Ok(());
    };
    let share = match (tokens * 100).checked_div(window) {
        Some(percent) => format!(" of {} ({percent} %)", output::short(window)),
        None => " (context window unknown)".to_owned(),
    };
    row("tokens", &format!("{}{share}", output::short(tokens)))?;
    row(
        "prefix",
        &format!(
            "{} bytes, SHA-256 {prefix_sha256}",
            output::short(prefix_bytes)
        ),
    )?;
    row(
        "messages",
        &format!("{messages}, {} bytes", output::short(message_bytes)),
    )?;
    let rows: Vec<_> = blocks.iter().map(block).collect();
    output::table(["BLOCK", "TOKENS", "AGE", "CACHED", "WHAT"], &rows)
}

/// A line of the list. Tokens are estimated.
fn block(block: &Block) -> [String; 5] {
    let mut what = match block.kind {
        BlockKind::System => "system prompt",
        BlockKind::Tools => "tools",
        BlockKind::Older => "older messages",
        BlockKind::User => "user",
        BlockKind::Assistant => "model",
        BlockKind::Tool => "result",
        BlockKind::Summary => "summary",
    }
    .to_owned();
    if block.pinned {
        what.push_str(", pinned");
    }
    let cached = match block.cached {
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
    };
    [
        block
            .item
            .as_ref()
            .map_or_else(|| "-".to_owned(), |item| item.0.clone()),
        output::short(block.tokens),
        block.at.map_or_else(|| "-".to_owned(), output::ago),
        cached.to_owned(),
        what,
    ]
}
