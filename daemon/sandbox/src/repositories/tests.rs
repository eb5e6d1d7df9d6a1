use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use super::*;

fn git(at: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .current_dir(at)
        .args(["-c", "user.name=a", "-c", "user.email=b"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

/// A root with a repository and one nested in it, both from before.
fn root() -> (tempfile::TempDir, KnownRepositories) {
    let top = tempfile::tempdir().unwrap();
    let root = top.path().canonicalize().unwrap();
    git(&root, &["init", "-q"]);
    git(&root, &["commit", "-q", "--allow-empty", "-m", "x"]);
    fs::create_dir_all(root.join("old")).unwrap();
    git(&root.join("old"), &["init", "-q"]);
    let found = FoundRepositories::below(&root);
    assert_eq!(found.trees, [root.join("old")]);
    let mut known = KnownRepositories {
        writable: vec![root.clone()],
        root,
        ..found.into()
    };
    known.places.insert(known.root.clone());
    (top, known)
}

/// What came, relative to the root.
fn came(known: &KnownRepositories) -> Vec<String> {
    let (arrivals, searched) = new_repositories(known);
    searched.unwrap();
    let relative = |arrival: &Arrival| arrival.path.strip_prefix(&known.root).unwrap().to_owned();
    let paths = arrivals.iter().map(relative);
    paths.map(|path| path.display().to_string()).collect()
}

fn hook(git_directory: &Path) {
    let hook = git_directory.join("hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn new_repositories_that_run_nothing_stay() {
    let (_top, known) = root();
    let at = |name: &str| known.root.join(name);
    git(&known.root, &["init", "-q", "a/b"]);
    git(&known.root, &["init", "-q", "--bare", "bare.git"]);
    git(&known.root, &["clone", "-q", "old", "clone"]);
    git(
        &known.root,
        &["clone", "-q", "--mirror", "old", "mirror.git"],
    );
    git(&known.root, &["clone", "-q", "--sparse", ".", "sparse"]);
    assert!(at("sparse/.git/config.worktree").exists());
    git(&known.root, &["worktree", "add", "-q", "beside"]);
    git(
        &at("a"),
        &["init", "-q", "--separate-git-dir=../kept.git", "c"],
    );
    // A directory that only looks like one of git's.
    fs::create_dir_all(at("like/refs")).unwrap();
    fs::write(at("like/config"), "[core]\n\tfsmonitor = x\n").unwrap();
    assert_eq!(came(&known), Vec::<String>::new());
}

#[test]
fn new_repository_that_runs_something_is_an_arrival() {
    for (name, make) in [
        (
            "a/b/.git",
            (|root| {
                git(root, &["init", "-q", "a/b"]);
                hook(&root.join("a/b/.git"));
            }) as fn(&Path),
        ),
        ("a/.git", |root| {
            git(root, &["init", "-q", "a"]);
            git(&root.join("a"), &["config", "core.fsmonitor", "touch x"]);
        }),
        ("src/config", |root| {
            git(root, &["init", "-q", "--bare", "src"]);
            git(&root.join("src"), &["config", "core.fsmonitor", "touch x"]);
        }),
        ("src.git/hooks", |root| {
            git(root, &["init", "-q", "--bare", "--template=", "src.git"]);
            hook(&root.join("src.git"));
            fs::remove_file(root.join("src.git/config")).unwrap();
        }),
        ("a/.git", |root| {
            git(root, &["init", "-q", "--separate-git-dir=kept.git", "a"]);
            hook(&root.join("kept.git"));
        }),
        ("a/.git", |root| {
            git(root, &["worktree", "add", "-q", "a"]);
            let own = root.join(".git/worktrees/a");
            fs::write(own.join("config.worktree"), "[core]\n\tfsmonitor = x\n").unwrap();
        }),
        // Nobody may list the directory around it, but git works in it.
        ("a/b/.git", |root| {
            git(root, &["init", "-q", "a/b"]);
            hook(&root.join("a/b/.git"));
            fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o311)).unwrap();
        }),
        // A git directory that has its objects and its config elsewhere.
        ("src/commondir", |root| {
            git(root, &["init", "-q", "--bare", "elsewhere"]);
            fs::create_dir_all(root.join("src")).unwrap();
            fs::write(root.join("src/HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::write(root.join("src/commondir"), "../elsewhere\n").unwrap();
        }),
        ("a/.git", |root| {
            git(root, &["init", "-q", "--bare", "kept"]);
            hook(&root.join("kept"));
            fs::create_dir_all(root.join("a")).unwrap();
            fs::write(root.join("a/.git"), "gitdir: ../kept\0junk").unwrap();
        }),
        ("a/.git", |root| {
            fs::create_dir_all(root.join("a")).unwrap();
            std::os::unix::fs::symlink("../old/.git", root.join("a/.git")).unwrap();
        }),
        // Git reads all of a path that is longer than a small file.
        ("a/.git", |root| {
            git(root, &["worktree", "add", "-q", "a"]);
            git(root, &["init", "-q", "--bare", "target/other"]);
            let mut known = format!("{}/.git/", root.display());
            known.push_str(&"/".repeat(4096 - known.len()));
            let own = root.join(".git/worktrees/a");
            fs::write(own.join("commondir"), known + "../target/other").unwrap();
        }),
        // What it leads to can come later, or change later without being held.
        ("a/.git", |root| {
            fs::create_dir_all(root.join("a")).unwrap();
            fs::write(root.join("a/.git"), "gitdir: ../missing\n").unwrap();
        }),
        ("a/.git", |root| {
            fs::create_dir(root.join("target")).unwrap();
            git(root, &["init", "-q", "--separate-git-dir=target/kept", "a"]);
        }),
        ("a/.git", |root| {
            git(root, &["init", "-q", "--separate-git-dir=kept", "a"]);
            std::os::unix::fs::symlink("kept", root.join("link")).unwrap();
            fs::write(root.join("a/.git"), "gitdir: ../link\n").unwrap();
        }),
        ("a/.git", |root| {
            git(root, &["worktree", "add", "-q", "a"]);
            let own = root.join(".git/worktrees/a");
            fs::rename(own, root.join("moved")).unwrap();
            fs::write(root.join("moved/commondir"), "../.git\n").unwrap();
            fs::write(root.join("a/.git"), "gitdir: ../moved\n").unwrap();
        }),
    ] {
        let (_top, known) = root();
        make(&known.root);
        let came = came(&known);
        assert!(came.iter().any(|path| path == name), "{name}: {came:?}");
    }
}

#[test]
fn repositories_from_before_are_the_users_own() {
    let (_top, known) = root();
    hook(&known.root.join("old/.git"));
    assert_eq!(came(&known), Vec::<String>::new());
}

#[test]
fn git_file_that_points_into_a_git_directory_or_proc_is_an_arrival() {
    let (_top, known) = root();
    let inner = known.root.join(".git/foo");
    git(&known.root, &["init", "-q", "--bare", ".git/foo"]);
    let process = std::process::id();
    let links = [
        "../.git/foo".to_owned(),
        inner.display().to_string(),
        "../old/.git/info/x".to_owned(),
        format!("/proc/self/root{}", inner.display()),
        "/proc/self/cwd".to_owned(),
        "/proc/thread-self/cwd/../elsewhere".to_owned(),
        format!("/proc/{process}/cwd"),
        "/dev/fd/3".to_owned(),
    ];
    git(&known.root, &["init", "-q", "--bare", "old/.git/info/x"]);
    for (at, link) in links.iter().enumerate() {
        let tree = known.root.join(format!("tree-{at}"));
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {link}\n")).unwrap();
        assert_eq!(came(&known), [format!("tree-{at}/.git")], "{link}");
        fs::remove_dir_all(&tree).unwrap();
    }
    // What is found by itself may be led to.
    git(&known.root, &["init", "-q", "new"]);
    fs::create_dir(known.root.join("tree")).unwrap();
    fs::write(known.root.join("tree/.git"), "gitdir: ../new/.git\n").unwrap();
    assert_eq!(came(&known), Vec::<String>::new());
}

#[test]
fn repository_of_the_root_is_checked_unless_it_is_held() {
    let (_top, known) = root();
    hook(&known.root.join(".git"));
    assert_eq!(came(&known), Vec::<String>::new());
    let open = KnownRepositories {
        places: BTreeSet::new(),
        ..known
    };
    assert_eq!(came(&open), [".git"]);
}

#[test]
fn no_repository_is_an_arrival_if_the_earlier_search_was_incomplete() {
    let (_top, known) = root();
    git(&known.root, &["init", "-q", "a"]);
    hook(&known.root.join("a/.git"));
    let partly = KnownRepositories {
        whole: false,
        ..known.clone()
    };
    assert_eq!(came(&partly), Vec::<String>::new());
    assert_eq!(came(&known), ["a/.git"]);
}
