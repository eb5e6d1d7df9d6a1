//! The home: the directory with all data of one user. Defines its paths and keeps it private.
//!
//! Creates directories, but no files. Called at start-up. Everything else uses the paths.

use std::fs::DirBuilder;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use proto::SessionId;
use sha2::{Digest, Sha256};

use crate::disk::{DiskError, IoContext, each_name, private, private_dir, remove_file, sync_dir};

/// Maximum characters of the root's name in the name of a project directory.
const NAME_MAX: usize = 40;

/// Why a home cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("`{}` is not a directory", .path.display())]
    NotADirectory { path: PathBuf },
    #[error("`{}` belongs to user {owner}, and this is user {user}: use a home of your own user", .path.display())]
    NotOurs {
        path: PathBuf,
        owner: u32,
        user: u32,
    },
    #[error("others can write to `{path}` (mode {mode:04o}): run `chmod go-w {path}`", path = .path.display())]
    OthersCanWrite { path: PathBuf, mode: u32 },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// A checked home. All its paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

macro_rules! places {
    ($($(#[$doc:meta])* $place:ident = $name:literal;)*) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $place(&self) -> PathBuf {
                self.root.join($name)
            }
        )*
    };
}

impl Home {
    /// Directories that always exist, readable by their owner alone.
    const DIRS: [&str; 8] = [
        "sessions",
        "run",
        "logs",
        "open",
        "ephemeral",
        "usage",
        "projects",
        "worktrees",
    ];

    /// Creates the missing directories of the home at `path`, and checks that only this user can
    /// write to it.
    ///
    /// # Errors
    /// The home belongs to another user, others can write to it, or the disk refuses.
    pub fn open(path: &Path) -> Result<Self, HomeError> {
        let made = !path.exists();
        if made {
            let mut builder = DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder.create(path).at("create the home", path)?;
        }
        let root = path.canonicalize().at("find the home", path)?;
        check(&root)?;
        for name in Self::DIRS {
            let dir = root.join(name);
            private_dir(&dir)?;
            check(&dir)?;
        }
        sync_dir(&root)?;
        if made && let Some(parent) = root.parent() {
            sync_dir(parent)?;
        }
        Ok(Self { root })
    }

    /// Whether the disk takes writes: writes a small file to it, and removes it.
    ///
    /// # Errors
    /// The disk is full, read-only or broken.
    pub fn check_writable(&self) -> Result<(), DiskError> {
        /// More than file systems keep beside a file's name.
        const BYTES: usize = 64 * 1024;
        let path = self.root.join("write-check.tmp");
        let write = || {
            let mut options = private();
            let mut file = options
                .write(true)
                .create(true)
                .truncate(true)
                .open(&path)?;
            file.write_all(&[0; BYTES])?;
            file.sync_all()
        };
        let written = write().at("write", &path);
        let _ = remove_file(&path);
        written
    }

    /// The home directory itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    places! {
        /// One directory per session.
        sessions = "sessions";
        /// Socket and lock of the running daemon.
        run = "run";
        /// The daemon's own log files.
        logs = "logs";
        /// A marker for each session with an unfinished turn or a queue.
        open_markers = "open";
        /// A marker for each session that is deleted when it has exited.
        ephemeral_markers = "ephemeral";
        /// The usage ledger: tokens and money.
        usage = "usage";
        /// What came under protected names during commands, until the user wants it back.
        quarantine = "quarantine";
        /// Entries of the git worktrees that were made for sessions.
        worktrees = "worktrees";
        /// Permission rules of projects.
        projects = "projects";
        /// The catalog.
        catalog = "reasonix.db";
        /// The index of messages.
        history = "history.db";
        /// The next unused pid.
        pid_next = "pid.next";
        /// Which projects' config may take effect.
        trust = "trust.json";
        /// The user's config.
        config = "config.toml";
        /// The user's own instructions for the model.
        instructions = "REASONIX.md";
        /// The user's custom commands.
        commands = "commands";
        /// The user's agents.
        agents = "agents";
        /// The user's skills.
        skills = "skills";
        /// Facts of the user, for all projects.
        memory = "memory";
        /// Locked for the lifetime of a daemon.
        lock = "run/reasonixd.lock";
    }

    /// The directory of a session.
    #[must_use]
    pub fn session_dir(&self, session: SessionId) -> PathBuf {
        self.sessions().join(session.to_string())
    }

    /// The directory of a project's rules and facts. Its name is the name of the project's root, for
    /// readability, and a hash of the whole path. A session's own git worktree shares the directory of its origin.
    #[must_use]
    pub fn project_dir(&self, root: &Path) -> PathBuf {
        let origin = crate::worktrees::in_origin(&self.root, root);
        let root = origin.as_deref().unwrap_or(root);
        let name = root.file_name().unwrap_or_default().to_string_lossy();
        let plain = |c: char| match c.is_ascii_alphanumeric() {
            true => c.to_ascii_lowercase(),
            false => '-',
        };
        let name: String = name.chars().map(plain).take(NAME_MAX).collect();
        let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
        let hash = hex::encode(&digest[..8]);
        let slug = format!("{}-{hash}", name.trim_matches('-'));
        self.projects().join(slug.trim_start_matches('-'))
    }

    /// The directory of the facts of a project.
    #[must_use]
    pub fn project_memory(&self, root: &Path) -> PathBuf {
        self.project_dir(root).join("memory")
    }

    /// Creates the directory of a project if it is missing, for its owner alone.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn make_project_dir(&self, root: &Path) -> Result<PathBuf, DiskError> {
        let dir = self.project_dir(root);
        if private_dir(&dir)? {
            sync_dir(&self.projects())?;
        }
        Ok(dir)
    }

    /// The ids of all sessions that have a directory, in no order. Skips entries with other names.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn session_ids(&self) -> Result<Vec<SessionId>, DiskError> {
        ids_in(&self.sessions())
    }
}

/// The entries of a directory whose names are session ids.
pub(crate) fn ids_in(dir: &Path) -> Result<Vec<SessionId>, DiskError> {
    let mut ids = Vec::new();
    each_name(dir, |name| ids.extend(id_of(name)))?;
    Ok(ids)
}

/// The session id that a name is, in its usual spelling: a UUID in another one would be another file.
pub(crate) fn id_of(name: &[u8]) -> Option<SessionId> {
    /// Of a UUID with hyphens; other spellings are shorter or longer.
    const LENGTH: usize = 36;
    let is_usual = name.len() == LENGTH && !name.iter().any(u8::is_ascii_uppercase);
    std::str::from_utf8(name)
        .ok()
        .filter(|_| is_usual)?
        .parse()
        .ok()
}

/// Checks that a directory is ours and that nobody else can write to it. Refuses symbolic links.
fn check(path: &Path) -> Result<(), HomeError> {
    let found = path.symlink_metadata().at("look at", path)?;
    let path = path.to_owned();
    let user = rustix::process::geteuid().as_raw();
    if !found.is_dir() {
        return Err(HomeError::NotADirectory { path });
    }
    if found.uid() != user {
        let owner = found.uid();
        return Err(HomeError::NotOurs { path, owner, user });
    }
    if found.mode() & 0o022 != 0 {
        let mode = found.mode() & 0o7777;
        return Err(HomeError::OthersCanWrite { path, mode });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
