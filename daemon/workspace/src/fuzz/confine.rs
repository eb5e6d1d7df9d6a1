//! Paths through links lead where the kernel says. Nothing outside is written, and nothing denied
//! is read.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::resolve::Access;
use crate::workspace::{Workspace, WorkspaceOptions};
use crate::write::ExpectedFile;

/// Content that no tool may read.
const SECRET: &[u8] = b"what nobody reads";
/// Content that no tool may change.
const CANARY: &[u8] = b"what nobody writes";

/// Each line `NAME>TARGET` is a link in the workspace. Every other line is a path that is resolved,
/// read and written. `$` stands for the top directory.
pub fn confine(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let scene = Scene::new();
    let whole = text.replace('$', &scene.top.to_string_lossy());
    let (links, paths): (Vec<_>, Vec<_>) = whole.lines().partition(|line| line.contains('>'));
    for link in links {
        if let Some((name, target)) = link.split_once('>') {
            scene.link(name, target);
        }
    }
    for path in paths.into_iter().take(8) {
        scene.leads_where_the_kernel_says(path);
        scene.reads_nothing_closed(path);
        scene.writes_nothing_outside(path);
    }
}

struct Scene {
    top: PathBuf,
    workspace: Workspace,
}

impl Scene {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("confine-{}-{count}", std::process::id());
        let top = std::env::temp_dir().join(name);
        for directory in ["ws/sub", "ws/closed", "ws/keys", "out", "home/closed"] {
            fs::create_dir_all(top.join(directory)).expect("a directory");
        }
        let top = top.canonicalize().expect("it is there");
        for secret in ["ws/closed/s", "ws/keys/s", "home/closed/s"] {
            fs::write(top.join(secret), SECRET).expect("a file");
        }
        for canary in ["out/c", "home/c"] {
            fs::write(top.join(canary), CANARY).expect("a file");
        }
        fs::write(top.join("ws/sub/f"), "open").expect("a file");
        let workspace = Workspace::open(WorkspaceOptions {
            root: top.join("ws"),
            cwd: top.join("ws"),
            masked: vec![top.join("ws/closed"), top.join("home/closed")],
            deny_read: vec!["keys/**".to_owned()],
            user_home: top.join("home"),
            ..WorkspaceOptions::default()
        });
        let workspace = workspace.expect("a workspace");
        Self { top, workspace }
    }

    /// Creates a link in the workspace if the name is one free component.
    fn link(&self, name: &str, target: &str) {
        let mut parts = Path::new(name).components();
        let plain = matches!(
            (parts.next(), parts.next()),
            (Some(Component::Normal(part)), None) if part == OsStr::new(name)
        );
        if plain {
            // A name that is too long or contains a zero byte creates no link.
            let _ = symlink(target, self.top.join("ws").join(name));
        }
    }

    fn leads_where_the_kernel_says(&self, path: &str) {
        let cwd = self.workspace.cwd();
        // The kernel does not expand `~`.
        let Ok(real) = fs::canonicalize(cwd.join(path)) else {
            return;
        };
        if path.is_empty() || path == "~" || path.starts_with("~/") {
            return;
        }
        match self.workspace.locate(cwd, path) {
            Ok(at) if at.through_process() => {}
            Ok(at) => assert_eq!(at.path(), real, "{path:?}"),
            Err(error) => panic!("{path:?} leads to {}, not: {error}", real.display()),
        }
    }

    fn reads_nothing_closed(&self, path: &str) {
        let Ok(at) = self.workspace.resolve(path, Access::Read) else {
            return;
        };
        // Ignores other files of the machine.
        if at.path().starts_with(&self.top)
            && let Ok(content) = self.workspace.read(&at)
        {
            assert_ne!(content.bytes, SECRET, "{path:?} -> {}", at.path().display());
        }
    }

    fn writes_nothing_outside(&self, path: &str) {
        let Ok(at) = self.workspace.resolve(path, Access::Write) else {
            return;
        };
        let place = at.path();
        let inside = place.starts_with(self.top.join("ws"));
        assert!(inside, "{path:?} -> {}", place.display());
        let closed = place.starts_with(self.top.join("ws/closed"));
        assert!(!closed, "{path:?} -> {}", place.display());
        let expected = match self.workspace.read(&at) {
            Ok(content) => ExpectedFile::File(content.stamp),
            Err(_) => ExpectedFile::Absent,
        };
        let _ = self.workspace.write(&at, b"new", expected);
        for (file, content) in [
            ("out/c", CANARY),
            ("home/c", CANARY),
            ("ws/closed/s", SECRET),
            ("home/closed/s", SECRET),
        ] {
            let now = fs::read(self.top.join(file)).ok();
            assert_eq!(now.as_deref(), Some(content), "{path:?} changed {file}");
        }
        for directory in ["out", "home", "ws/closed", "home/closed"] {
            let entries = fs::read_dir(self.top.join(directory)).expect("a directory");
            let most = if directory == "home" { 2 } else { 1 };
            assert_eq!(
                entries.count(),
                most,
                "{path:?} made something in {directory}"
            );
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.top);
    }
}
