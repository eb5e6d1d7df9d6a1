use super::tree;

#[test]
fn the_paths_below_a_directory_are_those_that_git_does_not_ignore() {
    let place = tempfile::tempdir().unwrap();
    for file in [
        "src/ui/widget.rs",
        "target/debug/x",
        "node_modules/m/index.js",
        "a.md",
        ".env",
    ] {
        let path = place.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    std::fs::write(place.path().join(".gitignore"), "target\n").unwrap();
    let paths = tree(place.path());
    assert_eq!(paths, ["a.md", "src/", "src/ui/", "src/ui/widget.rs"]);
    assert!(tree(&place.path().join("absent")).is_empty());
}
