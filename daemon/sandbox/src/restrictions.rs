//! Restrictions that a process applies to itself just before it becomes the command: Landlock and a
//! system call filter. Both apply to all its children and cannot be removed.

use contract::lossless_paths;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use contract::SandboxSpec;
use serde::{Deserialize, Serialize};

use crate::file_system::FileSystem;
use crate::plan::{MountPlan, MountStep};
use crate::sockets::{self, SocketRules};

#[cfg(target_os = "linux")]
use crate::syscall_filter::FilterOptions;

/// The restrictions of the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRestrictions {
    /// Writable directories.
    #[serde(with = "lossless_paths::many")]
    pub write: Vec<PathBuf>,
    /// Unreadable paths, if no mounts hide them.
    #[serde(with = "lossless_paths::many")]
    pub masked: Vec<PathBuf>,
    /// Readable exceptions of them.
    #[serde(with = "lossless_paths::many")]
    pub readable: Vec<PathBuf>,
    /// Whether the machine's network is accessible.
    pub network: bool,
    /// There are no mounts and no namespaces.
    pub alone: bool,
    /// Files that were mounted writable must be these. While the mounts were set up, a running
    /// command could have replaced a workspace directory by a link, so that another file was
    /// mounted.
    pub same: Vec<PathIdentity>,
    /// The sockets that a broker lets it reach. `None`: there is no broker here.
    pub sockets: Option<SocketRules>,
}

/// The identity of a path when the sandbox was planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathIdentity {
    #[serde(with = "lossless_paths::one")]
    pub path: PathBuf,
    /// Device and inode. `None`: it was missing or reached through a link.
    pub was: Option<(u64, u64)>,
}

impl PathIdentity {
    fn of(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            was: Self::now(path),
        }
    }

    fn now(path: &Path) -> Option<(u64, u64)> {
        let around = crate::file_system::open_directory(path.parent()?).ok()?;
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

    fn check(&self) -> Result<(), String> {
        if self.was.is_some() && Self::now(&self.path) == self.was {
            return Ok(());
        }
        Err(format!(
            "`{}` was replaced while the sandbox was set up: try again",
            self.path.display()
        ))
    }
}

impl ProcessRestrictions {
    /// The layers that are available here, as texts for the user.
    #[must_use]
    pub fn layers() -> Vec<String> {
        #[cfg(target_os = "linux")]
        {
            let landlock = crate::landlock_rules::version();
            let named = (landlock > 0).then(|| format!("Landlock ABI {landlock}"));
            let filter = filters().then(|| "seccomp".to_owned());
            named.into_iter().chain(filter).collect()
        }
        #[cfg(not(target_os = "linux"))]
        Vec::new()
    }

    /// Whether Landlock blocks abstract Unix sockets when a command uses the machine's network.
    #[must_use]
    pub fn holds_abstract_sockets() -> bool {
        #[cfg(target_os = "linux")]
        return crate::landlock_rules::version() >= crate::landlock_rules::SCOPES;
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Whether these restrictions suffice as the only layer here.
    #[must_use]
    pub fn can_be_alone() -> bool {
        #[cfg(target_os = "linux")]
        return crate::landlock_rules::version() > 0 && filters();
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Restricts the calling thread and all its future children. The process must have no other
    /// thread.
    ///
    /// # Errors
    /// The restriction that failed, as a text for the user. The command must not run then.
    ///
    /// Returns the listener for the broker. Until it is served, connections wait.
    pub fn bind(&self) -> Result<Option<OwnedFd>, String> {
        self.same.iter().try_for_each(PathIdentity::check)?;
        #[cfg(target_os = "linux")]
        {
            if self.alone {
                crate::capabilities::keep_only(crate::capabilities::KEPT)
                    .map_err(|error| format!("capabilities: {error}"))?;
            }
            crate::landlock_rules::restrict(self)?;
            let program = crate::syscall_filter::program(FilterOptions {
                // With a network namespace or an allowed network, the filter need not restrict it.
                network: !self.alone || self.network,
                processes: !self.alone,
                brokered: self.sockets.is_some(),
            });
            if self.sockets.is_some() {
                let listener = crate::listener::install(&program);
                return listener
                    .map(Some)
                    .map_err(|error| format!("seccomp: {error}"));
            }
            match seccompiler::apply_filter(&program) {
                Err(error) if self.alone || filters() => Err(format!("seccomp: {error}")),
                _ => Ok(None),
            }
        }
        #[cfg(not(target_os = "linux"))]
        Err("there is no sandbox for this system".to_owned())
    }

    /// The second layer, inside mounts and namespaces. `brokered`: a broker makes the connections.
    #[must_use]
    pub fn inside_mounts(plan: &MountPlan, brokered: bool) -> Self {
        let written = plan.steps.iter().filter_map(|step| match step {
            MountStep::Bind { from, to, writable } if *writable && from == to => {
                to.parent().and(Some(to))
            }
            _ => None,
        });
        Self {
            same: written.map(|path| PathIdentity::of(path)).collect(),
            write: plan.write.clone(),
            masked: Vec::new(),
            readable: Vec::new(),
            network: plan.network,
            alone: false,
            sockets: brokered.then(|| SocketRules {
                reachable: plan.reachable.clone(),
                closed: Vec::new(),
                // Such names are of a network namespace.
                abstract_names: !plan.network,
            }),
        }
    }

    /// The only layer.
    #[must_use]
    pub fn without_mounts(spec: &SandboxSpec, files: &dyn FileSystem, brokered: bool) -> Self {
        let mut write = spec.write.clone();
        write.push(spec.temp.clone());
        Self {
            same: Vec::new(),
            write,
            masked: spec.masked.clone(),
            readable: spec.readable.clone(),
            network: spec.network,
            alone: true,
            sockets: brokered.then(|| SocketRules {
                reachable: sockets::reachable(spec, files),
                closed: spec.masked.clone(),
                abstract_names: false,
            }),
        }
    }
}

/// Whether the kernel supports system call filters.
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
        let places = [at("a"), at("a/b")].map(|path| PathIdentity::of(&path));
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
        assert!(
            PathIdentity::of(&at("none")).check().is_err(),
            "gone before"
        );
    }
}
