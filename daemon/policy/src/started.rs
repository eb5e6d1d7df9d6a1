//! The programs that a line starts, as far as the line shows. Used for unsandboxed runs, whose programs are located
//! before the user is asked.
//!
//! Only names: the caller finds the files. Commands without a file (functions, builtins) are not included. A program
//! that is unknown before the line runs has an unknown `PATH`: the caller takes it for one that the session may change.

use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

use crate::programs::base;
use crate::shell::{self, NestingStep, Part, Script, Value, Word};
use crate::tables::tables;
use history::History;

pub(crate) use interpreters::may_run_code;

mod code_lines;
mod history;
mod inputs;
mod interpreters;
mod languages;
mod paths;
mod project;
mod rows;
mod unclear;
mod variables;

/// A program that a line starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StartedProgram {
    /// The name as written in the line.
    pub name: String,
    /// The `PATH` to search, if the line sets one.
    pub path: Setting,
    /// The directory to search, if the line enters one.
    pub dir: Setting,
    pub kind: StartedKind,
}

/// How the line has it run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StartedKind {
    Program,
    /// Another program reads and runs it, so that it need not be executable: `sh x.sh`.
    Script,
    /// A runner does what it says, although the line does not name it: the `Makefile` of `make`. `upward`: if it is not
    /// there, the nearest one in a directory above.
    ProjectFile {
        upward: bool,
    },
    /// Python looks for its modules in the directory that it is started in first: whatever lies there may be imported.
    ImportedModules,
}

/// A setting that the line may have changed before a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Setting {
    #[default]
    Unchanged,
    /// The new value; `$PATH` and `$PWD` stay as written.
    To(String),
    /// Changed in a way that is unknown before it runs.
    Unknown,
}

/// Changes that affect later commands of a line.
#[derive(Clone, Default)]
struct Changes {
    path: Setting,
    dir: Setting,
    functions: HashSet<String>,
    /// The number of lines in whose options this one is.
    depth: usize,
    text_left: TextLeft,
}

/// How many more characters of lines in options are looked into. Shared by all of a line: nesting could multiply them.
#[derive(Clone)]
struct TextLeft(Rc<Cell<usize>>);

impl Default for TextLeft {
    fn default() -> Self {
        Self(Rc::new(Cell::new(TEXT_MAX)))
    }
}

impl TextLeft {
    /// Takes a line. False: there is not enough left, now and later.
    fn take(&self, line: &str) -> bool {
        let left = self.0.get().checked_sub(line.len() + TEXT_PER_LINE);
        self.0.set(left.unwrap_or_default());
        left.is_some()
    }
}

/// Maximum depth of lines in the options of other lines' commands; deeper ones are unknown.
const DEPTH_MAX: usize = 4;

/// Maximum characters of such lines; the rest is unknown.
const TEXT_MAX: usize = 60_000;

/// Characters for which the work of a short line stands.
const TEXT_PER_LINE: usize = 100;

/// The programs that a line starts, each once, in their order.
#[must_use]
pub fn started_programs(line: &str) -> Vec<StartedProgram> {
    programs_after(line, Changes::default())
}

/// The programs that a line starts after these changes.
fn programs_after(line: &str, changes: Changes) -> Vec<StartedProgram> {
    let script = shell::read(line);
    let mut history = History::new(line, changes);
    let mut found: Vec<StartedProgram> = Vec::new();
    let mut seen = HashSet::new();
    let unread = unclear::unread(line, &script);
    let set = variables::set_by_expansion(line);
    found.extend(unread.iter().chain(&set).map(unknown));
    for (index, part) in script.parts.iter().enumerate() {
        for changes in history.before(part) {
            for started in started_by(&script, index, part, changes) {
                if seen.insert(started.clone()) {
                    found.push(started);
                }
            }
        }
        history.take(part);
    }
    found
}

