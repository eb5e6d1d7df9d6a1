//! `reasonix help`: the commands by group, or the help of one command.

use clap::Command;
use clap::builder::{StyledStr, Styles};

use super::GROUPS;
use crate::exit::Error;
use crate::messages::daemon::Msg;
use crate::messages::help::{self, Msg as Help};
use crate::{near, output};

/// Options of `reasonix` that the overview shows.
const OPTIONS: [Help; 5] = [
    Help::Line1,
    Help::Line2,
    Help::Line3,
    Help::Line4,
    Help::Line5,
];

/// What may follow the name of the program.
const FORMS: [&str; 2] = [
    "reasonix [OPTIONS] [PROMPT]",
    "reasonix COMMAND [ARGUMENTS]",
];

/// List the commands, or explain one.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Command, for instance `run` or `daemon start`.
    command: Vec<String>,
    /// List all commands, including the rare ones.
    #[arg(long, conflicts_with = "command")]
    all: bool,
}

/// Prints the overview or the help of the command.
pub async fn run(args: Args) -> Result<u8, Error> {
    let text = if args.command.is_empty() {
        overview(&crate::command(), args.all)
    } else {
        let (command, name) = find(&args.command)?;
        let help = command.try_get_matches_from([name.as_str(), "--help"]);
        help.err().map(|help| help.render()).unwrap_or_default()
    };
    let text = if output::colour(&std::io::stdout()) {
        text.ansi().to_string()
    } else {
        text.to_string()
    };
    output::part(&text)?;
    Ok(0)
}

/// The commands in their groups; `all`: with the rare ones.
pub fn overview(root: &Command, all: bool) -> StyledStr {
    let head = Styles::styled();
    let head = head.get_header();
    let about = |command: &Command| help::sentence(&about(command));
    let mut text = format!(
        "{}\n\n{head}{}{head:#} {}\n       {}\n",
        about(root),
        say!(Help::Usage),
        FORMS[0],
        FORMS[1]
    );
    for (title, commands) in GROUPS {
        text.push_str(&format!("\n{head}{}:{head:#}\n", help::sentence(title)));
        for (name, mark) in *commands {
            let name = name.to_lowercase();
            if let Some(command) = root.find_subcommand(&name)
                && (all || mark.is_empty())
            {
                text.push_str(&format!("  {name:<11}  {}\n", about(command)));
            }
        }
    }
    text.push_str(&format!("\n{head}{}:{head:#}\n", say!(Help::Options)));
    for line in OPTIONS {
        text.push_str(&format!("{}\n", say!(line)));
    }
    text.push_str(&format!("\n{}\n", say!(Help::Footer)));
    text.into()
}

fn about(command: &Command) -> String {
    command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// The command with these words, and its full name.
pub fn find(words: &[String]) -> Result<(Command, String), Error> {
    let mut command = crate::command();
    command.build();
    let mut name = command.get_name().to_owned();
    for word in words {
        let Some(found) = command.find_subcommand(word) else {
            let names = command
                .get_subcommands()
                .filter(|command| !command.is_hide_set())
                .map(Command::get_name);
            return Err(Error::usage(
                say!(Msg::NoCommand, name, word),
                near::hint(word, names, say!(Msg::HelpAll)),
            ));
        };
        command = found.clone();
        name = format!("{name} {word}");
    }
    Ok((command, name))
}

#[cfg(test)]
mod tests;
