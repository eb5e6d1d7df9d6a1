//! Assembling calls from fragments as many servers send them.

use contract::provider::Part;

use super::*;

fn piece<'a>(
    index: impl Into<Option<u64>>,
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
) -> CallFragment<'a> {
    CallFragment {
        index: index.into(),
        id,
        name,
        arguments,
        whole: false,
    }
}

fn collect(pieces: &[CallFragment<'_>]) -> Vec<(String, String, String)> {
    let mut calls = Calls::new(4);
    for piece in pieces {
        calls
            .take(*piece, &mut PartBatch::default())
            .expect("few calls");
    }
    let calls = calls.finish(ArgumentTrust::Whole);
    calls
        .into_iter()
        .map(|call| (call.id.0, call.name, call.arguments))
        .collect()
}

fn check(pieces: &[CallFragment<'_>], expected: &[(&str, &str, &str)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(id, name, arguments)| {
            (
                (*id).to_owned(),
                (*name).to_owned(),
                (*arguments).to_owned(),
            )
        })
        .collect();
    assert_eq!(collect(pieces), expected);
}

#[test]
fn interleaved_calls_are_separated_by_index() {
    check(
        &[
            piece(1, "b", "bash", ""),
            piece(0, "a", "read", ""),
            piece(1, "", "", "{\"x\""),
            piece(0, "", "", "{}"),
            piece(1, "", "", ""),
            piece(1, "", "", ":1}"),
        ],
        &[("a", "read", "{}"), ("b", "bash", "{\"x\":1}")],
    );
}

#[test]
fn repeated_ids_and_names_are_not_joined() {
    check(
        &[
            piece(0, "a", "read", ""),
            piece(0, "a", "read", "{\"p\":"),
            piece(0, "a", "read", "1}"),
        ],
        &[("a", "read", "{\"p\":1}")],
    );
}

#[test]
fn a_late_name_or_id_of_a_call_is_accepted() {
    check(
        &[piece(0, "", "", "{"), piece(0, "a", "read", "}")],
        &[("call_5_1", "read", "{}")],
    );
}

#[test]
fn a_constant_index_for_all_calls_is_ignored() {
    check(
        &[
            piece(0, "a", "read", "{}"),
            piece(0, "b", "read", "{\"x\""),
            piece(0, "", "", ":1}"),
        ],
        &[("a", "read", "{}"), ("b", "read", "{\"x\":1}")],
    );
    check(
        &[
            piece(0, "", "read", "{\"s\":\"}\\\"{\"}"),
            piece(0, "", "read", "{\"n\":2}"),
        ],
        &[
            ("call_5_1", "read", "{\"s\":\"}\\\"{\"}"),
            ("call_5_2", "read", "{\"n\":2}"),
        ],
    );
}

#[test]
fn call_pieces_without_an_index_are_joined_by_id_name_or_order() {
    check(
        &[
            piece(None, "a", "read", "{"),
            piece(None, "b", "bash", "{"),
            piece(None, "a", "", "}"),
            piece(None, "", "", "}"),
        ],
        &[("a", "read", "{}"), ("b", "bash", "{}")],
    );
    check(
        &[
            piece(None, "", "read", "{"),
            piece(None, "", "read", "}"),
            piece(None, "", "bash", "{}"),
        ],
        &[("call_5_1", "read", "{}"), ("call_5_2", "bash", "{}")],
    );
}

/// As vLLM before 0.8 and SGLang before 0.4.5 send it, the last fragment where nothing is left to say.
#[test]
fn new_ids_of_fragments_without_a_name_do_not_split_a_call() {
    check(
        &[
            piece(0, "a", "read", ""),
            piece(0, "b", "", "{\"path\": \""),
            piece(0, "c", "", "a.txt\"}"),
            piece(0, "d", "", ""),
            piece(1, "e", "bash", ""),
            piece(1, "f", "", "{}"),
        ],
        &[("a", "read", "{\"path\": \"a.txt\"}"), ("e", "bash", "{}")],
    );
}

