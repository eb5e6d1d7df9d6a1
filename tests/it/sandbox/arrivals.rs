//! Protected names that come while commands run: moved away, reported, and put back only if the user says so.

use std::fs;
use std::path::{Path, PathBuf};

use client::Client;
use proto::hello::Role;
use proto::methods::SessionCreate;
use proto::params::interaction::{ApprovalDecision, Interaction};
use proto::state::ApprovalMode;
use proto::{Body, Pid};
use serde_json::json;
use testkit::Script;
use tests::follow::{from_the_start, to, to_rest};
use tests::interactions::{allow_once, answer, approval, decide, first_opened};
use tests::until;

use super::SandboxHouse;

/// A script that policy cannot see through, and that makes three protected files.
const MAKES: &str = "mkdir .vscode && echo x > .vscode/tasks.json && echo x > .mcp.json && touch made\na=.zsh; echo x > ${a}env\n";

async fn begun(place: &SandboxHouse, client: &Client, script: &Script) -> Pid {
    place.house.cassette(&script.jsonl());
    let mut params = place.house.create("make it");
    params.options.approval_mode = Some(ApprovalMode::Auto);
    let created = client.call::<SessionCreate>(&params).await;
    created.expect("create").pid
}

/// The question about these names.
async fn asked(client: &Client, pid: Pid, names: &[PathBuf]) -> Interaction {
    let open = first_opened(client, pid).await;
    let mut paths: Vec<_> = approval(&open)
        .quarantined
        .iter()
        .map(|item| PathBuf::from(&item.path))
        .collect();
    paths.sort();
    assert_eq!(paths, names, "{open:?}");
    assert!(approval(&open).escape.is_none() && approval(&open).scopes.is_empty());
    assert!(
        !approval(&open).editable,
        "the question is not about the command's text"
    );
    open
}

/// The notices of a session that name this path.
fn notices(place: &SandboxHouse, pid: Pid, path: &Path) -> Vec<String> {
    let bodies = place.house.log(pid).bodies().into_iter();
    let texts = bodies.filter_map(|body| match body {
        Body::Notice(notice) => Some(notice.text),
        _ => None,
    });
    let name = path.display().to_string();
    texts.filter(|text| text.contains(&name)).collect()
}

#[test]
fn quarantined_files_of_a_command_are_restored_only_after_approval() {
    for place in SandboxHouse::all() {
        let house = &place.house;
        let names =
            [".mcp.json", ".vscode/tasks.json", ".zshenv"].map(|name| house.project().join(name));
        let command = place.script("makes", MAKES);
        let script = Script::new().runs(&command).says("Done.");
        for yes in [false, true] {
            house.block_on(async {
                let client = house.client("ann", Role::Drive).await;
                let pid = begun(&place, &client, &script).await;
                let open = asked(&client, pid, &names).await;
                assert!(names.iter().all(|name| !name.exists()), "{}", place.layer);
                let decision = match yes {
                    true => allow_once(&open),
                    false => decide(&open, ApprovalDecision::Deny),
                };
                answer(&client, &decision).await.expect("an answer");
                to_rest(&mut from_the_start(&client, pid).await).await;
                assert!(names.iter().all(|name| name.exists() == yes), "{yes}");
                for item in &approval(&open).quarantined {
                    let kept = PathBuf::from(item.kept.as_deref().expect("its place"));
                    assert!(kept.starts_with(house.home()), "{}", kept.display());
                    assert_eq!(kept.exists(), !yes, "{}", kept.display());
                    let reports = notices(&place, pid, Path::new(&item.path));
                    assert_eq!(reports.len(), 1, "{reports:?}");
                    assert!(reports[0].contains("To take it back: mv "), "{reports:?}");
                }
                let log = house.log(pid);
                let results = log.check().results();
                assert_eq!(results.len(), 1, "it ran once");
                let word = if yes { "put back." } else { "said no" };
                assert!(results[0].text.contains(word), "{}", results[0].text);
            });
            fs::remove_dir_all(house.project().join(".vscode")).expect("remove it");
            fs::remove_file(house.project().join("made")).expect("remove it");
        }
    }
}