/// What one part starts after these changes.
fn started_by(
    script: &Script,
    index: usize,
    part: &Part,
    changes: &Changes,
) -> Vec<StartedProgram> {
    let program = started(script, part, changes);
    let code = interpreters::code_of(script, index, part);
    let mut words = code.files;
    words.extend(unclear::arguments(script, index, part));
    let of_lines = code.lines.iter().flat_map(|line| line.programs(changes));
    // Which of these are programs is unknown, so only the files that they would read matter.
    let possible = unclear::commands(script, index, part);
    let possible = possible.iter().flat_map(|line| line.programs(changes));
    let is_read =
        |one: &StartedProgram| one.kind != StartedKind::Program || one.path == Setting::Unknown;
    let possible = possible.filter(is_read);
    let scripts = as_scripts(script, part, changes, words);
    let of_variables = variables::files_of(script, part, changes);
    let of_project = project::files_of(script, part, changes);
    let imported = modules_of(script, part, changes);
    let files = scripts.into_iter().chain(of_variables);
    let files = files
        .chain(of_project)
        .chain(imported)
        .chain(of_lines)
        .chain(possible);
    program.into_iter().chain(files).collect()
}

fn started(script: &Script, part: &Part, changes: &Changes) -> Option<StartedProgram> {
    let word = part.words.first()?;
    if !word.is_known() || word.glob {
        return Some(unknown(word));
    }
    if word.text.is_empty() || (is_inner(part, &word.text) && !word.text.contains('/')) {
        return None;
    }
    if changes.functions.contains(&word.text) && part.parent.is_none() {
        return None;
    }
    let launcher = part.parent.and_then(|at| script.parts.get(at));
    let path = match word.text.contains('/') {
        true => Setting::Unchanged,
        false => path_of(part, launcher, changes),
    };
    // `env -C`, `sudo -D`, `find -execdir`: a launcher may start it in another directory.
    let moved = launcher.is_some_and(|launcher| moves(launcher, part));
    let dir = match moved {
        _ if word.text.starts_with('/') || word.tilde => Setting::Unchanged,
        true => Setting::Unknown,
        false => changes.dir.clone(),
    };
    if paths::leads_through_processes(&word.text, &dir, &path) {
        return Some(unknown(word));
    }
    // A quoted `~` is the name of a file, which the caller would take for the home.
    let name = match word.text.starts_with('~') && !word.tilde {
        true => format!("./{}", word.text),
        false => word.text.clone(),
    };
    Some(StartedProgram {
        name,
        path,
        dir,
        kind: StartedKind::Program,
    })
}

/// A program that is unknown before the line runs.
fn unknown(word: &Word) -> StartedProgram {
    StartedProgram {
        name: word.text.clone(),
        path: Setting::Unknown,
        dir: Setting::Unchanged,
        kind: StartedKind::Program,
    }
}

/// The `PATH` that a command is looked for on.
fn path_of(part: &Part, launcher: Option<&Part>, changes: &Changes) -> Setting {
    let mut given = part.assignments.iter();
    let own = given.rfind(|one| one.name == "PATH");
    match (own, launcher.map(path_of_launcher)) {
        (Some(own), _) => changes.path_from(&known(&own.value)),
        (None, Some(path)) if path != Setting::Unchanged => changes.path_from(&path),
        (None, _) => changes.path.clone(),
    }
}

/// Words of a part as files that are read and run, as if they were started by their own names.
fn as_scripts(
    script: &Script,
    part: &Part,
    changes: &Changes,
    words: Vec<Word>,
) -> Vec<StartedProgram> {
    let mut alone = part.clone();
    let as_programs = words.into_iter().filter_map(|word| {
        alone.words = vec![word];
        let started = started(script, &alone, changes)?;
        Some(StartedProgram {
            kind: StartedKind::Script,
            ..started
        })
    });
    as_programs.collect()
}

