use super::*;
use crate::workspace::tests::Scene;

#[test]
fn each_file_kind_has_its_state() {
    let scene = Scene::new();
    let path = scene.put("d/f", "abc");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    scene.link("d/l", "f");
    let read = scene.workspace.read(&scene.reading("d/f")).unwrap();
    let file = PathState::File {
        sha256: read.stamp.sha256,
        bytes: 3,
        mode: 0o640,
    };
    assert_eq!(scene.workspace.state(&path), file);
    assert_eq!(
        scene.workspace.state(&scene.ws("no/where")),
        PathState::Absent
    );
    let mut all = scene.workspace.states(&scene.ws("d"), 2);
    all.sort_by(|one, two| one.0.cmp(&two.0));
    let link = PathState::Link { target: "f".into() };
    assert_eq!(
        all,
        [
            (scene.ws("d"), PathState::Directory),
            (path, file),
            (scene.ws("d/l"), link)
        ]
    );
    let few = scene.workspace.states(&scene.ws("d"), 1);
    assert!(
        matches!(few.as_slice(), [(_, PathState::Unknown { .. })]),
        "{few:?}"
    );
    assert_eq!(scene.workspace.mode(&scene.ws("d/f")), Some(0o640));
    assert_eq!(scene.workspace.mode(&scene.ws("none")), None);
}
