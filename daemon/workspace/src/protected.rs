//! Which files configure the agent, its repository or an editor: a write there may run something later.
//!
//! The one list of them, by names only. Called by `resolve`.

use std::path::Path;

/// Whether a path (relative to its writable root) is one that only a person may have changed.
/// Names are compared without case: on some file systems `.GIT` is `.git`.
#[must_use]
pub fn is_protected(path: &Path) -> bool {
    let names: Vec<String> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().to_ascii_lowercase())
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    (0..names.len()).any(|index| match &names[index..] {
        [".git", ..] => true,
        // The agent's own workshop; a climb out of it cannot stand in a resolved path.
        [".reasonix", "autoresearch", ..] => false,
        [".reasonix", ..] => true,
        ["reasonix.toml" | ".mcp.json"] => true,
        [".vscode", "tasks.json" | "launch.json" | "settings.json"] => true,
        [".zed", "tasks.json" | "debug.json" | "settings.json"] => true,
        [".idea", "runconfigurations", ..] | [".idea", "workspace.xml"] => true,
        [name] => name.ends_with(".code-workspace"),
        _ => false,
    })
}

#[cfg(test)]
mod tests;
