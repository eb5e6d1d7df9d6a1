//! Scenes: somebody else at work on the files.

use contract::ToolMemory;
use serde_json::json;

use super::super::known::CONTENT_MAX;
use crate::scene::Scene;
use crate::truncate::tokens;

const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";

/// Writes as another program would; the date differs surely.
fn meddle(scene: &Scene, name: &str, content: &str) {
    let path = scene.put(name, content);
    let file = std::fs::File::options().write(true).open(path).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    file.set_modified(later).unwrap();
}

async fn read(scene: &Scene, name: &str) {
    scene.ok("read_file", json!({ "path": name })).await;
}

#[tokio::test]
async fn a_change_by_others_is_reported_once_with_its_diff_and_the_file_must_be_read_again() {
    let scene = Scene::new();
    scene.put("a", TEN);
    assert_eq!(
        scene
            .memory
            .describe_external_changes()
            .map(|reported| reported.text),
        None,
        "nothing was read"
    );
    read(&scene, "a").await;
    assert_eq!(
        scene
            .memory
            .describe_external_changes()
            .map(|reported| reported.text),
        None
    );
    meddle(&scene, "a", &TEN.replace("6\n", "six\n"));
    assert_eq!(
        scene
            .memory
            .describe_external_changes()
            .map(|reported| reported.text)
            .unwrap(),
        "`a` changed:\n@@ -3,7 +3,7 @@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n 9"
    );
    assert_eq!(
        scene
            .memory
            .describe_external_changes()
            .map(|reported| reported.text),
        None
    );
    let edit = json!({"path": "a", "old_string": "six", "new_string": "6"});
    let text = scene.fails("edit_file", edit.clone()).await;
    assert!(
        text.contains("was changed since it was last read"),
        "{text}"
    );
    // The next change is compared with the reported state.
    meddle(&scene, "a", &TEN.replace("6\n", "six!\n"));
    let note = scene
        .memory
        .describe_external_changes()
        .map(|reported| reported.text)
        .unwrap();
    assert!(note.contains("-six\n+six!\n"), "{note}");
    meddle(&scene, "a", TEN);
    let note = scene
        .memory
        .describe_external_changes()
        .map(|reported| reported.text)
        .unwrap();
    assert_eq!(note, "`a` is back as you know it");
    meddle(&scene, "a", &TEN.replace("6\n", "six\n"));
    read(&scene, "a").await;
    scene.ok("edit_file", edit).await;
    assert_eq!(
        scene
            .memory
            .describe_external_changes()
            .map(|reported| reported.text),
        None,
        "its own edit"
    );
}

#[tokio::test]
async fn short_file_shown_completely_in_a_note_must_still_be_read_before_an_edit() {
    for (tool, arguments) in [
        (
            "edit_file",
            json!({"path": "a", "old_string": "one", "new_string": "1"}),
        ),
        (
            "multi_edit",
            json!({"path": "a", "edits": [{"old_string": "one", "new_string": "1"}]}),
        ),
        ("write_file", json!({"path": "a", "content": "mine\n"})),
        ("delete_file", json!({"path": "a"})),
        (
            "move_file",
            json!({"source": "b", "destination": "a", "overwrite": true}),
        ),
        (
            "copy_file",
            json!({"source": "b", "destination": "a", "overwrite": true}),
        ),
    ] {
        let scene = Scene::new();
        scene.put("a", "one\n");
        scene.put("b", "other\n");
        read(&scene, "a").await;
        read(&scene, "b").await;
        meddle(&scene, "a", "one\ntwo\n");
        // Checked before the call runs, and reported only with its result: the model decided without it.
        assert_eq!(
            scene
                .memory
                .describe_external_changes()
                .map(|reported| reported.text)
                .unwrap(),
            "`a` changed:\n@@ -1 +1,2 @@\n one\n+two"
        );
        let text = scene.fails(tool, arguments.clone()).await;
        assert!(text.contains("changed since"), "{tool}: {text}");
        assert_eq!(scene.content("a"), "one\ntwo\n", "{tool}");
        read(&scene, "a").await;
        scene.ok(tool, arguments).await;
    }
}

#[tokio::test]
async fn new_modification_time_is_not_a_change() {
    let scene = Scene::new();
    scene.put("a", TEN);
    read(&scene, "a").await;
    meddle(&scene, "a", TEN);
    assert_eq!(
        scene
            .memory
            .describe_external_changes()
            .map(|reported| reported.text),
        None
    );
}

#[tokio::test]
async fn a_deleted_file_is_reported_once_and_once_more_when_it_is_back() {
    let scene = Scene::new();
    let path = scene.put("a", TEN);
    read(&scene, "a").await;
    std::fs::remove_file(path).unwrap();
    assert_eq!(
        scene
            .memory
            .describe_external_changes()
            .map(|reported| reported.text)
            .as_deref(),
        Some("`a` was deleted")
    );
    assert_eq!(
        scene
            .memory
            .describe_external_changes()
            .map(|reported| reported.text),
        None
    );
    meddle(&scene, "a", &TEN.replace("12\n", ""));
    let note = scene
        .memory
        .describe_external_changes()
        .map(|reported| reported.text)
        .unwrap();
    assert!(note.contains("-12"), "{note}");
}

