//! The call to judge, and its subjects.
//!
//! Uses only names and arguments, never the disk. Called by the session, which resolves the paths, and again by
//! `decide`, which rejects resolved paths that do not fit the call.

use contract::{ArgumentUse, Family, ToolSpec};
use serde_json::{Map, Value};

use crate::command;
use crate::readers;
use crate::shell;

/// A call of a tool. Its arguments have been parsed by the tool: canonical names, correct types.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub tool: &'a ToolSpec,
    pub arguments: &'a Map<String, Value>,
    /// Paths that are not arguments themselves: those in a patch.
    pub touches: &'a [contract::Touch],
}

impl<'a> Call<'a> {
    pub(crate) fn is_mcp(&self) -> bool {
        is_mcp(&self.tool.name)
    }

    /// The text of the first argument with this use.
    pub(crate) fn text_of(&self, wanted: ArgumentUse) -> Option<&'a str> {
        let mut arguments = self.tool.arguments.iter();
        let (name, _) = arguments.find(|(_, stands_for)| *stands_for == wanted)?;
        self.arguments.get(name)?.as_str()
    }
}

/// The kind of access to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    Read,
    Edit,
}

/// One path of a call, as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub text: String,
    pub access: Access,
}

/// The subjects of a call: its paths and its command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subjects {
    /// Each path once for each access. An edit needs both `Read` and `Edit` of its path. For a read-only command: the
    /// files that its words may name.
    pub paths: Vec<Subject>,
    pub command: Option<String>,
    /// The command starts git, by that name: the caller must find out which programs the repository makes it run
    /// ([`Context::git_programs`](crate::Context::git_programs)).
    pub git: bool,
    /// The arguments do not define the call's subjects: a path or command is missing or is not a string. Such a call is
    /// never allowed.
    pub unclear: bool,
}

/// Maximum paths of one command to resolve. A command with more asks, because some were not resolved.
const PATHS_MAX: usize = 512;

/// Whether a tool comes from an MCP server: it belongs to no family, whatever its arguments are called.
pub(crate) fn is_mcp(tool: &str) -> bool {
    tool.starts_with("mcp__")
}

/// The paths and the command of a call.
#[must_use]
pub fn subjects(call: &Call<'_>) -> Subjects {
    let mut found = about(call);
    if let Some(command) = found.command.take() {
        found.take_command(&command);
        found.command = Some(command);
    }
    found
}

/// The subjects without the files of a command.
pub(crate) fn about(call: &Call<'_>) -> Subjects {
    let mut found = Subjects::default();
    if call.is_mcp() {
        return found;
    }
    let mut searches = false;
    for (name, stands_for) in &call.tool.arguments {
        found.take(call, name, *stands_for);
        searches |= *stands_for == ArgumentUse::Search;
    }
    found.take_touches(call);
    if searches && found.paths.is_empty() && !found.unclear {
        found.add(".", Access::Read);
    }
    found.unclear |= call.tool.family == Family::Edit && found.paths.is_empty();
    found
}

impl Subjects {
    fn add(&mut self, text: &str, access: Access) {
        let subject = Subject {
            text: text.to_owned(),
            access,
        };
        if !self.paths.contains(&subject) {
            self.paths.push(subject);
        }
    }

    /// Adds one argument.
    fn take(&mut self, call: &Call<'_>, name: &str, stands_for: ArgumentUse) {
        let text = match call.arguments.get(name) {
            Some(Value::String(text)) => text,
            None | Some(Value::Null) => {
                // Search paths have a default; the other arguments define the call's subjects.
                self.unclear |= match stands_for {
                    ArgumentUse::Command
                    | ArgumentUse::Read
                    | ArgumentUse::Edit
                    | ArgumentUse::Create => true,
                    ArgumentUse::Search | ArgumentUse::Pattern | ArgumentUse::Url => false,
                };
                return;
            }
            Some(_) => {
                self.unclear = true;
                return;
            }
        };
        let is_file = matches!(
            stands_for,
            ArgumentUse::Read | ArgumentUse::Edit | ArgumentUse::Create
        );
        self.unclear |= is_file && text.is_empty();
        match stands_for {
            ArgumentUse::Command => self.command = Some(text.clone()),
            ArgumentUse::Read | ArgumentUse::Search => self.add(text, Access::Read),
            ArgumentUse::Edit => {
                self.add(text, Access::Read);
                self.add(text, Access::Edit);
            }
            ArgumentUse::Create => self.add(text, Access::Edit),
            ArgumentUse::Pattern => self.take_pattern(text, call.text_of(ArgumentUse::Search)),
            ArgumentUse::Url => {}
        }
    }

    /// Adds the files that the shell opens for a command, and those that a read-only part of it may show.
    fn take_command(&mut self, command: &str) {
        let script = shell::read(command);
        let readings = command::readings_of(&script, false, true, true);
        for (index, part) in script.parts.iter().enumerate() {
            self.git |= part.program() == Some("git");
            for (word, access) in part.redirections.iter().filter_map(command::target) {
                if self.paths.len() < PATHS_MAX
                    && word.is_known()
                    && !word.glob
                    && !word.text.is_empty()
                {
                    self.add(&command::path_of(word), access);
                }
            }
            let reading = readings.get(index).copied().flatten();
            // What git shows may be in its repository.
            if reading.is_some_and(|reading| reading.files) || part.program() == Some("git") {
                for place in readers::places(&script, index).places {
                    if self.paths.len() < PATHS_MAX {
                        self.add(&place.text, Access::Read);
                    }
                }
            }
        }
    }

    /// Adds paths from inside an argument, as found by the tool.
    fn take_touches(&mut self, call: &Call<'_>) {
        for touch in call.touches {
            self.add(&touch.path, Access::Read);
            if touch.edit {
                self.add(&touch.path, Access::Edit);
            }
        }
    }

    /// Adds the path of a glob pattern, which can leave the search path: `../other/**`, `/etc/*`. `under`: the search
    /// path.
    fn take_pattern(&mut self, pattern: &str, under: Option<&str>) {
        let fixed: Vec<&str> = pattern
            .split('/')
            .take_while(|part| !part.contains(['*', '?', '[', '{', '\\']))
            .collect();
        let leads = pattern.starts_with(['/', '~']) || fixed.contains(&"..");
        let mut later = pattern.split('/').skip(fixed.len());
        if later.any(|part| part == "..") {
            self.unclear = true;
        } else if leads {
            let base = match fixed.join("/") {
                base if base.is_empty() => "/".to_owned(),
                base => base,
            };
            match under {
                Some(path) if !base.starts_with(['/', '~']) => {
                    self.add(&format!("{path}/{base}"), Access::Read);
                }
                _ => self.add(&base, Access::Read),
            }
        }
    }
}
