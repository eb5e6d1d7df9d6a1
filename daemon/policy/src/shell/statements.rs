//! From tree to parts: statements, and how each command in them is reached.
//!
//! Every kind of node must be known by name, and only blanks may be between two nodes; otherwise the line becomes
//! doubtful. Called by `parse` and `words`.

use tree_sitter::Node;

use super::heredoc;
use super::parse::Reader;
use super::place::ParsedText;
use super::types::{Doubt, NestingStep};

/// The children of a node, including operators.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// Whether the text of a node is exactly this.
pub(super) fn is_sign(node: Node<'_>, sign: &str) -> bool {
    !node.is_named() && node.kind() == sign
}

/// What may be between two nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    Blanks,
    Lines,
}

const STATEMENTS: &[&str] = &[
    "command",
    "list",
    "pipeline",
    "redirected_statement",
    "variable_assignment",
    "variable_assignments",
    "declaration_command",
    "unset_command",
    "test_command",
    "negated_command",
    "for_statement",
    "c_style_for_statement",
    "while_statement",
    "if_statement",
    "case_statement",
    "compound_statement",
    "subshell",
    "function_definition",
];

impl Reader {
    /// Reads a complete text.
    pub(super) fn program(&mut self, source: &ParsedText<'_>, root: Node<'_>) {
        let kids = children(root);
        let ends = (0, source.text.len());
        if self.gaps(source, ends, &kids, Gap::Lines) {
            self.statements(source, &kids);
        }
    }

    /// Checks that only blanks, and real comments, are between nodes.
    pub(super) fn gaps(
        &mut self,
        source: &ParsedText<'_>,
        (start, end): (usize, usize),
        kids: &[Node<'_>],
        gap: Gap,
    ) -> bool {
        let mut at = start;
        for kid in kids {
            if kid.is_missing() && !kid.byte_range().is_empty() || kid.is_error() {
                self.misread();
                return false;
            }
            if !is_gap(source.part(at, kid.start_byte()), gap) || kid.start_byte() < at {
                self.misread();
                return false;
            }
            if kid.kind() == "comment" && !begins_comment(source.part(0, kid.start_byte())) {
                self.misread();
                return false;
            }
            at = kid.end_byte();
        }
        let whole = is_gap(source.part(at, end), gap);
        if !whole {
            self.misread();
        }
        whole
    }

    /// Reads statements with their terminators, among the keywords of the enclosing construct.
    pub(super) fn statements(&mut self, source: &ParsedText<'_>, kids: &[Node<'_>]) {
        let mut last: Option<(usize, usize)> = None;
        for kid in kids {
            match kid.kind() {
                "comment" => {}
                ";" | "\n" => last = None,
                ";;" => {
                    // The token ends a case, and nothing else.
                    self.misread();
                }
                "&" => {
                    if let Some((from, _)) = last.take() {
                        self.reached_too(from, &NestingStep::Background);
                    }
                }
                kind if STATEMENTS.contains(&kind) => {
                    if let Some((_, end)) = last
                        && !source.part(end, kid.start_byte()).contains('\n')
                    {
                        self.misread();
                    }
                    last = Some((self.parts.len(), kid.end_byte()));
                    self.statement(source, *kid);
                }
                _ => self.misread(),
            }
        }
    }

    /// Adds a nesting step to the parts from `from` on.
    fn reached_too(&mut self, from: usize, via: &NestingStep) {
        let depth = self.via.len();
        for part in self.parts.iter_mut().skip(from) {
            let at = depth.min(part.via.len());
            part.via.insert(at, via.clone());
        }
    }

    pub(super) fn statement(&mut self, source: &ParsedText<'_>, node: Node<'_>) {
        self.statement_with(source, node, &[]);
    }

