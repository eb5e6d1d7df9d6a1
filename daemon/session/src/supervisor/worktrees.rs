//! Git worktrees of sessions: a checkout and a branch for one session alone, beside the user's checkout.
//!
//! A worktree is in `<checkout>.worktrees/`, outside the home, so that the session may write there. Its entry in the
//! store is made before it and removed after it. When its session has exited, a worktree without changes is removed; one
//! with changes stays, and its report says how to merge or delete it.

mod changes;
mod endings;
mod git;
mod report;

use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proto::params::session::CreateParams;
use proto::{ErrorName, Failure, RequestId, SessionId};
use store::worktrees::{self as entries, Worktree};
use workspace::{GitDirs, Workspace};

use crate::calls::permissions::{open, root_of};
use crate::supervisor::{Supervisor, storage};
use crate::tasks::blocking;
use git::Git;

pub(crate) use endings::tend;
pub(crate) use report::text_for_parent;

/// The work tree that a new one is made from.
pub(crate) struct WorktreeSource {
    pub workspace: Arc<Workspace>,
    /// `PATH` of the session.
    pub search_path: String,
}

impl Supervisor {
    /// Makes the worktree of a session that a client starts. Returns the directory to work in.
    ///
    /// # Errors
    /// As `make_worktree`; the directory cannot be read.
    pub(crate) async fn make_own_worktree(
        &self,
        params: &CreateParams,
    ) -> Result<PathBuf, Failure> {
        let assembly = Arc::clone(&self.services.assembly);
        let cwd = PathBuf::from(&params.cwd);
        let opened = blocking(move || {
            let terms = assembly.terms(&cwd);
            let root = root_of(&terms, &cwd, &assembly.user_home());
            open(&terms, &*assembly, &cwd, &root, Vec::new())
        });
        let source = WorktreeSource {
            workspace: Arc::new(opened.await??),
            search_path: params.env.get("PATH").cloned().unwrap_or_default(),
        };
        self.make_worktree(params.session, source).await
    }

    /// Makes the worktree of a session that does not exist yet. Returns it and the directory in it that corresponds to
    /// the source's working directory.
    ///
    /// # Errors
    /// The source is not in a git repository, or git failed: nothing is left.
    pub(crate) async fn make_worktree(
        &self,
        session: SessionId,
        source: WorktreeSource,
    ) -> Result<PathBuf, Failure> {
        // A daemon that was killed may have left it half made. No session has worked there.
        // A kept one has the changes of a session that was deleted: those are not for this one to delete.
        let earlier = self.worktree_of(session).await;
        if earlier.is_none_or(|worktree| !worktree.kept) {
            self.discard_worktree(session).await;
        }
        let turn = self.worktree_turn.acquire().await;
        let root = source.workspace.root().to_owned();
        let (home, maker) = (Arc::clone(&self.services.home), self.instance);
        let planned = blocking({
            move || {
                let planned = plan(&home, session, &source, maker)?;
                Ok::<_, Failure>((planned, source.workspace.cwd().to_owned()))
            }
        });
        let ((git_dir, mut worktree), cwd) = planned.await??;
        let failed = |reason: String| not_made(&root, &reason);
        let git = match self.look_at_source(&git_dir, &root, &mut worktree).await {
            Ok(git) => git,
            Err(failure) => {
                remove_empty_place(&worktree).await;
                return Err(failure);
            }
        };
        let home = Arc::clone(&self.services.home);
        let entry = worktree.clone();
        let put = blocking(move || entries::put(&home, session, &entry)).await?;
        put.map_err(|error| storage(store::reason(&error)))?;
        let added = add(git, &worktree).await;
        drop(turn);
        if let Err(reason) = added {
            self.discard_worktree(session).await;
            return Err(failed(reason));
        }
        // Component by component: joining an empty path would add a slash.
        let mut inside = worktree.path.clone();
        inside.extend(cwd.strip_prefix(&root).unwrap_or(Path::new("")));
        // A directory of which nothing is committed is not there.
        Ok(match inside.is_dir() {
            true => inside,
            false => worktree.path,
        })
    }

