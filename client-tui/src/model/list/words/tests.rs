use super::plain;

#[test]
fn words_stand_without_the_marks_around_them() {
    let table = [
        (
            "Bash wants to run `rm -r target`",
            "Bash wants to run rm -r target",
        ),
        ("All **done**, _really_.", "All done, really."),
        ("## A plan for `x`", "A plan for x"),
        ("``a ` b``", "a ` b"),
        // Characters that are not markup stay.
        ("2 ** 3 * 4 `", "2 ** 3 * 4 `"),
        ("snake_case_name", "snake_case_name"),
        ("1. first <b>", "1. first <b>"),
        ("#12 is fixed", "#12 is fixed"),
        ("**中文**：`代码`", "中文：代码"),
        ("***both***", "both"),
        ("", ""),
    ];
    for (written, shown) in table {
        assert_eq!(plain(written), shown, "{written}");
    }
}

#[test]
fn plain_text_of_hostile_markdown_has_no_control_characters() {
    let hostile = crate::model::list::fixtures::HOSTILE;
    let shown = plain(&format!("`{hostile}` **{hostile}**"));
    assert!(!shown.contains(char::is_control), "{shown:?}");
    assert!(!shown.contains('\u{202e}'));
}
