//! Help in Chinese. Clap's own help is English, and comes from the comments of the arguments: each of its paragraphs has
//! a row in [`rows`]. The reference is the English one.

pub mod refusal;
pub mod rows;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};
use client::messages::Language;

use super::language;

client::catalog! {
    Usage = "Usage:", "用法：";
    Options = "Options", "选项";
    Arguments = "Arguments", "参数";
    Commands = "Commands", "命令";
    PrintHelp = "Print help", "显示帮助";
    PrintVersion = "Print version", "显示版本";
    Default = " [default: {0}]", " [默认：{0}]";
    Possible = " [possible values: {0}]", " [可选值：{0}]";
    PossibleValue = "- {0}: {1}", "- {0}：{1}";
    Line1 = "  -c, --continue          Continue the most recent session of this directory", "  -c, --continue          继续此目录最近的会话";
    Line2 = "  -r, --resume [SESSION]  Continue a session; without a name: pick one", "  -r, --resume [SESSION]  继续一个会话；不带名称：从中选择";
    Line3 = "  -v, --verbose           Show more: full error chains, more columns", "  -v, --verbose           显示更多：完整的错误链、更多列";
    Line4 = "  -h, --help              Print help", "  -h, --help              显示帮助";
    Line5 = "  -V, --version           Print version", "  -V, --version           显示版本";
    Footer = "More: `reasonix help --all` lists all commands, `reasonix help COMMAND`\nexplains one, `reasonix help chat` lists the options of a new session.", "更多：`reasonix help --all` 列出全部命令，`reasonix help COMMAND` 说明\n一个命令，`reasonix help chat` 列出新会话的选项。";
}

/// The program with its help in the language of the user.
pub fn translated(command: Command) -> Command {
    match language() {
        Language::English => command,
        Language::Chinese => in_chinese(command),
    }
}

/// A sentence of help; a paragraph without a row comes as it is.
pub fn sentence(text: &str) -> String {
    match language() {
        Language::English => text.to_owned(),
        Language::Chinese => paragraphs(text),
    }
}

/// A command and all below it.
pub(super) fn in_chinese(command: Command) -> Command {
    let about = command
        .get_about()
        .map(|text| paragraphs(&text.to_string()));
    let long = command
        .get_long_about()
        .map(|text| paragraphs(&text.to_string()));
    let has_version = command.get_version().is_some();
    let mut command = command
        .mut_args(argument)
        .mut_subcommands(in_chinese)
        .subcommand_help_heading(Msg::Commands.say())
        .disable_help_flag(true)
        .arg(flag("help", 'h', ArgAction::Help, Msg::PrintHelp))
        .help_template(format!(
            "{{before-help}}{{about-with-newline}}\n{}{{usage}}\n\n{{all-args}}{{after-help}}",
            Msg::Usage.say()
        ));
    if has_version {
        command = command.disable_version_flag(true).arg(flag(
            "version",
            'V',
            ArgAction::Version,
            Msg::PrintVersion,
        ));
    }
    if let Some(about) = about {
        command = command.about(about);
    }
    if let Some(long) = long {
        command = command.long_about(long);
    }
    command
}

fn flag(name: &'static str, short: char, action: ArgAction, help: Msg) -> Arg {
    let arg = Arg::new(name).short(short).long(name).action(action);
    arg.help(help.say()).help_heading(Msg::Options.say())
}

fn argument(arg: Arg) -> Arg {
    let help = arg.get_help().map(|text| paragraphs(&text.to_string()));
    let long = arg
        .get_long_help()
        .map(|text| paragraphs(&text.to_string()));
    let heading = match arg.is_positional() {
        true => Msg::Arguments,
        false => Msg::Options,
    };
    let (values, listed) = (values(&arg), values_listed(&arg));
    let long = long.or_else(|| help.clone().filter(|_| !listed.is_empty()));
    let takes_value = arg.get_action().takes_values();
    let mut arg = arg.help_heading(heading.say());
    if takes_value {
        arg = arg.hide_default_value(true).hide_possible_values(true);
    }
    if let Some(help) = help {
        arg = arg.help(format!("{help}{values}"));
    }
    if let Some(long) = long {
        let values = if listed.is_empty() { values } else { listed };
        arg = arg.long_help(format!("{long}{values}"));
    }
    arg
}

/// The default and the possible values, after the words of an argument.
fn values(arg: &Arg) -> String {
    let mut words = default(arg);
    let possible = possible(arg);
    if !possible.is_empty() {
        let names: Vec<&str> = possible.iter().map(|(name, _)| name.as_str()).collect();
        words.push_str(&Msg::Possible.fill(&[&names.join("、")]));
    }
    words
}

/// The same with a line for each value, where values have words of their own.
fn values_listed(arg: &Arg) -> String {
    let possible = possible(arg);
    if possible.iter().all(|(_, about)| about.is_none()) {
        return String::new();
    }
    let lines = possible.iter().map(|(name, about)| {
        let about = about.as_deref().map(paragraphs).unwrap_or_default();
        Msg::PossibleValue.fill(&[name, &about])
    });
    let lines: Vec<String> = lines.collect();
    format!("{}\n\n{}", default(arg), lines.join("\n"))
}

fn default(arg: &Arg) -> String {
    let takes_value = arg.get_action().takes_values();
    let hidden = arg.is_hide_default_value_set();
    let defaults = arg
        .get_default_values()
        .iter()
        .filter(|_| takes_value && !hidden);
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    match defaults.is_empty() {
        true => String::new(),
        false => Msg::Default.fill(&[&defaults.join(" ")]),
    }
}

fn possible(arg: &Arg) -> Vec<(String, Option<String>)> {
    if arg.is_hide_possible_values_set() || !arg.get_action().takes_values() {
        return Vec::new();
    }
    let values = arg
        .get_possible_values()
        .into_iter()
        .filter(|value| !value.is_hide_set());
    let about = |help: &StyledStr| help.to_string();
    values
        .map(|value| (value.get_name().to_owned(), value.get_help().map(about)))
        .collect()
}

/// Paragraphs, each by its row.
fn paragraphs(text: &str) -> String {
    let paragraphs = text
        .split("\n\n")
        .map(|paragraph| row(paragraph).map_or_else(|| paragraph.to_owned(), str::to_owned));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// The Chinese of a paragraph.
pub(super) fn row(paragraph: &str) -> Option<&'static str> {
    let wanted = paragraph.strip_suffix('.').unwrap_or(paragraph);
    let mut rows = rows::ROWS.iter();
    rows.find(|(english, _)| *english == wanted)
        .map(|(_, chinese)| *chinese)
}

impl Msg {
    /// In Chinese, whatever the language of this process.
    fn say(self) -> &'static str {
        Language::Chinese.say(self)
    }

    fn fill(self, values: &[&str]) -> String {
        Language::Chinese.fill(self, values)
    }
}
