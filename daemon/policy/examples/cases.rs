//! Runs a file of permission cases and prints one JSON line for each: `{id, verdict, rule, ok}`.
//!
//! `cargo run -p policy --example cases -- FILE`. Paths are looked up by their text alone, below a made-up
//! workspace; commands are taken as fully sandboxed.

#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use contract::{Basis, Family};
use policy::{Access, Call, Context, Layer, ResolvedPath, RuleSet, Sandbox, decide, subjects};
use proto::record::{Rules, Verdict};
use proto::state::Posture;
use serde_json::{Map, Value, json};

const ROOT: &str = "/home/someone/project";

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        println!("usage: cases FILE");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => {
            println!("read `{file}`: {error}");
            return ExitCode::from(2);
        }
    };
    let Ok(Value::Object(corpus)) = serde_json::from_str::<Value>(&text) else {
        println!("`{file}` is not a JSON object");
        return ExitCode::from(2);
    };
    let cases = corpus
        .get("cases")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let mut good = 0;
    for case in &cases {
        let (verdict, rule) = judge(case);
        let ok = list(&case["accept"]).contains(&verdict.to_owned());
        good += usize::from(ok);
        println!(
            "{}",
            json!({"id": case["id"], "tier": case["tier"], "verdict": verdict, "rule": rule, "ok": ok})
        );
    }
    println!("{}", json!({"cases": cases.len(), "ok": good}));
    if good == cases.len() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn list(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn rules(value: &Value) -> Rules {
    Rules {
        allow: list(&value["allow"]),
        ask: list(&value["ask"]),
        deny: list(&value["deny"]),
    }
}

fn judge(case: &Value) -> (&'static str, String) {
    let tool = case["tool"].as_str().unwrap_or_default();
    let family = match tool {
        "bash" => Family::Bash,
        "read_file" | "ls" | "glob" | "grep" => Family::Read,
        name if name.ends_with("_file")
            || name.ends_with("_edit")
            || name.starts_with("delete_") =>
        {
            Family::Edit
        }
        _ => Family::Read,
    };
    let read_only = case["read_only"].as_bool().unwrap_or(false) && family != Family::Bash;
    if case["posture"] == "plan" && !read_only {
        return ("deny", "plan mode".to_owned());
    }
    let Some(arguments) = arguments(case) else {
        return ("deny", "arguments".to_owned());
    };
    let changed = &case["context"]["mcp"]["definition_changed_since_approval"];
    if changed == &Value::Bool(true) {
        return ("ask", "definition changed".to_owned());
    }
    let layers = [
        (Layer::Run, rules(&case["rules"]), true),
        (Layer::User, rules(&case["layers"]["user"]), true),
        (
            Layer::Project,
            rules(&case["layers"]["project"]),
            case["layers"]["project_trusted"].as_bool().unwrap_or(false),
        ),
    ];
    let layers: Vec<(Layer, &Rules, bool)> = layers
        .iter()
        .map(|(layer, rules, trusted)| (*layer, rules, *trusted))
        .collect();
    let rules = RuleSet::parse(&layers).0;
    let call = Call {
        tool,
        family,
        read_only_tool: read_only,
        arguments: &arguments,
        touches: &[],
    };
    let context = Context {
        paths: subjects(&call)
            .paths
            .iter()
            .map(|subject| resolve(&subject.text, subject.access))
            .collect(),
        root: PathBuf::from(ROOT),
        cwd: PathBuf::from(ROOT),
        user_home: PathBuf::from("/home/someone"),
        altered: Vec::new(),
        posture: match case["posture"].as_str() {
            Some("yolo") => Posture::Yolo,
            Some("auto") => Posture::Auto,
            // A mode speaks of what no rule speaks of, as this posture does.
            _ if case["mode"] == "allow" => Posture::Auto,
            _ => Posture::Ask,
        },
        sandbox: Sandbox::Full,
        masked: Vec::new(),
        trusted: true,
    };
    let decision = decide(&rules, &context, &call);
    let verdict = match decision.verdict {
        Verdict::Allow => "allow",
        // Nobody is there to be asked where the mode says so.
        Verdict::Ask if case["mode"] == "deny" && decision.basis != Basis::Rule => "deny",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    };
    (verdict, decision.rule)
}

fn arguments(case: &Value) -> Option<Map<String, Value>> {
    if let Some(raw) = case["args_raw"].as_str() {
        return serde_json::from_str(raw).ok();
    }
    if let Some(parts) = case["args_parts"].as_object() {
        return Some(
            parts
                .iter()
                .map(|(key, pieces)| (key.clone(), Value::String(pieces_of(pieces))))
                .collect(),
        );
    }
    let text = case["args"].to_string().replace("${WS}", ROOT);
    serde_json::from_str(&text).ok()
}

fn pieces_of(pieces: &Value) -> String {
    let mut text = String::new();
    for piece in pieces.as_array().into_iter().flatten() {
        let count = usize::try_from(piece[1].as_u64().unwrap_or(0)).unwrap_or(0);
        text.push_str(&piece[0].as_str().unwrap_or_default().repeat(count));
    }
    text
}

fn resolve(text: &str, access: Access) -> ResolvedPath {
    let start = match text.strip_prefix('~') {
        Some(rest) => PathBuf::from(format!("/home/someone{rest}")),
        None => Path::new(ROOT).join(text),
    };
    let mut absolute = PathBuf::new();
    for part in start.components() {
        match part {
            Component::ParentDir => {
                absolute.pop();
            }
            part => absolute.push(part),
        }
    }
    let inside = absolute.starts_with(ROOT);
    let error = text
        .contains('\0')
        .then(|| "the path holds a zero byte".to_owned());
    ResolvedPath {
        text: text.to_owned(),
        access,
        protected: workspace::is_protected(absolute.strip_prefix(ROOT).unwrap_or(&absolute)),
        absolute: Some(absolute),
        writable: inside,
        masked: false,
        denied: false,
        holds_closed: false,
        directory: false,
        unkept: false,
        error,
    }
}
