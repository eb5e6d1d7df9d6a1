//! Constructs that the shell evaluates itself: conditions, arithmetic, and the rounds of a loop. Called by
//! `statements`.

use tree_sitter::Node;

use super::commands::{CommandDraft, is_literal, touching};
use super::evaluating::is_number_variable;
use super::parse::Reader;
use super::place::ParsedText;
use super::statements::{Gap, children, ends};
use super::types::{Assignment, Doubt, NestingStep, Part, Value, Word};
use super::words::ScannedText;
use crate::variables;

/// Maximum rounds of a loop to examine separately.
const ROUNDS_MAX: usize = 16;

impl Reader {
    /// `[ … ]` and `[[ … ]]`.
    pub(super) fn test(&mut self, source: &ParsedText<'_>, node: Node<'_>) {
        let (start, end) = ends(node);
        if source.part(start, end).starts_with("[[") {
            let is_apart = source.part(start + 2, end).starts_with([' ', '\t', '\n']);
            if source.posix || !is_apart {
                self.misread();
            }
            return self.evaluated(source, node, "[[");
        }
        let mut leaves = Vec::new();
        flatten(node, &mut leaves);
        if !self.gaps(source, (start, end), &leaves, Gap::Blanks) {
            return;
        }
        if leaves
            .iter()
            .any(|leaf| matches!(leaf.kind(), "<" | ">" | "(" | ")" | "|" | "&"))
        {
            return self.misread();
        }
        let mut draft = CommandDraft::default();
        self.pieces(source, &leaves, &mut draft);
        self.finish(source, draft);
    }

    /// Adds a command that the shell evaluates itself.
    pub(super) fn evaluated(&mut self, source: &ParsedText<'_>, node: Node<'_>, program: &str) {
        let (start, end) = ends(node);
        let inner = self.region(source, start, end, &[node]);
        self.arithmetic_part(source, (start, end), program, inner);
    }

