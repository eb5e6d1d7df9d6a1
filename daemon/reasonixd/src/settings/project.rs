//! What a project brings, and whether the user trusts it. Called by `layers`.

use std::path::{Path, PathBuf};

use toml_edit::{Document, Item, Table};
use workspace::is_repository;

use super::schema::{KEYS, ProjectPermission, spellings};
use super::trust;

/// A project's config file, the keys of the working directory's `.env`, its hooks, or several of these.
#[derive(Clone, Debug)]
pub struct Project {
    /// The config file; if there is none, the file of the hooks, else the `.env`.
    pub file: PathBuf,
    /// The directory of that file.
    pub directory: PathBuf,
    /// Whether all of it counts.
    pub trusted: bool,
    /// Whether the config file counts.
    pub config_trusted: bool,
    /// Whether the keys of the `.env` count.
    pub(super) keys_trusted: bool,
    /// Whether its hooks count.
    pub(super) hooks_trusted: bool,
    /// Whether the MCP servers of its `.mcp.json` count.
    pub(super) servers_trusted: bool,
    /// What takes trust to have an effect: lines of the file, keys of the `.env`, then hooks.
    pub held_back: Vec<String>,
    /// SHA-256 over those lines: what a yes is bound to.
    pub hash: String,
    parts: [TrustUnit; 4],
}

/// The unit of trust: trust in a project's config holds whichever directory below it a session works in.
#[derive(Clone, Debug)]
struct TrustUnit {
    /// Its name in the list of trust.
    place: PathBuf,
    lines: Vec<String>,
}

impl TrustUnit {
    fn is_trusted(&self, home: &Path) -> bool {
        self.lines.is_empty() || trust::is_trusted(home, &self.place, &trust::hash(&self.lines))
    }
}

impl Project {
    /// The parts of it that have no effect now.
    #[must_use]
    pub fn without_effect(&self) -> Vec<String> {
        let [config, keys, hooks, servers] = &self.parts;
        let parts = [
            (config, self.config_trusted),
            (keys, self.keys_trusted),
            (hooks, self.hooks_trusted),
            (servers, self.servers_trusted),
        ];
        let held = parts.into_iter().filter(|(_, trusted)| !trusted);
        held.flat_map(|(part, _)| part.lines.clone()).collect()
    }

    /// Whether the user has trusted its MCP servers in this file with another content than that of now.
    #[must_use]
    pub fn servers_changed(&self, home: &Path, file: &Path) -> bool {
        let [config, _, _, servers] = &self.parts;
        let part = match servers.place == file {
            true => servers,
            false => config,
        };
        !part.is_trusted(home) && trust::is_known(home, &part.place)
    }

    /// Trusts all of it as it is, until the answer is dropped.
    #[must_use]
    pub fn trust_for_now(&self, home: &Path) -> trust::TemporaryTrust {
        let parts = self.parts.iter().filter(|part| !part.lines.is_empty());
        let parts = parts.map(|part| (part.place.clone(), trust::hash(&part.lines)));
        trust::TemporaryTrust::new(home, parts)
    }

    /// Remembers or forgets that all of it is trusted as it is.
    ///
    /// # Errors
    /// The list of trust cannot be written.
    pub fn set_trust(&self, home: &Path, trusted: bool) -> std::io::Result<()> {
        let known = |part: &&TrustUnit| part.place != Path::new("/");
        let changes = self.parts.iter().filter(known).map(|part| {
            let hash = (trusted && !part.lines.is_empty()).then(|| trust::hash(&part.lines));
            (part.place.as_path(), hash)
        });
        trust::set(home, &changes.collect::<Vec<_>>())
    }
}

/// What a project brings, and whether the user trusts it. `config`: the project's file and its lines; `keys`: of the
/// `.env` in `cwd`; `hooks`, `servers`: their file and its lines. `None`: there is nothing.
pub(super) fn whose(
    config: Option<(&Path, Vec<String>)>,
    cwd: Option<&Path>,
    keys: Vec<String>,
    hooks: Option<(&Path, Vec<String>)>,
    servers: Option<(&Path, Vec<String>)>,
    home: &Path,
) -> Option<Project> {
    let env = cwd.unwrap_or(Path::new("/")).join(".env");
    let hooks = hooks.filter(|(_, lines)| !lines.is_empty());
    let servers = servers.filter(|(_, lines)| !lines.is_empty());
    let (file, above) = match (&config, &hooks, &servers) {
        (Some((file, _)), ..) => (*file, file.parent()),
        // In `.reasonix`, in the project's directory.
        (None, Some((file, _)), _) => (*file, file.parent().and_then(Path::parent)),
        (None, None, Some((file, _))) => (*file, file.parent()),
        (None, None, None) if keys.is_empty() => return None,
        (None, None, None) => (env.as_path(), cwd),
    };
    let (file, directory) = (
        file.to_path_buf(),
        above.unwrap_or(Path::new("/")).to_path_buf(),
    );
    let lines = config.map(|(_, lines)| lines).unwrap_or_default();
    let (hooks_file, hook_lines) = hooks.unwrap_or((Path::new("/"), Vec::new()));
    let (servers_file, server_lines) = servers.unwrap_or((Path::new("/"), Vec::new()));
    let programs: Vec<_> = hook_lines.iter().chain(&server_lines).cloned().collect();
    let held_back = in_reading_order(&programs, &keys, &lines);
    let config = TrustUnit {
        place: directory.clone(),
        lines,
    };
    let hooks = TrustUnit {
        place: hooks_file.to_path_buf(),
        lines: hook_lines,
    };
    let servers = TrustUnit {
        place: servers_file.to_path_buf(),
        lines: server_lines,
    };
    let keys = TrustUnit {
        place: env.clone(),
        lines: keys,
    };
    let config_trusted = config.is_trusted(home);
    let (keys_trusted, hooks_trusted) = (keys.is_trusted(home), hooks.is_trusted(home));
    let servers_trusted = servers.is_trusted(home);
    Some(Project {
        file,
        directory,
        trusted: config_trusted && keys_trusted && hooks_trusted && servers_trusted,
        config_trusted,
        keys_trusted,
        hooks_trusted,
        servers_trusted,
        hash: trust::hash(&held_back),
        held_back,
        parts: [config, keys, hooks, servers],
    })
}