/// The text of a report, if there is any.
fn report(scene: &Scene) -> Option<String> {
    let reported = scene.memory.describe_external_changes();
    reported.map(|reported| reported.text)
}

#[tokio::test]
async fn a_file_that_is_back_as_it_was_is_reported_once() {
    let scene = Scene::new();
    let path = scene.put("a", TEN);
    let away = path.with_extension("away");
    read(&scene, "a").await;
    // Moved there and back it has the same date; written again it has another.
    std::fs::rename(&path, &away).unwrap();
    assert_eq!(report(&scene).as_deref(), Some("`a` was deleted"));
    std::fs::rename(&away, &path).unwrap();
    assert_eq!(
        report(&scene).as_deref(),
        Some("`a` is back as you know it")
    );
    assert_eq!(report(&scene), None);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(report(&scene).as_deref(), Some("`a` was deleted"));
    meddle(&scene, "a", TEN);
    let reported = scene.memory.describe_external_changes().unwrap();
    assert_eq!(reported.text, "`a` is back as you know it");
    assert_eq!(report(&scene), None);
    // The next change is compared with what is known.
    meddle(&scene, "a", &TEN.replace("12\n", ""));
    assert!(report(&scene).unwrap().contains("-12"));
    meddle(&scene, "a", TEN);
    assert_eq!(
        report(&scene).as_deref(),
        Some("`a` is back as you know it")
    );
    // The log has it, for the next daemon.
    let file = scene.memory.know(&path, scene.memory.known(&path).unwrap());
    let later = Scene::new();
    later.memory.note_known_files(&[contract::KnownState {
        file: file.unwrap(),
        left: None,
        reported: reported.files.first().cloned(),
        content: None,
    }]);
    assert_eq!(report(&later), None);
}

#[tokio::test]
async fn a_change_of_a_long_file_is_reported_without_a_diff() {
    let scene = Scene::new();
    let long = "word\n".repeat(usize::try_from(CONTENT_MAX).unwrap() / 4);
    scene.put("a", &long);
    read(&scene, "a").await;
    meddle(&scene, "a", &long);
    assert_eq!(
        scene
            .memory
            .describe_external_changes()
            .map(|reported| reported.text),
        None
    );
    meddle(&scene, "a", &format!("{long}more\n"));
    assert_eq!(
        scene
            .memory
            .describe_external_changes()
            .map(|reported| reported.text)
            .as_deref(),
        Some("`a` changed")
    );
    assert_eq!(
        scene
            .memory
            .describe_external_changes()
            .map(|reported| reported.text),
        None
    );
}

#[tokio::test]
async fn many_changes_are_reported_briefly() {
    let scene = Scene::new();
    let text = |word: &str| format!("{word} in a line of some length\n").repeat(30);
    let names: Vec<String> = (0..60).map(|number| format!("dir/file{number}")).collect();
    for name in &names {
        scene.put(name, text("old"));
        read(&scene, name).await;
    }
    for name in &names {
        meddle(&scene, name, &text("new"));
    }
    let note = scene
        .memory
        .describe_external_changes()
        .map(|reported| reported.text)
        .unwrap();
    assert!(tokens(&note) <= 2000, "{}", tokens(&note));
    assert!(
        note.contains("more lines of the diff: read the file for all]"),
        "{note}"
    );
    for name in &names {
        assert!(
            note.contains(&format!("`{name}` changed")),
            "{name}: {note}"
        );
    }
    assert_eq!(
        scene
            .memory
            .describe_external_changes()
            .map(|reported| reported.text),
        None
    );
}

#[tokio::test]
async fn the_sessions_own_changes_are_not_reported_and_its_files_are_read_again() {
    let scene = Scene::new();
    scene.put("a", TEN);
    scene.put("b", TEN);
    read(&scene, "a").await;
    read(&scene, "b").await;
    scene
        .ok(
            "bash",
            json!({"command": "echo 13 >>a; rm b; touch -d '1 hour' a"}),
        )
        .await;
    scene.memory.accept_changes();
    assert_eq!(
        scene
            .memory
            .describe_external_changes()
            .map(|reported| reported.text),
        None
    );
    let edit = json!({"path": "a", "old_string": "13", "new_string": "14"});
    let text = scene.fails("edit_file", edit).await;
    assert!(
        text.contains("was changed since it was last read"),
        "{text}"
    );
    meddle(&scene, "a", &format!("{TEN}13\n14\n"));
    let note = scene
        .memory
        .describe_external_changes()
        .map(|reported| reported.text)
        .unwrap();
    assert!(note.ends_with(" 13\n+14"), "only what others did: {note}");
}

