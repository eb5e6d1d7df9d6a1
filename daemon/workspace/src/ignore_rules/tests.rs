//! The rules against those of the `ignore` crate, and ignore files that are no files.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use ignore::WalkBuilder;
use proptest::prelude::*;

use super::*;
use crate::tree_walk::{TreeWalk, WalkedFiles};

/// The names of all ignore files of a directory that is a repository.
const NAMES: [&str; 4] = [".gitignore", ".ignore", ".rgignore", ".git/info/exclude"];

fn put(top: &Path, name: &str, text: &str) {
    let path = top.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn repository() -> tempfile::TempDir {
    let top = tempfile::tempdir().unwrap();
    fs::create_dir_all(top.path().join(".git/info")).unwrap();
    put(top.path(), "kept/a.txt", "");
    put(top.path(), "left/b.txt", "");
    top
}

/// The files of a walk, and how many ignore files could not be used.
fn listed(root: &Path) -> (BTreeSet<PathBuf>, u64) {
    let root = root.canonicalize().unwrap();
    let walk = TreeWalk::new(&WalkedFiles {
        root: &root,
        base: &root,
        globs: &[],
        file_type: None,
        include_ignored: false,
    });
    let walk = walk.unwrap();
    let found = std::sync::Mutex::new(BTreeSet::new());
    walk.parallel().run(|| {
        Box::new(|entry| {
            let entry = entry.unwrap();
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                let path = entry.path().strip_prefix(&root).unwrap().to_owned();
                found.lock().unwrap().insert(path);
            }
            ignore::WalkState::Continue
        })
    });
    (found.into_inner().unwrap(), walk.unusable())
}

/// The same by the `ignore` crate.
fn expected(root: &Path) -> BTreeSet<PathBuf> {
    let root = root.canonicalize().unwrap();
    let mut walk = WalkBuilder::new(&root);
    walk.add_custom_ignore_filename(".rgignore");
    // A rule that is no glob is an error there.
    let files = walk.build().filter_map(Result::ok);
    let files = files.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files
        .map(|entry| entry.path().strip_prefix(&root).unwrap().to_owned())
        .collect()
}

#[test]
fn each_kind_of_ignore_file_counts() {
    for name in NAMES {
        let top = repository();
        put(top.path(), name, "left/\n");
        let (files, unusable) = listed(top.path());
        assert_eq!(files, BTreeSet::from(["kept/a.txt".into()]), "{name}");
        assert_eq!(unusable, 0, "{name}");
    }
}

#[test]
fn special_linked_or_huge_ignore_file_is_unusable_and_excludes_nothing() {
    type Plant = (&'static str, fn(&Path));
    let plants: [Plant; 6] = [
        ("a link to a device", |path| {
            symlink("/dev/zero", path).unwrap()
        }),
        ("a link to rules", |path| {
            let rules = path.with_file_name("rules");
            fs::write(&rules, "left/\n").unwrap();
            symlink(rules, path).unwrap();
        }),
        ("a link to itself", |path| symlink(path, path).unwrap()),
        ("a sparse file", |path| {
            fs::File::create(path).unwrap().set_len(10 << 30).unwrap();
        }),
        ("a FIFO", |path| {
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
        ("a directory", |path| fs::create_dir(path).unwrap()),
    ];
    for name in NAMES {
        for (what, plant) in plants {
            let top = repository();
            plant(&top.path().join(name));
            let (files, unusable) = listed(top.path());
            assert!(files.contains(Path::new("left/b.txt")), "{name}: {what}");
            assert_eq!(unusable, 1, "{name}: {what}");
        }
    }
}

#[test]
fn rules_that_are_compiled_count_several_times() {
    let top = repository();
    let rules = "left/\n".to_owned() + &"a?b\n".repeat(WEIGHT_MAX / 32);
    put(top.path(), ".gitignore", &rules);
    let (files, unusable) = listed(top.path());
    assert!(files.contains(Path::new("left/b.txt")));
    assert_eq!(unusable, 1);
}

#[test]
fn many_ignore_files_are_read_up_to_a_bound() {
    let top = repository();
    let rules = "left/\n".to_owned() + &"#".repeat(FILE_MAX - 8);
    for dir in 0..WEIGHT_MAX / FILE_MAX + 2 {
        put(top.path(), &format!("{dir}/.gitignore"), &rules);
        put(top.path(), &format!("{dir}/left/c.txt"), "");
    }
    let (files, unusable) = listed(top.path());
    assert_eq!(unusable, 2);
    let left_out = files.iter().filter(|file| file.ends_with("left/c.txt"));
    assert_eq!(left_out.count(), 2);
}

/// Rules of a few names, so that they often concern what is there.
fn rules() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "a", "b", "!a", "!b", "/a", "!/b", "a/", "!a/", "b/a", "!b/a", "**/a", "a/**", "*", "!*/",
        ".a", "!.a", "*.x", "!*.x", "# a", "", "b ", "\\!a", "a/b/", "[ab]", "{", "!**/b",
    ]);
    prop::collection::vec(line, 0..4).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_walk_lists_what_the_crate_lists(
        files in prop::collection::vec("(\\.?[ab](\\.x)?/){0,3}\\.?[ab](\\.x)?", 1..12),
        ignored in prop::collection::vec(
            ("(\\.?[ab]/){0,2}", prop::sample::select(NAMES.to_vec()), rules()), 0..5),
        repositories in prop::collection::vec("([ab]/){0,2}", 0..3),
        below in "([ab]/)?",
    ) {
        let top = tempfile::tempdir().unwrap();
        for dir in &repositories {
            fs::create_dir_all(top.path().join(dir).join(".git/info")).unwrap();
        }
        let write = |name: &str, text: &str| {
            let path = top.path().join(name);
            // A file may already be where a directory is wanted, or the other way round.
            if fs::create_dir_all(path.parent().unwrap()).is_ok() {
                let _ = fs::write(path, text);
            }
        };
        for (dir, name, rules) in &ignored {
            let git = top.path().join(dir).join(".git");
            if !name.starts_with(".git/") || git.is_dir() {
                write(&format!("{dir}{name}"), rules);
            }
        }
        files.iter().for_each(|file| write(file, ""));
        let root = top.path().join(below);
        prop_assume!(root.is_dir());
        prop_assert_eq!(listed(&root).0, expected(&root));
    }
}
