//! What the process that will become the command does to itself, last of all: Landlock and a filter of system
//! calls. Both hold for everything it starts, and neither can be taken back.

use std::path::{Path, PathBuf};

use contract::Walls;
use serde::{Deserialize, Serialize};

use crate::plan::{Plan, Step};

/// What is held from the inside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inner {
    /// Where may be written.
    pub write: Vec<PathBuf>,
    /// What may not be read: only where no mounts hide it.
    pub masked: Vec<PathBuf>,
    /// What of it may be read all the same.
    pub readable: Vec<PathBuf>,
    /// Whether the network of the machine is within the walls.
    pub network: bool,
    /// Nothing else holds: no mounts, no namespaces.
    pub alone: bool,
    /// What was mounted to be written has to be this. A command that runs already could have put a link in the place of
    /// a directory of the workspace while the mounts were made, and so something else would have been mounted.
    pub same: Vec<Same>,
}

/// A place as it was when the walls were planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Same {
    pub path: PathBuf,
    /// Device and inode. `None`: it was gone already, or behind a link.
    pub was: Option<(u64, u64)>,
}

impl Same {
    fn of(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            was: Self::now(path),
        }
    }

    #[cfg(unix)]
    fn now(path: &Path) -> Option<(u64, u64)> {
        let around = crate::stub::directory(path.parent()?).ok()?;
        let name = path.file_name()?;
        let found =
            rustix::fs::statat(&around, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).ok()?;
        #[allow(
            clippy::unnecessary_cast,
            clippy::cast_sign_loss,
            reason = "the types differ between systems"
        )]
        Some((found.st_dev as u64, found.st_ino as u64))
    }

    #[cfg(not(unix))]
    fn now(_path: &Path) -> Option<(u64, u64)> {
        None
    }

    fn check(&self) -> Result<(), String> {
        if self.was.is_some() && Self::now(&self.path) == self.was {
            return Ok(());
        }
        Err(format!(
            "`{}` was replaced while the walls were built: try again",
            self.path.display()
        ))
    }
}

impl Inner {
    /// What it would be here: for a person.
    #[must_use]
    pub fn layers() -> Vec<String> {
        #[cfg(target_os = "linux")]
        {
            let landlock = crate::beneath::version();
            let named = (landlock > 0).then(|| format!("Landlock ABI {landlock}"));
            let filter = filters().then(|| "seccomp".to_owned());
            named.into_iter().chain(filter).collect()
        }
        #[cfg(not(target_os = "linux"))]
        Vec::new()
    }

    /// Whether it keeps a command from abstract Unix sockets where that has the network of the machine.
    #[must_use]
    pub fn holds_abstract_sockets() -> bool {
        #[cfg(target_os = "linux")]
        return crate::beneath::version() >= crate::beneath::SCOPES;
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Whether it can be the only wall here.
    #[must_use]
    pub fn can_be_alone() -> bool {
        #[cfg(target_os = "linux")]
        return crate::beneath::version() > 0 && filters();
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Binds the calling thread, and all that it will start. The process must have no other thread.
    ///
    /// # Errors
    /// What could not be set up, for a person. Then the command must not run.
    pub fn bind(&self) -> Result<(), String> {
        self.same.iter().try_for_each(Same::check)?;
        #[cfg(target_os = "linux")]
        {
            if self.alone {
                crate::might::give_up(crate::might::KEPT)
                    .map_err(|error| format!("capabilities: {error}"))?;
            }
            crate::beneath::restrict(self)?;
            // With a network namespace around it, or the network allowed, it is not the filter that holds it.
            let program = crate::calls::program(!self.alone || self.network);
            match seccompiler::apply_filter(&program) {
                Err(error) if self.alone || filters() => Err(format!("seccomp: {error}")),
                _ => Ok(()),
            }
        }
        #[cfg(not(target_os = "linux"))]
        Err("there is no sandbox for this system".to_owned())
    }

    /// The second wall, within mounts and namespaces.
    #[must_use]
    pub fn behind(plan: &Plan) -> Self {
        let written = plan.steps.iter().filter_map(|step| match step {
            Step::Bind { from, to, writable } if *writable && from == to => {
                to.parent().and(Some(to))
            }
            _ => None,
        });
        Self {
            same: written.map(|path| Same::of(path)).collect(),
            write: plan.write.clone(),
            masked: Vec::new(),
            readable: Vec::new(),
            network: plan.network,
            alone: false,
        }
    }

    /// The only wall.
    #[must_use]
    pub fn alone(walls: &Walls) -> Self {
        let mut write = walls.write.clone();
        write.push(walls.temp.clone());
        Self {
            same: Vec::new(),
            write,
            masked: walls.masked.clone(),
            readable: walls.readable.clone(),
            network: walls.network,
            alone: true,
        }
    }
}

/// Whether the kernel takes filters of system calls.
#[cfg(target_os = "linux")]
fn filters() -> bool {
    std::path::Path::new("/proc/sys/kernel/seccomp").exists()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_path_swapped_during_mounting_is_detected() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().canonicalize().unwrap().join(name);
        for name in ["a/b", "other/b"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        let places = [at("a"), at("a/b")].map(|path| Same::of(&path));
        assert!(places.iter().all(|place| place.check().is_ok()));
        std::fs::rename(at("a"), at("away")).unwrap();
        std::os::unix::fs::symlink("away", at("a")).unwrap();
        assert!(
            places.iter().all(|place| place.check().is_err()),
            "by a link"
        );
        std::fs::remove_file(at("a")).unwrap();
        std::fs::rename(at("other"), at("a")).unwrap();
        assert!(
            places.iter().all(|place| place.check().is_err()),
            "by another"
        );
        assert!(Same::of(&at("none")).check().is_err(), "gone before");
    }
}
