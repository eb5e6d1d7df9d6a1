//! The files, their precedence, and which values count: project over user over defaults, value by value. What the values
//! mean is in `values`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ::hooks::Hooks;
use contract::{Secret, ToolSet};
use mcp::{ServerConfig, Servers};
use policy::List;
use proto::near::nearest;
use proto::params::config;
use session::Guards;
use toml_edit::{Document, Item, TableLike};

use super::autostart::Autostart;
use super::near::{hint, shown};
use super::project::{self, Project};
use super::providers::ProviderEntry;
use super::schema::{self, KEYS, Key, Kind, ProjectPermission};
use super::values::{SetValue, Values};
use super::{Settings, hooks, model_lists, presets, read, servers, shipped, value};
use crate::dotenv;

mod provider_entries;

pub use provider_entries::is_kind;
pub(super) use provider_entries::kinds;

/// A layer of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    User,
    Project,
}

/// The settings found for one working directory.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub settings: Settings,
    /// Every value in force, with its source.
    pub values: Vec<config::Value>,
    /// Problems, with file, line and the allowed values. Each falls back alone.
    pub problems: Vec<String>,
    /// The project's part, if it has any.
    pub project: Option<Project>,
    /// Keys of the working directory's `.env`, if it is trusted.
    pub env_keys: BTreeMap<String, Secret>,
    /// The project's hooks, then the user's own.
    pub hooks: Hooks,
    /// The MCP servers that count, and the problems of those that do not.
    pub servers: Servers,
    /// The MCP servers of the project, if they do not count because it is not trusted.
    pub untrusted_servers: Vec<ServerConfig>,
    /// What starts with the daemon; the user's own.
    pub autostart: Autostart,
    /// Those of the problems for which a provider, or the whole of the user's file, is ignored: a missing one may be
    /// the intended one.
    pub providers_lost: Vec<String>,
    /// Rules that deny or ask may be missing, as a file or a list of them cannot be read.
    pub rules_lost: bool,
}

/// One file, read.
struct File {
    path: PathBuf,
    text: String,
    layer: Layer,
}

/// Reads the user's file, and the project's file nearest upwards from `cwd` within its git root.
#[must_use]
pub fn load(home: &Path, cwd: Option<&Path>, user_home: &Path, tools: &ToolSet) -> Loaded {
    let mut reading = SettingsReader::new(Values::new(user_home, tools));
    let user = home.join("config.toml");
    let mut files: Vec<File> = reading.open(&user, Layer::User).into_iter().collect();
    let project = cwd
        .and_then(|cwd| project::file_of(cwd, user_home))
        .filter(|file| *file != user && !file.starts_with(home));
    let project_file = project.clone();
    files.extend(
        project
            .as_deref()
            .and_then(|path| reading.open(path, Layer::Project)),
    );
    if let Some(file) = cwd.and_then(|cwd| project::misplaced(cwd, home, user_home)) {
        reading.problems.push(format!(
            "{}: ignored; a project's settings belong in its `reasonix.toml`",
            file.display()
        ));
    }
    let theirs = files.iter().find(|file| file.layer == Layer::Project);
    if let Some(file) = files.iter().find(|file| file.layer == Layer::User) {
        reading.take(file, true);
    }
    let keys = match cwd.filter(|cwd| !cwd.starts_with(home)) {
        Some(cwd) => reading.find_keys(cwd, theirs.map_or("", |file| &file.text)),
        None => Vec::new(),
    };
    let config = theirs.map(|file| (file.path.as_path(), project::held_back(&file.text)));
    let found = hooks::HookFiles::read(home, cwd, user_home);
    let theirs_hooks = found.project.clone();
    let hook_lines = theirs_hooks.as_deref().map(|file| (file, found.lines()));
    let server_files = servers::ServerFiles::read(home, cwd, user_home);
    let theirs_servers = server_files.project.clone();
    let server_lines = theirs_servers
        .as_deref()
        .map(|file| (file, server_files.lines()));
    let project = project::whose(config, cwd, keys, hook_lines, server_lines, home);
    if let (Some(file), Some(project)) = (theirs, &project) {
        // All of it if it is trusted, else only the parts that tighten.
        reading.take(file, project.config_trusted);
    }
    let hooks_trusted = project
        .as_ref()
        .is_some_and(|project| project.hooks_trusted);
    let servers_trusted = project
        .as_ref()
        .is_some_and(|project| project.servers_trusted);
    let plugins = std::mem::take(&mut reading.plugins);
    let mut loaded = reading.finish(project);
    loaded.settings.project_file = project_file;
    (loaded.servers, loaded.untrusted_servers) = server_files.finish(servers_trusted, plugins);
    loaded.problems.extend(loaded.servers.problems.clone());
    for entry in &mut loaded.settings.providers {
        entry.list = model_lists::read(home, entry);
    }
    loaded.hooks = found.finish(hooks_trusted);
    loaded.problems.extend(loaded.hooks.problems.clone());
    let unknown = unknown_models(&loaded);
    loaded.problems.extend(unknown);
    loaded
}

