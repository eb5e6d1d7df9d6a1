//! Commands and options as other agents name them, and what does the same here. Only asked where the arguments are wrong.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use client::text;

use crate::commands::bare::quoted;
use crate::exit::Error;
use crate::messages::talk::Msg;

/// What runs a prompt here.
const RUN: &str = "reasonix run";

/// Their commands.
const COMMANDS: &[(&str, &str)] = &[
    ("exec", RUN),
    ("e", RUN),
    ("ask", RUN),
    ("new", "reasonix"),
    ("continue", "reasonix -c"),
    ("list", "reasonix ls"),
    ("sessions", "reasonix ls"),
    ("auth", "reasonix login"),
    ("logout", "reasonix login PROVIDER --forget"),
    ("init", "reasonix run /init"),
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
    ("--ask-for-approval", "--approval-mode MODE"),
    ("-a", "--approval-mode MODE"),
    ("--last", "reasonix -c"),
    ("--resume", "--session N"),
    ("--profile", "--preset"),
    ("--oss", "--model PROVIDER/MODEL"),
    ("--allowedTools", "--allow"),
    ("--allowed-tools", "--allow"),
    ("--disallowedTools", "--deny"),
    ("--disallowed-tools", "--deny"),
    ("--max-turns", "--max-steps N"),
    ("--output-schema", "--json-schema FILE"),
    ("--fork-session", "--fork"),
    ("--background", "--detach"),
];

/// Their options that nothing here stands for by its name alone.
const EXPLAINED: &[(&str, Msg)] = &[
    ("--permission-mode", Msg::ForPermissionMode),
    ("--sandbox", Msg::ForSandbox),
    ("--cd", Msg::ForDirectory),
    ("-C", Msg::ForDirectory),
    ("--output-last-message", Msg::ForLastMessage),
    ("-o", Msg::ForLastMessage),
    ("--skip-git-repo-check", Msg::ForNoRepository),
];

/// Those of them that have no value where the option here has one: it has to be given.
const WITHOUT_VALUE: [&str; 1] = ["--oss"];

/// What shows the config elsewhere: here the command alone does.
const SHOWS_CONFIG: [&str; 2] = ["list", "show"];

/// The options behind which a format stands, and formats as other agents name them.
const FORMAT_OPTIONS: [&str; 2] = ["--output-format", "--input-format"];
const FORMATS: [&str; 2] = ["stream-json", "streaming-json"];

/// The signal that an option of the system's `kill` names, where sessions have it: `-KILL`, `-SIGINT`, `-9`.
fn signal(option: &str) -> Option<&'static str> {
    let name = option.strip_prefix('-')?.to_ascii_uppercase();
    match name.strip_prefix("SIG").unwrap_or(&name) {
        "INT" | "2" => Some("INT"),
        "TERM" | "15" => Some("TERM"),
        "KILL" | "9" => Some("KILL"),
        _ => None,
    }
}

