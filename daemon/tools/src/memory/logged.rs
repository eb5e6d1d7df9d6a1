//! What a session knows of files, as its log keeps it: the log outlives every memory.

use std::path::{Path, PathBuf};

use contract::KnownState;
use proto::record::{FileState, KnownFile, ReportedFile};
use workspace::FileStamp;

use super::Memory;
use super::known::{FileKnowledge, ReportedState};

/// The form for the log. `None`: the path is not valid text, so the file is known only while the session is loaded.
pub(super) fn logged(path: &Path, stamp: &FileStamp) -> Option<KnownFile> {
    stamp.known_file(path)
}

/// The state, unless no daemon has written it so.
fn stamp(file: &KnownFile) -> Option<FileStamp> {
    Some(FileStamp {
        mtime_ns: file.modified_ns.into(),
        size: file.bytes,
        inode: file.inode,
        sha256: sha256(&file.sha256)?,
    })
}

fn sha256(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    hex::decode_to_slice(text, &mut hash).ok().map(|()| hash)
}

/// The form for the log of the state that was reported. `None`: the path is not valid text.
pub(super) fn reported_file(path: &Path, known: &FileKnowledge) -> Option<ReportedFile> {
    let file = ReportedFile {
        path: path.to_str()?.to_owned(),
        bytes: None,
        modified_ns: 0,
        sha256: None,
    };
    match &known.reported {
        ReportedState::Stamp => Some(ReportedFile {
            bytes: Some(known.stamp.size),
            modified_ns: i64::try_from(known.stamp.mtime_ns).ok()?,
            sha256: Some(hex::encode(known.stamp.sha256)),
            ..file
        }),
        ReportedState::Gone => Some(file),
        ReportedState::At {
            size,
            mtime_ns,
            sha256,
        } => Some(ReportedFile {
            bytes: Some(*size),
            modified_ns: i64::try_from(*mtime_ns).ok()?,
            sha256: sha256.map(hex::encode),
            ..file
        }),
    }
}

/// The newest state of the file that needs no report: the one that was reported, or that the session itself left.
fn newest(known: &KnownState) -> ReportedState {
    match &known.reported {
        Some(ReportedFile { bytes: None, .. }) => ReportedState::Gone,
        Some(ReportedFile {
            bytes: Some(size),
            modified_ns,
            sha256: hash,
            ..
        }) => ReportedState::At {
            size: *size,
            mtime_ns: (*modified_ns).into(),
            sha256: hash.as_deref().and_then(sha256),
        },
        None => left(known.left.as_ref()),
    }
}

fn left(state: Option<&FileState>) -> ReportedState {
    match state {
        Some(FileState::Absent) => ReportedState::Gone,
        Some(FileState::File {
            sha256: hash,
            bytes,
            ..
        }) => ReportedState::At {
            size: *bytes,
            // Nobody knows: the content decides.
            mtime_ns: i128::MIN,
            sha256: sha256(hash),
        },
        _ => ReportedState::Stamp,
    }
}

impl Memory {
    /// Takes over the files that an earlier memory of the session knew according to the log, oldest first, each with
    /// the state that the session last left there. Files changed in the meantime are detected by their stamps.
    pub(super) fn note_logged(&self, files: &[KnownState]) {
        let mut kept = self.kept();
        for known in files.iter().rev().take(super::READ_MAX).rev() {
            if let Some(stamp) = stamp(&known.file) {
                let path = PathBuf::from(&known.file.path);
                let same = kept.read.get(&path);
                let same = same.filter(|before| {
                    before.stamp.same_content(&stamp) && before.reported == ReportedState::Stamp
                });
                let content = known
                    .content
                    .clone()
                    .or_else(|| same.and_then(|before| before.content.clone()));
                let knowledge = FileKnowledge {
                    reported: newest(known),
                    partial: known.file.partial,
                    ..FileKnowledge::new(kept.tick(), stamp, content)
                };
                kept.read.insert(path, knowledge);
            }
        }
    }

    /// Has changes of these files reported again: as a diff where the model knows the file at this very state.
    pub(super) fn forget_folded_reports(&self, files: &[KnownState]) {
        let mut kept = self.kept();
        for known in files {
            let Some(before) = kept.read.get_mut(Path::new(&known.file.path)) else {
                continue;
            };
            let is_at = |stamp: FileStamp| before.stamp.same_content(&stamp);
            let content = known.content.clone();
            before.content = content.filter(|_| stamp(&known.file).is_some_and(is_at));
            before.reported = ReportedState::Stamp;
        }
    }
}

#[cfg(test)]
mod tests {
    use contract::ToolMemory;
    use proptest::prelude::*;
    use workspace::Access;

