//! Custom commands: Markdown files that a prompt of the form `/name arguments` runs.

use std::path::{Path, PathBuf};

use proto::params::command::CommandSource;
use serde::Deserialize;
use workspace::Workspace;

use crate::definition_files::{DefinitionFiles, Root};
use crate::front_matter::{Described, split};

/// Directories of a project that hold commands. The first that has a name counts.
const PROJECT_DIRS: [&str; 2] = [".reasonix/commands", ".claude/commands"];
/// The directory of the user's commands for all tools that know this form, from the user's home.
const SHARED_DIR: &str = ".claude/commands";
/// Levels of directories below one of those.
const DEPTH_MAX: usize = 8;
/// Letters of a description that is made from a body.
const DESCRIPTION_MAX: usize = 100;
/// Commands that come with the program: name, and file.
const BUILT_IN: [(&str, &str); 2] = [
    ("init", include_str!("commands/init.md")),
    ("review", include_str!("commands/review.md")),
];

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomCommand {
    /// Without the slash: `git:commit`.
    pub name: String,
    pub description: String,
    pub argument_hint: Option<String>,
    pub source: CommandSource,
    /// From the workspace root, or absolute. `None`: it comes with the program.
    pub file: Option<String>,
    /// The text for the model, with places for arguments.
    pub body: String,
    /// Another command of this name counts: its file.
    pub hidden_by: Option<String>,
    /// Calls that change anything are refused until its turn ends. Only a command of the program sets this.
    pub read_only: bool,
}

/// The commands that can be used in a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomCommands {
    /// Sorted by name; of the same name the one that counts first.
    pub commands: Vec<CustomCommand>,
    /// Files that are left out and keys that have no effect, with their line where that is known. In words for the user.
    pub problems: Vec<String>,
}

impl CustomCommands {
    /// The command of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&CustomCommand> {
        let mut commands = self.commands.iter();
        commands.find(|command| command.name == name && command.hidden_by.is_none())
    }
}

#[derive(Debug, Default, Deserialize)]
struct Fields {
    description: Option<String>,
}

impl Described for Fields {
    fn describe(&mut self, description: String) {
        self.description = Some(description);
    }
}

/// Finds the commands of the user, of the project, and of the program. Blocks.
///
/// `user_dir`: the user's commands for Reasonix alone. A file that cannot be used hides nothing.
#[must_use]
pub fn find_commands(workspace: &Workspace, user_dir: &Path) -> CustomCommands {
    let mut files = DefinitionFiles::new(workspace);
    let mut commands = Vec::new();
    let project = PROJECT_DIRS.map(|dir| workspace.root().join(dir));
    let user = [user_dir.to_owned(), workspace.user_home().join(SHARED_DIR)];
    // The user's own first: a cloned project does not take the place of `/review`.
    let roots = user
        .into_iter()
        .map(|path| (path, CommandSource::User))
        .chain(
            project
                .into_iter()
                .map(|path| (path, CommandSource::Project)),
        );
    for (path, source) in roots {
        let root = Root {
            path,
            is_project: source == CommandSource::Project,
        };
        for file in files.walk(&root, DEPTH_MAX) {
            commands.extend(read_command(&mut files, &root, &file, source));
        }
    }
    commands.extend(BUILT_IN.iter().filter_map(|(name, text)| {
        let source = CommandSource::BuiltIn;
        parse(name, text, source, None).ok()
    }));
    hide(&mut commands);
    CustomCommands {
        commands,
        problems: files.problems,
    }
}

/// Sorts by name, and notes which commands do not count.
fn hide(commands: &mut [CustomCommand]) {
    // Stable: of the same name the first stays first.
    commands.sort_by(|one, other| one.name.cmp(&other.name));
    let mut counting: Option<(String, String)> = None;
    for command in commands {
        match &counting {
            Some((name, file)) if *name == command.name => command.hidden_by = Some(file.clone()),
            _ => {
                let file = command.file.clone().unwrap_or_default();
                counting = Some((command.name.clone(), file));
            }
        }
    }
}

fn read_command(
    files: &mut DefinitionFiles<'_>,
    root: &Root,
    file: &Path,
    source: CommandSource,
) -> Option<CustomCommand> {
    if file.extension()? != "md" {
        return None;
    }
    let Some(name) = command_name(file.strip_prefix(&root.path).ok()?) else {
        let reason = "its name has letters that a command cannot have";
        files.report(file, None, reason);
        return None;
    };
    let text = files.read(file, root)?;
    match parse(&name, &text, source, Some(files.name_of(file))) {
        Ok(command) => {
            let model = split(&text).ok().and_then(|it| it.line_of("model"));
            if let Some(line) = model {
                files.report_model(file, line);
            }
            Some(command)
        }
        Err((line, reason)) => {
            files.report(file, Some(line), &reason);
            None
        }
    }
}

/// `git/commit.md` is `git:commit`.
fn command_name(file: &Path) -> Option<String> {
    let stem: PathBuf = file.with_extension("");
    let parts = stem.iter().map(|part| {
        let part = part.to_str()?;
        let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
        part.chars().all(fits).then_some(part)
    });
    Some(parts.collect::<Option<Vec<_>>>()?.join(":"))
}

/// Reads a file. The error has its line.
fn parse(
    name: &str,
    text: &str,
    source: CommandSource,
    file: Option<String>,
) -> Result<CustomCommand, (u64, String)> {
    let mut document = split(text).map_err(|error| (error.line, error.reason))?;
    let argument_hint = document.take_raw("argument-hint");
    let read_only = document.take_raw("read-only");
    let fields: Fields = document
        .described_fields()
        .map_err(|error| (error.line, error.reason))?;
    let body = document.body.trim().to_owned();
    if body.is_empty() {
        return Err((1, "it says nothing to the model".to_owned()));
    }
    let first_line = || body.lines().next().unwrap_or_default().to_owned();
    let description = fields.description.unwrap_or_else(first_line);
    let description = description.trim().trim_start_matches('#').trim();
    let description: String = description
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(DESCRIPTION_MAX)
        .collect();
    Ok(CustomCommand {
        name: name.to_owned(),
        description,
        argument_hint,
        source,
        file,
        body,
        hidden_by: None,
        read_only: source == CommandSource::BuiltIn && read_only.as_deref() == Some("true"),
    })
}

#[cfg(test)]
mod tests;