/// The error that names what does it here; `None`: nothing of the arguments is known.
pub fn error(error: &clap::Error, arguments: &[OsString]) -> Option<Error> {
    let words: Vec<_> = arguments.iter().filter_map(|word| word.to_str()).collect();
    if error.kind() == ErrorKind::InvalidValue {
        let value = |kind| match error.get(kind) {
            Some(ContextValue::String(text)) => Some(text.as_str()),
            _ => None,
        };
        let argument = value(ContextKind::InvalidArg)?;
        let mut options = FORMAT_OPTIONS.into_iter();
        let option = options.find(|option| argument.starts_with(option))?;
        let format = value(ContextKind::InvalidValue)?;
        if !FORMATS.contains(&format) {
            return None;
        }
        let what = say!(Msg::UnknownFormat, format);
        let ours = format!("{option} jsonl");
        return Some(Error::usage(what, say!(Msg::UseInstead, ours)));
    }
    if !matches!(
        error.kind(),
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand
    ) {
        return None;
    }
    if let Some(ours) = words.get(1).and_then(|command| command_here(command)) {
        let what = say!(Msg::UnknownWord, text::line(words[1]));
        let line = with_rest(ours, &words[2..]);
        let hint = say!(Msg::UseInstead, line.as_deref().unwrap_or(ours));
        return Some(Error::usage(what, hint));
    }
    if words.get(1) == Some(&"kill")
        && let Some((word, signal)) = words.iter().find_map(|word| Some((word, signal(word)?)))
    {
        let what = say!(Msg::UnknownOption, text::line(word));
        let ours = format!("--signal {signal}");
        return Some(Error::usage(what, say!(Msg::UseInstead, ours)));
    }
    if let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) {
        let name = argument.split('=').next().unwrap_or_default();
        let row = OPTIONS.iter().find(|row| row.0 == name);
        // Of a list it means something else.
        if let Some((_, ours)) = row.filter(|_| name != "-a" || begins_work(&words)) {
            let what = say!(Msg::UnknownOption, text::line(name));
            return Some(Error::usage(what, say!(Msg::UseInstead, ours)));
        }
        if let Some((_, hint)) = EXPLAINED.iter().find(|row| row.0 == name) {
            let what = say!(Msg::UnknownOption, text::line(name));
            return Some(Error::usage(what, say!(*hint)));
        }
    }
    let command = words.get(1)?;
    if let (&"config", Some(shows)) = (
        command,
        words.get(2).filter(|word| SHOWS_CONFIG.contains(word)),
    ) {
        let what = say!(Msg::UnknownWord, shows);
        return Some(Error::usage(what, say!(Msg::UseInstead, "reasonix config")));
    }
    None
}

/// Whether a line is one of the commands that begin work, or none.
fn begins_work(words: &[&str]) -> bool {
    const COMMANDS: [&str; 4] = ["fork", "goal", "run", "chat"];
    let known = |word: &&str| crate::command().find_subcommand(word).is_some();
    let command = words.iter().skip(1).find(|word| known(word));
    command.is_none_or(|command| COMMANDS.contains(command))
}

/// Whether another agent has this option, under another name than here.
pub fn has_option(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or_default();
    OPTIONS.iter().any(|row| row.0 == name)
}

/// The whole line for `run`, with options as they are named here; `None`: it would not be accepted either.
fn with_rest(ours: &str, rest: &[&str]) -> Option<String> {
    if ours != RUN || rest.is_empty() {
        return None;
    }
    let rest = for_run(rest);
    let words = rest.iter().map(String::as_str);
    let line = RUN.split(' ').chain(words);
    crate::command().try_get_matches_from(line).ok()?;
    let rest: Vec<String> = rest.iter().map(|word| quoted(word)).collect();
    Some(format!("{RUN} {}", rest.join(" ")))
}

/// Words as `run` takes them: options of other agents and of the interface by their names there.
pub fn for_run(words: &[&str]) -> Vec<String> {
    words.iter().flat_map(|word| one_for_run(word)).collect()
}

fn one_for_run(word: &str) -> Vec<String> {
    if FORMATS.contains(&word) {
        return vec!["jsonl".to_owned()];
    }
    let (name, value) = match word.split_once('=') {
        Some((name, value)) if name.starts_with('-') => (name, Some(value)),
        Some(_) | None => (word, None),
    };
    let ours = match name {
        "-r" => Some("--session N"),
        name => OPTIONS.iter().find(|row| row.0 == name).map(|row| row.1),
    };
    // The value follows already. One that leads to another command has no name in `run`.
    let mut ours: Vec<String> = match ours.filter(|ours| ours.starts_with('-')) {
        Some(ours) => ours
            .split(' ')
            .filter(|part| WITHOUT_VALUE.contains(&name) || !is_placeholder(part)),
        None => return with_format(name, value, word),
    }
    .map(str::to_owned)
    .collect();
    if let (Some(last), Some(value)) = (ours.last_mut(), value) {
        last.push('=');
        last.push_str(value);
    }
    ours
}

/// An option as it was given, but for the name of a format.
fn with_format(name: &str, value: Option<&str>, word: &str) -> Vec<String> {
    match value {
        Some(format) if FORMATS.contains(&format) => vec![format!("{name}=jsonl")],
        Some(_) | None => vec![word.to_owned()],
    }
}

/// Whether a word of the table is a placeholder of a value: `MODE`, `N`.
fn is_placeholder(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_uppercase() || c == '/')
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
    fn hints_for_other_agents_commands_name_existing_ones() {
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
