//! `reasonix export`: a session as a text, to be read or kept.

mod file;

use std::io::IsTerminal;
use std::path::PathBuf;

use client::Client;
use proto::hello::Role;
use proto::params::history::ExportFormat;

use crate::exit::{self, Error};
use crate::session_options::one_of;
use crate::signals::{OsSignal, Signals};
use crate::text::Cleaner;
use crate::{output, reach};

use file::Target;

/// Export a session as Markdown, or its events as JSON lines.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// Format of the export.
    #[arg(long, default_value = "markdown", value_name = "FORMAT", value_parser = one_of!(ExportFormat))]
    format: ExportFormat,
    /// Write to this file, completely or not at all [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file if it exists.
    #[arg(long, requires = "output")]
    force: bool,
}

/// Writes it, piece by piece. A signal leaves no partial file.
pub async fn run(args: Args) -> Result<u8, Error> {
    let Some(path) = args.output.clone().filter(|path| path.as_os_str() != "-") else {
        return print(args).await.map(|()| 0);
    };
    let mut signals = Signals::listen()?;
    let mut target = Target::open(path, args.force)?;
    let writing = async {
        let client = connect().await?;
        client
            .export(&args.session, args.format, |text| target.write(text))
            .await
    };
    tokio::select! {
        written = writing => written?,
        arrived = signals.next() => return Ok(match arrived {
            OsSignal::Int => exit::INTERRUPTED,
            OsSignal::Term | OsSignal::Hup => exit::TERMINATED,
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
    client
        .export(&args.session, args.format, |text| {
            if terminal {
                output::part(&cleaner.push(text))
            } else {
                output::part(text)
            }
        })
        .await
}
