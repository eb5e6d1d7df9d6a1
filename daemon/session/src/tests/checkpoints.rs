//! What a command may change, seen as git sees it: tracked files whatever is ignored, names that are no text, rules that
//! the command itself has changed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use proto::params::history::What;
use proto::record::RewoundResult;
use serde_json::json;

use super::workshop::{Workshop, has_git, results, run};

fn sh(command: &str) -> (&'static str, serde_json::Value) {
    ("sh", json!({ "command": command }))
}

/// A project with a file that is tracked and ignored, and one beside it that is only ignored.
async fn shop() -> Workshop {
    let shop = Workshop::open(true, |project| {
        std::fs::create_dir_all(project.join("dist/deep")).unwrap();
        for (path, content) in [
            (".gitignore", "dist/\n"),
            ("a.c", "one\n"),
            ("dist/a", "old\n"),
            ("dist/deep/b", "old\n"),
            ("dist/other", "mine\n"),
        ] {
            std::fs::write(project.join(path), content).unwrap();
        }
    })
    .await;
    run(&shop.project, "git add -f dist/a dist/deep/b");
    shop
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tracked_file_goes_back_whatever_is_ignored() {
    if !has_git() {
        return;
    }
    let shop = shop().await;
    let before = shop.tree();
    shop.turn(&[
        sh("echo new > dist/a; rm -r dist/deep; echo n > dist/new"),
        sh("echo newer > dist/a; git rm -q --cached dist/a; echo 2 > dist/a"),
    ])
    .await;
    let reported = shop.rewind(0, What::Both).await;
    assert_eq!(
        results(&shop, &reported),
        [
            ("dist/a".to_owned(), RewoundResult::Restored),
            ("dist/deep".to_owned(), RewoundResult::Restored),
            ("dist/deep/b".to_owned(), RewoundResult::Restored),
        ]
    );
    assert!(reported.notes.is_empty(), "{:?}", reported.notes);
    let mut after = shop.tree();
    // It was ignored when it came.
    assert_eq!(after.remove("dist/new").as_deref(), Some("644 n\n"));
    assert_eq!(after, before);
    shop.undo().await;
    assert_eq!(shop.tree()["dist/a"], "644 2\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn rewind_does_not_note_untracked_ignored_files_that_did_not_change() {
    if !has_git() {
        return;
    }
    let shop = shop().await;
    shop.turn(&[sh(
        "echo '*.c' >> .gitignore; git rm -q --cached dist/a a.c; echo 2 > dist/other",
    )])
    .await;
    let reported = shop.rewind(0, What::Code).await;
    assert_eq!(
        results(&shop, &reported),
        [(".gitignore".to_owned(), RewoundResult::Restored)]
    );
    assert!(reported.notes.is_empty(), "{:?}", reported.notes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_a_file_whose_name_is_no_text_is_told() {
    if !has_git() {
        return;
    }
    let shop = shop().await;
    let cafe = shop.project.join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::write(&cafe, "old").unwrap();
    // It is there, and nothing happens to it.
    shop.turn(&[sh("echo two > a.c")]).await;
    // What happens to it, and to one that is new.
    shop.turn(&[sh(
        "for f in caf*; do echo new > \"$f\"; done; mkdir d; touch d/$(printf 'n\\351w')",
    )])
    .await;
    let listed = shop.handle.checkpoints().await.unwrap();
    assert!(listed.turns[0].notes.is_empty(), "{:?}", listed.turns);
    let reported = shop.rewind(0, What::Both).await;
    assert_eq!(
        reported.notes,
        [
            "Turn 2: Call of `sh`: no checkpoint for changes to files whose names are not text (\"caf\\xE9\", \"d/n\\xE9w\")."
        ]
    );
    assert_eq!(shop.tree()["a.c"], "644 one\n");
    assert_eq!(std::fs::read(&cafe).unwrap(), b"new\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn file_created_together_with_its_ignore_rule_is_noted_by_rewind() {
    if !has_git() {
        return;
    }
    let shop = shop().await;
    shop.turn(&[sh("echo '*.c' >> .gitignore; echo two > a.c; echo c > c.c")])
        .await;
    shop.turn(&[sh(
        "echo out > .git/info/exclude; mkdir out; echo 1 > out/x",
    )])
    .await;
    let reported = shop.rewind(0, What::Both).await;
    let note = |turn: u64, name: &str| {
        format!(
            "Turn {turn}: Call of `sh`: no checkpoint for changes to files that git ignores (\"{name}\")."
        )
    };
    assert_eq!(reported.notes, [note(1, "c.c"), note(2, "out")]);
    let tree = shop.tree();
    assert_eq!(tree["a.c"], "644 one\n");
    assert_eq!(tree[".gitignore"], "644 dist/\n");
    assert_eq!(tree["c.c"], "644 c\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn file_no_longer_ignored_is_checkpointed_by_later_turns() {
    if !has_git() {
        return;
    }
    let shop = shop().await;
    shop.turn(&[sh("echo two > a.c")]).await;
    run(&shop.project, "git add -f dist/other");
    shop.turn(&[sh("echo yours > dist/other")]).await;
    run(
        &shop.project,
        "git rm -q --cached dist/other; rm .gitignore",
    );
    shop.turn(&[sh("echo theirs > dist/other")]).await;
    let other = || shop.tree()["dist/other"].clone();
    shop.rewind(2, What::Both).await;
    assert_eq!(other(), "644 yours\n");
    shop.rewind(1, What::Both).await;
    assert_eq!(other(), "644 mine\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tracked_file_among_very_many_ignored_ones_is_told() {
    if !has_git() {
        return;
    }
    let shop = shop().await;
    for number in 0..1_000 {
        shop.write(&format!("dist/many-{number}"), "");
    }
    shop.turn(&[sh("echo new > dist/a; echo two > a.c")]).await;
    let reported = shop.rewind(0, What::Both).await;
    assert_eq!(
        results(&shop, &reported),
        [("a.c".to_owned(), RewoundResult::Restored)]
    );
    assert_eq!(
        reported.notes,
        [
            "Turn 1: Call of `sh`: no checkpoint for changes to tracked files among very many ignored ones (\"dist/a\")."
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn rewind_notes_what_is_not_undone_if_the_git_index_is_unreadable() {
    if !has_git() {
        return;
    }
    let shop = shop().await;
    shop.write(".git/index", "no index");
    shop.turn(&[sh("echo new > dist/a; echo two > a.c")]).await;
    let reported = shop.rewind(0, What::Both).await;
    assert_eq!(
        results(&shop, &reported),
        [("a.c".to_owned(), RewoundResult::Restored)]
    );
    assert_eq!(
        reported.notes,
        [
            "Turn 1: Changes by commands to files that git both tracks and ignores cannot be undone: git's index has an unsupported format."
        ]
    );
}
