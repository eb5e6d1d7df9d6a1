//! What a shell completes: the script is sourced by a real bash, and its function called as bash calls it.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::commands::summary;
use crate::fake::{Call, Fake, FakeAction};
use crate::program::{reasonix, run};
use crate::settings::provider;

fn daemon() -> Fake {
    Fake::start(|call: &Call| {
        let session = |pid: u64, name: Value, title: &str| {
            let mut made = summary(pid, "idle");
            made["name"] = name;
            made["title"] = json!(title);
            made
        };
        let mut deep = provider("deep", true, false);
        deep["listed"] = json!(["deep-new"]);
        vec![FakeAction::Answer(match call.method.as_str() {
            "session.list" => json!({"sessions": [
                session(75, json!("parser"), "parser"),
                session(74, Value::Null, "Fix the \u{1b}[31mred\ttests"),
                session(8, Value::Null, "Explain it"),
            ]}),
            "provider.list" => json!({"providers": [deep]}),
            _ => json!({}),
        })]
    })
}

/// What bash would offer after these words, as it lists them (`?`) or inserts them.
fn offered(home: &Path, words: &[&str], lists: bool) -> Vec<String> {
    let script = run(&mut reasonix(home, &["completions", "bash"])).out;
    let file = home.join("completions.bash");
    std::fs::write(&file, script).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_reasonix")).parent().unwrap();
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let asks = format!(
        "set -u; source '{}'; COMP_WORDS=({}); COMP_CWORD={}; COMP_TYPE={}; \
         _reasonix_dynamic reasonix \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; \
         printf '%s\\n' \"${{COMPREPLY[@]-}}\"",
        file.display(),
        quoted.join(" "),
        words.len() - 1,
        if lists { 63 } else { 9 },
    );
    let mut command = Command::new("bash");
    // The same surroundings as every other program of these tests.
    for (name, value) in reasonix(home, &[]).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .env("PATH", format!("{}:{path}", program.display()))
        .args(["-c", &asks])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let done = run(&mut command);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{done:?}");
    let lines = done.out.lines().filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

#[test]
fn bash_completes_sessions_with_their_titles_and_models() {
    let fake = daemon();
    let home = fake.home();
    let lists = |words: &[&str]| offered(&home, words, true);
    let printed = run(&mut reasonix(&home, &["completions", "--list", "sessions"]));
    assert_eq!(printed.code, Some(0), "{printed:?}");
    assert_eq!(
        lists(&["reasonix", "attach", ""]),
        [
            "75  (parser)",
            "parser  (session 75)",
            "74  (Fix the red tests)",
            "8  (Explain it)"
        ]
    );
    assert_eq!(
        offered(&home, &["reasonix", "attach", "7"], false),
        ["75", "74"]
    );
    assert_eq!(lists(&["reasonix", "attach", "par"]), ["parser"]);
    assert_eq!(lists(&["reasonix", "kill", "75", "8"]), ["8"]);
    assert_eq!(
        lists(&["reasonix", "run", "--model", "deep/deep-"]),
        ["deep/deep-small", "deep/deep-large", "deep/deep-new"]
    );
    assert_eq!(
        lists(&["reasonix", "model", "75", "deep/deep-n"]),
        ["deep/deep-new"]
    );
    assert_eq!(lists(&["reasonix", "run", "-s", "par"]), ["parser"]);
    assert_eq!(lists(&["reasonix", "attach", "--plain", "8"]), ["8"]);
    assert!(lists(&["reasonix", "kill", "-s", ""]).contains(&"INT".to_owned()));
    // Other words are left to the script's own function.
    assert!(lists(&["reasonix", "atta"]).contains(&"attach".to_owned()));
    assert!(lists(&["reasonix", "attach", "--pl"]).contains(&"--plain".to_owned()));
}

#[test]
fn a_tab_key_starts_no_daemon() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    for kind in ["sessions", "models"] {
        let done = run(&mut reasonix(home.path(), &["completions", "--list", kind]));
        assert_eq!((done.code, done.out.as_str()), (Some(0), ""), "{done:?}");
    }
    assert!(!home.path().join("run").exists());
}
