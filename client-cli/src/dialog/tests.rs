//! What counts as an answer.

use super::*;

#[test]
fn a_yes_is_one_letter_and_a_no_may_say_why() {
    let no = |note: &str| {
        Some((
            ApprovalDecision::Deny,
            Some(note.to_owned()).filter(|note| !note.is_empty()),
        ))
    };
    let cases = [
        ("y", Some((ApprovalDecision::AllowOnce, None))),
        (" yes ", Some((ApprovalDecision::AllowOnce, None))),
        ("s", Some((ApprovalDecision::AllowSession, None))),
        ("n", no("")),
        ("n keep it", no("keep it")),
        ("no,", None),
        ("y, do it", None),
        ("", None),
        ("sure", None),
    ];
    for (line, answer) in cases {
        assert_eq!(read(line), answer, "{line:?}");
    }
}
