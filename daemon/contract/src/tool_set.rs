//! The tools of one session.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use proto::item::ToolKind;

use crate::tool::Tool;
use crate::tool_spec::{ToolDeclaration, ToolSpec, is_server_tool};

/// Tools by name, sorted. Cheap to clone: sessions with the same tools share one set.
#[derive(Clone)]
pub struct ToolSet(Arc<Inner>);

struct Inner {
    tools: Vec<Arc<dyn Tool>>,
    /// Tools that the session was created with and that there are not now.
    missing: BTreeSet<String>,
    /// Those of them that their MCP server has, with another definition than the prefix declares.
    redefined: BTreeSet<String>,
}

impl ToolSet {
    /// Of several tools with one name, the first counts.
    #[must_use]
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self::build(tools, BTreeSet::new(), BTreeSet::new())
    }

    fn build(
        mut tools: Vec<Arc<dyn Tool>>,
        missing: BTreeSet<String>,
        redefined: BTreeSet<String>,
    ) -> Self {
        tools.sort_by(|a, b| a.spec().name.cmp(&b.spec().name));
        tools.dedup_by(|later, first| later.spec().name == first.spec().name);
        Self(Arc::new(Inner {
            tools,
            missing,
            redefined,
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

    /// The names of the tools of this kind, sorted.
    pub fn names_of(&self, kind: ToolKind) -> impl Iterator<Item = &str> {
        let specs = self.specs().filter(move |spec| spec.kind == kind);
        specs.map(|spec| &*spec.name)
    }

    /// The tools of these names. A name that this set lacks is remembered as missing.
    #[must_use]
    pub fn restricted_to(&self, names: &[String]) -> Self {
        if self.names().eq(names) {
            return self.clone();
        }
        let tools = self.iter().filter(|tool| {
            let name = &*tool.spec().name;
            names.iter().any(|known| known == name)
        });
        let missing = names.iter().filter(|name| self.get(name).is_none());
        Self::build(
            tools.cloned().collect(),
            missing.cloned().collect(),
            BTreeSet::new(),
        )
    }

    /// Without the tools of MCP servers that are defined otherwise than a prefix declares them: what was judged by the former
    /// definition must not get to another one. They are missing, and known as redefined.
    #[must_use]
    pub fn without_redefined(&self, declared: &[ToolDeclaration]) -> Self {
        let is_redefined = |tool: &&Arc<dyn Tool>| {
            let spec = tool.spec();
            let declaration = declared.iter().find(|tool| tool.name == spec.name);
            is_server_tool(&spec.name)
                && declaration.is_some_and(|declaration| *declaration != spec.declaration())
        };
        let redefined = self.iter().filter(is_redefined);
        let redefined: BTreeSet<_> = redefined.map(|tool| tool.spec().name.to_string()).collect();
        if redefined.is_empty() {
            return self.clone();
        }
        let tools = self.iter().filter(|tool| !is_redefined(tool));
        let missing = self.0.missing.union(&redefined).cloned().collect();
        Self::build(tools.cloned().collect(), missing, redefined)
    }

    /// Whether the session was created with a tool of this name that there is not now.
    #[must_use]
    pub fn is_missing(&self, name: &str) -> bool {
        self.0.missing.contains(name)
    }

    /// Whether it is missing because its MCP server has changed its definition since the session started.
    #[must_use]
    pub fn is_redefined(&self, name: &str) -> bool {
        self.0.redefined.contains(name)
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
