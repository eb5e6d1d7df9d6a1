//! Puts the files and directories that a prompt refers to into blocks before its text.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use proto::item::{Attachment, AttachmentKind};
use proto::record::{KnownFile, PromptReferences};
use workspace::{
    Access, DirContents, EntryKind, FileKind, LineWindow, ListEntry, ResolvedPath, WindowContent,
    Workspace,
};

use crate::reference_syntax::{Reading, Reference, find_references};
use crate::symbol_syntax::is_name;
use crate::symbols::{Symbol, Symbols, find_symbols, lines_of, path_and_name, symbols_in};

/// Tokens of all files together (contract, chapter 60), in bytes: 4 a token.
const BYTES_MAX: usize = 64_000 * 4;
/// Entries of a directory.
const ENTRIES_MAX: usize = 500;
/// Levels of a directory.
const DEPTH_MAX: usize = 16;
/// References of one prompt.
const REFERENCES_MAX: usize = 64;
/// Definitions of one name.
const PLACES_MAX: usize = 3;
/// Bytes of one line.
const LINE_BYTES_MAX: usize = 16 * 1024;

/// Why nothing more is attached.
const FULL: &str = "the files of this prompt have more than 64000 tokens";

/// What the references of a prompt lead to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedReferences {
    /// `None`: the prompt refers to nothing that exists.
    pub found: Option<PromptReferences>,
    /// References that lead to nothing that can be attached, and why. In words for the user.
    pub problems: Vec<String>,
}

/// A text that may refer to files.
#[derive(Clone, Copy)]
pub struct ReferringText<'a> {
    pub text: &'a str,
    /// Whether a path that leads to nothing from the working directory counts from the workspace root: in a file of the
    /// project's.
    pub from_root: bool,
    /// Why a path must not be read for it. `None`: it may.
    pub denied: &'a dyn Fn(&Path) -> Option<String>,
    /// The text of a resource (`server:uri`), or why there is none. `None`: it names no server.
    pub resource: &'a ReadResource<'a>,
}

/// Reads the resource of a server, by the server's name and the URI.
pub type ReadResource<'a> = dyn Fn(&str, &str) -> Option<Result<String, String>> + 'a;

