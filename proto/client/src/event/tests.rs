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
fn what_this_build_cannot_read_is_kept_raw() {
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
