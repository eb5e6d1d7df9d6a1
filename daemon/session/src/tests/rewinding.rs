//! Going back: files that tools and commands have changed, later changes by others, the conversation; and the
//! way forward again.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use proto::params::history::{RewindParams, What};
use proto::record::{FileState, RewoundResult};
use proto::{Body, ErrorName, Pid, RequestId};
use serde_json::json;
use workspace::{Workspace, WorkspaceOptions};

use super::workshop::{Programs, Workshop, has_git, results, run};
use checkpoint::Keeper;

fn sh(command: &str) -> (&'static str, serde_json::Value) {
    ("sh", json!({ "command": command }))
}

fn put(path: &str, content: &str) -> (&'static str, serde_json::Value) {
    ("put", json!({"path": path, "content": content}))
}

fn drop_(path: &str) -> (&'static str, serde_json::Value) {
    ("drop", json!({ "path": path }))
}

/// A project with some of everything: clean, changed and new files, a mode, a link, a directory with nothing in it.
async fn shop() -> Workshop {
    Workshop::open(has_git(), |project| {
        for (path, content) in [
            ("a.txt", "one\n"),
            ("src/main.rs", "fn main() {}\n"),
            ("src/deep/x", "x\r\n"),
            (".gitignore", "target/\n"),
            (".gitattributes", "* text=auto eol=lf\n"),
            ("private", "mine"),
        ] {
            let path = project.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let mode = |path: &str, mode| {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(project.join(path), mode).unwrap();
        };
        mode("private", 0o600);
        mode("src/deep/x", 0o755);
        std::fs::create_dir(project.join("empty")).unwrap();
        std::os::unix::fs::symlink("a.txt", project.join("link")).unwrap();
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rewind_restores_the_exact_tree_after_edits_by_tools_and_by_commands() {
    if !has_git() {
        return;
    }
    let mut shop = shop().await;
    // Changed before the session, and not committed.
    shop.write("a.txt", "one and a half\n");
    shop.write("untracked", "new here");
    shop.turn(&[]).await;
    let before = shop.tree();
    shop.turn(&[
        put("a.txt", "by a tool\n"),
        put("made/by/tool", "t"),
        sh(
            "echo more >> a.txt; echo c > made/by/command; rm -r src; mkdir src; echo n > src/new; \
            rm link; ln -s src link; rmdir empty; rm private untracked; mkdir -p void/within",
        ),
        put("src/new", "again"),
        drop_("made/by/command"),
        sh("mv src/new newer; chmod 755 a.txt; rm -r void; echo gone > private; chmod 640 private"),
    ])
    .await;
    let after = shop.tree();
    assert_ne!(before, after);

    let foretold = shop.handle.rewind(
        RewindParams {
            to_turn: Some(1),
            dry_run: true,
            ..RewindParams::default()
        },
        "ann".into(),
    );
    let foretold = foretold.await.unwrap();
    assert_eq!((foretold.seq, foretold.turn, foretold.turns), (None, 1, 1));
    assert_eq!(shop.tree(), after, "a dry run changes nothing");

    let reported = shop.rewind(1, What::Both).await;
    assert_eq!(reported.files, foretold.files);
    assert_eq!(shop.tree(), before, "{:?}", results(&shop, &reported));
    assert!(reported.notes.is_empty(), "{:?}", reported.notes);

    // The next life knows it all too.
    shop.restart().await;
    let reported = shop.undo().await;
    assert_eq!(shop.tree(), after, "{:?}", results(&shop, &reported));
    assert_eq!((reported.turn, reported.turns), (2, 1));

    shop.rewind(1, What::Code).await;
    assert_eq!(shop.tree(), before);
    run(
        &shop.project,
        "git fsck --strict && git diff --quiet --cached",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_changed_since_is_told_and_left_unless_forced() {
    let shop = shop().await;
    shop.turn(&[
        put("a.txt", "two\n"),
        put("dir/b.txt", "b\n"),
        put("c.txt", "c\n"),
    ])
    .await;
    shop.write("a.txt", "by a person\n");
    shop.write("dir/mine", "a person's");
    let reported = shop.rewind(0, What::Code).await;
    let result = |path: &str, reported: &_| {
        let results = results(&shop, reported);
        let found = results.into_iter().find(|(name, _)| name == path);
        found.map(|(_, result)| result)
    };
    assert_eq!(
        result("a.txt", &reported),
        Some(RewoundResult::ChangedSince)
    );
    assert_eq!(
        result("dir/b.txt", &reported),
        Some(RewoundResult::Restored)
    );
    assert_eq!(result("dir", &reported), Some(RewoundResult::ChangedSince));
    assert_eq!(result("c.txt", &reported), Some(RewoundResult::Restored));
    let tree = shop.tree();
    assert_eq!(tree["a.txt"], "644 by a person\n");
    assert_eq!(tree["dir/mine"], "644 a person's");
    assert!(!tree.contains_key("dir/b.txt") && !tree.contains_key("c.txt"));

    let forced = RewindParams {
        to_turn: Some(0),
        what: What::Code,
        force: true,
        ..RewindParams::default()
    };
    let reported = shop.handle.rewind(forced, "ann".into()).await.unwrap();
    assert_eq!(result("a.txt", &reported), Some(RewoundResult::Restored));
    assert_eq!(shop.tree()["a.txt"], "644 one\n");
    // Even forcibly removed changes come back.
    shop.undo().await;
    assert_eq!(shop.tree()["a.txt"], "644 by a person\n");
    // And then the rewind before it.
    shop.undo().await;
    let tree = shop.tree();
    assert_eq!(tree["a.txt"], "644 by a person\n");
    assert_eq!(tree["dir/b.txt"], "644 b\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rewind_of_the_conversation_leaves_files_and_shows_again_when_undone() {
    let shop = shop().await;
    shop.turn(&[]).await;
    shop.turn(&[put("a.txt", "two\n")]).await;
    let reported = shop.rewind(0, What::Conversation).await;
    assert_eq!((reported.turn, reported.turns), (0, 2));
    assert_eq!(shop.tree()["a.txt"], "644 two\n");
    assert!(reported.files.is_empty());
    shop.turn(&[]).await;
    let sent = shop.sent.lock().unwrap().last().unwrap().clone();
    assert!(!sent.contains("do 1 things"), "{sent}");
    assert!(
        sent.contains("Working directory"),
        "the opening is offered again"
    );
    let listed = shop.handle.checkpoints().await.unwrap();
    let turns: Vec<_> = listed.turns.iter().map(|turn| turn.turn).collect();
    assert_eq!((turns, listed.undo), (vec![3], true));
    let reported = shop.undo().await;
    assert_eq!(reported.turn, 2);
    let listed = shop.handle.checkpoints().await.unwrap();
    let turns: Vec<_> = listed.turns.iter().map(|turn| turn.turn).collect();
    assert_eq!((turns, listed.undo), (vec![1, 2], false));
    assert_eq!(listed.turns[1].files, ["a.txt"]);
    shop.turn(&[]).await;
    let sent = shop.sent.lock().unwrap().last().unwrap().clone();
    assert!(sent.contains("do 1 things"), "{sent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_checkpoint_is_on_disk_before_the_call_and_a_file_is_kept_once_a_turn() {
    let shop = shop().await;
    shop.turn(&[
        put("a.txt", "two\n"),
        put("a.txt", "three\n"),
        sh("echo 4 > a.txt"),
        sh("echo 5 > a.txt"),
    ])
    .await;
    let records = shop.records();
    let mut kept = Vec::new();
    for pair in records.windows(2) {
        if let Body::CheckpointCreated(checkpoint) = &pair[0].body {
            kept.push(checkpoint.clone());
            let Body::ToolStarted(started) = &pair[1].body else {
                panic!("{:?} comes after a checkpoint", pair[1].body);
            };
            assert_eq!(checkpoint.call.as_ref(), Some(&started.call));
        }
    }
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(matches!(
        kept[0].files[0].was,
        FileState::File { bytes: 4, .. }
    ));
    assert_eq!(kept[1].tree.is_some(), has_git());
    assert_eq!(kept[1].skipped.is_none(), has_git());
    let changed = records.iter().filter_map(|record| match &record.body {
        Body::ToolFinished(finished) => Some(finished.changed.len()),
        _ => None,
    });
    let each = if has_git() { 1 } else { 0 };
    assert_eq!(changed.collect::<Vec<_>>(), [1, 1, each, each]);
    shop.rewind(0, What::Code).await;
    if has_git() {
        assert_eq!(shop.tree()["a.txt"], "644 one\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_git_work_tree_is_noted_once_per_turn_and_commands_not_undone() {
    let shop = Workshop::open(false, |project| {
        std::fs::write(project.join("a.txt"), "one\n").unwrap();
    })
    .await;
    shop.turn(&[sh("echo 2 > a.txt"), put("b", "b"), sh("echo 3 > b")])
        .await;
    let listed = shop.handle.checkpoints().await.unwrap();
    assert_eq!(listed.turns[0].notes.len(), 1, "{:?}", listed.turns);
    let reported = shop.rewind(0, What::Both).await;
    assert!(
        reported.notes[0].contains("not a git work tree"),
        "{:?}",
        reported.notes
    );
    assert_eq!(
        shop.tree()["a.txt"],
        "644 2\n",
        "nobody knows its earlier content"
    );
    // A command has changed it since the tool did: nobody saw that.
    assert_eq!(results(&shop, &reported)[0].1, RewoundResult::ChangedSince);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_files_and_whole_directories_come_back() {
    let shop = shop().await;
    let large = "0123456789abcdef".repeat(20_000);
    shop.write("src/large", &large);
    let before = shop.tree();
    shop.turn(&[
        drop_("src/large"),
        ("move", json!({"source": "src", "destination": "moved"})),
        drop_("link"),
        put("moved/main.rs", "changed"),
    ])
    .await;
    assert_ne!(shop.tree(), before);
    let reported = shop.rewind(0, What::Both).await;
    assert_eq!(shop.tree(), before, "{:?}", results(&shop, &reported));
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_rewind_request_runs_once() {
    let shop = shop().await;
    shop.turn(&[put("a.txt", "two\n")]).await;
    let request = RewindParams {
        to_turn: Some(0),
        request_id: Some(RequestId::new()),
        ..RewindParams::default()
    };
    let first = shop
        .handle
        .rewind(request.clone(), "ann".into())
        .await
        .unwrap();
    shop.write("a.txt", "by a person");
    let again = shop
        .handle
        .rewind(request.clone(), "ann".into())
        .await
        .unwrap();
    assert_eq!(first, again);
    assert_eq!(shop.tree()["a.txt"], "644 by a person");
    let other = RewindParams {
        what: What::Code,
        ..request
    };
    let refused = shop.handle.rewind(other, "ann".into()).await.unwrap_err();
    assert_eq!(refused.name, ErrorName::RequestIdReused);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_rewind_requests_are_refused_and_the_session_continues() {
    let shop = shop().await;
    shop.turn(&[]).await;
    let refused = async |params: RewindParams| {
        let refused = shop.handle.rewind(params, "ann".into()).await;
        refused.unwrap_err().name
    };
    let nothing = RewindParams::default();
    assert_eq!(refused(nothing.clone()).await, ErrorName::InvalidParams);
    let undo = RewindParams {
        undo: true,
        ..nothing.clone()
    };
    assert_eq!(refused(undo.clone()).await, ErrorName::NotFound);
    let both = RewindParams {
        to_turn: Some(0),
        ..undo
    };
    assert_eq!(refused(both).await, ErrorName::InvalidParams);
    let unknown = RewindParams {
        to_turn: Some(7),
        ..nothing
    };
    assert_eq!(refused(unknown).await, ErrorName::NotFound);
    shop.turn(&[]).await;
    assert_eq!(shop.handle.checkpoints().await.unwrap().turns.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn rewind_keeps_a_previously_ignored_file_that_is_no_longer_ignored() {
    if !has_git() {
        return;
    }
    let shop = shop().await;
    std::fs::create_dir(shop.project.join("target")).unwrap();
    shop.write("target/built", "long ago");
    shop.turn(&[
        sh("rm .gitignore; echo n > new"),
        sh("echo touched > target/built"),
    ])
    .await;
    let reported = shop.rewind(0, What::Code).await;
    let tree = shop.tree();
    assert_eq!(
        tree["target/built"],
        "644 touched\n",
        "{:?}",
        results(&shop, &reported)
    );
    assert!(tree.contains_key(".gitignore") && !tree.contains_key("new"));
    let failed = results(&shop, &reported)
        .into_iter()
        .filter(|(_, result)| matches!(result, RewoundResult::Failed { .. }));
    let failed: Vec<_> = failed.map(|(path, _)| path).collect();
    assert_eq!(failed, ["target/built"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_file_too_large_for_a_checkpoint_needs_approval() {
    let shop = shop().await;
    let large = std::fs::File::create(shop.project.join("large")).unwrap();
    large.set_len(51 * 1024 * 1024).unwrap();
    drop(large);
    shop.turn(&[drop_("large"), put("a.txt", "two")]).await;
    let asked = shop.records().into_iter().any(|record| {
        matches!(&record.body, Body::PolicyDecided(decided)
            if decided.rule.contains("cannot be saved in a checkpoint") && decided.unattended.is_some())
    });
    assert!(asked, "it was not asked about");
    assert!(shop.project.join("large").exists());
    let reported = shop.rewind(0, What::Code).await;
    let all = [("a.txt".to_owned(), RewoundResult::Restored)];
    assert_eq!(results(&shop, &reported), all);
}

/// A command that runs in the background, or may: nobody knows which files it changes.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_in_the_background_keeps_files_from_going_back() {
    let mut house = super::house::begin(r#"{"text":"one"}"#, "first");
    house.gate.open();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    house
        .handle
        .wait(proto::params::session::Until::Turn)
        .await
        .unwrap();
    house.shells.spawned(super::house::a_child());
    super::house::until("the child is shown", || {
        house.handle.summary().children == 1
    })
    .await;
    let request = |what, dry_run| RewindParams {
        to_turn: Some(0),
        what,
        dry_run,
        ..RewindParams::default()
    };
    let rewind = async |what, dry_run| {
        house
            .handle
            .rewind(request(what, dry_run), "ann".into())
            .await
    };
    let refused = rewind(What::Both, false).await.unwrap_err();
    assert_eq!(refused.name, ErrorName::Busy);
    assert!(refused.hint.contains("reasonix kill 7"), "{}", refused.hint);
    assert!(rewind(What::Both, true).await.is_ok());
    assert!(rewind(What::Conversation, false).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn rewind_is_refused_while_a_turn_runs() {
    let house = super::house::begin(
        r#"{"tool_calls":[{"name":"mark","arguments":{"command":"rm x"}}]}"#,
        "first",
    );
    house.script.leave.forget_permits(1_000);
    house.gate.open();
    let runs = std::sync::Arc::clone(&house.runs);
    super::house::until("the call runs", || !runs.lock().unwrap().is_empty()).await;
    let request = RewindParams {
        to_turn: Some(0),
        ..RewindParams::default()
    };
    let refused = house
        .handle
        .rewind(request, "ann".into())
        .await
        .unwrap_err();
    assert_eq!(refused.name, ErrorName::Busy);
    house.script.leave.add_permits(1);
}

#[tokio::test(flavor = "multi_thread")]
async fn forced_rewind_reverts_the_changes_of_an_interrupted_command() {
    if !has_git() {
        return;
    }
    let shop = shop().await;
    let before = shop.tree();
    let begun = shop.project.join("begun");
    shop.begin_turn(&[sh(
        "echo cut > a.txt; rm private; echo b > begun; exec sleep 6",
    )])
    .await;
    super::house::until("the command runs", || begun.exists()).await;
    let stop = proto::params::session::Signal::Int;
    shop.handle.signal(stop, None, "ann".into()).await.unwrap();
    shop.handle
        .wait(proto::params::session::Until::Turn)
        .await
        .unwrap();
    let reported = shop.rewind(0, What::Code).await;
    assert!(
        reported.notes[0].contains("was interrupted"),
        "{:?}",
        reported.notes
    );
    let left = results(&shop, &reported);
    assert!(
        left.iter()
            .all(|(_, result)| *result == RewoundResult::ChangedSince)
    );
    assert_ne!(shop.tree(), before);
    let forced = RewindParams {
        to_turn: Some(0),
        what: What::Code,
        force: true,
        ..RewindParams::default()
    };
    let reported = shop.handle.rewind(forced, "ann".into()).await.unwrap();
    assert_eq!(shop.tree(), before, "{:?}", results(&shop, &reported));
}

/// A keeper beside the session's own, and the project's path.
fn keeper(shop: &Workshop, programs: Programs) -> Arc<Keeper> {
    let workspace = Workspace::open(WorkspaceOptions {
        root: shop.project.clone(),
        cwd: shop.project.clone(),
        user_home: "/nonexistent".into(),
        ..WorkspaceOptions::default()
    });
    let workspace = Arc::new(workspace.unwrap());
    let dir = shop.project.parent().unwrap().join("keeper");
    std::fs::create_dir(&dir).unwrap();
    Arc::new(Keeper::new(Pid(1), &dir, workspace, Arc::new(programs)))
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_git_snapshots_are_serialised_and_complete() {
    if !has_git() {
        return;
    }
    let shop = shop().await;
    let programs = Programs::default();
    let running = Arc::clone(&programs.running);
    let keeper = keeper(&shop, programs);
    let path = std::env::var("PATH").unwrap();
    let start = Arc::new(std::sync::Barrier::new(4));
    let asking = (0..4).map(|number| {
        let (keeper, path, start) = (Arc::clone(&keeper), path.clone(), Arc::clone(&start));
        let changes = shop.project.join(format!("new-{number}"));
        tokio::task::spawn_blocking(move || {
            start.wait();
            for round in 0..6 {
                std::fs::write(&changes, format!("{round}")).unwrap();
                let (_, kept) = keeper.before_command(&path, false);
                let record = kept.unwrap().record;
                let tree = record
                    .tree
                    .unwrap_or_else(|| panic!("{:?}", record.skipped));
                let entries = keeper.entries(&path, &tree).unwrap();
                for name in ["a.txt", "src/main.rs", "private", "link"] {
                    let entry = &entries[std::path::Path::new(name)];
                    let take = |_: &_, held: Option<_>| assert!(held.is_some(), "{name}");
                    let entry = std::slice::from_ref(entry);
                    keeper.read_contents(&path, entry, take).unwrap();
                }
            }
        })
    });
    for asked in asking.collect::<Vec<_>>() {
        asked.await.unwrap();
    }
    assert_eq!(*running.lock().unwrap(), (0, 1));
    let left = std::fs::read_dir(keeper.dir().join("checkpoint.git")).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left
        .filter(|name| name.to_string_lossy().starts_with("input"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rewind_fails_for_a_file_whose_git_object_is_gone_and_keeps_it() {
    if !has_git() {
        return;
    }
    let shop = shop().await;
    shop.turn(&[sh("echo two > a.txt")]).await;
    // Where the object of `one` is stored, wherever it was put.
    let session = shop.home.session_dir(shop.handle.id());
    let line = format!(
        "name=$(git rev-parse HEAD:a.txt); rest=${{name#??}}; \
        find .git/objects '{}/checkpoint.git/objects' -name \"$rest\" -exec rm -f {{}} +",
        session.display()
    );
    run(&shop.project, &line);
    let reported = shop.rewind(0, What::Code).await;
    let why = "git no longer has it".to_owned();
    let all = [("a.txt".to_owned(), RewoundResult::Failed { why })];
    assert_eq!(results(&shop, &reported), all);
    assert_eq!(shop.tree()["a.txt"], "644 two\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_of_the_project_is_never_taken_for_git() {
    if !has_git() {
        return;
    }
    let shop = shop().await;
    run(
        &shop.project,
        "mkdir bin; printf '#!/bin/sh\\ntouch ran\\nexit 1\\n' > bin/git; chmod 755 bin/git; cp bin/git git",
    );
    let keeper = keeper(&shop, Programs::default());
    let path = format!("bin::.:{}", std::env::var("PATH").unwrap());
    let none = Arc::clone(&keeper);
    let asked = move || (keeper.entries_now(&path), none.entries_now("bin:.:"));
    let (found, nothing) = tokio::task::spawn_blocking(asked).await.unwrap();
    assert!(!shop.project.join("ran").exists());
    assert!(found.unwrap().contains_key(std::path::Path::new("bin/git")));
    assert_eq!(nothing, Err("`git` is not on PATH".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn file_rewind_also_reverts_turns_hidden_by_a_conversation_rewind() {
    let shop = shop().await;
    shop.turn(&[]).await;
    shop.turn(&[put("a.txt", "two\n"), put("b.txt", "b\n")])
        .await;
    shop.rewind(1, What::Conversation).await;
    shop.turn(&[put("a.txt", "three\n")]).await;
    let reported = shop.rewind(1, What::Both).await;
    assert_eq!(reported.turns, 1);
    let tree = shop.tree();
    assert_eq!(tree["a.txt"], "644 one\n");
    assert!(!tree.contains_key("b.txt"));
    // Files that are back already stay.
    let reported = shop.rewind(1, What::Code).await;
    let mut all = results(&shop, &reported).into_iter();
    assert!(all.all(|(_, result)| result == RewoundResult::Same));
    shop.undo().await;
    shop.undo().await;
    assert_eq!(shop.tree()["a.txt"], "644 three\n");
}

#[tokio::test]
async fn an_empty_file_and_one_that_was_just_saved_are_kept_as_well() {
    if !has_git() {
        return;
    }
    let shop = Workshop::open(true, |_| {}).await;
    shop.write("a", "");
    shop.write("b", "text\n");
    let before = shop.tree();
    shop.turn(&[sh("echo other > b; echo q > q; rm a")]).await;
    let skipped = shop
        .records()
        .into_iter()
        .find_map(|record| match record.body {
            Body::CheckpointCreated(checkpoint) => checkpoint.skipped,
            _ => None,
        });
    assert_eq!(skipped, None);
    shop.rewind(0, What::Code).await;
    assert_eq!(shop.tree(), before);
}
