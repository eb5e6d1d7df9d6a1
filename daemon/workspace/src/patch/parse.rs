//! Parses text into file patches.

use super::head::{FileHeader, git_names, name};
use super::{FilePatch, Hunk, HunkLine, LineKind};

/// Why a text is not a patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error(
        "there is no file header in the patch; each file begins with `--- a/path` and `+++ b/path`"
    )]
    NoFile,
    #[error("line {line}: {what}")]
    Line { line: usize, what: String },
    #[error("`{file}`: {what}")]
    File { file: String, what: &'static str },
}

/// Parses a patch. Skips text before and between files.
///
/// # Errors
/// It is not a patch, or contains no change.
pub fn parse(text: &str) -> Result<Vec<FilePatch>, PatchError> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    // Text after the last line feed is not a line.
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let mut reader = Reader { lines, at: 0 };
    let envelope = reader
        .lines
        .iter()
        .position(|line| line.trim_end() == "*** Begin Patch");
    let files = if let Some(at) = envelope {
        reader.at = at + 1;
        reader.envelope()?
    } else {
        reader.unified()?
    };
    if files.is_empty() {
        return Err(PatchError::NoFile);
    }
    for file in &files {
        let wrong = |what| {
            Err(PatchError::File {
                file: file.name().to_owned(),
                what,
            })
        };
        let renamed = file.old != file.new;
        if file.name().is_empty() {
            return wrong("a file has no name");
        }
        if file.hunks.is_empty() && !renamed {
            return wrong(if file.mode {
                "only the mode would change, which is not supported; run `chmod`"
            } else {
                "there are no hunks; each begins with `@@ -line,count +line,count @@`"
            });
        }
        let idle = |hunk: &Hunk| hunk.lines.iter().all(|line| line.kind == LineKind::Context);
        if !file.hunks.is_empty() && file.hunks.iter().all(idle) && !renamed {
            return wrong("no line is added or deleted; such lines begin with `+` or `-`");
        }
        if file.old.is_none() {
            let added = |line: &HunkLine| line.kind == LineKind::Added;
            if !file.hunks.iter().all(|hunk| hunk.lines.iter().all(added)) {
                return wrong("the file is new, so each of its lines begins with `+`");
            }
        }
    }
    Ok(files)
}

