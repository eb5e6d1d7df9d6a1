//! Renders a sandbox as an ordered list of mounts. Pure: queries the file system through [`FileSystem`].
//!
//! The rule of the deepest path wins: a workspace below a masked directory is writable, and a mask
//! in a workspace applies. Paths below a hidden directory need nothing.
//!
//! A mount follows its directory when a parent is renamed, which frees the old name. So each
//! directory between a writable root and a protected path becomes a mount: mount points cannot be
//! renamed. A protected path that does not exist has no mount: it is on the list of
//! [absent names](AbsentName), which are looked for while the command runs.

use contract::lossless_paths;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use contract::SandboxSpec;
use serde::{Deserialize, Serialize};

use crate::absent::{AbsentName, is_obeyed_by_git};
use crate::file_system::{FileKind, FileSystem};
use crate::sockets;

/// One mount, or an equivalent operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MountStep {
    /// A part of the host, with all mounts in it.
    Bind {
        #[serde(with = "lossless_paths::one")]
        from: PathBuf,
        #[serde(with = "lossless_paths::one")]
        to: PathBuf,
        writable: bool,
    },
    /// An empty read-only directory.
    Empty {
        #[serde(with = "lossless_paths::one")]
        at: PathBuf,
    },
    /// An empty read-only file.
    Nothing {
        #[serde(with = "lossless_paths::one")]
        at: PathBuf,
    },
    /// A link, in one of our empty directories.
    Link {
        #[serde(with = "lossless_paths::one")]
        at: PathBuf,
        #[serde(with = "lossless_paths::one")]
        target: PathBuf,
    },
    /// `/dev` with only the devices that every program needs.
    Devices,
    /// `/proc` of the namespace.
    Processes,
}

impl MountStep {
    /// The path inside the sandbox.
    #[must_use]
    pub fn at(&self) -> &Path {
        match self {
            Self::Bind { to, .. } => to,
            Self::Empty { at } | Self::Nothing { at } | Self::Link { at, .. } => at,
            Self::Devices => Path::new("/dev"),
            Self::Processes => Path::new("/proc"),
        }
    }
}

/// The mounts of a sandbox, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountPlan {
    pub steps: Vec<MountStep>,
    /// Protected paths that do not exist. Only the daemon needs them.
    #[serde(skip)]
    pub absent: Vec<AbsentName>,
    /// Protected files that exist, and whether the user's git may obey them at any moment. Only the daemon needs them.
    #[serde(skip)]
    pub held: Vec<(PathBuf, bool)>,
    /// Whether the machine's network is accessible.
    pub network: bool,
    /// Writable paths, for a second layer that does not use mounts.
    #[serde(with = "lossless_paths::many")]
    pub write: Vec<PathBuf>,
    /// Places whose sockets may be reached, as the command sees them.
    #[serde(with = "lossless_paths::many")]
    pub reachable: Vec<PathBuf>,
}

/// Why a sandbox cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub String);

/// Paths of sockets whose services run privileged actions for members of a group.
const SERVICES: [&str; 4] = [
    "/var/lib/incus",
    "/var/lib/lxd",
    "/var/snap/lxd/common/lxd",
    "/var/lib/docker",
];
/// Parts of `/proc` that belong to the machine and that root can write without capabilities.
/// Bubblewrap covers them only if it considers them writable.
pub(crate) const SWITCHES: [&str; 5] = [
    "/proc/bus",
    "/proc/fs",
    "/proc/irq",
    "/proc/sys",
    "/proc/sysrq-trigger",
];
/// The parts of `/run` that programs need. Everything else there is sockets and state of services.
const KEPT: [&str; 4] = [
    "/run/current-system",
    "/run/booted-system",
    "/run/opengl-driver",
    "/run/opengl-driver-32",
];

/// Maximum names in a frozen directory. Each is a mount.
const NAMES_MAX: usize = 500;

/// A rule about one path. Of two rules about the same path, the greater one applies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PathRule {
    /// Cannot be renamed, and otherwise inherits the access of its surroundings.
    Pinned,
    Written,
    Protected,
    /// No names can be added, because a link in it must stay.
    Frozen,
    Masked,
    MaskedFile,
    /// A system path: covered, shown from elsewhere, or a link.
    Covered,
    Shown {
        from: PathBuf,
        writable: bool,
    },
    Linked(PathBuf),
    Devices,
    Processes,
}

