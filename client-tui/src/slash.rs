//! The table of slash commands: what can be said beside prompts. The menu, help and the tests are made from it.

use proto::hello::Role;

use crate::messages::keys::Msg;

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    Help,
    New,
    Clear,
    Resume,
    Sessions,
    Forget,
    Fork,
    Rewind,
    Undo,
    Redo,
    Queue,
    Steer,
    Pause,
    Continue,
    Rename,
    Compact,
    Pin,
    Model,
    Effort,
    Budget,
    Preset,
    ExtractReasoning,
    Samples,
    ApprovalMode,
    Permissions,
    Plan,
    Normal,
    Safe,
    Trust,
    Todos,
    View,
    Copy,
    Diff,
    Context,
    Cost,
    Stats,
    Hooks,
    Export,
    Top,
    Inbox,
    Theme,
    Language,
    Vim,
    Editor,
    Detach,
    Quit,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Without the slash.
    pub name: &'static str,
    /// Other names of the same.
    pub aliases: &'static [&'static str],
    pub command: Command,
    /// What may or must stand behind it: `[NAME]`, `TEXT`; empty: nothing.
    pub arguments: &'static str,
    /// The least role that may say it.
    pub role: Role,
    /// Whether it needs a session: before the first prompt there is none.
    pub session: bool,
    pub about: Msg,
}

const fn row(
    name: &'static str,
    aliases: &'static [&'static str],
    command: Command,
    arguments: &'static str,
    (role, session): (Role, bool),
    about: Msg,
) -> Row {
    Row {
        name,
        aliases,
        command,
        arguments,
        role,
        session,
        about,
    }
}

const HERE: (Role, bool) = (Role::Watch, false);
const LOOK: (Role, bool) = (Role::Watch, true);
const DRIVE: (Role, bool) = (Role::Drive, true);

