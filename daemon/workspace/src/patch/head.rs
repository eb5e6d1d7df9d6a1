//! The lines above a file's hunks: its old and new name, and the kind of change.

use super::{FilePatch, Hunk, PatchError};

/// The header lines of a file.
#[derive(Default)]
pub(super) struct FileHeader {
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    /// The names in `diff --git`, for a file without `---` and `+++`.
    pub(super) git: Option<(String, String)>,
    pub(super) created: bool,
    pub(super) deleted: bool,
    pub(super) copied: bool,
    pub(super) mode: bool,
    /// Its line, for errors. The first line is 0.
    pub(super) begun: usize,
}

const NULL: &str = "/dev/null";

impl FileHeader {
    pub(super) fn take(&mut self, line: &str) {
        let rest = |with| line.strip_prefix(with).map(unquoted);
        if let Some(name) = rest("rename from ") {
            self.from = Some(name);
        } else if let Some(name) = rest("rename to ") {
            self.to = Some(name);
        } else if line.starts_with("copy from ") {
            self.copied = true;
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            self.created = true;
            self.mode |= mode.trim() != "100644";
        } else if line.starts_with("deleted file mode ") {
            self.deleted = true;
        } else if line.starts_with("new mode ") {
            self.mode = true;
        }
    }

    pub(super) fn file(self, hunks: Vec<Hunk>) -> Result<FilePatch, PatchError> {
        let wrong = |what: &str| {
            Err(PatchError::Line {
                line: self.begun + 1,
                what: what.to_owned(),
            })
        };
        if self.copied {
            return wrong("`copy from` is not supported; copy the file with another tool");
        }
        let (old, new) = match (self.old, self.new, self.git) {
            (Some(old), Some(new), _) => (old, new),
            (_, _, Some((_, new))) if self.created => (NULL.to_owned(), format!("b/{new}")),
            (_, _, Some((old, _))) if self.deleted => (format!("a/{old}"), NULL.to_owned()),
            (_, _, Some((old, new))) => (format!("a/{old}"), format!("b/{new}")),
            _ if self.from.is_some() && self.to.is_some() => (String::new(), String::new()),
            _ => {
                return wrong(
                    "the names of the file cannot be read; write `--- a/path` and `+++ b/path`",
                );
            }
        };
        // The prefixes come in pairs: if only one is there, `a` or `b` is a directory.
        let is_pair = |old: &str, new: &str| {
            (old.starts_with("a/") || old == NULL) && (new.starts_with("b/") || new == NULL)
        };
        let cut = is_pair(&old, &new);
        let plain = |name: String, prefix: &str| {
            if name == NULL {
                return None;
            }
            let short = name.strip_prefix(prefix).filter(|_| cut);
            Some(short.map(str::to_owned).unwrap_or(name))
        };
        let (mut old, mut new) = (plain(old, "a/"), plain(new, "b/"));
        if let (Some(from), Some(to)) = (&self.from, &self.to) {
            (old, new) = (Some(from.clone()), Some(to.clone()));
        } else if old.is_some() && new.is_some() && old != new {
            return wrong(
                "the two names of the file differ; a renamed file needs the lines `rename from` and `rename to`",
            );
        }
        if old.is_none() && new.is_none() {
            return wrong("both names of the file are `/dev/null`");
        }
        Ok(FilePatch {
            old,
            new,
            hunks,
            whole: false,
            mode: self.mode,
        })
    }
}

/// Parses the name after `--- ` or `+++ `.
pub(super) fn name(line: &str, with: &str) -> Option<String> {
    let rest = line.strip_prefix(with)?;
    // A tab and a time may follow.
    let rest = rest.split('\t').next().unwrap_or(rest).trim_end();
    Some(unquoted(rest))
}

/// The names of `diff --git a/x b/x`, if they are equal except for the prefix. They differ only in
/// renames.
pub(super) fn git_names(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix("diff --git ")?.trim_end();
    let half = rest.len().checked_sub(1)? / 2;
    let (old, new) = (rest.get(..half)?, rest.get(half + 1..)?);
    let plain = |name: &str, prefix: &str| unquoted(name).strip_prefix(prefix).map(str::to_owned);
    let (old, new) = (plain(old, "a/")?, plain(new, "b/")?);
    (old == new).then_some((old, new))
}

/// Removes git's quotes from a name: `"a\303\244.txt"`.
fn unquoted(text: &str) -> String {
    let text = text.trim_end_matches('\r');
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let Some(inner) = inner else {
        return text.to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                bytes.push(u8::try_from(value & 0xff).unwrap_or(b'?'));
            }
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(other) => bytes.push(other),
            None => bytes.push(b'\\'),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
