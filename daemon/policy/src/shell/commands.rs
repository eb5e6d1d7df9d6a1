//! One simple command: its words, assignments and redirections. Called by `statements`.

use tree_sitter::Node;

use super::braces;
use super::evaluating::{has_evaluated_index, is_number_variable};
use super::parse::Reader;
use super::place::ParsedText;
use super::statements::{Gap, children, ends, is_sign};
use super::types::{Assignment, Doubt, NestingStep, Part, Redirection, Value, Word};
use super::words::ScannedText;
use super::{is_assignment, is_name, without_continuations};

/// Words that start something other than a simple command, if they are first and not quoted.
pub(super) const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do",
    "done", "in", "function", "{", "}", "!", "[[", "]]", "coproc",
];

/// A command that is being built.
#[derive(Default)]
pub(super) struct CommandDraft<'t> {
    part: Part,
    inner: Vec<ScannedText<'t>>,
    /// The end of the previous piece, and whether it was a word.
    last: Option<(usize, bool)>,
    start: Option<usize>,
}

impl CommandDraft<'_> {
    fn reaches(&mut self, start: usize, end: usize, is_word: bool) {
        self.start = Some(self.start.map_or(start, |at| at.min(start)));
        self.last = Some((end, is_word));
    }

    fn evaluates(&mut self, evaluates: bool) {
        if evaluates {
            self.part.doubt = self.part.doubt.or(Some(Doubt::Evaluates));
        }
    }
}

impl Reader {
    /// Adds a command, with the redirections after it.
    pub(super) fn command(
        &mut self,
        source: &ParsedText<'_>,
        node: Node<'_>,
        following: &[Node<'_>],
    ) {
        let kids = children(node);
        if !self.gaps(source, ends(node), &kids, Gap::Blanks) {
            return;
        }
        let mut draft = CommandDraft::default();
        let mut pieces = kids;
        pieces.extend(following);
        self.pieces(source, &pieces, &mut draft);
        self.finish(source, draft);
    }

    /// Adds assignments or redirections without a command.
    pub(super) fn alone(&mut self, source: &ParsedText<'_>, nodes: &[Node<'_>]) {
        let mut draft = CommandDraft::default();
        self.pieces(source, nodes, &mut draft);
        self.finish(source, draft);
    }

    /// Joins adjacent words, and reads all pieces in their order.
    pub(super) fn pieces<'t>(
        &mut self,
        source: &ParsedText<'_>,
        nodes: &[Node<'t>],
        draft: &mut CommandDraft<'t>,
    ) {
        let mut rest = nodes;
        while let Some((first, following)) = rest.split_first() {
            rest = following;
            match first.kind() {
                "comment" => {
                    // A node after a comment is on another line.
                    if following.iter().any(|node| node.kind() != "comment") {
                        self.misread();
                    }
                }
                "variable_assignment" => self.assignment(source, *first, draft),
                "file_redirect" => self.file_redirect(source, *first, draft),
                "herestring_redirect" => self.herestring(source, *first, draft),
                "heredoc_redirect" => {
                    if let Some(at) = self.dash.take() {
                        draft
                            .part
                            .words
                            .push(Word::plain("-", source.span(at, at + 1)));
                        draft.reaches(at, at + 1, true);
                    }
                    self.heredoc(source, *first, draft);
                }
                "subshell" => self.misread(),
                _ => {
                    let mut group = vec![*first];
                    while let Some((next, following)) = rest.split_first()
                        && group.last().is_some_and(|last| joins(source, *last, *next))
                        && !matches!(next.kind(), "comment" | "variable_assignment" | "subshell")
                        && !next.kind().ends_with("_redirect")
                    {
                        group.push(*next);
                        rest = following;
                    }
                    self.argument(source, &group, draft);
                }
            }
        }
    }

