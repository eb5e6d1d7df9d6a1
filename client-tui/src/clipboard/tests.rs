use super::*;

#[test]
fn a_short_text_goes_to_the_terminal() {
    let mut out = Vec::new();
    let copied = copy(Some(&mut out), "héllo\u{1b}", Language::English).unwrap();
    assert_eq!(copied, Copied::Terminal);
    // The copied text is encoded, so the terminal obeys none of it.
    assert_eq!(out, b"\x1b]52;c;aMOpbGxvGw==\x1b\\");
}

#[test]
fn a_text_that_is_too_long_for_a_terminal_goes_to_a_private_file() {
    let mut out = Vec::new();
    let longest = "x".repeat(ENCODED_MAX / 4 * 3);
    let copied = copy(Some(&mut out), &longest, Language::English).unwrap();
    assert_eq!(copied, Copied::Terminal);

    let text = format!("{longest}x");
    out.clear();
    let copied = copy(Some(&mut out), &text, Language::English).unwrap();
    let Copied::File(path) = copied else {
        panic!("{copied:?}")
    };
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    use std::os::unix::fs::PermissionsExt;
    let mode = path.metadata().unwrap().permissions().mode();
    std::fs::remove_file(path).unwrap();
    assert_eq!(mode & 0o777, 0o600);
    assert!(out.is_empty());
}

#[test]
fn copy_without_terminal_support_goes_to_a_file() {
    let copied = copy(None::<&mut Vec<u8>>, "short", Language::English).unwrap();
    let Copied::File(path) = copied else {
        panic!("{copied:?}")
    };
    let kept = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!(kept, "short");
}
