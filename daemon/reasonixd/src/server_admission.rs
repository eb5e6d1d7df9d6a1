//! Which MCP servers may run: those that the files of now configure, and of projects those that are trusted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::ToolSet;
use mcp::{ConfigScope, ServerConfig};
use store::home::Home;

use crate::settings::{self, read};

/// Reads the configuration each time: files are small, and others change them.
pub struct ConfiguredServers {
    pub home: Arc<Home>,
    pub user_home: PathBuf,
    pub known_tools: ToolSet,
}

impl mcp::Admission for ConfiguredServers {
    fn refusal(&self, config: &ServerConfig, cwd: &Path) -> Option<String> {
        let home = self.home.root();
        let loaded = settings::load(home, Some(cwd), &self.user_home, &self.known_tools);
        let mut servers = loaded.servers.servers.iter();
        let file = config.origin.display();
        match servers.find(|server| server.name == config.name && server.origin == config.origin) {
            // An entry that was changed is for new sessions; those that have the former one go on with it.
            Some(server) if server.enabled => None,
            Some(_) => Some(format!("{file} disables it now")),
            None if config.scope == ConfigScope::User && is_being_edited(&config.origin) => None,
            None if is_untrusted(config, &loaded) => Some(untrusted(config, &loaded, home)),
            None => Some(format!("it was removed from {file}")),
        }
    }
}

/// Whether a file is there and cannot be understood: then nothing is known of its entries, and what runs goes on.
fn is_being_edited(file: &Path) -> bool {
    let Ok(text) = read::following(file) else {
        return false;
    };
    match file
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        true => text.parse::<toml_edit::Document<String>>().is_err(),
        false => serde_json::from_str::<serde::de::IgnoredAny>(&text).is_err(),
    }
}

/// Why a server of a project that is not trusted, or not any more, may not run.
fn untrusted(config: &ServerConfig, loaded: &settings::Loaded, home: &Path) -> String {
    let project = loaded.project.as_ref();
    let has_changed = project.is_some_and(|project| project.servers_changed(home, &config.origin));
    let cause = match has_changed {
        true => format!(
            "{} has changed since it was trusted",
            config.origin.display()
        ),
        false => "its project is not trusted".to_owned(),
    };
    format!("{cause}; `reasonix trust` shows what it brings, and trusts it")
}

fn is_untrusted(config: &ServerConfig, loaded: &settings::Loaded) -> bool {
    let project = loaded.project.as_ref();
    config.scope == ConfigScope::Project && project.is_some_and(|project| !project.trusted)
}