/// Reads what a prompt and its command refer to. Blocks.
///
/// A reference to nothing stays text. Those are the user's own reads: nothing is asked, but `denied` says why the rules
/// deny a path, and `deny_read` applies. A path in the workspace whose links lead out of it is not followed. What two
/// references lead to is attached once, for the first of them, however they are written.
#[must_use]
pub fn resolve_references(
    workspace: &Workspace,
    texts: &[ReferringText<'_>],
) -> ResolvedReferences {
    let mut reader = Reader {
        workspace,
        symbols: None,
        left: BYTES_MAX,
        seen: HashSet::new(),
        blocks: Vec::new(),
        files: Vec::new(),
        attached: Vec::new(),
        problems: Vec::new(),
    };
    let mut references: Vec<(Reference, &ReferringText<'_>)> = Vec::new();
    for text in texts {
        let found = find_references(text.text);
        let is_new = |it: &Reference| !references.iter().any(|(known, _)| known == it);
        let new: Vec<_> = found.into_iter().filter(is_new).collect();
        references.extend(new.into_iter().map(|reference| (reference, text)));
    }
    for (reference, text) in references.iter().take(REFERENCES_MAX) {
        if let Err(reason) = reader.add(reference, text) {
            let problem = format!("`@{}` is not attached: {reason}.", reference.name());
            reader.problems.push(problem);
        }
    }
    if references.len() > REFERENCES_MAX {
        let count = references.len() - REFERENCES_MAX;
        reader.problems.push(format!(
            "{count} references are not attached: a prompt may have {REFERENCES_MAX}."
        ));
    }
    let found = (!reader.blocks.is_empty()).then(|| PromptReferences {
        text: reader.blocks.join("\n"),
        files: reader.files,
        attached: reader.attached,
        skill: None,
    });
    ResolvedReferences {
        found,
        problems: reader.problems,
    }
}

/// Reads one reference after the other.
struct Reader<'a> {
    workspace: &'a Workspace,
    /// The definitions below the working directory, once a reference may name one.
    symbols: Option<Symbols>,
    /// Bytes that may still be attached.
    left: usize,
    /// Files and directories that are attached, resolved, each with the lines that were wanted.
    seen: HashSet<(PathBuf, Option<(u64, u64)>)>,
    blocks: Vec<String>,
    files: Vec<KnownFile>,
    attached: Vec<Attachment>,
    problems: Vec<String>,
}

impl Reader<'_> {
    /// Attaches what a reference leads to. The error says why it cannot be attached.
    fn add(&mut self, reference: &Reference, text: &ReferringText<'_>) -> Result<(), String> {
        if let Some((server, uri)) = reference.resource()
            && let Some(content) = (text.resource)(server, uri)
        {
            return self.add_resource(reference.name(), &content?);
        }
        let located = match self.locate(reference)? {
            None if text.from_root => self.locate_from_root(reference),
            located => located,
        };
        let Some((reading, at)) = located else {
            return match self.add_symbol(reference, text)? {
                false if self.has_no_such_lines(reference) => {
                    Err("its lines are not written as `:10`, `:10-40` or `:10-`".to_owned())
                }
                false if reference.is_clearly_a_path() || self.is_below_something(reference) => {
                    Err("there is no such file or directory".to_owned())
                }
                false | true => Ok(()),
            };
        };
        self.check(&reading.path, &at, text)?;
        self.add_once(&at, reading.lines)
    }

    /// Attaches a file or directory, unless it is attached already.
    fn add_once(&mut self, at: &ResolvedPath, lines: Option<(u64, u64)>) -> Result<(), String> {
        let is_directory = at.kind() == Some(FileKind::Directory);
        let wanted = (at.path().to_owned(), lines.filter(|_| !is_directory));
        if self.seen.contains(&wanted) {
            return Ok(());
        }
        match is_directory {
            true => self.add_directory(at)?,
            false => self.add_file(at, lines)?,
        }
        self.seen.insert(wanted);
        Ok(())
    }

    /// Whether what a path leads to may be attached. The error says why not.
    fn check(
        &self,
        written: &str,
        at: &ResolvedPath,
        text: &ReferringText<'_>,
    ) -> Result<(), String> {
        if self.leads_out(written, at) {
            return Err(format!(
                "its links lead out of the workspace, to `{}`; refer to that path if you mean it",
                at.path().display()
            ));
        }
        match (text.denied)(at.path()) {
            Some(rule) => Err(rule),
            None => Ok(()),
        }
    }

    /// The first reading that exists.
    fn locate(&self, reference: &Reference) -> Result<Option<(Reading, ResolvedPath)>, String> {
        for reading in reference.readings() {
            match self.workspace.resolve(&reading.path, Access::Read) {
                Ok(at) if at.kind().is_some() => return Ok(Some((reading, at))),
                Ok(_) if self.is_link(&reading.path) => {
                    return Err("it is a link to nothing".to_owned());
                }
                Ok(_) => {}
                Err(error) if reference.is_clearly_a_path() || self.is_link(&reading.path) => {
                    return Err(error.to_string());
                }
                Err(error) => match self.workspace.locate(self.workspace.cwd(), &reading.path) {
                    Ok(at) if at.kind().is_some() => return Err(error.to_string()),
                    Ok(_) | Err(_) => {}
                },
            }
        }
        Ok(None)
    }

    /// The first reading that exists below the workspace root.
    fn locate_from_root(&self, reference: &Reference) -> Option<(Reading, ResolvedPath)> {
        reference.readings().into_iter().find_map(|reading| {
            let path = self.workspace.root().join(&reading.path);
            let path = path.to_str()?.to_owned();
            let at = self.workspace.resolve(&path, Access::Read).ok()?;
            at.kind()?;
            let reading = Reading { path, ..reading };
            Some((reading, at))
        })
    }

    /// Whether there is a file of the name before the last colon.
    fn has_no_such_lines(&self, reference: &Reference) -> bool {
        let path = reference.name().rsplit_once(':').map(|(path, _)| path);
        let at = path.map(|path| self.workspace.resolve(path, Access::Read));
        matches!(at, Some(Ok(at)) if at.kind() == Some(FileKind::File))
    }

    /// Whether the path begins with a directory that exists.
    fn is_below_something(&self, reference: &Reference) -> bool {
        let first = reference.name().split_once('/').map(|(first, _)| first);
        let first = first.filter(|first| !first.is_empty());
        let at = first.map(|first| self.workspace.resolve(first, Access::Read));
        matches!(at, Some(Ok(at)) if at.kind() == Some(FileKind::Directory))
    }

    /// Whether there is a link of this name, wherever it leads.
    fn is_link(&self, path: &str) -> bool {
        let entry = self.workspace.entry(path, Access::Read);
        entry.is_ok_and(|at| at.kind() == Some(FileKind::Link))
    }

    /// Attaches what a name in source code stands for: `name`, or `path#name`. False: it is no such name.
    fn add_symbol(
        &mut self,
        reference: &Reference,
        text: &ReferringText<'_>,
    ) -> Result<bool, String> {
        let name = reference.symbol();
        let (path, name) = match path_and_name(name) {
            Some((path, name)) => (Some(path), name),
            None if is_name(name) && name.chars().count() > 1 && !reference.quoted => (None, name),
            None => return Ok(false),
        };
        let symbols = match path {
            Some(path) => match self.file(path, text.from_root) {
                Some(at) => {
                    self.check(path, &at, text)?;
                    let found = symbols_in(self.workspace, &at).symbols;
                    let named: Vec<_> = found.into_iter().filter(|it| it.name == name).collect();
                    if named.is_empty() {
                        return Err(format!("`{path}` defines no `{name}`"));
                    }
                    named
                }
                None => return Ok(false),
            },
            None => {
                let workspace = self.workspace;
                let all = self.symbols.get_or_insert_with(|| find_symbols(workspace));
                let named = all.symbols.iter().filter(|symbol| symbol.name == name);
                named.cloned().collect()
            }
        };
        for symbol in symbols.iter().take(PLACES_MAX) {
            if let Err(reason) = self.add_definition(symbol, text) {
                let Symbol { path, name, .. } = symbol;
                self.problems
                    .push(format!("`@{path}#{name}` is not attached: {reason}."));
            }
        }
        if symbols.len() > PLACES_MAX {
            self.problems.push(format!(
                "`@{}` is defined in {} places; the first {PLACES_MAX} are attached. Name one as `@{}#{name}`.",
                reference.name(),
                symbols.len(),
                symbols[0].path,
            ));
        }
        Ok(!symbols.is_empty())
    }

    /// The file of a path, counted from the workspace root too if it leads to none otherwise.
    fn file(&self, path: &str, from_root: bool) -> Option<ResolvedPath> {
        let from_root = from_root.then(|| self.workspace.root().join(path));
        let from_root = from_root.as_deref().and_then(Path::to_str);
        let mut found = [Some(path), from_root].into_iter().flatten();
        found.find_map(|path| {
            let at = self.workspace.resolve(path, Access::Read).ok()?;
            (at.kind() == Some(FileKind::File)).then_some(at)
        })
    }

    /// Attaches one definition. The error says why it cannot be attached.
    fn add_definition(&mut self, symbol: &Symbol, text: &ReferringText<'_>) -> Result<(), String> {
        let at = self.workspace.resolve(&symbol.path, Access::Read);
        let at = at.map_err(|error| error.to_string())?;
        self.check(&symbol.path, &at, text)?;
        let (first, last) = lines_of(self.workspace, &at, symbol.line);
        let shown = format!("{}:{first}-{last}", symbol.path);
        match self.attached.iter().any(|known| known.name == shown) {
            true => Ok(()),
            false => self.add_once(&at, Some((first, last))),
        }
    }

    /// Whether the path as written is in the workspace, and what it leads to is not.
    fn leads_out(&self, written: &str, at: &ResolvedPath) -> bool {
        let mut roots = self.workspace.writable_roots();
        let is_inside = roots.any(|root| at.path().starts_with(root));
        !is_inside && self.workspace.is_written_inside(written)
    }

    fn add_file(&mut self, at: &ResolvedPath, lines: Option<(u64, u64)>) -> Result<(), String> {
        let (first, last) = line_range(lines)?;
        let window = LineWindow {
            first,
            lines_max: last - first + 1,
            line_bytes_max: LINE_BYTES_MAX,
            bytes_max: self.left,
        };
        let content = self.workspace.window(at, window);
        let content = content.map_err(|error| error.to_string())?;
        let name = self.workspace.shown(at.path());
        if content.head.contains(&0) {
            self.add_binary(name, content.stamp.size);
            return Ok(());
        }
        if self.left == 0 {
            return Err(FULL.to_owned());
        }
        if first > content.total && lines.is_some() {
            return Err(format!("it has {} lines", content.total));
        }
        let is_whole = lines.is_none()
            && content.lines.len() as u64 == content.total
            && content.lines.iter().all(|line| line.left_out == 0);
        if is_whole {
            self.files.extend(content.stamp.known_file(at.path()));
        }
        self.add_lines(name, &content, lines);
        Ok(())
    }

    /// Attaches that a file is not text.
    fn add_binary(&mut self, name: String, bytes: u64) {
        let text = format!("[binary file, {bytes} bytes]");
        self.blocks.push(block("file", &name, &text));
        self.attached.push(Attachment {
            name,
            kind: AttachmentKind::Binary,
            count: None,
            bytes,
            tokens: contract::estimate::tokens(&text) as u64,
            cut: false,
        });
    }

    /// Attaches the lines that were read of a file, with what is missing of those that were wanted.
    fn add_lines(&mut self, name: String, content: &WindowContent, lines: Option<(u64, u64)>) {
        let (first, last) = lines.unwrap_or((1, u64::MAX));
        let mut text: Vec<_> = content
            .lines
            .iter()
            .map(|line| String::from_utf8_lossy(&line.bytes).into_owned())
            .collect();
        let end = first + content.lines.len() as u64 - u64::from(!content.lines.is_empty());
        self.left = self
            .left
            .saturating_sub(text.iter().map(|line| line.len() + 1).sum());
        let count = Some(text.len() as u64);
        let is_short = end < last.min(content.total);
        let has_cut_lines = content.lines.iter().any(|line| line.left_out > 0);
        let cut = is_short || has_cut_lines;
        if has_cut_lines {
            text.push(format!("[lines are cut after {LINE_BYTES_MAX} bytes]"));
            self.problems.push(format!(
                "`{name}` is attached with its lines cut after {LINE_BYTES_MAX} bytes."
            ));
        }
        if is_short {
            text.push(format!("[cut here: the file has {} lines]", content.total));
            self.problems
                .push(format!("`{name}` is attached only up to line {end}."));
        }
        let shown = match lines {
            Some(_) => format!("{name}:{first}-{end}"),
            None => name,
        };
        let text = text.join("\n");
        self.blocks.push(block("file", &shown, &text));
        self.note(shown, AttachmentKind::File, count, &text, cut);
    }

    fn add_resource(&mut self, name: &str, content: &str) -> Result<(), String> {
        if self.left == 0 {
            return Err(FULL.to_owned());
        }
        let mut text = content.to_owned();
        let cut = text.len() > self.left;
        if cut {
            text.truncate(text.floor_char_boundary(self.left));
            let kept = text.len();
            text.push_str(&format!(
                "\n[cut here: the resource has {} bytes]",
                content.len()
            ));
            let problem = format!("`@{name}` is attached only up to byte {kept}.");
            self.problems.push(problem);
        }
        self.left = self.left.saturating_sub(text.len());
        self.blocks.push(block("resource", name, &text));
        self.note(name.to_owned(), AttachmentKind::Resource, None, &text, cut);
        Ok(())
    }

    fn add_directory(&mut self, at: &ResolvedPath) -> Result<(), String> {
        let listing = self.workspace.list(at, DEPTH_MAX, ENTRIES_MAX);
        let listing = listing.map_err(|error| error.to_string())?;
        let mut lines = Vec::new();
        list(&listing.entries, 0, &mut lines);
        let count = Some(lines.len() as u64);
        let cut = listing.left_out > 0 || listing.unopened > 0;
        if cut {
            lines.push(format!("[only {ENTRIES_MAX} entries are listed]"));
        }
        let text = lines.join("\n");
        if text.len() > self.left {
            return Err(FULL.to_owned());
        }
        self.left -= text.len();
        let name = self.workspace.shown(at.path());
        if cut {
            self.problems.push(format!(
                "`{name}` is listed only in part: {ENTRIES_MAX} entries."
            ));
        }
        self.blocks.push(block("directory", &name, &text));
        self.note(name, AttachmentKind::Directory, count, &text, cut);
        Ok(())
    }

    /// Notes what was attached, for display.
    fn note(
        &mut self,
        name: String,
        kind: AttachmentKind,
        count: Option<u64>,
        text: &str,
        cut: bool,
    ) {
        self.attached.push(Attachment {
            name,
            kind,
            count,
            bytes: text.len() as u64,
            tokens: contract::estimate::tokens(text) as u64,
            cut,
        });
    }
}

