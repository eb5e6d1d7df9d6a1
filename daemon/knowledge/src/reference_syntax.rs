//! Finds the references in a prompt: `@path`, `@path:10-40`, `@"a path with blanks":10-40`, `@name`, `@path#name`. Pure.
//!
//! The clients' menu inserts them; `references` resolves them. `@` inside a word is text: an e-mail address, a
//! package version.

/// A reference as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// Without `@` and quotes.
    pub text: String,
    /// Whether it stands in quotes: then it is exactly the path.
    pub quoted: bool,
    /// The lines behind the quotes.
    pub quoted_lines: Option<(u64, u64)>,
}

/// A way to read a reference: a path, and the lines that are wanted of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub path: String,
    /// First and last line as written: from 1, both included, unless they were written wrongly.
    pub lines: Option<(u64, u64)>,
}

impl Reference {
    /// How it is called: without punctuation that follows it.
    pub fn name(&self) -> &str {
        match self.quoted {
            true => &self.text,
            false => trim_punctuation(&self.text),
        }
    }

    /// The name in source code that it may stand for: without the brackets of a call.
    pub fn symbol(&self) -> &str {
        self.name().split('(').next().unwrap_or_default()
    }

    /// The server and the URI, if it can name a resource: `server:scheme:…`.
    pub fn resource(&self) -> Option<(&str, &str)> {
        let (server, uri) = self.name().split_once(':')?;
        let (scheme, rest) = uri.split_once(':')?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let in_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let is_scheme =
            scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(in_scheme);
        let is_server = !server.is_empty() && server.chars().all(is_plain);
        (is_server && is_scheme && !rest.is_empty()).then_some((server, uri))
    }

    /// The ways to read it, the most literal one first. The first that exists counts.
    pub fn readings(&self) -> Vec<Reading> {
        let mut texts = vec![self.text.as_str()];
        if !self.quoted {
            texts.push(trim_punctuation(&self.text));
            let cuts = cuts(&self.text).into_iter().rev();
            texts.extend(cuts.map(|end| trim_punctuation(&self.text[..end])));
        }
        texts.dedup();
        let whole = |text: &&str| Reading {
            path: (*text).to_owned(),
            lines: self.quoted_lines,
        };
        let mut readings: Vec<_> = texts.iter().map(whole).collect();
        if !self.quoted {
            readings.extend(texts.iter().filter_map(|text| with_lines(text)));
        }
        readings.retain(|reading| !reading.path.is_empty());
        readings
    }

    /// Whether it can hardly be anything else than a path: then a user gets a notice if nothing is there.
    pub fn is_clearly_a_path(&self) -> bool {
        let end = match self.quoted {
            true => None,
            false => cuts(&self.text).first().copied(),
        };
        let path = trim_punctuation(&self.text[..end.unwrap_or(self.text.len())]);
        let path = with_lines(path).map_or(path.to_owned(), |reading| reading.path);
        if path.contains(['(', ')', '=', '<', '>', '*']) {
            return false;
        }
        let starts = ["./", "../", "~/", "/"];
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_ending = (1..=4).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_hidden = path.len() > 1 && path.starts_with('.');
        let is_long_ending = LONG_ENDINGS.contains(&ending);
        self.quoted
            || is_ending
            || is_long_ending
            || is_hidden
            || starts.iter().any(|start| path.starts_with(start))
    }
}

/// The references of a prompt, in their order, each once.
pub(crate) fn find_references(prompt: &str) -> Vec<Reference> {
    let mut references: Vec<Reference> = Vec::new();
    let mut at = 0;
    while let Some(sign) = prompt[at..].find('@').map(|found| at + found) {
        let rest = &prompt[sign + 1..];
        at = sign + 1;
        if !may_begin_after(&prompt[..sign]) {
            continue;
        }
        let (text, quoted) = match quoted(rest) {
            Some(text) => (text, true),
            None => (rest.split(char::is_whitespace).next().unwrap_or(""), false),
        };
        at += text.len() + if quoted { 2 } else { 0 };
        let quoted_lines = match quoted {
            true => lines_after_quotes(&prompt[at..]),
            false => None,
        };
        let reference = Reference {
            text: text.to_owned(),
            quoted,
            quoted_lines,
        };
        if !trim_punctuation(text).is_empty() && !references.contains(&reference) {
            references.push(reference);
        }
    }
    references
}