    fn argument<'t>(
        &mut self,
        source: &ParsedText<'_>,
        nodes: &[Node<'t>],
        draft: &mut CommandDraft<'t>,
    ) {
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else {
            return;
        };
        let (start, end) = (first.start_byte(), last.end_byte());
        self.check_blank_before_word(source, start, draft);
        let (word, inner) = self.word(source, start, end, nodes);
        if draft.part.words.is_empty() {
            let raw = without_continuations(source.part(start, end));
            if KEYWORDS.contains(&&*raw) || is_assignment(&raw) {
                self.misread();
            }
        }
        draft.evaluates(inner.evaluates);
        // A program is never named by an expansion, and only some shells have them.
        let expands = word.value == Value::Braces && !draft.part.words.is_empty() && !source.posix;
        let words = expands.then(|| braces::expanded(source.part(start, end)));
        match words.flatten() {
            Some(words) => draft.part.words.extend(words.iter().map(|text| Word {
                value: Value::Listed,
                glob: text.contains(['*', '?']),
                ..Word::plain(text, word.span)
            })),
            None => draft.part.words.push(word),
        }
        draft.inner.push(inner);
        draft.reaches(start, end, true);
    }

    fn assignment<'t>(
        &mut self,
        source: &ParsedText<'_>,
        node: Node<'t>,
        draft: &mut CommandDraft<'t>,
    ) {
        let (start, end) = ends(node);
        self.check_blank_before_word(source, start, draft);
        let raw = source.part(start, end);
        let Some((left, _)) = raw.split_once('=') else {
            return self.misread();
        };
        let name = left.strip_suffix('+').unwrap_or(left);
        if !is_name(name) && !is_element(name) {
            return self.misread();
        }
        let value_start = start + left.len() + 1;
        let (value, inner) = if is_name(name) && !source.part(value_start, end).starts_with('(') {
            self.word(source, value_start, end, &[node])
        } else {
            // Lists, and indices in them.
            let inner = self.region(source, start, end, &[node]);
            let mut value = Word::plain(source.part(value_start, end), source.span(start, end));
            value.value = Value::Computed;
            let list = source.part(value_start, end);
            self.has_lists |= list.starts_with('(');
            self.check_list(list);
            draft.evaluates(!list.starts_with('(') || has_evaluated_index(list));
            (value, inner)
        };
        let is_digits = value.is_known() && value.text.bytes().all(|byte| byte.is_ascii_digit());
        draft.evaluates(inner.evaluates || is_number_variable(name) && !is_digits);
        let name: String = name
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        if !is_name(&name) {
            self.misread();
        }
        draft.part.assignments.push(Assignment { name, value });
        draft.inner.push(inner);
        draft.reaches(start, end, true);
    }

    /// Doubts a list with backslashes inside of `$(…)` or `<(…)`. Bash 5.2 prints the commands of a substitution back to text
    /// without these backslashes, finds a syntax error there, and runs what is on the next line, even if that is in quotes.
    fn check_list(&mut self, value: &str) {
        if value.starts_with('(') && value.contains('\\') && self.is_in_substitution() {
            self.misread();
        }
    }

    fn file_redirect<'t>(
        &mut self,
        source: &ParsedText<'_>,
        node: Node<'t>,
        draft: &mut CommandDraft<'t>,
    ) {
        let kids = children(node);
        let (start, _) = ends(node);
        if !self.gaps(source, ends(node), &kids, Gap::Blanks) {
            return;
        }
        let mut rest = kids.as_slice();
        let described = rest
            .first()
            .is_some_and(|kid| kid.kind() == "file_descriptor");
        if described {
            rest = rest.get(1..).unwrap_or_default();
        }
        self.before_redirect(source, start, described, draft);
        let Some((sign, rest)) = rest.split_first() else {
            return self.misread();
        };
        let sign = sign.kind();
        if sign.starts_with('&') && source.posix {
            self.misread();
        }
        draft.part.has_input |= sign.starts_with('<') && sign != "<&-";
        if matches!(sign, "<&-" | ">&-") {
            draft.part.redirections.push(Redirection::Copy);
            draft.reaches(start, start + sign.len(), false);
            return self.pieces(source, rest, draft);
        }
        let count = touching(source, rest);
        let target = rest.get(..count).unwrap_or_default();
        let (Some(first), Some(last)) = (target.first(), target.last()) else {
            return self.misread();
        };
        let raw = source.part(first.start_byte(), last.end_byte());
        if matches!(sign, "<&" | ">&") && raw.len() > 1 && raw.starts_with('-') {
            // `>& -x` closes, and `x` is a word of the command.
            self.misread();
        }
        let (word, inner) = self.word(source, first.start_byte(), last.end_byte(), target);
        draft.evaluates(inner.evaluates);
        draft.inner.push(inner);
        let redirection = Redirection::of_file(sign, word);
        draft.part.redirections.push(redirection);
        draft.reaches(start, last.end_byte(), false);
        // The grammar reads following words as further targets: they are words of the command.
        self.pieces(source, rest.get(count..).unwrap_or_default(), draft);
    }

    fn herestring<'t>(
        &mut self,
        source: &ParsedText<'_>,
        node: Node<'t>,
        draft: &mut CommandDraft<'t>,
    ) {
        let kids = children(node);
        let (start, end) = ends(node);
        if !self.gaps(source, (start, end), &kids, Gap::Blanks) {
            return;
        }
        if source.posix {
            self.misread();
        }
        let described = kids
            .first()
            .is_some_and(|kid| kid.kind() == "file_descriptor");
        self.before_redirect(source, start, described, draft);
        let words: Vec<Node<'t>> = kids
            .iter()
            .copied()
            .filter(|kid| kid.kind() != "file_descriptor" && !is_sign(*kid, "<<<"))
            .collect();
        let count = touching(source, &words);
        let (Some(first), Some(last)) = (words.first(), words.get(count.saturating_sub(1))) else {
            return self.misread();
        };
        let target = words.get(..count).unwrap_or_default();
        let (word, inner) = self.word(source, first.start_byte(), last.end_byte(), target);
        draft.evaluates(inner.evaluates);
        draft.inner.push(inner);
        let is_input = is_input(source, &kids);
        let text = (word.value == Value::Known && is_input).then_some(word.text);
        draft.part.has_input = true;
        draft.part.redirections.push(Redirection::Text(text));
        draft.reaches(start, last.end_byte(), false);
        self.pieces(source, words.get(count..).unwrap_or_default(), draft);
    }

    /// A here-document; its first line may contain further commands after it.
    fn heredoc<'t>(
        &mut self,
        source: &ParsedText<'_>,
        node: Node<'t>,
        draft: &mut CommandDraft<'t>,
    ) {
        let kids = children(node);
        let (start, end) = ends(node);
        if !self.gaps(source, (start, end), &kids, Gap::Lines) {
            return;
        }
        let described = kids
            .first()
            .is_some_and(|kid| kid.kind() == "file_descriptor");
        self.before_redirect(source, start, described, draft);
        let Some(read) = self.heredoc_text(source, &kids) else {
            return self.misread();
        };
        draft.part.has_input = true;
        let text = read.text.filter(|_| is_input(source, &kids));
        draft.part.redirections.push(Redirection::Text(text));
        draft.evaluates(read.inner.evaluates);
        draft.inner.push(read.inner);
        draft.reaches(start, read.head_end, false);
        let mut words = Vec::new();
        for kid in read.following {
            match kid.kind() {
                "&&" | "||" | "comment" => {}
                "pipeline" => draft.inner.push(ScannedText::follows(children(kid))),
                kind if kind.ends_with("_redirect") || is_literal(kind) => words.push(kid),
                _ if kid.is_named() => draft.inner.push(ScannedText::follows(vec![kid])),
                _ => self.misread(),
            }
        }
        self.pieces(source, &words, draft);
        draft.last = None;
    }

    /// Checks that a word follows a blank.
    fn check_blank_before_word(
        &mut self,
        source: &ParsedText<'_>,
        start: usize,
        draft: &CommandDraft<'_>,
    ) {
        if let Some((end, _)) = draft.last
            && !without_continuations(source.part(end, start)).contains([' ', '\t'])
        {
            self.misread();
        }
    }

    /// A number or name right before a redirection belongs to it. If the grammar made it a word, the line was misread.
    fn before_redirect(
        &mut self,
        source: &ParsedText<'_>,
        start: usize,
        described: bool,
        draft: &CommandDraft<'_>,
    ) {
        let Some((end, is_word)) = draft.last else {
            return;
        };
        let parted = without_continuations(source.part(end, start));
        if !parted.is_empty() {
            return;
        }
        if end > start || described {
            return self.misread();
        }
        if is_word {
            let before = without_continuations(source.part(0, end));
            let from = before
                .rfind([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>'])
                .map_or(0, |at| at + 1);
            let word = before.get(from..).unwrap_or_default();
            if word.bytes().all(|byte| byte.is_ascii_digit()) || word.starts_with('{') {
                self.misread();
            }
        }
    }

    /// Adds the part, then the commands inside it and the ones that it launches.
    pub(super) fn finish(&mut self, source: &ParsedText<'_>, draft: CommandDraft<'_>) {
        let CommandDraft {
            mut part,
            inner,
            last,
            start,
        } = draft;
        let start = start.unwrap_or(0);
        let end = last
            .map_or(0, |(end, _)| end)
            .max(part.words.last().map_or(0, |_| start));
        part.span = source.span(start, end.max(start));
        if let (Some(first), Some(last)) = (part.words.first(), part.words.last()) {
            // A here-document ends after the other parts of the command.
            part.span.start = part.span.start.min(first.span.start);
            part.span.end = part.span.end.max(last.span.end);
        }
        part.via = self.via.clone();
        part.parent = self.parent;
        part.pipeline = self.pipeline.unwrap_or(0);
        let index = self.parts.len();
        self.push(part);
        let parent = self.parent.take();
        for inner in inner {
            self.run_or_follow(source, inner);
        }
        self.parent = parent;
        self.launch(index, source.posix);
    }

    fn run_or_follow(&mut self, source: &ParsedText<'_>, mut inner: ScannedText<'_>) {
        let had_input = self.has_input;
        self.has_input |= !inner.follows.is_empty();
        for node in std::mem::take(&mut inner.follows) {
            if is_sign(node, "|&") {
                self.misread();
            } else if node.is_named() {
                self.statement(source, node);
            } else if !is_sign(node, "|") {
                self.misread();
            }
        }
        self.has_input = had_input;
        self.run(source, inner);
    }

    /// Adds commands inside something that is not itself a command.
    pub(super) fn inside(&mut self, source: &ParsedText<'_>, inner: ScannedText<'_>) {
        if inner.evaluates {
            self.doubt(Doubt::Evaluates);
        }
        self.within(NestingStep::Inside, |reader| reader.run(source, inner));
    }

    /// A statement with redirections.
    pub(super) fn redirected(
        &mut self,
        source: &ParsedText<'_>,
        node: Node<'_>,
        following: &[Node<'_>],
    ) {
        let kids = children(node);
        // No line ends between a command and its redirections, except within a here-document.
        let checked = match lost_dash(source, &kids) {
            Some(at) => {
                self.dash = Some(at);
                kids.get(1..).unwrap_or_default()
            }
            None => &kids,
        };
        let start = self.dash.map_or(node.start_byte(), |at| at + 1);
        if !self.gaps(source, (start, node.end_byte()), checked, Gap::Blanks) {
            return;
        }
        let mut kids = kids;
        kids.extend(following);
        let Some((body, redirects)) = kids.split_first() else {
            return;
        };
        if body.kind().ends_with("_redirect") {
            return self.alone(source, &kids);
        }
        let is_input = |node: &Node<'_>| {
            let raw = source.part(node.start_byte(), node.end_byte());
            raw.trim_start_matches(|c: char| c.is_ascii_digit())
                .starts_with('<')
        };
        let had_input = self.has_input;
        self.has_input |= redirects.iter().any(is_input);
        self.statement_with(source, *body, redirects);
        self.has_input = had_input;
        self.dash = None;
    }

    /// Adds the redirections after a loop, a group and the like, which must end the statement.
    pub(super) fn redirections(&mut self, source: &ParsedText<'_>, nodes: &[Node<'_>], end: usize) {
        let mut draft = CommandDraft {
            last: Some((end, true)),
            ..CommandDraft::default()
        };
        self.pieces(source, nodes, &mut draft);
        // No words may follow these.
        if !draft.part.words.is_empty() {
            self.misread();
        }
        self.finish(source, draft);
    }

    /// `export A=1`, `unset a`.
    pub(super) fn declaration(&mut self, source: &ParsedText<'_>, node: Node<'_>) {
        let kids = children(node);
        if !self.gaps(source, ends(node), &kids, Gap::Blanks) {
            return;
        }
        let mut draft = CommandDraft::default();
        for kid in kids {
            let (start, end) = ends(kid);
            self.check_blank_before_word(source, start, &draft);
            if kid.kind() == "variable_assignment" {
                let inner = self.region(source, start, end, &[kid]);
                let mut word = Word::plain(source.part(start, end), source.span(start, end));
                if source.part(start, end).contains(['$', '`', '\\']) {
                    word.value = Value::Computed;
                }
                word.text.retain(|c| !matches!(c, '\'' | '"'));
                let raw = source.part(start, end);
                let value = raw.split_once('=').map_or("", |(_, value)| value);
                word.is_list = value.starts_with('(');
                self.check_list(value);
                draft.evaluates(inner.evaluates);
                draft.inner.push(inner);
                draft.part.words.push(word);
                draft.reaches(start, end, true);
            } else if kid.kind() != "comment" {
                self.argument(source, &[kid], &mut draft);
            }
        }
        self.finish(source, draft);
    }
}

