//! Parsing events from arbitrary chunks.

use proptest::prelude::*;

use super::*;

fn parse(chunks: &[&[u8]], cap: usize) -> Result<Vec<String>, EventTooLarge> {
    let mut found = Vec::new();
    let mut events = SseParser::new(cap);
    let mut each = |data: &str| {
        found.push(data.to_owned());
        Ok::<(), EventTooLarge>(())
    };
    for chunk in chunks {
        events.feed(chunk, &mut each)?;
    }
    events.finish(&mut each)?;
    Ok(found)
}

fn events(text: &str) -> Vec<String> {
    parse(&[text.as_bytes()], 1 << 20).expect("within the cap")
}

#[test]
fn an_event_is_its_data_lines() {
    assert_eq!(events("data: a\n\n"), ["a"]);
    assert_eq!(events("data:a\ndata:  b\ndata\n\n"), ["a\n b\n"]);
    assert_eq!(
        events("event: x\nid: 1\nretry: 9\ndata: a\ndatabase: b\n\n"),
        ["a"]
    );
    assert_eq!(
        events("\u{feff}data: a\n\n\n\n: keep-alive\n\ndata: b\n\n"),
        ["a", "b"]
    );
    assert_eq!(
        events("data: a\r\n\r\ndata: b\r\rdata: c\n\n"),
        ["a", "b", "c"]
    );
    assert_eq!(events(""), [""; 0]);
}

#[test]
fn an_error_that_is_not_written_as_data_is_an_event() {
    let own_field = "data: a\n\nerror: {\"code\":500}\n\n";
    assert_eq!(events(own_field), ["a", "{\"code\":500}"]);
    let document = "data: a\n\n{\"error\":{\"message\":\"b\"}}\n";
    assert_eq!(events(document), ["a", "{\"error\":{\"message\":\"b\"}}"]);
    let others = "error: none\nerrors: {}\n{\"x\":1}\ndata: a\n\n";
    assert_eq!(events(others), ["a"]);
}

#[test]
fn the_last_event_counts_without_its_blank_line() {
    assert_eq!(events("data: a\n\ndata: b\n"), ["a", "b"]);
    assert_eq!(events("data: a\n\ndata: b"), ["a", "b"]);
}

#[test]
fn a_line_end_may_be_cut_and_nothing_may_come_between() {
    let found = parse(&[b"data: a\r", b"", b"\ndata: b\r", b"\r", b"\n"], 1 << 20);
    assert_eq!(found.expect("within the cap"), ["a\nb"]);
}

#[test]
fn an_event_beyond_the_cap_is_refused_however_it_grows() {
    let long = format!("data: {}\n\n", "x".repeat(100));
    assert_eq!(parse(&[long.as_bytes()], 50), Err(EventTooLarge));
    let no_end = "y".repeat(100);
    assert_eq!(parse(&[no_end.as_bytes()], 50), Err(EventTooLarge));
    let lines = "data: 12345678\n".repeat(10);
    assert_eq!(parse(&[lines.as_bytes()], 50), Err(EventTooLarge));
    let many = "data: 12345678\n\n".repeat(100);
    assert_eq!(
        parse(&[many.as_bytes()], 50).map(|events| events.len()),
        Ok(100),
        "each for itself"
    );
}

#[test]
fn limits_do_not_depend_on_the_chunks() {
    for text in [
        "data: 12345\n\n",
        ": a long comment\n",
        "data: 1\ndata: 2\n\n",
    ] {
        for cap in 0..text.len() + 2 {
            let whole = parse(&[text.as_bytes()], cap);
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(parse(&bytes, cap), whole, "{text:?} with a cap of {cap}");
        }
    }
}

#[test]
fn a_failing_reader_ends_the_feeding() {
    let mut count = 0;
    let mut fail = |_: &str| {
        count += 1;
        Err::<(), EventTooLarge>(EventTooLarge)
    };
    assert_eq!(
        SseParser::new(99).feed(b"data: a\n\ndata: b\n\n", &mut fail),
        Err(EventTooLarge)
    );
    assert_eq!(count, 1);
}

/// The rules of the standard, written for clarity and not for speed.
fn reference(text: &str) -> Vec<String> {
    let text = text
        .strip_prefix('\u{feff}')
        .unwrap_or(text)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let mut events = Vec::new();
    let mut data: Option<Vec<&str>> = None;
    for line in text.split('\n').chain([""]) {
        match line.split_once(':').unwrap_or((line, "")) {
            ("", "") if line.is_empty() => events.extend(data.take().map(|lines| lines.join("\n"))),
            ("data", value) => data
                .get_or_insert_default()
                .push(value.strip_prefix(' ').unwrap_or(value)),
            _ => {}
        }
    }
    events
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_events(
        lines in proptest::collection::vec(
            prop_oneof![Just(String::new()), "data: ?[a-zé😀 :]{0,6}", "[:a-z\u{feff}]{0,8}", Just("data".to_owned())], 0..20),
        ends in proptest::collection::vec(prop_oneof![Just("\n"), Just("\r\n"), Just("\r")], 20),
        cuts in proptest::collection::vec(0_usize..200, 0..12),
    ) {
        let text: String = lines.iter().zip(&ends).flat_map(|(line, end)| [line.as_str(), end]).collect();
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < bytes.len()).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(parse(&chunks, 1 << 20).expect("within the cap"), reference(&text));
    }

    #[test]
    fn any_bytes_are_survived(chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..8)) {
        let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
        let joined = chunks.concat();
        prop_assert_eq!(parse(&chunks, 1 << 20), parse(&[&joined], 1 << 20));
    }
}
