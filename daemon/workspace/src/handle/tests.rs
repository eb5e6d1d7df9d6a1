//! Both ways of opening behave the same.

use super::*;

#[test]
fn no_link_is_followed_in_any_component() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(top.join("a/b")).unwrap();
    std::fs::write(top.join("a/b/f"), "x").unwrap();
    std::os::unix::fs::symlink("a", top.join("link")).unwrap();
    std::os::unix::fs::symlink("f", top.join("a/b/end")).unwrap();
    let slash = slash().unwrap();
    let below = |path: &str| top.strip_prefix("/").unwrap().join(path);
    for open in [open_beneath, open_by_name] {
        assert!(open(slash.as_fd(), &below("a/b/f"), OFlags::RDONLY).is_ok());
        for path in ["link/b/f", "a/b/end", "link"] {
            let error = open(slash.as_fd(), &below(path), OFlags::RDONLY).unwrap_err();
            assert!(
                matches!(error, Errno::LOOP | Errno::NOTDIR),
                "{path}: {error}"
            );
        }
        assert_eq!(
            open(slash.as_fd(), &below("none/f"), OFlags::RDONLY).unwrap_err(),
            Errno::NOENT
        );
        let climb = open(slash.as_fd(), Path::new(".."), OFlags::RDONLY).unwrap_err();
        assert_eq!(climb, Errno::XDEV);
    }
}

#[test]
fn missing_directories_are_made() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    make_directory(&slash().unwrap(), &top.join("x/y/z")).unwrap();
    assert!(top.join("x/y/z").is_dir());
    std::fs::write(top.join("file"), "").unwrap();
    let error = make_directory(&slash().unwrap(), &top.join("file/z")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
}
