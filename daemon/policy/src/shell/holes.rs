//! The positions of substitutions in a text: the word reader skips them, and other code reads them.
//!
//! Called by `words`, `expansion` and `heredoc`.

use tree_sitter::Node;

/// The positions of substitutions, according to the tree.
pub(super) struct Substitutions<'t> {
    holes: Vec<Node<'t>>,
}

impl<'t> Substitutions<'t> {
    /// The outermost substitutions in these nodes, without those nested inside others.
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
