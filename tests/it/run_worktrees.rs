//! `run --worktree`: a session in its own git worktree; what it leaves, what is said of it, and who removes it.

use std::path::{Path, PathBuf};
use std::process::Command;

use proto::Pid;
use serde_json::{Value, json};
use testkit::model::{Answer, Gate, Model, Place, Script};
use tests::{Done, House, Running, until};

use crate::agent_worktrees::{entries, git, repository, worktrees};
use crate::scripted::{FAST_RETRIES, house};

const FILES: &str = "//- a.txt\nblue\n//- sub/b.txt\ngreen\n";

/// A model that makes these calls one after the other, in every session.
fn with_calls(calls: &'static [(&'static str, &'static str)]) -> Model {
    Model::start(Script::by(move |request| {
        match calls.get(request.results().len()) {
            Some((tool, arguments)) => {
                Answer::call(tool, serde_json::from_str(arguments).expect("JSON"))
            }
            None => Answer::text("Done."),
        }
    }))
}

const WRITES: &[(&str, &str)] = &[("write_file", r#"{"path": "made.txt", "content": "new\n"}"#)];

/// A house whose project is a repository.
fn prepared(model: &Model) -> House {
    let house = house(model);
    house.files(FILES);
    repository(&house);
    house
}

fn json_run(house: &House, arguments: &[&str]) -> Value {
    let line = [&["run", "--json"], arguments, &["Do it."]].concat();
    house.reasonix(&line).expect_code(0).json()
}

fn shell(line: &str) {
    let status = Command::new("sh")
        .args(["-c", line])
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.expect("run sh").success(), "{line}");
}

/// The commands after this word, of what a run says on standard error.
fn commands<'a>(done: &'a Done, word: &str) -> Vec<&'a str> {
    let lines = done.err.lines();
    lines
        .filter_map(|line| line.trim().strip_prefix(word))
        .collect()
}

