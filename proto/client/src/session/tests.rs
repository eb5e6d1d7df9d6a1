use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn existing_file_is_not_written_again() {
    let dir = std::env::temp_dir().join(format!("rx-export-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("out.md");
    create_new(&file).unwrap().write_all(b"mine").unwrap();
    let again = create_new(&file).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::remove_dir_all(&dir).unwrap();
}
