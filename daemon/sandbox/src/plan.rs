//! Walls as an ordered list of mounts. Pure: what it needs to know of the file system it asks [`Look`].
//!
//! The deepest word about a path decides: a workspace below a masked directory can be written, a mask in a
//! workspace holds. What lies below a place that is hidden anyway needs nothing.
//!
//! A mount follows its directory when a parent of it is renamed, and the old name is free then. So each
//! directory between a root that can be written and a place in it that must stay is a mount of its own: those
//! cannot be renamed. Where such a place does not exist, the first part of it that is missing is covered by an
//! empty directory, and for that has to be made on the host as a [stub](crate::Stubs).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use contract::Walls;
use serde::{Deserialize, Serialize};

use crate::look::{Kind, Look};

/// One mount, or what stands for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// A part of the host, with all mounts in it.
    Bind {
        from: PathBuf,
        to: PathBuf,
        writable: bool,
    },
    /// An empty directory that nothing can be made in. Its mount point may be a stub.
    Empty { at: PathBuf },
    /// An empty file that cannot be written.
    Nothing { at: PathBuf },
    /// A link, in an empty directory of ours.
    Link { at: PathBuf, target: PathBuf },
    /// `/dev` with what every program needs and no more.
    Devices,
    /// `/proc` of the namespace.
    Processes,
}

impl Step {
    /// Where it is seen.
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

/// What is mounted, in this order, to hold walls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub steps: Vec<Step>,
    /// Directories that have to be made before, so that something can be mounted on them.
    pub stubs: Vec<PathBuf>,
    /// Whether the network of the machine is within the walls.
    pub network: bool,
    /// What can be written, for a second wall that knows no mounts.
    pub write: Vec<PathBuf>,
}

/// Why walls cannot be held.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// Places of the system that hold sockets of services which do for anybody in a group what only root may.
const SERVICES: [&str; 4] = [
    "/var/lib/incus",
    "/var/lib/lxd",
    "/var/snap/lxd/common/lxd",
    "/var/lib/docker",
];
/// Parts of `/proc` that belong to the machine and that root may write without any capability. Bubblewrap covers
/// them only where it thinks that they can be written.
pub(crate) const SWITCHES: [&str; 5] = [
    "/proc/bus",
    "/proc/fs",
    "/proc/irq",
    "/proc/sys",
    "/proc/sysrq-trigger",
];
/// What programs need of `/run`, where everything else is sockets and state of services.
const KEPT: [&str; 4] = [
    "/run/current-system",
    "/run/booted-system",
    "/run/opengl-driver",
    "/run/opengl-driver-32",
];

/// Names in a directory that takes no new ones: each is a mount.
const NAMES_MAX: usize = 500;

/// What is said about one path. Of two about the same, the greater holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    /// Cannot be renamed, is otherwise as what is around it.
    Pinned,
    Written,
    Protected,
    /// Does not exist and must not be made.
    Blocked,
    /// The same, where a file that says nothing new has to stand.
    Placed,
    /// Takes no new names, because a link in it must stay.
    Frozen,
    Masked,
    MaskedFile,
    /// The system's own place: covered, shown from elsewhere, or a link.
    Covered,
    Shown(PathBuf, Access),
    Linked(PathBuf),
    Devices,
    Processes,
}

/// How something is shown at a second place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    Read,
    Write,
}

/// What is seen below a path that something was said about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Writable,
    Fixed,
    Hidden,
}

impl Plan {
    /// The plan for these walls.
    ///
    /// # Errors
    /// A place that must stay as it is cannot be held: a link is on the way to it, or the directory for what
    /// is temporary is not there.
    pub fn of(walls: &Walls, look: &dyn Look) -> Result<Self, Refused> {
        let write = roots(walls, look)?;
        let mut words = Words::default();
        words.system(walls, look);
        for root in &write {
            words.say(root, Word::Written);
        }
        for path in &walls.protected {
            words.protect(path, &write, look)?;
        }
        for path in &walls.masked {
            words.mask(path, &write, look);
        }
        for path in &walls.readable {
            if look.kind(path) == Some(Kind::Directory) && look.real(path).as_ref() == Some(path) {
                words.show(path, path);
            }
        }
        let (steps, stubs) = words.steps();
        Ok(Self {
            steps,
            stubs,
            network: walls.network,
            write,
        })
    }

    /// A plan that has of every kind of mount one, and needs nothing that may be missing: to see whether it works.
    #[must_use]
    pub fn to_probe() -> Self {
        let root = Path::new("/");
        let empty = |at: &str| Step::Empty { at: at.into() };
        Self {
            steps: vec![
                bind(root, root, false),
                Step::Devices,
                Step::Processes,
                empty("/run"),
            ],
            stubs: Vec::new(),
            network: false,
            write: Vec::new(),
        }
    }