    /// Notes what a worktree is made from: the last commit, and how much of the source is not in that.
    async fn look_at_source(
        &self,
        git_dir: &Path,
        root: &Path,
        worktree: &mut Worktree,
    ) -> Result<Git, Failure> {
        let failed = |reason: String| not_made(root, &reason);
        let spawn = self.services.assembly.spawn();
        let git = Git::open(spawn, git_dir, root, &worktree.search_path);
        let git = git.await.map_err(failed)?;
        let base = git.line(&["rev-parse", "--verify", "-q", "HEAD^{commit}"]);
        worktree.base = base.await.map_err(|_| {
            let what = format!(
                "Cannot create a git worktree for `{}`: it has no commit.",
                root.display()
            );
            Failure::new(
                ErrorName::InvalidParams,
                what,
                "Make a first commit there, or start without `--worktree`.",
            )
        })?;
        let status = [
            "status",
            "--porcelain",
            "-z",
            "--no-renames",
            "--ignore-submodules=dirty",
        ];
        let dirty = git.paths(&status).await.map_err(failed)?;
        worktree.left_out = u64::try_from(dirty.len()).unwrap_or(u64::MAX);
        Ok(git)
    }

    /// Removes the worktree of a session that was never created.
    pub(crate) async fn discard_worktree(&self, session: SessionId) {
        let home = Arc::clone(&self.services.home);
        let Ok(Some(worktree)) = blocking(move || entries::get(&home, session)).await else {
            return;
        };
        let _turn = self.worktree_turn.acquire().await;
        if let Err(reason) = self.remove_worktree(session, &worktree).await {
            tracing::warn!(%session, reason, path = %worktree.path.display(), "a worktree stays");
        }
    }

    /// Removes worktrees of an earlier daemon whose sessions were never created, and forgets those that the user has
    /// removed. Before any session is loaded: a call that runs again makes its worktree again.
    pub(crate) async fn discard_left_worktrees(&self) {
        for (session, worktree) in self.left_worktrees().await {
            // Also one without a directory: git makes the branch first.
            if !worktree.kept && matches!(self.exists(session).await, Ok(false)) {
                self.discard_worktree(session).await;
            } else if !worktree.path.exists() {
                let home = Arc::clone(&self.services.home);
                // If this fails, the next start tries again.
                let _ = blocking(move || entries::remove(&home, session)).await;
                remove_empty_place(&worktree).await;
            }
        }
    }

    /// Ends worktrees of an earlier daemon whose sessions had exited. Those whose sessions go on end with them.
    pub(crate) async fn settle_left_worktrees(&self) {
        for (session, worktree) in self.left_worktrees().await {
            // A kept one stays until the user merges or deletes it.
            if !worktree.kept {
                self.settle_worktree(session).await;
            }
        }
    }

    /// The worktrees that an earlier daemon made.
    async fn left_worktrees(&self) -> Vec<(SessionId, Worktree)> {
        let (home, own) = (Arc::clone(&self.services.home), self.instance);
        let found = blocking(move || entries::list(&home)).await;
        let mut found = found.ok().and_then(Result::ok).unwrap_or_default();
        found.retain(|(_, worktree)| worktree.made_by != own);
        found
    }

    /// Removes a worktree, its branch if that has no commits of its own, and its entry. In a turn of `worktree_turn`.
    async fn remove_worktree(&self, session: SessionId, worktree: &Worktree) -> Result<(), String> {
        let Worktree {
            branch,
            base,
            origin,
            common,
            ..
        } = worktree;
        let removed = worktree.clone();
        let removed = blocking(move || remove_files(&removed)).await;
        removed.map_err(|failure| failure.message)??;
        let spawn = self.services.assembly.spawn();
        let git = Git::open(spawn, common, origin, &worktree.search_path).await?;
        let name = format!("refs/heads/{branch}");
        // Only while it is where it was made: commits are never lost.
        if let Err(reason) = git.run(&["update-ref", "-d", &name, base]).await {
            tracing::debug!(%session, reason, "the branch of a worktree stays");
        }
        remove_empty_place(worktree).await;
        let home = Arc::clone(&self.services.home);
        let forgotten = blocking(move || {
            entries::remove(&home, session).map_err(|error| store::reason(&error))
        });
        forgotten.await.map_err(|failure| failure.message)?
    }
}

/// Adds the worktree to its repository and fills it. `git worktree add` alone would fill it by `git reset`, which locks all
/// branches of the repository: if git is killed, they stay locked, also for the user.
async fn add(git: Git, worktree: &Worktree) -> Result<(), String> {
    let path = worktree.path.clone();
    let name = path.to_string_lossy();
    let (branch, base) = (&*worktree.branch, &*worktree.base);
    let add = ["worktree", "add", "--no-checkout", "--no-track", "-b"];
    git.run(&[&add[..], &[branch, &name, base]].concat())
        .await?;
    let made = path.clone();
    let dirs = blocking(move || GitDirs::of_work_tree(&made)).await;
    let dirs = dirs.map_err(|failure| failure.message)?;
    let dirs = dirs.ok_or("git made no worktree there")?;
    let git = git.in_work_tree(dirs.own(), &path);
    let done = git.run(&["read-tree", "--reset", "-u", "HEAD"]).await;
    done.map(drop)
}

