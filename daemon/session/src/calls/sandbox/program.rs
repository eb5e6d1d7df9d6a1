//! The sandbox of a program that belongs to no session, such as an MCP server that several share: that of the commands of
//! a session in its directory. Nobody is asked before it does something, so it needs all that the settings close.

use std::path::PathBuf;
use std::sync::Arc;

use contract::{SandboxSpec, SandboxStrength, ToolSet};
use workspace::{Workspace, WorkspaceOptions};

use super::{SandboxContext, around, environment, read_only};
use crate::assembly::sandbox_settings::{SandboxDemand, SandboxSettings};
use crate::assembly::setup::RuleLayer;
use crate::calls::permissions::compiled;

/// What it is made from.
#[derive(Clone)]
pub struct ProgramSandbox {
    /// Where the program works.
    pub cwd: PathBuf,
    /// Of the workspace.
    pub root: PathBuf,
    pub user_home: PathBuf,
    /// Its own temporary directory, which exists.
    pub temp: PathBuf,
    /// The agent's own directories.
    pub masked: Vec<PathBuf>,
    pub layers: Vec<RuleLayer>,
    /// The tools that rules name.
    pub tools: ToolSet,
    pub allow_write: Vec<PathBuf>,
    pub deny_read: Vec<String>,
    pub settings: SandboxSettings,
    pub strength: SandboxStrength,
}

/// Variables of a program, by name.
pub type ProgramEnvironment = Vec<(String, String)>;

/// The sandbox of a program, and its environment there.
pub type SandboxedProgram = (Arc<SandboxSpec>, ProgramEnvironment);

impl ProgramSandbox {
    /// The sandbox, and the program's environment there. `env`: what it would have outside. Blocks.
    ///
    /// # Errors
    /// Nothing would restrict the program as the settings say: why, and what to do, as a text for the user.
    pub fn around(&self, env: ProgramEnvironment) -> Result<SandboxedProgram, String> {
        match self.strength {
            SandboxStrength::Full => {}
            SandboxStrength::Partial if self.settings.accept_partial => {}
            SandboxStrength::Partial => {
                return Err("the sandbox is only partial here (`reasonix doctor` says why); `sandbox.accept_partial = true` accepts that".to_owned());
            }
            SandboxStrength::None => {
                return Err(
                    "no layer of the sandbox works here (`reasonix doctor` says why)".to_owned(),
                );
            }
        }
        let workspace = self.workspace()?;
        // What commands do without a sandbox is another question.
        let settings = SandboxSettings {
            demand: SandboxDemand::Enforce,
            ..self.settings.clone()
        };
        let env = environment(env, Some(&self.temp), &settings);
        let context = SandboxContext {
            workspace: &workspace,
            confine: &settings,
            masked: &self.masked,
            strength: self.strength,
            env: &env,
        };
        let (rules, _) = compiled(&self.layers, &self.tools);
        let made = around(&context, &rules);
        if made.leaks {
            return Err("the sandbox cannot close everything that `sandbox.deny_read` and the rules close in its directory".to_owned());
        }
        let none = || "there is no sandbox".to_owned();
        let sandbox = made
            .sandbox
            .ok_or_else(|| made.unconfined.unwrap_or_else(none))?;
        // A home is no project: much of it starts programs, and there nobody would be asked.
        let sandbox = match workspace::holds_home(workspace.root(), &self.user_home) {
            true => {
                let mut closed = SandboxSpec::clone(&read_only(&sandbox));
                closed.sockets.retain(|place| place != workspace.root());
                Arc::new(closed)
            }
            false => sandbox,
        };
        Ok((sandbox, env))
    }

    fn workspace(&self) -> Result<Workspace, String> {
        let options = WorkspaceOptions {
            root: self.root.clone(),
            cwd: self.cwd.clone(),
            extra_writable: self.allow_write.clone(),
            masked: self.masked.clone(),
            readable: Vec::new(),
            temp: Some(self.temp.clone()),
            deny_read: self.deny_read.clone(),
            user_home: self.user_home.clone(),
        };
        Workspace::open(options).map_err(|error| {
            let cwd = self.cwd.display();
            format!("its directory `{cwd}` cannot be used: {error}")
        })
    }
}

#[cfg(test)]
mod tests;