/// The first and the last line to attach. The error says why there are no such lines.
fn line_range(lines: Option<(u64, u64)>) -> Result<(u64, u64), String> {
    let (first, last) = lines.unwrap_or((1, u64::MAX));
    if first == 0 || last == 0 {
        return Err("lines count from 1".to_owned());
    }
    if first > last {
        return Err(format!(
            "line {first} is behind line {last}: write `:{last}-{first}`"
        ));
    }
    Ok((first, last))
}

/// A block. Its text cannot close it.
fn block(kind: &str, name: &str, text: &str) -> String {
    let name = name.replace(['"', '<', '>', '\n', '\r'], "_");
    let text = text.replace(&format!("</{kind}"), &format!("<\\/{kind}"));
    format!("<{kind} path=\"{name}\">\n{text}\n</{kind}>")
}

/// The entries of a directory, each with its content below it.
fn list(entries: &[ListEntry], depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    for entry in entries {
        let name = entry.name.to_string_lossy().replace(['\n', '\r'], "_");
        let line = |mark: &str| format!("{indent}{name}{mark}");
        match &entry.what {
            EntryKind::File { .. } => lines.push(line("")),
            EntryKind::Link { .. } => lines.push(line("@")),
            EntryKind::Special(kind) => lines.push(line(&format!(" ({})", kind.words()))),
            EntryKind::Denied => lines.push(line(" (closed to tools)")),
            EntryKind::Directory(DirContents::Shown { entries, left_out }) => {
                lines.push(line("/"));
                list(entries, depth + 1, lines);
                if *left_out > 0 {
                    lines.push(format!("{indent}  [{left_out} more]"));
                }
            }
            EntryKind::Directory(DirContents::Folded { entries }) => {
                lines.push(line(&format!("/ ({entries} entries, not listed)")));
            }
            EntryKind::Directory(DirContents::NotOpened) => lines.push(line("/ (not listed)")),
            EntryKind::Directory(DirContents::Unreadable { .. }) => {
                lines.push(line("/ (cannot be read)"));
            }
        }
    }
}

#[cfg(test)]
mod tests;
