use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn envelope<'a>(kind: &'a str, data: &'a str) -> Envelope<'a> {
    Envelope {
        seq: Seq(7),
        at: Stamp(1_795_283_603_512),
        turn: Some(1),
        durable: Seq(5),
        kind,
        data,
        own: None,
        fragment: None,
    }
}

fn content(line: &LogLine) -> &[u8] {
    line.bytes
        .strip_suffix(b"\n")
        .expect("a line ends in a newline")
}

fn part(line: &LogLine, range: Range<usize>) -> &str {
    std::str::from_utf8(&line.bytes[range]).expect("a line is UTF-8")
}

#[test]
fn a_line_has_its_members_in_the_order_of_the_format() {
    let line = encode(&Envelope {
        own: Some(r#"{"p":1}"#),
        fragment: Some(r#"{"a":1},{"b":2}"#),
        ..envelope("message.tool", r#"{"x":null}"#)
    });
    let text = part(&line, 0..line.bytes.len());
    let covered = r#"{"seq":7,"at":"2026-11-21T17:53:23.512Z","turn":1,"durable":5,"kind":"message.tool","data":{"x":null},"own":{"p":1},"fragment":[{"a":1},{"b":2}]"#;
    assert_eq!(
        text,
        format!(
            "{covered},\"crc\":\"0d7d19a0\"}}
"
        )
    );
    assert_eq!(part(&line, line.data.clone()), r#"{"x":null}"#);
    let fragment = line.fragment.clone().expect("it has a fragment");
    assert_eq!(part(&line, fragment), r#"{"a":1},{"b":2}"#);
}

#[test]
fn outside_turns_the_turn_is_null() {
    let line = encode(&Envelope {
        turn: None,
        ..envelope("notice", "{}")
    });
    assert!(part(&line, 0..line.bytes.len()).contains(r#","turn":null,"#));
    assert_eq!(decode(content(&line)).expect("it is valid").turn, None);
}

#[test]
fn line_breaks_between_tokens_do_not_break_the_line() {
    let line = encode(&Envelope {
        fragment: Some("{\"a\":\r\n1}"),
        ..envelope("notice", "{\n  \"text\": \"a\\nb\"\n}")
    });
    assert_eq!(line.bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
    let record = decode(content(&line)).expect("it is valid");
    let data: Value = serde_json::from_str(record.data.get()).expect("it is JSON");
    assert_eq!(data["text"], "a\nb");
    assert_eq!(record.fragment_text(), Some("{\"a\":  1}"));
}

#[test]
fn odd_but_legal_json_is_carried_along_byte_for_byte() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    for data in [
        deep.as_str(),
        r#""\ud800""#,
        "1e999",
        "-0",
        r#"{"a":1,"a":2}"#,
    ] {
        let line = encode(&envelope("kind \"of\" tomorrow", data));
        let record = decode(content(&line)).expect("it is valid");
        assert_eq!(record.data.get(), data);
        assert_eq!(record.kind, "kind \"of\" tomorrow");
    }
}

#[test]
fn unknown_members_of_newer_versions_are_ignored() {
    let covered = r#"{"seq":1,"at":"2026-11-21T17:40:03.512Z","turn":null,"durable":0,"kind":"k","data":{},"later":[1]"#;
    let line = format!("{covered}{}", suffix(crc32c::crc32c(covered.as_bytes())));
    assert_eq!(decode(line.as_bytes()).expect("it is valid").seq, Seq(1));
}

#[test]
fn a_line_with_a_matching_checksum_can_still_be_invalid() {
    let close = |covered: &[u8]| {
        let crc = suffix(crc32c::crc32c(covered));
        [covered, crc.as_bytes()].concat()
    };
    let head = r#"{"seq":1,"at":"2026-11-21T17:40:03.512Z","turn":null,"durable":0,"kind":"k""#;
    let no_data = close(head.as_bytes());
    assert!(matches!(decode(&no_data), Err(LineError::NotARecord(_))));
    let no_array = close(format!(r#"{head},"data":{{}},"fragment":{{}}"#).as_bytes());
    assert!(matches!(decode(&no_array), Err(LineError::NotAFragment)));
    let no_time = close(br#"{"seq":1,"at":"soon","turn":null,"durable":0,"kind":"k","data":{}"#);
    assert!(matches!(decode(&no_time), Err(LineError::NotATime)));
    let no_text = close(b"{\"seq\":1,\"\xff\":0");
    assert!(matches!(decode(&no_text), Err(LineError::NotUtf8)));
    assert!(matches!(decode(b""), Err(LineError::NoChecksum)));
    assert!(matches!(decode(&[0; 512]), Err(LineError::NoChecksum)));
}

#[test]
fn a_records_data_is_read_by_its_kind() {
    let data = r#"{"level":"info","text":"hello"}"#;
    let line = encode(&envelope("notice", data));
    let record = decode(content(&line)).and_then(|raw| raw.record().map_err(LineError::NotARecord));
    let record = record.expect("it is a notice");
    assert_eq!(record.body.kind(), "notice");
    assert_eq!(record.seq, Seq(7));
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let tree = leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| map.into_iter().collect::<Value>()),
        ]
    });
    tree.prop_map(|value| value.to_string())
}

prop_compose! {
    fn any_line()(
        seq in any::<u64>(),
        at in 0..253_402_300_800_000_i64,
        turn in any::<Option<u64>>(),
        durable in any::<u64>(),
        kind in any::<String>(),
        data in json(),
        own in prop::option::of(json()),
        fragment in prop::option::of(prop::collection::vec(json(), 0..3)),
    ) -> (LogLine, u64, i64, Option<u64>, u64, String, String, Option<String>, Option<String>) {
        let fragment = fragment.map(|parts| parts.join(","));
        let line = encode(&Envelope {
            seq: Seq(seq),
            at: Stamp(at),
            turn,
            durable: Seq(durable),
            kind: &kind,
            data: &data,
            own: own.as_deref(),
            fragment: fragment.as_deref(),
        });
        (line, seq, at, turn, durable, kind, data, own, fragment)
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        (line, seq, at, turn, durable, kind, data, own, fragment) in any_line()
    ) {
        let record = decode(content(&line)).expect("what was written is valid");
        prop_assert_eq!(record.seq, Seq(seq));
        prop_assert_eq!(record.at, Stamp(at));
        prop_assert_eq!(record.turn, turn);
        prop_assert_eq!(record.durable, Seq(durable));
        prop_assert_eq!(&*record.kind, kind);
        prop_assert_eq!(record.data.get(), data);
        // A member with the value `null` reads as absent.
        let own = own.filter(|own| own != "null");
        prop_assert_eq!(record.own.map(RawValue::get), own.as_deref());
        prop_assert_eq!(record.fragment_text(), fragment.as_deref());
        prop_assert_eq!(record.data_range(), line.data.clone());
        prop_assert_eq!(record.fragment_range(), line.fragment.clone());
    }

    #[test]
    fn any_changed_byte_is_detected(
        (line, ..) in any_line(),
        place in any::<prop::sample::Index>(),
        change in 1_u8..,
    ) {
        let mut bytes = content(&line).to_vec();
        let place = place.index(bytes.len());
        bytes[place] ^= change;
        prop_assert!(decode(&bytes).is_err());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(decode(&bytes).is_err());
    }
}