/// The text in quotes that this begins with, on one line.
fn quoted(rest: &str) -> Option<&str> {
    let inside = rest.strip_prefix('"')?;
    let end = inside.find(['"', '\n'])?;
    (inside[end..].starts_with('"') && end > 0).then(|| &inside[..end])
}

/// Whether `@` after this text starts a reference.
fn may_begin_after(before: &str) -> bool {
    let last = before.chars().next_back();
    !last.is_some_and(|last| {
        (last.is_alphanumeric() && !is_cjk(last))
            || matches!(last, '/' | '.' | '-' | '+' | '_' | '@' | '`' | '\\')
    })
}

/// Endings of files with more than four letters. Other words behind a dot may be names in code (`@pytest.fixture`).
const LONG_ENDINGS: [&str; 24] = [
    "astro",
    "class",
    "config",
    "cshtml",
    "dockerfile",
    "example",
    "gradle",
    "graphql",
    "ipynb",
    "jsonc",
    "json5",
    "jsonl",
    "local",
    "patch",
    "plist",
    "prisma",
    "properties",
    "proto",
    "scala",
    "svelte",
    "swift",
    "template",
    "tfvars",
    "xhtml",
];

/// Cuts that are looked at.
const CUTS_MAX: usize = 16;

/// Where the name of a file may end before text in Chinese or Japanese, which follows without a blank: before punctuation
/// of those scripts, and where they follow another script. In order.
fn cuts(text: &str) -> Vec<usize> {
    let mut before: Option<char> = None;
    let ends = text.char_indices().filter_map(|(at, letter)| {
        let follows = is_cjk(letter) && before.is_some_and(|before| before.is_ascii());
        before = Some(letter);
        (at > 0 && (follows || is_cjk_punctuation(letter))).then_some(at)
    });
    ends.take(CUTS_MAX).collect()
}

fn is_cjk_punctuation(letter: char) -> bool {
    matches!(letter, '\u{3000}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '”' | '’')
}

/// Without the punctuation that follows a reference in a sentence. `.` and `..` alone are directories.
fn trim_punctuation(text: &str) -> &str {
    let dots = text.len() - text.trim_start_matches('.').len();
    let trimmed = trim_end(text);
    match trimmed.is_empty() && matches!(dots, 1 | 2) {
        true => &text[..dots],
        false => trimmed,
    }
}

fn trim_end(text: &str) -> &str {
    text.trim_end_matches([
        '.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '"', '\'', '`', '，', '。', '；', '：',
        '！', '？', '）', '」', '』', '”', '’', '、',
    ])
}

/// `"path":10` and `"path":10-40`: the lines behind the quotes.
fn lines_after_quotes(rest: &str) -> Option<(u64, u64)> {
    let rest = rest.strip_prefix(':')?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-');
    line_range(rest[..end.unwrap_or(rest.len())].trim_end_matches('-'))
}

/// `10`, `10-40`, and `10-`, which is to the end.
fn line_range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let last = match last {
        "" => u64::MAX,
        last => last.parse().ok()?,
    };
    Some((first.parse().ok()?, last))
}

/// `path:10`, `path:10-40` and `path:10-`.
fn with_lines(text: &str) -> Option<Reading> {
    let (path, lines) = text.rsplit_once(':')?;
    let (first, last) = line_range(lines)?;
    (!path.is_empty()).then(|| Reading {
        path: path.to_owned(),
        lines: Some((first, last)),
    })
}

/// Scripts that are written without blanks between words, and their punctuation.
pub(crate) fn is_cjk(character: char) -> bool {
    matches!(u32::from(character),
        0x2E80..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0xFF00..=0xFFEF | 0x2_0000..=0x3_FFFF)
}

#[cfg(test)]
mod tests;
