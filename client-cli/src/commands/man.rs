//! `reasonix man`: the manual page of a command.

use clap::Command;

use crate::exit::Error;
use crate::{near, output};

/// Print the manual page of a command, or of the whole program, in the format of `man`.
///
/// For instance `reasonix man run | man -l -`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// For instance `run`, or `daemon start`.
    command: Vec<String>,
}

/// Prints it.
pub async fn run(args: Args) -> Result<u8, Error> {
    let page = page(&args.command)?;
    output::part(&page)?;
    Ok(0)
}

/// The page of a command.
fn page(words: &[String]) -> Result<String, Error> {
    let mut command = crate::command();
    command.build();
    let mut name = command.get_name().to_owned();
    for word in words {
        let names: Vec<String> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(|command| command.get_name().to_owned())
            .collect();
        let Some(found) = command.find_subcommand(word) else {
            let names = names.iter().map(String::as_str);
            return Err(Error::usage(
                format!("unknown command `{name} {word}`"),
                near::hint(word, names, "List the commands with `reasonix --help`."),
            ));
        };
        command = found.clone();
        name = format!("{name} {word}");
    }
    rendered(command, &name).map_err(|source| Error::io("write the page", source))
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