/// Whether two nodes are adjacent, without a blank; a line continuation does not separate them.
fn joins(source: &ParsedText<'_>, before: Node<'_>, following: Node<'_>) -> bool {
    let between = source.part(before.end_byte(), following.start_byte());
    following.start_byte() >= before.end_byte() && !between.contains([' ', '\t', '\n'])
        || between.len() >= 2 && without_continuations(between).is_empty()
}

/// The position of a `-` before a here-document, which the grammar drops.
fn lost_dash(source: &ParsedText<'_>, kids: &[Node<'_>]) -> Option<usize> {
    let [body, redirect, ..] = kids else {
        return None;
    };
    let between = source.part(body.end_byte(), redirect.start_byte());
    let lost = body.kind() == "command"
        && redirect.kind() == "heredoc_redirect"
        && between.starts_with([' ', '\t'])
        && between.trim_matches([' ', '\t']) == "-";
    let at = between.find('-').filter(|_| lost)?;
    Some(body.end_byte() + at)
}

/// How many nodes are adjacent, starting with the first.
pub(super) fn touching(source: &ParsedText<'_>, nodes: &[Node<'_>]) -> usize {
    let ends = nodes
        .windows(2)
        .take_while(|pair| matches!(pair, [a, b] if joins(source, *a, *b)));
    nodes.len().min(1 + ends.count())
}

/// Kinds of nodes that are words, or parts of words.
pub(super) fn is_literal(kind: &str) -> bool {
    matches!(
        kind,
        "word"
            | "string"
            | "raw_string"
            | "ansi_c_string"
            | "translated_string"
            | "concatenation"
            | "number"
            | "expansion"
            | "simple_expansion"
            | "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
            | "brace_expression"
    )
}

/// Whether a text is a name with one index: `NAME[INDEX]`.
fn is_element(text: &str) -> bool {
    let Some((name, index)) = text.split_once('[') else {
        return false;
    };
    let mut depth = 1_usize;
    let closes_at = index.char_indices().find_map(|(at, c)| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    });
    is_name(name) && closes_at == Some(index.len().saturating_sub(1)) && !index.contains('\n')
}

/// Whether a here-document or here-string is the input: it has no descriptor, or that of the input.
fn is_input(source: &ParsedText<'_>, kids: &[Node<'_>]) -> bool {
    let first = kids.first();
    let descriptor = first.filter(|kid| kid.kind() == "file_descriptor");
    descriptor.is_none_or(|kid| source.part(kid.start_byte(), kid.end_byte()) == "0")
}
