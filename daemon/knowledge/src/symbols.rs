//! Definitions in the source files of a workspace, and the lines that each takes.
//!
//! Found by the form of their lines (`symbol_syntax`), without language servers. `references` attaches them, and clients
//! complete them.

use std::time::Duration;

use workspace::{Access, LineWindow, ResolvedPath, SearchMode, SearchQuery, Workspace};

use crate::symbol_syntax::{self, PATTERN};

/// Time for looking through the files.
const TIME_MAX: Duration = Duration::from_secs(2);
/// Lines that may define something; of more, those of the last files are left out.
const LINES_MAX: usize = 20_000;
/// Lines of a definition.
const EXTENT_MAX: u64 = 400;
/// Lines before a definition that may belong to it: comments and attributes.
const BEFORE_MAX: u64 = 40;
/// Bytes of a line that are looked at.
const LINE_BYTES_MAX: usize = 400;

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    /// Path from the working directory; absolute outside of it.
    pub path: String,
    /// Line of the name, from 1.
    pub line: u64,
}

/// The definitions in some files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// Sorted by path and line.
    pub symbols: Vec<Symbol>,
    /// There are more.
    pub partial: bool,
}

/// The definitions in the source files below the working directory: without hidden and ignored files, and those that
/// `deny_read` names. Blocks, for at most two seconds.
#[must_use]
pub fn find_symbols(workspace: &Workspace) -> Symbols {
    let root = workspace.cwd().to_string_lossy().into_owned();
    match workspace.resolve(&root, Access::Read) {
        Ok(at) => symbols_at(workspace, &at, symbol_syntax::source_globs()),
        Err(_) => Symbols::default(),
    }
}

/// The definitions in one file, whatever its name.
pub(crate) fn symbols_in(workspace: &Workspace, file: &ResolvedPath) -> Symbols {
    symbols_at(workspace, file, Vec::new())
}

fn symbols_at(workspace: &Workspace, at: &ResolvedPath, globs: Vec<String>) -> Symbols {
    let query = SearchQuery {
        pattern: PATTERN.to_owned(),
        mode: SearchMode::Content,
        globs,
        file_type: None,
        before: 0,
        after: 0,
        case_insensitive: false,
        multiline: false,
        include_ignored: false,
        limit: LINES_MAX,
        time_max: TIME_MAX,
    };
    let Ok(found) = workspace.search(at, &query, &|| false) else {
        return Symbols::default();
    };
    let mut symbols = Vec::new();
    for file in &found.entries {
        let path = workspace.shown(&file.path);
        for line in file.lines.iter().filter(|line| line.left_out == 0) {
            let text = String::from_utf8_lossy(&line.bytes);
            symbols.extend(symbol_syntax::definition(&text).map(|name| Symbol {
                name: name.to_owned(),
                path: path.clone(),
                line: line.number,
            }));
        }
    }
    Symbols {
        symbols,
        partial: found.partial || found.left_out > 0,
    }
}

/// The lines of a definition, with the comments and attributes before it. Blocks.
pub(crate) fn lines_of(workspace: &Workspace, file: &ResolvedPath, line: u64) -> (u64, u64) {
    let first = line.saturating_sub(BEFORE_MAX).max(1);
    let window = LineWindow {
        first,
        lines_max: line - first + EXTENT_MAX,
        line_bytes_max: LINE_BYTES_MAX,
        bytes_max: usize::MAX,
    };
    let Ok(content) = workspace.window(file, window) else {
        return (line, line);
    };
    let lines: Vec<_> = content
        .lines
        .iter()
        .map(|line| String::from_utf8_lossy(&line.bytes).into_owned())
        .collect();
    let index = usize::try_from(line - first).unwrap_or(usize::MAX);
    let (start, end) = symbol_syntax::extent(&lines, index);
    (first + start as u64, first + end as u64)
}

/// The parts of `path#name`, if that is its form.
pub(crate) fn path_and_name(text: &str) -> Option<(&str, &str)> {
    let (path, name) = text.rsplit_once('#')?;
    let is_name = symbol_syntax::is_name(name);
    (!path.is_empty() && is_name).then_some((path, name))
}

#[cfg(test)]
mod tests;
