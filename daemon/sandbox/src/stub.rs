//! Stubs: empty placeholder directories that reserve a path while a command runs.
//!
//! A mount needs a mount point. If a path must not be created, a stub directory is created on the
//! host just before, and the command sees an empty directory mounted over it. The last command that
//! needs the stub removes it. It is a directory, because git ignores empty ones and `rmdir` removes
//! only empty ones: files that a user puts there stay. One path needs a file (`.git/commondir`),
//! with neutral content.
//!
//! Users of a stub hold a shared lock on it, and removal requires an exclusive lock. So stubs are
//! reference-counted across all commands and daemons, and a killed daemon holds nothing. Its
//! leftovers have a distinctive mode. They are removed when the session is loaded again
//! ([`Stubs::clear`]), or by the next command that needs the path.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, Timespec, Timestamps, fchmod, flock, fstat,
    futimens, mkdirat, open, openat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::plan::{MountPlan, PlanError, stub_content};

/// The modification time of stubs, a second in 1970, as a hint for users.
const MARK: i64 = 19_700_117;
/// The mode of stubs from their creation on: everybody may read, nobody may write, and only the
/// owner can rename. No other file has this mode by chance.
const MODE: u32 = 0o1555;
const FILE_MODE: u32 = 0o1444;
/// A umask does not change these bits.
const KNOWN: u32 = 0o1700;
/// Opened only to traverse.
#[cfg(target_os = "linux")]
const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const SEARCH: OFlags = OFlags::RDONLY;
/// How often to retry when another process removes the path at the same time.
const TRIES: usize = 200;
/// Pause between two tries, so that the other process can finish.
const PAUSE: Duration = Duration::from_millis(1);

/// Whether this directory is a stub, in use or left over.
pub(crate) fn is_marked(found: &Metadata) -> bool {
    is_stub_mode(found.mode(), found.is_dir())
}

/// Whether this is the mode of a stub.
fn is_stub_mode(mode: u32, is_directory: bool) -> bool {
    let wanted = if is_directory { MODE } else { FILE_MODE };
    mode & KNOWN == wanted & KNOWN
}

/// The stubs of one command. Dropping it removes those that no other command needs.
#[derive(Debug, Default)]
pub struct Stubs(Vec<Stub>);

#[derive(Debug)]
struct Stub {
    parent: OwnedFd,
    path: PathBuf,
    /// Holds the shared lock.
    open: OwnedFd,
}

impl Stubs {
    /// Creates the stubs of a plan. Removes a stub from the plan if its path cannot be created
    /// anyway.
    ///
    /// # Errors
    /// A required stub cannot be created.
    pub fn make(plan: &mut MountPlan) -> Result<Self, PlanError> {
        let mut made = Self::default();
        for path in plan.stubs.clone() {
            match make(&path) {
                Ok(StubOutcome::Stub(stub)) => made.0.push(stub),
                Ok(StubOutcome::Needless) => plan.forget(&path),
                Ok(StubOutcome::Frozen) => {
                    plan.forget(&path);
                    plan.freeze(path.parent().unwrap_or(&path));
                }
                Err(error) => {
                    return Err(PlanError(format!(
                        "`{}` must not be created, and cannot be reserved: {error}",
                        path.display()
                    )));
                }
            }
        }
        Ok(made)
    }

    /// Removes stubs that a killed daemon left, unless they are in use.
    pub fn clear(plan: &MountPlan) {
        drop(Self(
            plan.stubs.iter().filter_map(|path| left(path)).collect(),
        ));
    }
}

impl Drop for Stubs {
    fn drop(&mut self) {
        for stub in &self.0 {
            // It is in use or not empty: not ours to remove.
            if flock(&stub.open, FlockOperation::NonBlockingLockExclusive).is_ok()
                && let Some(name) = stub.path.file_name()
                && is_same(&stub.parent, name, &stub.open)
            {
                let how = match stub_content(&stub.path) {
                    Some(text) if !says(&stub.open, text) => continue,
                    Some(_) => AtFlags::empty(),
                    None => AtFlags::REMOVEDIR,
                };
                let _ = unlinkat(&stub.parent, name, how);
            }
        }
    }
}

enum StubOutcome {
    Stub(Stub),
    /// The path cannot be created with this user's rights.
    Needless,
    /// It could be created only after making the parent directory writable, which the plan
    /// prevents.
    Frozen,
}

