//! Whether a text is of a format of JSON Schema. Refuses only what every strict server would refuse too. Pure.

use proto::params::elicitation::TextFormat;

/// Whether a text is of a format.
pub(super) fn fits(text: &str, format: TextFormat) -> bool {
    match format {
        TextFormat::Email => is_email(text),
        TextFormat::Uri => is_uri(text),
        TextFormat::Date => is_date(text),
        TextFormat::DateTime => is_date_time(text),
    }
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && c != '@';
    let is_label = |label: &str| {
        let is_within = |c: char| c.is_alphanumeric() || c == '-';
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(is_within)
    };
    !local.is_empty() && local.chars().all(is_plain) && domain.split('.').all(is_label)
}

/// A scheme, a colon, and what follows in the characters of a URI.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let is_within = |c: char| c.is_ascii_graphic() && !"\"<>\\^`{|}".contains(c);
    let is_escape = |after: &str| {
        after
            .get(..2)
            .is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    is_scheme
        && !matches!(rest, "" | "//")
        && rest.chars().all(is_within)
        && rest.split('%').skip(1).all(is_escape)
}

/// `2026-01-31`.
fn is_date(text: &str) -> bool {
    let [year, month, day] = match text.split('-').collect::<Vec<_>>().as_slice() {
        [year, month, day] => [digits(year, 4), digits(month, 2), digits(day, 2)],
        _ => return false,
    };
    let (Some(year), Some(month), Some(day)) = (year, month, day) else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// `2026-01-31T09:30:00.5+01:00`, as RFC 3339 has it.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else {
        return false;
    };
    let Some(at) = time.find(['Z', 'z', '+', '-']) else {
        return false;
    };
    let (time, zone) = time.split_at(at);
    let zone = match zone.strip_prefix(['+', '-']) {
        Some(offset) => is_time_of(offset, &[23, 59]),
        None => zone.len() == 1,
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    // 60 is a leap second.
    is_date(date) && zone && is_fraction && is_time_of(time, &[23, 59, 60])
}

/// Whether a text is numbers of two digits with colons between them, each up to its bound.
fn is_time_of(text: &str, bounds: &[u32]) -> bool {
    let parts: Vec<_> = text.split(':').collect();
    let mut pairs = parts.iter().zip(bounds);
    parts.len() == bounds.len()
        && pairs.all(|(part, bound)| digits(part, 2).is_some_and(|number| number <= *bound))
}

/// The number that a text of so many digits is.
fn digits(text: &str, count: usize) -> Option<u32> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_texts_fit_their_formats_and_bad_ones_do_not() {
        use TextFormat::{Date, DateTime, Email, Uri};
        for (format, good, bad) in [
            (
                Email,
                &[
                    "ann@example.org",
                    "a.b+c@x-y.example",
                    "root@localhost",
                    "用户@例子.公司",
                ][..],
                &[
                    "notmail",
                    "@example.org",
                    "ann@",
                    "ann@.org",
                    "a b@example.org",
                    "ann@ex_ample.org",
                    "a@b@c.org",
                    "ann@-x.org",
                ][..],
            ),
            (
                Uri,
                &[
                    "https://example.org/a?b=c#d",
                    "mailto:ann@example.org",
                    "urn:isbn:1",
                    "http://[::1]:80/%C3%BC",
                    "file:///etc/hosts",
                ],
                &[
                    "notauri",
                    "/a/b",
                    "https://",
                    "https:",
                    "1a:b",
                    ":b",
                    "http://a b",
                    "http://a/%zz",
                    "http://a/%",
                    "http://ü.example",
                    "http://a/{b}",
                ],
            ),
            (
                Date,
                &["2020-12-31", "2024-02-29", "2000-02-29", "0001-01-01"],
                &[
                    "2020-13-45",
                    "2023-02-29",
                    "1900-02-29",
                    "2020-04-31",
                    "2020-1-1",
                    "20-01-01",
                    "2020-01-00",
                    "2020-00-01",
                    "2020-01-01T00:00:00Z",
                    "31.12.2020",
                    "2020-01-+1",
                    "-020-01-01",
                    "",
                ],
            ),
            (
                DateTime,
                &[
                    "2026-01-31T09:30:00Z",
                    "2026-01-31t09:30:00.123z",
                    "2026-01-31T23:59:60+14:00",
                    "2026-01-31 09:30:00-05:30",
                ],
                &[
                    "2026-01-31",
                    "2026-01-31T09:30:00",
                    "2026-01-31T09:30Z",
                    "2026-01-31T24:00:00Z",
                    "2026-02-30T00:00:00Z",
                    "2026-01-31T09:30:00.Z",
                    "2026-01-31T09:30:00+1",
                    "2026-01-31T09:30:00Zulu",
                    "now",
                ],
            ),
        ] {
            for text in good {
                assert!(fits(text, format), "{format:?}: {text}");
            }
            for text in bad {
                assert!(!fits(text, format), "{format:?}: {text}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_checks(text in "\\PC*") {
            for format in TextFormat::ALL {
                fits(&text, format);
            }
        }
    }
}
