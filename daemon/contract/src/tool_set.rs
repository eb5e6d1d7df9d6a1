//! The tools of one session.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use proto::record::SessionTools;
use sha2::{Digest, Sha256};

use crate::tool::Tool;
use crate::tool_spec::ToolSpec;

/// Tools by name, sorted. Cheap to clone: sessions with the same tools share one set.
#[derive(Clone)]
pub struct ToolSet(Arc<Inner>);

struct Inner {
    tools: Vec<Arc<dyn Tool>>,
    frozen: SessionTools,
    /// Tools that the session was created with and that this build does not have.
    missing: BTreeSet<String>,
}

impl ToolSet {
    /// Of several tools with one name, the first counts.
    #[must_use]
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self::build(tools, BTreeSet::new())
    }

    fn build(mut tools: Vec<Arc<dyn Tool>>, missing: BTreeSet<String>) -> Self {
        tools.sort_by(|a, b| a.spec().name.cmp(&b.spec().name));
        tools.dedup_by(|later, first| later.spec().name == first.spec().name);
        let frozen = freeze(&tools);
        Self(Arc::new(Inner {
            tools,
            frozen,
            missing,
        }))
    }

    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        let tools = &self.0.tools;
        let at = tools.binary_search_by(|tool| (*tool.spec().name).cmp(name));
        at.ok().and_then(|at| tools.get(at))
    }

    /// All tools, sorted by name.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<dyn Tool>> {
        self.0.tools.iter()
    }

    /// What is known of each tool, sorted by name.
    pub fn specs(&self) -> impl DoubleEndedIterator<Item = &ToolSpec> {
        self.iter().map(|tool| tool.spec())
    }

    /// The tools that are found by `tool_search`.
    pub fn deferred(&self) -> impl Iterator<Item = &ToolSpec> {
        self.specs().filter(|spec| spec.deferred)
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.specs().map(|spec| &*spec.name)
    }

    /// What the first record of a session with these tools says of them.
    #[must_use]
    pub fn frozen(&self) -> &SessionTools {
        &self.0.frozen
    }

    /// The tools of a session that was created with `recorded`: those of them that this set has. A record that names
    /// none leaves the set as it is.
    #[must_use]
    pub fn restricted_to(&self, recorded: &SessionTools) -> Self {
        let names = &recorded.names;
        if names.is_empty() || *names == self.0.frozen.names {
            return self.clone();
        }
        let tools = self.iter().filter(|tool| {
            let name = &*tool.spec().name;
            names.iter().any(|known| known == name)
        });
        let missing = names.iter().filter(|name| self.get(name).is_none());
        Self::build(tools.cloned().collect(), missing.cloned().collect())
    }

    /// Whether the session was created with a tool of this name that this build does not have.
    #[must_use]
    pub fn is_missing(&self, name: &str) -> bool {
        self.0.missing.contains(name)
    }
}

impl Default for ToolSet {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// Names and a hash over what the model reads of the tools.
fn freeze(tools: &[Arc<dyn Tool>]) -> SessionTools {
    let mut hasher = Sha256::new();
    let mut names = Vec::with_capacity(tools.len());
    for tool in tools {
        let spec = tool.spec();
        for part in [&*spec.name, &*spec.description, &spec.schema.to_string()] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        names.push(spec.name.to_string());
    }
    SessionTools {
        names,
        sha256: hex::encode(hasher.finalize()),
    }
}
