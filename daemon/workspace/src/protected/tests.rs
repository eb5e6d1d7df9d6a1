//! Scenes.

use super::*;

#[test]
fn files_that_run_something_later_are_protected() {
    for path in [
        ".git",
        ".git/config",
        ".git/hooks/pre-commit",
        "sub/.git/config",
        ".GIT/config",
        "reasonix.toml",
        "sub/reasonix.toml",
        ".reasonix/settings.json",
        ".reasonix",
        ".reasonix/commands/x.md",
        ".mcp.json",
        ".vscode/tasks.json",
        "sub/.vscode/launch.json",
        ".zed/tasks.json",
        ".idea/workspace.xml",
        "my.code-workspace",
        ".reasonix/autoresearch/x/.git/config",
    ] {
        assert!(is_protected(Path::new(path)), "{path}");
    }
}

#[test]
fn other_files_are_not() {
    for path in [
        "src/main.rs",
        ".gitignore",
        ".github/workflows/ci.yml",
        "git/config",
        "docs/reasonix.toml.md",
        "tasks.json",
        ".vscode/extensions.json",
        ".reasonix/autoresearch/plan.md",
        "reasonix.toml/x",
    ] {
        // A file's own name makes it so; a directory of that name does not exist in practice.
        assert!(!is_protected(Path::new(path)), "{path}");
    }
}
