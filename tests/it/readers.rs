//! In a read-only session, a command that runs because it only reads changes nothing, whatever the client's environment names.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use testkit::Script;
use tests::{House, skip};

fn bubblewrap_is_missing() -> bool {
    let bubblewrap = ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"];
    skip::unless(skip::works(&bubblewrap), "bubblewrap that starts")
}

/// A repository with a change in it, and a program in the workspace that leaves `hacked` there.
fn repository(script: &Script) -> (House, PathBuf) {
    let house = House::playing(script);
    house.files("//- a\nx");
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(house.project()).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(git.output().expect("git").status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "a"]);
    git(&[
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "-qm",
        "a",
    ]);
    house.files("//- a\ny");
    let evil = house.project().join("evil");
    let text = format!(
        "#!/bin/sh\n/bin/touch {}/hacked\n",
        house.project().display()
    );
    std::fs::write(&evil, text).expect("write");
    std::fs::set_permissions(&evil, std::fs::Permissions::from_mode(0o755)).expect("chmod");
    (house, evil)
}

/// A variable, and its value for the path of a program.
type Variable<'a> = (&'a str, &'a dyn Fn(&str) -> String);

/// Runs one command that reads in this mode, with these variables of the client.
fn check(command: &str, mode: &[&str], env: &[Variable<'_>], turn_off_sandbox: bool) {
    let (house, evil) = repository(&Script::new().runs(command).says("Done."));
    if turn_off_sandbox {
        house.turn_off_sandbox();
    }
    let mut arguments = vec!["run", "look"];
    arguments.extend(mode);
    let mut run = house.command(&arguments);
    let evil = evil.to_string_lossy().into_owned();
    for (name, value) in env {
        run.env(name, value(&evil));
    }
    let done = tests::program::run(&mut run);
    assert_eq!(done.code(), Some(0), "{}", done.err);
    let ran = house.logs()[0].results();
    let text = &ran[0].text;
    assert!(text.starts_with("exit code 0"), "{command} ran: {text}");
    assert!(
        !house.project().join("hacked").exists(),
        "{command} {mode:?}: {text}"
    );
}

#[test]
fn a_diff_program_of_the_client_does_not_run() {
    for mode in [&["--read-only"][..], &["--plan"], &["--on-ask", "deny"]] {
        check(
            "git diff",
            mode,
            &[("GIT_EXTERNAL_DIFF", &str::to_owned)],
            false,
        );
    }
    check(
        "git diff",
        &["--read-only"],
        &[("GIT_EXTERNAL_DIFF", &str::to_owned)],
        true,
    );
}

#[test]
fn git_config_and_shell_startup_code_in_client_variables_do_not_run() {
    let config: [Variable<'_>; 3] = [
        ("GIT_CONFIG_COUNT", &|_| "1".to_owned()),
        ("GIT_CONFIG_KEY_0", &|_| "diff.external".to_owned()),
        ("GIT_CONFIG_VALUE_0", &str::to_owned),
    ];
    check("git diff", &["--on-ask", "deny"], &config, true);
    check(
        "ls",
        &["--read-only"],
        &[("BASH_ENV", &str::to_owned)],
        true,
    );
    let function: (&str, &dyn Fn(&str) -> String) =
        ("BASH_FUNC_ls%%", &|evil| format!("() {{ {evil}; }}"));
    check("ls", &["--plan"], &[function], true);
}

#[test]
fn diff_program_of_the_users_git_config_cannot_write_in_the_workspace() {
    if bubblewrap_is_missing() {
        return;
    }
    // The person's own config names it.
    let (house, evil) = repository(&Script::new().runs("git diff").says("Done."));
    let config = format!("[diff]\n\texternal = {}\n", evil.display());
    // Commands have a `/tmp` of their own.
    let outside = tempfile::tempdir_in("/var/tmp").expect("a directory outside");
    let place = outside.path().join("git");
    std::fs::create_dir_all(&place).expect("a directory");
    std::fs::write(place.join("config"), config).expect("config");
    let mut run = house.command(&["run", "look", "--read-only"]);
    run.env("XDG_CONFIG_HOME", outside.path());
    let done = tests::program::run(&mut run);
    assert_eq!(done.code(), Some(0), "{}", done.err);
    let text = house.logs()[0].results()[0].text.clone();
    assert!(text.contains("Read-only file system"), "{text}");
    assert!(!house.project().join("hacked").exists());
}