#[test]
fn quarantined_file_of_a_background_command_is_reported_before_approval() {
    for place in SandboxHouse::all() {
        let house = &place.house;
        let name = house.project().join(".mcp.json");
        let command = place.script(
            "later",
            "until test -e go; do sleep 0.01; done; echo x > .mcp.json; exec sleep 600\n",
        );
        let wait = place.script("wait", "touch go; until test -e ask; do sleep 0.01; done\n");
        let script = Script::new()
            .calls(
                "bash",
                &json!({"command": command, "run_in_background": true}),
            )
            .runs(&wait)
            .says("Done.");
        house.block_on(async {
            let client = house.client("ann", Role::Drive).await;
            let pid = begun(&place, &client, &script).await;
            let mut follow = from_the_start(&client, pid).await;
            to(&mut follow, "the notice", |event| event.kind == "notice").await;
            assert!(!name.exists(), "{}", place.layer);
            assert_eq!(notices(&place, pid, &name).len(), 1);
            fs::write(house.project().join("ask"), "").expect("go on");
            let open = asked(&client, pid, std::slice::from_ref(&name)).await;
            answer(&client, &allow_once(&open)).await.expect("a yes");
            to_rest(&mut from_the_start(&client, pid).await).await;
            assert!(name.exists(), "{}", place.layer);
        });
        fs::remove_file(&name).expect("remove it");
    }
}

#[test]
fn protected_file_written_while_the_daemon_is_dead_is_moved_away_at_restart() {
    for place in SandboxHouse::all() {
        let house = &place.house;
        let command = place.script("waits", "touch ready; sleep 600\n");
        let script = Script::new().runs(&command).says("Done.");
        house.block_on(async {
            let client = house.client("ann", Role::Drive).await;
            begun(&place, &client, &script).await;
        });
        until("the command to run", || {
            house.project().join("ready").exists().then_some(())
        });
        house.kill_daemon_and_parent();
        let name = house.project().join(".mcp.json");
        fs::write(&name, "late").expect("nobody watches");
        house.daemon();
        until("it to be moved away", || (!name.exists()).then_some(()));
        until("the notice", || {
            (notices(&place, Pid(1), &name).len() == 1).then_some(())
        });
    }
}

#[test]
fn repository_with_a_non_utf_8_name_does_not_block_the_next_command() {
    for place in SandboxHouse::all() {
        let house = &place.house;
        let makes = "n=$(printf 'n\\377') && mkdir \"$n\" && git init -q \"$n\"";
        let script = Script::new()
            .runs(makes)
            .runs("echo again > made")
            .says("Done.");
        house.block_on(async {
            let client = house.client("ann", Role::Drive).await;
            let pid = begun(&place, &client, &script).await;
            to_rest(&mut from_the_start(&client, pid).await).await;
            let made = fs::read_to_string(house.project().join("made"));
            let results = house.log(pid).results();
            assert_eq!(made.unwrap_or_default(), "again\n", "{results:?}");
            let mut names = fs::read_dir(house.project())
                .expect("the project")
                .flatten();
            assert!(names.any(|entry| entry.file_name().to_str().is_none()));
        });
        fs::remove_dir_all(house.project()).expect("removed");
        fs::create_dir(house.project()).expect("made again");
    }
}

#[test]
fn new_repository_below_the_root_that_runs_something_is_moved_away() {
    for place in SandboxHouse::all() {
        let house = &place.house;
        let nested = house.project().join("a/nested/.git");
        let bare = house.project().join("src/config");
        let command = place.script(
            "nested",
            "mkdir -p a src/refs src/objects && git init -q a/plain && git init -q a/nested && d=hoo && mkdir -p a/nested/.git/${d}ks
             printf '#!/bin/sh\\n' > a/nested/.git/${d}ks/pre-commit && chmod +x a/nested/.git/${d}ks/pre-commit
             echo 'ref: refs/heads/main' > src/HEAD && printf '[core]\\n\\tfsmonitor = touch x\\n' > src/config\n",
        );
        let script = Script::new().runs(&command).says("Done.");
        house.block_on(async {
            let client = house.client("ann", Role::Drive).await;
            let pid = begun(&place, &client, &script).await;
            let names = [nested.clone(), bare.clone()];
            let open = asked(&client, pid, &names).await;
            assert!(names.iter().all(|name| !name.exists()), "{}", place.layer);
            let no = decide(&open, ApprovalDecision::Deny);
            answer(&client, &no).await.expect("an answer");
            to_rest(&mut from_the_start(&client, pid).await).await;
            assert!(names.iter().all(|name| !name.exists()), "{}", place.layer);
            assert!(house.project().join("a/plain/.git/HEAD").exists());
        });
    }
}
