//! `reasonix` alone: the terminal interface, with a new session in this directory or one that is there.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use client::Client;
use client_tui::Open;
use proto::hello::Role;

use crate::commands::permissions;
use crate::exit::Error;
use crate::interface::{self, NewSessionOptions, ScreenArgs};
use crate::messages::common::Msg as Common;
use crate::messages::talk::Msg;
use crate::session_options::SessionArgs;
use crate::terminal::{self, Screen};
use crate::{near, other_agents, reach, text};

/// Open a session in the terminal, a new or an existing one.
///
/// If sessions run or wait in this directory, it offers them first. Closing the terminal does not end the session:
/// `reasonix attach` opens it again. Without a terminal use `reasonix run`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// First prompt, in quotes; with `-c` and `-r SESSION`: the next one.
    #[arg(value_name = "PROMPT")]
    prompt: Option<String>,
    /// What other agents call `run`.
    #[arg(short = 'p', long = "print", hide = true, num_args = 0..=1, value_name = "PROMPT")]
    print: Option<Option<String>>,
    /// Continue the most recent session of this directory.
    #[arg(short = 'c', long = "continue", conflicts_with_all = ["resume", "SessionArgs"])]
    last: bool,
    /// Continue this session; without a name: pick one of this directory.
    #[arg(short = 'r', long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "", conflicts_with = "SessionArgs")]
    resume: Option<String>,
    #[command(flatten)]
    options: SessionArgs,
    #[command(flatten)]
    look: ScreenArgs,
}

impl Args {
    /// Whether nothing of it was said.
    pub fn is_empty(&self) -> bool {
        self.prompt.is_none()
            && self.print.is_none()
            && !self.last
            && self.resume.is_none()
            && self.options.is_empty()
            && self.look.is_empty()
    }
}

pub async fn run(args: Args) -> Result<u8, Error> {
    if args.print.is_some() {
        let arguments: Vec<OsString> = std::env::args_os().collect();
        return Err(dash_p(&words(&arguments)));
    }
    // With `-c` and `-r` nobody names a command: one word is a prompt, too.
    let is_next = args.last || args.resume.is_some();
    let word = args.prompt.as_deref().filter(|prompt| is_word(prompt));
    if let Some(word) = word.filter(|_| !is_next) {
        return Err(misspelt(word));
    }
    let picks = args.resume.as_deref() == Some("");
    if picks && args.prompt.is_some() {
        return Err(Error::usage(
            say!(Msg::PromptNeedsSession),
            say!(Msg::LsShowsSessions),
        ));
    }
    let fresh = NewSessionOptions {
        prompt: args.prompt.clone(),
        profile: args.options.profile()?,
        preset: args.options.preset(),
        options: args.options.options(),
    };
    if terminal::screen() == Screen::Lines {
        if picks {
            return Err(Error::usage(
                say!(Msg::LinesCannotPick),
                say!(Msg::LsShowsSessions),
            ));
        }
        let which = match (args.resume, args.last) {
            (Some(session), _) => super::attach::SessionTarget::Named(session),
            (None, true) => super::attach::SessionTarget::Last,
            (None, false) => super::attach::SessionTarget::New,
        };
        return super::attach::run(super::attach::Args::lines(which, fresh)).await;
    }
    let otherwise = say!(Msg::WithoutTerminal);
    let client = interface::connect("reasonix chat", Role::Drive, otherwise).await?;
    let open = opened(&client, &args).await?;
    interface::run(client, Role::Drive, open, fresh, &args.look).await
}

/// The arguments behind the program's name.
fn words(arguments: &[OsString]) -> Vec<&str> {
    let words = arguments.iter().skip(1);
    words.filter_map(|word| word.to_str()).collect()
}

/// The error for `-p`, with the command that runs this prompt with the same options.
fn dash_p(words: &[&str]) -> Error {
    let is_print = |word: &str| matches!(word, "-p" | "--print");
    let print = words.iter().find(|word| is_print(word));
    let print = print.copied().unwrap_or("-p");
    let rest: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !is_print(word))
        .collect();
    Error::usage(say!(Msg::DashP, print), use_run(&rest))
}

/// The hint with the command that runs a prompt with these options, as they are named here.
fn use_run(words: &[&str]) -> String {
    let mut rest = other_agents::for_run(words);
    if !has_prompt(&rest) {
        rest.push(say!(Msg::ExamplePrompt).to_owned());
    }
    let rest: Vec<String> = rest.iter().map(|word| quoted(word)).collect();
    say!(Msg::DashPHint, rest.join(" "))
}

/// The error for a prompt with options of `run` but without its name, as `claude -p PROMPT --output-format json` has
/// them. `None`: these words are wrong in another way.
pub fn suggest_run(error: &clap::Error, arguments: &[OsString]) -> Option<Error> {
    if !is_unknown(error) {
        return None;
    }
    let words = words(arguments);
    let command = crate::command();
    let is_command = |word: &&str| command.find_subcommand(word).is_some();
    let print = words
        .iter()
        .position(|word| matches!(*word, "-p" | "--print"));
    if let Some(print) = print {
        let is_ours = !words[..print].iter().any(is_command);
        return is_ours.then(|| dash_p(&words));
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let line = other_agents::for_run(&words);
    // Alone, an option of another agent has a name in the interface.
    let is_alone = !has_prompt(&line) && other_agents::has_option(option);
    let is_of_run = option.starts_with('-') && !is_alone && parses_as_run(&line).is_some();
    let is_other_word = |word: &&str| {
        other_agents::command_here(word).is_some() || is_word(word) && is_slip(word, &command)
    };
    if !is_of_run || words.iter().any(is_command) || words.first().is_some_and(is_other_word) {
        return None;
    }
    let what = say!(Msg::UnknownOption, text::line(option));
    Some(Error::usage(what, use_run(&words)))
}

/// Whether a word is a command with a slip of the keyboard in it.
fn is_slip(word: &str, command: &clap::Command) -> bool {
    let names = command.get_subcommands().map(clap::Command::get_name);
    !near::mistyped(word, names.collect()).is_empty()
}

/// Whether an option or a command is not known.
fn is_unknown(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand
    )
}

