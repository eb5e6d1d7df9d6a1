use proto::item::CallStatus;
use serde_json::json;

use crate::scene::{Scene, tool_named};

async fn scene() -> Scene {
    let scene = Scene::new();
    for (name, kind, text) in [
        ("indent-tabs", "feedback", "Indent with tabs."),
        ("release-day", "project", "Releases are made on Fridays."),
    ] {
        let fact = json!({"name": name, "description": "About it", "type": kind, "content": text});
        scene.ok("remember", fact).await;
    }
    scene
}

#[tokio::test]
async fn facts_are_searched_listed_and_read() {
    let scene = scene().await;
    let found = scene.ok("memory", json!({"op": "search", "query": "fridays"}));
    assert_eq!(
        found.await,
        "release-day (project, project memory): About it\n"
    );
    let listed = scene.ok("memory", json!({"op": "list"})).await;
    assert_eq!(listed.lines().count(), 2);
    let read = scene.ok("memory", json!({"op": "read", "name": "indent-tabs"}));
    let read = read.await;
    let session = scene.context.session_id;
    assert!(
        read.contains(&format!("saved by session: {session}\n")),
        "{read}"
    );
    assert!(read.ends_with("\n\nIndent with tabs."), "{read}");
}

#[tokio::test]
async fn wrong_arguments_say_what_is_missing() {
    let scene = scene().await;
    let failed = scene.fails("memory", json!({"op": "search"})).await;
    assert_eq!(failed, "`search` needs a `query`");
    let failed = scene.fails("memory", json!({"op": "read"})).await;
    assert_eq!(failed, "`read` needs the `name` of a fact");
    let none = scene.fails("memory", json!({"op": "read", "name": "none"}));
    assert_eq!(none.await, "There is no fact `none`.");
    let none = scene.call("memory", json!({"op": "search", "query": "xyzzy"}));
    assert_eq!(none.await.status, CallStatus::Ok);
}

#[test]
fn looking_up_changes_nothing_and_saving_needs_a_person() {
    let spec = |name: &str| tool_named(name).spec().clone();
    let look = spec("memory");
    assert!(look.read_only && look.deferred && !look.person_only);
    for name in ["remember", "forget"] {
        let spec = spec(name);
        assert!(
            !spec.read_only && spec.deferred && spec.person_only,
            "{name}"
        );
    }
}
