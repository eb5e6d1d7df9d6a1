//! The sandbox of a session's commands: its limits, and how much of the closed paths it can protect.
//!
//! Made for each command when it is judged, from the rules of that moment; the judged sandbox is the one that runs. Looks at the
//! disk (blocks); sets up nothing: that is `procs`.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::{KnownRepositories, SandboxSpec, SandboxStrength};
use policy::{Access, RuleSet};
use workspace::Workspace;

use crate::assembly::sandbox_settings::{SandboxDemand, SandboxSettings};
use crate::calls::git_config;

pub(crate) mod program;
mod sockets;

/// What holds one command.
#[derive(Clone, Debug, Default)]
pub struct CommandSandbox {
    pub sandbox: Option<Arc<SandboxSpec>>,
    pub strength: SandboxStrength,
    /// The sandbox does not close everything that is closed to tools.
    pub leaks: bool,
    /// Why it would run held by less than is demanded.
    pub unconfined: Option<String>,
}

/// What a sandbox is made from, beside rules.
pub struct SandboxContext<'a> {
    pub workspace: &'a Workspace,
    pub confine: &'a SandboxSettings,
    /// The agent's own directories.
    pub masked: &'a [PathBuf],
    pub strength: SandboxStrength,
    /// The environment of the command.
    pub env: &'a [(String, String)],
}

/// The sandbox that rules and settings ask for, as far as it can be enforced here.
pub fn around(about: &SandboxContext<'_>, rules: &RuleSet) -> CommandSandbox {
    let confine = about.confine;
    if confine.demand == SandboxDemand::Off {
        return CommandSandbox::default();
    }
    let temp = match temp_if_enforced(about) {
        Ok(temp) => temp,
        Err(why) => {
            let unconfined = (confine.demand == SandboxDemand::Enforce)
                .then(|| format!("nothing would restrict the command: {why}"));
            return CommandSandbox {
                unconfined,
                ..CommandSandbox::default()
            };
        }
    };
    let workspace = about.workspace;
    let reading = workspace.paths_denied_to_read(rules.denied_paths(Access::Read));
    let changes = workspace.paths_denied_to_edit(rules.denied_paths(Access::Edit));
    let whole_family = rules.denies_all(Access::Read) || rules.denies_all(Access::Edit);
    let closed = [&reading.places[..], &changes.places[..]].concat();
    let writable = WritablePaths::find(about, &temp, &closed);
    // Without mounts nothing is closed within what may be written.
    let open_within = about.strength == SandboxStrength::Partial
        && closed.iter().any(|place| writable.contains(place));
    // No command runs if nothing can be read.
    let everything = reading.places.iter().any(|place| place.parent().is_none());
    let whole = reading.incomplete.is_empty()
        && changes.incomplete.is_empty()
        && writable.all_guarded
        && !whole_family
        && !everything
        && !open_within;
    // Only what could be written needs it.
    let mut unchanged = changes.places;
    unchanged.retain(|place| writable.contains(place));
    let mut protected = writable.protected;
    protected.extend(unchanged);
    let mut reached = sockets::opened(&confine.sockets);
    let readable = readable_again(workspace, &reading.places);
    let mut masked = about.masked.to_vec();
    masked.extend(reading.places);
    masked.extend(
        sockets::of(workspace.user_home(), about.env)
            .into_iter()
            .filter(|place| !reached.iter().any(|opened| place.starts_with(opened))),
    );
    // The workspace itself; what else may be written holds the caches of the user's own programs.
    reached.push(workspace.root().to_path_buf());
    CommandSandbox {
        sandbox: Some(Arc::new(SandboxSpec {
            write: writable.write,
            protected,
            obeyed: writable.obeyed,
            repositories: writable.repositories,
            masked,
            readable,
            temp,
            network: confine.network,
            sockets: reached,
        })),
        strength: about.strength,
        leaks: !whole,
        unconfined: None,
    }
}

/// What a command may write, and what is protected in it.
struct WritablePaths {
    write: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    /// Files that git obeys.
    obeyed: Vec<PathBuf>,
    repositories: Vec<KnownRepositories>,
    /// All that needs protection was found.
    all_guarded: bool,
}

