//! From text to tree, within bounds. Only this module calls the parser.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use super::place::{Origin, ParsedText};
use super::types::{Doubt, NestingStep, Part, Script, Span, Word};
use super::{characters, trim};

/// Maximum characters of a line; only a rule for its family covers a longer one.
const LENGTH_MAX: usize = 10_000;
/// Maximum nesting of lines, substitutions and loops.
const DEPTH_MAX: usize = 64;
/// Maximum commands of one line.
const PARTS_MAX: usize = 1_000;
/// Maximum words of all commands together. The words of a launched command count again.
const WORDS_MAX: usize = 10_000;
/// Maximum `|` characters: the parser's work grows with the square of a pipeline's length.
const BARS_MAX: usize = 400;
/// Maximum here-documents, including text that looks like one.
const HEREDOCS_MAX: usize = 32;
/// Maximum progress callbacks of the parser: some hundred steps each.
const LOOKS_MAX: u32 = 20_000;
/// Maximum bytes of all nested lines together.
const BYTES_MAX: usize = 30_000;

/// A script that is being built.
pub(super) struct Reader {
    pub(super) parts: Vec<Part>,
    pub(super) doubt: Option<Doubt>,
    pub(super) via: Vec<NestingStep>,
    pub(super) parent: Option<usize>,
    pub(super) pipelines: usize,
    pub(super) pipeline: Option<usize>,
    /// Variables of enclosing loops, with their word in this round.
    pub(super) bound: Vec<(String, Word)>,
    /// Whether the commands that are read now may get an input: they are behind a `|`, in a function, or in something with a
    /// redirection.
    pub(super) has_input: bool,
    /// A variable was made a list.
    pub(super) has_lists: bool,
    /// A `-` that the grammar dropped, for the command that is read next.
    pub(super) dash: Option<usize>,
    parser: Option<Parser>,
    depth: usize,
    looks: u32,
    bytes: usize,
    words: usize,
}

/// Parses a command line.
#[must_use]
pub fn read(command: &str) -> Script {
    let line = trim(command);
    let doubted = |doubt| Script {
        parts: Vec::new(),
        doubt: Some(doubt),
    };
    if line.is_empty() {
        return doubted(Doubt::Empty);
    }
    if line.len() > LENGTH_MAX && line.chars().nth(LENGTH_MAX).is_some() {
        return doubted(Doubt::TooLong);
    }
    // Checked before anything else: such characters also make the displayed line differ from the one that runs.
    if line.chars().any(characters::is_unseen) {
        return doubted(Doubt::Characters);
    }
    let start = command.find(line).unwrap_or_default();
    let mut reader = Reader::new();
    reader.text(&ParsedText {
        text: line,
        origin: Origin::At(start),
        posix: false,
    });
    if reader.parts.is_empty() {
        reader.doubt(Doubt::Empty);
    }
    Script {
        parts: reader.parts,
        doubt: reader.doubt,
    }
}

impl Reader {
    fn new() -> Self {
        let mut parser = Parser::new();
        let set = parser.set_language(&tree_sitter_bash::LANGUAGE.into());
        Self {
            parts: Vec::new(),
            doubt: None,
            via: Vec::new(),
            parent: None,
            pipelines: 0,
            pipeline: None,
            bound: Vec::new(),
            has_input: false,
            has_lists: false,
            dash: None,
            parser: set.is_ok().then_some(parser),
            depth: 0,
            looks: 0,
            bytes: 0,
            words: 0,
        }
    }

    /// Adds a part, unless there are too many.
    pub(super) fn push(&mut self, part: Part) {
        self.words += part.words.len();
        if self.parts.len() >= PARTS_MAX || self.words > WORDS_MAX {
            return self.doubt(Doubt::TooMuch);
        }
        self.parts.push(part);
    }

    /// Notes a doubt about the whole line; the first one stays.
    pub(super) fn doubt(&mut self, doubt: Doubt) {
        self.doubt = self.doubt.or(Some(doubt));
    }

