//! The tools of a session, put together from those of the program.

use std::sync::{Arc, Mutex, PoisonError};

use contract::{Tool, ToolSet};

use crate::bash::Bash;
use crate::tool_call::{self, ToolCall};
use crate::tool_search::{self, ToolSearch};
use crate::typed_tool::tool as typed;

/// What can be set about the tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Milliseconds that a command may take where the call names no limit; 0: no limit.
    pub bash_timeout_ms: u64,
}

impl Default for Options {
    /// Two minutes for a command (contract, chapter 40).
    fn default() -> Self {
        Self {
            bash_timeout_ms: 120_000,
        }
    }
}

/// The built-in tools. The assembly builds them once; sessions with the same options share one set.
pub struct BuiltIn {
    tools: Vec<Arc<dyn Tool>>,
    /// The set that was given last, and the options that it was built with.
    newest: Mutex<Option<(Options, ToolSet)>>,
}

impl Default for BuiltIn {
    fn default() -> Self {
        Self {
            tools: crate::fixed_tools(),
            newest: Mutex::default(),
        }
    }
}

impl BuiltIn {
    /// The built-in tools with these options.
    #[must_use]
    pub fn set(&self, options: Options) -> ToolSet {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, set)) = &*newest
            && *known == options
        {
            return set.clone();
        }
        let mut tools = self.tools.clone();
        tools.push(Arc::new(Bash::new(options.bash_timeout_ms)));
        let set = session_tools(tools);
        *newest = Some((options, set.clone()));
        set
    }
}

impl BuiltIn {
    /// The built-in tools with these options, and tools of a session beside them.
    #[must_use]
    pub fn set_with(&self, options: Options, more: Vec<Arc<dyn Tool>>) -> ToolSet {
        if more.is_empty() {
            return self.set(options);
        }
        let mut tools = self.tools.clone();
        tools.push(Arc::new(Bash::new(options.bash_timeout_ms)));
        tools.extend(more);
        session_tools(tools)
    }
}

/// These tools, with those that find and call the deferred ones among them.
#[must_use]
pub fn session_tools(mut tools: Vec<Arc<dyn Tool>>) -> ToolSet {
    let specs = tools.iter().map(|tool| tool.spec());
    let mut deferred: Vec<&str> = specs
        .filter(|spec| spec.deferred)
        .map(|spec| &*spec.name)
        .collect();
    deferred.sort_unstable();
    let search = typed::<ToolSearch>(tool_search::spec(&deferred));
    tools.push(search);
    tools.push(typed::<ToolCall>(tool_call::spec()));
    ToolSet::new(tools)
}

/// The tools of a set that have these names. The one that finds deferred tools names those that are left.
#[must_use]
pub fn restricted(set: &ToolSet, names: &[String]) -> ToolSet {
    let finders = [tool_search::NAME, tool_call::NAME];
    let kept = set.iter().filter(|tool| {
        let name = &*tool.spec().name;
        !finders.contains(&name) && names.iter().any(|known| known == name)
    });
    session_tools(kept.cloned().collect()).restricted_to(names)
}

#[cfg(test)]
mod tests;