#[test]
fn run_in_a_worktree_leaves_the_checkout_alone_and_its_commands_take_it_over() {
    let model = with_calls(&[
        ("write_file", r#"{"path": "made.txt", "content": "new\n"}"#),
        ("bash", r#"{"command": "echo red > a.txt && pwd"}"#),
    ]);
    // Paths with blanks and quotes are one word of each command.
    let above = tempfile::tempdir().expect("a directory");
    let above = above.path().join("Ann's work");
    std::fs::create_dir(&above).expect("a directory");
    let house = House::below(&above);
    house.settings(FAST_RETRIES);
    house.provider(&model.entry("model", None));
    house.daemon();
    house.files(FILES);
    repository(&house);
    house.files("//- sub/b.txt\nnot committed\n");
    let project = house.project();
    let before = git(&project, &["status", "--porcelain"]);
    let done = house
        .reasonix(&["run", "--worktree", "Do it."])
        .expect_code(0);
    assert_eq!(done.out, "Done.\n");
    let [worktree] = &worktrees(&house)[..] else {
        panic!("one worktree: {done:?}")
    };
    assert_eq!(git(&project, &["status", "--porcelain"]), before);
    assert_eq!(house.read("a.txt"), "blue\n");
    let log = house.log(Pid(1));
    assert_eq!(log.created().cwd, worktree.to_string_lossy());
    assert!(log.results()[1].text.contains(&*worktree.to_string_lossy()));
    let branch = git(worktree, &["branch", "--show-current"]);
    let place = worktree.to_string_lossy();
    for words in [
        format!("· works in the git worktree {place} on branch `{branch}`"),
        format!("· the changes are in the git worktree {place} on branch `{branch}` (commits: 0)"),
        "changed: a.txt, made.txt".into(),
        "not included: uncommitted changes of your checkout (paths: 1)".into(),
    ] {
        assert!(done.err.contains(&words), "{words}: {done:?}");
    }
    let take_over = commands(&done, "merge: ");
    assert_eq!(take_over.len(), 2, "{done:?}");
    git(worktree, &["config", "user.name", "Ann"]);
    take_over.into_iter().for_each(shell);
    assert_eq!(
        (house.read("a.txt"), house.read("made.txt")),
        ("red\n".into(), "new\n".into())
    );
    commands(&done, "delete: ").into_iter().for_each(shell);
    assert!(worktrees(&house).is_empty());
    assert_eq!(
        git(&project, &["branch", "--format=%(refname:short)"]),
        "main"
    );
}

#[test]
fn run_that_changes_nothing_leaves_no_worktree() {
    let model = with_calls(&[("bash", r#"{"command": "cat a.txt"}"#)]);
    let house = prepared(&model);
    let report = json_run(&house, &["--worktree"]);
    assert_eq!(report["worktree"]["state"], "removed", "{report}");
    assert_eq!(report["worktree"]["changed"], json!([]), "{report}");
    let done = house
        .reasonix(&["run", "--worktree", "Do it."])
        .expect_code(0);
    let words = "· nothing changed in the git worktree: it was removed";
    assert!(done.err.contains(words), "{done:?}");
    assert!(!house.root().join("project.worktrees").exists());
    assert_eq!(entries(&house), 0);
    let project = house.project();
    assert_eq!(
        git(&project, &["branch", "--format=%(refname:short)"]),
        "main"
    );
    assert!(house.log(Pid(1)).results()[0].text.contains("blue"));
    // Without the option there is none, and nothing is said of one.
    assert_eq!(json_run(&house, &[]).get("worktree"), None);
}

#[test]
fn result_object_says_what_changed_and_the_session_goes_on_in_its_worktree() {
    let model = with_calls(WRITES);
    let house = prepared(&model);
    let project = house.project();
    let inside = house.reasonix(&["run", "--json", "--worktree", "--cwd", "sub", "Do it."]);
    let report = &inside.expect_code(0).json()["worktree"];
    let path = PathBuf::from(report["path"].as_str().expect("a path"));
    assert_eq!(report["state"], "kept", "{report}");
    assert_eq!(report["changed"], json!(["sub/made.txt"]), "{report}");
    assert_eq!(report["origin"], json!(project), "{report}");
    assert_eq!(report["commits"], 0);
    // Below the directory that the run was started in.
    assert_eq!(
        Path::new(&house.log(Pid(1)).created().cwd),
        path.join("sub")
    );
    git(&path, &["config", "user.name", "Ann"]);
    git(&path, &["add", "-A"]);
    git(&path, &["commit", "-q", "-m", "second"]);
    let report = json_run(&house, &["--session", "1"]);
    let report = &report["worktree"];
    assert_eq!(
        (&report["state"], &report["commits"]),
        (&json!("kept"), &json!(1))
    );
    // What is committed only needs a merge.
    let take_over = report["take_over"].as_array().expect("commands");
    assert_eq!(take_over.len(), 1, "{report}");
}

#[test]
fn failed_worktree_creation_of_a_run_reports_the_cause_without_a_session() {
    let model = with_calls(&[]);
    let house = house(&model);
    house.files(FILES);
    let refused = |words: &[&str]| {
        let done = house.reasonix(&["run", "--worktree", "Do it."]);
        assert_ne!(done.code(), Some(0), "{done:?}");
        for words in words {
            assert!(done.err.contains(words), "{words}: {done:?}");
        }
        assert!(house.logs().is_empty(), "{words:?}");
        assert_eq!(
            (worktrees(&house).len(), entries(&house)),
            (0, 0),
            "{words:?}"
        );
    };
    refused(&["is not a git repository", "Run `git init` and commit there"]);
    git(&house.project(), &["init", "-q", "-b", "main"]);
    refused(&["it has no commit", "Make a first commit there"]);
    std::fs::remove_dir_all(house.project().join(".git")).expect("the repository");
    repository(&house);
    // No git on PATH.
    let mut command = house.command(&["run", "--worktree", "Do it."]);
    command.env("PATH", house.user_home());
    let done = Running::start(&mut command).done();
    assert_ne!(done.code(), Some(0), "{done:?}");
    assert!(done.err.contains("`git` is not on PATH"), "{done:?}");
    assert!(house.logs().is_empty());
    let both = house.reasonix(&["run", "--worktree", "--session", "1", "Do it."]);
    assert_eq!(both.code(), Some(64), "{both:?}");
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn worktree_of_a_run_outlives_a_killed_daemon_and_is_reported_at_the_end() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request| match request.results().len() {
        0 => Answer::call("write_file", json!({"path": "made.txt", "content": "x"})),
        _ => Answer::text("Done.").held(Place::Before, &held),
    }));
    let house = prepared(&model);
    let running = house.start(&["run", "--worktree", "--json", "Do it."]);
    until("the second request", || gate.is_reached().then_some(()));
    let before = worktrees(&house);
    house.kill_daemon();
    house.wait_for_daemon();
    gate.open();
    let report = running.done().expect_code(0).json();
    assert_eq!(report["worktree"]["state"], "kept", "{report}");
    assert_eq!(report["worktree"]["changed"], json!(["made.txt"]));
    assert_eq!((before.len(), worktrees(&house)), (1, before));
    assert_eq!(house.log(Pid(1)).check().results().len(), 1);
}

#[test]
fn worktree_of_a_detached_run_ends_with_its_session() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |_| {
        Answer::text("Done.").held(Place::Before, &held)
    }));
    let house = prepared(&model);
    let done = house
        .reasonix(&["run", "--worktree", "--detach", "--json", "Do it."])
        .expect_code(0)
        .json();
    assert_eq!(done["worktree"]["state"], "in_use", "{done}");
    let path = PathBuf::from(done["worktree"]["path"].as_str().expect("a path"));
    until("the request", || gate.is_reached().then_some(()));
    assert!(path.exists());
    // The daemon that sees its end is another one than that which made it.
    house.kill_daemon();
    house.wait_for_daemon();
    gate.open();
    until("the worktree to go", || (!path.exists()).then_some(()));
    until("its entry to go", || (entries(&house) == 0).then_some(()));
}

