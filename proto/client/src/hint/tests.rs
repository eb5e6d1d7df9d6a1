use super::*;
use crate::messages::Language;

#[test]
fn commands_for_a_shell_are_said_as_they_are_typed_in_a_session() {
    let hints = [
        ("Rewind with `reasonix rewind SESSION TURN`.", "`/rewind`"),
        (
            "List the turns with `reasonix rewind SESSION --list`.",
            "`/rewind`",
        ),
        (
            "Start one with `reasonix goal -s 2 \"TEXT\"`.",
            "`/goal TEXT`",
        ),
        (
            "Describe what the summary should keep (`reasonix compact SESSION WORDS`), or continue: nothing was lost.",
            "`/compact WORDS`",
        ),
        (
            "Use one of low, high, or `\"\"` for the model's default effort.",
            "`auto`",
        ),
    ];
    for (hint, typed) in hints {
        for language in [Language::English, Language::Chinese] {
            let said = typed_in_session(&language.translate(hint));
            assert!(said.contains(typed), "{said}");
            assert!(!said.contains("reasonix"), "{said}");
        }
    }
    assert_eq!(typed_in_session("Send it again."), "Send it again.");
}
