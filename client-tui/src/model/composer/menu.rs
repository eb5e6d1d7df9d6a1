//! The menus below the text: commands after a `/`; files, symbols and resources of MCP servers after an `@`.
//!
//! No I/O: names are requested and arrive later. A menu is rebuilt only if its inputs have changed.

use std::path::{Path, PathBuf};

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use proto::hello::Role;
use proto::params::command::CommandInfo;
use proto::params::mcp::McpResource;
use proto::params::symbol::SymbolInfo;

use super::text::{Class, class};
use crate::slash::COMMANDS;

mod choices;
mod symbols;
mod tree;

pub use choices::{CommandChoice, of_skills};

/// Where menus look things up.
#[derive(Clone, Copy, Debug)]
pub struct MenuContext<'a> {
    pub cwd: &'a Path,
    pub home: Option<&'a Path>,
    pub role: Role,
}

/// The menu, if one is open.
#[derive(Debug, Default)]
pub struct Menu {
    pub entries: Entries,
    pub selected: usize,
    /// The user has moved the selection.
    stepped: bool,
    /// The text that it was closed at: it stays closed until that changes.
    closed: Option<String>,
    /// The word after the `/`.
    word: Option<String>,
    /// The path after the `@`.
    typed: Option<Typed>,
    /// The directory that was read last, with its names.
    listing: Option<(PathBuf, Vec<String>)>,
    /// The directory that was asked for.
    asked: Option<PathBuf>,
    /// The paths below the session's directory.
    tree: tree::Tree,
    /// The definitions that came last.
    symbols: symbols::MenuSymbols,
    /// The resources of servers that came last, as references name them: `server:uri`.
    resources: Vec<String>,
    /// The custom commands that came last. `None`: none have come yet.
    custom: Option<Vec<CommandInfo>>,
}

/// The entries of the menu.
#[derive(Debug, Default)]
pub enum Entries {
    #[default]
    None,
    Commands(Vec<CommandChoice>),
    /// Files and directories: those of one directory first, then matches anywhere below the session's directory, then
    /// symbols, then resources of servers. Names that begin as the typed one come before other files and symbols.
    Files(Vec<FileEntry>),
}

/// A file or a directory in the menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// The path up to and including the last slash, as it will be in the text.
    pub parent: String,
    /// A directory's ends in a slash.
    pub name: String,
}

/// Names that the menu needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reads {
    /// The custom commands.
    Commands,
    /// The names of one directory.
    Directory(PathBuf),
    /// The paths of all that is below one.
    Tree(PathBuf),
    /// The definitions in source files.
    Symbols,
    /// The resources of MCP servers.
    Resources,
}

/// A path that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// Offset of the `@`.
    pub at: usize,
    /// Up to the last slash, with it; empty: the session's directory.
    pub parent: String,
    /// The name after the parent.
    pub name: String,
}

impl Menu {
    /// How many entries it has; none: it is not open.
    #[must_use]
    pub fn count(&self) -> usize {
        match &self.entries {
            Entries::None => 0,
            Entries::Commands(rows) => rows.len(),
            Entries::Files(names) => names.len(),
        }
    }

    #[must_use]
    pub fn is_open(&self) -> bool {
        self.count() > 0
    }

    /// Whether it is about to open: a directory is being read.
    #[must_use]
    pub fn is_asking(&self) -> bool {
        self.asked.is_some()
    }

    /// Closes it until the text is another one than this.
    pub fn close(&mut self, text: &str) {
        self.reset();
        self.closed = Some(text.to_owned());
    }

    /// Nothing is typed that it is for. Paths and commands that were read stay for the next time.
    pub fn reset(&mut self) {
        let mut tree = std::mem::take(&mut self.tree);
        tree.left();
        *self = Self {
            tree,
            symbols: std::mem::take(&mut self.symbols),
            resources: std::mem::take(&mut self.resources),
            custom: std::mem::take(&mut self.custom),
            ..Self::default()
        };
    }

