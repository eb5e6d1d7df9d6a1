//! Starting the daemon: its arguments, and the message if it does not start.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::program::{reasonix, run};

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
fn no_program_at_all_says_where_it_belongs() {
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
fn no_home_is_a_matter_of_configuration() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let done = run(reasonix(home.path(), &["ls"])
        .env_remove("REASONIX_HOME")
        .env_remove("HOME"));
    assert_eq!(done.code, Some(78), "{done:?}");
}
