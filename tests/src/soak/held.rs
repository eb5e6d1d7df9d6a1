//! What the daemon holds at a moment, and whether that stays as it is.

use std::fmt;
use std::fs;
use std::time::Duration;

use proto::hello::Role;
use serde_json::json;

use crate::{House, processes};

/// By how much the second half of a life may be above the first, on average.
const DESCRIPTORS_MORE: u64 = 32;
const THREADS_MORE: u64 = 16;
const CHILDREN_MORE: u64 = 24;
const MEMORY_MORE: u64 = 32 * 1024 * 1024;
/// Fewer measurements of a life say nothing.
const ENOUGH: usize = 8;

/// The resources of the daemon proper.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    pub at: Duration,
    pub daemon: u32,
    /// Bytes.
    pub memory: u64,
    pub descriptors: u64,
    pub threads: u64,
    /// Processes of the house below it.
    pub children: u64,
    pub loaded: u64,
    pub running: u64,
    pub stored: u64,
}

impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>5} s: daemon {} memory {:.1} MiB descriptors {} threads {} children {} sessions: loaded {} running {} stored {};",
            self.at.as_secs(),
            self.daemon,
            mib(self.memory),
            self.descriptors,
            self.threads,
            self.children,
            self.loaded,
            self.running,
            self.stored
        )
    }
}

#[allow(clippy::cast_precision_loss, reason = "it is for showing")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

impl Resources {
    /// Looks.
    ///
    /// # Panics
    /// No daemon answers.
    pub(super) fn look(house: &House, at: Duration) -> Self {
        let mut raw = house.raw_as(Role::Watch);
        let status = raw.call("daemon.status", &json!({})).expect("a status");
        let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
        let daemon = u32::try_from(number(&status["pid"])).expect("a process");
        let count = |what: &str| {
            fs::read_dir(format!("/proc/{daemon}/{what}")).map_or(0, |found| found.count() as u64)
        };
        let children = processes::all()
            .iter()
            .filter(|process| process.ppid == daemon)
            .count();
        Self {
            at,
            daemon,
            memory: number(&status["memory_bytes"]),
            descriptors: count("fd"),
            threads: count("task"),
            children: children as u64,
            loaded: number(&status["sessions"]["loaded"]),
            running: number(&status["sessions"]["running"]),
            stored: number(&status["sessions"]["stored"]),
        }
    }
}

/// A measurement: its name, its value, and its allowed growth.
struct Kind(&'static str, fn(&Resources) -> u64, u64);

/// Whether the longest life of a daemon in this curve is flat: its first quarter is passed over, and of the rest the
/// second half is, on average, not above the first by more than a bound.
///
/// # Errors
/// What grows, and from what to what.
pub fn flat(curve: &[Resources]) -> Result<String, String> {
    let lives = curve.chunk_by(|one, two| one.daemon == two.daemon);
    let Some(life) = lives
        .max_by_key(|life| life.len())
        .filter(|life| life.len() >= ENOUGH)
    else {
        return Ok("too few measurements of one life to say whether it is flat".to_owned());
    };
    let life = &life[life.len() / 4..];
    let (early, late) = life.split_at(life.len() / 2);
    let mean = |life: &[Resources], of: fn(&Resources) -> u64| {
        life.iter().map(of).sum::<u64>() / (life.len() as u64).max(1)
    };
    let kinds = [
        Kind("descriptors", |held| held.descriptors, DESCRIPTORS_MORE),
        Kind("threads", |held| held.threads, THREADS_MORE),
        Kind("children", |held| held.children, CHILDREN_MORE),
        Kind("bytes of memory", |held| held.memory, MEMORY_MORE),
    ];
    let mut lines = Vec::new();
    for Kind(what, of, more) in kinds {
        let (before, after) = (mean(early, of), mean(late, of));
        let line = format!("{what}: {before} and then {after} on average, may grow by {more}");
        if after > before + more {
            return Err(format!("it grows: {line}"));
        }
        lines.push(line);
    }
    Ok(format!("flat: {}", lines.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(memory: impl Fn(u64) -> u64) -> Vec<Resources> {
        let held = |number: u64| Resources {
            daemon: 7,
            memory: memory(number) << 20,
            ..Resources::default()
        };
        (0..40).map(held).collect()
    }

    #[test]
    fn what_warms_up_and_stays_is_flat_and_what_grows_is_not() {
        assert!(flat(&curve(|number| 20 + number.min(8) * 10)).is_ok());
        let grows = flat(&curve(|number| 20 + number * 3)).expect_err("it grows");
        assert!(grows.contains("memory"), "{grows}");
    }
}