/// Every command, in the order of the menu.
pub const COMMANDS: &[Row] = &[
    row(
        "help",
        &["keys", "?"],
        Command::Help,
        "",
        HERE,
        Msg::SlashHelp,
    ),
    row(
        "new",
        &[],
        Command::New,
        "",
        (Role::Drive, false),
        Msg::SlashNew,
    ),
    row("clear", &[], Command::Clear, "", DRIVE, Msg::SlashClear),
    row("resume", &[], Command::Resume, "", HERE, Msg::SlashResume),
    row(
        "sessions",
        &[],
        Command::Sessions,
        "",
        HERE,
        Msg::SlashSessions,
    ),
    row("top", &["ps"], Command::Top, "", HERE, Msg::SlashTop),
    row("inbox", &[], Command::Inbox, "", HERE, Msg::SlashInbox),
    row("forget", &[], Command::Forget, "", DRIVE, Msg::SlashForget),
    row("fork", &[], Command::Fork, "[NAME]", DRIVE, Msg::SlashFork),
    row("rewind", &[], Command::Rewind, "", DRIVE, Msg::SlashRewind),
    row("undo", &[], Command::Undo, "", DRIVE, Msg::SlashUndo),
    row("redo", &[], Command::Redo, "", DRIVE, Msg::SlashRedo),
    row("queue", &[], Command::Queue, "", LOOK, Msg::SlashQueue),
    row("steer", &[], Command::Steer, "TEXT", DRIVE, Msg::SlashSteer),
    row("pause", &[], Command::Pause, "", DRIVE, Msg::SlashPause),
    row(
        "continue",
        &[],
        Command::Continue,
        "",
        DRIVE,
        Msg::SlashContinue,
    ),
    row(
        "rename",
        &[],
        Command::Rename,
        "NAME",
        DRIVE,
        Msg::SlashRename,
    ),
    row(
        "compact",
        &[],
        Command::Compact,
        "[preview|undo|WORDS]",
        DRIVE,
        Msg::SlashCompact,
    ),
    row("pin", &[], Command::Pin, "[TURN]", DRIVE, Msg::SlashPin),
    row(
        "model",
        &[],
        Command::Model,
        "MODEL",
        DRIVE,
        Msg::SlashModel,
    ),
    row(
        "effort",
        &[],
        Command::Effort,
        "LEVEL|auto",
        DRIVE,
        Msg::SlashEffort,
    ),
    row(
        "budget",
        &[],
        Command::Budget,
        "[LIMIT AMOUNT]",
        DRIVE,
        Msg::SlashBudget,
    ),
    row(
        "preset",
        &[],
        Command::Preset,
        "fast|smart|max",
        DRIVE,
        Msg::SlashPreset,
    ),
    row(
        "extract-reasoning",
        &[],
        Command::ExtractReasoning,
        "on|off",
        DRIVE,
        Msg::SlashExtractReasoning,
    ),
    row(
        "samples",
        &[],
        Command::Samples,
        "N",
        DRIVE,
        Msg::SlashSamples,
    ),
    row(
        "approval-mode",
        &[],
        Command::ApprovalMode,
        "[ask|auto|yolo]",
        DRIVE,
        Msg::SlashApprovalMode,
    ),
    row(
        "permissions",
        &[],
        Command::Permissions,
        "[revoke RULE]",
        HERE,
        Msg::SlashPermissions,
    ),
    row(
        "plan",
        &[],
        Command::Plan,
        "",
        (Role::Drive, false),
        Msg::SlashPlan,
    ),
    row(
        "normal",
        &[],
        Command::Normal,
        "",
        (Role::Drive, false),
        Msg::SlashNormal,
    ),
    row(
        "safe",
        &[],
        Command::Safe,
        "[off]",
        (Role::Drive, false),
        Msg::SlashSafe,
    ),
    row(
        "trust",
        &[],
        Command::Trust,
        "",
        (Role::Drive, false),
        Msg::SlashTrust,
    ),
    row("todos", &[], Command::Todos, "", LOOK, Msg::SlashTodos),
    row("view", &[], Command::View, "", LOOK, Msg::SlashView),
    row("copy", &[], Command::Copy, "[N|code]", LOOK, Msg::SlashCopy),
    row("diff", &[], Command::Diff, "", LOOK, Msg::SlashDiff),
    row(
        "context",
        &["cache"],
        Command::Context,
        "",
        LOOK,
        Msg::SlashContext,
    ),
    row("cost", &[], Command::Cost, "", LOOK, Msg::SlashCost),
    row("stats", &[], Command::Stats, "", HERE, Msg::SlashStats),
    row(
        "hooks",
        &[],
        Command::Hooks,
        "[reload]",
        HERE,
        Msg::SlashHooks,
    ),
    row(
        "export",
        &[],
        Command::Export,
        "FILE",
        LOOK,
        Msg::SlashExport,
    ),
    row(
        "theme",
        &[],
        Command::Theme,
        "[dark|light|16|none]",
        HERE,
        Msg::SlashTheme,
    ),
    row(
        "language",
        &[],
        Command::Language,
        "[en|zh]",
        HERE,
        Msg::SlashLanguage,
    ),
    row("vim", &[], Command::Vim, "", HERE, Msg::SlashVim),
    row(
        "editor",
        &[],
        Command::Editor,
        "",
        (Role::Drive, false),
        Msg::SlashEditor,
    ),
    row("detach", &[], Command::Detach, "", HERE, Msg::SlashDetach),
    row(
        "quit",
        &["exit", "q"],
        Command::Quit,
        "",
        HERE,
        Msg::SlashQuit,
    ),
];

/// A line that begins with a slash, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Not for us: it goes to the model as it is. Two slashes begin a prompt that begins with one.
    Prompt(&'a str),
    Command(&'static Row, &'a str),
    /// The word is no command.
    Unknown(&'a str),
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.command == other.command
    }
}

impl Eq for Row {}

/// Reads what was written.
#[must_use]
pub fn parse(text: &str) -> Line<'_> {
    let line = text.trim();
    if let Some(rest) = line.strip_prefix("//") {
        // The second slash is the prompt's own.
        return Line::Prompt(&line[line.len() - rest.len() - 1..]);
    }
    let Some(said) = line.strip_prefix('/') else {
        return Line::Prompt(line);
    };
    let (word, arguments) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
    match named(word) {
        Some(row) => Line::Command(row, arguments.trim()),
        // A path or the like: what people paste is no command.
        None if word.contains(['/', '.', '*']) => Line::Prompt(line),
        None => Line::Unknown(word),
    }
}

/// The command of this name or alias.
#[must_use]
pub fn named(word: &str) -> Option<&'static Row> {
    let mut rows = COMMANDS.iter();
    rows.find(|row| row.name == word || row.aliases.contains(&word))
}

#[cfg(test)]
mod tests;
