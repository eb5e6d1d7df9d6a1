//! Matches the shell's wildcards against names, without a file system. Called by `protected`, `shell` and `textrules`.

/// One element of a pattern.
#[derive(Clone, PartialEq, Eq)]
enum Element {
    /// `*`
    Any,
    /// Brackets that are not understood, and the rest of the pattern: any characters.
    Rest,
    /// `?`
    One,
    /// `[…]`: one of these characters.
    OneOf(String),
    Char(char),
}

/// How a position in a pattern may be reached.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Reached {
    /// With a `*` for every character so far.
    by_stars: bool,
    /// With another element for at least one character.
    by_others: bool,
}

impl Reached {
    fn is_any(self) -> bool {
        self.by_stars || self.by_others
    }

    /// After an element that is no `*`.
    fn with_other(self) -> Self {
        Self {
            by_stars: false,
            by_others: self.is_any(),
        }
    }

    fn add(&mut self, other: Self) {
        self.by_stars |= other.by_stars;
        self.by_others |= other.by_others;
    }
}

/// Whether a pattern may match a name.
pub(crate) fn may_match(pattern: &str, name: &str) -> bool {
    let pattern = elements(pattern);
    let reached = positions_after(&pattern, name, false);
    reached.last().is_some_and(|last| last.is_any())
}

/// Whether a pattern may match a word of a rule, or if `open` one that starts with it. A `*` alone stands for no option:
/// files are rarely named like options, and `*.o` is common.
pub(crate) fn may_be(pattern: &str, word: &str, open: bool) -> bool {
    let pattern = elements(pattern);
    let reached = positions_after(&pattern, word, false);
    let counts = |reached: &Reached| match word.starts_with('-') {
        true => reached.by_others,
        false => reached.is_any(),
    };
    match open {
        true => reached.iter().any(counts),
        false => reached.last().is_some_and(counts),
    }
}

/// Whether a pattern may match a name that contains a text, and not just because of a `*`.
pub(crate) fn may_contain(pattern: &str, text: &str) -> bool {
    let pattern = elements(pattern);
    let reached = positions_after(&pattern, text, true);
    reached.iter().any(|reached| reached.by_others)
}

fn elements(pattern: &str) -> Vec<Element> {
    let mut rest = pattern.chars();
    let mut elements = Vec::new();
    while let Some(c) = rest.next() {
        elements.push(match c {
            '*' => Element::Any,
            '?' => Element::One,
            '[' => match rest.as_str().split_once(']') {
                Some((class, after)) if is_plain_class(class) => {
                    rest = after.chars();
                    Element::OneOf(class.to_owned())
                }
                _ => {
                    rest = "".chars();
                    Element::Rest
                }
            },
            c => Element::Char(c),
        });
    }
    elements
}

/// Whether the text in brackets is a list of characters, perhaps with ranges of letters or digits.
fn is_plain_class(class: &str) -> bool {
    let is_listed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | ',' | ' ');
    // `[--0]` is a range of signs.
    let dashes = class.strip_prefix('-').unwrap_or(class);
    let dashes = dashes.strip_suffix('-').unwrap_or(dashes);
    let between_letters = |(at, _): (usize, &str)| {
        let sides = [
            dashes[..at].chars().next_back(),
            dashes[at + 1..].chars().next(),
        ];
        sides.iter().all(|c| c.is_some_and(char::is_alphanumeric))
    };
    !class.is_empty()
        && class.chars().all(is_listed)
        && dashes.match_indices('-').all(between_letters)
}

/// Whether a character is in such brackets. With a range, every letter and digit is: their order is the locale's.
fn is_in_class(c: char, class: &str) -> bool {
    let inner = class
        .get(1..class.len().saturating_sub(1))
        .unwrap_or_default();
    let is_range_sign = c == '-' && !class.starts_with('-') && !class.ends_with('-');
    class.contains(c) && !is_range_sign || inner.contains('-') && c.is_alphanumeric()
}

/// The positions in a pattern that may be reached after matching a text, which starts at the pattern's start or
/// `anywhere` in it.
fn positions_after(pattern: &[Element], text: &str, anywhere: bool) -> Vec<Reached> {
    let mut at = vec![Reached::default(); pattern.len() + 1];
    for (index, reached) in at.iter_mut().enumerate() {
        reached.by_stars = anywhere || index == 0;
    }
    skip(pattern, &mut at);
    for c in text.chars() {
        let mut next = vec![Reached::default(); pattern.len() + 1];
        for (index, element) in pattern.iter().enumerate() {
            let here = at[index];
            match element {
                Element::Any => next[index].add(here),
                Element::Rest => next[index].add(here.with_other()),
                Element::One => next[index + 1].add(here.with_other()),
                Element::OneOf(class) if is_in_class(c, class) => {
                    next[index + 1].add(here.with_other());
                }
                Element::Char(own) if *own == c => next[index + 1].add(here.with_other()),
                Element::Char(_) | Element::OneOf(_) => {}
            }
        }
        at = next;
        skip(pattern, &mut at);
    }
    at
}

/// `*` may match nothing.
fn skip(pattern: &[Element], at: &mut [Reached]) {
    for (index, element) in pattern.iter().enumerate() {
        if matches!(element, Element::Any | Element::Rest) {
            let here = at[index];
            at[index + 1].add(here);
        }
    }
}
