//! Starting the daemon: its arguments, and the message if it does not start.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use std::process::Stdio;

use proto::{ErrorName, Failure};
use serde_json::json;

use crate::fake::{Call, Fake, FakeAction};
use crate::program::{Running, reasonix, run, terminal};

/// A program in the daemon's place.
fn script(directory: &Path, text: &str) -> PathBuf {
    let path = directory.join("daemon.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_daemon_that_dies_is_told_with_the_end_of_its_log() {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let home = directory.path().join("home");
    let daemon = script(
        directory.path(),
        "mkdir -p logs; echo 'no such \u{1b}[31mdisk' > logs/reasonixd.log; exit 3",
    );
    let done = run(reasonix(&home, &["ls"]).env("REASONIX_DAEMON", daemon));
    assert_eq!(done.code, Some(69), "{done:?}");
    assert!(
        done.err.contains("exit status: 3") && done.err.contains("no such disk"),
        "{}",
        done.err
    );
    assert!(done.err.contains("reasonix daemon logs"), "{}", done.err);
    let mode = std::fs::metadata(&home).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o700, "the home is private");
}

#[test]
fn a_daemon_gets_a_small_environment_and_stays_in_its_home() {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let home = directory.path().join("home");
    let daemon = script(directory.path(), "env > env.txt; pwd > pwd.txt; exit 3");
    let mut command = reasonix(&home, &["ls"]);
    command
        .env("REASONIX_DAEMON", daemon)
        .env("DEEPSEEK_API_KEY", "k")
        .env("EDITOR", "vi")
        .env("https_proxy", "http://p");
    assert_eq!(run(&mut command).code, Some(69));
    let env = std::fs::read_to_string(home.join("env.txt")).unwrap();
    assert!(
        !env.contains("DEEPSEEK_API_KEY") && !env.contains("EDITOR"),
        "{env}"
    );
    assert!(
        env.contains("https_proxy=http://p")
            && env.contains(&format!("REASONIX_HOME={}", home.display())),
        "{env}"
    );
    let pwd = std::fs::read_to_string(home.join("pwd.txt")).unwrap();
    assert_eq!(
        Path::new(pwd.trim()).canonicalize().unwrap(),
        home.canonicalize().unwrap()
    );
}

#[test]
fn error_for_a_missing_daemon_program_names_reasonix_daemon() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let done = run(&mut reasonix(home.path(), &["ls"]));
    assert_eq!(done.code, Some(69), "{done:?}");
    assert!(done.err.contains("REASONIX_DAEMON"), "{}", done.err);
    let verbose = run(&mut reasonix(home.path(), &["ls", "--verbose"]));
    assert!(
        verbose.err.contains("because: ") && verbose.err.len() > done.err.len(),
        "{}",
        verbose.err
    );
}

#[test]
fn missing_home_variables_exit_with_78() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let done = run(reasonix(home.path(), &["ls"])
        .env_remove("REASONIX_HOME")
        .env_remove("HOME"));
    assert_eq!(done.code, Some(78), "{done:?}");
}

#[test]
fn a_prompt_with_options_of_run_is_led_to_run_with_them() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    for (words, line) in [
        (
            &["--output-format", "json", "-p", "hi"][..],
            "`reasonix run --output-format json hi`",
        ),
        (
            &["-p", "fix it", "--output-format", "json"],
            "`reasonix run \"fix it\" --output-format json`",
        ),
        (
            &[
                "-p",
                "hi",
                "--output-format=stream-json",
                "--max-turns",
                "5",
                "--verbose",
            ],
            "`reasonix run hi --output-format=jsonl --max-steps 5 --verbose`",
        ),
        (
            &[
                "--dangerously-skip-permissions",
                "-p",
                "hi",
                "--resume",
                "7",
            ],
            "`reasonix run --approval-mode yolo hi --session 7`",
        ),
        (&["fix it", "--json"], "`reasonix run \"fix it\" --json`"),
        (
            &["exec", "hi", "--max-turns=5"],
            "`reasonix run hi --max-steps=5`",
        ),
    ] {
        let done = run(&mut reasonix(home.path(), words));
        assert_eq!(done.code, Some(64), "{words:?}: {done:?}");
        assert!(done.err.contains(line), "{words:?}: {}", done.err);
        assert!(!done.err.contains("error:"), "{words:?}: {}", done.err);
    }
}

#[test]
fn a_sentence_without_quotes_is_no_misspelt_command() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let done = run(&mut reasonix(home.path(), &["fix", "the", "bug"]));
    assert_eq!(done.code, Some(64), "{done:?}");
    assert!(
        done.err.contains("`reasonix \"fix the bug\"`"),
        "{}",
        done.err
    );
    assert!(!done.err.contains("`pin`"), "{}", done.err);
    let slip = run(&mut reasonix(home.path(), &["attch", "3"]));
    assert!(slip.err.contains("`attach`"), "{}", slip.err);
}

#[test]
fn a_model_that_does_not_exist_is_refused_before_the_interface_opens() {
    let fake = Fake::start(|call: &Call| match call.method.as_str() {
        "provider.list" => vec![FakeAction::Answer(
            json!({"providers": [], "default_model": "deep"}),
        )],
        "session.prefix" => vec![FakeAction::Refuse(Failure::new(
            ErrorName::NotFound,
            "Unknown model `dep`.",
            "Did you mean `deep`?",
        ))],
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let (_ours, theirs) = terminal();
    let mut command = reasonix(&fake.home(), &["-m", "dep", "fix it"]);
    command
        .stdin(Stdio::from(theirs.try_clone().unwrap()))
        .stdout(Stdio::from(theirs))
        .env("TERM", "xterm-256color");
    let done = Running::start(&mut command).done();
    assert_eq!(done.code, Some(64), "{done:?}");
    assert!(
        done.err.contains("Unknown model `dep`.") && done.err.contains("Did you mean `deep`?"),
        "{}",
        done.err
    );
    assert_eq!(fake.params("session.prefix")[0]["model"], "dep");
    assert!(fake.params("session.create").is_empty());
}
