//! Where substitutions stand in a stretch of text: what the reading of words skips, and others read.
//!
//! Called by `words`, `expansion` and `heredoc`.

use tree_sitter::Node;

/// Where substitutions stand, as the tree has them.
pub(super) struct Substitutions<'t> {
    holes: Vec<Node<'t>>,
}

impl<'t> Substitutions<'t> {
    /// Of these nodes and all that is in them; not those inside of others.
    pub(super) fn of(nodes: &[Node<'t>]) -> Self {
        let mut holes = Vec::new();
        for node in nodes {
            collect(*node, &mut holes);
        }
        holes.sort_by_key(Node::start_byte);
        Self { holes }
    }

    pub(super) fn at(&self, start: usize) -> Option<Node<'t>> {
        let at = self
            .holes
            .binary_search_by_key(&start, |hole| hole.start_byte());
        at.ok().and_then(|at| self.holes.get(at).copied())
    }

    pub(super) fn between(&self, from: usize, to: usize) -> Vec<Node<'t>> {
        let inside = |hole: &&Node<'t>| hole.start_byte() >= from && hole.end_byte() <= to;
        self.holes.iter().filter(inside).copied().collect()
    }
}

fn collect<'t>(top: Node<'t>, holes: &mut Vec<Node<'t>>) {
    let mut waiting = vec![top];
    while let Some(node) = waiting.pop() {
        if matches!(
            node.kind(),
            "command_substitution" | "process_substitution" | "arithmetic_expansion"
        ) {
            holes.push(node);
            continue;
        }
        let mut cursor = node.walk();
        waiting.extend(node.children(&mut cursor));
    }
}
