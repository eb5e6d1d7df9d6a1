//! Reads a command line as far as it is one plain simple command.
//!
//! Total and linear. Whatever is more than one program with literal words is `NotPlain`, with the reason and
//! with readings of the line that deny and ask rules are tried against. Nothing but this file knows the
//! shell's grammar: a full parser takes its place behind [`analyse`].

/// Characters that a line may have to be covered by anything but a rule for its family.
const LENGTH_MAX: usize = 10_000;

/// What a command line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Analysis {
    /// One program with words that are known as they stand. `text`: the words joined by one blank.
    Simple { words: Vec<Word>, text: String },
    /// More, or less, than that. `readings`: the words of the whole line joined by one blank, once for each
    /// way of reading quotes; an over-approximation of what may run.
    NotPlain {
        reason: Reason,
        readings: Vec<String>,
    },
}

/// A word after quotes and backslashes have been taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    /// The shell may put file names in its place.
    pub glob: bool,
    /// Begins with an unquoted `~`.
    pub tilde: bool,
}

impl Word {
    /// Whether file names that the shell puts here may be taken for options.
    #[must_use]
    pub fn may_become_option(&self) -> bool {
        self.glob && self.text.starts_with(['*', '?', '[', '-'])
    }
}

/// Why a line is not one plain command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Empty,
    TooLong,
    Characters,
    Unbalanced,
    Operator,
    Redirection,
    Expansion,
    Braces,
    Comment,
    Assignment,
    Keyword,
    Program,
}

impl Reason {
    /// The reason in words, to stand behind "not one plain command: ".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Empty => "it is empty",
            Self::TooLong => "it has more than 10,000 characters",
            Self::Characters => "it has control, invisible or text-direction characters",
            Self::Unbalanced => "a quote or backslash at its end stays open",
            Self::Operator => "it has an operator between commands",
            Self::Redirection => "it has a redirection",
            Self::Expansion => "it has a variable or a substitution",
            Self::Braces => "it has a brace expansion",
            Self::Comment => "it has a comment",
            Self::Assignment => "it sets a variable before the command",
            Self::Keyword => "it has a keyword of the shell",
            Self::Program => "its program is not a plain word",
        }
    }

    /// Whether the line was at least read to its end. What was not is covered by no rule at all.
    #[must_use]
    pub fn was_read(self) -> bool {
        match self {
            Self::Empty | Self::TooLong | Self::Characters | Self::Unbalanced => false,
            Self::Operator
            | Self::Redirection
            | Self::Expansion
            | Self::Braces
            | Self::Comment
            | Self::Assignment
            | Self::Keyword
            | Self::Program => true,
        }
    }
}

/// Words that begin something else than a simple command.
const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do",
    "done", "in", "function", "{", "}", "!", "[[", "]]", "coproc",
];

/// Reads a command line.
#[must_use]
pub fn analyse(command: &str) -> Analysis {
    let line = trim(command);
    let not_plain = |reason| Analysis::NotPlain {
        reason,
        readings: readings(line),
    };
    if line.chars().nth(LENGTH_MAX).is_some() {
        return not_plain(Reason::TooLong);
    }
    // Found before anything else: such characters also make the shown line another than the one that runs.
    if line.chars().any(is_unseen) {
        return not_plain(Reason::Characters);
    }
    match Lexer::new(line).run().and_then(plain) {
        Ok(words) => {
            let text = join(words.iter().map(|word| word.text.as_str()));
            Analysis::Simple { words, text }
        }
        Err(reason) => not_plain(reason),
    }
}

/// The command as exact rules compare it: without the blanks around it.
#[must_use]
pub(crate) fn trim(command: &str) -> &str {
    command.trim_matches([' ', '\t', '\n'])
}

pub(crate) fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// The first word must be a program.
fn plain(words: Vec<Word>) -> Result<Vec<Word>, Reason> {
    let Some(program) = words.first() else {
        return Err(Reason::Empty);
    };
    if KEYWORDS.contains(&program.text.as_str()) {
        return Err(Reason::Keyword);
    }
    if is_assignment(&program.text) {
        return Err(Reason::Assignment);
    }
    if program.text.is_empty()
        || program.glob
        || program.tilde
        || program.text.contains(char::is_whitespace)
    {
        return Err(Reason::Program);
    }
    Ok(words)
}

/// `NAME=`, `NAME+=`, `NAME[…]=`.
pub(crate) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Control characters, and those that take no room or turn the text's direction. Blank, tab and newline are
/// left to the lexer.
fn is_unseen(c: char) -> bool {
    if matches!(c, '\t' | '\n') {
        return false;
    }
    c.is_control()
        || (c != ' ' && c.is_whitespace())
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
            | '\u{205f}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{fff0}'..='\u{fffc}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The word that is being read.
#[derive(Default)]
struct Open {
    text: String,
    quoted: bool,
    tilde: bool,
    star: bool,
    bracket: bool,
    brackets: bool,
    brace: bool,
    /// A comma or two dots stand inside an open brace.
    braced_list: bool,
}

struct Lexer<'a> {
    rest: &'a str,
    open: Option<Open>,
    words: Vec<Word>,
}