impl WritablePaths {
    /// `closed`: paths that the rules deny to read or to change.
    fn find(about: &SandboxContext<'_>, temp: &Path, closed: &[PathBuf]) -> Self {
        let roots: Vec<_> = about.workspace.writable_roots().collect();
        let there = roots.iter().filter(|root| root.is_dir());
        let mut write: Vec<PathBuf> = there.copied().cloned().collect();
        let caches = &about.confine.caches;
        write.extend(caches.iter().filter(|dir| dir.is_dir()).cloned());
        write.retain(|root| *root != temp);
        let mut protected = Vec::new();
        let mut all_guarded = true;
        let mut trees = about.workspace.work_trees_above(about.workspace.root());
        let mut repositories = Vec::new();
        for guarded in roots.iter().map(|root| workspace::guarded(root)) {
            all_guarded &= guarded.whole;
            repositories.push(guarded.repositories);
            protected.extend(guarded.places);
            trees.extend(guarded.trees);
            // The agent's own directories may also belong to this work tree, and are not git's.
            let own = |dir: &PathBuf| about.masked.iter().any(|masked| dir.starts_with(masked));
            write.extend(guarded.written.into_iter().filter(|dir| !own(dir)));
        }
        write.dedup();
        all_guarded &= git_config::protect_named(about.workspace, about.env, trees);
        let obeyed = about.workspace.git_named();
        protected.extend(obeyed.iter().cloned());
        protected.retain(|place| !place.starts_with(temp));
        // The sandbox lets a root be written whatever applies around it, so that the agent's own directories may
        // hold one. A path that the user closed is closed with all that it holds; but the session's own temporary
        // directory stays, which no command does without.
        write.retain(|root| !closed.iter().any(|place| root.starts_with(place)));
        for known in &mut repositories {
            known.writable.clone_from(&write);
            known.writable.push(temp.to_path_buf());
            // Nothing is held in the temporary directory: each command's end judges all that is there.
            if known.root == temp {
                known.places.clear();
            }
        }
        Self {
            write,
            protected,
            obeyed,
            repositories,
            all_guarded,
        }
    }

    fn contains(&self, place: &Path) -> bool {
        self.write.iter().any(|root| place.starts_with(root))
    }
}

/// Directories that are shown again below masked ones; so not if the user closed one of the two.
fn readable_again(workspace: &Workspace, closed: &[PathBuf]) -> Vec<PathBuf> {
    let mut readable = workspace.exposed().to_vec();
    readable.retain(|dir| {
        let mut closed = closed.iter();
        !closed.any(|place| dir.starts_with(place) || place.starts_with(dir))
    });
    readable
}

/// The same sandbox for what only reads: nothing but the session's temporary directory can be written.
pub fn read_only(sandbox: &SandboxSpec) -> Arc<SandboxSpec> {
    let mut readable = sandbox.readable.clone();
    // Named, because they may lie where the session's own directory takes the place of `/tmp`.
    readable.extend(sandbox.write.iter().cloned());
    Arc::new(SandboxSpec {
        write: Vec::new(),
        protected: Vec::new(),
        repositories: Vec::new(),
        readable,
        ..sandbox.clone()
    })
}

/// The session's temporary directory. `Err`: why nothing restricts a command here.
fn temp_if_enforced(about: &SandboxContext<'_>) -> Result<PathBuf, String> {
    match about.strength {
        SandboxStrength::None => {
            Err("no layer of the sandbox works here (`reasonix doctor` says why)".to_owned())
        }
        SandboxStrength::Partial | SandboxStrength::Full => temp_of(about),
    }
}

/// The session's temporary directory, made again if somebody has removed it.
fn temp_of(about: &SandboxContext<'_>) -> Result<PathBuf, String> {
    let temp = about
        .workspace
        .temp()
        .ok_or("there is no temporary directory")?;
    make_private(temp)
        .map_err(|error| format!("its temporary directory `{}`: {error}", temp.display()))?;
    Ok(temp.to_path_buf())
}

/// Makes a directory for its owner alone, if it does not exist.
pub fn make_private(dir: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
}

/// Where toolchains keep their caches, by the variable that says so: in the sandbox their usual places cannot
/// be written, and some of them do not work without.
const CACHES: [(&str, &str); 5] = [
    ("GOCACHE", "go-build"),
    ("PIP_CACHE_DIR", "pip"),
    ("UV_CACHE_DIR", "uv"),
    ("npm_config_cache", "npm"),
    ("CCACHE_DIR", "ccache"),
];

/// A session's environment with its own temporary directory in it; in a sandbox that does not contain the caches of
/// toolchains, with caches there too, unless the user has said otherwise.
pub fn environment(
    mut env: Vec<(String, String)>,
    temp: Option<&Path>,
    confine: &SandboxSettings,
) -> Vec<(String, String)> {
    let Some(temp) = temp else { return env };
    let mut set = |name: &str, value: PathBuf, over: bool| {
        let Ok(value) = value.into_os_string().into_string() else {
            return;
        };
        match env.iter_mut().find(|(known, _)| known == name) {
            Some(known) if over => known.1 = value,
            Some(_) => {}
            None => env.push((name.to_owned(), value)),
        }
    };
    set("TMPDIR", temp.to_path_buf(), true);
    if confine.demand != SandboxDemand::Off && confine.caches.is_empty() {
        for (name, cache) in CACHES {
            set(name, temp.join("cache").join(cache), false);
        }
    }
    env
}

#[cfg(test)]
mod tests;
