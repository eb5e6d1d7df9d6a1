//! One word, read from its bytes.
//!
//! Reads quotes as the shell does, and so checks what the grammar took for a word. The line becomes doubtful if
//! anything inside would end the word, or would start something else. Substitutions that the tree has are skipped; the
//! callers read their contents.

use tree_sitter::Node;

use super::braces::Braces;
use super::expansion;
use super::holes::Substitutions;
use super::parse::Reader;
use super::place::ParsedText;
use super::types::{NestingStep, Value, Word};
use super::{ansi, is_name};

/// Commands that run inside a word.
pub(super) enum EmbeddedCommands<'t> {
    /// A node that contains statements.
    Statements(Node<'t>, NestingStep),
    /// The text between backticks, without its backslashes.
    Text(String, usize, usize),
}

/// The result of reading a stretch of text.
#[derive(Default)]
pub(super) struct ScannedText<'t> {
    pub(super) runs: Vec<EmbeddedCommands<'t>>,
    /// It evaluates the values of variables as code.
    pub(super) evaluates: bool,
    /// Statements on the first line of a here-document.
    pub(super) follows: Vec<Node<'t>>,
}

impl<'t> ScannedText<'t> {
    pub(super) fn follows(follows: Vec<Node<'t>>) -> Self {
        Self {
            follows,
            ..Self::default()
        }
    }
}

/// The state while reading one stretch of text.
pub(super) struct Scan<'s, 't> {
    pub(super) source: &'s ParsedText<'s>,
    pub(super) holes: Substitutions<'t>,
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) inner: ScannedText<'t>,
    pub(super) misread: bool,
    bound: &'s [(String, Word)],
    text: String,
    value: Value,
    glob: bool,
    tilde: bool,
    coded: bool,
    splits: bool,
    bracket: bool,
    braces: Braces,
}

impl Reader {
    /// Reads the word from `start` to `end`, made of these nodes, and the commands inside it.
    pub(super) fn word<'t>(
        &mut self,
        source: &ParsedText<'_>,
        start: usize,
        end: usize,
        nodes: &[Node<'t>],
    ) -> (Word, ScannedText<'t>) {
        let bound = std::mem::take(&mut self.bound);
        let mut scan = Scan::new(source, Substitutions::of(nodes), start, end, &bound);
        scan.unquoted();
        let misread = scan.misread;
        let (word, inner) = scan.finish(start);
        self.bound = bound;
        if misread {
            self.misread();
        }
        (word, inner)
    }

    /// Reads a stretch that is not a word: arithmetic, a condition, a pattern. Checks that its quotes close and that
    /// its commands are known.
    pub(super) fn region<'t>(
        &mut self,
        source: &ParsedText<'_>,
        start: usize,
        end: usize,
        nodes: &[Node<'t>],
    ) -> ScannedText<'t> {
        let mut scan = Scan::new(source, Substitutions::of(nodes), start, end, &[]);
        while scan.at < scan.end && !scan.misread {
            match scan.byte() {
                b'#' if scan.before_is_blank() => scan.misread = true,
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => scan.at += 1,
                b'<' | b'>' if scan.holes.at(scan.at).is_some() => {
                    scan.hole(NestingStep::ProcessSubstitution, true);
                }
                // The grammar does not know one in the pattern of a condition.
                b'<' | b'>' if scan.begins_process() => scan.misread = true,
                b'<' | b'>' => scan.at += 1,
                _ => scan.one(),
            }
        }
        if scan.misread {
            self.misread();
        }
        scan.inner
    }
}

impl<'s, 't> Scan<'s, 't> {
    pub(super) fn new(
        source: &'s ParsedText<'s>,
        holes: Substitutions<'t>,
        start: usize,
        end: usize,
        bound: &'s [(String, Word)],
    ) -> Self {
        Self {
            source,
            holes,
            at: start,
            end,
            inner: ScannedText::default(),
            misread: false,
            bound,
            text: String::new(),
            value: Value::Known,
            glob: false,
            tilde: false,
            coded: false,
            splits: false,
            bracket: false,
            braces: Braces::default(),
        }
    }

    fn finish(self, start: usize) -> (Word, ScannedText<'t>) {
        let span = self.source.span(start, self.end);
        let word = Word {
            text: self.text,
            value: self.value,
            glob: self.glob,
            tilde: self.tilde,
            coded: self.coded,
            splits: self.splits,
            is_list: false,
            span,
        };
        (word, self.inner)
    }

    pub(super) fn byte(&self) -> u8 {
        self.peek(0)
    }

