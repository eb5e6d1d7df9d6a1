use std::os::unix::fs::PermissionsExt;

use super::*;

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_there_whole_private_and_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.md");
    let mut target = Target::open(path.clone(), false).unwrap();
    target.write("one ").unwrap();
    assert!(!path.exists(), "not before it is whole");
    target.write("two").unwrap();
    let words = target.finish().unwrap();
    assert!(words.contains("7 B") && words.contains("a.md"), "{words}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "one two");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(names(directory.path()), ["a.md"]);
}

#[test]
fn abandoned_export_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let mut target = Target::open(directory.path().join("a.md"), false).unwrap();
    target.write("one").unwrap();
    drop(target);
    assert!(names(directory.path()).is_empty());
}

#[test]
fn what_exists_is_replaced_by_force_only_also_if_it_appears_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.md");
    let late = Target::open(path.clone(), false).unwrap();
    fs::write(&path, "old").unwrap();
    assert!(matches!(late.finish(), Err(Error::Usage { .. })));
    assert!(matches!(
        Target::open(path.clone(), false),
        Err(Error::Usage { .. })
    ));
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    let mut forced = Target::open(path.clone(), true).unwrap();
    forced.write("new").unwrap();
    forced.finish().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(names(directory.path()), ["a.md"]);
    assert!(matches!(
        Target::open(directory.path().to_owned(), true),
        Err(Error::Usage { .. })
    ));
}