impl<'a> Lexer<'a> {
    fn new(line: &'a str) -> Self {
        Self {
            rest: line,
            open: None,
            words: Vec::new(),
        }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn run(mut self) -> Result<Vec<Word>, Reason> {
        while let Some(c) = self.next() {
            match c {
                ' ' | '\t' => self.close()?,
                '\n' | ';' | '&' | '|' | '(' | ')' => return Err(Reason::Operator),
                '<' => return Err(Reason::Redirection),
                '>' => self.descriptor_copy()?,
                '$' | '`' => return Err(Reason::Expansion),
                '\'' => self.single()?,
                '"' => self.double()?,
                '\\' => match self.next() {
                    None => return Err(Reason::Unbalanced),
                    Some('\n') => {}
                    Some(c) => self.quoted(c),
                },
                '#' if self.open.is_none() => return Err(Reason::Comment),
                c => self.bare(c),
            }
        }
        self.close()?;
        Ok(self.words)
    }

    fn quoted(&mut self, c: char) {
        let open = self.open.get_or_insert_default();
        open.quoted = true;
        open.text.push(c);
    }

    fn bare(&mut self, c: char) {
        let first = self.open.is_none();
        let open = self.open.get_or_insert_default();
        match c {
            '~' => open.tilde |= first,
            '*' | '?' => open.star = true,
            '[' => open.bracket = true,
            ']' => open.brackets |= open.bracket,
            '{' => open.brace = true,
            ',' => open.braced_list |= open.brace,
            '.' => open.braced_list |= open.brace && open.text.ends_with('.'),
            _ => {}
        }
        open.text.push(c);
    }

    fn single(&mut self) -> Result<(), Reason> {
        let Some(end) = self.rest.find('\'') else {
            return Err(Reason::Unbalanced);
        };
        let open = self.open.get_or_insert_default();
        open.quoted = true;
        open.text.push_str(&self.rest[..end]);
        self.rest = &self.rest[end + 1..];
        Ok(())
    }

    fn double(&mut self) -> Result<(), Reason> {
        self.open.get_or_insert_default().quoted = true;
        loop {
            match self.next() {
                None => return Err(Reason::Unbalanced),
                Some('"') => return Ok(()),
                Some('$' | '`') => return Err(Reason::Expansion),
                Some('\\') => match self.next() {
                    None => return Err(Reason::Unbalanced),
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.quoted(c),
                    Some(c) => {
                        self.quoted('\\');
                        self.quoted(c);
                    }
                },
                Some(c) => self.quoted(c),
            }
        }
    }

    /// `2>&1` and `>&2` alone write no file. Stands at the `>`.
    fn descriptor_copy(&mut self) -> Result<(), Reason> {
        let from = match &self.open {
            None => true,
            Some(open) => {
                !open.quoted
                    && open.text.len() == 1
                    && open.text.bytes().all(|byte| byte.is_ascii_digit())
            }
        };
        let mut ahead = self.rest.chars();
        let copies = ahead.next() == Some('&') && ahead.next().is_some_and(|c| c.is_ascii_digit());
        if !from || !copies || !matches!(ahead.next(), None | Some(' ' | '\t')) {
            return Err(Reason::Redirection);
        }
        self.open = None;
        self.rest = &self.rest[2..];
        Ok(())
    }

    fn close(&mut self) -> Result<(), Reason> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        if open.braced_list {
            return Err(Reason::Braces);
        }
        // `~+`, `~-` and `~name` are other places each time.
        if open.tilde && open.text != "~" && !open.text.starts_with("~/") {
            return Err(Reason::Expansion);
        }
        self.words.push(Word {
            text: open.text,
            glob: open.star || open.brackets,
            tilde: open.tilde,
        });
        Ok(())
    }
}

/// How quotes and signs inside words are read.
#[derive(Clone, Copy)]
enum Reading {
    /// Quotes vanish: `r'm'` is `rm`.
    Unquoted,
    /// Quotes part words: `-c'rm x'` holds `rm x`.
    Parted,
    /// So do signs that stand before a command in some places: `--run=rm`, `{rm,-rf}`.
    Scattered,
}

/// All words of a line however it is nested, as texts with one blank between the words.
pub(crate) fn readings(line: &str) -> Vec<String> {
    let line = line.replace("${IFS}", " ").replace("$IFS", " ");
    let mut found: Vec<String> = Vec::new();
    for reading in [Reading::Unquoted, Reading::Parted, Reading::Scattered] {
        let text = read(&line, reading);
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

fn read(line: &str, reading: Reading) -> String {
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let parts = match c {
            ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '`' => true,
            '\\' => {
                if chars.peek() == Some(&'\n') {
                    chars.next();
                }
                continue;
            }
            '$' if matches!(chars.peek(), Some('(' | '{' | '\'' | '"')) => continue,
            '\'' | '"' => match reading {
                Reading::Unquoted => continue,
                Reading::Parted | Reading::Scattered => true,
            },
            '=' | ',' | '$' | ':' => matches!(reading, Reading::Scattered),
            c if c.is_control() => continue,
            c => c.is_whitespace(),
        };
        if !parts {
            text.push(c);
        } else if !text.is_empty() && !text.ends_with(' ') {
            text.push(' ');
        }
    }
    if text.ends_with(' ') {
        text.pop();
    }
    text
}
