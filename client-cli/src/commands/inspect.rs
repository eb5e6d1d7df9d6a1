//! `reasonix inspect`: look into a session.

use clap::ValueEnum;
use proto::hello::Role;
use proto::methods::SessionInspect;
use proto::params::session::{Block, BlockKind, InspectOutput, InspectParams, InspectPart};

use crate::exit::Error;
use crate::messages::Head;
use crate::messages::running::Msg;
use crate::{commands, output, reach, text};

/// Show details of a session: context, files, commands, budget.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// Part to show.
    #[arg(value_enum, default_value_t = Part::Status)]
    part: Part,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Part {
    /// State, queue, settings and attached clients.
    Status,
    /// Contents of the context.
    Context,
    /// Files changed by its tools.
    Files,
    /// Running commands.
    Children,
    /// Environment of its commands.
    Env,
    /// Usage and limits of the session, its project and the day.
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
                        (false, true) => say!(Msg::ACommand),
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
            output::table(
                [
                    Head::Turn,
                    Head::Ago,
                    Head::By,
                    Head::Added,
                    Head::Removed,
                    Head::Path,
                ],
                &rows,
            )
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
                output::line(&text::line(&say!(Msg::OnlyMemory, name)))?;
            }
            for name in lost {
                output::line(&text::line(&say!(Msg::LostAtRestart, name)))?;
            }
            for name in held_back {
                output::line(&text::line(&say!(Msg::NotPassed, name)))?;
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
        &say!(
            Msg::TokensOf,
            output::short(usage.prompt_tokens),
            output::short(usage.cached_tokens),
            output::short(usage.output_tokens),
            usage.requests
        ),
    )?;
    row("created", &summary.created_at.to_string())?;
    row("active", &say!(Msg::Ago, output::ago(summary.active_at)))?;
    row("records", &summary.seq.to_string())?;
    row("questions", &summary.pending_interactions.to_string())?;
    row("background", &summary.children.to_string())?;
    for (name, value) in &settings {
        row(name, value)?;
    }
    for client in clients {
        let role = match client.role {
            Role::Watch => "watches",
            Role::Approve => say!(Msg::MayAnswer),
            Role::Drive => "drives",
        };
        row("client", &format!("{} {role}", client.name))?;
    }
    for (index, queued) in queue.iter().enumerate() {
        row(
            &say!(Msg::QueuedNumber, index + 1),
            &say!(Msg::ByText, queued.by, queued.text),
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
        Some(percent) => say!(Msg::OfWindow, output::short(window), percent),
        None => say!(Msg::WindowUnknown).to_owned(),
    };
    row("tokens", &format!("{}{share}", output::short(tokens)))?;
    row(
        "prefix",
        &say!(Msg::BytesSha, output::short(prefix_bytes), prefix_sha256),
    )?;
    row(
        "messages",
        &say!(Msg::BytesOf, messages, output::short(message_bytes)),
    )?;
    let rows: Vec<_> = blocks.iter().map(block).collect();
    output::table(
        [
            Head::Block,
            Head::Tokens,
            Head::Age,
            Head::Cached,
            Head::What,
        ],
        &rows,
    )
}

/// A line of the list. Tokens are estimated.
fn block(block: &Block) -> [String; 5] {
    let mut what = match block.kind {
        BlockKind::System => say!(Msg::SystemPrompt),
        BlockKind::Tools => "tools",
        BlockKind::Older => say!(Msg::OlderMessages),
        BlockKind::User => "user",
        BlockKind::Assistant => "model",
        BlockKind::Tool => "result",
        BlockKind::Summary => "summary",
    }
    .to_owned();
    if block.pinned {
        what.push_str(say!(Msg::CommaPinned));
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
