//! Ways out of the workspace, one call each: `path_cases.json`. A case that must be denied has no effect.
//!
//! `${T}` is a fresh directory, `${WS}` the workspace in it, `${OUT}` a directory outside that holds `canary`,
//! `${OUTREL}` the same without its first slash, `${HOME}` the user's home.

use std::path::Path;
use std::time::Duration;

use proto::item::CallStatus;
use serde::Deserialize;
use serde_json::Value;

use crate::scene::Scene;

#[derive(Deserialize)]
struct Case {
    id: String,
    /// `mkdir`, `file`, `symlink`, `hardlink`, `fifo`, each with a path and its arguments.
    setup: Vec<Vec<String>>,
    tool: String,
    args: Value,
    /// Outcomes that pass: `allow`, `deny`.
    accept: Vec<String>,
    /// Conditions after the call: `content`, `absent`.
    post: Vec<Vec<String>>,
    why: String,
}

fn filled(text: &str, top: &Path) -> String {
    let top = top.to_string_lossy();
    text.replace("${WS}", &format!("{top}/ws"))
        .replace("${OUTREL}", format!("{top}/out").trim_start_matches('/'))
        .replace("${OUT}", &format!("{top}/out"))
        .replace("${HOME}", &format!("{top}/home"))
        .replace("${T}", &top)
}

fn filled_value(value: &Value, top: &Path) -> Value {
    match value {
        Value::String(text) => Value::String(filled(text, top)),
        Value::Array(items) => items.iter().map(|item| filled_value(item, top)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), filled_value(value, top)))
            .collect(),
        other => other.clone(),
    }
}

fn set_up(scene: &Scene, step: &[String]) {
    let step: Vec<String> = step.iter().map(|part| filled(part, &scene.top)).collect();
    let step: Vec<&str> = step.iter().map(String::as_str).collect();
    match step.as_slice() {
        ["mkdir", path] => std::fs::create_dir_all(path).unwrap(),
        ["file", path, content] => std::fs::write(path, content).unwrap(),
        ["symlink", path, target] => std::os::unix::fs::symlink(target, path).unwrap(),
        ["hardlink", path, existing] => std::fs::hard_link(existing, path).unwrap(),
        ["fifo", path] => {
            let mode = rustix::fs::Mode::from_raw_mode(0o600);
            rustix::fs::mkfifoat(rustix::fs::CWD, *path, mode).unwrap();
        }
        other => panic!("no such step: {other:?}"),
    }
}

fn look(scene: &Scene, condition: &[String]) -> Result<(), String> {
    let parts: Vec<String> = condition
        .iter()
        .map(|part| filled(part, &scene.top))
        .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let holds = match parts.as_slice() {
        ["content", path, text] => {
            std::fs::read_to_string(path).is_ok_and(|content| content == *text)
        }
        ["absent", path] => std::fs::symlink_metadata(path).is_err(),
        other => panic!("no such condition: {other:?}"),
    };
    if holds {
        Ok(())
    } else {
        Err(format!("{parts:?} does not hold"))
    }
}

/// Plays a case; the error says which condition failed.
async fn play(case: &Case) -> Result<(), String> {
    let scene = Scene::new();
    for step in &case.setup {
        set_up(&scene, step);
    }
    let arguments = filled_value(&case.args, &scene.top);
    // What may be read is read before, so that no guard but that of the place holds.
    for key in ["path", "destination", "source"] {
        if let Some(path) = arguments.get(key).and_then(Value::as_str) {
            let look = serde_json::json!({ "path": path });
            let _ =
                tokio::time::timeout(Duration::from_secs(5), scene.call("read_file", look)).await;
        }
    }
    let call = scene.call(&case.tool, arguments);
    let outcome = tokio::time::timeout(Duration::from_secs(5), call).await;
    let outcome = outcome.map_err(|_| "it blocked".to_owned())?;
    let verdict = match outcome.status {
        CallStatus::Ok => "allow",
        _ => "deny",
    };
    if !case.accept.iter().any(|accepted| accepted == verdict) {
        return Err(format!("{verdict}: {}", outcome.text));
    }
    if verdict == "deny" && !outcome.changed.is_empty() {
        return Err(format!("it reports changes: {:?}", outcome.changed));
    }
    case.post
        .iter()
        .try_for_each(|condition| look(&scene, condition))
}

#[tokio::test]
async fn every_path_escape_case_has_an_accepted_outcome() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("path_cases.json")).unwrap();
    assert!(cases.len() > 90, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        if let Err(what) = play(case).await {
            wrong.push(format!("{} ({}): {what}", case.id, case.why));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