struct Reader<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn line(&self, ahead: usize) -> Option<&'a str> {
        self.lines.get(self.at + ahead).copied()
    }

    fn wrong(&self, what: impl Into<String>) -> PatchError {
        PatchError::Line {
            line: self.at + 1,
            what: what.into(),
        }
    }

    fn unified(&mut self) -> Result<Vec<FilePatch>, PatchError> {
        let mut files = Vec::new();
        let mut head: Option<FileHeader> = None;
        while let Some(line) = self.line(0) {
            if line.starts_with("diff --git ") {
                if let Some(head) = head.take() {
                    files.push(head.file(Vec::new())?);
                }
                head = Some(FileHeader {
                    git: git_names(line),
                    begun: self.at,
                    ..FileHeader::default()
                });
                self.at += 1;
            } else if self.at_names() {
                let begun = self.at;
                // A pair of names without `diff --git` starts a new file. After `diff --git` it
                // belongs to that file.
                let mut now = match head.take() {
                    Some(head) if head.old.is_none() => head,
                    other => {
                        if let Some(other) = other {
                            files.push(other.file(Vec::new())?);
                        }
                        FileHeader::default()
                    }
                };
                now.begun = begun;
                now.old = self.line(0).and_then(|line| name(line, "--- "));
                now.new = self.line(1).and_then(|line| name(line, "+++ "));
                self.at += 2;
                let hunks = self.hunks()?;
                files.push(now.file(hunks)?);
            } else if is_hunk(line) {
                return Err(self
                    .wrong("a hunk without a file; put `--- a/path` and `+++ b/path` before it"));
            } else {
                if let Some(head) = &mut head {
                    head.take(line);
                }
                self.at += 1;
            }
        }
        if let Some(head) = head {
            files.push(head.file(Vec::new())?);
        }
        Ok(files)
    }

    /// Whether the two names of a file follow.
    fn at_names(&self) -> bool {
        let starts = |ahead, with| {
            self.line(ahead)
                .is_some_and(|line: &str| line.starts_with(with))
        };
        starts(0, "--- ") && starts(1, "+++ ")
    }

    fn hunks(&mut self) -> Result<Vec<Hunk>, PatchError> {
        let mut hunks = Vec::new();
        while let Some(line) = self.line(0) {
            if line.trim().is_empty() {
                self.at += 1;
                continue;
            }
            if !is_hunk(line) {
                break;
            }
            let head = HunkHead::read(line);
            self.at += 1;
            let lines = match head.counts.and_then(|counts| self.counted(counts)) {
                Some(lines) => lines,
                None => self.uncounted()?,
            };
            if lines.is_empty() {
                return Err(self.wrong("the hunk before has no lines"));
            }
            hunks.push(Hunk {
                start: head.start,
                anchor: None,
                at_end: false,
                lines,
            });
        }
        Ok(hunks)
    }

    /// Parses a hunk by its line counts. Consumes nothing if they are wrong.
    fn counted(&mut self, (mut old, mut new): (u64, u64)) -> Option<Vec<HunkLine>> {
        let begun = self.at;
        let mut lines = Vec::new();
        while old > 0 || new > 0 {
            let Some(line) = self.line(0).and_then(body_line) else {
                self.at = begun;
                return None;
            };
            let (of_old, of_new) = match line.kind {
                LineKind::Context => (1, 1),
                LineKind::Deleted => (1, 0),
                LineKind::Added => (0, 1),
            };
            let (Some(less_old), Some(less_new)) =
                (old.checked_sub(of_old), new.checked_sub(of_new))
            else {
                self.at = begun;
                return None;
            };
            (old, new) = (less_old, less_new);
            lines.push(line);
            self.at += 1;
            self.take_unended(&mut lines);
        }
        let goes_on = self
            .line(0)
            .is_some_and(|line| line.starts_with([' ', '+', '-', '\t']) && !self.at_names());
        if goes_on {
            self.at = begun;
            return None;
        }
        Some(lines)
    }

    /// Parses a hunk with wrong or missing counts: it continues as long as the lines look like hunk
    /// lines.
    fn uncounted(&mut self) -> Result<Vec<HunkLine>, PatchError> {
        let mut lines = Vec::new();
        while let Some(line) = self.line(0) {
            if is_hunk(line) || self.at_names() || line.starts_with("diff --git ") {
                break;
            }
            // Blank lines at the end do not belong to the hunk.
            let rest = self.lines.get(self.at..).unwrap_or_default();
            let next = rest.iter().find(|line| !line.trim().is_empty());
            let ends = next
                .is_none_or(|next| is_hunk(next) || !next.starts_with([' ', '+', '-', '\\', '\t']));
            if line.is_empty() && ends {
                break;
            }
            self.take(line, &mut lines)?;
        }
        Ok(lines)
    }

    /// Parses one hunk line, and a remark about its line end.
    fn take(&mut self, line: &str, lines: &mut Vec<HunkLine>) -> Result<(), PatchError> {
        let Some(line) = body_line(line) else {
            return Err(self
                .wrong("not a line of a hunk; each begins with a space (unchanged), `-` or `+`"));
        };
        lines.push(line);
        self.at += 1;
        self.take_unended(lines);
        Ok(())
    }

    /// `\ No newline at end of file` refers to the previous line.
    fn take_unended(&mut self, lines: &mut [HunkLine]) {
        if self.line(0).is_some_and(|line| line.starts_with('\\')) {
            if let Some(last) = lines.last_mut() {
                last.unended = true;
            }
            self.at += 1;
        }
    }

    fn envelope(&mut self) -> Result<Vec<FilePatch>, PatchError> {
        let mut files: Vec<FilePatch> = Vec::new();
        while let Some(line) = self.line(0) {
            let line = line.trim_end();
            let named = |with: &str| line.strip_prefix(with).map(|name| name.trim().to_owned());
            let mut file = FilePatch {
                old: None,
                new: None,
                hunks: Vec::new(),
                whole: false,
                mode: false,
            };
            self.at += 1;
            if let Some(name) = named("*** Add File:") {
                file.new = Some(name);
                let lines = self.body()?;
                if !lines.is_empty() {
                    file.hunks.push(Hunk {
                        lines,
                        ..Hunk::default()
                    });
                }
            } else if let Some(name) = named("*** Delete File:") {
                file.old = Some(name);
                file.whole = true;
            } else if let Some(name) = named("*** Update File:") {
                file.old = Some(name.clone());
                file.new = Some(name);
                let moved = self
                    .line(0)
                    .and_then(|line| line.strip_prefix("*** Move to:"));
                if let Some(to) = moved {
                    file.new = Some(to.trim().to_owned());
                    self.at += 1;
                }
                file.hunks = self.envelope_hunks()?;
            } else if line == "*** End Patch" {
                return Ok(files);
            } else if line.is_empty() {
                continue;
            } else {
                self.at -= 1;
                return Err(self.wrong("expected `*** Update File: path`, `*** Add File: path`, `*** Delete File: path` or `*** End Patch`"));
            }
            files.push(file);
        }
        Ok(files)
    }

    fn envelope_hunks(&mut self) -> Result<Vec<Hunk>, PatchError> {
        let mut hunks = Vec::new();
        while let Some(line) = self.line(0) {
            if line.starts_with("*** ") && !line.starts_with("*** End of File") {
                break;
            }
            let mut hunk = Hunk::default();
            if let Some(rest) = line.strip_prefix("@@") {
                if is_hunk(line) {
                    hunk.start = HunkHead::read(line).start;
                } else if !rest.trim().is_empty() {
                    hunk.anchor = Some(rest.trim().to_owned());
                }
                self.at += 1;
            }
            hunk.lines = self.body()?;
            if self
                .line(0)
                .is_some_and(|line| line.starts_with("*** End of File"))
            {
                hunk.at_end = true;
                self.at += 1;
            }
            if hunk.lines.is_empty() {
                // A second anchor narrows the first. Only the last one counts.
                if self.line(0).is_some_and(|line| line.starts_with("@@")) {
                    continue;
                }
                break;
            }
            hunks.push(hunk);
        }
        Ok(hunks)
    }

    /// Lines up to the next marker of the envelope.
    fn body(&mut self) -> Result<Vec<HunkLine>, PatchError> {
        let mut lines = Vec::new();
        while let Some(line) = self.line(0) {
            if line.starts_with("@@") || line.starts_with("*** ") {
                break;
            }
            self.take(line, &mut lines)?;
        }
        Ok(lines)
    }
}

