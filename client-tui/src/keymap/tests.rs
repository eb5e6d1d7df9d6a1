use std::collections::HashSet;

use super::*;

#[test]
fn every_name_of_the_table_is_a_key_and_does_one_thing() {
    let mut seen = HashSet::new();
    for row in BINDINGS {
        for name in row.keys {
            let key = key(name).unwrap_or_else(|| panic!("`{name}` is not a key"));
            assert!(
                seen.insert((row.context, *name)),
                "`{name}` twice in {:?}",
                row.context
            );
            assert_eq!(
                find(row.context, &key),
                Some(row.action),
                "`{name}` in {:?}",
                row.context
            );
        }
    }
}

#[test]
fn keys_are_written_as_people_write_them() {
    assert_eq!(written("ctrl-p"), "Ctrl-P");
    assert_eq!(written("shift-enter"), "Shift-Enter");
    assert_eq!(written("pageup"), "PageUp");
    assert_eq!(written("G"), "G");
    assert_eq!(written("?"), "?");
}

#[test]
fn a_capital_letter_needs_no_shift_in_the_table() {
    let key = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT);
    assert_eq!(find(Context::List, &key), Some(Action::Last));
    let small = KeyEvent::new(KeyCode::Char('g'), KeyModifiers::empty());
    assert_eq!(find(Context::List, &small), Some(Action::First));
}
