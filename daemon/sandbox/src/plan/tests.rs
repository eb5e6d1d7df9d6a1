//! Plans for fake file systems.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::*;

/// A file system: a name with a trailing slash is a directory, with a question mark
/// unknown, ` -> ` is a link.
struct Fake(BTreeMap<PathBuf, Result<FileKind, PathBuf>>);

impl Fake {
    fn of(names: &[&str]) -> Self {
        let mut all = BTreeMap::new();
        let system = ["/", "/tmp/", "/run/", "/proc/", "/dev/", "/t/"];
        for name in system.iter().chain(names) {
            let (name, entry) = match name.split_once(" -> ") {
                Some((name, target)) => (name, Err(PathBuf::from(target))),
                None if name.ends_with('?') => (name.trim_end_matches('?'), Ok(FileKind::Unknown)),
                None if name.ends_with('/') => (*name, Ok(FileKind::Directory)),
                None => (*name, Ok(FileKind::File)),
            };
            let name = PathBuf::from(name);
            for above in name.ancestors().skip(1) {
                all.entry(above.to_path_buf())
                    .or_insert(Ok(FileKind::Directory));
            }
            all.insert(name, entry);
        }
        Self(all)
    }
}

impl FileSystem for Fake {
    fn kind(&self, path: &Path) -> Option<FileKind> {
        let entry = self.0.get(path)?;
        Some(entry.as_ref().map_or(FileKind::Link, |kind| *kind))
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        let mut real = PathBuf::from("/");
        for part in path.components().skip(1) {
            real.push(part);
            match self.0.get(&real)? {
                Ok(_) => {}
                Err(target) => real = self.real(&path_clean::clean(real.parent()?.join(target)))?,
            }
        }
        Some(real)
    }

    fn link(&self, path: &Path) -> Option<PathBuf> {
        self.0.get(path)?.clone().err()
    }

    fn names(&self, path: &Path, most: usize) -> Option<Vec<OsString>> {
        let below = self.0.keys().filter(|name| name.parent() == Some(path));
        let names: Vec<_> = below
            .filter_map(|name| Some(name.file_name()?.to_owned()))
            .collect();
        (names.len() <= most).then_some(names)
    }
}

fn paths(of: &[&str]) -> Vec<PathBuf> {
    of.iter().map(PathBuf::from).collect()
}

fn spec(write: &[&str], protected: &[&str], masked: &[&str]) -> SandboxSpec {
    SandboxSpec {
        write: paths(write),
        protected: paths(protected),
        repositories: Vec::new(),
        obeyed: Vec::new(),
        masked: paths(masked),
        readable: Vec::new(),
        temp: "/t".into(),
        network: false,
        sockets: Vec::new(),
    }
}

/// One line per mount, without those of every plan.
fn describe(spec: &SandboxSpec, host: &[&str]) -> Vec<String> {
    let plan = MountPlan::of(spec, &Fake::of(host)).unwrap();
    let lines = plan.steps.iter().map(|step| match step {
        MountStep::Bind { from, to, writable } => {
            let sign = if *writable { "rw" } else { "ro" };
            if from == to {
                format!("{sign} {}", to.display())
            } else {
                format!("{sign} {} at {}", from.display(), to.display())
            }
        }
        MountStep::Empty { at } => format!("empty {}", at.display()),
        MountStep::Nothing { at } => format!("nothing {}", at.display()),
        MountStep::Link { at, target } => format!("{} -> {}", at.display(), target.display()),
        MountStep::Devices => "dev".to_owned(),
        MountStep::Processes => "proc".to_owned(),
    });
    let all = [
        "ro /",
        "dev",
        "proc",
        "empty /run",
        "rw /t",
        "rw /t at /tmp",
    ];
    lines.filter(|line| !all.contains(&line.as_str())).collect()
}

#[test]
fn every_command_gets_its_own_temporary_directory_devices_and_processes() {
    let plan = MountPlan::of(&spec(&[], &[], &[]), &Fake::of(&[])).unwrap();
    let at: Vec<_> = plan
        .steps
        .iter()
        .map(|step| step.at().to_str().unwrap())
        .collect();
    assert_eq!(at, ["/", "/dev", "/proc", "/run", "/t", "/tmp"]);
    assert_eq!(plan.steps[0], bind(Path::new("/"), Path::new("/"), false));
}

