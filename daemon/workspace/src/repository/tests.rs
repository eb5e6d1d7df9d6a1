//! Repositories created by git itself, and some imitations.

use std::fs;
use std::process::Command;

use rustix::fs::Mode;

use super::*;

fn git(at: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .current_dir(at)
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

struct Scene {
    _top: tempfile::TempDir,
    at: PathBuf,
}

/// `main` has the work tree `tree` beside it and the submodule `sub` in it.
fn scene() -> Scene {
    let top = tempfile::tempdir().unwrap();
    let at = top.path().canonicalize().unwrap();
    for name in ["main", "lib"] {
        fs::create_dir(at.join(name)).unwrap();
        git(&at.join(name), &["init", "-q", "-b", "trunk"]);
        git(
            &at.join(name),
            &["commit", "-q", "--allow-empty", "-m", "one"],
        );
    }
    git(
        &at.join("main"),
        &["submodule", "--quiet", "add", "../lib", "sub"],
    );
    git(
        &at.join("main"),
        &["worktree", "add", "-q", "-b", "side", "../tree"],
    );
    Scene { _top: top, at }
}

#[test]
fn a_folder_a_work_tree_and_a_submodule_are_known_with_what_they_need() {
    let scene = scene();
    let at = |name: &str| scene.at.join(name);
    let main = GitDirs::of_work_tree(&at("main")).unwrap();
    assert_eq!(main.branch().unwrap(), "trunk");
    assert!(main.written().is_empty());
    // The files by which other trees find their configuration are guarded as well.
    for name in [
        "hooks",
        "config",
        "config.worktree",
        "worktrees/tree/commondir",
        "worktrees/tree/gitdir",
        // Missing, and read by git as soon as it exists.
        "worktrees/tree/config.worktree",
    ] {
        assert!(
            main.guarded().0.contains(&at("main/.git").join(name)),
            "{name}"
        );
    }
    let tree = GitDirs::of_work_tree(&at("tree")).unwrap();
    assert_eq!(tree.branch().unwrap(), "side");
    assert_eq!(
        tree.written(),
        [at("main/.git/worktrees/tree"), at("main/.git")]
    );
    for name in [
        "hooks",
        "config",
        "modules",
        "worktrees/tree/commondir",
        "worktrees/tree/config.worktree",
    ] {
        assert!(
            tree.guarded().0.contains(&at("main/.git").join(name)),
            "{name}"
        );
    }
    let sub = GitDirs::of_work_tree(&at("main/sub")).unwrap();
    assert_eq!(sub.written(), [at("main/.git/modules/sub")]);
    assert!(sub.guarded().0.contains(&at("main/.git/modules/sub/hooks")));
}

#[test]
fn a_git_file_that_names_another_repository_is_ignored() {
    let scene = scene();
    let at = |name: &str| scene.at.join(name);
    let claim = |name: &str, says: &str| {
        fs::create_dir_all(at(name)).unwrap();
        fs::write(at(name).join(".git"), says).unwrap();
        GitDirs::of_work_tree(&at(name))
    };
    for says in [
        "gitdir: ../main/.git\n",
        "gitdir: ../main/.git/worktrees/tree\n",
        "gitdir: ../main/.git/modules/sub\n",
        "gitdir: ../lib/.git\n",
        "gitdir: /\n",
        "gitdir: .\n",
        "gitdir:\n",
        "",
    ] {
        assert_eq!(claim("evil", says), None, "{says}");
    }
    // Directories of its own making, which name the other's as the shared one.
    for folder in ["evil/fake", "evil/fake/worktrees/x"] {
        fs::create_dir_all(at(folder)).unwrap();
        fs::write(at(folder).join("HEAD"), "ref: refs/heads/x\n").unwrap();
        fs::write(
            at(folder).join("commondir"),
            at("main/.git").display().to_string(),
        )
        .unwrap();
        fs::write(
            at(folder).join("gitdir"),
            at("evil/.git").display().to_string(),
        )
        .unwrap();
        let says = format!("gitdir: {}\n", at(folder).display());
        assert_eq!(claim("evil", &says), None, "{folder}");
    }
}

#[test]
fn pipes_and_links_in_the_place_of_short_files_say_nothing() {
    let scene = scene();
    let head = scene.at.join("main/.git/HEAD");
    fs::write(scene.at.join("secret"), "ref: refs/heads/secret\n").unwrap();
    fs::remove_file(&head).unwrap();
    std::os::unix::fs::symlink("../../secret", &head).unwrap();
    let branch = || {
        GitDirs::of_work_tree(&scene.at.join("main"))
            .unwrap()
            .branch()
    };
    assert_eq!(branch(), None);
    fs::remove_file(&head).unwrap();
    let mode = Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &head, mode).unwrap();
    assert_eq!(branch(), None);
    let file = scene.at.join("tree/.git");
    fs::remove_file(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, mode).unwrap();
    assert_eq!(GitDirs::of_work_tree(&scene.at.join("tree")), None);
}

#[test]
fn a_work_tree_has_a_git_directory_file_or_link_that_leads_somewhere() {
    let top = tempfile::tempdir().unwrap();
    let git = top.path().join(".git");
    assert!(!is_repository(top.path()));
    std::os::unix::fs::symlink("nowhere", &git).unwrap();
    assert!(!is_repository(top.path()), "a link to nowhere");
    fs::remove_file(&git).unwrap();
    fs::create_dir(&git).unwrap();
    assert!(is_repository(top.path()));
    fs::remove_dir_all(&git).unwrap();
    fs::write(&git, "gitdir: ../other\n").unwrap();
    assert!(is_repository(top.path()));
}
