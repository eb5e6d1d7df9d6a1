use std::fs;

use super::*;
use crate::{Access, WorkspaceOptions};

/// `top/ws` the workspace, with a directory and a link to it.
fn scene() -> (tempfile::TempDir, Workspace) {
    let top = tempfile::tempdir().unwrap();
    let ws = top.path().join("ws");
    fs::create_dir_all(ws.join("tools/hooks")).unwrap();
    std::os::unix::fs::symlink("tools/hooks", ws.join("linked")).unwrap();
    let workspace = Workspace::open(WorkspaceOptions {
        root: ws.clone(),
        cwd: ws,
        ..WorkspaceOptions::default()
    })
    .unwrap();
    (top, workspace)
}

fn is_asked(workspace: &Workspace, name: &str) -> bool {
    workspace.resolve(name, Access::Write).unwrap().protected()
}

#[test]
fn a_directory_of_hooks_is_protected_whether_it_exists_or_not() {
    let (_top, workspace) = scene();
    let root = workspace.root().to_path_buf();
    assert!(!is_asked(&workspace, ".husky/pre-commit"));
    assert!(workspace.add_git_hooks(&root.join("x/../.husky/_")));
    assert!(workspace.add_git_hooks(&root.join("linked")));
    for name in [
        ".husky",
        ".husky/pre-commit",
        ".husky/_/h",
        "linked/pre-push",
        "tools/hooks/pre-push",
    ] {
        assert!(is_asked(&workspace, name), "{name}");
    }
    for name in ["husky", "tools/other", ".huskyrc"] {
        assert!(!is_asked(&workspace, name), "{name}");
    }
}

#[test]
fn if_hooks_are_in_the_root_itself_only_their_names_are_protected() {
    let (_top, workspace) = scene();
    let root = workspace.root().to_path_buf();
    assert!(workspace.add_git_hooks(&root.join(".")));
    assert!(workspace.add_git_hooks(&root.join("../..")));
    assert!(is_asked(&workspace, "pre-commit"));
    assert!(!is_asked(&workspace, "src/pre-commit") && !is_asked(&workspace, "file"));
    assert!(
        workspace
            .git_named()
            .iter()
            .all(|path| path.starts_with(&root))
    );
}

#[test]
fn paths_outside_the_roots_are_left_out_and_too_many_are_reported() {
    let (_top, workspace) = scene();
    let root = workspace.root().to_path_buf();
    assert!(workspace.add_git_named(Path::new("/etc/gitconfig")));
    assert!(workspace.add_git_named(&root.join("../.gitconfig")));
    assert!(workspace.git_named().is_empty());
    let all = (0..=NAMED_MAX).fold(true, |_, n| {
        workspace.add_git_named(&root.join(n.to_string()))
    });
    assert!(!all);
}