    /// The byte this far ahead, or zero, which no line contains.
    pub(super) fn peek(&self, ahead: usize) -> u8 {
        let at = self.at + ahead;
        if at >= self.end {
            return 0;
        }
        self.source.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn before_is_blank(&self) -> bool {
        let before = self.at.checked_sub(1);
        let byte = before.and_then(|at| self.source.text.as_bytes().get(at));
        byte.is_none_or(|byte| byte.is_ascii_whitespace())
    }

    /// Whether the sign here and what follows it are the start of `<(…)` or `>(…)`. The shell takes line continuations out
    /// first.
    fn begins_process(&self) -> bool {
        let mut rest = self.source.part(self.at + 1, self.end);
        while let Some(after) = rest.strip_prefix("\\\n") {
            rest = after;
        }
        rest.starts_with('(')
    }

    /// Takes the character here and advances.
    fn take(&mut self) -> char {
        let c = self.source.part(self.at, self.end).chars().next();
        match c {
            Some(c) => {
                self.at += c.len_utf8();
                c
            }
            None => {
                self.at = self.end;
                self.misread = true;
                '\u{fffd}'
            }
        }
    }

    pub(super) fn unknown(&mut self, value: Value) {
        // Text that may run something takes precedence, and a known value makes no other one known.
        let is_weaker = value == Value::Bound && self.value != Value::Known;
        if self.value != Value::Computed && !is_weaker {
            self.value = value;
        }
    }

    /// Reads a whole word: it must end at the expected position, and contain nothing that would end it earlier.
    fn unquoted(&mut self) {
        let start = self.at;
        while self.at < self.end && !self.misread {
            match self.byte() {
                b'#' if self.at == start => self.misread = true,
                b'<' | b'>' => {
                    let whole = self.at == start
                        && self.byte() == b'<'
                        && self.holes.at(start).map(|hole| hole.end_byte()) == Some(self.end);
                    self.hole(NestingStep::ProcessSubstitution, true);
                    if whole {
                        self.value = Value::CommandOutput;
                    }
                }
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => self.misread = true,
                b'~' if self.at == start => {
                    self.tilde = true;
                    let c = self.take();
                    self.text.push(c);
                    // `~+`, `~-` and `~name` mean other directories.
                    if !matches!(self.byte(), 0 | b'/') {
                        self.unknown(Value::Variable);
                    }
                }
                _ => self.one(),
            }
        }
        self.misread |= self.at != self.end;
    }

    /// Reads one character, quoted stretch or expansion outside quotes.
    fn one(&mut self) {
        match self.byte() {
            b'\\' => {
                self.at += 1;
                if self.at >= self.end {
                    self.misread = true;
                } else if self.byte() == b'\n' {
                    self.at += 1;
                } else {
                    let c = self.take();
                    self.text.push(c);
                }
            }
            b'\'' => self.single(),
            b'"' => self.double(),
            b'$' => self.dollar(false),
            b'`' => self.backticks(false),
            _ => self.bare(),
        }
    }

    fn bare(&mut self) {
        let c = self.take();
        match c {
            '*' | '?' => self.glob = true,
            '[' => self.bracket = true,
            ']' => self.glob |= self.bracket,
            '{' => self.braces.open(),
            ',' => self.braces.separate(),
            '.' if self.text.ends_with('.') => self.braces.separate(),
            '}' => self.braces.close(),
            _ => {}
        }
        if self.braces.expand {
            self.unknown(Value::Braces);
        }
        self.text.push(c);
    }

    fn single(&mut self) {
        let rest = self.source.part(self.at + 1, self.end);
        match rest.find('\'') {
            Some(length) => {
                self.text.push_str(&rest[..length]);
                self.at += length + 2;
            }
            None => self.misread = true,
        }
    }

    fn double(&mut self) {
        self.at += 1;
        while !self.misread {
            match self.byte() {
                0 => self.misread = true,
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'$' => self.dollar(true),
                b'`' => self.backticks(true),
                b'\\' => {
                    self.at += 1;
                    match self.byte() {
                        0 => self.misread = true,
                        b'\n' => self.at += 1,
                        b'$' | b'`' | b'"' | b'\\' => {
                            let c = self.take();
                            self.text.push(c);
                        }
                        _ => self.text.push('\\'),
                    }
                }
                _ => {
                    let c = self.take();
                    self.text.push(c);
                }
            }
        }
    }

    pub(super) fn dollar(&mut self, quoted: bool) {
        match self.peek(1) {
            b'(' => self.hole(NestingStep::Substitution, quoted),
            b'[' => {
                // The older arithmetic syntax: the tree has it, but today's shells hardly support it.
                self.misread = true;
            }
            b'{' => self.braced(quoted),
            b'\'' if !quoted => self.coded_quotes(),
            b'"' if !quoted => {
                self.posix_differs();
                self.coded = true;
                self.at += 1;
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let name: String = self
                    .source
                    .part(self.at + 1, self.end)
                    .chars()
                    .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                    .collect();
                let length = 1 + name.len();
                self.variable(&name, length, quoted);
            }
            b'@' => self.variable("", 2, false),
            b'*' | b'0'..=b'9' => self.variable("", 2, quoted),
            // Numbers and letters of options.
            b'?' | b'#' | b'$' | b'!' | b'-' => self.variable("", 2, true),
            // The shell takes a line continuation out before it looks at what follows the sign.
            b'\\' if self.peek(2) == b'\n' => self.misread = true,
            _ => {
                self.at += 1;
                self.text.push('$');
            }
        }
    }

    /// Reads a variable of this name, written with this many bytes.
    fn variable(&mut self, name: &str, length: usize, quoted: bool) {
        let bound = self.bound.iter().rev().find(|(of, _)| of == name);
        match bound {
            // Blanks in its value would split it outside quotes, but words with blanks are never bound.
            Some((_, word)) => {
                let first = self.text.is_empty();
                self.text.push_str(&word.text);
                self.glob |= word.glob;
                self.tilde |= word.tilde && first;
                // File names may have blanks.
                self.splits |= word.glob && !quoted;
                self.unknown(Value::Bound);
            }
            None => {
                let raw = self.source.part(self.at, self.at + length);
                self.text.push_str(raw);
                self.unknown(Value::Variable);
                self.splits |= !quoted;
            }
        }
        self.at += length;
    }

    fn coded_quotes(&mut self) {
        self.posix_differs();
        self.coded = true;
        let start = self.at + 2;
        let mut escaped = false;
        let rest = self.source.part(start, self.end);
        let length = rest.char_indices().find_map(|(at, c)| {
            let ends = c == '\'' && !escaped;
            escaped = c == '\\' && !escaped;
            ends.then_some(at)
        });
        let Some(length) = length else {
            self.misread = true;
            return;
        };
        let raw = self.source.part(start, start + length);
        match ansi::decode(raw) {
            Some(text) => self.text.push_str(&text),
            None => {
                self.text.push_str(raw);
                self.unknown(Value::Computed);
            }
        }
        self.at = start + length + 1;
    }

    /// `${…}`.
    fn braced(&mut self, quoted: bool) {
        let Some(found) = expansion::braced(self) else {
            self.misread = true;
            return;
        };
        if let Some(name) = found.plain.as_deref().filter(|name| is_name(name)) {
            return self.variable(name, found.length, quoted);
        }
        let raw = self.source.part(self.at, self.at + found.length);
        // `"${l[@]}"` is several words also in quotes, and `${#v}` is a number.
        self.splits |= (!quoted || raw.contains('@')) && !raw.starts_with("${#");
        self.text.push_str(raw);
        self.inner.evaluates |= found.evaluates;
        self.inner.runs.extend(found.runs);
        self.unknown(if found.computes {
            Value::Computed
        } else {
            Value::Variable
        });
        self.at += found.length;
    }

    /// Skips a substitution that the tree has here.
    pub(super) fn hole(&mut self, via: NestingStep, quoted: bool) {
        let Some(hole) = self.holes.at(self.at) else {
            self.misread = true;
            return;
        };
        let end = hole.end_byte();
        if end > self.end {
            self.misread = true;
            return;
        }
        let raw = self.source.part(self.at, end);
        match hole.kind() {
            "arithmetic_expansion" => match expansion::arithmetic(self.source, hole) {
                Some(inner) => {
                    self.inner.evaluates |= inner.evaluates;
                    self.inner.runs.extend(inner.runs);
                }
                None => self.misread = true,
            },
            _ => {
                if via == NestingStep::ProcessSubstitution {
                    self.posix_differs();
                }
                self.splits |= !quoted;
                self.inner.evaluates |= expansion::may_be_arithmetic(self.source, hole);
                self.inner
                    .runs
                    .push(EmbeddedCommands::Statements(hole, via));
            }
        }
        self.text.push_str(raw);
        self.unknown(Value::Computed);
        self.at = end;
    }

    /// Reads a line between backticks. It is parsed again without its backslashes and line continuations, as in the shell.
    pub(super) fn backticks(&mut self, quoted: bool) {
        let start = self.at;
        let mut line = String::new();
        self.at += 1;
        loop {
            match self.byte() {
                0 => {
                    self.misread = true;
                    return;
                }
                b'`' => break,
                b'\\' if self.peek(1) == b'\n' => self.at += 2,
                b'\\' => {
                    let next = self.peek(1);
                    self.at += 1;
                    if !(matches!(next, b'`' | b'\\' | b'$') || (quoted && next == b'"')) {
                        line.push('\\');
                    } else {
                        let c = self.take();
                        line.push(c);
                    }
                }
                _ => {
                    let c = self.take();
                    line.push(c);
                }
            }
        }
        self.at += 1;
        self.splits |= !quoted;
        if self
            .holes
            .at(start)
            .is_some_and(|hole| hole.end_byte() != self.at)
        {
            self.misread = true;
        }
        self.inner
            .runs
            .push(EmbeddedCommands::Text(line, start, self.at));
        let raw = self.source.part(start, self.at);
        self.text.push_str(raw);
        self.unknown(Value::Computed);
    }

    /// Marks text that only some shells read this way.
    pub(super) fn posix_differs(&mut self) {
        self.misread |= self.source.posix;
    }
}

impl Reader {
    /// Adds the commands inside a word or region.
    pub(super) fn run(&mut self, source: &ParsedText<'_>, inner: ScannedText<'_>) {
        for inside in inner.runs {
            match inside {
                EmbeddedCommands::Statements(node, via) => {
                    self.within(via, |reader| reader.substitution(source, node));
                }
                EmbeddedCommands::Text(text, start, end) => {
                    let span = source.span(start, end);
                    self.line(&text, span, source.posix, NestingStep::Substitution);
                }
            }
        }
    }
}