/// What `reasonix run` finds in these words; `None`: it refuses them.
fn parses_as_run(words: &[String]) -> Option<clap::ArgMatches> {
    let words = words.iter().map(String::as_str);
    let line = ["reasonix", "run"].into_iter().chain(words);
    crate::command().try_get_matches_from(line).ok()
}

/// Whether `reasonix run` finds a prompt in these words, or may find one: they are wrong for it in another way.
fn has_prompt(words: &[String]) -> bool {
    parses_as_run(words).map_or(!words.is_empty(), |parsed| {
        let run = parsed.subcommand_matches("run");
        run.is_some_and(|run| run.contains_id("prompt") && run.get_raw("prompt").is_some())
    })
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let shown = text::line(word);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,+@%^".contains(letter);
    let is_special = |letter: char| "$`\"\\!".contains(letter);
    // What people write, as long as the shell reads nothing else in it.
    match !shown.is_empty() && (shown.chars().all(is_plain) || shown.contains(is_special)) {
        true => permissions::quoted(&shown),
        false => format!("\"{shown}\""),
    }
}

/// Whether it is one word of the letters of commands: then it is not a prompt but the misspelt name of one. Some scripts
/// write whole sentences without blanks.
fn is_word(prompt: &str) -> bool {
    prompt.is_ascii() && !prompt.trim().contains(char::is_whitespace)
}

/// The error for words behind the one prompt that `reasonix` takes: the first is the misspelt name of a command, or
/// the quotes are missing. `None`: the arguments are wrong in another way.
pub fn refused(error: &clap::Error, arguments: &[OsString]) -> Option<Error> {
    let words = words(arguments);
    let first = words.first()?;
    if matches!(*first, "-p" | "--print") {
        return Some(dash_p(&words));
    }
    let is_command = crate::command().find_subcommand(first).is_some();
    let is_unknown = is_unknown(error);
    if first.starts_with('-') && is_unknown {
        return behind_options(error, &words);
    }
    if first.starts_with('-') || is_command {
        return None;
    }
    // The error may be one of a command that follows it.
    if !is_unknown || words.iter().any(|word| word.starts_with('-')) {
        return is_word(first).then(|| misspelt(first));
    }
    let prompt = quoted(&words.join(" "));
    let hint = say!(Msg::QuotePrompt, prompt);
    // Words of a sentence are like the names of commands by chance.
    Some(unknown(first, &hint, near::mistyped))
}

/// The error for a prompt without quotes behind options: the word that was refused is its second one.
fn behind_options(error: &clap::Error, words: &[&str]) -> Option<Error> {
    let refused = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg]
        .into_iter()
        .find_map(|kind| match error.get(kind) {
            Some(ContextValue::String(word)) => Some(word.as_str()),
            _ => None,
        })?;
    let second = words.iter().rposition(|word| *word == refused)?;
    let (options, prompt) = words.split_at(second.checked_sub(1)?);
    if prompt.iter().any(|word| word.starts_with('-')) {
        return None;
    }
    let options: String = options
        .iter()
        .map(|word| format!("{} ", quoted(word)))
        .collect();
    let prompt = quoted(&prompt.join(" "));
    let hint = say!(Msg::QuotePromptBehind, options, prompt);
    Some(Error::usage(say!(Msg::PromptWithoutQuotes), hint))
}

/// The error for options or words before the name of a command.
pub fn before_command(args: &Args) -> Error {
    match args.prompt.as_deref() {
        Some(word) if is_word(word) => misspelt(word),
        _ => Error::usage(
            say!(Common::OptionsMisplaced),
            say!(Common::OptionsMisplacedHint),
        ),
    }
}

fn misspelt(word: &str) -> Error {
    if let Some(ours) = other_agents::command_here(word) {
        let shown = text::line(word);
        return Error::usage(say!(Msg::UnknownWord, shown), say!(Msg::UseInstead, ours));
    }
    unknown(word, say!(Msg::HelpLists), near::nearest)
}

/// The error for a word that is not a command, with the commands of nearly that name, which `like` chooses.
fn unknown(
    word: &str,
    otherwise: &str,
    like: for<'a> fn(&str, Vec<&'a str>) -> Vec<&'a str>,
) -> Error {
    let commands = crate::command();
    let names = commands
        .get_subcommands()
        .flat_map(|command| std::iter::once(command.get_name()).chain(command.get_all_aliases()));
    Error::usage(
        say!(Msg::UnknownWord, text::line(word)),
        near::did_you_mean(&like(word, names.collect()), otherwise),
    )
}

async fn opened(client: &Client, args: &Args) -> Result<Open, Error> {
    let cwd = reach::utf8(&reach::cwd(None)?)?;
    if args.last {
        let last = reach::last_session(client, &cwd).await?;
        return Ok(Open::Session(last.session.to_string()));
    }
    match &args.resume {
        Some(session) if session.is_empty() => Ok(Open::Pick),
        Some(session) => interface::named(client, session.clone()).await,
        None if args.prompt.is_none()
            && args.options.is_empty()
            && reach::any_live(client, &cwd).await? =>
        {
            Ok(Open::Pick)
        }
        None => Ok(Open::New),
    }
}
