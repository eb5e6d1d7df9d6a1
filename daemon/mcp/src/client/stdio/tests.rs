use super::*;

/// Sandboxes that can be made, or cannot.
struct Made(bool);

impl Sandboxes for Made {
    fn sandbox(
        &self,
        _cwd: &Path,
        _temp: &Path,
        env: Vec<(String, String)>,
    ) -> Result<SandboxedStart, String> {
        let sandbox = Arc::new(SandboxSpec::default());
        match self.0 {
            true => Ok(SandboxedStart { sandbox, env }),
            false => Err("there is none here".to_owned()),
        }
    }

    fn terms(&self, _cwd: &Path) -> String {
        String::new()
    }
}

fn made(temp: &Path, can_be_made: bool) -> Result<(), ConnectError> {
    let temp = temp.join("mcp-1");
    make_sandbox(
        Arc::new(Made(can_be_made)),
        PathBuf::new(),
        temp,
        Vec::new(),
    )
    .map(drop)
}

#[test]
fn a_directory_that_cannot_be_made_is_no_missing_sandbox() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(made(dir.path(), true), Ok(()));
    let refused = made(dir.path(), false).unwrap_err();
    let ConnectError::NoSandbox(reason) = refused else {
        panic!("{refused:?}");
    };
    assert!(reason.ends_with("there is none here"), "{reason}");
    // It is tried again: `Failed` is.
    let failed = made(&dir.path().join("missing"), true).unwrap_err();
    let ConnectError::Failed(reason) = failed else {
        panic!("{failed:?}");
    };
    assert!(reason.contains("temporary directory"), "{reason}");
}

#[test]
fn a_file_below_tmp_is_named_if_the_sandbox_hides_it() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let script = dir.path().join("server.py");
    std::fs::write(&script, "").unwrap();
    let script = script.to_string_lossy().into_owned();
    let missing = format!("{script}-missing");
    let argv = |word: &str| {
        ["python3", word, "/usr/bin/env"]
            .map(str::to_owned)
            .to_vec()
    };
    let closed = SandboxSpec {
        temp: PathBuf::from("/run/mcp-1"),
        ..SandboxSpec::default()
    };
    let hidden = hidden_word(&argv(&script), &closed).unwrap();
    assert!(
        hidden.starts_with(&format!("`{script}` is below `/tmp`")),
        "{hidden}"
    );
    assert_eq!(hidden_word(&argv(&missing), &closed), None);
    let open = SandboxSpec {
        write: vec![dir.path().to_path_buf()],
        ..closed
    };
    assert_eq!(hidden_word(&argv(&script), &open), None);
}
