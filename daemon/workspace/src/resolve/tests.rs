use proptest::prelude::*;

use super::*;
use crate::workspace::tests::Scene;

fn judged(scene: &Scene, path: &str, access: Access) -> String {
    let top = scene.top.to_string_lossy().into_owned();
    match scene.workspace.resolve(&path.replace("$T", &top), access) {
        Ok(at) => format!(
            "{}{}",
            at.path().display(),
            if at.protected() { " protected" } else { "" }
        )
        .replace(&top, "$T"),
        Err(PathError::Outside { path, .. }) => {
            format!("outside {}", path.display()).replace(&top, "$T")
        }
        Err(PathError::Masked(path)) => format!("masked {}", path.display()).replace(&top, "$T"),
        Err(PathError::Denied { pattern, .. }) => format!("denied by {pattern}"),
        Err(PathError::Empty) => "empty".into(),
        Err(PathError::ZeroByte) => "zero byte".into(),
        Err(PathError::TooLong) => "too long".into(),
        Err(PathError::Loop { .. }) => "loop".into(),
        Err(PathError::NotADirectory { .. }) => "not a directory".into(),
        Err(PathError::Relative(path)) => format!("relative {}", path.display()),
        Err(
            error @ (PathError::Io { .. }
            | PathError::Glob { .. }
            | PathError::LinkBehindLink { .. }),
        ) => error.to_string(),
    }
}

#[test]
fn writes_stay_inside() {
    let scene = Scene::new();
    scene.put("f", "x");
    std::fs::create_dir(scene.ws("sub")).unwrap();
    scene.link("out-file", scene.top.join("out/canary"));
    scene.link("out-dir", scene.top.join("out"));
    scene.link("dangling", scene.top.join("out/created"));
    scene.link("slash", "/");
    scene.link("inside", "sub");
    scene.link("up", "sub/../f");
    scene.link("loop", "loop");
    let canary = format!("slash{}/out/canary", scene.top.display());
    for (path, wanted) in [
        ("a.txt", "$T/ws/a.txt"),
        ("./a.txt", "$T/ws/a.txt"),
        ("$T/ws/a.txt", "$T/ws/a.txt"),
        ("..a/b..c.txt", "$T/ws/..a/b..c.txt"),
        ("...", "$T/ws/..."),
        ("e\u{301}.txt", "$T/ws/e\u{301}.txt"),
        (
            "..\u{2215}out\u{2215}canary",
            "$T/ws/..\u{2215}out\u{2215}canary",
        ),
        ("sub/../new/x", "$T/ws/new/x"),
        ("inside/x", "$T/ws/sub/x"),
        ("up", "$T/ws/f"),
        ("new/deep/../x", "$T/ws/new/x"),
        ("../out/canary", "outside $T/out/canary"),
        ("..//out//canary", "outside $T/out/canary"),
        ("$T/out/canary", "outside $T/out/canary"),
        ("$T/ws-evil/x", "outside $T/ws-evil/x"),
        ("a\u{200b}/../../out/canary", "outside $T/out/canary"),
        ("/proc/self/root$T/out/canary", "outside $T/out/canary"),
        ("/proc/self/root$T/ws/x", "$T/ws/x"),
        ("out-file", "outside $T/out/canary"),
        ("out-dir/canary", "outside $T/out/canary"),
        ("dangling", "outside $T/out/created"),
        (&canary, "outside $T/out/canary"),
        ("~/x", "outside $T/home/x"),
        ("~", "outside $T/home"),
        ("~user", "$T/ws/~user"),
        (
            "~/.reasonix/config.toml",
            "masked $T/home/.reasonix/config.toml",
        ),
        ("f/x", "not a directory"),
        ("f/../x", "not a directory"),
        ("loop", "loop"),
        ("loop/x", "loop"),
        ("", "empty"),
        ("a\0b", "zero byte"),
    ] {
        assert_eq!(judged(&scene, path, Access::Write), wanted, "{path:?}");
    }
    assert_eq!(
        judged(&scene, &format!("{}b", "a/".repeat(3000)), Access::Write),
        "too long"
    );
    assert_eq!(judged(&scene, &"n".repeat(300), Access::Write), "too long");
}

#[test]
fn reads_go_anywhere_but_to_what_is_closed() {
    let scene = Scene::with(|top, options| {
        options.deny_read = vec!["secrets/**".into(), "~/.ssh/**".into(), "*.pem".into()];
        options.readable = vec![top.join("home/.reasonix/sessions/1/out")];
    });
    scene.put("secrets/key", "K");
    scene.link("dl", "secrets");
    for (path, wanted) in [
        ("$T/out/canary", "$T/out/canary"),
        ("/etc", "/etc"),
        ("dl/key", "denied by secrets/**"),
        ("secrets", "denied by secrets/**"),
        ("secrets2/key", "$T/ws/secrets2/key"),
        ("~/.ssh/id", "denied by ~/.ssh/**"),
        ("a.pem", "denied by *.pem"),
        ("sub/a.pem", "$T/ws/sub/a.pem"),
        (
            "~/.reasonix/credentials.toml",
            "masked $T/home/.reasonix/credentials.toml",
        ),
        ("~/.reasonix", "masked $T/home/.reasonix"),
        (
            "~/.reasonix/sessions/1/out/a.txt",
            "$T/home/.reasonix/sessions/1/out/a.txt protected",
        ),
        (
            "~/.reasonix/sessions/1/out/../log.jsonl",
            "masked $T/home/.reasonix/sessions/1/log.jsonl",
        ),
    ] {
        assert_eq!(judged(&scene, path, Access::Read), wanted, "{path:?}");
    }
    let spilled = judged(&scene, "~/.reasonix/sessions/1/out/a.txt", Access::Write);
    assert!(spilled.starts_with("masked"), "{spilled}");
}

