//! What a session knows of files, as its log keeps it: the log outlives every memory.

use std::path::{Path, PathBuf};

use proto::record::KnownFile;
use workspace::Stamp;

use super::Memory;
use super::known::Known;

/// As it stands in the log. `None`: the path is no text, and is known only as long as the session is loaded.
pub(super) fn logged(path: &Path, stamp: &Stamp) -> Option<KnownFile> {
    Some(KnownFile {
        path: path.to_str()?.to_owned(),
        sha256: hex::encode(stamp.sha256),
        bytes: stamp.size,
        modified_ns: i64::try_from(stamp.mtime_ns).ok()?,
        inode: stamp.inode,
    })
}

/// The state, unless no daemon has written it so.
fn stamp(file: &KnownFile) -> Option<Stamp> {
    let mut sha256 = [0; 32];
    hex::decode_to_slice(&file.sha256, &mut sha256).ok()?;
    Some(Stamp {
        mtime_ns: file.modified_ns.into(),
        size: file.bytes,
        inode: file.inode,
        sha256,
    })
}

impl Memory {
    /// Knows what the log says that an earlier memory of the session knew, the oldest first. What has changed meanwhile is
    /// noticed by its stamp.
    pub fn knew(&self, files: &[KnownFile]) {
        let mut kept = self.kept();
        for file in files.iter().rev().take(super::READ_MAX).rev() {
            if let Some(stamp) = stamp(file) {
                let known = Known::new(kept.tick(), stamp, None);
                kept.read.insert(PathBuf::from(&file.path), known);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scene::Scene;

    proptest! {
        #[test]
        fn what_is_logged_is_known_again(
            path in "/[a-z/]{1,20}",
            mtime in any::<i64>(),
            size in any::<u64>(),
            inode in any::<u64>(),
            sha256 in any::<[u8; 32]>(),
        ) {
            let scene = Scene::new();
            let path = Path::new(&path);
            let before = Stamp { mtime_ns: mtime.into(), size, inode, sha256 };
            let logged = logged(path, &before).expect("text");
            scene.memory.knew(&[logged]);
            prop_assert_eq!(scene.memory.known(path), Some(before));
        }
    }

    #[test]
    fn the_newest_count_and_nonsense_does_not() {
        let scene = Scene::new();
        let file = |number: usize, sha256: &str| KnownFile {
            path: format!("/f{number}"),
            sha256: sha256.to_owned(),
            bytes: 1,
            modified_ns: 0,
            inode: 0,
        };
        let hash = "0".repeat(64);
        let mut files: Vec<_> = (0..super::super::READ_MAX + 2)
            .map(|number| file(number, &hash))
            .collect();
        files.push(file(7_000, "no hash"));
        scene.memory.knew(&files);
        let known = |number: usize| scene.memory.known(Path::new(&format!("/f{number}")));
        assert!(known(0).is_none() && known(2).is_none() && known(7_000).is_none());
        assert!(known(3).is_some() && known(super::super::READ_MAX + 1).is_some());
    }
}
