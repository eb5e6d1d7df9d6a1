//! Commands and options as other agents name them, and what does the same here. Only asked where the arguments are wrong.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use client::text;

use crate::exit::Error;
use crate::messages::talk::Msg;

/// Their commands.
const COMMANDS: &[(&str, &str)] = &[
    ("exec", "reasonix run"),
    ("e", "reasonix run"),
    ("ask", "reasonix run"),
    ("new", "reasonix"),
    ("continue", "reasonix -c"),
    ("list", "reasonix ls"),
    ("sessions", "reasonix ls"),
    ("auth", "reasonix login"),
    ("logout", "reasonix login PROVIDER --forget"),
    ("init", "reasonix setup"),
    ("providers", "reasonix models"),
    ("usage", "reasonix stats"),
    ("cost", "reasonix stats"),
    ("status", "reasonix daemon status"),
    ("serve", "reasonix daemon start"),
    ("stop", "reasonix kill SESSION"),
    ("interrupt", "reasonix kill -s INT SESSION"),
    ("cancel", "reasonix kill -s INT SESSION"),
    ("delete", "reasonix rm SESSION"),
    ("remove", "reasonix rm SESSION"),
    ("completion", "reasonix completions"),
    ("review", "reasonix run /review"),
];

/// Their options.
const OPTIONS: &[(&str, &str)] = &[
    ("--yolo", "--approval-mode yolo"),
    ("--dangerously-skip-permissions", "--approval-mode yolo"),
    (
        "--dangerously-bypass-approvals-and-sandbox",
        "--approval-mode yolo",
    ),
    ("--full-auto", "--approval-mode auto"),
    ("--auto", "--approval-mode auto"),
    ("--permission-mode", "--approval-mode MODE"),
    ("--ask-for-approval", "--approval-mode MODE"),
    ("-a", "--approval-mode MODE"),
    ("--sandbox", "--read-only"),
    ("--last", "reasonix -c"),
    ("--allowedTools", "--allow"),
    ("--allowed-tools", "--allow"),
    ("--disallowedTools", "--deny"),
    ("--disallowed-tools", "--deny"),
    ("--max-turns", "--max-steps N"),
    ("--cd", "--cwd"),
    ("-C", "--cwd"),
    ("--output-schema", "--json-schema FILE"),
    ("--fork-session", "--fork"),
    ("--background", "--detach"),
];

/// The error that names what does it here; `None`: nothing of the arguments is known.
pub fn error(error: &clap::Error, arguments: &[OsString]) -> Option<Error> {
    if !matches!(
        error.kind(),
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand
    ) {
        return None;
    }
    if let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) {
        let name = argument.split('=').next().unwrap_or_default();
        if let Some((_, ours)) = OPTIONS.iter().find(|row| row.0 == name) {
            let what = say!(Msg::UnknownOption, text::line(name));
            return Some(Error::usage(what, say!(Msg::UseInstead, ours)));
        }
    }
    let command = arguments.get(1)?.to_str()?;
    let ours = command_here(command)?;
    let what = say!(Msg::UnknownWord, command);
    Some(Error::usage(what, say!(Msg::UseInstead, ours)))
}

/// What does here what another agent's command does.
pub fn command_here(word: &str) -> Option<&'static str> {
    let mut rows = COMMANDS.iter();
    rows.find(|row| row.0 == word).map(|row| row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_is_accepted_and_what_it_is_named_for_is_not() {
        let command = crate::command();
        let known = |name: &str| command.find_subcommand(name).is_some();
        for (foreign, ours) in COMMANDS {
            assert!(!known(foreign), "{foreign} is ours");
            let mut words = ours.split(' ').skip(1);
            assert!(
                words
                    .next()
                    .is_none_or(|word| word.starts_with('-') || known(word)),
                "{ours}"
            );
        }
        let run = command.find_subcommand("run").expect("run");
        let has = |name: &str| {
            run.get_arguments()
                .any(|argument| argument.get_long() == Some(name))
        };
        for (foreign, ours) in OPTIONS {
            let name = |option: &str| {
                option
                    .trim_start_matches('-')
                    .split(' ')
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            };
            assert!(!has(&name(foreign)), "{foreign} is ours");
            assert!(ours.starts_with("reasonix ") || has(&name(ours)), "{ours}");
        }
    }
}
