//! Files that a shell, git or another agent reads at its start. A change of one runs something later, so only a person may make it.

/// Their names, in lower case, wherever they lie.
pub const STARTUP_FILES: [&str; 11] = [
    ".profile",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".gitconfig",
];

/// Settings of other agents, in a project: a hook in one runs when that agent starts.
pub const AGENT_SETTINGS: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];
