//! The names that rules may be about, and which of them somebody meant who wrote another one.
//!
//! Servers name their own tools: of those nothing is known here. Called by `rule`.

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

/// The tools of the contract's chapter 40, those that come later among them.
const TOOLS: &[&str] = &[
    "apply_patch",
    "ask",
    "bash",
    "bash_output",
    "batch",
    "check",
    "code_intel",
    "copy_file",
    "delete_file",
    "delete_range",
    "delete_symbol",
    "edit_file",
    "exit_plan_mode",
    "forget",
    "glob",
    "grep",
    "history",
    "kill_shell",
    "ls",
    "make_dir",
    "memory",
    "move_file",
    "multi_edit",
    "notebook_edit",
    "read_file",
    "remember",
    "session_send",
    "skill",
    "task",
    "todo_write",
    "tool_call",
    "tool_search",
    "update_goal",
    "view_image",
    "web_fetch",
    "web_search",
    "write_file",
];

/// Whether a tool of ours has this name.
#[must_use]
pub fn is_tool(name: &str) -> bool {
    TOOLS.contains(&name)
}

/// The name that is the same but for upper and lower case, `_` and `-`.
pub(crate) fn same(name: &str) -> Option<&'static str> {
    let letters = |text: &str| text.replace(['_', '-'], "").to_ascii_lowercase();
    let wanted = letters(name);
    let mut known = FAMILIES.iter().chain(TOOLS);
    known.find(|known| letters(known) == wanted).copied()
}

/// The name that is most like one that there is not. `family`: only families stand so in a rule.
pub(crate) fn nearest(name: &str, family: bool) -> Option<&'static str> {
    let near = || {
        let known = if family { FAMILIES } else { TOOLS };
        near::nearest(name, known.iter().copied()).first().copied()
    };
    same(name).or_else(near)
}