/// Removes a worktree's directory, what git knows of it, and the lock of its branch. Blocks.
///
/// `git worktree remove` is not enough: it fails at what a killed `git worktree add` has left, as do all later commands
/// about worktrees in that repository.
fn remove_files(worktree: &Worktree) -> Result<(), String> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| format!("`{path}` cannot be removed: {error}")
    };
    let Worktree {
        path,
        common,
        branch,
        ..
    } = worktree;
    if path.symlink_metadata().is_ok() {
        std::fs::remove_dir_all(path).map_err(failed(path))?;
    }
    // Git names its directory after the worktree's, which is named after the session: nobody else has one of this name.
    // If there is a work tree of it now, the user has moved that.
    let known = path
        .file_name()
        .map(|name| common.join("worktrees").join(name));
    if let Some(known) = known.filter(|known| known.is_dir() && !workspace::has_work_tree(known)) {
        std::fs::remove_dir_all(&known).map_err(failed(&known))?;
        // As git does. Others may be there.
        let _ = std::fs::remove_dir(common.join("worktrees"));
    }
    // There is one only if git was killed.
    let _ = std::fs::remove_file(common.join(format!("refs/heads/{branch}.lock")));
    Ok(())
}

/// Removes the directory of a checkout's worktrees, if none is in it.
async fn remove_empty_place(worktree: &Worktree) {
    if let Some(place) = worktree.path.parent().map(Path::to_owned) {
        // Other worktrees may be there.
        let _ = blocking(move || std::fs::remove_dir(place)).await;
    }
}

/// The git directory of the source and the worktree to make, still without its base. Blocks.
fn plan(
    home: &store::home::Home,
    session: SessionId,
    source: &WorktreeSource,
    made_by: RequestId,
) -> Result<(PathBuf, Worktree), Failure> {
    let root = source.workspace.root();
    let Some(dirs) = GitDirs::of_work_tree(root) else {
        let what = format!(
            "Cannot create a git worktree for `{}`: it is not a git repository.",
            root.display()
        );
        let hint = "Run `git init` and commit there, or start without a worktree.";
        return Err(Failure::new(ErrorName::InvalidParams, what, hint));
    };
    let failed = |reason: &str| not_made(root, reason);
    let writable = source.workspace.writable_dirs(&[]);
    let search_path = writable.path_from("git", &source.search_path);
    let search_path = search_path.ok_or_else(|| failed("`git` is not on PATH"))?;
    let common = dirs.common().canonicalize();
    let common = common.map_err(|error| failed(&error.to_string()))?;
    let origin = entries::in_origin(home.root(), root).unwrap_or_else(|| root.to_owned());
    let (Some(above), Some(name)) = (origin.parent(), origin.file_name()) else {
        return Err(failed("it has no directory above it"));
    };
    let name = name
        .to_str()
        .ok_or_else(|| failed("its name is not valid UTF-8"))?;
    let place = above.join(format!("{name}{}", entries::WORKTREES_SUFFIX));
    if place.starts_with(home.root()) {
        return Err(failed("it is in the home of Reasonix"));
    }
    let made = std::fs::DirBuilder::new().mode(0o700).create(&place);
    if let Err(error) = made
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        return Err(failed(&format!("`{}`: {error}", place.display())));
    }
    // Others could put something there first.
    let owner = |path: &Path| {
        path.symlink_metadata()
            .map(|found| (found.is_dir(), found.uid()))
    };
    match (owner(&place), owner(home.root())) {
        (Ok((true, one)), Ok((_, other))) if one == other => {}
        _ => {
            return Err(failed(&format!(
                "`{}` is not a directory of yours",
                place.display()
            )));
        }
    }
    let id: String = session.0.simple().to_string().chars().skip(20).collect();
    let worktree = Worktree {
        path: place.join(&id),
        branch: format!("reasonix/{id}"),
        base: String::new(),
        source: (origin != root).then(|| root.to_owned()),
        origin,
        common,
        left_out: 0,
        search_path,
        made_by,
        kept: false,
    };
    Ok((dirs.own().to_owned(), worktree))
}

fn not_made(root: &Path, reason: &str) -> Failure {
    Failure::new(
        ErrorName::InvalidParams,
        format!(
            "Cannot create a git worktree for `{}`: {reason}.",
            root.display()
        ),
        "Fix this, or start without a worktree.",
    )
}
