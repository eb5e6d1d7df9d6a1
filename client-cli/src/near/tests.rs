//! Scenes for names that are mistyped.

use super::*;

#[test]
fn a_hint_says_what_else_can_be_done() {
    assert_eq!(
        hint("languge", ["language"], "See all."),
        "Did you mean `language`? See all."
    );
    assert_eq!(hint("x", ["language"], "See all."), "See all.");
}
