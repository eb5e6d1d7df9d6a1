//! The lists of further places of objects that a repository may have: git reads them to their end, whatever they are.

use std::path::Path;

use workspace::{SmallFile, read_small};

/// Maximum bytes of a list.
const LIST_MAX: usize = 64 * 1024;
/// How far git follows lists of lists.
const DEPTH_MAX: usize = 5;

/// Whether all lists that git would read, from this directory of objects on, are small files.
pub(crate) fn are_readable(objects: &Path) -> bool {
    reads(objects, 0)
}

fn reads(objects: &Path, depth: usize) -> bool {
    if depth > DEPTH_MAX {
        return true;
    }
    let text = match read_small(&objects.join("info/alternates"), LIST_MAX) {
        SmallFile::Read(text) => text,
        SmallFile::Missing => return true,
        SmallFile::Unusable => return false,
    };
    let Ok(text) = String::from_utf8(text) else {
        return false;
    };
    let mut places = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    // A path in quotes has escapes that only git resolves.
    places.all(|place| !place.starts_with('"') && reads(&objects.join(place), depth + 1))
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        assert!(are_readable(&objects), "git ends a loop by itself");
    }
}
