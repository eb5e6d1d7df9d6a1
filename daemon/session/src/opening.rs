//! What stands before the words of a session's first message: everything that changes from day to day, and so must
//! not be in the prefix.

use std::fs;
use std::path::{Path, PathBuf};

use proto::Stamp;

/// The `<context>` block: directory, system, date, branch.
pub fn context(cwd: &Path, root: &Path, shell: Option<&str>) -> String {
    let mut lines = vec![
        format!("Working directory: {}", cwd.display()),
        format!(
            "System: {} {}",
            std::env::consts::OS,
            std::env::consts::ARCH
        ),
        format!(
            "Date: {}",
            Stamp::now()
                .to_string()
                .split('T')
                .next()
                .unwrap_or_default()
        ),
    ];
    if cwd != root {
        lines.insert(1, format!("Workspace root: {}", root.display()));
    }
    if let Some(shell) = shell {
        lines.push(format!("Shell: {shell}"));
    }
    match branch(root) {
        Some(branch) => lines.push(format!("Git branch: {branch}")),
        None => lines.push("Not a git repository".into()),
    }
    lines.join("\n")
}

/// The workspace root: the git root above the working directory, else the working directory. The search stops at the
/// person's home and at the file system's root: neither is a project because it holds a `.git`.
pub fn root_of(cwd: &Path, user_home: &Path) -> PathBuf {
    let mut at = cwd;
    loop {
        if at != user_home && at.parent().is_some() && at.join(".git").exists() {
            return at.to_path_buf();
        }
        match at.parent() {
            Some(parent) if at != user_home => at = parent,
            _ => return cwd.to_path_buf(),
        }
    }
}

/// The branch, read from `.git/HEAD` without running anything.
fn branch(root: &Path) -> Option<String> {
    let dot_git = root.join(".git");
    let dir = if dot_git.is_dir() {
        dot_git
    } else {
        // A work tree: `.git` is a file that says where the directory is.
        let text = fs::read_to_string(&dot_git).ok()?;
        root.join(text.strip_prefix("gitdir:")?.trim())
    };
    let head = fs::read_to_string(dir.join("HEAD")).ok()?;
    let head = head.trim();
    let name = head
        .strip_prefix("ref: refs/heads/")
        .map_or_else(|| head.chars().take(12).collect(), str::to_owned);
    Some(name.chars().filter(|c| !c.is_control()).take(200).collect())
}
