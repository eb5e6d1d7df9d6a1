//! Which of two versions is newer, and what follows for a client and a daemon of different ones. Pure.

use std::cmp::Ordering;

/// How a client's version compares with the daemon's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skew {
    /// The client is newer.
    ClientNewer,
    /// The daemon is newer.
    DaemonNewer,
    /// They are the same, or one of them cannot be read: nothing follows from it.
    None,
}

/// Compares a client's version with a daemon's. Builds of one version are not distinguished: none of them is newer.
#[must_use]
pub fn skew(client: &str, daemon: &str) -> Skew {
    match (parse(client), parse(daemon)) {
        (Some(client), Some(daemon)) => match client.order(&daemon) {
            Ordering::Greater => Skew::ClientNewer,
            Ordering::Less => Skew::DaemonNewer,
            Ordering::Equal => Skew::None,
        },
        _ => Skew::None,
    }
}

/// A version as <https://semver.org> writes it: numbers, and the pre-release part. Builds do not count.
struct Version<'a> {
    numbers: [u64; 3],
    /// Empty: a release.
    before: Vec<&'a str>,
}

impl Version<'_> {
    fn order(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| {
            match (self.before.is_empty(), other.before.is_empty()) {
                (true, true) => Ordering::Equal,
                // A release is newer than its pre-releases.
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => earlier(&self.before, &other.before),
            }
        })
    }
}

/// Orders pre-release parts: numbers by value and below words, words by their bytes, the longer list last.
fn earlier(one: &[&str], other: &[&str]) -> Ordering {
    let parts = one.iter().zip(other).map(|(one, other)| {
        match (one.parse::<u64>(), other.parse::<u64>()) {
            (Ok(one), Ok(other)) => one.cmp(&other),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => one.cmp(other),
        }
    });
    parts
        .fold(Ordering::Equal, Ordering::then)
        .then_with(|| one.len().cmp(&other.len()))
}

fn parse(text: &str) -> Option<Version<'_>> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let (text, _build) = text.split_once('+').unwrap_or((text, ""));
    let (numbers, before) = match text.split_once('-') {
        None => (text, Vec::new()),
        Some((_, "")) => return None,
        Some((numbers, before)) => (numbers, before.split('.').collect()),
    };
    let mut read = [0; 3];
    let mut parts = numbers.split('.');
    for (index, number) in read.iter_mut().enumerate() {
        match parts.next() {
            Some(part) => *number = part.parse().ok()?,
            // `1.2` is `1.2.0`; an empty text is not a version.
            None if index > 0 => {}
            None => return None,
        }
    }
    parts.next().is_none().then_some(Version {
        numbers: read,
        before,
    })
}

#[cfg(test)]
mod tests;
