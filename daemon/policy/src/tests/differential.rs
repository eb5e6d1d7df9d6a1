//! Thousands of lines, run by real shells with harmless programs: every program that ran must be among the parts.
//!
//! The shells run in a separate directory. Its `PATH` has stubs that record their arguments, and real launchers, which
//! find nothing else to launch. `REASONIX_DIFFERENTIAL=50000` runs that many lines.

pub(super) mod lines;
mod restricted;
mod shells;

use lines::Lines;
use shells::Scratch;

use proto::record::Verdict;

use super::{Scene, scene};
use crate::{Part, Script, Value, Word, read};

/// Whether a scenario may let a program run.
type MayRun = fn(&str) -> bool;

/// Default number of lines in a run.
const COUNT: u64 = 480;

/// The number of lines in this run.
fn count() -> u64 {
    let count = std::env::var("REASONIX_DIFFERENTIAL").ok();
    count.and_then(|count| count.parse().ok()).unwrap_or(COUNT)
}

/// Whether an argument list may come from a part.
fn fits(part: &Part, ran: &[String]) -> bool {
    if part.doubt.is_some() {
        return true;
    }
    let any = |word: &Word| word.value != Value::Known || word.glob || word.tilde;
    // The words of the part from which the rest must still be found.
    let mut at = vec![false; part.words.len() + 1];
    at[0] = true;
    let skip = |at: &mut Vec<bool>| {
        for (index, word) in part.words.iter().enumerate() {
            if at[index] && any(word) {
                at[index + 1] = true;
            }
        }
    };
    skip(&mut at);
    for text in ran {
        let mut next = vec![false; part.words.len() + 1];
        for (index, word) in part.words.iter().enumerate() {
            if at[index] && any(word) {
                next[index] = true;
            } else if at[index] && word.text == *text {
                next[index + 1] = true;
            }
        }
        at = next;
        skip(&mut at);
    }
    at[part.words.len()]
}

/// Programs that ran although no part has them.
fn missed(script: &Script, ran: &[Vec<String>]) -> Option<Vec<String>> {
    if script.doubt.is_some() {
        return None;
    }
    let found = |argv: &&Vec<String>| script.parts.iter().any(|part| fits(part, argv));
    ran.iter().find(|argv| !found(argv)).cloned()
}

#[test]
fn parsed_commands_include_every_program_that_bash_runs() {
    let Some(scratch) = Scratch::new() else {
        return;
    };
    let count = count();
    let (mut understood, mut ran_any, mut allowed) = (0_u64, 0_u64, 0_u64);
    let scenes: [(Scene, MayRun); 2] = [
        (scene("allow Bash(a:*) / allow Bash(b:*)"), |program| {
            matches!(program, "a" | "b")
        }),
        (
            scene("allow Bash / deny Bash(rm:*) / ask Bash(git:*)"),
            |program| !matches!(program, "rm" | "git"),
        ),
    ];
    let mut misses = Vec::new();
    for seed in 0..count {
        let line = Lines::new(seed).line();
        let script = read(&line);
        if script.doubt.is_some() {
            continue;
        }
        understood += 1;
        let ran = scratch.run("bash", &line);
        ran_any += u64::from(!ran.is_empty());
        // The same for verdicts: a line that was not allowed has not run.
        for (scene, may_run) in &scenes {
            if scene.bash(&line).verdict != Verdict::Allow {
                continue;
            }
            allowed += 1;
            let program = |argv: &Vec<String>| argv.first().cloned().unwrap_or_default();
            if let Some(argv) = ran.iter().find(|argv| !may_run(&program(argv))) {
                misses.push(format!(
                    "seed {seed}: {argv:?} ran of {line:?}, which was allowed"
                ));
            }
        }
        if let Some(argv) = missed(&script, &ran) {
            misses.push(format!(
                "seed {seed}: {argv:?} of {line:?}\n{:?}",
                texts(&script)
            ));
        }
    }
    assert!(
        allowed * 20 > understood,
        "only {allowed} of {understood} allowed"
    );
    assert!(
        misses.is_empty(),
        "{} lines:\n{}",
        misses.len(),
        misses.join("\n")
    );
    assert!(
        understood * 2 > count,
        "only {understood} of {count} understood"
    );
    assert!(
        ran_any * 3 > understood,
        "only {ran_any} of {understood} ran anything"
    );
}

#[test]
fn line_for_another_shell_is_parsed_in_its_language() {
    let Some(scratch) = Scratch::new() else {
        return;
    };
    for seed in 0..count() / 4 {
        let inner = Lines::new(1_000_000 + seed).line();
        let line = format!("sh -c '{}'", inner.replace('\'', "'\\''"));
        let script = read(&line);
        if let Some(argv) = missed(&script, &scratch.run("bash", &line)) {
            panic!("seed {seed}: {argv:?} of {line:?}\n{:?}", texts(&script));
        }
    }
}

#[test]
fn every_program_run_beside_a_here_document_is_a_part() {
    let Some(scratch) = Scratch::new() else {
        return;
    };
    let made = (0..count()).map(|seed| Lines::new(3_000_000 + seed).here_document());
    let (understood, ran_any) = run_all(&scratch, made);
    assert!(understood * 4 > count(), "only {understood} understood");
    assert!(ran_any * 3 > understood, "only {ran_any} ran anything");
}

#[test]
fn every_program_run_in_a_substitution_is_a_part() {
    let Some(scratch) = Scratch::new() else {
        return;
    };
    let made = (0..count()).map(|seed| {
        let inner = Lines::new(4_000_000 + seed).line();
        match seed % 3 {
            0 => format!("a \"$({inner}\n)\""),
            1 => format!("a <({inner}\n)"),
            _ => format!("x=$(b; {inner}; b\n)"),
        }
    });
    let (understood, ran_any) = run_all(&scratch, made);
    assert!(understood * 6 > count(), "only {understood} understood");
    assert!(ran_any * 3 > understood, "only {ran_any} ran anything");
}

/// How many of these lines are understood, and how many of them ran anything. Fails if a program ran that is none of the
/// parts of its line.
fn run_all(scratch: &Scratch, lines: impl IntoIterator<Item = String>) -> (u64, u64) {
    let (mut understood, mut ran_any) = (0, 0);
    for line in lines {
        let script = read(&line);
        if script.any_doubt().is_some() {
            continue;
        }
        understood += 1;
        let ran = scratch.run("bash", &line);
        ran_any += u64::from(!ran.is_empty());
        if let Some(argv) = missed(&script, &ran) {
            panic!("{argv:?} of {line:?}\n{:?}", texts(&script));
        }
    }
    (understood, ran_any)
}

fn texts(script: &Script) -> Vec<String> {
    script.parts.iter().map(Part::text).collect()
}

#[test]
fn multiplying_line_is_ended_completely() {
    let Some(scratch) = Scratch::new() else {
        return;
    };
    let started = std::time::Instant::now();
    // Lines like these are not run if the limit on processes does not work.
    for line in [
        "f() { f | f & f; }; f",
        "while :; do a & done",
        "f() { f; }; f",
        "sh -c 'f() { f & f; }; f'",
    ] {
        scratch.run("bash", line);
    }
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    assert!(!scratch.is_busy(), "something of it still runs");
}

#[test]
fn lines_once_misread_are_read_correctly() {
    let Some(scratch) = Scratch::new() else {
        return;
    };
    for line in lines::FOUND {
        let script = read(line);
        if let Some(argv) = missed(&script, &scratch.run("bash", line)) {
            panic!("{argv:?} of {line:?}\n{:?}", texts(&script));
        }
    }
}
