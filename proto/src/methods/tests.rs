//! The schema as others read it.

use super::*;

#[test]
fn every_type_has_a_name_of_its_own_and_every_live_kind_a_schema() {
    let schema = schema();
    let types = schema["$defs"].as_object().expect("types");
    let numbered: Vec<_> = types
        .keys()
        .filter(|name| name.ends_with(|letter: char| letter.is_ascii_digit()))
        .collect();
    assert_eq!(numbered, Vec::<&String>::new(), "two types share a name");
    assert!(types.contains_key("SessionListOutput"));
    assert!(types.contains_key("EndedNotification"));
    assert!(schema["live"].get("status").is_some());
}

#[test]
fn next_of_the_largest_seq_is_itself() {
    assert_eq!(crate::Seq(7).next(), crate::Seq(8));
    assert_eq!(crate::Seq(u64::MAX).next(), crate::Seq(u64::MAX));
}
