//! Commands that cannot be started, and their errors.

use std::path::Path;

use super::*;

#[tokio::test]
async fn a_missing_directory_is_named() {
    let mut asked = sh("true");
    asked.cwd = PathBuf::from("/no/such/place");
    let expected = "start `sh`: working directory `/no/such/place`: no such directory";
    assert_eq!(refused(asked).await, expected);
}

#[tokio::test]
async fn a_missing_program_is_named() {
    assert_eq!(
        refused(command(&["no-such-program"])).await,
        "start `no-such-program`: no such program on `PATH`"
    );
    assert_eq!(
        refused(command(&["/no/such"])).await,
        "start `/no/such`: no such file"
    );
}

#[tokio::test]
async fn a_file_that_cannot_be_run_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "text").unwrap();
    let plain = plain.to_str().unwrap();
    assert_eq!(
        refused(command(&[plain])).await,
        format!("start `{plain}`: permission denied")
    );
    let lost = script(dir.path(), "lost", "#!/no/such/shell\n");
    let reason = "the interpreter or loader that the file names does not exist";
    assert_eq!(
        refused(command(&[&lost])).await,
        format!("start `{lost}`: {reason}")
    );
}

#[tokio::test]
async fn an_empty_command_and_a_nul_are_refused() {
    assert_eq!(
        refused(command(&[])).await,
        "start ``: the command is empty"
    );
    assert!(
        refused(command(&["echo", "a\0b"]))
            .await
            .contains("nul byte")
    );
}

#[tokio::test]
async fn a_missing_helper_is_reported() {
    let mut options = options();
    options.helper.program = PathBuf::from("/no/helper");
    let procs = Procs::start(options).unwrap();
    let Err(error) = procs.spawn(SESSION, sh("true")).await else {
        panic!("it started")
    };
    assert!(
        error
            .to_string()
            .starts_with("start `sh`: its helper did not start: "),
        "{error}"
    );
    assert_eq!(procs.count(), 0);
}

fn script(dir: &Path, name: &str, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_namespace_that_does_not_answer_is_not_used_and_the_reason_is_kept() {
    let mut options = options();
    options.helper.program = PathBuf::from("/bin/true");
    let procs = Procs::start(options).unwrap();
    let Err(error) = procs.spawn(SESSION, sh("true")).await else {
        panic!("it started")
    };
    let error = error.to_string();
    assert!(error.starts_with("start `sh`: its helper "), "{error}");
    let procs::Mechanism::Sweep { why, .. } = procs.mechanism() else {
        panic!("{}", procs.mechanism())
    };
    let known = [
        "does not start it",
        "is switched off",
        "is not installed",
        "is not used",
    ];
    assert!(known.iter().any(|known| why.contains(known)), "{why}");
}