/// The problems of settings that name a model that there is not. None where a provider was lost, which may have it.
fn unknown_models(loaded: &Loaded) -> Vec<String> {
    if !loaded.providers_lost.is_empty() {
        return Vec::new();
    }
    let settings = &loaded.settings;
    let named = [
        ("default_model", &settings.default_model),
        ("agent.fallback_model", &settings.fallback_model),
        ("agent.planner_model", &settings.options.planner_model),
    ];
    let problems = named.into_iter().filter_map(|(key, wanted)| {
        let wanted = wanted.as_deref().filter(|wanted| !wanted.is_empty())?;
        let failure = shipped::find_any(&settings.providers, wanted).err()?;
        let (what, hint) = (failure.message, failure.hint);
        Some(format!("`{key}`: {what} {hint}"))
    });
    problems.collect()
}

struct SettingsReader {
    values: Values,
    providers: Vec<ProviderEntry>,
    problems: Vec<String>,
    env_keys: BTreeMap<String, Secret>,
    providers_lost: Vec<String>,
    lost_rules: Vec<Layer>,
    plugins: servers::Plugins,
    autostart: Autostart,
}

impl SettingsReader {
    fn new(values: Values) -> Self {
        Self {
            values,
            providers: Vec::new(),
            problems: Vec::new(),
            env_keys: BTreeMap::new(),
            providers_lost: Vec::new(),
            lost_rules: Vec::new(),
            plugins: servers::Plugins::default(),
            autostart: Autostart::default(),
        }
    }

    /// Notes a problem. If it is `of_providers`, some of them are ignored.
    fn lose(&mut self, of_providers: bool, problem: String) {
        if of_providers {
            self.providers_lost.push(problem.clone());
        }
        self.problems.push(problem);
    }