    use super::*;
    use crate::scene::Scene;

    fn state(file: KnownFile, left: Option<FileState>) -> KnownState {
        KnownState {
            file,
            left,
            reported: None,
            content: None,
        }
    }

    proptest! {
        #[test]
        fn logged_files_are_known_again(
            path in "/[a-z/]{1,20}",
            mtime in any::<i64>(),
            size in any::<u64>(),
            inode in any::<u64>(),
            sha256 in any::<[u8; 32]>(),
        ) {
            let scene = Scene::new();
            let path = Path::new(&path);
            let before = FileStamp { mtime_ns: mtime.into(), size, inode, sha256 };
            let logged = logged(path, &before).expect("text");
            scene.memory.note_known_files(&[state(logged, None)]);
            prop_assert_eq!(scene.memory.known(path), Some(before));
        }
    }

    /// Of a file with this content.
    fn hash(scene: &Scene, content: &str) -> String {
        let path = scene.put("hashed", content);
        let workspace = scene.memory.workspace();
        let at = workspace.resolve(path.to_str().expect("text"), Access::Read);
        let read = workspace.read(&at.expect("a place")).expect("a file");
        hex::encode(read.stamp.sha256)
    }

    #[test]
    fn only_changes_of_others_are_reported() {
        let scene = Scene::new();
        let left = |content: &str| {
            let state = FileState::File {
                sha256: hash(&scene, content),
                bytes: content.len() as u64,
                mode: 0o644,
            };
            Some(state)
        };
        let known = KnownFile {
            path: scene.put("a", "").to_str().expect("text").to_owned(),
            sha256: hash(&scene, "old\n"),
            bytes: 4,
            modified_ns: 0,
            inode: 0,
            partial: false,
        };
        scene.put("a", "new\n");
        scene
            .memory
            .note_known_files(&[state(known.clone(), left("new\n"))]);
        assert_eq!(scene.memory.describe_external_changes(), None);
        scene
            .memory
            .note_known_files(&[state(known, left("our\n"))]);
        let report = scene.memory.describe_external_changes().expect("a change");
        assert!(report.text.contains("changed"), "{report:?}");
    }

    /// Reports the change of a file, and has another memory take over what the log says of it.
    fn after_a_restart(scene: &Scene, known: &KnownFile) -> Option<contract::ExternalChanges> {
        let files = [state(known.clone(), None)];
        scene.memory.note_known_files(&files);
        let told = scene.memory.describe_external_changes().expect("a change");
        let [reported] = told.files.as_slice() else {
            panic!("{told:?}");
        };
        let text = serde_json::to_string(reported).expect("JSON");
        let logged = serde_json::from_str(&text).expect("a record");
        scene.memory.note_known_files(&[KnownState {
            reported: Some(logged),
            ..state(known.clone(), None)
        }]);
        scene.memory.describe_external_changes()
    }

    #[test]
    fn what_was_reported_according_to_the_log_is_not_reported_again() {
        let scene = Scene::new();
        let path = scene.put("a", "");
        let known = KnownFile {
            path: path.to_str().expect("text").to_owned(),
            sha256: hash(&scene, "old\n"),
            bytes: 4,
            modified_ns: 0,
            inode: 0,
            partial: false,
        };
        for content in ["new\n".to_owned(), "long\n".repeat(100_000)] {
            std::fs::write(&path, &content).expect("write");
            assert_eq!(after_a_restart(&scene, &known), None, "{}", content.len());
        }
        std::fs::remove_file(&path).expect("remove");
        assert_eq!(after_a_restart(&scene, &known), None);
        std::fs::write(&path, "other\n").expect("write");
        assert!(scene.memory.describe_external_changes().is_some());
    }

    #[test]
    fn only_the_newest_logged_files_are_restored_and_invalid_ones_are_not() {
        let scene = Scene::new();
        let file = |number: usize, sha256: &str| {
            let file = KnownFile {
                path: format!("/f{number}"),
                sha256: sha256.to_owned(),
                bytes: 1,
                modified_ns: 0,
                inode: 0,
                partial: false,
            };
            state(file, None)
        };
        let hash = "0".repeat(64);
        let mut files: Vec<_> = (0..super::super::READ_MAX + 2)
            .map(|number| file(number, &hash))
            .collect();
        files.push(file(7_000, "no hash"));
        scene.memory.note_known_files(&files);
        let known = |number: usize| scene.memory.known(Path::new(&format!("/f{number}")));
        assert!(known(0).is_none() && known(2).is_none() && known(7_000).is_none());
        assert!(known(3).is_some() && known(super::super::READ_MAX + 1).is_some());
    }
}
