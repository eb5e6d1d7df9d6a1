//! The lists of further places of objects that a repository may have: git reads them to their end, whatever they are.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use workspace::{SmallFile, read_small};

/// Maximum bytes of a list.
const LIST_MAX: usize = 64 * 1024;
/// Maximum lists of one repository. Git follows a list to five more.
const LISTS_MAX: usize = 64;

/// A directory of these objects where git reads no list that is not a small file: it itself, or one of links to its parts in
/// this repository. Objects of further places are not found through the links.
pub(crate) fn readable(objects: &Path, repository: &Path) -> io::Result<PathBuf> {
    if are_readable(objects) {
        return Ok(objects.to_path_buf());
    }
    let links = repository.join("borrowed");
    match fs::create_dir(&links) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let parts = (0..=u8::MAX).map(|first| format!("{first:02x}"));
    for part in parts.chain(["pack".to_owned()]) {
        match symlink(objects.join(&part), links.join(&part)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(links)
}

/// Whether all lists that git would read, from this directory of objects on, are small files, and few.
#[must_use]
pub fn are_readable(objects: &Path) -> bool {
    let mut pending = vec![objects.to_path_buf()];
    let mut known = BTreeSet::new();
    while let Some(objects) = pending.pop() {
        // One that does not exist has no list.
        let Ok(objects) = objects.canonicalize() else {
            continue;
        };
        let text = match read_small(&objects.join("info/alternates"), LIST_MAX) {
            SmallFile::Read(text) => text,
            SmallFile::Missing => continue,
            SmallFile::Unusable => return false,
        };
        if !known.insert(objects.clone()) {
            continue;
        }
        let Ok(text) = String::from_utf8(text) else {
            return false;
        };
        let places = text.lines();
        let places = places.filter(|line| !line.is_empty() && !line.starts_with('#'));
        for place in places {
            // A path in quotes has escapes that only git resolves.
            if place.starts_with('"') || pending.len() + known.len() >= LISTS_MAX {
                return false;
            }
            pending.push(objects.join(place));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_files_are_left_to_git() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for place in ["one/info", "two/info", "three/info"] {
            fs::create_dir_all(at(place)).unwrap();
        }
        let objects = at("one");
        assert!(are_readable(&objects), "no list");
        fs::write(
            at("one/info/alternates"),
            "# a comment\n\n../two\n/nowhere\n",
        )
        .unwrap();
        assert!(are_readable(&objects));
        fs::write(at("two/info/alternates"), "../three\n").unwrap();
        assert!(are_readable(&objects));
        std::os::unix::fs::symlink("/dev/zero", at("three/info/alternates")).unwrap();
        assert!(!are_readable(&objects), "a device, two lists further");
        fs::remove_file(at("three/info/alternates")).unwrap();
        let list = fs::File::create(at("three/info/alternates")).unwrap();
        list.set_len(10 << 30).unwrap();
        assert!(!are_readable(&objects), "a sparse file");
        fs::write(at("three/info/alternates"), "../one\n").unwrap();
        assert!(are_readable(&objects), "a loop ends");
        fs::write(at("three/info/alternates"), ".\n".repeat(10)).unwrap();
        assert!(are_readable(&objects), "the same place is read once");
        fs::write(at("three/info/alternates"), ".\n".repeat(30_000)).unwrap();
        assert!(!are_readable(&objects), "too many");
    }
}
