use std::path::Path;

use super::*;

fn event(line: &str) -> DecodedEvent {
    serde_json::from_str::<Event>(line).unwrap().into()
}

fn line(seq: &str, kind: &str, data: &str) -> String {
    format!(
        r#"{{"seq":{seq},"session":3,"at":"2026-01-01T00:00:00.000Z","turn":1,"kind":"{kind}","data":{data}}}"#
    )
}

#[test]
fn an_event_is_typed_when_it_is_taken_and_printed_as_it_came() {
    let durable = line(
        "7",
        "turn.started",
        r#"{"prompt_id":"01890000-0000-7000-8000-0000000000aa","new":1}"#,
    );
    let taken = event(&durable);
    assert!(matches!(taken.body(), Some(Body::TurnStarted(_))));
    assert_eq!(serde_json::to_string(&taken).unwrap(), durable);
    let live = line(
        "null",
        "delta.text",
        r#"{"item":"m","offset":0,"text":"a"}"#,
    );
    assert!(matches!(event(&live).live(), Some(Live::Text(_))));
    assert_eq!(serde_json::to_string(&event(&live)).unwrap(), live);
}

#[test]
fn unreadable_durable_events_are_kept_raw() {
    for kind in ["of.the.future", "turn.ended"] {
        let unknown = line("7", kind, "7");
        let taken = event(&unknown);
        let Some(Body::Unknown { kind: kept, data }) = taken.body() else {
            panic!("{taken:?}");
        };
        assert_eq!((kept.as_str(), data.get()), (kind, "7"));
        assert_eq!(serde_json::to_string(&taken).unwrap(), unknown);
    }
    for kind in ["of.the.future", "delta.text"] {
        let taken = event(&line("null", kind, "7"));
        assert!(matches!(taken.content, Content::UnknownLive), "{taken:?}");
        assert!(taken.body().is_none() && taken.live().is_none());
    }
}

#[test]
fn events_are_decoded_nowhere_else_in_the_clients() {
    fn look(directory: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let decodes = ["Body::decode(", "Live::decode("];
            if decodes.iter().any(|decode| text.contains(decode)) && !path.ends_with("tests.rs") {
                found.push(path.display().to_string());
            }
        }
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for sources in ["src", "../../client-cli/src", "../../client-tui/src"] {
        look(&here.join(sources), &mut found);
    }
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found.iter().all(|path| path.ends_with("src/event.rs")));
}
