//! `reasonix prompt`: the frozen prefix that every request of a session begins with.

use std::io::IsTerminal;

use proto::hello::Role;
use proto::methods::SessionPrefix;
use proto::params::cache::{PrefixKind, PrefixOutput, PrefixParams, PrefixPart};

use crate::exit::Error;
use crate::messages::Head;
use crate::messages::cost::Msg;
use crate::text::Cleaner;
use crate::{output, reach};

/// Show the fixed start of each request: system prompt and tools.
///
/// Without a session: what a new session here would send.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: Option<String>,
    /// Model of the new session [default: the configured one].
    #[arg(short, long, conflicts_with = "session")]
    model: Option<String>,
    /// Print the exact bytes that are sent, one part per line.
    #[arg(long)]
    raw: bool,
    /// Print JSON, with the text of each part.
    #[arg(long, conflicts_with = "raw")]
    json: bool,
}

/// Prints it, all pages. No session is made.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::with("prompt", |options| options.role = Role::Watch).await?;
    let cwd = super::here(args.session.is_none())?;
    let keys = client.credentials().await.into_keys().collect();
    let params = PrefixParams {
        session: args.session,
        cwd,
        model: args.model,
        keys,
        after: 0,
    };
    let answer = client.all::<SessionPrefix>(params).await?;
    if args.json {
        output::json(&answer)?;
    } else if args.raw {
        raw(&answer.parts)?;
    } else {
        table(&answer)?;
    }
    Ok(0)
}

/// On a terminal without what that would obey.
fn raw(parts: &[PrefixPart]) -> Result<(), Error> {
    let terminal = std::io::stdout().is_terminal();
    for part in parts {
        if terminal {
            output::line(&Cleaner::default().push(&part.text))?;
        } else {
            output::part(&part.text)?;
            output::part("\n")?;
        }
    }
    Ok(())
}

fn table(answer: &PrefixOutput) -> Result<(), Error> {
    let rows: Vec<_> = answer.parts.iter().map(row).collect();
    output::table([Head::Bytes, Head::Tokens, Head::Part], &rows)?;
    let tokens: u64 = answer.parts.iter().map(|part| part.tokens).sum();
    let how = match answer.measured {
        true => say!(Msg::FromCount),
        false => say!(Msg::FourBytes),
    };
    output::line(&say!(
        Msg::PromptSum,
        output::bytes(answer.bytes),
        tokens,
        how,
        answer.provider,
        answer.model
    ))?;
    output::line(&format!("sha256 {}", answer.sha256))
}

fn row(part: &PrefixPart) -> [String; 3] {
    let what = match (part.kind, part.name.as_str()) {
        (PrefixKind::System, _) => say!(Msg::SystemPrompt).to_owned(),
        (PrefixKind::Instructions, name) if part.untrusted => {
            say!(Msg::UntrustedInstructionFile, name)
        }
        (PrefixKind::Instructions, name) => say!(Msg::InstructionFile, name),
        (PrefixKind::Skills, _) => say!(Msg::SkillIndex).to_owned(),
        (PrefixKind::Memory, _) => say!(Msg::MemoryIndex).to_owned(),
        (PrefixKind::Tool, "") => say!(Msg::Tools).to_owned(),
        (PrefixKind::Tool, name) => say!(Msg::Tool, name),
        (PrefixKind::Extra, _) => say!(Msg::ExtraParameters).to_owned(),
    };
    [part.bytes.to_string(), part.tokens.to_string(), what]
}
