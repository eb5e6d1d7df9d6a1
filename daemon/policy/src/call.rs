//! The call that is judged, and what it is about.
//!
//! Looks at names and arguments only, never at the disk. Called by the session, which resolves the paths,
//! and again by `decide`, which trusts no list of paths that does not fit the call.

use contract::Family;
use serde_json::{Map, Value};

use crate::command;
use crate::readers;
use crate::shell;

/// A call of a tool. Its arguments have been parsed by the tool: canonical names, right types.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub tool: &'a str,
    pub family: Family,
    /// Whether no call of this tool ever changes anything.
    pub read_only_tool: bool,
    pub arguments: &'a Map<String, Value>,
    /// Paths that are no arguments of their own: those in a patch.
    pub touches: &'a [contract::Touch],
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

/// Tools that copy: the source is only read.
const COPIES: &[&str] = &["copy_file", "copy"];
/// Tools of the `Read` family that work on the current directory where no path is given.
const READS_HERE: &[&str] = &["ls", "glob", "grep"];

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
    if is_mcp(call.tool) {
        return found;
    }
    match call.family {
        Family::Bash => match call.arguments.get("command") {
            Some(Value::String(command)) => {
                found.command = Some(command.clone());
            }
            // A companion of `bash` (its output, its end) names no command; `bash` itself must.
            None if call.tool != "bash" => {}
            None | Some(_) => found.unclear = true,
        },
        Family::Read => {
            found.take(call, &["path", "file_path"], &[Access::Read]);
            found.take_pattern(call);
            if found.paths.is_empty() && !found.unclear {
                if READS_HERE.contains(&call.tool) {
                    found.add(".", Access::Read);
                } else {
                    // `read_file` without a path; other readers may be about something else than files.
                    found.unclear = call.tool == "read_file";
                }
            }
        }
        Family::Edit => {
            found.take(call, &["path", "file_path"], &[Access::Read, Access::Edit]);
            found.take_pair(call);
            found.take_touches(call);
            found.unclear |= found.paths.is_empty();
        }
        Family::Session => {}
    }
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

    fn take(&mut self, call: &Call<'_>, keys: &[&str], accesses: &[Access]) {
        for value in keys.iter().filter_map(|key| call.arguments.get(*key)) {
            match value {
                Value::String(text) => accesses.iter().for_each(|access| self.add(text, *access)),
                Value::Null => {}
                _ => self.unclear = true,
            }
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

    /// Source and destination. A lone `source` is content (of a notebook's cell), not a path.
    fn take_pair(&mut self, call: &Call<'_>) {
        let pairs = ["destination", "destination_path", "source_path"];
        let moves = pairs.iter().any(|key| call.arguments.contains_key(*key));
        if !moves && call.arguments.contains_key("source") && !self.paths.is_empty() {
            return;
        }
        let source: &[Access] = if COPIES.contains(&call.tool) {
            &[Access::Read]
        } else {
            &[Access::Read, Access::Edit]
        };
        self.take(call, &["source", "source_path"], source);
        self.take(call, &["destination", "destination_path"], &[Access::Edit]);
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

    /// A glob pattern can itself lead somewhere else: `../other/**`, `/etc/*`.
    fn take_pattern(&mut self, call: &Call<'_>) {
        if call.tool != "glob" {
            return;
        }
        match call.arguments.get("pattern") {
            Some(Value::String(pattern)) => {
                let fixed: Vec<&str> = pattern
                    .split('/')
                    .take_while(|part| !part.contains(['*', '?', '[', '{', '\\']))
                    .collect();
                let leads = pattern.starts_with(['/', '~']) || fixed.contains(&"..");
                let climbs_later = pattern
                    .split('/')
                    .skip(fixed.len())
                    .any(|part| part == "..");
                if climbs_later {
                    self.unclear = true;
                } else if leads {
                    let base = fixed.join("/");
                    let base = if base.is_empty() {
                        "/".to_owned()
                    } else {
                        base
                    };
                    let under = call.arguments.get("path").and_then(Value::as_str);
                    match under {
                        Some(path) if !base.starts_with(['/', '~']) => {
                            self.add(&format!("{path}/{base}"), Access::Read);
                        }
                        _ => self.add(&base, Access::Read),
                    }
                }
            }
            None | Some(Value::Null) => {}
            Some(_) => self.unclear = true,
        }
    }
}