    /// The kind of the selected entry, if it is a file or a directory.
    #[must_use]
    pub fn typed(&self) -> Option<&Typed> {
        self.typed.as_ref()
    }

    /// Moves the selection, around at the ends.
    pub fn step(&mut self, down: bool) {
        self.stepped = true;
        let count = self.count().max(1);
        self.selected = match down {
            true => (self.selected + 1) % count,
            false => (self.selected + count - 1) % count,
        };
    }

    /// The command that is selected.
    #[must_use]
    pub fn command(&self) -> Option<&CommandChoice> {
        match &self.entries {
            Entries::Commands(choices) => choices.get(self.selected),
            Entries::None | Entries::Files(_) => None,
        }
    }

    /// The selected path, and the range that it replaces.
    #[must_use]
    pub fn file(&self) -> Option<(Typed, String)> {
        let file = self.entry()?;
        let typed = Typed {
            parent: file.parent.clone(),
            ..self.typed.clone()?
        };
        Some((typed, file.name.clone()))
    }

    /// Call after the text or the caret has moved. Returns the names to read, if they are not known.
    pub fn refresh(&mut self, text: &str, caret: usize, around: MenuContext) -> Vec<Reads> {
        if self.closed.as_deref() == Some(text) {
            return Vec::new();
        }
        self.closed = None;
        if let Some(word) = command_word(text) {
            let mut reads = Vec::new();
            if self.word.as_deref() != Some(word) {
                if self.word.is_none() {
                    reads.push(Reads::Commands);
                }
                self.reset();
                self.entries =
                    Entries::Commands(choices::fitting(word, around.role, self.custom()));
                self.word = Some(word.to_owned());
            }
            return reads;
        }
        self.word = None;
        let Some(typed) = path(text, caret) else {
            self.reset();
            return Vec::new();
        };
        let Some(directory) = directory(&typed.parent, around) else {
            return Vec::new();
        };
        let known = self.listing.as_ref().is_some_and(|it| it.0 == directory);
        if known && self.typed.as_ref() == Some(&typed) {
            return Vec::new();
        }
        let mut reads = Vec::new();
        // A server that gets ready has new ones.
        if self.typed.is_none() {
            reads.extend([Reads::Symbols, Reads::Resources]);
        }
        self.typed = Some(typed);
        self.filter(known);
        if self.tree.needs(around.cwd) {
            reads.push(Reads::Tree(around.cwd.to_path_buf()));
        }
        if !known && self.asked.as_ref() != Some(&directory) {
            self.asked = Some(directory.clone());
            reads.push(Reads::Directory(directory));
        }
        reads
    }

    /// The custom commands have arrived. The selection stays.
    pub fn commands_came(&mut self, mut commands: Vec<CommandInfo>, role: Role) {
        commands.retain(|command| {
            command.hidden_by.is_none() && !COMMANDS.iter().any(|row| row.is_named(&command.name))
        });
        self.custom = Some(commands);
        if let (Some(word), Entries::Commands(_)) = (&self.word, &self.entries) {
            let selected = self.command().cloned();
            let fitting = choices::fitting(word, role, self.custom());
            let place = fitting.iter().position(|it| Some(it) == selected.as_ref());
            self.selected = place.unwrap_or_default();
            self.entries = Entries::Commands(fitting);
        }
    }

    /// The custom commands that are known.
    #[must_use]
    pub fn custom(&self) -> &[CommandInfo] {
        self.custom.as_deref().unwrap_or_default()
    }

    /// Whether the custom commands have come.
    #[must_use]
    pub fn has_custom(&self) -> bool {
        self.custom.is_some()
    }

    /// The names of a directory have come.
    pub fn listed(&mut self, directory: PathBuf, names: Vec<String>) {
        if self.asked.as_ref() != Some(&directory) || self.typed.is_none() {
            return;
        }
        self.asked = None;
        self.listing = Some((directory, typeable(names)));
        self.filter(true);
    }