#[cfg(target_os = "linux")]
#[test]
fn no_process_shows_its_memory_or_environment() {
    let scene = Scene::new();
    scene.link("env", "/proc/self/environ");
    for path in [
        "/proc/self/environ",
        "/proc/thread-self/environ",
        "/proc/1/environ",
        "env",
    ] {
        let judged = judged(&scene, path, Access::Read);
        assert!(judged.starts_with("masked /proc/"), "{path}: {judged}");
    }
    assert_eq!(
        judged(&scene, "/proc/meminfo", Access::Read),
        "/proc/meminfo"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_through_a_process_is_reported() {
    let scene = Scene::new();
    scene.link("here", "/proc/self/cwd");
    let through = |text: &str| {
        let at = scene.workspace.locate(scene.workspace.cwd(), text).unwrap();
        at.through_process()
    };
    for text in ["/proc/self/cwd/x", "/proc/self/root", "here/x"] {
        assert!(through(text), "{text}");
    }
    for text in ["/proc/meminfo", "/etc/hosts", "x"] {
        assert!(!through(text), "{text}");
    }
}

#[test]
fn a_protected_name_stays_protected_if_it_is_a_link() {
    let scene = Scene::new();
    std::fs::create_dir(scene.ws("other")).unwrap();
    scene.link(".vscode", "other");
    scene.link("reasonix.toml", "other/rules");
    for text in [
        ".vscode/tasks.json",
        "reasonix.toml",
        "./x/../reasonix.toml",
    ] {
        let at = scene.workspace.locate(scene.workspace.cwd(), text).unwrap();
        assert!(at.protected(), "{text}");
    }
    assert!(!scene.writing("other/rules").protected());
}

#[test]
fn a_masked_directory_in_the_root_can_be_neither_read_nor_written() {
    let scene = Scene::with(|top, options| {
        options.root = top.join("home");
        options.cwd = top.join("home");
    });
    for access in [Access::Read, Access::Write] {
        assert_eq!(
            judged(&scene, ".reasonix/config.toml", access),
            "masked $T/home/.reasonix/config.toml"
        );
    }
    assert_eq!(
        judged(&scene, "notes.txt", Access::Write),
        "$T/home/notes.txt"
    );
}

#[test]
fn links_to_protected_files_are_protected() {
    let scene = Scene::new();
    std::fs::create_dir(scene.ws(".git")).unwrap();
    scene.link("innocent", ".git");
    assert_eq!(
        judged(&scene, "innocent/config", Access::Write),
        "$T/ws/.git/config protected"
    );
    assert_eq!(
        judged(&scene, "sub/../.mcp.json", Access::Write),
        "$T/ws/.mcp.json protected"
    );
}

#[test]
fn relative_paths_can_start_elsewhere() {
    let scene = Scene::new();
    let at = scene
        .workspace
        .locate(&scene.top.join("out"), "canary")
        .unwrap();
    assert_eq!(at.path(), scene.top.join("out/canary"));
    assert!(!at.writable() && !at.masked() && at.kind() == Some(FileKind::File));
}

proptest! {
    /// For any text and any links, a writable path is below a root.
    #[test]
    fn no_text_leads_outside(parts in prop::collection::vec(
        prop::sample::select(vec!["..", ".", "", "a", "sub", "inside", "up", "out", "rel", "~", "canary", "/"]), 0..12,
    )) {
        let scene = Scene::new();
        std::fs::create_dir(scene.ws("sub")).unwrap();
        scene.link("inside", "sub");
        scene.link("up", "..");
        scene.link("out", scene.top.join("out"));
        scene.link("rel", "../out");
        let text = parts.join("/");
        if let Ok(at) = scene.workspace.resolve(&text, Access::Write) {
            prop_assert!(at.path().starts_with(scene.top.join("ws")), "{text} -> {}", at.path().display());
            let mut real = at.path();
            while !real.exists() { real = real.parent().unwrap(); }
            prop_assert_eq!(real.canonicalize().unwrap(), real, "a link was left in it");
        }
    }
}

#[test]
fn masking_through_a_link_masks_the_link_and_its_target() {
    let scene = Scene::with(|top, options| {
        for real in ["ws/real", "ws/other", "ws/late", "home/keys-real"] {
            std::fs::create_dir_all(top.join(real)).unwrap();
        }
        for (link, target) in [
            ("ws/lit", "real"),
            ("ws/data", "other"),
            ("home/keys", "keys-real"),
        ] {
            std::os::unix::fs::symlink(target, top.join(link)).unwrap();
        }
        for file in [
            "ws/real/secret",
            "ws/real/open",
            "ws/other/a.pem",
            "ws/late/secret",
            "home/keys-real/k",
        ] {
            std::fs::write(top.join(file), "x").unwrap();
        }
        options.deny_read = vec![
            "lit/secret".into(),
            "data/**/*.pem".into(),
            "~/keys/**".into(),
            "later/secret".into(),
        ];
    });
    // A link created after the session started.
    scene.link("later", "late");
    for path in [
        "lit/secret",
        "real/secret",
        "data/a.pem",
        "other/a.pem",
        "~/keys/k",
        "~/keys-real/k",
        "later/secret",
    ] {
        let read = scene.workspace.resolve(path, Access::Read);
        assert!(
            matches!(read, Err(PathError::Denied { .. })),
            "{path}: {read:?}"
        );
    }
    assert!(scene.workspace.resolve("lit/open", Access::Read).is_ok());
}
