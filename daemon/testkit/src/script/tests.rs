use super::*;

#[test]
fn what_is_scripted_is_what_replay_reads() {
    let script = Script::new()
        .fails("http:429")
        .runs("true")
        .calls_all(&[
            ("read_file", json!({"path": "a"})),
            ("read_file", json!({"path": "b"})),
        ])
        .says("Done.")
        .in_pieces(3, Duration::from_millis(2))
        .when("b");
    replay::Cassette::parse(&script.jsonl()).expect("a cassette");
}