    /// The definitions in source files have arrived. The selection stays.
    pub fn symbols_came(&mut self, symbols: Vec<SymbolInfo>) {
        self.symbols.came(symbols);
        self.filter_again();
    }

    /// The resources of servers have arrived. The selection stays.
    pub fn resources_came(&mut self, resources: &[McpResource]) {
        let names = resources.iter();
        let names = names.map(|resource| format!("{}:{}", resource.server, resource.uri));
        self.resources = typeable(names.collect());
        self.filter_again();
    }

    /// The paths below a directory have arrived. The selection stays.
    pub fn walked(&mut self, root: PathBuf, paths: Vec<String>) {
        self.tree.walked(root, typeable(paths));
        self.filter_again();
    }

    fn filter_again(&mut self) {
        if self.typed.is_none() || self.asked.is_some() {
            return;
        }
        // Nobody has chosen the first row: another one may be the best now.
        let selected = self.entry().filter(|_| self.stepped).cloned();
        self.filter(true);
        if let (Some(selected), Entries::Files(files)) = (selected, &self.entries) {
            let place = files.iter().position(|file| *file == selected);
            self.selected = place.unwrap_or_default();
            self.stepped = true;
        }
    }

    fn entry(&self) -> Option<&FileEntry> {
        match &self.entries {
            Entries::Files(files) => files.get(self.selected),
            Entries::None | Entries::Commands(_) => None,
        }
    }

    fn filter(&mut self, known: bool) {
        (self.selected, self.stepped) = (0, false);
        self.entries = match (&self.typed, &self.listing) {
            (Some(typed), Some((_, names))) if known => {
                let mut entries: Vec<FileEntry> = files(&typed.name, names)
                    .into_iter()
                    .filter(|name| begins_as(name, typed) || !self.tree.leaves_out(typed, name))
                    .map(|name| FileEntry {
                        parent: typed.parent.clone(),
                        name,
                    })
                    .collect();
                let found = self.tree.find(typed);
                let elsewhere = |entry: &FileEntry| entry.parent != typed.parent;
                entries.extend(found.into_iter().filter(elsewhere));
                entries.extend(self.symbols.find(typed));
                entries.sort_by_key(|it| !begins_as(&it.name, typed));
                entries.extend(self.fitting_resources(typed));
                Entries::Files(entries)
            }
            _ => Entries::None,
        };
    }
}

/// Whether a name begins with the typed letters, whatever their case.
fn begins_as(name: &str, typed: &Typed) -> bool {
    name.to_lowercase().starts_with(&typed.name.to_lowercase())
}

/// Resources in the menu: files come first, and all of a server's would hide nothing else.
const RESOURCES_MAX: usize = 50;

impl Menu {
    /// The resources that fit, the best first. Nothing typed: all, in their order.
    fn fitting_resources(&self, typed: &Typed) -> Vec<FileEntry> {
        let needle = format!("{}{}", typed.parent, typed.name);
        let pattern = fuzzy(&needle);
        let mut matcher = Matcher::new(Config::DEFAULT);
        let mut found: Vec<_> = self
            .resources
            .iter()
            .filter_map(|name| Some((u32::MAX - score(&pattern, name, &mut matcher)?, name)))
            .collect();
        found.sort();
        let names = found.into_iter().take(RESOURCES_MAX);
        names
            .map(|(_, name)| FileEntry {
                parent: String::new(),
                name: name.clone(),
            })
            .collect()
    }
}

/// Without names that a terminal would obey: they cannot be written into the text either.
fn typeable(mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| super::chips::plain(name) == *name && !name.contains('\n'));
    names
}

/// The name of a command that is being typed.
fn command_word(text: &str) -> Option<&str> {
    let word = text.strip_prefix('/')?;
    let none = word.starts_with('/') || word.contains(char::is_whitespace);
    (!none).then_some(word)
}

