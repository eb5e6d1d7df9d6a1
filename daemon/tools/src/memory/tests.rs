//! Scenes.

use super::*;
use crate::scene::Scene;

#[test]
fn the_oldest_is_forgotten_first() {
    let scene = Scene::new();
    let stamp = FileStamp {
        mtime_ns: 0,
        size: 0,
        inode: 0,
        sha256: [0; 32],
    };
    for number in 0..=READ_MAX {
        scene.memory.know(Path::new(&format!("/f{number}")), stamp);
        scene.memory.know(Path::new("/kept"), stamp);
    }
    assert_eq!(scene.memory.kept().read.len(), READ_MAX);
    assert!(scene.memory.known(Path::new("/f0")).is_none());
    assert!(scene.memory.known(Path::new("/kept")).is_some());
}

#[test]
fn a_pin_is_used_once() {
    let scene = Scene::new();
    let call = CallId::from("c");
    scene.memory.pin(&call, &[PathBuf::from("/a")]);
    assert_eq!(scene.memory.unpin(&call), Some(vec![PathBuf::from("/a")]));
    assert_eq!(scene.memory.unpin(&call), None);
}

#[test]
fn a_later_memory_of_the_session_knows_what_was_read_and_forgets_in_the_same_order() {
    let (old, new) = (Scene::new(), Scene::new());
    let stamp = |size| FileStamp {
        mtime_ns: 0,
        size,
        inode: 0,
        sha256: [0; 32],
    };
    for number in 0..READ_MAX {
        old.memory.know(Path::new(&format!("/f{number}")), stamp(1));
    }
    old.memory.know(Path::new("/f0"), stamp(2));
    old.memory.pin(&CallId::from("c"), &[PathBuf::from("/a")]);
    new.memory.restore(old.memory.snapshot().unwrap());
    assert_eq!(new.memory.known(Path::new("/f0")), Some(stamp(2)));
    assert_eq!(new.memory.unpin(&CallId::from("c")), None);
    new.memory.know(Path::new("/new"), stamp(3));
    assert!(new.memory.known(Path::new("/f1")).is_none(), "the oldest");
    assert_eq!(new.memory.known(Path::new("/f0")), Some(stamp(2)));
}

#[test]
fn given_content_is_not_read_again() {
    let scene = Scene::new();
    let path = scene.put("a", "new\n");
    let stamp = FileStamp {
        mtime_ns: 0,
        size: 4,
        inode: 0,
        sha256: [0; 32],
    };
    scene.memory.know_content(&path, stamp, b"old\n");
    let note = scene
        .memory
        .describe_external_changes()
        .map(|told| told.text)
        .unwrap();
    assert!(note.contains("-old\n+new"), "{note}");
}
