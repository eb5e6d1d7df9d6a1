//! Feeds damaged command lines to the engine for some seconds: `fuzz SECONDS [SEED]`.
//!
//! Nothing may panic, take long, or answer differently the second time; what is not understood must not be allowed.

#![allow(clippy::print_stdout, reason = "it is what the program is for")]

mod clock;

use std::time::{Duration, Instant};

use clock::worked;
use policy::cases;
use proto::record::Verdict;
use serde_json::json;

const PIECES: &[&str] = &[
    "git", "status", "rm", "-rf", "sh", "-c", "eval", "env", "sudo", "find", "-exec", "{}", "\\;",
    "xargs", "A=1", "if", "then", "fi", "for", "in", "do", "done", "case", "esac", "while",
    "function", "f()", "{", "}", "(", ")", "((", "))", "[[", "]]", "[", "]", "$(", "`", "${x", "}",
    "$'", "'", "\"", "\\", "|", "||", "&", "&&", ";", ";;", "\n", ">", ">>", "<", "<<", "<<E", "E",
    "<<<", "2>&1", "&>", ">|", "<(", "#", "!", "*", "?", "~", "=", "+=", "$", "$x", "${x:-", "é",
    "\u{202e}", "\0", "\r", "\t", " ", "  ", "\\\n", "a", "b", "cat", "ls", "echo", "cd", "-",
    "--", "1", "{a,b}", "@P}", "time", "coproc",
];

/// The same seed, the same numbers.
struct Chance(u64);

impl Chance {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % count.max(1) as u64).unwrap_or(0)
    }

    fn line(&mut self) -> String {
        let most = if self.below(200) == 0 { 4_000 } else { 30 };
        let mut line = String::new();
        for _ in 0..self.below(most) {
            match self.below(12) {
                0 => line.extend(char::from_u32(
                    u32::try_from(self.below(0x11_0000)).unwrap_or(0),
                )),
                1 => line.extend(char::from_u32(u32::try_from(self.below(128)).unwrap_or(0))),
                _ => line.push_str(
                    PIECES
                        .get(self.below(PIECES.len()))
                        .copied()
                        .unwrap_or_default(),
                ),
            }
            if self.below(2) == 0 {
                line.push(' ');
            }
        }
        line
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| {
        arguments
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let (seconds, mut seed) = (number(10), number(0));
    let started = Instant::now();
    let (mut lines, mut understood) = (0_u64, 0_u64);
    let mut slowest = (Duration::ZERO, seed);
    while started.elapsed().as_secs() < seconds {
        let line = Chance(seed).line();
        // What makes the process itself end is found in this file.
        if let Some(file) = std::env::var_os("FUZZ_TRACE") {
            let _ = std::fs::write(file, &line);
        }
        let script = policy::read(&line);
        understood += u64::from(script.doubt.is_none());
        let mut rules = json!({"allow": ["Bash", "Bash(git status:*)"], "ask": ["Bash(git push*)"], "deny": ["Bash(rm -rf*)", "Edit(secrets/**)"]});
        // A rule is a text of somebody's too.
        if seed.is_multiple_of(16) {
            rules["allow"] = json!(["Bash", line]);
            rules["ask"] = json!([format!("Bash({line})"), "Bash(git push*)"]);
        }
        let posture = if seed.is_multiple_of(2) {
            "yolo"
        } else {
            "auto"
        };
        let case =
            json!({"tool": "bash", "args": {"command": line}, "rules": rules, "posture": posture});
        let before = worked();
        let first = cases::explained(&case, workspace::is_protected);
        slowest = slowest.max((worked() - before, seed));
        if lines.is_multiple_of(50) {
            assert!(
                first == cases::explained(&case, workspace::is_protected),
                "seed {seed}: {line:?}"
            );
        }
        let verdict = first.map(|found| found.decision.verdict);
        assert!(
            script.doubt.is_none() || verdict != Some(Verdict::Allow),
            "seed {seed}: {line:?}"
        );
        lines += 1;
        seed += 1;
    }
    println!(
        "{}",
        json!({"lines": lines, "understood": understood, "next_seed": seed, "slowest_us": slowest.0.as_micros(), "slowest_seed": slowest.1})
    );
}
