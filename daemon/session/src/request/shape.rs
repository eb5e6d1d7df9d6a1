//! The shape of a request: a checksum of each part of it, to know whether the next request extends it (I1).
//!
//! Pure. Compares the parts that are copied together (prefix and fragments), not of how a kind groups and marks it. A checksum
//! finds what we broke by mistake, which is all that it is for; it is quick (CRC-32C, gigabytes a second) and small
//! (eight bytes a message).

use contract::codec::FragmentRole;
use contract::{Fragment, Prefix};

/// Length and checksum of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    len: u32,
    crc: u32,
}

impl Mark {
    fn of(kind: u8, bytes: &[u8]) -> Self {
        Self {
            // Of the length the lower half is enough beside a checksum.
            len: u32::try_from(bytes.len() & 0xffff_ffff).unwrap_or(u32::MAX),
            crc: crc32c::crc32c_append(crc32c::crc32c(&[kind]), bytes),
        }
    }
}

/// What a request was made of.
#[derive(Debug, PartialEq, Eq)]
pub struct Shape {
    /// Cache resets before it: only requests with the same number are compared.
    pub resets: u64,
    /// Parts of the prefix, by their names.
    prefix: [(&'static str, Mark); 4],
    messages: Vec<Mark>,
}

impl Shape {
    /// Of a request that is made from these.
    pub fn of(resets: u64, prefix: &Prefix, fragments: &[Fragment<'_>]) -> Self {
        let part = |name, text: &str| (name, Mark::of(0, text.as_bytes()));
        let role = |role| match role {
            FragmentRole::User => 1,
            FragmentRole::Assistant => 2,
            FragmentRole::Tool => 3,
        };
        Self {
            resets,
            prefix: [
                part("model", &prefix.model),
                part("system", &prefix.system),
                part("tools", &prefix.tools),
                part("extra", &prefix.extra),
            ],
            messages: fragments
                .iter()
                .map(|fragment| Mark::of(role(fragment.role), fragment.bytes))
                .collect(),
        }
    }

    /// The first place where this request does not extend the one before it: a part of the prefix, or `message N`, from
    /// 1. `None`: it does, or a reset lies between.
    pub fn rewrites(&self, before: &Self) -> Option<String> {
        if self.resets != before.resets {
            return None;
        }
        let mut parts = self.prefix.iter().zip(&before.prefix);
        if let Some(((name, _), _)) = parts.find(|(now, then)| now.1 != then.1) {
            return Some((*name).to_owned());
        }
        let message = |n: usize| format!("message {}", n + 1);
        let mut messages = before.messages.iter().enumerate();
        let other = messages.find(|(n, then)| self.messages.get(*n) != Some(then));
        other.map(|(n, _)| message(n))
    }
}

#[cfg(test)]
mod tests;
