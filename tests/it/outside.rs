//! No program that the session may write runs outside the sandbox, unless a user has approved it twice.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use client::Client;
use proto::hello::Role;
use proto::item::CallStatus;
use proto::methods::SessionCreate;
use proto::params::interaction::{ApprovalDecision, Interaction};
use proto::params::session::CreateParams;
use proto::state::ApprovalMode;
use proto::{Pid, SessionOptions};
use serde_json::Value;
use tempfile::TempDir;
use testkit::Script;
use tests::follow::{from_the_start, to_rest};
use tests::interactions::{allow_once, answer, approval, decide, first_opened, next_opened};
use tests::{House, skip};

fn bubblewrap_is_missing() -> bool {
    let bubblewrap = ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"];
    skip::unless(skip::works(&bubblewrap), "bubblewrap that starts")
}

/// A directory that commands in the sandbox cannot write.
fn outside() -> TempDir {
    let made = tempfile::Builder::new()
        .prefix("rxown")
        .tempdir_in("/var/tmp");
    made.expect("a directory outside")
}

/// A program that leaves a file in `place`.
fn leaves(place: &Path, name: &str) -> String {
    format!("#!/bin/sh\n/bin/touch {}/{name}\n", place.display())
}

fn program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("make it");
    std::fs::write(path, text).expect("write it");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("chmod");
}

/// A session that looks for programs in the workspace's `.venv/bin`, then in `trusted`, then where all do.
async fn begun(house: &House, client: &Client, trusted: &Path, mode: ApprovalMode) -> Pid {
    let create = house.create("go");
    let mut env: BTreeMap<String, String> = create.env.clone();
    let venv: PathBuf = house.project().join(".venv/bin");
    let path = format!(
        "{}:{}:{}",
        venv.display(),
        trusted.display(),
        env.get("PATH").cloned().unwrap_or_default()
    );
    env.insert("PATH".to_owned(), path);
    let options = SessionOptions {
        approval_mode: Some(mode),
        ..create.options.clone()
    };
    let create = CreateParams {
        options,
        env,
        ..create
    };
    let made = client.call::<SessionCreate>(&create).await;
    made.expect("create").pid
}

fn asked(open: &Interaction) -> Value {
    serde_json::to_value(approval(open)).expect("json")
}

/// The model writes a program into the workspace and runs it by its plain name.
fn attack(place: &Path, line: &str) -> Script {
    let text = leaves(place, "ran");
    Script::new()
        .runs(&format!(
            "mkdir -p .venv/bin && printf '%s' '{text}' > .venv/bin/fetch && chmod +x .venv/bin/fetch"
        ))
        .runs(line)
        .says("Done.")
}

async fn check_asks_twice(line: &str) {
    let place = outside();
    let trusted = outside();
    program(
        &trusted.path().join("fetch"),
        &leaves(place.path(), "trusted"),
    );
    let house = House::playing(&attack(place.path(), line));
    house.files("//- a\nx");
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client, trusted.path(), ApprovalMode::Auto).await;
    let mut follow = from_the_start(&client, pid).await;
    let first = next_opened(&mut follow).await;
    let shown = asked(&first);
    let own = house.project().join(".venv/bin/fetch");
    assert_eq!(
        shown["programs"][0]["path"],
        own.to_string_lossy().as_ref(),
        "{shown}"
    );
    assert_eq!(shown["programs"][0]["own"], true, "{shown}");
    answer(&client, &allow_once(&first)).await.expect("a yes");
    let second = next_opened(&mut follow).await;
    assert_ne!(first.shown_hash, second.shown_hash);
    assert_eq!(asked(&second)["again"], true);
    assert!(!place.path().join("ran").exists(), "one yes is not enough");
    let no = decide(&second, ApprovalDecision::Deny);
    answer(&client, &no).await.expect("a no");
    to_rest(&mut from_the_start(&client, pid).await).await;
    assert!(!place.path().join("ran").exists());
    assert!(!place.path().join("trusted").exists());
}

#[tokio::test]
async fn program_that_the_agent_put_on_the_path_needs_two_approvals() {
    if bubblewrap_is_missing() {
        return;
    }
    check_asks_twice("fetch").await;
}

#[tokio::test]
async fn agent_program_behind_a_launcher_or_in_a_pipeline_needs_two_approvals() {
    if bubblewrap_is_missing() {
        return;
    }
    check_asks_twice("true | env X=1 sh -c 'fetch x'").await;
}

#[tokio::test]
async fn program_on_the_path_runs_after_two_approvals() {
    if bubblewrap_is_missing() {
        return;
    }
    let place = outside();
    let house = House::playing(&attack(place.path(), "fetch"));
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client, place.path(), ApprovalMode::Auto).await;
    let mut follow = from_the_start(&client, pid).await;
    for _ in 0..2 {
        let open = next_opened(&mut follow).await;
        answer(&client, &allow_once(&open)).await.expect("a yes");
    }
    to_rest(&mut from_the_start(&client, pid).await).await;
    assert!(place.path().join("ran").exists());
    assert_eq!(house.log(pid).check().results()[1].status, CallStatus::Ok);
}