#[test]
fn a_repeated_name_or_repeated_arguments_do_not_change_a_call() {
    check(
        &[
            piece(0, "a", "read", "{\"p\":1}"),
            piece(0, "", "read", ""),
            piece(1, "b", "read", "{}"),
            piece(1, "", "", ""),
            piece(1, "", "", "{\"p\""),
            piece(1, "", "", ":1}"),
            piece(2, "c", "read", "{\"p\": 1}"),
            piece(2, "", "", "{\"p\": 1}"),
            piece(3, "d", "ls", "{}{}"),
        ],
        &[
            ("a", "read", "{\"p\":1}"),
            ("b", "read", "{\"p\":1}"),
            ("c", "read", "{\"p\": 1}"),
            ("d", "ls", "{}"),
        ],
    );
    // Nobody knows which of these is meant, or what is missing.
    for arguments in [
        "{\"p\":1}{\"p\":2}",
        "{}{\"p\"",
        "{}{}{}",
        "{}1",
        "{\"p\":1}{}",
    ] {
        check(
            &[piece(0, "a", "read", arguments)],
            &[("a", "read", arguments)],
        );
    }
}

#[test]
fn ids_are_unique_within_the_answer() {
    check(
        &[
            piece(0, "a", "x", "{}"),
            piece(1, "a", "y", "{}"),
            piece(2, "a_2", "z", "{}"),
            piece(3, "", "w", "{}"),
        ],
        &[
            ("a", "x", "{}"),
            ("a_2", "y", "{}"),
            ("a_2_3", "z", "{}"),
            ("call_5_4", "w", "{}"),
        ],
    );
}

#[test]
fn absurd_numbers_only_order_the_calls() {
    check(
        &[
            piece(u64::MAX, "a", "x", "{}"),
            piece(7, "b", "y", "{}"),
            piece(3, "c", "z", "{}"),
        ],
        &[("a", "x", "{}"), ("c", "z", "{}"), ("b", "y", "{}")],
    );
}

#[test]
fn argument_trust_decides_which_calls_are_marked_as_cut() {
    for (trust, expected) in [
        (ArgumentTrust::Whole, [false, false, false]),
        (ArgumentTrust::Parsed, [false, true, false]),
        (ArgumentTrust::AllButLast, [false, true, true]),
    ] {
        let mut calls = Calls::new(0);
        for (index, arguments) in [(0, "{}"), (1, "{\"a"), (2, "{}")] {
            calls
                .take(piece(index, "", "x", arguments), &mut PartBatch::default())
                .expect("few calls");
        }
        let cut: Vec<_> = calls
            .finish(trust)
            .into_iter()
            .map(|call| call.cut)
            .collect();
        assert_eq!(cut, expected, "{trust:?}");
    }
}

#[test]
fn too_many_calls_are_refused() {
    let mut calls = Calls::new(0);
    let mut batch = PartBatch::default();
    for index in 0..CALLS_MAX as u64 {
        assert_eq!(calls.take(piece(index, "", "x", "{}"), &mut batch), Ok(()));
    }
    assert_eq!(
        calls.take(piece(CALLS_MAX as u64, "", "x", "{}"), &mut batch),
        Err(TooManyCalls)
    );
}

#[test]
fn partial_calls_have_an_id_and_a_name() {
    let mut calls = Calls::new(0);
    let mut batch = PartBatch::default();
    for piece in [
        piece(0, "a", "read", ""),
        piece(0, "", "", "{"),
        piece(0, "", "", "}"),
        piece(1, "b", "bash", "{}"),
    ] {
        calls.take(piece, &mut batch).expect("few calls");
    }
    let delta = |index, id: &str, name: &str, arguments: &str| {
        let (id, name, arguments) = (id.to_owned(), name.to_owned(), arguments.to_owned());
        Part::CallDelta {
            index,
            id,
            name,
            arguments,
        }
    };
    assert_eq!(
        batch.parts(),
        [delta(0, "a", "read", "{}"), delta(1, "b", "bash", "{}")]
    );
}