    /// How many empty files it needs.
    #[must_use]
    pub fn nothings(&self) -> usize {
        let nothing = |step: &&Step| matches!(step, Step::Nothing { .. });
        self.steps.iter().filter(nothing).count()
    }

    /// Takes back what was to be mounted on a stub that is not needed.
    pub(crate) fn forget(&mut self, stub: &Path) {
        self.stubs.retain(|known| known != stub);
        self.steps.retain(|step| step.at() != stub);
    }

    /// Makes a directory that was only pinned one that cannot be written.
    pub(crate) fn freeze(&mut self, directory: &Path) {
        for step in &mut self.steps {
            if let Step::Bind { to, writable, .. } = step
                && to == directory
            {
                *writable = false;
            }
        }
    }
}

/// The text of a stub that has to be a file. Git dies of a directory there, and whoever makes the file says where
/// git finds its configuration and hooks; this text says what git does without the file.
pub(crate) fn stands_for(path: &Path) -> Option<&'static [u8]> {
    match path.file_name()?.to_str()? {
        "commondir" => Some(b".\n"),
        "config.worktree" => Some(b"\n"),
        _ => None,
    }
}

/// Everything that can be written, as far as it exists: the named directories and the one for what is temporary.
fn roots(walls: &Walls, look: &dyn Look) -> Result<Vec<PathBuf>, Refused> {
    let named = |path: &PathBuf| look.real(path).as_ref() == Some(path);
    if !named(&walls.temp) {
        return Err(Refused(format!(
            "the session's directory for temporary files, `{}`, is not there",
            walls.temp.display()
        )));
    }
    // One that leads elsewhere now was replaced by a link: nobody has said that it may be written there.
    let write = walls.write.iter().filter(|path| named(path));
    Ok(write.chain([&walls.temp]).cloned().collect())
}

#[derive(Default)]
struct Words(BTreeMap<PathBuf, Word>);

impl Words {
    fn say(&mut self, path: &Path, word: Word) {
        let held = self
            .0
            .entry(path.to_path_buf())
            .or_insert_with(|| word.clone());
        if word > *held {
            *held = word;
        }
    }

    fn show(&mut self, from: &Path, at: &Path) {
        self.say(at, Word::Shown(from.to_path_buf(), Access::Read));
    }

    /// What is so for every command.
    fn system(&mut self, walls: &Walls, look: &dyn Look) {
        self.say(Path::new("/dev"), Word::Devices);
        self.say(Path::new("/proc"), Word::Processes);
        let tmp = look.real(Path::new("/tmp"));
        // Who works in `/tmp` itself has said that it may be written.
        if let Some(tmp) = tmp.filter(|tmp| !walls.write.contains(tmp)) {
            self.say(&tmp, Word::Shown(walls.temp.clone(), Access::Write));
        }
        for place in ["/run", "/var/run"].map(Path::new) {
            let is_root = walls.write.iter().any(|root| root == place);
            if look.kind(place) == Some(Kind::Directory) && !is_root {
                self.say(place, Word::Covered);
            }
        }
        for place in KEPT.map(Path::new) {
            match look.kind(place) {
                Some(Kind::Link) => {
                    if let Some(target) = look.link(place) {
                        self.say(place, Word::Linked(target));
                    }
                }
                Some(Kind::Directory) => self.show(place, place),
                _ => {}
            }
        }
        for place in SWITCHES.map(Path::new) {
            if look.kind(place).is_some() {
                self.show(place, place);
            }
        }
        for place in SERVICES.map(Path::new) {
            if look.kind(place) == Some(Kind::Directory) {
                self.say(place, Word::Covered);
            }
        }
        if walls.network {
            self.names(look);
        }
    }

    /// The file that says who translates names of machines, where a link leads to it.
    fn names(&mut self, look: &dyn Look) {
        let file = Path::new("/etc/resolv.conf");
        let (Some(target), Some(real)) = (look.link(file), look.real(file)) else {
            return;
        };
        let mut target = path_clean::clean(Path::new("/etc").join(target));
        if look.kind(Path::new("/var/run")) == Some(Kind::Link)
            && let Ok(rest) = target.strip_prefix("/var/run")
        {
            target = Path::new("/run").join(rest);
        }
        if target.starts_with("/run") || target.starts_with("/var/run") {
            self.show(&real, &target);
        }
    }