fn make(path: &Path) -> io::Result<StubOutcome> {
    let (Some(around), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = directory(around)?;
    for _ in 0..TRIES {
        let text = stub_content(path);
        let made = match text {
            Some(text) => place(&parent, name, text),
            None => mkdirat(&parent, name, Mode::from_bits_truncate(MODE)),
        };
        match made {
            Ok(()) => mark(&parent, name)?,
            Err(Errno::EXIST) => {}
            Err(Errno::ROFS) => return Ok(StubOutcome::Needless),
            Err(Errno::ACCESS | Errno::PERM) => {
                let own = fstat(&parent)?.st_uid == geteuid().as_raw();
                return Ok(if own {
                    StubOutcome::Frozen
                } else {
                    StubOutcome::Needless
                });
            }
            Err(error) => return Err(error.into()),
        }
        // A process that is removing it holds the lock, and then it is gone.
        let held = match open_stub(&parent, name) {
            Ok(held) => held,
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(error.into()),
        };
        let shared = flock(&held, FlockOperation::NonBlockingLockShared);
        let ours = shared.is_ok()
            && text.is_none_or(|text| says(&held, text))
            && has_mark(&held)
            && is_same(&parent, name, &held);
        if ours {
            return Ok(StubOutcome::Stub(Stub {
                parent,
                path: path.to_path_buf(),
                open: held,
            }));
        }
        if shared.is_ok() && text.is_some() {
            take_away_unfinished(&parent, name, &held);
        }
        std::thread::sleep(PAUSE);
    }
    Err(io::Error::other("another file was just created there"))
}

/// The existing stub, if there is one. Adds a user to a stub in use.
fn left(path: &Path) -> Option<Stub> {
    let parent = directory(path.parent()?).ok()?;
    let name = path.file_name()?;
    let open = open_stub(&parent, name).ok()?;
    if !has_mark(&open) || flock(&open, FlockOperation::NonBlockingLockShared).is_err() {
        return None;
    }
    if stub_content(path).is_some() && fstat(&open).is_ok_and(|found| found.st_size == 0) {
        take_away_unfinished(&parent, name, &open);
        return None;
    }
    let path = path.to_path_buf();
    Some(Stub { parent, path, open })
}

/// Marks the directory that was just created.
fn mark(parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
    let made = match open_stub(parent, name) {
        Ok(made) => made,
        // Removed by a process that took it for a leftover.
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(error),
    };
    mark_open(&made)
}

/// Removes an unfinished file: its creator was killed before writing, or will create it again.
fn take_away_unfinished(parent: &OwnedFd, name: &OsStr, held: &OwnedFd) {
    let empty = fstat(held).is_ok_and(|found| found.st_size == 0);
    if empty
        && has_mark(held)
        && flock(held, FlockOperation::NonBlockingLockExclusive).is_ok()
        && is_same(parent, name, held)
    {
        let _ = unlinkat(parent, name, AtFlags::empty());
    }
}

fn mark_open(made: &OwnedFd) -> rustix::io::Result<()> {
    let mode = if is_directory(made) { MODE } else { FILE_MODE };
    fchmod(made, Mode::from_bits_truncate(mode))?;
    let when = Timespec {
        tv_sec: MARK,
        tv_nsec: 0,
    };
    futimens(
        made,
        &Timestamps {
            last_access: when,
            last_modification: when,
        },
    )
}

/// Opens a directory from the root, without following links.
pub(crate) fn directory(path: &Path) -> io::Result<OwnedFd> {
    let mut at = open(
        "/",
        SEARCH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    for part in path.components() {
        match part {
            Component::RootDir => {}
            Component::Normal(name) => {
                at = openat(
                    &at,
                    name,
                    SEARCH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
                    Mode::empty(),
                )?;
            }
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
    }
    Ok(at)
}

fn open_stub(parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    // A pipe created by a user must not block.
    openat(
        parent,
        name,
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

/// Creates a file with this content, unless another process is creating it.
fn place(parent: &OwnedFd, name: &OsStr, text: &[u8]) -> rustix::io::Result<()> {
    let file = openat(
        parent,
        name,
        OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::from_bits_truncate(FILE_MODE),
    )?;
    rustix::io::write(&file, text).map(|_| ())
}

/// Whether the file has exactly this content.
fn says(file: &OwnedFd, text: &[u8]) -> bool {
    let mut written = [0; 16];
    rustix::io::pread(file, &mut written, 0).is_ok_and(|count| written.get(..count) == Some(text))
}

fn is_directory(open: &OwnedFd) -> bool {
    fstat(open).is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_dir())
}

fn has_mark(open: &OwnedFd) -> bool {
    fstat(open).is_ok_and(|found| is_stub_mode(found.st_mode, is_directory(open)))
}

/// Whether the open directory is still the one at this name.
fn is_same(parent: &OwnedFd, name: &OsStr, open: &OwnedFd) -> bool {
    let (Ok(named), Ok(held)) = (
        statat(parent, name, AtFlags::SYMLINK_NOFOLLOW),
        fstat(open.as_fd()),
    ) else {
        return false;
    };
    (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(place: &Path) -> bool {
        matches!(make(place), Ok(StubOutcome::Stub(_)))
    }

    #[test]
    fn concurrent_commands_share_a_stub_even_if_one_is_killed() {
        let dir = tempfile::tempdir().unwrap();
        let place = std::fs::canonicalize(dir.path()).unwrap().join(".mcp.json");
        // Created, and not marked.
        std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), MODE)
            .create(&place)
            .unwrap();
        assert!(
            is_marked(&place.metadata().unwrap()),
            "it is recognised as a stub"
        );
        assert!(held(&place));
        let place = &place;
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(move || {
                    for _ in 0..200 {
                        let Ok(StubOutcome::Stub(stub)) = make(place) else {
                            panic!("the path cannot be reserved")
                        };
                        drop(Stubs(vec![stub]));
                    }
                });
            }
        });
        assert!(!place.exists(), "the last one has removed it");
    }

    #[test]
    fn a_stub_whose_creator_was_killed_before_writing_is_created_again() {
        let dir = tempfile::tempdir().unwrap();
        let place = std::fs::canonicalize(dir.path())
            .unwrap()
            .join(".git/commondir");
        std::fs::create_dir(place.parent().unwrap()).unwrap();
        let file = std::fs::File::create(&place).unwrap();
        fchmod(&file, Mode::from_bits_truncate(FILE_MODE)).unwrap();
        let Ok(StubOutcome::Stub(_stub)) = make(&place) else {
            panic!("the path cannot be reserved")
        };
        assert_eq!(Some(&*std::fs::read(&place).unwrap()), stub_content(&place));
    }

    #[test]
    fn leftover_stubs_are_removed_and_used_or_foreign_files_stay() {
        let dir = tempfile::tempdir().unwrap();
        let top = std::fs::canonicalize(dir.path()).unwrap();
        let [left, used, own, unwritten, written, missing] = [
            ".mcp.json",
            ".reasonix",
            ".git",
            "a/commondir",
            "b/commondir",
            "none",
        ]
        .map(|name| top.join(name));
        for name in ["a", "b", ".git"] {
            std::fs::create_dir(top.join(name)).unwrap();
        }
        // As a killed daemon leaves them: created and not locked, one of them before its content
        // was written.
        for path in [&left, &written] {
            let Ok(StubOutcome::Stub(stub)) = make(path) else {
                panic!("it cannot be created")
            };
            drop(stub);
        }
        let file = std::fs::File::create(&unwritten).unwrap();
        fchmod(&file, Mode::from_bits_truncate(FILE_MODE)).unwrap();
        let Ok(StubOutcome::Stub(stub)) = make(&used) else {
            panic!("it cannot be created")
        };
        let mut plan = MountPlan::to_probe();
        plan.stubs = [&left, &used, &own, &unwritten, &written, &missing]
            .map(PathBuf::clone)
            .into();
        Stubs::clear(&plan);
        let there = [left, used, own, unwritten, written, missing].map(|path| path.exists());
        assert_eq!(there, [false, true, true, false, false, false]);
        drop(Stubs(vec![stub]));
    }

    #[test]
    fn a_stub_is_never_seen_half_created() {
        let dir = tempfile::tempdir().unwrap();
        let place = &std::fs::canonicalize(dir.path()).unwrap().join(".mcp.json");
        std::thread::scope(|threads| {
            let makes = threads.spawn(move || {
                for _ in 0..2_000 {
                    let Ok(StubOutcome::Stub(stub)) = make(place) else {
                        panic!("the path cannot be reserved")
                    };
                    drop(Stubs(vec![stub]));
                }
            });
            while !makes.is_finished() {
                if let Ok(found) = place.symlink_metadata() {
                    assert!(is_marked(&found), "{found:?}");
                }
            }
        });
    }
}