#[test]
fn protected_paths_and_their_parent_directories_cannot_be_replaced() {
    let host = ["/p/.git/hooks/", "/p/.git/config", "/p/a/b/c.toml"];
    let spec = spec(
        &["/p"],
        &["/p/.git/hooks", "/p/.git/config", "/p/a/b/c.toml"],
        &[],
    );
    assert_eq!(
        describe(&spec, &host),
        [
            "rw /p",
            "rw /p/.git",
            "ro /p/.git/config",
            "ro /p/.git/hooks",
            "rw /p/a",
            "rw /p/a/b",
            "ro /p/a/b/c.toml"
        ]
    );
}

/// The protected paths of a plan that do not exist.
fn absent(spec: &SandboxSpec, host: &[&str]) -> Vec<PathBuf> {
    let plan = MountPlan::of(spec, &Fake::of(host)).unwrap();
    plan.absent.into_iter().map(|name| name.path).collect()
}

#[test]
fn a_missing_path_has_no_mount_and_is_listed() {
    let protected = ["/p/.git/hooks", "/p/.mcp.json", "/p/a/b/c", "/p/a/b/d"];
    let spec = spec(&["/p"], &protected, &[]);
    let host = ["/p/.git/", "/p/a/"];
    assert_eq!(describe(&spec, &host), ["rw /p", "rw /p/.git", "rw /p/a"]);
    assert_eq!(absent(&spec, &host), paths(&protected));
}

#[test]
fn a_directory_that_cannot_be_searched_cannot_be_changed() {
    let spec = spec(&["/p"], &["/p/.idea/workspace.xml"], &[]);
    let host = ["/p/.idea/", "/p/.idea/workspace.xml?"];
    assert_eq!(describe(&spec, &host), ["rw /p", "ro /p/.idea"]);
    assert_eq!(absent(&spec, &host), paths(&[]));
}

#[test]
fn a_file_in_place_of_a_directory_blocks_the_paths_below_it() {
    let spec = spec(&["/p"], &["/p/.git/hooks"], &[]);
    assert_eq!(describe(&spec, &["/p/.git"]), ["rw /p", "ro /p/.git"]);
}

#[test]
fn without_writable_roots_nothing_is_protected() {
    let spec = spec(&["/p"], &["/q/.git/hooks", "/tmp/x/y"], &[]);
    assert_eq!(
        describe(&spec, &["/p/", "/q/.git/hooks/", "/tmp/x/"]),
        ["rw /p"]
    );
}

#[test]
fn a_link_in_a_path_is_protected_with_its_target() {
    let host = [
        "/p/.git -> store/git",
        "/p/store/git/hooks/",
        "/p/store/git/config",
        "/p/src/a",
        "/p/file",
        "/p/other -> /etc",
    ];
    let spec = spec(
        &["/p"],
        &["/p/.git/hooks", "/p/.git/commondir", "/p/.mcp.json"],
        &[],
    );
    assert_eq!(
        describe(&spec, &host),
        [
            "ro /p",
            "rw /p/file",
            "rw /p/src",
            "rw /p/store",
            "rw /p/store/git",
            "ro /p/store/git/hooks"
        ]
    );
    assert_eq!(
        absent(&spec, &host),
        paths(&["/p/.mcp.json", "/p/store/git/commondir"])
    );
}

#[test]
fn a_link_out_of_the_writable_roots_is_only_kept() {
    let host = ["/p/a", "/p/.git -> /elsewhere", "/elsewhere/hooks/"];
    let spec = spec(&["/p"], &["/p/.git/hooks"], &[]);
    assert_eq!(describe(&spec, &host), ["ro /p", "rw /p/a"]);
}

#[test]
fn a_link_that_leads_nowhere_is_refused_and_named() {
    let host = Fake::of(&["/p/", "/p/.git -> /elsewhere"]);
    let why = MountPlan::of(&spec(&["/p"], &["/p/.git/hooks"], &[]), &host).unwrap_err();
    assert!(why.0.starts_with("`/p/.git` is a link"), "{why}");
}

