//! The names that rules may use, and suggestions for misspelled ones.
//!
//! The names of tool families are defined here; tools define theirs in their specs. MCP servers name their own tools,
//! which are not known here. Called by `rule`.

use contract::ToolSpec;
use proto::near;

/// Families of tools.
const FAMILIES: &[&str] = &[
    "Bash",
    "Edit",
    "Mcp",
    "Memory",
    "Read",
    "Task",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// The tools that rules may name.
#[derive(Clone, Copy)]
pub(crate) struct KnownTools<'a>(pub(crate) &'a [&'a ToolSpec]);

impl<'a> KnownTools<'a> {
    /// The tool with this name or alias.
    pub(crate) fn tool(self, name: &str) -> Option<&'a ToolSpec> {
        let known = |spec: &&&ToolSpec| {
            *spec.name == *name || spec.aliases.iter().any(|alias| alias == name)
        };
        self.0.iter().find(known).copied()
    }

    /// The tool that another product calls by this name.
    pub(crate) fn foreign(self, name: &str) -> Option<&'a ToolSpec> {
        let mut tools = self.0.iter();
        tools
            .find(|spec| spec.foreign_name.as_deref() == Some(name))
            .copied()
    }

    /// The name that differs only in case, `_` and `-`.
    pub(crate) fn same(self, name: &str) -> Option<&'a str> {
        let letters = |text: &str| text.replace(['_', '-'], "").to_ascii_lowercase();
        let wanted = letters(name);
        let mut known = FAMILIES.iter().copied().chain(self.names());
        known.find(|known| letters(known) == wanted)
    }

    /// The most similar name to one that does not exist. `family`: consider only families.
    pub(crate) fn nearest(self, name: &str, family: bool) -> Option<&'a str> {
        let near = || {
            let first = name
                .get(..1)
                .filter(|_| family)
                .map(str::to_ascii_uppercase);
            let rest = name.get(first.as_ref().map_or(0, String::len)..);
            let wanted = first.unwrap_or_default() + rest.unwrap_or_default();
            let nearest = match family {
                true => near::nearest(&wanted, FAMILIES.iter().copied()),
                false => near::nearest(&wanted, self.names()),
            };
            nearest.first().copied()
        };
        self.same(name).or_else(near)
    }

    fn names(self) -> impl Iterator<Item = &'a str> {
        self.0.iter().map(|spec| &*spec.name)
    }
}
