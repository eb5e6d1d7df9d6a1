use super::*;
use crate::workspace::tests::Scene;

#[test]
fn an_inspection_reports_the_file_kind_and_follows_no_link() {
    let scene = Scene::new();
    let ws = &scene.workspace;
    let snapshot = |path: &str, content| ws.snapshot(&scene.ws(path), content);
    assert_eq!(snapshot("none", true).there, PathState::Absent);
    assert_eq!(snapshot("none/below", true).there, PathState::Absent);
    scene.put("file", "abc");
    let found = snapshot("file", true);
    assert!(matches!(found.there, PathState::File { bytes: 3, .. }));
    assert_eq!(found.content.as_deref(), Some(&b"abc"[..]));
    assert_eq!(snapshot("file", false).content, None);
    assert_eq!(snapshot("file/below", false).there, PathState::Absent);
    scene.link("link", "../out");
    assert_eq!(
        snapshot("link", true).there,
        PathState::Link {
            target: "../out".into()
        }
    );
    assert_eq!(snapshot("link/canary", true).there, PathState::Absent);
    assert_eq!(snapshot(".", false).there, PathState::Directory);
}

#[test]
fn masked_special_or_oversized_files_have_unknown_content() {
    let scene = Scene::with(|_, options| options.deny_read = vec!["secret".into()]);
    scene.put("secret", "s");
    let large = File::create(scene.ws("large")).unwrap();
    large.set_len(SIZE_MAX + 1).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        scene.ws("pipe"),
        FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    for name in ["secret", "large", "pipe"] {
        let snapshot = scene.workspace.snapshot(&scene.ws(name), true);
        assert!(
            matches!(snapshot.there, PathState::Unknown { .. }),
            "{name}"
        );
        assert_eq!(snapshot.content, None);
    }
    let home = scene.top.join("home/.reasonix/credentials.toml");
    let snapshot = scene.workspace.snapshot(&home, true);
    assert!(matches!(snapshot.there, PathState::Unknown { .. }));
}

#[test]
fn everything_below_a_directory_is_listed_up_to_a_limit() {
    let scene = Scene::new();
    scene.put("d/.gitignore", "x\n");
    scene.put("d/x", "ignored");
    scene.put("d/e/y", "deep");
    scene.link("d/link", "/");
    let all = scene
        .workspace
        .snapshots_below(&scene.ws("d"), true, 10, 100)
        .unwrap();
    let names: Vec<_> = all
        .iter()
        .map(|snapshot| {
            snapshot
                .path
                .strip_prefix(scene.ws("d"))
                .unwrap()
                .to_owned()
        })
        .collect();
    let wanted = [".gitignore", "e", "e/y", "link", "x"].map(PathBuf::from);
    assert_eq!(names, wanted);
    let few = scene
        .workspace
        .snapshots_below(&scene.ws("d"), true, 4, 100);
    let small = scene.workspace.snapshots_below(&scene.ws("d"), true, 10, 5);
    assert!(few.is_err() && small.is_err());
}
