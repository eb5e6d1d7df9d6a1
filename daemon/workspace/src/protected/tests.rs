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
        ".bashrc",
        "ann/.Profile",
        ".gitconfig",
    ] {
        assert!(is_protected(Path::new(path)), "{path}");
    }
}

#[test]
fn login_files_are_protected_also_where_the_workspace_lies_in_their_directory() {
    for path in [
        "/home/ann/.config/systemd",
        "/home/ann/.config/systemd/user/x.service",
        "/home/ann/.config/git/config",
        "/home/ann/.local/bin/ls",
        "/home/ann/.local/share/applications/a.desktop",
    ] {
        assert!(is_login_file(Path::new(path)), "{path}");
    }
    assert!(!is_login_file(Path::new("/home/ann/.config/app/settings")));
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join(".config");
    std::fs::create_dir_all(&root).unwrap();
    let places = guarded(&root).places;
    for name in ["systemd", "git", "autostart"] {
        assert!(places.contains(&root.join(name)), "{name}");
    }
    let whole = root.join("fish");
    std::fs::create_dir_all(&whole).unwrap();
    assert!(guarded(&whole).places.contains(&whole));
}

/// The list as it was when files and commands had one each. Neither may lose an entry.
fn was_protected(path: &Path) -> bool {
    let names: Vec<String> = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy().to_ascii_lowercase())
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    (0..names.len()).any(|index| match &names[index..] {
        [".git", ..] => true,
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

#[test]
fn one_list_of_protected_paths_serves_files_and_commands() {
    let names = [
        ".git",
        ".GIT",
        ".reasonix",
        "autoresearch",
        "reasonix.toml",
        ".mcp.json",
        ".vscode",
        ".zed",
        ".idea",
        "tasks.json",
        "launch.json",
        "settings.json",
        "debug.json",
        "runConfigurations",
        "RunConfigurations",
        "workspace.xml",
        "a.code-workspace",
        "B.Code-Workspace",
        "src",
    ];
    let mut paths: Vec<PathBuf> = vec![PathBuf::new()];
    let mut last = paths.clone();
    for _ in 0..3 {
        let longer = |path: &PathBuf| names.map(|name| path.join(name));
        last = last.iter().flat_map(longer).collect();
        paths.extend(last.clone());
    }
    for path in &paths {
        assert_eq!(
            is_protected(path),
            was_protected(path),
            "{}",
            path.display()
        );
    }
    let root = tempfile::tempdir().unwrap();
    let places = guarded(root.path()).places;
    for name in [
        ".reasonix",
        "reasonix.toml",
        ".mcp.json",
        ".vscode/tasks.json",
        ".vscode/launch.json",
        ".vscode/settings.json",
        ".zed/tasks.json",
        ".zed/debug.json",
        ".zed/settings.json",
        ".idea/runConfigurations",
        ".idea/workspace.xml",
    ] {
        assert!(places.contains(&root.path().join(name)), "{name}");
    }
}

#[test]
fn shell_start_files_are_guarded_whether_they_exist_or_not() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join(".bashrc"), "").unwrap();
    let places = guarded(root.path()).places;
    assert!(places.contains(&root.path().join(".bashrc")));
    for missing in [".profile", ".zshenv", ".config/git", ".vimrc", ".ssh"] {
        assert!(places.contains(&root.path().join(missing)), "{missing}");
    }
    let bashrc = root.path().join(".bashrc");
    let count = places.iter().filter(|place| **place == bashrc).count();
    assert_eq!(count, 1);
}

#[test]
fn agents_working_directory_is_written_unless_it_is_a_link() {
    let top = tempfile::tempdir().unwrap();
    let root = top.path().canonicalize().unwrap();
    let workshop = root.join(WORKSHOP);
    assert!(!guarded(&root).written.contains(&workshop));
    std::fs::create_dir_all(&workshop).unwrap();
    let found = guarded(&root);
    assert!(found.written.contains(&workshop));
    assert!(found.places.contains(&root.join(".reasonix")));
    std::fs::remove_dir(&workshop).unwrap();
    std::os::unix::fs::symlink("/etc", &workshop).unwrap();
    assert!(!guarded(&root).written.contains(&workshop));
}

#[test]
fn ordinary_files_are_not_protected() {
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
        // The file's own name is protected. A directory of that name does not occur in practice.
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
    assert!(guarded.written.is_empty(), "that file is not trusted");
    let passed = root.join("node_modules");
    assert!(
        !guarded
            .places
            .iter()
            .any(|place| place.starts_with(&passed))
    );
}

#[test]
fn the_search_for_repositories_is_bounded_and_reports_it() {
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
fn unchecked_work_trees_are_reported() {
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
fn without_a_repository_none_can_be_created() {
    let top = tempfile::tempdir().unwrap();
    let guarded = guarded(top.path());
    assert!(guarded.places.contains(&top.path().join(".git")));
}

#[test]
fn what_makes_or_configures_a_git_directory_of_any_name_is_protected() {
    let top = tempfile::tempdir().unwrap();
    let at = |name: &str| top.path().join(name);
    let is = |name: &str| is_of_git_directory(&at(name));
    assert!(
        is("bare/HEAD") && is("bare/head"),
        "without it there is none"
    );
    for part in [
        "bare/config",
        "bare/objects/x",
        "bare/hooks/post-receive",
        "config/a.toml",
    ] {
        assert!(!is(part), "{part}: nothing is there");
    }
    std::fs::create_dir(at("bare")).unwrap();
    std::fs::write(at("bare/HEAD"), "ref: refs/heads/main\n").unwrap();
    for part in [
        "config",
        "commondir",
        "objects/x",
        "refs/x",
        "hooks/post-receive",
        "HOOKS/x",
    ] {
        assert!(is(&format!("bare/{part}")), "{part}");
    }
    assert!(!is("bare/README.md") && !is("other/config"));
    // Git takes a link to a branch that is not there yet for one.
    std::fs::create_dir(at("linked")).unwrap();
    std::os::unix::fs::symlink("refs/heads/main", at("linked/HEAD")).unwrap();
    assert!(is("linked/config"));
}