    /// Holds a place that must stay as it is. Nothing to do where it cannot be written anyway.
    fn protect(&mut self, path: &Path, write: &[PathBuf], look: &dyn Look) -> Result<(), Refused> {
        let Some(root) = outermost(path, write) else {
            return Ok(());
        };
        if path == root {
            self.say(path, Word::Protected);
            return Ok(());
        }
        for part in parts(root, path) {
            let last = part == path;
            match look.kind(&part) {
                Some(Kind::Directory) if !last => self.say(&part, Word::Pinned),
                // A file where a directory should be stands for all that could be below it.
                Some(Kind::Directory | Kind::File) => {
                    self.say(&part, Word::Protected);
                    break;
                }
                None | Some(Kind::Stub) => {
                    let word = match stands_for(&part) {
                        Some(_) => Word::Placed,
                        None => Word::Blocked,
                    };
                    self.say(&part, word);
                    break;
                }
                Some(Kind::Link) => {
                    let held = look.real(&part).filter(|_| self.freeze(&part, look));
                    let Some(real) = held else {
                        return Err(Refused(format!(
                            "`{}` is a link that cannot be held, and so `{}` cannot be kept as it is: put the real \
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
                    // What it leads to stays as it is as well, where that could be written.
                    let mut target = real;
                    if let Ok(rest) = path.strip_prefix(&part)
                        && !last
                    {
                        target.push(rest);
                    }
                    return self.protect(&target, write, look);
                }
            }
        }
        Ok(())
    }

    /// Keeps a link where it is. Nothing can be mounted on one, so the directory around it takes no new names, and what
    /// is in it can be written one by one. False: that are too many.
    fn freeze(&mut self, link: &Path, look: &dyn Look) -> bool {
        let Some(around) = link.parent() else {
            return false;
        };
        let Some(names) = look.names(around, NAMES_MAX) else {
            return false;
        };
        self.say(around, Word::Frozen);
        for path in names.iter().map(|name| around.join(name)) {
            if matches!(look.kind(&path), Some(Kind::Directory | Kind::File)) {
                self.say(&path, Word::Written);
            }
        }
        true
    }

    /// Hides a place, where it exists.
    fn mask(&mut self, path: &Path, write: &[PathBuf], look: &dyn Look) {
        let Some(real) = look.real(path) else { return };
        let word = match look.kind(&real) {
            Some(Kind::Directory) => Word::Masked,
            Some(Kind::File) => Word::MaskedFile,
            _ => return,
        };
        if let Some(root) = outermost(&real, write) {
            for part in parts(root, &real) {
                if part != real {
                    self.say(&part, Word::Pinned);
                }
            }
        }
        self.say(&real, word);
    }

    /// As mounts, parents before what is in them, and the stubs that some of them need.
    fn steps(self) -> (Vec<Step>, Vec<PathBuf>) {
        let root = Path::new("/");
        let writable = self.0.get(root) == Some(&Word::Written);
        let mut steps = vec![bind(root, root, writable)];
        let mut stubs = Vec::new();
        // What is around the path at hand, the nearest last.
        let mut around = vec![(root.to_path_buf(), view(writable))];
        for (path, word) in self.0 {
            if path == root {
                continue;
            }
            while around.len() > 1 && !around.last().is_some_and(|(on, _)| path.starts_with(on)) {
                around.pop();
            }
            let outer = around.last().map_or(View::Fixed, |(_, view)| *view);
            let (step, inner) = match word {
                Word::Written => (bind(&path, &path, true), View::Writable),
                Word::Shown(from, access) => {
                    (bind(&from, &path, access == Access::Write), View::Hidden)
                }
                Word::Linked(target) if outer == View::Hidden => {
                    let at = path.clone();
                    (Step::Link { at, target }, View::Hidden)
                }
                Word::Covered => (Step::Empty { at: path.clone() }, View::Hidden),
                Word::Frozen => (bind(&path, &path, false), View::Fixed),
                Word::Devices => (Step::Devices, View::Hidden),
                Word::Processes => (Step::Processes, View::Hidden),
                // Nothing of the host is seen here: there is nothing to hold.
                _ if outer == View::Hidden => continue,
                Word::Masked => (Step::Empty { at: path.clone() }, View::Hidden),
                Word::MaskedFile => (Step::Nothing { at: path.clone() }, View::Hidden),
                // Nothing can be written here: it holds already.
                _ if outer == View::Fixed => continue,
                Word::Pinned => (bind(&path, &path, true), View::Writable),
                Word::Protected => (bind(&path, &path, false), View::Fixed),
                Word::Blocked => {
                    stubs.push(path.clone());
                    (Step::Empty { at: path.clone() }, View::Hidden)
                }
                Word::Placed => {
                    stubs.push(path.clone());
                    (bind(&path, &path, false), View::Fixed)
                }
                Word::Linked(_) => continue,
            };
            steps.push(step);
            around.push((path, inner));
        }
        (steps, stubs)
    }
}

fn bind(from: &Path, to: &Path, writable: bool) -> Step {
    Step::Bind {
        from: from.to_path_buf(),
        to: to.to_path_buf(),
        writable,
    }
}

fn view(writable: bool) -> View {
    if writable {
        View::Writable
    } else {
        View::Fixed
    }
}

/// The root furthest up that the path is in.
fn outermost<'a>(path: &Path, roots: &'a [PathBuf]) -> Option<&'a Path> {
    let around = roots.iter().filter(|root| path.starts_with(root));
    around
        .min_by_key(|root| root.components().count())
        .map(PathBuf::as_path)
}

/// The directories below `root` on the way to `path`, and `path`.
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
