//! What counts as having come.

use super::*;

#[test]
fn absent_path_arrives_with_content_or_by_a_link_in_its_parents() {
    let dir = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(dir.path()).unwrap();
    let name = AbsentName {
        root: root.clone(),
        path: root.join(".idea/runConfigurations"),
        at_once: false,
    };
    let came = || name.arrival().unwrap().map(|arrival| arrival.path);
    assert_eq!(came(), None);
    std::fs::write(root.join(".idea"), "a file leads nowhere").unwrap();
    assert_eq!(came(), None);
    std::fs::remove_file(root.join(".idea")).unwrap();
    std::fs::create_dir_all(root.join(".idea/runConfigurations")).unwrap();
    assert_eq!(came(), None, "an empty directory");
    let mut directories = BTreeSet::new();
    name.add_directories(&mut directories);
    let all = ["", "/.idea", "/.idea/runConfigurations"]
        .map(|at| PathBuf::from(format!("{}{at}", root.display())));
    assert!(directories.iter().eq(&all), "{directories:?}");
    std::fs::write(root.join(".idea/runConfigurations/x.xml"), "").unwrap();
    assert_eq!(came(), Some(name.path.clone()));
    std::fs::rename(root.join(".idea"), root.join("other")).unwrap();
    std::os::unix::fs::symlink("nowhere", root.join(".idea")).unwrap();
    assert_eq!(came(), Some(root.join(".idea")), "it may lead there later");
}
