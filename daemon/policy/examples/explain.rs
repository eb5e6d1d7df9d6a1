//! Explains each line of its input, as a command, under the rules of its arguments: `allow 'Bash(make:*)'`.
//!
//! `cargo run -p policy --example explain -- allow 'Bash(git log:*)' deny 'Bash(rm -rf*)' < lines`

#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::io::BufRead;

use policy::cases;
use proto::record::Rules;
use serde_json::json;

fn main() {
    let mut rules = Rules::default();
    let mut brief = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(list) = arguments.next() {
        if list == "brief" {
            brief = true;
            continue;
        }
        let rule = arguments.next().unwrap_or_default();
        match list.as_str() {
            "allow" => rules.allow.push(rule),
            "ask" => rules.ask.push(rule),
            _ => rules.deny.push(rule),
        }
    }
    let tools = tools::BuiltIn::default().set(tools::Options::default());
    let known: Vec<_> = tools.specs().collect();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let command = line.replace("\\n", "\n");
        let case = json!({"tool": "bash", "args": {"command": command}, "rules": rules});
        let explanation = cases::explained(&case, workspace::is_protected, &known);
        match explanation {
            Some(found) if brief => {
                println!(
                    "{:5} | {line}    [{}]",
                    found.decision.verdict.as_str(),
                    found.decision.rule
                );
            }
            Some(found) => println!(
                "{line}\n{}",
                serde_json::to_string_pretty(&found).unwrap_or_default()
            ),
            None => println!("{line}\nnot a call"),
        }
    }
}