/// Entries that run programs first, long lists of rules last: nothing pushes a hook off the screen.
fn in_reading_order(programs: &[String], keys: &[String], config: &[String]) -> Vec<String> {
    let rank = |line: &&String| match line.as_str() {
        line if line.starts_with("[[providers]]") || line.starts_with("[[plugins]]") => 0,
        line if line.starts_with("permissions.allow ") => 2,
        _ => 1,
    };
    let mut config: Vec<_> = config.iter().collect();
    config.sort_by_key(rank);
    programs.iter().chain(keys).chain(config).cloned().collect()
}

/// The project's file: `reasonix.toml`, nearest upwards, not above the git root, the person's home or the root.
pub(super) fn file_of(cwd: &Path, user_home: &Path) -> Option<PathBuf> {
    nearest(cwd, user_home, "reasonix.toml")
}

/// The file with the project's hooks: `.reasonix/settings.json`, found in the same way.
pub(super) fn hooks_of(cwd: &Path, user_home: &Path) -> Option<PathBuf> {
    nearest(cwd, user_home, ".reasonix/settings.json")
}

/// The file with the project's MCP servers: `.mcp.json`, found in the same way.
pub(super) fn servers_of(cwd: &Path, user_home: &Path) -> Option<PathBuf> {
    nearest(cwd, user_home, ".mcp.json")
}

/// A file that looks like the project's settings and is none: `.reasonix/config.toml`, found in the same way.
pub(super) fn misplaced(cwd: &Path, home: &Path, user_home: &Path) -> Option<PathBuf> {
    let file = nearest(cwd, user_home, ".reasonix/config.toml")?;
    // The person's own may be another home than this daemon's.
    let own = file.starts_with(home) || file.starts_with(user_home.join(".reasonix"));
    (!own).then_some(file)
}

fn nearest(cwd: &Path, user_home: &Path, name: &str) -> Option<PathBuf> {
    for directory in cwd.ancestors() {
        let file = directory.join(name);
        // A link counts as there: it is refused visibly, not passed over.
        if file.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
            return Some(file);
        }
        if is_repository(directory) || directory == user_home {
            return None;
        }
    }
    None
}

/// The lines of a project's file that have no effect until the project is trusted, as people read them.
pub(super) fn held_back(text: &str) -> Vec<String> {
    let Ok(document) = Document::parse(text) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for key in KEYS
        .iter()
        .filter(|key| key.reach == ProjectPermission::Trusted)
    {
        for name in spellings(key.name) {
            let item = name
                .split('.')
                .try_fold(document.as_item(), |item, part| item.get(part));
            if let Some(item) = item {
                lines.push(format!("{name} = {}", item.to_string().trim()));
            }
        }
    }
    let presets = document.get("presets").and_then(Item::as_table);
    for (name, item) in presets.into_iter().flatten() {
        let said = item.as_table().map_or_else(|| item.to_string(), flat);
        let said: Vec<_> = said.lines().map(str::trim).collect();
        lines.push(format!("[presets.{name}] {}", said.join("; ")));
    }
    for array in ["plugins", "providers"] {
        let entries = document.get(array).and_then(Item::as_array_of_tables);
        for table in entries.into_iter().flatten() {
            lines.push(format!(
                "[[{array}]] {}",
                flat(table)
                    .lines()
                    .map(str::trim)
                    .collect::<Vec<_>>()
                    .join("; ")
            ));
        }
    }
    lines
}

/// The key variables that a config's providers name, whether they count or not.
pub(super) fn variables_of(text: &str) -> Vec<String> {
    let Ok(document) = Document::parse(text) else {
        return Vec::new();
    };
    let entries = document.get("providers").and_then(Item::as_array_of_tables);
    let names = entries.into_iter().flatten();
    names
        .filter_map(|table| table.get("api_key_env")?.as_str().map(str::to_owned))
        .collect()
}

/// A table of an array as a document of its own.
pub(super) fn flat(table: &Table) -> String {
    let mut document = toml_edit::DocumentMut::new();
    for (name, item) in table {
        document.insert(name, item.clone());
    }
    document.to_string()
}