    pub(super) fn misread(&mut self) {
        self.doubt(Doubt::Misread);
    }

    /// Whether the commands that are read now are inside of `$(…)` or `<(…)`.
    pub(super) fn is_in_substitution(&self) -> bool {
        self.via.iter().any(|via| {
            matches!(
                via,
                NestingStep::Substitution | NestingStep::ProcessSubstitution
            )
        })
    }

    /// Runs `work` one level deeper, unless that is too deep.
    pub(super) fn deeper(&mut self, work: impl FnOnce(&mut Self)) {
        if self.depth >= DEPTH_MAX {
            self.doubt(Doubt::TooDeep);
            return;
        }
        self.depth += 1;
        work(self);
        self.depth -= 1;
    }

    /// Runs `work` one level deeper, with this nesting step.
    pub(super) fn within(&mut self, via: NestingStep, work: impl FnOnce(&mut Self)) {
        self.via.push(via);
        self.deeper(work);
        self.via.pop();
    }

    /// Reads a complete text: the line, or one that a shell is given.
    pub(super) fn text(&mut self, source: &ParsedText<'_>) {
        self.bytes = self.bytes.saturating_add(source.text.len());
        if self.bytes > BYTES_MAX {
            return self.doubt(Doubt::TooMuch);
        }
        if source.text.contains('\0') {
            return self.doubt(Doubt::Characters);
        }
        // The scanner keeps a list of here-documents; ordinary lines have one.
        let bars = source.text.bytes().filter(|byte| *byte == b'|').count();
        if bars > BARS_MAX || source.text.matches("<<").count() > HEREDOCS_MAX {
            return self.doubt(Doubt::TooMuch);
        }
        if splits_operator(source.text) {
            return self.misread();
        }
        let Some(tree) = self.parse(source.text) else {
            return self.doubt(Doubt::TooMuch);
        };
        let root = tree.root_node();
        if root.has_error() {
            self.doubt(Doubt::Syntax);
            return;
        }
        self.deeper(|reader| reader.program(source, root));
    }

    /// Reads a line inside a word; its commands have this nesting step.
    pub(super) fn line(&mut self, text: &str, span: Span, posix: bool, via: NestingStep) {
        let source = ParsedText {
            text: trim(text),
            origin: Origin::Within(span),
            posix,
        };
        if source.text.is_empty() {
            return;
        }
        // The variables of enclosing loops are not visible in another shell.
        let bound = std::mem::take(&mut self.bound);
        self.within(via, |reader| reader.text(&source));
        self.bound = bound;
    }

    fn parse(&mut self, text: &str) -> Option<Tree> {
        let parser = self.parser.as_mut()?;
        parser.reset();
        let looks = &mut self.looks;
        // Counted, not timed: equal lines always give equal answers.
        let mut look = |_: &tree_sitter::ParseState| {
            *looks += 1;
            if *looks > LOOKS_MAX {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut look);
        // The grammar's scanner classifies bytes with tables, so it gets ASCII only. To a shell, a letter of any script
        // is part of a word, and the words are read from the text itself.
        let letters = |byte: u8| if byte.is_ascii() { byte } else { b'x' };
        let bytes: Vec<u8> = text.bytes().map(letters).collect();
        let mut chunk = |at: usize, _| bytes.get(at..).unwrap_or_default();
        parser.parse_with_options(&mut chunk, None, Some(options))
    }
}

/// Whether a line continuation splits an operator: the shell reads `&`, a continuation and `>` as `&>`.
fn splits_operator(text: &str) -> bool {
    const CONTINUATION: &str = "\\\n";
    text.match_indices(CONTINUATION).any(|(at, _)| {
        let before = text[..at]
            .trim_end_matches(CONTINUATION)
            .chars()
            .next_back();
        let after = text[at..].trim_start_matches(CONTINUATION).chars().next();
        match (before, after) {
            (Some('('), Some('(')) | (Some(')'), Some(')')) => true,
            (Some(before), Some(after)) => "&|<>;".contains(before) && "&|<>;".contains(after),
            _ => false,
        }
    })
}
