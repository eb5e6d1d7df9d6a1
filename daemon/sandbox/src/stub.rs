//! Stubs: empty directories that keep a place from being taken while a command runs.
//!
//! A mount needs something to be mounted on. Where a file must not come to exist, a directory is made on the
//! host just before, the command finds an empty one mounted over it, and after the last command that needed it
//! the directory is removed. A directory and not a file, because git shows no empty ones, and because `rmdir`
//! takes away only what is empty: whatever somebody has put there meanwhile stays. One place needs a file
//! (`.git/commondir`), with a text that changes nothing.
//!
//! Who needs a stub holds a shared lock on it, and who wants to remove it needs that lock alone: so it is
//! counted over all commands and all daemons, and a daemon that was killed holds nothing. What it left is known
//! by rights nothing has by chance, and goes when its session is loaded again ([`Stubs::clear`]), or with the next
//! command that needs the place.

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

use crate::plan::{Plan, Refused, stands_for};

/// When a stub was last changed, by its own word: a second in 1970. For people who wonder.
const MARK: i64 = 19_700_117;
/// What a stub is known by, from the moment in which it comes to be: anybody may look at it, nobody may write, and only
/// its owner could rename it. Nothing has such rights by chance.
const MODE: u32 = 0o1555;
const FILE_MODE: u32 = 0o1444;
/// Of these rights a umask takes nothing.
const KNOWN: u32 = 0o1700;
/// Opened only to look further from there.
#[cfg(target_os = "linux")]
const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const SEARCH: OFlags = OFlags::RDONLY;
/// How often a place may be lost to somebody who removes it at the same time.
const TRIES: usize = 200;
/// Between two tries: whoever is in the middle of it has to get on.
const PAUSE: Duration = Duration::from_millis(1);

/// Whether this directory is a stub, in use or left behind.
pub(crate) fn is_marked(found: &Metadata) -> bool {
    bears(found.mode(), found.is_dir())
}

/// Whether these are the rights of a stub.
fn bears(mode: u32, is_directory: bool) -> bool {
    let wanted = if is_directory { MODE } else { FILE_MODE };
    mode & KNOWN == wanted & KNOWN
}

/// The stubs of one command. Dropping it removes those that nobody else needs.
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
    /// Makes what the plan needs. A stub that turns out not to be needed, because nobody can take its place
    /// anyway, is taken out of the plan.
    ///
    /// # Errors
    /// One can neither be made nor be done without.
    pub fn make(plan: &mut Plan) -> Result<Self, Refused> {
        let mut made = Self::default();
        for path in plan.stubs.clone() {
            match make(&path) {
                Ok(Made::Stub(stub)) => made.0.push(stub),
                Ok(Made::Needless) => plan.forget(&path),
                Ok(Made::Frozen) => {
                    plan.forget(&path);
                    plan.freeze(path.parent().unwrap_or(&path));
                }
                Err(error) => {
                    return Err(Refused(format!(
                        "nothing may be made at `{}`, and the place cannot be held: {error}",
                        path.display()
                    )));
                }
            }
        }
        Ok(made)
    }

    /// Removes what a daemon that was killed has left of these, unless somebody needs it now.
    pub fn clear(plan: &Plan) {
        drop(Self(
            plan.stubs.iter().filter_map(|path| left(path)).collect(),
        ));
    }
}

impl Drop for Stubs {
    fn drop(&mut self) {
        for stub in &self.0 {
            // Somebody else needs it, or it is not empty any more: either way it is not ours to remove.
            if flock(&stub.open, FlockOperation::NonBlockingLockExclusive).is_ok()
                && let Some(name) = stub.path.file_name()
                && is_same(&stub.parent, name, &stub.open)
            {
                let how = match stands_for(&stub.path) {
                    Some(text) if !says(&stub.open, text) => continue,
                    Some(_) => AtFlags::empty(),
                    None => AtFlags::REMOVEDIR,
                };
                let _ = unlinkat(&stub.parent, name, how);
            }
        }
    }
}

enum Made {
    Stub(Stub),
    /// The place cannot be taken with the rights of this user.
    Needless,
    /// It could be taken only after the directory around it was made writable, which then must not be.
    Frozen,
}

