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

#[test]
fn repositories_further_down_are_guarded_as_the_root_is() {
    let top = tempfile::tempdir().unwrap();
    let root = top.path().canonicalize().unwrap();
    for dir in [".git", "a/b/.git", "a/b/c/.git", "node_modules/x/.git"] {
        std::fs::create_dir_all(root.join(dir)).unwrap();
    }
    std::fs::create_dir_all(root.join("a/wt")).unwrap();
    std::fs::write(root.join("a/wt/.git"), "gitdir: /elsewhere\n").unwrap();
    let guarded = guarded(&root);
    for name in [
        ".git/hooks",
        ".git/config.worktree",
        "a/b/.git/config",
        "a/b/c/.git/hooks",
        "a/wt/.git",
        ".mcp.json",
    ] {
        assert!(guarded.places.contains(&root.join(name)), "{name}");
    }
    assert!(guarded.written.is_empty(), "nobody believes that file");
    let passed = root.join("node_modules");
    assert!(
        !guarded
            .places
            .iter()
            .any(|place| place.starts_with(&passed))
    );
}

#[test]
fn the_look_for_repositories_has_an_end_and_says_so() {
    let top = tempfile::tempdir().unwrap();
    for number in 0..REPOSITORIES_MAX {
        std::fs::create_dir_all(top.path().join(format!("{number}/.git"))).unwrap();
    }
    assert!(guarded(top.path()).whole);
    std::fs::create_dir_all(top.path().join("deep/deeper/.git")).unwrap();
    let cut = guarded(top.path());
    assert!(!cut.whole);
    let hooks = |place: &&PathBuf| place.ends_with(".git/hooks");
    assert!(cut.places.iter().filter(hooks).count() <= REPOSITORIES_MAX + 1);
}

#[test]
fn other_work_trees_that_were_not_looked_at_are_told() {
    let top = tempfile::tempdir().unwrap();
    let trees = top.path().join(".git/worktrees");
    for number in 0..64 {
        std::fs::create_dir_all(trees.join(number.to_string())).unwrap();
    }
    assert!(guarded(top.path()).whole);
    std::fs::create_dir_all(trees.join("one-more")).unwrap();
    assert!(!guarded(top.path()).whole);
}

#[test]
fn where_there_is_no_repository_none_may_come_to_be() {
    let top = tempfile::tempdir().unwrap();
    let guarded = guarded(top.path());
    assert!(guarded.places.contains(&top.path().join(".git")));
}