/// The modules beside which Python is started with code of the line or a module: there it looks for imports first. With
/// a script it looks beside that, and with `-I` and `-P` only among its own.
fn modules_of(script: &Script, part: &Part, changes: &Changes) -> Option<StartedProgram> {
    let name = part.program().map(base)?;
    if !name.starts_with("python") && !name.starts_with("pypy") {
        return None;
    }
    if !imports_beside(part.words.get(1..).unwrap_or_default()) {
        return None;
    }
    let word = Word {
        text: "./*.py".to_owned(),
        glob: false,
        tilde: false,
        ..part.words.first()?.clone()
    };
    let alone = Part {
        words: vec![word],
        ..part.clone()
    };
    let started = started(script, &alone, changes)?;
    Some(StartedProgram {
        kind: StartedKind::ImportedModules,
        ..started
    })
}

/// Whether Python with these arguments imports from the directory that it is started in.
fn imports_beside(arguments: &[Word]) -> bool {
    let mut arguments = arguments.iter();
    while let Some(word) = arguments.next() {
        let Some(letters) = word.text.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            // A script, which has its modules beside it; or standard input.
            return word.text == "-";
        };
        if letters.starts_with('-') {
            if matches!(letters, "-version" | "-help") {
                return false;
            }
            continue;
        }
        for (at, letter) in letters.char_indices() {
            match letter {
                'c' | 'm' => return true,
                'I' | 'P' | 'V' | 'h' => return false,
                // Its value follows.
                'W' | 'X' => {
                    if at + 1 == letters.len() {
                        arguments.next();
                    }
                    break;
                }
                _ => {}
            }
        }
    }
    // Standard input.
    true
}

/// Whether the shell runs the command itself.
fn is_inner(part: &Part, name: &str) -> bool {
    let by = part.via.iter().rev().find_map(|step| match step {
        NestingStep::Launched(launcher) => Some(launcher.as_str()),
        NestingStep::Line(_) => Some("command"),
        _ => None,
    });
    // These launchers let the shell run it; other launchers start a program.
    let by_shell = matches!(by, None | Some("command" | "builtin" | "time"));
    by_shell && tables().builtins.contains(name)
}

/// The `PATH` set by `env PATH=… program`.
fn path_of_launcher(launcher: &Part) -> Setting {
    let mut words = launcher.words.iter().skip(1);
    let set = words.find_map(|word| {
        let value = word.text.strip_prefix("PATH=")?;
        Some(known(&Word {
            text: value.to_owned(),
            ..word.clone()
        }))
    });
    let cleared = launcher.words.iter().any(|word| {
        matches!(word.text.as_str(), "-i" | "-" | "--ignore-environment")
            || word.text.contains("PATH")
    });
    match set {
        Some(set) => set,
        None if cleared && base(launcher.program().unwrap_or_default()) == "env" => {
            Setting::Unknown
        }
        None => Setting::Unchanged,
    }
}

fn moves(launcher: &Part, part: &Part) -> bool {
    let until = part.offset.unwrap_or(launcher.words.len());
    let options = launcher.words.iter().take(until).skip(1);
    let mut options = options.map(|word| word.text.as_str());
    match base(launcher.program().unwrap_or_default()) {
        "env" | "genv" => options.any(|word| word.starts_with("-C") || word.starts_with("--ch")),
        "find" | "gfind" => options.any(|word| word == "-execdir" || word == "-okdir"),
        "sudo" | "doas" => {
            options.any(|word| word.starts_with("-D") || word.starts_with("--chd") || word == "-i")
        }
        _ => false,
    }
}

/// A value as far as it is known. It may contain `$PATH` and `$PWD`.
fn known(value: &Word) -> Setting {
    if value.value == Value::Known && !value.tilde && !value.text.contains(":~") {
        return Setting::To(value.text.clone());
    }
    // Unknown parts stay as written.
    let text = value.text.replace('"', "");
    let rest = ["${PATH}", "$PATH", "${PWD}", "$PWD"].iter();
    let rest = rest.fold(text.clone(), |text, name| text.replace(name, ""));
    let plain = !value.glob && !rest.contains(['$', '`', '~', '\'', '\\', '{']);
    match plain {
        true => Setting::To(text),
        false => Setting::Unknown,
    }
}

