//! Scenes.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// The shell on a `PATH` of which the session may write nothing.
fn shell(path: &str) -> String {
    super::shell(path, &WritableDirs::default())
}

#[test]
fn the_shell_is_an_absolute_path() {
    assert_eq!(shell("relative:/nowhere"), "/bin/sh");
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("bash"), "").unwrap();
    let path = dir.path().to_string_lossy();
    assert_eq!(
        shell(&path),
        "/bin/sh",
        "a file that cannot run is no shell"
    );
    std::fs::set_permissions(
        dir.path().join("bash"),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    assert_eq!(shell(&path), format!("{path}/bash"));
}

#[test]
fn a_title_is_one_short_line() {
    assert_eq!(title("\nmake all\nmake test\n", None), "make all");
    assert_eq!(title("make", Some(" Build it ")), "Build it");
    assert_eq!(title("make", Some(" ")), "make");
    assert_eq!(title("a\x1b[31mb", None), "a[31mb");
    assert_eq!(title(&"é".repeat(100), None), "é".repeat(80));
}