    /// A statement, with redirections after it: they belong to its last command.
    pub(super) fn statement_with(
        &mut self,
        source: &ParsedText<'_>,
        node: Node<'_>,
        following: &[Node<'_>],
    ) {
        let outermost = self.pipeline.is_none();
        if outermost {
            self.pipelines += 1;
            self.pipeline = Some(self.pipelines);
        }
        self.deeper(|reader| reader.kind_of_statement(source, node, following));
        if outermost {
            self.pipeline = None;
        }
    }

    fn kind_of_statement(
        &mut self,
        source: &ParsedText<'_>,
        node: Node<'_>,
        following: &[Node<'_>],
    ) {
        if self.doubt == Some(Doubt::TooMuch) {
            return;
        }
        match node.kind() {
            "command" => return self.command(source, node, following),
            "list" => return self.joined(source, node, &["&&", "||"], following),
            "pipeline" => return self.joined(source, node, &["|", "|&"], following),
            "redirected_statement" => return self.redirected(source, node, following),
            "negated_command" => {
                return self.within(NestingStep::Negated, |reader| {
                    reader.joined(source, node, &["!"], following);
                });
            }
            _ => self.other_statement(source, node),
        }
        if !following.is_empty() {
            self.redirections(source, following, node.end_byte());
        }
    }

    fn other_statement(&mut self, source: &ParsedText<'_>, node: Node<'_>) {
        match node.kind() {
            "variable_assignment" => self.alone(source, &[node]),
            "variable_assignments" => self.alone(source, &children(node)),
            "declaration_command" | "unset_command" => self.declaration(source, node),
            "test_command" => self.test(source, node),
            "subshell" => self.keyworded(source, node, &["(", ")"], Some(NestingStep::Subshell)),
            "compound_statement" => self.group(source, node),
            "for_statement" => self.for_loop(source, node),
            "c_style_for_statement" => self.counting_loop(source, node),
            "while_statement" => {
                self.keyworded(source, node, &["while", "until"], Some(NestingStep::Loop));
            }
            "do_group" => self.keyworded(source, node, &["do", "done"], None),
            "if_statement" => {
                self.keyworded(
                    source,
                    node,
                    &["if", "then", "fi"],
                    Some(NestingStep::Condition),
                );
            }
            "elif_clause" => self.keyworded(source, node, &["elif", "then"], None),
            "else_clause" => self.keyworded(source, node, &["else"], None),
            "case_statement" => self.case(source, node),
            "function_definition" => self.function(source, node),
            _ => self.misread(),
        }
    }

    /// Statements between operators.
    fn joined(
        &mut self,
        source: &ParsedText<'_>,
        node: Node<'_>,
        signs: &[&str],
        following: &[Node<'_>],
    ) {
        let kids = children(node);
        if !self.gaps(source, ends(node), &kids, Gap::Lines) {
            return;
        }
        let both = kids.iter().any(|kid| is_sign(*kid, "|&"));
        if both && source.posix {
            self.misread();
        }
        let from = self.parts.len();
        let had_input = self.has_input;
        let last = kids.iter().rfind(|kid| kid.is_named()).map(Node::id);
        for kid in kids {
            if kid.kind() == "comment" || signs.iter().any(|sign| is_sign(kid, sign)) {
                self.has_input |= kid.kind().starts_with('|') && kid.kind() != "||";
                continue;
            }
            if last == Some(kid.id()) {
                self.statement_with(source, kid, following);
            } else if kid.is_named() {
                self.statement(source, kid);
            } else {
                self.misread();
            }
        }
        self.has_input = had_input;
        if both {
            self.reached_too(from, &NestingStep::PipeBoth);
        }
    }

    /// Statements among keywords.
    fn keyworded(
        &mut self,
        source: &ParsedText<'_>,
        node: Node<'_>,
        signs: &[&str],
        via: Option<NestingStep>,
    ) {
        let kids = children(node);
        if !self.gaps(source, ends(node), &kids, Gap::Lines) {
            return;
        }
        let is_clause =
            |kid: &Node<'_>| matches!(kid.kind(), "do_group" | "elif_clause" | "else_clause");
        let work = |reader: &mut Self| {
            let mut run: Vec<Node<'_>> = Vec::new();
            for kid in kids {
                if signs.iter().any(|sign| is_sign(kid, sign)) || is_clause(&kid) {
                    reader.statements(source, &std::mem::take(&mut run));
                    if is_clause(&kid) {
                        reader.statement(source, kid);
                    }
                } else {
                    run.push(kid);
                }
            }
            reader.statements(source, &run);
        };
        match via {
            Some(via) => self.within(via, work),
            None => work(self),
        }
    }

    /// `{ …; }` or `(( … ))`.
    fn group(&mut self, source: &ParsedText<'_>, node: Node<'_>) {
        if source
            .part(node.start_byte(), node.end_byte())
            .starts_with("((")
        {
            if source.posix {
                self.misread();
            }
            return self.evaluated(source, node, "((");
        }
        // The brace is a separate word.
        let open = source.part(node.start_byte(), node.end_byte());
        if !open.starts_with(['{']) || !open[1..].starts_with([' ', '\t', '\n']) {
            self.misread();
        }
        self.keyworded(source, node, &["{", "}"], Some(NestingStep::Group));
    }

    fn for_loop(&mut self, source: &ParsedText<'_>, node: Node<'_>) {
        let kids = children(node);
        if !self.gaps(source, ends(node), &kids, Gap::Lines) {
            return;
        }
        let mut name = String::new();
        let mut values: Vec<Node<'_>> = Vec::new();
        let mut body = None;
        let mut listed = false;
        for kid in kids {
            match kid.kind() {
                "for" | ";" | "\n" | "comment" => {}
                "in" => listed = true,
                "variable_name" if !listed && name.is_empty() => {
                    name = source.part(kid.start_byte(), kid.end_byte()).to_owned();
                }
                "do_group" => body = Some(kid),
                _ if kid.is_named() && listed => values.push(kid),
                // `select` asks the user; `&` ends no list.
                _ => self.misread(),
            }
        }
        let Some(body) = body else {
            return self.misread();
        };
        self.within(NestingStep::Loop, |reader| {
            reader.rounds(source, &name, &values, body);
        });
    }

    /// `for ((…; …; …))`
    fn counting_loop(&mut self, source: &ParsedText<'_>, node: Node<'_>) {
        let kids = children(node);
        if !self.gaps(source, ends(node), &kids, Gap::Lines) {
            return;
        }
        if source.posix {
            self.misread();
        }
        let head: Vec<Node<'_>> = kids
            .iter()
            .copied()
            .take_while(|kid| !matches!(kid.kind(), "do_group" | "compound_statement"))
            .collect();
        let end = head.last().map_or(node.start_byte(), Node::end_byte);
        let inner = self.region(source, node.start_byte(), end, &head);
        self.within(NestingStep::Loop, |reader| {
            reader.arithmetic_part(source, (node.start_byte(), end), "for", inner);
            for kid in kids.iter().skip(head.len()) {
                reader.statement(source, *kid);
            }
        });
    }

    fn case(&mut self, source: &ParsedText<'_>, node: Node<'_>) {
        let kids = children(node);
        if !self.gaps(source, ends(node), &kids, Gap::Lines) {
            return;
        }
        self.within(NestingStep::Case, |reader| {
            for kid in kids {
                match kid.kind() {
                    "case" | "in" | "esac" | ";" | "\n" | "comment" => {}
                    "case_item" => reader.case_item(source, kid),
                    _ if kid.is_named() => {
                        let (start, end) = ends(kid);
                        let (_, inner) = reader.word(source, start, end, &[kid]);
                        reader.inside(source, inner);
                    }
                    _ => reader.misread(),
                }
            }
        });
    }

    fn case_item(&mut self, source: &ParsedText<'_>, node: Node<'_>) {
        let kids = children(node);
        if !self.gaps(source, ends(node), &kids, Gap::Lines) {
            return;
        }
        let closed = kids.iter().position(|kid| is_sign(*kid, ")"));
        let Some(closed) = closed else {
            return self.misread();
        };
        let end = kids.get(closed).map_or(node.end_byte(), Node::start_byte);
        let patterns = kids.get(..closed).unwrap_or_default();
        // A pattern is a word: nothing in it ends it.
        let raw = source.part(node.start_byte(), end);
        if raw.contains([';', '&', '\n', '`', '#']) {
            self.misread();
        }
        let inner = self.region(source, node.start_byte(), end, patterns);
        self.inside(source, inner);
        let is_end = |kid: &&Node<'_>| matches!(kid.kind(), ";;" | ";&" | ";;&");
        let rest: Vec<Node<'_>> = kids
            .iter()
            .skip(closed + 1)
            .filter(|kid| !is_end(kid))
            .copied()
            .collect();
        self.statements(source, &rest);
    }

    fn function(&mut self, source: &ParsedText<'_>, node: Node<'_>) {
        let kids = children(node);
        if !self.gaps(source, ends(node), &kids, Gap::Lines) {
            return;
        }
        let name = kids.iter().find(|kid| kid.kind() == "word");
        let name = name.map_or("", |name| source.part(name.start_byte(), name.end_byte()));
        let redirects: Vec<Node<'_>> = kids
            .iter()
            .copied()
            .filter(|kid| kid.kind().ends_with("_redirect"))
            .collect();
        self.within(NestingStep::Function(name.to_owned()), |reader| {
            // Whatever calls it may give it one.
            let had_input = std::mem::replace(&mut reader.has_input, true);
            for kid in kids {
                match kid.kind() {
                    "function" if source.posix => reader.misread(),
                    "function" | "(" | ")" | "comment" | "word" => {}
                    kind if kind.ends_with("_redirect") => {}
                    kind if STATEMENTS.contains(&kind) => reader.statement(source, kid),
                    _ => reader.misread(),
                }
            }
            if !redirects.is_empty() {
                reader.alone(source, &redirects);
            }
            reader.has_input = had_input;
        });
    }

    /// Reads the contents of a substitution.
    pub(super) fn substitution(&mut self, source: &ParsedText<'_>, node: Node<'_>) {
        let kids = children(node);
        if !self.gaps(source, ends(node), &kids, Gap::Lines) {
            return;
        }
        let signs = ["$(", "<(", ">(", ")"];
        let inner: Vec<Node<'_>> = kids
            .iter()
            .copied()
            .filter(|kid| !signs.iter().any(|sign| is_sign(*kid, sign)))
            .collect();
        let closed = kids.last().is_some_and(|kid| is_sign(*kid, ")"));
        if kids.len() != inner.len() + 2
            || !closed
            || heredoc::has_commands_after_heredoc(source, node)
        {
            return self.misread();
        }
        // `>(…)` reads what is written to it.
        let had_input = self.has_input;
        self.has_input |= kids.first().is_some_and(|kid| is_sign(*kid, ">("));
        match inner.as_slice() {
            [only] if only.kind() == "file_redirect" => self.alone(source, &[*only]),
            inner => self.statements(source, inner),
        }
        self.has_input = had_input;
    }
}

pub(super) fn ends(node: Node<'_>) -> (usize, usize) {
    (node.start_byte(), node.end_byte())
}

/// Blanks, line continuations, and line ends at positions where they do not matter.
pub(super) fn is_gap(text: &str, gap: Gap) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => {}
            '\n' if gap == Gap::Lines => {}
            '\\' if chars.next() == Some('\n') => {}
            _ => return false,
        }
    }
    true
}

/// Whether a `#` after this text surely starts a comment: behind a blank, a line end or an operator. A `)` may end a word, and
/// what a backslash precedes is part of one.
fn begins_comment(before: &str) -> bool {
    let Some(rest) = before.strip_suffix([' ', '\t', '\n', ';', '&', '|', '(']) else {
        return before.is_empty();
    };
    let backslashes = rest.len() - rest.trim_end_matches('\\').len();
    backslashes % 2 == 0
}
