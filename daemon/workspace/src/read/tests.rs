use super::*;
use crate::workspace::tests::Scene;

#[test]
fn a_stamp_tells_whether_the_bytes_are_the_same() {
    let scene = Scene::new();
    let path = scene.put("f", "one");
    let first = scene.workspace.read(&scene.reading("f")).unwrap();
    assert_eq!(first.bytes, b"one");
    File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH)
        .unwrap();
    let touched = scene.workspace.read(&scene.reading("f")).unwrap().stamp;
    assert!(touched.same_content(&first.stamp) && !touched.same_file(&first.stamp));
    std::fs::write(&path, "two").unwrap();
    let changed = scene.workspace.read(&scene.reading("f")).unwrap().stamp;
    assert!(!changed.same_content(&first.stamp));
}

#[test]
fn only_regular_files_are_read_and_nothing_blocks() {
    let scene = Scene::new();
    let fifo = scene.ws("fifo");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(scene.ws("socket")).unwrap();
    for (path, wanted) in [
        ("fifo", FileKind::Fifo),
        ("socket", FileKind::Socket),
        (".", FileKind::Directory),
        ("/dev/null", FileKind::Device),
    ] {
        match scene.workspace.read(&scene.reading(path)) {
            Err(FileError::NotAFile { kind, .. }) => assert_eq!(kind, wanted),
            other => panic!("{path}: {other:?}"),
        }
        // The same if it replaces a file after the check.
        if kind_opens(wanted) {
            let late = scene.workspace.open_regular(scene.reading(path).path());
            assert!(
                matches!(late, Err(FileError::NotAFile { .. })),
                "{path}: {late:?}"
            );
        }
    }
    assert!(matches!(
        scene.workspace.read(&scene.reading("none")),
        Err(FileError::Missing { .. })
    ));
}

fn kind_opens(kind: FileKind) -> bool {
    kind != FileKind::Socket
}

#[test]
fn a_file_over_the_limit_is_refused_before_it_is_read() {
    let scene = Scene::new();
    File::create(scene.ws("big"))
        .unwrap()
        .set_len(SIZE_MAX + 1)
        .unwrap();
    assert!(matches!(
        scene.workspace.read(&scene.reading("big")),
        Err(FileError::TooLarge { .. })
    ));
}

#[test]
fn a_link_that_took_the_place_of_a_directory_is_not_followed() {
    let scene = Scene::new();
    scene.put("d/canary", "inside");
    let at = scene.reading("d/canary");
    std::fs::rename(scene.ws("d"), scene.ws("d.real")).unwrap();
    scene.link("d", scene.top.join("out"));
    assert!(matches!(
        scene.workspace.read(&at),
        Err(FileError::Changed { .. })
    ));
}

#[test]
fn a_masked_path_is_not_read_although_it_was_resolved() {
    let scene = Scene::new();
    let at = scene
        .workspace
        .locate(scene.workspace.cwd(), "~/.reasonix/credentials.toml")
        .unwrap();
    assert!(matches!(
        scene.workspace.read(&at),
        Err(FileError::Path(PathError::Masked { .. }))
    ));
}

#[cfg(target_os = "linux")]
#[test]
fn files_without_a_size_are_read_to_their_end() {
    let scene = Scene::new();
    let read = scene
        .workspace
        .read(&scene.reading("/proc/version"))
        .unwrap();
    assert!(!read.bytes.is_empty());
    assert_eq!(read.stamp.size, read.bytes.len() as u64);
}
