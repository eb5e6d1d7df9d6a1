//! `reasonix export`: a session as a text, to be read or kept.

mod file;

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::ValueEnum;
use client::{CallError, Client};
use proto::hello::Role;
use proto::methods::{Method, SessionExport};
use proto::params::history::{ExportFormat, ExportParams};

use crate::exit::{self, Error};
use crate::signals::{Arrived, Signals};
use crate::text::Cleaner;
use crate::{output, reach};

use file::Target;

/// Write a session out: as Markdown for people, or all its events as JSON lines.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Pid, id, or name.
    session: String,
    /// What to write.
    #[arg(long, value_enum, default_value_t = Format::Markdown, value_name = "FORMAT")]
    format: Format,
    /// Into this file, instead of standard output. It is there whole, or not at all.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file where it exists.
    #[arg(long, requires = "output")]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Markdown,
    Jsonl,
}

/// Writes it, piece by piece. A signal leaves no half of a file behind.
pub async fn run(args: Args) -> Result<u8, Error> {
    let Some(path) = args.output.clone().filter(|path| path.as_os_str() != "-") else {
        return print(args).await.map(|()| 0);
    };
    let mut signals = Signals::listen()?;
    let mut target = Target::open(path, args.force)?;
    let writing = async {
        let client = connect().await?;
        pieces(&client, &args, |text| target.write(text)).await
    };
    tokio::select! {
        written = writing => written?,
        arrived = signals.next() => return Ok(match arrived {
            Arrived::Int => exit::INTERRUPTED,
            Arrived::Term | Arrived::Hup => exit::TERMINATED,
        }),
    }
    output::progress(&target.finish()?);
    Ok(0)
}

async fn connect() -> Result<Client, Error> {
    reach::with("export", |options| options.role = Role::Watch).await
}

/// To standard output; on a terminal without what that would obey.
async fn print(args: Args) -> Result<(), Error> {
    let client = connect().await?;
    let terminal = std::io::stdout().is_terminal();
    let mut cleaner = Cleaner::default();
    pieces(&client, &args, |text| {
        if terminal {
            output::part(&cleaner.push(text))
        } else {
            output::part(text)
        }
    })
    .await
}

/// All of the text, piece by piece into `out`.
///
/// # Errors
/// There is no such session, or the daemon is gone; what `out` answers; pieces that do not fit together.
async fn pieces(
    client: &Client,
    args: &Args,
    mut out: impl FnMut(&str) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut offset = 0;
    loop {
        let params = ExportParams {
            session: args.session.clone(),
            format: match args.format {
                Format::Markdown => ExportFormat::Markdown,
                Format::Jsonl => ExportFormat::Jsonl,
            },
            offset,
        };
        let piece = client.call::<SessionExport>(&params).await?;
        out(&piece.text)?;
        let end = offset + piece.text.len() as u64;
        match piece.next {
            None if end == piece.total => return Ok(()),
            Some(next) if next == end && !piece.text.is_empty() => offset = next,
            _ => {
                let method = SessionExport::NAME.to_owned();
                return Err(CallError::Pieces { method }.into());
            }
        }
    }
}
