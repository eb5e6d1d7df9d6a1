//! `reasonix man`: the manual page of a command.

use clap::Command;

use crate::exit::Error;
use crate::messages::stored::Msg;
use crate::output;

/// Print a manual page in the format of `man`.
///
/// For instance `reasonix man run | man -l -`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Command, for instance `run` or `daemon start` [default: the whole program].
    command: Vec<String>,
}

/// Prints it.
pub async fn run(args: Args) -> Result<u8, Error> {
    let (command, name) = super::help::find(&args.command)?;
    let page = rendered(command, &name).map_err(|source| Error::io(say!(Msg::DoPage), source))?;
    output::part(&page)?;
    Ok(0)
}

fn rendered(command: Command, name: &str) -> std::io::Result<String> {
    let title = name.replace(' ', "-");
    // The whole name, as the page of a command of a program is called.
    let man = clap_mangen::Man::new(command.display_name(title.clone()))
        .title(title)
        .source(format!("reasonix {}", proto::VERSION))
        .manual("Reasonix");
    let mut page = Vec::new();
    man.render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
