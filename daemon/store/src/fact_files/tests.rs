use std::os::unix::fs::{PermissionsExt as _, symlink};

use rustix::fs::{CWD, Mode};
use tempfile::TempDir;

use super::*;

fn files() -> (TempDir, FactFiles) {
    let top = TempDir::new().unwrap();
    let files = FactFiles::new(top.path().join("project/memory"));
    (top, files)
}

#[test]
fn what_a_write_replaces_is_in_the_archive() {
    let (_top, files) = files();
    assert_eq!(files.names().unwrap(), FactNames::default());
    files.write("tabs", "one").unwrap();
    files.write("tabs", "two").unwrap();
    files.write("tabs", "two").unwrap();
    assert_eq!(files.read("tabs").unwrap().as_deref(), Some("two"));
    assert_eq!(files.archived().unwrap(), [("tabs".to_owned(), 1)]);
    assert!(files.forget("tabs").unwrap());
    assert!(!files.forget("tabs").unwrap());
    assert_eq!(files.read("tabs").unwrap(), None);
    assert_eq!(
        files.read_archived("tabs", 1).unwrap().as_deref(),
        Some("one")
    );
    files.restore("tabs", 2, "two").unwrap();
    assert_eq!(files.read("tabs").unwrap().as_deref(), Some("two"));
    assert_eq!(files.archived().unwrap(), [("tabs".to_owned(), 1)]);
}

#[test]
fn files_are_private() {
    let (_top, files) = files();
    files.write("a", "text").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&files.path("a")), 0o600);
    assert_eq!(mode(&files.dir), 0o700);
    assert_eq!(mode(&files.archive()), 0o700);
}

#[test]
fn what_is_no_regular_text_file_of_bounded_size_is_refused_at_once() {
    let (top, files) = files();
    files.write("good", "text").unwrap();
    let secret = top.path().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    symlink(&secret, files.path("link")).unwrap();
    rustix::fs::mkfifoat(CWD, files.path("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let large = std::fs::File::create(files.path("large")).unwrap();
    large.set_len(100 * 1024 * 1024).unwrap();
    std::fs::write(files.path("binary"), [0xff, 0xfe]).unwrap();
    std::fs::create_dir(files.path("directory")).unwrap();
    let reason = |name: &str| files.read(name).unwrap_err().to_string();
    assert_eq!(reason("link"), "it is a link");
    assert_eq!(reason("pipe"), "it is not a regular file");
    assert_eq!(reason("large"), "it has more than 65536 bytes");
    assert_eq!(reason("binary"), "it is not a text file");
    assert_eq!(reason("directory"), "it is not a regular file");
    assert_eq!(files.read("good").unwrap().as_deref(), Some("text"));
    // A fact may take the place of any of them; they are kept.
    files.write("pipe", "text").unwrap();
    files.write("link", "text").unwrap();
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret");
    assert!(files.archived().unwrap().contains(&("link".to_owned(), 1)));
}

#[test]
fn many_files_are_bounded() {
    let (_top, files) = files();
    files.write("a", "text").unwrap();
    for n in 0..10_000 {
        std::fs::write(files.path(&format!("n{n}")), "").unwrap();
    }
    let found = files.names().unwrap();
    assert_eq!((found.names.len(), found.more), (FACTS_MAX, true));
    assert_eq!(found.names[0], "a");
}

#[test]
fn concurrent_writers_lose_nothing() {
    let (_top, files) = files();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let files = files.clone();
            scope.spawn(move || {
                for n in 0..5 {
                    files.write("same", &format!("{writer}.{n}")).unwrap();
                }
            });
        }
    });
    let mut texts = vec![files.read("same").unwrap().unwrap()];
    for (name, version) in files.archived().unwrap() {
        texts.push(files.read_archived(&name, version).unwrap().unwrap());
    }
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 40, "each text that was written is still there");
}
