//! Scenes for names that are mistyped.

use super::*;

#[test]
fn a_slip_is_near_and_another_word_is_not() {
    let known = ["agent.max_steps", "default_model", "daemon.log", "language"];
    assert_eq!(names("defualt_model", known), ["default_model"]);
    assert_eq!(names("max_steps", known), ["agent.max_steps"]);
    assert_eq!(names("Language", known), ["language"]);
    assert!(names("colour", known).is_empty());
    assert_eq!(distance("kitten", "sitting"), 3);
    assert_eq!(distance("", "abc"), 3);
}

#[test]
fn a_hint_says_what_else_can_be_done() {
    assert_eq!(
        hint("languge", ["language"], "See all."),
        "Did you mean `language`? See all."
    );
    assert_eq!(hint("x", ["language"], "See all."), "See all.");
}