/// The path after an `@`, if the caret is at its end.
#[must_use]
pub fn path(text: &str, caret: usize) -> Option<Typed> {
    let (before, after) = (text.get(..caret)?, text.get(caret..)?);
    if after.chars().next().is_some_and(is_letter) {
        return None;
    }
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let quoted = before.get(line..)?.rfind("@\"").map(|at| line + at);
    let quoted = quoted
        .map(|at| (at, at + 2))
        .filter(|(_, from)| before.get(*from..).is_some_and(|path| !path.contains('"')));
    let (at, from) = quoted
        .or_else(|| {
            let word = before.rfind(char::is_whitespace).map_or(line, |at| {
                at + before
                    .get(at..)
                    .and_then(|it| it.chars().next())
                    .map_or(1, char::len_utf8)
            });
            let mut signs = before.get(word..)?.match_indices('@');
            signs
                .find(|(at, _)| begins(before.get(..word + at).unwrap_or_default()))
                .map(|(at, _)| (word + at, word + at + 1))
        })
        .filter(|(at, _)| begins(before.get(..*at).unwrap_or_default()))?;
    let path = before.get(from..)?;
    if path.contains('"') || path.chars().any(super::chips::is_chip) {
        return None;
    }
    let split = path.rfind('/').map_or(0, |at| at + 1);
    Some(Typed {
        at,
        parent: path.get(..split)?.to_owned(),
        name: path.get(split..)?.to_owned(),
    })
}

/// Whether an `@` after this text begins a path. Inside an address or a path it does not.
fn begins(before: &str) -> bool {
    let last = before.chars().next_back();
    !last.is_some_and(|it| is_letter(it) || matches!(it, '/' | '.' | '-' | '+' | '@'))
}

/// Whether it goes on with a word or an address. Wide scripts have no blanks between words: there a path may begin
/// anywhere.
fn is_letter(character: char) -> bool {
    class(character.encode_utf8(&mut [0; 4])) == Class::Word
}

fn directory(parent: &str, around: MenuContext) -> Option<PathBuf> {
    match parent.strip_prefix("~/") {
        Some(rest) => Some(around.home?.join(rest)),
        None => Some(around.cwd.join(parent)),
    }
}

/// The text to insert for a path. `done`: the path is complete.
#[must_use]
pub fn written(parent: &str, name: &str, done: bool) -> String {
    let blank = parent.contains(char::is_whitespace) || name.contains(char::is_whitespace);
    match (blank, done) {
        (true, true) => format!("@\"{parent}{name}\" "),
        (true, false) => format!("@\"{parent}{name}"),
        (false, true) => format!("@{parent}{name} "),
        (false, false) => format!("@{parent}{name}"),
    }
}

fn fuzzy(needle: &str) -> Pattern {
    Pattern::new(
        needle,
        CaseMatching::Smart,
        Normalization::Smart,
        AtomKind::Fuzzy,
    )
}

fn score(pattern: &Pattern, name: &str, matcher: &mut Matcher) -> Option<u32> {
    let mut letters = Vec::new();
    pattern.score(Utf32Str::new(name, &mut letters), matcher)
}

/// Names that fit, the best first; what nobody looks for last.
fn files(typed: &str, names: &[String]) -> Vec<String> {
    let mut config = Config::DEFAULT;
    config.prefer_prefix = true;
    let mut matcher = Matcher::new(config);
    let pattern = fuzzy(typed);
    let mut found: Vec<_> = names
        .iter()
        .filter(|name| typed.starts_with('.') == name.starts_with('.'))
        .filter_map(|name| {
            let bare = name.trim_end_matches('/');
            let score = score(&pattern, bare, &mut matcher)?;
            let unlikely = matches!(bare, ".git" | "node_modules" | "target");
            let order = (
                unlikely,
                u32::MAX - score,
                !name.ends_with('/'),
                name.to_lowercase(),
            );
            Some((order, name))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, name)| name.clone()).collect()
}

#[cfg(test)]
mod tests;
