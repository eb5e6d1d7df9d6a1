//! Each method's role, over the whole table; and what a watcher and an approver may really do.

use proto::hello::Role;
use serde_json::{Value, json};

use super::house::{House, name, until};

#[tokio::test(flavor = "multi_thread")]
async fn each_role_may_call_what_the_table_says_and_nothing_else() {
    let house = House::new("", "").await;
    let mut generator = schemars::SchemaGenerator::default();
    let rows = proto::methods::rows(&mut generator);
    assert_eq!(rows.len(), proto::methods::NAMES.len());
    for (role, word) in [
        (Role::Watch, "watch"),
        (Role::Approve, "approve"),
        (Role::Drive, "drive"),
    ] {
        let mut client = house.client(word).await;
        for row in &rows {
            // Parameters that fit no method: the role is looked at before them, and nothing is changed.
            let answer = client
                .call(row.name, &json!({"session": 1, "mode": 1, "cwd": 1}))
                .await;
            let refused = answer.err().map(|error| name(&error).to_owned());
            let not_allowed = refused.as_deref() == Some("not_allowed");
            assert_eq!(
                not_allowed,
                row.role > role,
                "{} as {word}: {refused:?}",
                row.name
            );
            assert!(
                !row.mutates || row.role > Role::Watch,
                "{} changes something and a watcher may call it",
                row.name
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watcher_follows_an_approver_answers_and_neither_prompts() {
    let call = json!({"tool_calls": [{"name": "bash", "arguments": {"command": "touch here"}}]});
    let house = House::new("", &format!("{call}\n{}\n", json!({"text": "Left alone."}))).await;
    let mut driver = house.client("drive").await;
    let mut watcher = house.client("watch").await;
    let mut approver = house.client("approve").await;
    let id = uuid::Uuid::now_v7().to_string();
    let create = json!({"session": id, "cwd": house.project()});
    let prompt = json!({"session": id, "text": "make it"});
    for client in [&mut watcher, &mut approver] {
        for (method, params) in [("session.create", &create), ("session.prompt", &prompt)] {
            let refused = client
                .call(method, params)
                .await
                .expect_err("not theirs to do");
            assert_eq!(name(&refused), "not_allowed", "{method}: {refused}");
        }
    }
    let sessions = driver
        .call("session.list", &json!({}))
        .await
        .expect("a list");
    assert_eq!(sessions["sessions"], json!([]), "none was made");
    driver
        .call("session.create", &create)
        .await
        .expect("a session");
    let attach = json!({"session": id, "subscription": "w", "ephemeral": true});
    watcher
        .call("session.attach", &attach)
        .await
        .expect("a watcher may follow");
    driver
        .call("session.prompt", &prompt)
        .await
        .expect("a prompt");

    let event = |frame: &Value, kind: &str| frame["params"]["event"]["kind"] == kind;
    let asked = watcher
        .notification("interaction.opened", |frame| {
            event(frame, "interaction.opened")
        })
        .await;
    assert_eq!(asked["params"]["subscription"], "w");
    let open = until("the question", async || {
        let list = watcher
            .call("interaction.list", &json!({}))
            .await
            .expect("a watcher may look");
        list["interactions"]
            .as_array()
            .and_then(|all| all.first().cloned())
    })
    .await;
    let answer = json!({"interaction_id": open["interaction_id"], "shown_hash": open["shown_hash"],
        "answer": {"type": "approval", "decision": "deny"}});
    let refused = watcher
        .call("interaction.answer", &answer)
        .await
        .expect_err("a watcher");
    assert_eq!(name(&refused), "not_allowed");
    approver
        .call("interaction.answer", &answer)
        .await
        .expect("an approver may");
    let resolved = watcher
        .notification("interaction.resolved", |frame| {
            event(frame, "interaction.resolved")
        })
        .await;
    assert_eq!(
        resolved["params"]["event"]["data"]["by"], "approve",
        "{resolved}"
    );
    watcher
        .notification("turn.ended", |frame| event(frame, "turn.ended"))
        .await;
}
