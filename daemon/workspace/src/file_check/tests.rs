use super::*;
use crate::{Access, WorkspaceOptions};

#[test]
fn a_file_is_unchanged_changed_or_missing() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let file = top.join("a");
    std::fs::write(&file, "one\n").unwrap();
    let workspace = Workspace::open(WorkspaceOptions {
        root: top.clone(),
        cwd: top.clone(),
        ..WorkspaceOptions::default()
    })
    .unwrap();
    let at = workspace.resolve("a", Access::Read).unwrap();
    let known = workspace.read(&at).unwrap().stamp;
    assert_eq!(workspace.check_file(&file, &known), FileCheck::Same);
    std::fs::write(&file, "three\n").unwrap();
    assert!(matches!(
        workspace.check_file(&file, &known),
        FileCheck::Touched { size: 6, .. }
    ));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(workspace.check_file(&file, &known), FileCheck::Gone);
    std::os::unix::fs::symlink("elsewhere", &file).unwrap();
    assert_eq!(workspace.check_file(&file, &known), FileCheck::Gone);
}