/// The visibility below a path with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visibility {
    Writable,
    Fixed,
    Hidden,
}

impl MountPlan {
    /// The plan for this sandbox.
    ///
    /// # Errors
    /// A protected path cannot be protected because it is reached through a link, or the temporary
    /// directory is missing.
    pub fn of(spec: &SandboxSpec, files: &dyn FileSystem) -> Result<Self, PlanError> {
        let write = roots(spec, files)?;
        let mut words = PathRules::default();
        words.system(spec, files);
        for root in &write {
            words.add(root, PathRule::Written);
        }
        for path in &spec.protected {
            words.protect(path, &write, files)?;
        }
        for path in &spec.masked {
            words.mask(path, &write, files);
        }
        for path in &spec.readable {
            if files.kind(path) == Some(FileKind::Directory)
                && files.real(path).as_ref() == Some(path)
            {
                words.show(path, path);
            }
        }
        let mut absent: Vec<_> = std::mem::take(&mut words.absent).into_iter().collect();
        for name in &mut absent {
            name.at_once |= spec.obeyed.contains(&name.path);
        }
        let held = std::mem::take(&mut words.held).into_iter();
        let held = held.map(|path| {
            let obeyed = is_obeyed_by_git(&path) || spec.obeyed.contains(&path);
            (path, obeyed)
        });
        let held = held.collect();
        let steps = words.steps();
        Ok(Self {
            held,
            reachable: sockets::inside_mounts(spec, files, &steps),
            steps,
            absent,
            network: spec.network,
            write,
        })
    }

    /// A plan with one mount of every kind, for a probe. Needs no path that may be missing.
    #[must_use]
    pub fn to_probe() -> Self {
        let root = Path::new("/");
        let empty = |at: &str| MountStep::Empty { at: at.into() };
        Self {
            steps: vec![
                bind(root, root, false),
                MountStep::Devices,
                MountStep::Processes,
                empty("/run"),
            ],
            absent: Vec::new(),
            held: Vec::new(),
            network: false,
            write: Vec::new(),
            reachable: Vec::new(),
        }
    }

    /// Number of empty files that it needs.
    #[must_use]
    pub fn empty_files(&self) -> usize {
        let nothing = |step: &&MountStep| matches!(step, MountStep::Nothing { .. });
        self.steps.iter().filter(nothing).count()
    }
}

/// All existing writable directories: the listed ones and the temporary directory.
fn roots(spec: &SandboxSpec, files: &dyn FileSystem) -> Result<Vec<PathBuf>, PlanError> {
    let named = |path: &PathBuf| files.real(path).as_ref() == Some(path);
    if !named(&spec.temp) {
        return Err(PlanError(format!(
            "the session's temporary directory `{}` does not exist",
            spec.temp.display()
        )));
    }
    // If it now resolves elsewhere, it was replaced by a link: that target was not made writable.
    let write = spec.write.iter().filter(|path| named(path));
    Ok(write.chain([&spec.temp]).cloned().collect())
}

#[derive(Default)]
struct PathRules {
    rules: BTreeMap<PathBuf, PathRule>,
    absent: BTreeSet<AbsentName>,
    /// Protected files.
    held: BTreeSet<PathBuf>,
}

impl PathRules {
    fn add(&mut self, path: &Path, rule: PathRule) {
        let existing = self
            .rules
            .entry(path.to_path_buf())
            .or_insert_with(|| rule.clone());
        if rule > *existing {
            *existing = rule;
        }
    }

    fn show(&mut self, from: &Path, at: &Path) {
        let (from, writable) = (from.to_path_buf(), false);
        self.add(at, PathRule::Shown { from, writable });
    }

