//! Signals in the text of a prompt that tell what kind of work it asks for. Pure.

/// Whether a phrase occurs in a text, both in lower case. One of ASCII letters begins and ends with a word, but that
/// `*` stands for any ending.
#[must_use]
pub fn has_phrase(text: &str, phrase: &str) -> bool {
    let (phrase, open) = match phrase.strip_suffix('*') {
        Some(stem) => (stem, true),
        None => (phrase, false),
    };
    if !phrase.is_ascii() {
        return text.contains(phrase);
    }
    let in_word =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
    text.match_indices(phrase).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !in_word(before) && (open || !in_word(after))
    })
}

/// How long a text is, in characters; those of more than two bytes (as Chinese ones) count as three.
#[must_use]
pub fn weight(text: &str) -> usize {
    let of = |one: char| if one.len_utf8() > 2 { 3 } else { 1 };
    text.chars().map(of).sum()
}

/// Lines that are items of a list.
#[must_use]
pub fn listed_items(text: &str) -> usize {
    let numbered = |line: &str| {
        let rest = line.trim_start_matches(|one: char| one.is_ascii_digit());
        rest.len() < line.len() && (rest.starts_with(['.', ')', '、']))
    };
    let lines = text.lines().map(str::trim_start);
    lines
        .filter(|line| line.starts_with("- ") || line.starts_with("* ") || numbered(line))
        .count()
}
