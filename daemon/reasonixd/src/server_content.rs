//! Prompts and resources of the MCP servers of a directory, for its sessions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use contract::ToolSet;
use mcp::{Connection, Server, ServerConfig};
use session::{ServerContent, ServerPrompt};
use store::home::Home;

use crate::settings;

/// How long a prompt of the user waits for a server, its start included.
const ANSWER_MAX: Duration = Duration::from_secs(8);

/// Asks the servers of the pool.
pub struct PoolContent {
    pub pool: Arc<mcp::Pool>,
    pub home: Arc<Home>,
    pub user_home: PathBuf,
    pub known_tools: ToolSet,
}

impl PoolContent {
    /// The servers that count in a directory.
    fn servers(&self, cwd: &Path) -> Vec<ServerConfig> {
        let home = self.home.root();
        let loaded = settings::load(home, Some(cwd), &self.user_home, &self.known_tools);
        let servers = loaded.servers.servers.into_iter();
        servers.filter(|server| server.enabled).collect()
    }

    /// The prompts of a server, as they were listed last.
    fn listed(&self, config: &ServerConfig, cwd: &Path) -> Vec<mcp::ListedPrompt> {
        let running = self.pool.find(config, cwd);
        let listing = running.and_then(|server| server.listing());
        match listing {
            Some(listing) => listing.prompts.clone(),
            None => self
                .pool
                .kept_listing(config)
                .map(|listing| listing.prompts)
                .unwrap_or_default(),
        }
    }

    /// The server of this configuration: the one that runs, else one that is started.
    fn server(&self, config: &ServerConfig, cwd: &Path) -> Arc<Server> {
        let running = self.pool.find(config, cwd);
        running.unwrap_or_else(|| self.pool.server(config, cwd))
    }

    /// Asks a server. Blocks.
    fn ask<F>(
        &self,
        server: &Arc<Server>,
        ask: impl FnOnce(Arc<dyn Connection>) -> F,
    ) -> Result<String, String>
    where
        F: Future<Output = Result<String, String>>,
    {
        let name = &server.config.name;
        let asking = async {
            let connection = server.connection().await?;
            ask(connection).await
        };
        let answer = self
            .pool
            .block_on(async { tokio::time::timeout(ANSWER_MAX, asking).await });
        let late = || {
            Err(format!(
                "it did not answer within {} s",
                ANSWER_MAX.as_secs()
            ))
        };
        let answer = answer.unwrap_or_else(|_| late());
        answer.map_err(|reason| {
            contract::scrub(&format!(
                "the MCP server `{name}` does not give it: {reason}"
            ))
        })
    }
}

impl ServerContent for PoolContent {
    fn prompts(&self, cwd: &Path) -> Vec<ServerPrompt> {
        let servers = self.servers(cwd);
        let prompts = servers.iter().flat_map(|config| {
            let prompts = self.listed(config, cwd).into_iter();
            prompts.map(|prompt| ServerPrompt {
                argument_hint: prompt.argument_hint(),
                name: prompt.name,
                description: prompt.description,
                server: config.name.clone(),
            })
        });
        prompts.collect()
    }

    fn prompt(&self, cwd: &Path, name: &str, arguments: &str) -> Result<String, String> {
        let servers = self.servers(cwd);
        let found = servers.iter().find_map(|config| {
            let mut prompts = self.listed(config, cwd).into_iter();
            Some((config, prompts.find(|prompt| prompt.name == name)?))
        });
        let Some((config, prompt)) = found else {
            return Err(format!("no MCP server has the prompt `/{name}`"));
        };
        let arguments = prompt.arguments_of(arguments)?;
        let server = self.server(config, cwd);
        self.ask(&server, |connection| async move {
            connection.prompt(&prompt.prompt, arguments).await
        })
    }

    fn resource(&self, cwd: &Path, server: &str, uri: &str) -> Option<Result<String, String>> {
        let servers = self.servers(cwd);
        let config = servers.iter().find(|config| config.name == server)?;
        let server = self.server(config, cwd);
        Some(self.ask(&server, |connection| async move {
            connection.resource(uri).await
        }))
    }
}
