//! The workspace of a session: opened from its directories, its rules and the settings. For the session itself, and to read
//! files before it exists. Blocks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proto::record::{Rules, SessionCreated};
use proto::{ErrorName, Failure, Pid};
use workspace::{Workspace, WorkspaceOptions};

use crate::actor::commands::directory;
use crate::assembly::setup::{RuleLayer, Setup};
use crate::calls::permissions::close_unasked;
use crate::calls::sandbox;
use crate::supervisor::load::SessionServices;

/// Where a session works, and what it may read there.
#[derive(Clone, Copy)]
pub struct SessionPlace<'a> {
    pub root: &'a Path,
    pub cwd: &'a Path,
    /// The session's own rules.
    pub rules: &'a Rules,
}

/// A workspace to read files in before the session is there. Blocks.
pub fn bare(
    services: &SessionServices,
    setup: &Setup,
    place: SessionPlace<'_>,
) -> Result<Workspace, Failure> {
    let places = WorkspacePaths {
        root: place.root,
        cwd: place.cwd,
        rules: Some(place.rules),
        add_dirs: &[],
        readable: Vec::new(),
    };
    open(services, setup, places, None)
}

/// The workspace, and why it cannot be worked in, if so.
pub fn of_session(
    services: &SessionServices,
    created: &SessionCreated,
    setup: &Setup,
    added_dirs: &[String],
    is_new: bool,
) -> Result<(Arc<Workspace>, Option<String>), Failure> {
    let dir = services.home.session_dir(created.session);
    let temp = temp_of(services, created.pid);
    let cwd = Path::new(&created.cwd);
    let places = WorkspacePaths {
        root: Path::new(&created.root),
        cwd,
        rules: created.options.rules.as_ref(),
        add_dirs: &created.add_dirs,
        readable: vec![spill_dir(&dir)],
    };
    let opened = open(services, setup, places, temp);
    let (workspace, lost) = match opened {
        Ok(workspace) => (workspace, None),
        // The directory of an old session may be gone: it can still be read.
        Err(failure) if !is_new => {
            let reason = match cwd.is_dir() {
                true => failure.message,
                false => directory::missing(&created.cwd),
            };
            (nowhere(&dir)?, Some(reason))
        }
        Err(failure) => return Err(failure),
    };
    for dir in added_dirs {
        workspace.add_root(PathBuf::from(dir));
    }
    Ok((Arc::new(workspace), lost))
}

/// Where outputs that were cut are kept whole.
pub fn spill_dir(dir: &Path) -> PathBuf {
    dir.join("spill")
}

/// The session's own temporary directory. `None`: it cannot be made, and without it commands cannot be sandboxed.
fn temp_of(services: &SessionServices, pid: Pid) -> Option<PathBuf> {
    let temp = services.assembly.temp()?.join(pid.to_string());
    sandbox::make_private(&temp).ok()?;
    Some(temp)
}

/// Where a session works.
struct WorkspacePaths<'a> {
    root: &'a Path,
    cwd: &'a Path,
    /// The session's own rules.
    rules: Option<&'a Rules>,
    /// Directories to write in, chosen by the session's creator.
    add_dirs: &'a [String],
    /// Directories of ours that the session may read.
    readable: Vec<PathBuf>,
}

fn open(
    services: &SessionServices,
    setup: &Setup,
    places: WorkspacePaths<'_>,
    temp: Option<PathBuf>,
) -> Result<Workspace, Failure> {
    let (cwd, mut readable) = (places.cwd, places.readable);
    let mut extra_writable = setup.allow_write.clone();
    extra_writable.extend(places.add_dirs.iter().map(PathBuf::from));
    readable.extend([
        services.home.instructions(),
        services.home.commands(),
        services.home.skills(),
        services.home.agents(),
    ]);
    let options = WorkspaceOptions {
        root: places.root.to_owned(),
        cwd: cwd.to_owned(),
        extra_writable,
        masked: services.assembly.closed(),
        readable,
        temp,
        deny_read: setup.deny_read.clone(),
        user_home: services.assembly.user_home(),
    };
    let workspace = Workspace::open(options).map_err(|error| {
        Failure::new(
            ErrorName::InvalidParams,
            format!("The directory `{}` cannot be used: {error}", cwd.display()),
            "Use an existing directory that you can read.",
        )
    })?;
    let mut layers = setup.profile.rules.clone();
    layers.extend(places.rules.map(|rules| RuleLayer {
        layer: policy::Layer::Run,
        rules: rules.clone(),
        origin: String::new(),
        trusted: true,
    }));
    close_unasked(&workspace, &layers, &setup.profile.tools);
    Ok(workspace)
}

/// A workspace in which nothing can be done: for a session that is only read.
fn nowhere(dir: &Path) -> Result<Workspace, Failure> {
    let options = WorkspaceOptions {
        root: dir.to_path_buf(),
        cwd: dir.to_path_buf(),
        ..WorkspaceOptions::default()
    };
    Workspace::open(options)
        .map_err(|error| Failure::new(ErrorName::Storage, error.to_string(), ""))
}
