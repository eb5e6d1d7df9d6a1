//! Runs a file of permission cases and prints one JSON line for each: `{id, verdict, rule, ok}`.
//!
//! `cargo run -p policy --example cases -- FILE`

#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::process::ExitCode;

use policy::cases;
use serde_json::{Value, json};

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        println!("usage: cases FILE");
        return ExitCode::from(2);
    };
    let tools = tools::BuiltIn::default().set(tools::Options::default());
    let known: Vec<_> = tools.specs().collect();
    let ran = std::fs::read_to_string(&file)
        .map_err(|error| error.to_string())
        .and_then(|text| serde_json::from_str::<Value>(&text).map_err(|error| error.to_string()));
    let ran: Vec<_> = match ran {
        Ok(file) => {
            let all = file["cases"].as_array().into_iter().flatten();
            all.map(|case| cases::run(case, workspace::is_protected, &known))
                .collect()
        }
        Err(error) => {
            println!("read `{file}`: {error}");
            return ExitCode::from(2);
        }
    };
    for case in &ran {
        println!(
            "{}",
            json!({"id": case.id, "tier": case.tier, "verdict": case.verdict, "rule": case.rule, "ok": case.ok})
        );
    }
    let ok = ran.iter().filter(|case| case.ok).count();
    let honest = ran.iter().filter(|case| case.honest);
    let allowed = honest.clone().filter(|case| case.ok).count();
    println!(
        "{}",
        json!({"cases": ran.len(), "ok": ok, "honest": honest.count(), "honest_ok": allowed})
    );
    if ok == ran.len() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
