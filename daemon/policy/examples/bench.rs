//! Measures the longest decisions: 200 kB of hostile input, 10,000 rules. Prints the slowest of each in microseconds.
//!
//! `cargo run --release -p policy --example bench`. The bound is 50 ms each.

#![allow(clippy::print_stdout, reason = "it is what the program is for")]

mod clock;

use std::path::PathBuf;
use std::time::Instant;

use clock::worked;
use contract::{ArgumentUse, Family, Strength, ToolSpec};
use policy::{Call, Context, Layer, RuleSet, decide};
use proto::record::Rules;
use proto::state::ApprovalMode;
use serde_json::{Map, Value, json};

fn inputs() -> Vec<(&'static str, String)> {
    let long = |piece: &str, bytes: usize| piece.repeat(bytes / piece.len());
    let mut found = vec![
        ("plain", "git status".to_owned()),
        (
            "pipeline",
            "cd src && cargo test 2>&1 | tail -20 && git status".to_owned(),
        ),
    ];
    for (name, piece) in [
        ("words", "a "),
        ("commands", "a;"),
        ("pipes", "a|"),
        ("substitutions", "$("),
        ("parentheses", "("),
        ("groups", "{ "),
        ("backticks", "`"),
        ("quotes", "'"),
        ("expansions", "${a:-"),
        ("arithmetic", "$(("),
        ("heredocs", "<<A "),
        ("redirections", ">a "),
        ("assignments", "a=1 "),
        ("globs", "*a? "),
        ("conditions", "[[ "),
        ("if", "if a; then "),
        ("launchers", "env "),
        ("eval", "eval "),
        ("rm", "rm -x "),
        ("escapes", "\\"),
        ("loops", "for a in b; do "),
        ("braces", "{a,"),
        ("strings", "\"$("),
        ("readers", "ls a|"),
    ] {
        found.push((name, long(piece, 9_900)));
        found.push((name, long(piece, 200_000)));
    }
    let loops = "for i in 1 2 3 4 5 6 7 8 9 10; do for j in 1 2 3 4 5 6 7 8 9 10; do ls $i $j; done; done; ";
    found.push(("rounds", long(loops, 9_900)));
    let mut nested = "ls".to_owned();
    for _ in 0..8 {
        nested = format!("sh -c '{}'", nested.replace('\'', "'\\''"));
    }
    found.push(("shells", nested.chars().take(9_900).collect()));
    found
}

fn main() {
    let bash = ToolSpec::new("bash", "", Value::Null, Family::Bash)
        .with_arguments(&[("command", ArgumentUse::Command)]);
    let many = |make: &dyn Fn(usize) -> String| (0..10_000).map(make).collect::<Vec<_>>();
    let lists = [
        ("none", Vec::new()),
        ("prefixes", many(&|index| format!("Bash(tool-{index}:*)"))),
        ("stars", many(&|index| format!("Bash(*x{index}*)"))),
        ("spellings", many(&|index| format!("Bash(rm -{index})"))),
        ("paths", many(&|index| format!("Edit(a/**/x{index}*/b)"))),
    ];
    let mut worst = 0;
    for (list, rules) in lists {
        for deny in [false, true] {
            let rules = Rules {
                allow: if deny { Vec::new() } else { rules.clone() },
                deny: if deny { rules.clone() } else { Vec::new() },
                ask: Vec::new(),
            };
            let started = Instant::now();
            let set = RuleSet::parse(&[(Layer::User, &rules, true)], &[]).0;
            println!(
                "{}",
                json!({"rules": list, "deny": deny, "read_ms": started.elapsed().as_millis()})
            );
            for (input, text) in inputs() {
                let arguments = Map::from_iter([("command".to_owned(), json!(text))]);
                let call = Call {
                    tool: &bash,
                    arguments: &arguments,
                    touches: &[],
                };
                let context = Context {
                    paths: Vec::new(),
                    root: PathBuf::from("/w"),
                    cwd: PathBuf::from("/w"),
                    user_home: PathBuf::from("/h"),
                    altered: Vec::new(),
                    git_programs: Vec::new(),
                    masked: Vec::new(),
                    approval_mode: ApprovalMode::Yolo,
                    effective_permissions: contract::EffectivePermissions::default(),
                    sandbox: Strength::None,
                    leaks: false,
                    unconfined: None,
                    trusted: true,
                };
                let times = (0..7).map(|_| {
                    let started = worked();
                    let decision = decide(&set, &context, &call);
                    ((worked() - started).as_micros(), decision.verdict)
                });
                let Some((time, verdict)) = times.min_by_key(|(time, _)| *time) else {
                    continue;
                };
                worst = worst.max(time);
                if time > 10_000 || text.len() < 100 {
                    println!(
                        "{}",
                        json!({"rules": list, "deny": deny, "input": input, "bytes": text.len(), "us": time, "verdict": format!("{verdict:?}")})
                    );
                }
            }
        }
    }
    println!("{}", json!({"worst_us": worst}));
}
