//! Large events of each kind.

use proto::live;

use super::*;

fn event(kind: &str, data: &Value) -> Arc<str> {
    json!({"seq": null, "session": 3, "at": "2026-01-01T00:00:00.000Z", "turn": null, "kind": kind, "data": data})
        .to_string()
        .into()
}

fn fits(text: &str) -> Value {
    assert!(text.len() <= frame::OUTBOUND_MAX - ENVELOPE);
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn what_fits_is_not_touched() {
    let text = event("notice", &json!({"text": "x"}));
    assert_eq!(fitting(None, Arc::clone(&text)), text);
}

#[test]
fn a_large_record_says_how_large_it_is() {
    let text = event("notice", &json!({"text": "x".repeat(2 * 1024 * 1024)}));
    let event = fits(&fitting(None, Arc::clone(&text)));
    assert_eq!(event["kind"], "notice");
    assert_eq!(event["data"], json!({"oversized_bytes": text.len()}));
}

#[test]
fn a_large_sync_is_still_a_sync() {
    let approval = |number: u64| {
        json!({
            "interaction_id": format!("3.{number}"), "session": 3, "call": "c", "shown_hash": "0".repeat(64),
            "opened_at": "2026-01-01T00:00:00.000Z", "request": {
                "type": "approval", "tool": "bash", "subject": "é".repeat(700_000),
                "preview": {"type": "line", "text": "x".repeat(700_000)}, "rule": "", "scopes": [],
            },
        })
    };
    let live = json!([{"item": "m1.1", "offset": 0, "text": "y".repeat(900_000)}]);
    let data =
        json!({"seq": 7, "epoch": 1, "live": live, "interactions": [approval(1), approval(2)]});
    let event = fits(&fitting(None, event("sync", &data)));
    let sync: live::Sync = serde_json::from_value(event["data"].clone()).expect("a sync");
    assert_eq!(sync.seq, Seq(7));
    assert_eq!(sync.interactions.len(), 2, "none is left out");
    assert_eq!(sync.interactions[1].shown_hash.len(), 64);
    assert!(sync.live[0].text.len() > 1000);
}

#[test]
fn a_sync_of_very_many_parts_loses_the_least_important_ones() {
    let part = json!({"item": "m1.1", "offset": 0, "text": "y".repeat(150)});
    let data = json!({"seq": 7, "epoch": 1, "live": vec![part; 20_000], "interactions": []});
    let event = fits(&fitting(None, event("sync", &data)));
    let sync: live::Sync = serde_json::from_value(event["data"].clone()).expect("a sync");
    assert!(!sync.live.is_empty());
}
