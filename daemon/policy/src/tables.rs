//! The tables of programs: `programs.toml` next to this file, which is compiled in.
//!
//! Facts, independent of rules. Called by all modules that judge commands.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use toml::Value;

/// Names of programs, options or subcommands.
pub(crate) type Names = HashSet<String>;

/// Reads a value of a compiled-in table; a missing one is empty. Panics if it has another type: a test reads each
/// table. Serde's deserializers for these tables would add 50 KB to the program.
pub(crate) trait FromToml {
    fn from_toml(value: Option<Value>) -> Self;
}

/// Defines structs, and reads them from a table with members of the same names. Panics on unknown members.
macro_rules! from_toml {
    ($($(#[$about:meta])* $vis:vis struct $name:ident {
        $($(#[$member_about:meta])* $member_vis:vis $member:ident: $type:ty,)*
    })*) => {$(
        $(#[$about])*
        $vis struct $name {
            $($(#[$member_about])* $member_vis $member: $type,)*
        }

        impl $crate::tables::FromToml for $name {
            fn from_toml(value: Option<toml::Value>) -> Self {
                let mut members = toml::Table::from_toml(value);
                let read = Self {
                    $($member: FromToml::from_toml(members.remove(stringify!($member))),)*
                };
                assert!(members.is_empty(), "unknown members: {members:?}");
                read
            }
        }
    )*};
}
pub(crate) use from_toml;

from_toml! {
    /// The comments in the file describe each table.
    pub(crate) struct Tables {
        pub launchers: Names,
        pub interpreters: Names,
        pub shallow_readers: Names,
        pub deep_readers: Names,
        pub plain_readers: Names,
        pub input_readers: Names,
        pub awks: Names,
        pub versioned: Names,
        pub never: Names,
        pub writers: Names,
        pub harmless: Names,
        pub flag_only_programs: Names,
        pub file_workers: Names,
        pub whole_names: Names,
        pub shells: Names,
        pub other_shells: Names,
        pub input_runners: Names,
        pub builtins: Names,
        pub changing_builtins: Names,
        pub evaluating_builtins: Names,
        pub harmless_variables: Names,
        pub code_variables: Names,
        pub single_purpose: Names,
        pub code_options: HashMap<String, CodeOptions>,
        pub grantable_subcommands: HashMap<String, Names>,
        pub launching_subcommands: HashMap<String, HashMap<String, usize>>,
        pub subcommands: HashMap<String, Names>,
        pub known_subcommands: HashMap<String, Names>,
        pub shortened_subcommands: HashMap<String, Names>,
        pub git: GitTables,
        /// For programs that are in no table: option names that mean the same everywhere.
        pub unknown: DangerousOptions,
        pub dangers: Vec<DangerousOptions>,
        pub project_runners: Vec<ProjectRunner>,
        pub code_readers: Vec<CodeReader>,
    }

    /// A program that runs what files of a project say.
    pub(crate) struct ProjectRunner {
        /// Also with a subcommand: `docker build`.
        pub names: Names,
        /// The files, in the directory that it works in.
        pub files: Names,
        /// It also takes the nearest of these files from a directory above.
        pub upward: bool,
        /// Options whose value is such a file in place of `files`.
        pub file_options: Names,
        /// Options whose value is a further file.
        pub more_files: Names,
        /// Options whose value is the directory that it works in.
        pub dir_options: Names,
        /// Files that it obeys even if it only reports about itself: they choose its version.
        pub always: Names,
        /// First operands with which it runs nothing of the project.
        pub quiet: Names,
        /// Its operands are files that it runs, …
        pub operands: bool,
        /// … or those of them that look like paths are, …
        pub paths: bool,
        /// … or they are files or directories of the project.
        pub places: bool,
    }

    /// A program that reads and runs code from files. Options are written with their dashes; those of one letter also
    /// count in clusters.
    pub(crate) struct CodeReader {
        /// Also with a version: `python3.12`. With a subcommand (`git rebase`), the row is about the arguments after it.
        pub names: Names,
        /// Options whose value names files or directories with code.
        pub files: Names,
        /// Options whose value is the name of a module, which is looked for in the current directory too.
        pub modules: Names,
        /// What is added to the name of a module or of a file without an ending.
        pub suffixes: Names,
        /// Options whose value is the code, or names it: then no operand is.
        pub code: Names,
        /// Options whose value is code, beside which operands mean what they do without it.
        pub texts: Names,
        /// Options whose value is a line for a shell, perhaps after `name=` or `!`.
        pub lines: Names,
        /// Options with which it may run anything.
        pub unclear: Names,
        /// Texts that lead from its code to programs or files: `\\!`.
        pub escapes: Names,
        /// Its code may run programs, as far as the parser of this language (`awk`, `sed`) can tell; `make`: with
        /// unclear options.
        pub language: String,
        /// Its lines may run in another directory.
        pub elsewhere: bool,
        /// Other options whose value is the next word, …
        pub valued: Names,
        /// … and those whose value, if any, is in the same word.
        pub attached: Names,
        /// Those of one letter whose value is the next word even inside a cluster: `-oe pipefail`.
        pub detached: Names,
        /// The letters that have values if the first argument is a cluster without a dash: `tar xIf a b`.
        pub undashed: String,
        /// Options with which the first operand is code instead of a file, …
        pub line: Names,
        /// … and those with which operands are arguments of the code on standard input.
        pub input: Names,
        pub operand: Operand,
        /// Without an operand, it reads code from standard input. With [`Operand::Data`]: from a file there.
        pub reads_input: bool,
        /// Subcommands after which the operand comes. If there are any, other operands are only paths.
        pub subcommands: Names,
        /// Options with which it only reports about itself, if there is nothing else.
        pub reports: Names,
    }

    /// Facts about git.
    pub(crate) struct GitTables {
        pub globals: Names,
        pub valued_globals: Names,
        pub readers: Names,
        pub places: Names,
        pub risky_options: Names,
        pub own_options: HashMap<String, Names>,
        pub runners: Names,
        pub elsewhere: Names,
        pub known: Names,
        pub listing_options: Names,
        pub valued_listing_options: Names,
    }

    /// Options of an interpreter that are followed by code.
    pub(crate) struct CodeOptions {
        pub short: String,
        pub long: Names,
    }

    /// Options with which some programs start others, load code or write to a given file. Short ones count inside
    /// clusters (`-xo`), long ones also when abbreviated.
    pub(crate) struct DangerousOptions {
        pub programs: Names,
        pub short: String,
        pub long: Names,
    }
}

/// What the first operand of a program that reads code is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operand {
    /// A file with code.
    Script,
    /// The code itself.
    Code,
    /// The name of a module.
    Module,
    /// No code. Options may follow.
    Data,
    /// Code, as the other operands are. Options may follow.
    Texts,
    /// A file or directory with code, if it looks like a path, as the other operands are. Options may follow.
    Path,
    /// The first word of a command: a line for a shell, if it is alone.
    Line,
    /// No code. Only long options mean the same after it.
    Subcommand,
}

impl FromToml for Operand {
    fn from_toml(value: Option<Value>) -> Self {
        match String::from_toml(value).as_str() {
            "script" => Self::Script,
            "code" => Self::Code,
            "module" => Self::Module,
            "data" => Self::Data,
            "texts" => Self::Texts,
            "path" => Self::Path,
            "line" => Self::Line,
            "subcommand" => Self::Subcommand,
            other => panic!("no kind of operand: `{other}`"),
        }
    }
}

/// All of them.
pub(crate) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(|| parsed(include_str!("programs.toml")));
    &TABLES
}

/// Parses a compiled-in table.
pub(crate) fn parsed<T: FromToml>(text: &str) -> T {
    let table = text.parse::<toml::Table>();
    T::from_toml(Some(Value::Table(
        table.unwrap_or_else(|error| panic!("{error}")),
    )))
}

macro_rules! values {
    ($($type:ty: $pattern:pat => $read:expr;)*) => {$(
        impl FromToml for $type {
            fn from_toml(value: Option<Value>) -> Self {
                match value {
                    Some($pattern) => $read,
                    Some(other) => panic!("another type: {other}"),
                    None => Self::default(),
                }
            }
        }
    )*};
}

values! {
    bool: Value::Boolean(yes) => yes;
    usize: Value::Integer(number) => usize::try_from(number).unwrap_or_default();
    String: Value::String(text) => text;
    Names: Value::Array(names) => names.into_iter().map(|name| String::from_toml(Some(name))).collect();
    toml::Table: Value::Table(members) => members;
}

impl<T: FromToml> FromToml for Vec<T> {
    fn from_toml(value: Option<Value>) -> Self {
        match value {
            Some(Value::Array(rows)) => rows
                .into_iter()
                .map(|row| T::from_toml(Some(row)))
                .collect(),
            other => panic!("no list: {other:?}"),
        }
    }
}

impl<T: FromToml> FromToml for HashMap<String, T> {
    fn from_toml(value: Option<Value>) -> Self {
        let members = toml::Table::from_toml(value).into_iter();
        members
            .map(|(name, value)| (name, T::from_toml(Some(value))))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use toml::Value;

    /// Every list in a file, with its path.
    fn lists(value: &Value, way: &str, found: &mut Vec<(String, Vec<String>)>) {
        match value {
            Value::Table(table) => table
                .iter()
                .for_each(|(key, value)| lists(value, &format!("{way}.{key}"), found)),
            Value::Array(rows) if rows.iter().all(Value::is_str) => {
                let names = rows.iter().filter_map(Value::as_str).map(str::to_owned);
                found.push((way.to_owned(), names.collect()));
            }
            Value::Array(rows) => rows.iter().for_each(|row| lists(row, way, found)),
            _ => {}
        }
    }

    #[test]
    fn every_list_is_sorted_and_holds_no_name_twice() {
        for file in [
            include_str!("programs.toml"),
            include_str!("shell/launchers.toml"),
        ] {
            let mut found = Vec::new();
            lists(&toml::from_str(file).unwrap(), "", &mut found);
            assert!(found.len() > 20);
            for (way, names) in found {
                let mut sorted = names.clone();
                sorted.sort();
                sorted.dedup();
                assert_eq!(names, sorted, "{way}");
            }
        }
        assert!(!super::tables().dangers.is_empty());
    }
}
