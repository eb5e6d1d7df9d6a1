use super::*;
use crate::workspace::tests::Scene;

const HEAD: &str = "ref: refs/heads/main\n";

/// Creates a minimal valid git directory.
fn repository(scene: &Scene, dir: &str) {
    for below in ["objects", "refs"] {
        std::fs::create_dir_all(scene.ws(&format!("{dir}/{below}"))).unwrap();
    }
    scene.put(&format!("{dir}/HEAD"), HEAD);
}

/// An index with these entries: mode and name.
fn index(entries: &[(u32, &str)]) -> Vec<u8> {
    let mut bytes = b"DIRC\0\0\0\x02".to_vec();
    bytes.extend(u32::try_from(entries.len()).unwrap().to_be_bytes());
    for (mode, name) in entries {
        let begun = bytes.len();
        bytes.extend([0; 24]);
        bytes.extend(mode.to_be_bytes());
        bytes.extend([0; 12 + 20 + 2]);
        bytes.extend(name.as_bytes());
        bytes.push(0);
        let length = (bytes.len() - begun).next_multiple_of(8);
        bytes.resize(begun + length, 0);
    }
    bytes.extend([0; 20]);
    bytes
}

fn tops(scene: &Scene) -> Vec<String> {
    let found = scene.workspace.git_directories().unwrap();
    let below = |at: GitDirectory| {
        let top = at.top.strip_prefix(scene.ws("")).unwrap_or(&at.top);
        top.to_string_lossy().into_owned()
    };
    found.into_iter().map(below).collect()
}

#[test]
fn the_repository_of_the_root_is_found_whatever_its_git_is() {
    let scene = Scene::new();
    assert_eq!(tops(&scene), [""; 0]);
    // A bare repository, as it may come with files.
    repository(&scene, ".");
    assert_eq!(tops(&scene), [""]);
    // An invalid `.git` before it: git continues its search.
    scene.put(".git/config", "");
    assert_eq!(tops(&scene), ["", ""]);
    repository(&scene, ".git");
    assert_eq!(tops(&scene), [""]);
    // A file that leads elsewhere, and from there to the shared directory.
    std::fs::remove_dir_all(scene.ws(".git")).unwrap();
    repository(&scene, "shared");
    scene.put("own/HEAD", HEAD);
    scene.put("own/commondir", "../shared\n");
    scene.put(".git", "gitdir: own\n");
    let found = scene.workspace.git_directories().unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].own.ends_with("own"), "{found:?}");
    assert!(found[0].common.ends_with("own/../shared"), "{found:?}");
}

#[test]
fn tracked_repositories_and_their_own_are_found() {
    let scene = Scene::new();
    repository(&scene, ".git");
    repository(&scene, "a/.git");
    repository(&scene, "a/b/.git");
    repository(&scene, "untracked/.git");
    let put = |at: &str, entries| std::fs::write(scene.ws(at), index(entries)).unwrap();
    put(
        ".git/index",
        &[(0o160_000, "a"), (0o100_644, "f"), (0o160_000, "gone")],
    );
    put("a/.git/index", &[(0o160_000, "b")]);
    assert_eq!(tops(&scene), ["", "a", "a/b"]);
    // A tracked directory that links back to its own parent ends the search.
    std::fs::remove_dir_all(scene.ws("a/b")).unwrap();
    std::os::unix::fs::symlink(scene.ws(""), scene.ws("a/b")).unwrap();
    assert_eq!(tops(&scene), ["", "a"]);
    std::fs::write(scene.ws(".git/index"), b"DIRC\0\0\0\x09").unwrap();
    assert!(scene.workspace.git_directories().is_err());
}

#[test]
fn a_pipe_in_place_of_a_file_does_not_block() {
    let scene = Scene::new();
    repository(&scene, ".git");
    let pipe = |at: &str| {
        let _ = std::fs::remove_file(scene.ws(at));
        let made = std::process::Command::new("mkfifo")
            .arg(scene.ws(at))
            .status();
        assert!(made.unwrap().success());
    };
    for name in ["config", "commondir", "HEAD", "index"] {
        pipe(&format!(".git/{name}"));
        let _ = scene.workspace.git_directories();
        let _ = scene.workspace.repository();
        let said = scene.workspace.git_file(&scene.ws(&format!(".git/{name}")));
        assert!(said.unwrap_err().contains("a named pipe"), "{name}");
    }
    std::fs::remove_dir_all(scene.ws(".git")).unwrap();
    pipe(".git");
    assert_eq!(tops(&scene), [""; 0]);
    assert!(scene.workspace.repository().is_none());
}

#[test]
fn a_file_of_a_repository_is_read_up_to_a_bound() {
    let scene = Scene::new();
    let read = |name: &str| scene.workspace.git_file(&scene.ws(name));
    assert_eq!(read("none"), Ok(None));
    scene.put("some", "words");
    assert_eq!(read("some"), Ok(Some(b"words".to_vec())));
    assert_eq!(read("some/below"), Ok(None));
    std::fs::write(scene.ws("large"), vec![b'#'; 1024 * 1024 + 1]).unwrap();
    assert!(read("large").unwrap_err().contains("too large"));
}
