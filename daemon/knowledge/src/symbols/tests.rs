use std::fs;

use workspace::WorkspaceOptions;

use super::*;

#[test]
fn definitions_are_found_in_source_files_that_tools_may_read() {
    let dir = tempfile::tempdir().expect("directory");
    let put = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("parent");
        fs::write(path, text).expect("write");
    };
    put("src/a.rs", "//! A.\n\npub struct Cart;\nfn total() {\n}\n");
    put("lib/b.py", "def total():\n    pass\n");
    put("notes.md", "def nothing\nclass of things\n");
    put("private/c.rs", "fn hidden() {}\n");
    put(".hidden/d.rs", "fn hidden() {}\n");
    let workspace = Workspace::open(WorkspaceOptions {
        root: dir.path().to_owned(),
        cwd: dir.path().to_owned(),
        deny_read: vec!["private/**".to_owned()],
        ..WorkspaceOptions::default()
    });
    let found = find_symbols(&workspace.expect("workspace"));
    let named = found.symbols.iter();
    let named: Vec<_> = named
        .map(|symbol| format!("{}#{}:{}", symbol.path, symbol.name, symbol.line))
        .collect();
    assert_eq!(
        named,
        ["lib/b.py#total:1", "src/a.rs#Cart:3", "src/a.rs#total:4"]
    );
    assert!(!found.partial);
}
