//! Files that a shell or git reads at its start. A change of one runs something later, so only a person may make it.

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