#[tokio::test]
async fn change_noticed_after_a_restore_is_reported_without_a_diff() {
    let (old, new) = (Scene::new(), Scene::new());
    old.put("a", TEN);
    read(&old, "a").await;
    let remembered = old.memory.snapshot().unwrap();
    new.memory.restore(remembered);
    meddle(&old, "a", &TEN.replace('1', "one"));
    let note = new
        .memory
        .describe_external_changes()
        .map(|reported| reported.text)
        .unwrap();
    assert!(note.ends_with("/ws/a` changed"), "{note}");
}

/// The text of the next report.
fn reported(scene: &Scene) -> Option<String> {
    let reported = scene.memory.describe_external_changes();
    reported.map(|reported| reported.text)
}

#[tokio::test]
async fn file_that_came_back_as_it_was_reported_last_is_said_to_be_back() {
    let scene = Scene::new();
    scene.put("a", "one\n");
    read(&scene, "a").await;
    meddle(&scene, "a", "two\n");
    assert!(reported(&scene).is_some_and(|text| text.contains("+two")));
    std::fs::remove_file(scene.put("a", "")).unwrap();
    assert_eq!(reported(&scene).as_deref(), Some("`a` was deleted"));
    meddle(&scene, "a", "two\n");
    let back = "`a` is back as it was before it was deleted";
    assert_eq!(reported(&scene).as_deref(), Some(back));
    assert_eq!(reported(&scene), None);
    meddle(&scene, "a", "three\n");
    assert!(reported(&scene).is_some_and(|text| text.contains("-two\n+three")));
}

#[tokio::test]
async fn files_that_a_prompt_brought_are_shown_with_their_changes() {
    let scene = Scene::new();
    for name in ["read", "brought"] {
        scene.put(name, "old\n");
    }
    read(&scene, "read").await;
    let known = ["read", "brought"].map(|name| {
        let path = scene.put(name, "old\n");
        let stamp = scene
            .memory
            .workspace()
            .resolve(path.to_str().unwrap(), workspace::Access::Read);
        let content = scene.memory.workspace().read(&stamp.unwrap()).unwrap();
        contract::KnownState {
            file: content.stamp.known_file(&path).unwrap(),
            left: None,
            reported: None,
            content: None,
        }
    });
    scene.memory.note_known_files(&known);
    // What was read before is still at hand.
    meddle(&scene, "read", "new\n");
    assert!(reported(&scene).is_some_and(|text| text.contains("-old\n+new")));
    ToolMemory::read_missing_contents(&*scene.memory);
    meddle(&scene, "brought", "new\n");
    assert!(reported(&scene).is_some_and(|text| text.contains("-old\n+new")));
}

/// A file that the model knows only in part, as a long instruction file.
fn known_in_part(scene: &Scene, name: &str) -> contract::KnownState {
    let path = scene.put(name, TEN);
    let workspace = scene.memory.workspace();
    let at = workspace.resolve(path.to_str().unwrap(), workspace::Access::Read);
    let stamp = workspace.read(&at.unwrap()).unwrap().stamp;
    contract::KnownState {
        file: proto::record::KnownFile {
            partial: true,
            ..stamp.known_file(&path).unwrap()
        },
        left: None,
        reported: None,
        content: None,
    }
}

#[tokio::test]
async fn change_of_a_file_that_is_known_in_part_is_told_without_its_text() {
    let scene = Scene::new();
    scene.memory.note_known_files(&[known_in_part(&scene, "a")]);
    scene.memory.read_missing_contents();
    assert_eq!(reported(&scene), None);
    meddle(&scene, "a", &TEN.replace("6\n", "six\n"));
    assert_eq!(reported(&scene).as_deref(), Some("`a` changed"));
    assert_eq!(reported(&scene), None);
}

#[tokio::test]
async fn file_that_is_known_in_part_must_be_read_before_it_is_edited() {
    let scene = Scene::new();
    scene.memory.note_known_files(&[known_in_part(&scene, "a")]);
    let edit = json!({"path": "a", "old_string": "6", "new_string": "six"});
    let text = scene.fails("edit_file", edit.clone()).await;
    assert!(text.contains("was not read in this session"), "{text}");
    read(&scene, "a").await;
    scene.ok("edit_file", edit).await;
}

#[tokio::test]
async fn what_was_told_before_an_eviction_is_not_told_again_and_logged_content_stays() {
    let (old, new) = (Scene::new(), Scene::new());
    let mut known = known_in_part(&old, "a");
    known.file.partial = false;
    known.content = Some(TEN.as_bytes().into());
    for scene in [&old, &new] {
        scene.memory.note_known_files(std::slice::from_ref(&known));
    }
    meddle(&old, "a", &TEN.replace("6\n", "six\n"));
    assert!(reported(&old).is_some_and(|text| text.contains("+six")));
    new.memory.restore(old.memory.snapshot().unwrap());
    assert_eq!(reported(&new), None);
    meddle(&old, "a", &TEN.replace("6\n", "sechs\n"));
    let note = reported(&new).unwrap();
    assert!(note.contains("+sechs"), "{note}");
}