fn make(path: &Path) -> io::Result<Made> {
    let (Some(around), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = directory(around)?;
    for _ in 0..TRIES {
        let text = stands_for(path);
        let made = match text {
            Some(text) => place(&parent, name, text),
            None => mkdirat(&parent, name, Mode::from_bits_truncate(MODE)),
        };
        match made {
            Ok(()) => mark(&parent, name)?,
            Err(Errno::EXIST) => {}
            Err(Errno::ROFS) => return Ok(Made::Needless),
            Err(Errno::ACCESS | Errno::PERM) => {
                let own = fstat(&parent)?.st_uid == geteuid().as_raw();
                return Ok(if own { Made::Frozen } else { Made::Needless });
            }
            Err(error) => return Err(error.into()),
        }
        // Whoever removes it at this moment has the lock, and then it is gone.
        let held = match open_stub(&parent, name) {
            Ok(held) => held,
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(error.into()),
        };
        let shared = flock(&held, FlockOperation::NonBlockingLockShared);
        let ours = shared.is_ok()
            && text.is_none_or(|text| says(&held, text))
            && bears_mark(&held)
            && is_same(&parent, name, &held);
        if ours {
            return Ok(Made::Stub(Stub {
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
    Err(io::Error::other("something has just come to be there"))
}

/// The stub that stands there, if one does. Of those in use it is one user more.
fn left(path: &Path) -> Option<Stub> {
    let parent = directory(path.parent()?).ok()?;
    let name = path.file_name()?;
    let open = open_stub(&parent, name).ok()?;
    if !bears_mark(&open) || flock(&open, FlockOperation::NonBlockingLockShared).is_err() {
        return None;
    }
    if stands_for(path).is_some() && fstat(&open).is_ok_and(|found| found.st_size == 0) {
        take_away_unfinished(&parent, name, &open);
        return None;
    }
    let path = path.to_path_buf();
    Some(Stub { parent, path, open })
}

/// Marks the directory that was just made.
fn mark(parent: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
    let made = match open_stub(parent, name) {
        Ok(made) => made,
        // Removed by somebody who took it for left behind.
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(error),
    };
    mark_open(&made)
}

/// Removes a file that says nothing yet: who made it was killed before it wrote, or is about to, and then makes it anew.
fn take_away_unfinished(parent: &OwnedFd, name: &OsStr, held: &OwnedFd) {
    let empty = fstat(held).is_ok_and(|found| found.st_size == 0);
    if empty
        && bears_mark(held)
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

/// Opens a directory from the root on, without following a link anywhere.
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
    // A pipe that somebody has put there must not make us wait.
    openat(
        parent,
        name,
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

/// Makes a file that says this and that nobody else is making.
fn place(parent: &OwnedFd, name: &OsStr, text: &[u8]) -> rustix::io::Result<()> {
    let file = openat(
        parent,
        name,
        OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::from_bits_truncate(FILE_MODE),
    )?;
    rustix::io::write(&file, text).map(|_| ())
}

/// Whether the file says this and nothing else.
fn says(file: &OwnedFd, text: &[u8]) -> bool {
    let mut said = [0; 16];
    rustix::io::pread(file, &mut said, 0).is_ok_and(|count| said.get(..count) == Some(text))
}

fn is_directory(open: &OwnedFd) -> bool {
    fstat(open).is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_dir())
}

fn bears_mark(open: &OwnedFd) -> bool {
    fstat(open).is_ok_and(|found| bears(found.st_mode, is_directory(open)))
}

/// Whether the open directory is still what the name stands for.
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
        matches!(make(place), Ok(Made::Stub(_)))
    }

    #[test]
    fn concurrent_commands_share_a_stub_even_if_one_is_killed() {
        let dir = tempfile::tempdir().unwrap();
        let place = std::fs::canonicalize(dir.path()).unwrap().join(".mcp.json");
        // Made, and not marked.
        std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), MODE)
            .create(&place)
            .unwrap();
        assert!(
            is_marked(&place.metadata().unwrap()),
            "nobody takes it for somebody's own"
        );
        assert!(held(&place));
        let place = &place;
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(move || {
                    for _ in 0..200 {
                        let Ok(Made::Stub(stub)) = make(place) else {
                            panic!("the place cannot be held")
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
        let Ok(Made::Stub(_stub)) = make(&place) else {
            panic!("the place cannot be held")
        };
        assert_eq!(Some(&*std::fs::read(&place).unwrap()), stands_for(&place));
    }

    #[test]
    fn leftover_stubs_are_removed_and_used_or_foreign_files_stay() {
        let dir = tempfile::tempdir().unwrap();
        let top = std::fs::canonicalize(dir.path()).unwrap();
        let [left, used, own, unwritten, said, missing] = [
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
        // As a killed daemon leaves them: made, with nobody who holds them; one before anything was written.
        for path in [&left, &said] {
            let Ok(Made::Stub(stub)) = make(path) else {
                panic!("it cannot be made")
            };
            drop(stub);
        }
        let file = std::fs::File::create(&unwritten).unwrap();
        fchmod(&file, Mode::from_bits_truncate(FILE_MODE)).unwrap();
        let Ok(Made::Stub(stub)) = make(&used) else {
            panic!("it cannot be made")
        };
        let mut plan = Plan::to_probe();
        plan.stubs = [&left, &used, &own, &unwritten, &said, &missing]
            .map(PathBuf::clone)
            .into();
        Stubs::clear(&plan);
        let there = [left, used, own, unwritten, said, missing].map(|path| path.exists());
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
                    let Ok(Made::Stub(stub)) = make(place) else {
                        panic!("the place cannot be held")
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