impl Changes {
    /// The `PATH` from a value, after earlier changes by the line.
    fn path_from(&self, value: &Setting) -> Setting {
        let Setting::To(text) = value else {
            return value.clone();
        };
        let names_old = text.contains("$PATH") || text.contains("${PATH}");
        match &self.path {
            Setting::Unknown if names_old => Setting::Unknown,
            Setting::To(old) if names_old => {
                Setting::To(text.replace("${PATH}", old).replace("$PATH", old))
            }
            Setting::To(_) | Setting::Unchanged | Setting::Unknown => value.clone(),
        }
    }

    /// Applies a command's changes for later commands.
    fn take(&mut self, part: &Part) {
        // A function that is defined in a subshell or under a condition may not exist.
        if let Some(NestingStep::Function(name)) = part.via.first() {
            self.functions.insert(name.clone());
        }
        let assigned = part.assignments.iter().filter(|one| one.name == "PATH");
        if part.words.is_empty() {
            for one in assigned {
                self.path = self.path_from(&known(&one.value));
            }
            return;
        }
        let program = part.program().unwrap_or_default();
        let arguments = part.words.get(1..).unwrap_or_default();
        match program {
            "cd" | "pushd" => self.enter(program, arguments),
            "unset" if arguments.iter().any(|word| word.text.starts_with('-')) => {
                self.functions.clear();
                self.path = Setting::Unknown;
            }
            "popd" => self.dir = Setting::Unknown,
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                for one in assigned {
                    self.path = self.path_from(&known(&one.value));
                }
                let given = part.assignments.is_empty();
                for word in arguments.iter().filter(|_| given) {
                    if let Some(value) = word.text.strip_prefix("PATH=") {
                        let value = Word {
                            text: value.to_owned(),
                            ..word.clone()
                        };
                        self.path = self.path_from(&known(&value));
                    }
                }
            }
            // The program that a name stands for changes, or may change.
            "hash" | "alias" | "enable" | "eval" | "source" | "." | "unset" | "read"
            | "mapfile" | "readarray" | "printf" | "getopts" | "shopt" | "set"
                if changes_names(program, arguments) =>
            {
                self.path = Setting::Unknown;
            }
            _ => {}
        }
    }

    /// The same for a command whose option names the directory that it works in.
    fn within(&self, dir: &Word) -> Self {
        let mut changes = self.clone();
        changes.enter("cd", std::slice::from_ref(dir));
        changes
    }

    fn enter(&mut self, program: &str, arguments: &[Word]) {
        let mut named = arguments
            .iter()
            .filter(|word| !matches!(word.text.as_str(), "-P" | "-L" | "--"));
        let to = match (named.next(), named.next()) {
            (Some(word), None) if word.value == Value::Known && !word.glob && !word.tilde => {
                Some(word.text.as_str()).filter(|text| *text != "-" && !text.starts_with('+'))
            }
            _ => None,
        };
        self.dir = match (to, &self.dir) {
            (Some(to), _) if to.starts_with('/') => Setting::To(to.to_owned()),
            (Some(to), Setting::To(before)) if program == "cd" => {
                Setting::To(format!("{before}/{to}"))
            }
            (Some(to), Setting::Unchanged) => Setting::To(to.to_owned()),
            _ => Setting::Unknown,
        };
    }
}

fn changes_names(program: &str, arguments: &[Word]) -> bool {
    let says = |text: &str| arguments.iter().any(|word| word.text.contains(text));
    match program {
        "hash" => says("-p"),
        "enable" => says("-f"),
        "alias" => !arguments.is_empty(),
        "shopt" => says("expand_aliases"),
        "set" => says("-a") || says("-o"),
        "unset" | "read" | "mapfile" | "readarray" | "printf" | "getopts" => says("PATH"),
        _ => true,
    }
}

#[cfg(test)]
mod own_tests;
#[cfg(test)]
mod tests;