#[test]
fn only_exceptions_of_a_masked_path_are_visible() {
    let mut spec = spec(&["/p"], &[], &["/h"]);
    spec.readable = paths(&["/h/s/1/spill", "/h/s/2/none"]);
    assert_eq!(
        describe(&spec, &["/p/", "/h/s/1/spill/x", "/h/s/2/log"]),
        ["empty /h", "ro /h/s/1/spill", "rw /p"]
    );
}

#[test]
fn a_root_that_was_replaced_by_a_link_is_not_written() {
    let host = ["/p/", "/p/cache -> /etc", "/etc/"];
    assert_eq!(
        describe(&spec(&["/p", "/p/cache"], &[], &[]), &host),
        ["rw /p"]
    );
}

#[test]
fn deepest_writable_protected_or_masked_path_decides_the_mount() {
    let host = [
        "/h/.ssh/",
        "/h/net",
        "/h/p/.env",
        "/h/p/d/key",
        "/h/p/.r/auto/",
    ];
    let spec = spec(
        &["/h/p", "/h/p/.r/auto"],
        &["/h/p/.r"],
        &[
            "/h",
            "/h/.ssh",
            "/h/net",
            "/h/p/.env",
            "/h/p/d",
            "/h/p/d/key",
            "/h/none",
        ],
    );
    assert_eq!(
        describe(&spec, &host),
        [
            "empty /h",
            "rw /h/p",
            "nothing /h/p/.env",
            "ro /h/p/.r",
            "rw /h/p/.r/auto",
            "empty /h/p/d"
        ]
    );
}

#[test]
fn a_mask_deep_in_a_root_cannot_be_renamed_away() {
    let spec = spec(&["/p"], &[], &["/p/a/b/key"]);
    let expected = ["rw /p", "rw /p/a", "rw /p/a/b", "nothing /p/a/b/key"];
    assert_eq!(describe(&spec, &["/p/a/b/key"]), expected);
}

#[test]
fn a_masked_link_masks_its_target() {
    let host = ["/h/key -> /s/key", "/s/key"];
    assert_eq!(
        describe(&spec(&[], &[], &["/h/key"]), &host),
        ["nothing /s/key"]
    );
}

#[test]
fn a_workspace_below_tmp_or_run_is_visible() {
    let host = ["/tmp/p/.git/hooks/", "/run/media/p/"];
    let spec = spec(
        &["/tmp/p", "/run/media/p"],
        &["/tmp/p/.git/hooks"],
        &["/tmp/secret"],
    );
    assert_eq!(
        describe(&spec, &host),
        [
            "rw /run/media/p",
            "rw /tmp/p",
            "rw /tmp/p/.git",
            "ro /tmp/p/.git/hooks"
        ]
    );
}

#[test]
fn kernel_settings_cannot_be_changed() {
    let host = ["/proc/sys/", "/proc/sysrq-trigger"];
    let expected = ["ro /proc/sys", "ro /proc/sysrq-trigger"];
    assert_eq!(describe(&spec(&[], &[], &[]), &host), expected);
}

#[test]
fn a_workspace_in_tmp_gets_the_real_tmp() {
    let plan = MountPlan::of(&spec(&["/tmp"], &[], &[]), &Fake::of(&[])).unwrap();
    let tmp = plan
        .steps
        .iter()
        .find(|step| step.at() == Path::new("/tmp"));
    assert_eq!(tmp, Some(&bind(Path::new("/tmp"), Path::new("/tmp"), true)));
}

#[test]
fn only_needed_parts_of_run_are_visible() {
    let host = [
        "/run/current-system -> /nix/store/x",
        "/run/opengl-driver/",
        "/run/user/1/bus",
        "/var/run/docker.sock",
        "/etc/resolv.conf -> ../run/systemd/resolve/stub.conf",
        "/run/systemd/resolve/stub.conf",
    ];
    let mut spec = spec(&[], &[], &[]);
    let mut expected = vec![
        "/run/current-system -> /nix/store/x",
        "ro /run/opengl-driver",
        "empty /var/run",
    ];
    assert_eq!(describe(&spec, &host), expected);
    spec.network = true;
    expected.insert(2, "ro /run/systemd/resolve/stub.conf");
    assert_eq!(describe(&spec, &host), expected);
}
