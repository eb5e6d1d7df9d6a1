//! The files with MCP servers: the user's `mcp.json`, and the project's `.mcp.json`, which counts if it is trusted; and
//! the entries of `[[plugins]]` in config files. Called by `layers`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mcp::{ConfigScope, ServerConfig, Servers};
use toml_edit::Item;

use super::{project, read};

/// What the files say.
#[derive(Default)]
pub(super) struct ServerFiles {
    /// The project's file, if it can be read.
    pub project: Option<PathBuf>,
    theirs: Servers,
    own: Servers,
}

/// Entries of `[[plugins]]`, by whose file they are in.
#[derive(Clone, Debug, Default)]
pub(super) struct Plugins {
    pub user: Servers,
    pub project: Servers,
    /// Of a project that is not trusted.
    pub untrusted: Servers,
}

impl ServerFiles {
    /// Reads the files that count in a directory.
    pub fn read(home: &Path, cwd: Option<&Path>, user_home: &Path) -> Self {
        let mut found = Self::default();
        let own = home.join("mcp.json");
        match read::following(&own) {
            Ok(text) => found.own = Servers::from_json(&text, &own, ConfigScope::User),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => found.own.problems.push(unreadable(&own, &error)),
        }
        let theirs = cwd
            .and_then(|cwd| project::servers_of(cwd, user_home))
            .filter(|file| !file.starts_with(home));
        if let Some(file) = theirs {
            match read::no_link(&file) {
                Ok(text) => {
                    found.theirs = Servers::from_json(&text, &file, ConfigScope::Project);
                    found.project = Some(file);
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => found.theirs.problems.push(unreadable(&file, &error)),
            }
        }
        found
    }

    /// The project's servers as somebody is shown them who is to trust them.
    pub fn lines(&self) -> Vec<String> {
        self.theirs.servers.iter().map(ServerConfig::line).collect()
    }

    /// All servers: the user's before the project's, and of each those in TOML first. `trusted`: the project's file counts.
    /// Then those that do not count, because their project is not trusted.
    pub fn finish(self, trusted: bool, plugins: Plugins) -> (Servers, Vec<ServerConfig>) {
        let mut theirs = self.theirs;
        let mut untrusted = plugins.untrusted.servers;
        if !trusted {
            untrusted.append(&mut theirs.servers);
        }
        let own = plugins.user.or(self.own);
        (own.or(plugins.project.or(theirs)), untrusted)
    }
}

fn unreadable(file: &Path, error: &std::io::Error) -> String {
    let place = file.display();
    format!("{place}: cannot be read, so no MCP server of it is used: {error}")
}

impl Plugins {
    /// Takes the entries of a config file. The error is a problem.
    pub fn take(
        &mut self,
        item: &Item,
        (file, text): (&Path, &str),
        (is_project, trusted): (bool, bool),
    ) -> Result<(), String> {
        let Some(entries) = item.as_array_of_tables() else {
            return Err("`plugins` must be written as `[[plugins]]`".to_owned());
        };
        let (into, scope) = match is_project {
            true if !trusted => (&mut self.untrusted, ConfigScope::Project),
            true => (&mut self.project, ConfigScope::Project),
            false => (&mut self.user, ConfigScope::User),
        };
        for table in entries {
            let span = table.span();
            let line = span.map_or(1, |span| read::line_of(text, span.start));
            let place = format!("{}:{line}", file.display());
            into.take_toml(&project::flat(table), file, scope, &place);
        }
        Ok(())
    }
}
