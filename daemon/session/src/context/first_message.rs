//! The text before the words of a session's first message: everything that changes from day to day, and so must
//! not be in the prefix.

use std::path::{Path, PathBuf};

use proto::Stamp;
use proto::record::SessionCreated;
use workspace::{GitDirs, is_repository};

use crate::assembly::setup::Setup;

/// The `<context>` block: directories, system, date, branch.
pub fn context(created: &SessionCreated) -> String {
    let (cwd, root) = (Path::new(&created.cwd), Path::new(&created.root));
    // Each is a line, whatever its name is.
    let line = |text: &str| text.replace(char::is_control, "");
    let mut lines = vec![
        format!("Working directory: {}", line(&created.cwd)),
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
        lines.insert(1, format!("Workspace root: {}", line(&created.root)));
    }
    for directory in &created.add_dirs {
        lines.push(format!("Also part of the workspace: {}", line(directory)));
    }
    if let Some(shell) = created.env.get("SHELL") {
        lines.push(format!("Shell: {}", line(shell)));
    }
    match GitDirs::of_work_tree(root).and_then(|git| git.branch()) {
        Some(branch) => lines.push(format!("Git branch: {branch}")),
        None => lines.push("Not a git repository".into()),
    }
    lines.join("\n")
}

/// The workspace root of a session that works in a directory: the configured one, else [`root_of`].
pub fn workspace_root(setup: &Setup, cwd: &Path, user_home: &Path) -> PathBuf {
    let configured = setup.workspace_root.clone();
    configured.unwrap_or_else(|| root_of(cwd, user_home))
}

/// The workspace root: the git root above the working directory, else the working directory. The search stops at the
/// person's home and at the file system's root: neither is a project because it holds a `.git`.
pub fn root_of(cwd: &Path, user_home: &Path) -> PathBuf {
    let mut at = cwd;
    loop {
        if at != user_home && at.parent().is_some() && is_repository(at) {
            return at.to_path_buf();
        }
        match at.parent() {
            Some(parent) if at != user_home => at = parent,
            _ => return cwd.to_path_buf(),
        }
    }
}