fn body_line(line: &str) -> Option<HunkLine> {
    let (kind, text) = match line.as_bytes().first() {
        // Editors and models strip the space of an empty line.
        None => (LineKind::Context, ""),
        Some(b' ') => (LineKind::Context, line.get(1..)?),
        Some(b'-') => (LineKind::Deleted, line.get(1..)?),
        Some(b'+') => (LineKind::Added, line.get(1..)?),
        Some(b'\r') if line == "\r" => (LineKind::Context, line),
        Some(_) => return None,
    };
    Some(HunkLine {
        kind,
        text: text.to_owned(),
        unended: false,
    })
}

fn is_hunk(line: &str) -> bool {
    line.starts_with("@@ -") || line.trim_end() == "@@" || line.starts_with("@@ ...")
}

#[derive(Default)]
struct HunkHead {
    start: Option<u64>,
    counts: Option<(u64, u64)>,
}

impl HunkHead {
    /// Parses `@@ -12,3 +12,4 @@`. Ignores invalid parts.
    fn read(line: &str) -> Self {
        let mut words = line.split_whitespace().skip(1);
        let span = |word: Option<&str>, sign: char| {
            let word = word?.strip_prefix(sign)?;
            let (start, count) = word.split_once(',').unwrap_or((word, "1"));
            Some((start.parse().ok()?, count.parse().ok()?))
        };
        let old: Option<(u64, u64)> = span(words.next(), '-');
        let new: Option<(u64, u64)> = span(words.next(), '+');
        Self {
            start: old.map(|(start, _)| start),
            counts: old.zip(new).map(|(old, new)| (old.1, new.1)),
        }
    }
}
