use std::collections::HashSet;

use super::*;

#[test]
fn names_are_unique_and_found() {
    let mut seen = HashSet::new();
    for row in COMMANDS {
        for name in row.aliases.iter().chain([&row.name]) {
            assert!(seen.insert(*name), "`{name}` twice");
            assert_eq!(named(name).map(|found| found.command), Some(row.command));
        }
    }
}

#[test]
fn what_is_no_command_goes_to_the_model_or_is_unknown() {
    assert_eq!(parse("hello"), Line::Prompt("hello"));
    assert_eq!(parse("//etc"), Line::Prompt("/etc"));
    assert_eq!(
        parse("/etc/passwd is odd"),
        Line::Prompt("/etc/passwd is odd")
    );
    assert_eq!(parse("/nosuch x"), Line::Unknown("nosuch"));
    assert_eq!(parse("exit the loop"), Line::Prompt("exit the loop"));
    for word in ["exit", " quit "] {
        assert!(
            matches!(parse(word), Line::Command(row, "") if row.command == Command::Quit),
            "{word}"
        );
    }
    match parse("/fork  my name ") {
        Line::Command(row, arguments) => {
            assert_eq!((row.command, arguments), (Command::Fork, "my name"));
        }
        other => panic!("{other:?}"),
    }
}