    pub(super) fn arithmetic_part(
        &mut self,
        source: &ParsedText<'_>,
        (start, end): (usize, usize),
        program: &str,
        inner: ScannedText<'_>,
    ) {
        let raw = source.part(start, end);
        // Conditions compare names as text, except for these.
        let numbers = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R", "["];
        let body = raw.trim_start_matches('[');
        let evaluates =
            program != "[[" || inner.evaluates || numbers.iter().any(|sign| body.contains(sign));
        let span = source.span(start, end);
        let rest = raw.strip_prefix(program).unwrap_or(raw).trim_start();
        let mut text = Word::plain(rest, span);
        text.value = Value::Computed;
        let part = Part {
            span,
            words: vec![Word::plain(program, span), text],
            doubt: evaluates.then_some(Doubt::Evaluates),
            via: self.via.clone(),
            parent: self.parent,
            pipeline: self.pipeline.unwrap_or(0),
            ..Part::default()
        };
        self.push(part);
        self.within(NestingStep::Inside, |reader| reader.run(source, inner));
    }

    /// Adds the body of a `for` once for each of its words, if these are known.
    pub(super) fn rounds(
        &mut self,
        source: &ParsedText<'_>,
        name: &str,
        values: &[Node<'_>],
        body: Node<'_>,
    ) {
        if is_number_variable(name) {
            self.doubt(Doubt::Evaluates);
        }
        let mut words = Vec::new();
        let mut rest = values;
        while !rest.is_empty() {
            let count = touching(source, rest);
            let group = rest.get(..count).unwrap_or_default();
            rest = rest.get(count..).unwrap_or_default();
            let (Some(first), Some(last)) = (group.first(), group.last()) else {
                break;
            };
            let (word, inner) = self.word(source, first.start_byte(), last.end_byte(), group);
            self.inside(source, inner);
            words.push(word);
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
        // Of a pattern in quotes the loop has a text, and not the files.
        let is_pattern = |c: char| "*?[]".contains(c);
        let known = |word: &Word| {
            word.value == Value::Known
                && !word.text.is_empty()
                && !word.text.starts_with('-')
                && (word.text.chars()).all(|c| is_plain(c) || word.glob && is_pattern(c))
        };
        let few = !words.is_empty()
            && words.len() <= ROUNDS_MAX
            && words.iter().all(known)
            && self.via.iter().all(is_of_line)
            && only_loop_sets(source.text, name);
        if !few || self.bound.len() >= 2 {
            let mut value = Word::plain("", source.span(body.start_byte(), body.start_byte()));
            value.value = Value::Computed;
            self.assign_in_round(name, value);
            return self.statement(source, body);
        }
        for word in words {
            self.assign_in_round(name, word.clone());
            self.bound.push((name.to_owned(), word));
            self.statement(source, body);
            self.bound.pop();
        }
    }

    /// Adds the assignment to a loop's variable, if the variable means something to a shell or a program: the loop
    /// sets it as `NAME=value` does, and it stays set after the loop.
    fn assign_in_round(&mut self, name: &str, value: Word) {
        if variables::is_plain_loop_variable(name) {
            return;
        }
        let index = self.parts.len();
        self.push(Part {
            span: value.span,
            assignments: vec![Assignment {
                name: name.to_owned(),
                value,
            }],
            via: self.via.clone(),
            parent: self.parent,
            pipeline: self.pipeline.unwrap_or(0),
            ..Part::default()
        });
        self.launch(index, false);
    }
}

/// Collects the words and operators of a condition, in their order.
fn flatten<'t>(node: Node<'t>, leaves: &mut Vec<Node<'t>>) {
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        let whole = !node.is_named() || is_literal(node.kind()) || node.child_count() == 0;
        if whole {
            leaves.push(node);
        } else {
            let mut kids = children(node);
            kids.reverse();
            waiting.extend(kids);
        }
    }
}

/// Whether what is reached so is in the same line, with the same variables.
fn is_of_line(step: &NestingStep) -> bool {
    use NestingStep::{
        Background, Case, Condition, Function, Group, Inside, Launched, Line, Loop, Negated,
        PipeBoth, ProcessSubstitution, Subshell, Substitution,
    };
    match step {
        Background | PipeBoth | Negated | Subshell | Group | Loop | Condition | Case
        | Function(_) => true,
        Substitution | ProcessSubstitution | Inside | Launched(_) | Line(_) => false,
    }
}

/// Whether nothing in a line but the one loop can set a variable, or how values are split: it uses no command that sets
/// variables, there is one loop, and the name is nowhere before a `=` or the like. Quotes and backslashes count as if they were not there.
fn only_loop_sets(line: &str, name: &str) -> bool {
    const SETTERS: &[&str] = &[
        "IFS",
        "declare",
        "eval",
        "export",
        "getopts",
        "let",
        "local",
        "mapfile",
        "printf",
        "read",
        "readarray",
        "readonly",
        "set",
        "source",
        "typeset",
        "unset",
        "wait",
    ];
    let bare: String = line
        .chars()
        .filter(|c| !matches!(c, '\'' | '"' | '\\'))
        .collect();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut heads = 0;
    let mut at = 0;
    while let Some(start) = bare[at..].find(is_part).map(|found| at + found) {
        let token = &bare[start..];
        let length = token.find(|c| !is_part(c)).unwrap_or(token.len());
        let (before, token) = (&bare[..start], &token[..length]);
        at = start + length;
        if SETTERS.contains(&token) {
            return false;
        }
        if token != name {
            continue;
        }
        let after = &bare[at..];
        let is_use = before.ends_with('$') || before.ends_with("${") && after.starts_with('}');
        let may_be_set = before.ends_with('{')
            || ["=", "+=", "[", "++", "--"]
                .iter()
                .any(|sign| after.starts_with(sign));
        let word_before = before.trim_end_matches([' ', '\t', '\n']);
        let is_head = ["for", "select", "coproc"]
            .iter()
            .any(|head| word_before.ends_with(head));
        heads += usize::from(is_head);
        if may_be_set && !is_use {
            return false;
        }
    }
    heads == 1 && !bare.contains("((") && !bare.contains(" . ") && !bare.starts_with(". ")
}
