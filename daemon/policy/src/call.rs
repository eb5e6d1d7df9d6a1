//! The call that is judged, and what it is about.
//!
//! Looks at names and arguments only, never at the disk. Called by the session, which resolves the paths,
//! and again by `decide`, which trusts no list of paths that does not fit the call.

use contract::{ArgumentUse, Family, ToolSpec};
use serde_json::{Map, Value};

use crate::command;
use crate::readers;
use crate::shell;

/// A call of a tool. Its arguments have been parsed by the tool: canonical names, right types.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub tool: &'a ToolSpec,
    pub arguments: &'a Map<String, Value>,
    /// Paths that are no arguments of their own: those in a patch.
    pub touches: &'a [contract::Touch],
}

impl<'a> Call<'a> {
    pub(crate) fn is_mcp(&self) -> bool {
        is_mcp(&self.tool.name)
    }

    /// The text of the first argument that stands for this.
    pub(crate) fn text_of(&self, wanted: ArgumentUse) -> Option<&'a str> {
        let mut arguments = self.tool.arguments.iter();
        let (name, _) = arguments.find(|(_, stands_for)| *stands_for == wanted)?;
        self.arguments.get(name)?.as_str()
    }
}

/// What is done at a path.
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

/// What a call is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subjects {
    /// Each path once for each access. An edit needs both `Read` and `Edit` of its path. Of a command that only
    /// reads: what its words may name.
    pub paths: Vec<Subject>,
    pub command: Option<String>,
    /// The command starts git, by that name: what its repository has it run must be known
    /// ([`Context::git_programs`](crate::Context::git_programs)).
    pub git: bool,
    /// The arguments do not say what the call is about: a path or command is missing or is no text.
    /// Such a call is never allowed.
    pub unclear: bool,
}

/// Paths of one command that are looked up. One that names more asks, as some of them were not.
const PATHS_MAX: usize = 512;

/// Whether a tool comes from an MCP server: it belongs to no family, whatever its arguments are called.
pub(crate) fn is_mcp(tool: &str) -> bool {
    tool.starts_with("mcp__")
}

/// Which paths and which command a call is about.
#[must_use]
pub fn subjects(call: &Call<'_>) -> Subjects {
    let mut found = about(call);
    if let Some(command) = found.command.take() {
        found.take_command(&command);
        found.command = Some(command);
    }
    found
}

/// The same without the files of a command.
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

    /// Takes in one argument.
    fn take(&mut self, call: &Call<'_>, name: &str, stands_for: ArgumentUse) {
        let text = match call.arguments.get(name) {
            Some(Value::String(text)) => text,
            None | Some(Value::Null) => {
                // What is searched has a default; the others say what the call is about.
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

    /// The files that the shell opens for a command, and those that a part of it may show, where that only reads.
    fn take_command(&mut self, command: &str) {
        let script = shell::read(command);
        let readings = command::readings_of(&script, false, true);
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
            if readings
                .get(index)
                .is_some_and(|reading| reading.is_some_and(|reading| reading.files))
            {
                for place in readers::places(&script, index).places {
                    if self.paths.len() < PATHS_MAX {
                        self.add(&place.text, Access::Read);
                    }
                }
            }
        }
    }

    /// Paths that stand inside of an argument, as the tool has found them.
    fn take_touches(&mut self, call: &Call<'_>) {
        for touch in call.touches {
            self.add(&touch.path, Access::Read);
            if touch.edit {
                self.add(&touch.path, Access::Edit);
            }
        }
    }

    /// A glob pattern can itself lead somewhere else: `../other/**`, `/etc/*`. `under`: the path that is searched.
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