    /// The rules for every command.
    fn system(&mut self, spec: &SandboxSpec, files: &dyn FileSystem) {
        self.add(Path::new("/dev"), PathRule::Devices);
        self.add(Path::new("/proc"), PathRule::Processes);
        let tmp = files.real(Path::new("/tmp"));
        // A workspace that is `/tmp` itself must stay writable.
        if let Some(tmp) = tmp.filter(|tmp| !spec.write.contains(tmp)) {
            let (from, writable) = (spec.temp.clone(), true);
            self.add(&tmp, PathRule::Shown { from, writable });
        }
        for place in ["/run", "/var/run"].map(Path::new) {
            let is_root = spec.write.iter().any(|root| root == place);
            if files.kind(place) == Some(FileKind::Directory) && !is_root {
                self.add(place, PathRule::Covered);
            }
        }
        for place in KEPT.map(Path::new) {
            match files.kind(place) {
                Some(FileKind::Link) => {
                    if let Some(target) = files.link(place) {
                        self.add(place, PathRule::Linked(target));
                    }
                }
                Some(FileKind::Directory) => self.show(place, place),
                _ => {}
            }
        }
        for place in SWITCHES.map(Path::new) {
            if files.kind(place).is_some() {
                self.show(place, place);
            }
        }
        for place in SERVICES.map(Path::new) {
            if files.kind(place) == Some(FileKind::Directory) {
                self.add(place, PathRule::Covered);
            }
        }
        for place in sockets::elsewhere(spec, files) {
            self.show(&place, &place);
        }
        if spec.network {
            self.names(files);
        }
    }

    /// The file that configures name resolution, if it is a link.
    fn names(&mut self, files: &dyn FileSystem) {
        let file = Path::new("/etc/resolv.conf");
        let (Some(target), Some(real)) = (files.link(file), files.real(file)) else {
            return;
        };
        let mut target = path_clean::clean(Path::new("/etc").join(target));
        if files.kind(Path::new("/var/run")) == Some(FileKind::Link)
            && let Ok(rest) = target.strip_prefix("/var/run")
        {
            target = Path::new("/run").join(rest);
        }
        if target.starts_with("/run") || target.starts_with("/var/run") {
            self.show(&real, &target);
        }
    }

    /// Protects a path. Does nothing if it is not writable anyway.
    fn protect(
        &mut self,
        path: &Path,
        write: &[PathBuf],
        files: &dyn FileSystem,
    ) -> Result<(), PlanError> {
        let Some(root) = outermost(path, write) else {
            return Ok(());
        };
        if path == root {
            self.add(path, PathRule::Protected);
            return Ok(());
        }
        for part in parts(root, path) {
            let last = part == path;
            match files.kind(&part) {
                Some(FileKind::Directory) if !last => self.add(&part, PathRule::Pinned),
                // A file in place of a directory blocks all paths below it.
                Some(kind @ (FileKind::Directory | FileKind::File)) => {
                    if kind == FileKind::File {
                        self.held.insert(part.clone());
                    }
                    self.add(&part, PathRule::Protected);
                    break;
                }
                None => {
                    self.absent.insert(AbsentName {
                        root: root.to_path_buf(),
                        path: path.to_path_buf(),
                        at_once: is_obeyed_by_git(path),
                    });
                    break;
                }
                // A command could make the directory searchable and change what is in it.
                Some(FileKind::Unknown) => {
                    self.add(part.parent().unwrap_or(root), PathRule::Protected);
                    break;
                }
                Some(FileKind::Link) => {
                    let target = files.real(&part).filter(|_| self.freeze(&part, files));
                    let Some(real) = target else {
                        return Err(PlanError(format!(
                            "`{}` is a link that cannot be protected, so `{}` cannot be protected either: put the real \
                             {} there, or run this command outside the sandbox",
                            part.display(),
                            path.display(),
                            if last {
                                "file or directory"
                            } else {
                                "directory"
                            },
                        )));
                    };
                    // The link's target is protected too if it is writable.
                    let mut target = real;
                    if let Ok(rest) = path.strip_prefix(&part)
                        && !last
                    {
                        target.push(rest);
                    }
                    return self.protect(&target, write, files);
                }
            }
        }
        Ok(())
    }

