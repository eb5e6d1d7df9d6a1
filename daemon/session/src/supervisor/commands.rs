//! Which custom commands there are in a session or a directory.

use std::sync::Arc;

use knowledge::{CustomCommand, CustomCommands, find_commands};
use proto::Failure;
use proto::params::command::{CommandInfo, CommandSource, ListOutput};

use crate::assembly::server_content::ServerPrompt;
use crate::calls::permissions::{PermissionScope, open, root_of};
use crate::supervisor::Supervisor;
use crate::tasks::blocking;

impl Supervisor {
    /// The custom commands, as the files are now.
    ///
    /// # Errors
    /// No such session; the log of it cannot be opened. The directory cannot be read.
    pub async fn commands(&self, asked: &PermissionScope) -> Result<ListOutput, Failure> {
        match asked {
            PermissionScope::Session(session) => {
                let standing = self.find(session).await?.standing().await?;
                let call_environment = Arc::clone(&standing.call_environment);
                blocking(move || {
                    let workspace = &call_environment.workspace;
                    let found = find_commands(workspace, &call_environment.user_commands);
                    let prompts = call_environment.server_content.prompts(workspace.cwd());
                    output(found, prompts, call_environment.trusted)
                })
                .await
            }
            PermissionScope::Directory(cwd) => {
                let (services, cwd) = (self.services.clone(), cwd.clone());
                blocking(move || {
                    let assembly = &services.assembly;
                    let terms = assembly.terms(&cwd);
                    let root = root_of(&terms, &cwd, &assembly.user_home());
                    let user_dir = services.home.commands();
                    let readable = vec![user_dir.clone()];
                    let workspace = open(&terms, &**assembly, &cwd, &root, readable)?;
                    let prompts = assembly.server_content().prompts(&cwd);
                    let found = find_commands(&workspace, &user_dir);
                    Ok(output(found, prompts, terms.trusted))
                })
                .await?
            }
        }
    }
}

fn output(found: CustomCommands, prompts: Vec<ServerPrompt>, trusted: bool) -> ListOutput {
    let prompts: Vec<_> = prompts
        .into_iter()
        .map(|prompt| of_server(prompt, &found))
        .collect();
    let info = |command: CustomCommand| CommandInfo {
        trusted: trusted || command.source != CommandSource::Project,
        name: command.name,
        description: command.description,
        argument_hint: command.argument_hint,
        source: command.source,
        file: command.file,
        hidden_by: command.hidden_by,
    };
    let mut commands: Vec<_> = found.commands.into_iter().map(info).collect();
    commands.extend(prompts);
    // Stable: of the same name the one that counts stays first.
    commands.sort_by(|one, other| one.name.cmp(&other.name));
    ListOutput {
        commands,
        problems: found.problems,
    }
}

/// A prompt of a server. Commands in files come first. Servers of a project that is not trusted are not there.
fn of_server(prompt: ServerPrompt, found: &CustomCommands) -> CommandInfo {
    let hiding = found.named(&prompt.name);
    CommandInfo {
        hidden_by: hiding.map(|command| command.file.clone().unwrap_or_default()),
        name: prompt.name,
        description: prompt.description,
        argument_hint: prompt.argument_hint,
        source: CommandSource::McpServer,
        file: None,
        trusted: true,
    }
}