    fn open(&mut self, path: &Path, layer: Layer) -> Option<File> {
        let text = match layer {
            // The user's own file may be a link to wherever they keep such files.
            Layer::User => read::following(path),
            Layer::Project => read::no_link(path),
        };
        match text {
            Ok(text) => Some(File {
                path: path.to_path_buf(),
                text,
                layer,
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                let problem = format!("{}: cannot be read: {error}", path.display());
                self.lost_rules.push(layer);
                self.lose(layer == Layer::User, problem);
                None
            }
        }
    }

    /// Takes the keys of the directory's `.env` that the user's config, or the project's, names; returns what users are shown
    /// of them. The project's count as named before it is trusted: else trusting it would change the content to trust.
    fn find_keys(&mut self, cwd: &Path, project: &str) -> Vec<String> {
        let own = self.providers.iter();
        let mut named: BTreeSet<_> = own.filter_map(|entry| entry.api_key_env.clone()).collect();
        named.extend(project::variables_of(project));
        match dotenv::read(cwd, &named) {
            Ok(keys) => {
                self.env_keys = keys;
                let lines = self.env_keys.iter();
                lines
                    .map(|(name, key)| dotenv::line(cwd, name, key))
                    .collect()
            }
            Err(problem) => {
                self.problems.push(problem);
                Vec::new()
            }
        }
    }

    fn take(&mut self, file: &File, trusted: bool) {
        let document = match Document::parse(file.text.as_str()) {
            Ok(document) => document,
            Err(error) => {
                let problem = read::not_toml(&file.path, &file.text, &error);
                self.lost_rules.push(file.layer);
                self.lose(file.layer == Layer::User, problem);
                return;
            }
        };
        self.table(file, document.as_table(), "", trusted);
    }

    fn table(&mut self, file: &File, table: &dyn TableLike, prefix: &str, trusted: bool) {
        for (name, item) in table.iter() {
            let path = if prefix.is_empty() {
                name.to_owned()
            } else {
                format!("{prefix}.{name}")
            };
            if path == "providers" {
                self.take_providers(file, item, trusted);
            } else if path == "presets" {
                self.take_presets(file, item, trusted);
            } else if path == "plugins" {
                self.take_plugins(file, item, trusted);
            } else if path == "autostart" {
                self.take_autostart(file, item);
            } else if let Some(new) = schema::renamed(&path) {
                self.take_renamed(file, table, (&path, new), item, trusted);
            } else if let Some(key) = schema::readable().find(|key| key.name == path) {
                self.take_value(file, key, item, trusted);
            } else if let Some(inner) = item.as_table_like()
                && schema::readable().any(|key| key.name.starts_with(&format!("{path}.")))
            {
                self.table(file, inner, &path, trusted);
            } else {
                if path == "permissions" {
                    self.lost_rules.push(file.layer);
                }
                let near = near(&path);
                let place = place(file, item);
                let shown = shown(&path);
                self.problems.push(format!(
                    "{place}: unknown setting `{shown}`{near}; it is ignored"
                ));
            }
        }
    }

    /// Takes a setting that is written in an older spelling. The new spelling counts before it.
    fn take_renamed(
        &mut self,
        file: &File,
        table: &dyn TableLike,
        (old, new): (&str, &'static str),
        item: &Item,
        trusted: bool,
    ) {
        let last = new.rsplit('.').next().unwrap_or(new);
        if table.contains_key(last) {
            let place = place(file, item);
            self.problems.push(format!(
                "{place}: `{old}` is the old name of `{new}`, which is set too; it is ignored"
            ));
        } else if let Some(key) = schema::readable().find(|key| key.name == new) {
            self.take_value(file, key, item, trusted);
        }
    }

    fn take_value(&mut self, file: &File, key: &Key, item: &Item, trusted: bool) {
        let is_project = file.layer == Layer::Project;
        let counts = match key.reach {
            ProjectPermission::Free | ProjectPermission::Lower => true,
            ProjectPermission::Trusted => trusted || !is_project,
            ProjectPermission::User => !is_project,
        };
        if !counts {
            // Settings of an untrusted project are listed when it is trusted.
            if key.reach == ProjectPermission::User {
                let place = place(file, item);
                self.problems.push(format!(
                    "{place}: `{}` is the user's own setting; it is ignored in a project's file",
                    key.name
                ));
            }
            return;
        }
        let directory = file.path.parent().unwrap_or(Path::new("/"));
        let context = self.values.context(directory);
        let mut refused = Vec::new();
        match value::of(key.kind, item, &context, &mut refused) {
            Ok(value) if is_project && key.reach == ProjectPermission::Lower => {
                let limit = value.as_f64().unwrap_or(0.0);
                if self.values.is_lower(key.name, limit) {
                    let origin = file.path.display().to_string();
                    let set = SetValue { value, origin };
                    self.values.set.insert(key.name.to_owned(), set);
                }
            }
            Ok(value) => {
                let set = SetValue {
                    value,
                    origin: file.path.display().to_string(),
                };
                // Rules are united, not replaced: the project's are kept beside the user's.
                let rules = matches!(key.kind, Kind::Rules(_));
                let into = if is_project && rules {
                    &mut self.values.project_rules
                } else {
                    &mut self.values.set
                };
                into.insert(key.name.to_owned(), set);
            }
            Err(allowed) => {
                if matches!(key.kind, Kind::Rules(List::Deny | List::Ask)) {
                    self.lost_rules.push(file.layer);
                }
                let place = place(file, item);
                let fallback = if key.default.is_empty() {
                    "it stays unset".into()
                } else {
                    format!("{} counts", key.default)
                };
                self.problems.push(format!(
                    "{place}: `{}` must be {allowed}; {fallback}",
                    key.name
                ));
            }
        }
        for value::Refused { offset, why, holds } in refused {
            let line = read::line_of(&file.text, offset);
            let what = if holds { "" } else { " is ignored" };
            self.problems.push(format!(
                "{}:{line}: an entry of `{}`{what}: {why}",
                file.path.display(),
                key.name
            ));
        }
    }

    fn take_plugins(&mut self, file: &File, item: &Item, trusted: bool) {
        let is_project = file.layer == Layer::Project;
        let source = (file.path.as_path(), file.text.as_str());
        let taken = self.plugins.take(item, source, (is_project, trusted));
        // Settings of an untrusted project are listed when it is trusted.
        if let Err(why) = taken
            && (trusted || !is_project)
        {
            let place = place(file, item);
            self.problems.push(format!("{place}: {why}"));
        }
    }

    /// What starts with the daemon is the user's own matter: a project cannot start anything.
    fn take_autostart(&mut self, file: &File, item: &Item) {
        let here = place(file, item);
        if file.layer == Layer::Project {
            self.problems.push(format!(
                "{here}: `autostart` counts only in your own config; it is ignored"
            ));
            return;
        }
        let Some(entries) = item.as_array_of_tables() else {
            self.problems.push(format!(
                "{here}: `autostart` must be written as `[[autostart]]`"
            ));
            return;
        };
        let context = self
            .values
            .context(file.path.parent().unwrap_or(Path::new("/")));
        for table in entries {
            let span = table.span();
            let line = span.map_or(1, |span| read::line_of(&file.text, span.start));
            let place = format!("{}:{line}", file.path.display());
            let directory = |text: &str| value::directory(text, &context);
            let taken = self
                .autostart
                .take(&project::flat(table), place, &directory);
            self.problems.extend(taken.err());
        }
    }

    fn take_presets(&mut self, file: &File, item: &Item, trusted: bool) {
        if file.layer == Layer::Project && !trusted {
            return;
        }
        let Some(table) = item.as_table() else {
            let place = place(file, item);
            self.problems.push(format!(
                "{place}: `presets` must be written as `[presets.NAME]`"
            ));
            return;
        };
        for (item, why) in presets::take(&mut self.values.presets, table) {
            let place = place(file, item);
            self.problems.push(format!("{place}: {why}"));
        }
    }

    fn finish(self, project: Option<Project>) -> Loaded {
        let trusted = project.as_ref().is_some_and(|project| project.keys_trusted);
        let mut settings = self.values.settings(self.providers);
        for (layer, rules) in [
            (Layer::User, &mut settings.user_rules),
            (Layer::Project, &mut settings.project_rules),
        ] {
            if self.lost_rules.contains(&layer) {
                rules.deny.push(Guards::UNREAD.to_owned());
            }
        }
        Loaded {
            settings,
            values: self
                .values
                .listed()
                .into_iter()
                .chain(self.autostart.values())
                .collect(),
            problems: self.problems,
            project,
            env_keys: match trusted {
                true => self.env_keys,
                false => BTreeMap::new(),
            },
            hooks: Hooks::default(),
            servers: Servers::default(),
            untrusted_servers: Vec::new(),
            autostart: self.autostart,
            providers_lost: self.providers_lost,
            rules_lost: !self.lost_rules.is_empty(),
        }
    }
}

fn place(file: &File, item: &Item) -> String {
    let line = item
        .span()
        .map_or(1, |span| read::line_of(&file.text, span.start));
    format!("{}:{line}", file.path.display())
}

/// The setting that is written most nearly so.
fn near(path: &str) -> String {
    let names =
        KEYS.iter()
            .map(|key| key.name)
            .chain(["providers", "presets", "plugins", "autostart"]);
    hint(&nearest(path, names))
}