    /// Protects a link. Nothing can be mounted on a link, so its directory accepts no new names,
    /// and its entries are mounted one by one. Returns false if there are too many.
    fn freeze(&mut self, link: &Path, files: &dyn FileSystem) -> bool {
        let Some(around) = link.parent() else {
            return false;
        };
        let Some(names) = files.names(around, NAMES_MAX) else {
            return false;
        };
        self.add(around, PathRule::Frozen);
        for path in names.iter().map(|name| around.join(name)) {
            if matches!(
                files.kind(&path),
                Some(FileKind::Directory | FileKind::File)
            ) {
                self.add(&path, PathRule::Written);
            }
        }
        true
    }

    /// Masks a path if it exists.
    fn mask(&mut self, path: &Path, write: &[PathBuf], files: &dyn FileSystem) {
        let Some(real) = files.real(path) else { return };
        let rule = match files.kind(&real) {
            Some(FileKind::Directory) => PathRule::Masked,
            Some(FileKind::File) => PathRule::MaskedFile,
            _ => return,
        };
        if let Some(root) = outermost(&real, write) {
            for part in parts(root, &real) {
                if part != real {
                    self.add(&part, PathRule::Pinned);
                }
            }
        }
        self.add(&real, rule);
    }

    /// The mounts, parents before their content.
    fn steps(self) -> Vec<MountStep> {
        let root = Path::new("/");
        let writable = self.rules.get(root) == Some(&PathRule::Written);
        let mut steps = vec![bind(root, root, writable)];
        // The rules around the current path, innermost last.
        let outermost = match writable {
            true => Visibility::Writable,
            false => Visibility::Fixed,
        };
        let mut around = vec![(root.to_path_buf(), outermost)];
        for (path, rule) in self.rules {
            if path == root {
                continue;
            }
            while around.len() > 1 && !around.last().is_some_and(|(on, _)| path.starts_with(on)) {
                around.pop();
            }
            let outer = around.last().map_or(Visibility::Fixed, |(_, view)| *view);
            let (step, inner) = match rule {
                PathRule::Written => (bind(&path, &path, true), Visibility::Writable),
                PathRule::Shown { from, writable } => {
                    (bind(&from, &path, writable), Visibility::Hidden)
                }
                PathRule::Linked(target) if outer == Visibility::Hidden => {
                    let at = path.clone();
                    (MountStep::Link { at, target }, Visibility::Hidden)
                }
                PathRule::Covered => (MountStep::Empty { at: path.clone() }, Visibility::Hidden),
                PathRule::Frozen => (bind(&path, &path, false), Visibility::Fixed),
                PathRule::Devices => (MountStep::Devices, Visibility::Hidden),
                PathRule::Processes => (MountStep::Processes, Visibility::Hidden),
                // The host is not visible here, so nothing needs protection.
                _ if outer == Visibility::Hidden => continue,
                PathRule::Masked => (MountStep::Empty { at: path.clone() }, Visibility::Hidden),
                PathRule::MaskedFile => {
                    (MountStep::Nothing { at: path.clone() }, Visibility::Hidden)
                }
                // Nothing is writable here, so it is already protected.
                _ if outer == Visibility::Fixed => continue,
                PathRule::Pinned => (bind(&path, &path, true), Visibility::Writable),
                PathRule::Protected => (bind(&path, &path, false), Visibility::Fixed),
                PathRule::Linked(_) => continue,
            };
            steps.push(step);
            around.push((path, inner));
        }
        steps
    }
}

fn bind(from: &Path, to: &Path, writable: bool) -> MountStep {
    MountStep::Bind {
        from: from.to_path_buf(),
        to: to.to_path_buf(),
        writable,
    }
}

/// The outermost root that contains the path.
fn outermost<'a>(path: &Path, roots: &'a [PathBuf]) -> Option<&'a Path> {
    let around = roots.iter().filter(|root| path.starts_with(root));
    around
        .min_by_key(|root| root.components().count())
        .map(PathBuf::as_path)
}

/// The directories below `root` up to `path`, and `path` itself.
fn parts(root: &Path, path: &Path) -> Vec<PathBuf> {
    let mut parts: Vec<_> = path
        .ancestors()
        .take_while(|part| *part != root)
        .map(Path::to_path_buf)
        .collect();
    parts.reverse();
    parts
}

#[cfg(test)]
mod tests;