#[tokio::test]
async fn program_that_appears_after_the_question_is_asked_about_again() {
    if bubblewrap_is_missing() {
        return;
    }
    let place = outside();
    let trusted = outside();
    program(
        &trusted.path().join("fetch"),
        &leaves(place.path(), "trusted"),
    );
    let house = House::playing(&Script::new().runs("fetch").says("Done."));
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client, trusted.path(), ApprovalMode::Auto).await;
    let mut follow = from_the_start(&client, pid).await;
    let open = next_opened(&mut follow).await;
    let shown = asked(&open);
    let there = trusted.path().join("fetch");
    assert_eq!(
        shown["programs"][0]["path"],
        there.to_string_lossy().as_ref(),
        "{shown}"
    );
    let venv = house.project().join(".venv/bin");
    assert_eq!(
        shown["left_out"][0],
        venv.to_string_lossy().as_ref(),
        "{shown}"
    );
    // The judge looks once more at the yes: the program that is there by then is asked about again.
    program(&venv.join("fetch"), &leaves(place.path(), "ran"));
    answer(&client, &allow_once(&open)).await.expect("a yes");
    let again = next_opened(&mut follow).await;
    assert_eq!(asked(&again)["programs"][0]["own"], true);
    let no = decide(&again, ApprovalDecision::Deny);
    answer(&client, &no).await.expect("a no");
    to_rest(&mut from_the_start(&client, pid).await).await;
    assert!(!place.path().join("ran").exists());
}

#[tokio::test]
async fn without_a_sandbox_a_reader_of_the_workspaces_own_is_asked_about() {
    let place = outside();
    let house = House::playing(&Script::new().runs("ls").says("Done."));
    house.turn_off_sandbox();
    house.daemon();
    program(
        &house.project().join(".venv/bin/ls"),
        &leaves(place.path(), "ran"),
    );
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client, place.path(), ApprovalMode::Ask).await;
    let open = first_opened(&client, pid).await;
    assert_eq!(asked(&open)["programs"][0]["own"], true);
    assert!(!place.path().join("ran").exists());
}

#[tokio::test]
async fn without_a_sandbox_the_file_that_make_obeys_is_shown_and_takes_two_yeses() {
    let house = House::playing(&Script::new().runs("make made").says("Done."));
    house.turn_off_sandbox();
    house.files("//- Makefile\nmade:\n\t@touch made\n");
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client, Path::new("/nowhere"), ApprovalMode::Ask).await;
    let mut follow = from_the_start(&client, pid).await;
    let first = next_opened(&mut follow).await;
    let shown = asked(&first);
    let makefile = house.project().join("Makefile");
    assert_eq!(
        shown["programs"][0]["path"],
        makefile.to_string_lossy().as_ref(),
        "{shown}"
    );
    assert_eq!(shown["programs"][0]["own"], true, "{shown}");
    answer(&client, &allow_once(&first)).await.expect("a yes");
    let second = next_opened(&mut follow).await;
    assert!(!house.project().join("made").exists());
    answer(&client, &allow_once(&second)).await.expect("a yes");
    to_rest(&mut from_the_start(&client, pid).await).await;
    assert!(house.project().join("made").exists());
}

#[tokio::test]
async fn without_a_sandbox_a_rule_that_allows_make_covers_the_projects_makefile() {
    let house = House::playing(&Script::new().runs("make made").says("Done."));
    house.settings("[permissions]\nallow = [\"Bash(make:*)\"]\n");
    house.turn_off_sandbox();
    house.files("//- Makefile\nmade:\n\t@touch made\n");
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client, Path::new("/nowhere"), ApprovalMode::Ask).await;
    to_rest(&mut from_the_start(&client, pid).await).await;
    assert!(house.project().join("made").exists());
}

#[tokio::test]
async fn the_daemons_own_bash_and_git_are_never_those_of_the_workspace() {
    let place = outside();
    let house = House::playing(&Script::new().runs("echo x > made").says("Done."));
    house.files("//- a\nx");
    // If the sandbox is off nothing hides their changes.
    house.turn_off_sandbox();
    let project = house.project();
    let init = std::process::Command::new("/usr/bin/git")
        .arg("init")
        .current_dir(&project)
        .output();
    assert!(init.expect("git").status.success());
    house.daemon();
    for name in ["bash", "git"] {
        let own = house.project().join(".venv/bin").join(name);
        program(
            &own,
            &format!(
                "{}exec /usr/bin/{name} \"$@\"\n",
                leaves(place.path(), name)
            ),
        );
    }
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client, place.path(), ApprovalMode::Yolo).await;
    to_rest(&mut from_the_start(&client, pid).await).await;
    assert_eq!(house.read("made").trim(), "x");
    for name in ["bash", "git"] {
        assert!(!place.path().join(name).exists(), "{name}");
    }
}
