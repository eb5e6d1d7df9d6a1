//! `reasonix inspect`: look into a session.

use clap::ValueEnum;
use proto::hello::Role;
use proto::methods::SessionInspect;
use proto::params::session::{Block, BlockKind, InspectOutput, InspectParams, InspectPart};

use crate::exit::Error;
use crate::messages::running::Msg;
use crate::messages::{Head, Label, SessionSetting, Thing, language, translated};
use crate::{commands, output, reach, text};

/// Show details of a session: context, files, commands, budget.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// Part to show.
    #[arg(value_enum, default_value_t = InspectedPart::Status)]
    part: InspectedPart,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum InspectedPart {
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
            InspectedPart::Status => InspectPart::Status,
            InspectedPart::Context => InspectPart::Context,
            InspectedPart::Files => InspectPart::Files,
            InspectedPart::Children => InspectPart::Children,
            InspectedPart::Env => InspectPart::Env,
            InspectedPart::Budget => InspectPart::Budget,
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
                        (true, true) => say!(Msg::Both),
                        (false, true) => say!(Msg::ACommand),
                        (_, false) => say!(Msg::Edits),
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
                        output::relative_to_current_dir(&file.path),
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
    output::fact(
        Label::Session,
        &format!("{} ({})", summary.pid, summary.session),
    )?;
    if let Some(name) = &summary.name {
        output::fact(Label::Name, name)?;
    }
    let state = commands::ls::state(&summary);
    let held = commands::ls::held(&summary);
    output::fact(
        Label::State,
        &format!("{state} ({}){held}", translated(&summary.cause)),
    )?;
    if let Some(reason) = &summary.read_only {
        output::fact(Label::ReadOnly, &translated(reason))?;
    }
    output::fact(Label::Model, &summary.model)?;
    output::fact(Label::Directory, &summary.cwd)?;
    let usage = &summary.usage;
    output::fact(Label::Turns, &summary.turns.to_string())?;
    output::fact(
        Label::Tokens,
        &say!(
            Msg::TokensOf,
            output::short(usage.prompt_tokens),
            output::short(usage.cached_tokens),
            output::short(usage.output_tokens),
            output::counted(usage.requests, Thing::Request)
        ),
    )?;
    output::fact(Label::Created, &summary.created_at.to_string())?;
    output::fact(
        Label::Active,
        &say!(Msg::Ago, output::ago(summary.active_at)),
    )?;
    output::fact(Label::Records, &summary.seq.to_string())?;
    output::fact(Label::Questions, &summary.pending_interactions.to_string())?;
    output::fact(Label::Background, &summary.children.to_string())?;
    // Shown above, as they are in force.
    let others = settings
        .iter()
        .filter(|(name, _)| !["model", "name"].contains(&name.as_str()));
    for (name, value) in others {
        output::named(SessionSetting::shown(language(), name), value)?;
    }
    for client in clients {
        let role = match client.role {
            Role::Watch => say!(Msg::Watches),
            Role::Approve => say!(Msg::MayAnswer),
            Role::Drive => say!(Msg::Drives),
        };
        output::fact(Label::Client, &format!("{} {role}", client.name))?;
    }
    for (index, queued) in queue.iter().enumerate() {
        output::named(
            &say!(Msg::QueuedNumber, index + 1),
            &say!(Msg::ByText, queued.by, queued.text),
        )?;
    }
    Ok(())
}

fn context(context: InspectOutput) -> Result<(), Error> {
    let InspectOutput::Context {
        tokens,
        estimated,
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
    let how = match estimated {
        true => say!(Msg::Estimated),
        false => "",
    };
    let tokens = output::short(tokens);
    output::fact(Label::Tokens, &format!("{tokens}{share}{how}"))?;
    output::fact(
        Label::Prefix,
        &say!(Msg::BytesSha, output::short(prefix_bytes), prefix_sha256),
    )?;
    output::fact(
        Label::Messages,
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
        BlockKind::Tools => say!(Msg::Tools),
        BlockKind::Older => say!(Msg::OlderMessages),
        BlockKind::User => say!(Msg::User),
        BlockKind::Assistant => say!(Msg::Model),
        BlockKind::Tool => say!(Msg::Result),
        BlockKind::Summary => say!(Msg::Summary),
    }
    .to_owned();
    if block.pinned {
        what.push_str(say!(Msg::CommaPinned));
    }
    let cached = match block.cached {
        Some(true) => say!(Msg::Yes),
        Some(false) => say!(Msg::No),
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