#[test]
fn deleted_session_takes_its_worktree_along_unless_something_in_it_changed() {
    let model = with_calls(WRITES);
    let house = prepared(&model);
    let kept = json_run(&house, &["--worktree"]);
    let path = kept["worktree"]["path"]
        .as_str()
        .expect("a path")
        .to_owned();
    let done = house.reasonix(&["rm", "--yes", "1"]).expect_code(0);
    let words = format!("· the git worktree {path} has changes and was kept");
    assert!(done.err.contains(&words), "{done:?}");
    assert!(Path::new(&path).join("made.txt").exists());
    // Nothing removes it later.
    house.kill_daemon();
    house.wait_for_daemon();
    let _ = house.reasonix(&["ps"]).expect_code(0);
    assert!(Path::new(&path).join("made.txt").exists());
    // One whose changes were taken back goes with its session.
    let other = json_run(&house, &["--worktree"]);
    let path = other["worktree"]["path"]
        .as_str()
        .expect("a path")
        .to_owned();
    std::fs::remove_file(Path::new(&path).join("made.txt")).expect("the file");
    let done = house
        .reasonix(&["rm", "--yes", "--json", &other["pid"].to_string()])
        .expect_code(0);
    assert_eq!(done.json()[0].get("worktree"), None, "{done:?}");
    assert!(!Path::new(&path).exists());
    assert_eq!(entries(&house), 1);
}

#[test]
fn ephemeral_run_keeps_what_it_changed_in_its_worktree() {
    let model = with_calls(WRITES);
    let house = prepared(&model);
    let report = json_run(&house, &["--worktree", "--ephemeral"]);
    let path = report["worktree"]["path"].as_str().expect("a path");
    assert_eq!(report["worktree"]["state"], "kept", "{report}");
    assert!(house.logs().is_empty());
    assert!(Path::new(path).join("made.txt").exists());
}

#[test]
fn goal_works_in_a_worktree() {
    let model = with_calls(&[
        ("write_file", r#"{"path": "made.txt", "content": "new\n"}"#),
        (
            "update_goal",
            r#"{"status": "complete", "summary": "Made.", "evidence": "made.txt"}"#,
        ),
    ]);
    let house = prepared(&model);
    let done = house
        .reasonix(&["goal", "--worktree", "--json", "Make it."])
        .expect_code(0)
        .json();
    assert_eq!(done["worktree"]["changed"], json!(["made.txt"]), "{done}");
    assert_eq!(done["goal"]["outcome"], "complete", "{done}");
    assert!(!house.project().join("made.txt").exists());
}

#[test]
fn budget_of_the_project_counts_the_sessions_in_its_worktrees() {
    let model = Model::start(Script::by(|_| Answer::text("Done.")));
    let house = prepared(&model);
    house.settings("[budget.project]\nsteps = 2\n");
    let _ = json_run(&house, &["--worktree"]);
    // Also by what the logs say.
    house.kill_daemon_and_parent();
    let _ = json_run(&house, &["--worktree"]);
    let spent = house.reasonix(&["run", "Do it."]).expect_code(2);
    assert!(spent.err.contains("budget"), "{spent:?}");
    assert_eq!(model.count(), 2);
}
