//! Which skills there are in a session or a directory.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use knowledge::{Skill, Skills, find_commands, find_skills};
use proto::Failure;
use proto::params::skill::{ListOutput, SkillInfo, SkillSource};
use workspace::Workspace;

use crate::calls::permissions::{PermissionScope, open, root_of};
use crate::supervisor::Supervisor;
use crate::tasks::blocking;

impl Supervisor {
    /// The skills, as the files are now.
    ///
    /// # Errors
    /// No such session; the log of it cannot be opened. The directory cannot be read.
    pub async fn skills(&self, asked: &PermissionScope) -> Result<ListOutput, Failure> {
        match asked {
            PermissionScope::Session(session) => {
                let standing = self.find(session).await?.standing().await?;
                let call_environment = Arc::clone(&standing.call_environment);
                blocking(move || {
                    let found = call_environment.skills.find();
                    let (workspace, user) =
                        (&call_environment.workspace, &call_environment.user_commands);
                    output(
                        found,
                        &command_names(workspace, user),
                        call_environment.trusted,
                    )
                })
                .await
            }
            PermissionScope::Directory(cwd) => {
                let (services, cwd) = (self.services.clone(), cwd.clone());
                blocking(move || {
                    let assembly = &services.assembly;
                    let terms = assembly.terms(&cwd);
                    let root = root_of(&terms, &cwd, &assembly.user_home());
                    let (commands, skills) = (services.home.commands(), services.home.skills());
                    let readable = vec![commands.clone(), skills.clone()];
                    let workspace = open(&terms, &**assembly, &cwd, &root, readable)?;
                    let found = find_skills(&workspace, &terms.skills.places(skills));
                    let names = command_names(&workspace, &commands);
                    Ok(output(found, &names, terms.trusted))
                })
                .await?
            }
        }
    }
}

/// Names of the custom commands: they come before skills.
fn command_names(workspace: &Workspace, user_dir: &Path) -> BTreeSet<String> {
    let commands = find_commands(workspace, user_dir).commands.into_iter();
    commands.map(|command| command.name).collect()
}

fn output(found: Skills, commands: &BTreeSet<String>, trusted: bool) -> ListOutput {
    let info = |skill: Skill| SkillInfo {
        is_command: commands.contains(&skill.name),
        trusted: trusted || skill.source != SkillSource::Project,
        offered: skill.is_offered(),
        refusal: skill.refusal(),
        name: skill.name,
        description: skill.description,
        source: skill.source,
        file: skill.file,
        hidden_by: skill.hidden_by,
        allowed_tools: skill.allowed_tools,
        run_as: skill.run_as,
        model: skill.model,
    };
    ListOutput {
        skills: found.skills.into_iter().map(info).collect(),
        problems: found.problems,
    }
}
