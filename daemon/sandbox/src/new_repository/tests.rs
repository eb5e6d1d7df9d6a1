use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;
use crate::file_system::open_directory;

fn git(at: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .current_dir(at)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

/// A repository that git has made.
fn repository() -> (tempfile::TempDir, PathBuf) {
    let top = tempfile::tempdir().unwrap();
    git(top.path(), &["init", "-q"]);
    let git = top.path().join(".git");
    (top, git)
}

fn judged(top: &Path) -> NewRepository {
    look(&open_directory(top).unwrap(), ".git".as_ref())
}

#[test]
fn what_git_makes_runs_nothing() {
    let (top, _) = repository();
    assert_eq!(judged(top.path()), NewRepository::Plain);
    git(top.path(), &["config", "user.name", "Ann"]);
    git(top.path(), &["config", "commit.gpgsign", "false"]);
    git(
        top.path(),
        &[
            "-c",
            "user.email=a@b",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "x",
        ],
    );
    assert_eq!(judged(top.path()), NewRepository::Plain);
    git(
        top.path(),
        &["remote", "add", "origin", "https://example.org/x.git"],
    );
    assert_eq!(judged(top.path()), NewRepository::Configured);
    let bare = tempfile::tempdir().unwrap();
    git(bare.path(), &["init", "-q", "--template="]);
    assert_eq!(judged(bare.path()), NewRepository::Plain);
    let clone = tempfile::tempdir().unwrap();
    git(
        clone.path(),
        &["clone", "-q", &top.path().display().to_string(), "."],
    );
    assert_eq!(judged(clone.path()), NewRepository::Configured);
}

#[test]
fn common_git_settings_run_nothing() {
    let (top, _) = repository();
    for (name, value) in [
        ("pull.rebase", "true"),
        ("core.autocrlf", "input"),
        ("core.sparseCheckout", "true"),
        ("alias.st", "status"),
        ("push.autoSetupRemote", "true"),
    ] {
        git(top.path(), &["config", name, value]);
        assert_eq!(judged(top.path()), NewRepository::Plain, "{name}");
    }
    git(
        top.path(),
        &["config", "remote.o.url", "https://example.org/x.git"],
    );
    git(top.path(), &["config", "remote.o.promisor", "true"]);
    git(
        top.path(),
        &["config", "remote.o.partialclonefilter", "blob:none"],
    );
    git(top.path(), &["config", "branch.main.rebase", "true"]);
    assert_eq!(judged(top.path()), NewRepository::Configured);
}

#[test]
fn whatever_may_run_something_is_found() {
    for line in [
        "[core]\n\tfsmonitor = evil",
        "[alias]\n\tst = !evil",
        "[alias]\n\tst = -c core.fsmonitor=evil status",
        "[pull]\n\ttwohead = evil",
        "[diff]\n\texternal = evil",
        "[core]\n\thooksPath = .husky",
        "[core]\n\tbare = true",
        "[core] fsmonitor = evil",
        "[core] fsmonitor = evil]",
        "[core]\n\tfsmonitor",
        "[include]\n\tpath = ../x",
        "[user]\n\tname = a \\\n[core]\nfsmonitor = evil",
        "[user]\n\tname = \"a",
        "[remote \"o\"]\n\turl = ext::sh -c evil",
        "[remote \"o\"]\n\tuploadpack = evil",
        "[commit]\n\tgpgsign = true",
        "[alias]\n\tst = !evil",
    ] {
        let (top, git) = repository();
        let text = fs::read_to_string(git.join("config")).unwrap();
        fs::write(git.join("config"), format!("{text}{line}\n")).unwrap();
        assert_eq!(judged(top.path()), NewRepository::Runs, "{line}");
    }
    let changes: [fn(&Path); 6] = [
        |git| {
            fs::create_dir_all(git.join("hooks")).unwrap();
            fs::write(git.join("hooks/pre-commit"), "").unwrap();
        },
        |git| {
            let _ = fs::remove_dir_all(git.join("hooks"));
            std::os::unix::fs::symlink("/nowhere", git.join("hooks")).unwrap();
        },
        |git| fs::write(git.join("commondir"), "..").unwrap(),
        |git| {
            fs::write(git.join("config.worktree"), "[core]\nfsmonitor = evil\n").unwrap();
        },
        |git| fs::create_dir(git.join("modules")).unwrap(),
        |git| {
            fs::rename(git.join("config"), git.join("other")).unwrap();
            std::os::unix::fs::symlink("other", git.join("config")).unwrap();
        },
    ];
    for (number, change) in changes.iter().enumerate() {
        let (top, git) = repository();
        change(&git);
        assert_eq!(judged(top.path()), NewRepository::Runs, "change {number}");
    }
}

#[test]
fn replaced_git_config_runs_more_only_if_it_adds_a_dangerous_setting() {
    let before =
        "[core]\n\thooksPath = .husky\n[remote \"o\"]\n\turl = https://example.org/x.git\n";
    for harmless in [
        "",
        "[branch \"main\"]\n\tremote = o\n\tmerge = refs/heads/main\n\tvscode-merge-base = o/main\n",
        "[user]\n\tname = Ann\n",
        "[submodule \"a\"]\n\tactive = true\n\turl = https://example.org/a.git\n",
        "[core]\n\thooksPath = .husky\n",
        "[remote \"n\"]\n\turl = git@example.org:x.git\n\tgh-resolved = base\n",
        "[branch \"x\"]\n\tgithub-pr-owner-number = \"o#r#1\"\n\tdescription = \"fixes; #12\"\n",
        "[gc]\n\tauto = 0\n[lfs]\n\trepositoryformatversion = 0\n",
    ] {
        let after = format!("{before}{harmless}");
        assert!(!runs_more(before, &after), "{harmless}");
    }
    for more in [
        "[core]\n\thooksPath = .other\n",
        "[alias]\n\thooksPath = !evil\n",
        "[core]\n\tfsmonitor = evil\n",
        "[core] fsmonitor = evil\n",
        "[branch \"main\"]\n\tmergeoptions = -s evil\n",
        "[branch \"main\"]\n\tremote = ext::evil\n",
        "[submodule \"a\"]\n\tupdate = !evil\n",
        "[remote \"o\"]\n\turl = ./node_modules/e/r.git\n",
        "[remote \"o\"]\n\tpushurl = \"/tmp/r.git\"\n",
        "[remote \"o\"]\n\turl = file:///tmp/r.git\n",
        "[branch \"main\"]\n\tpushRemote = ../r.git\n",
    ] {
        let after = format!("{before}{more}");
        assert!(runs_more(before, &after), "{more}");
    }
    assert!(!runs_more(before, ""), "less is not more");
    let goes_on = "[user]\n\tname = a \\\n[core]\n\tfsmonitor = evil\n";
    assert!(runs_more(goes_on, "[core]\n\tfsmonitor = evil\n"));
    assert!(!runs_more(goes_on, goes_on));
}
