//! The sandboxes of MCP servers whose entries ask for one: those of commands, by the settings of their directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::{Spawn as _, ToolSet};
use mcp::SandboxedStart;
use session::{PersistedRules as _, ProgramSandbox, RuleLayer};
use store::home::Home;

use crate::settings::kept::PermissionFiles;
use crate::settings::{self, Settings};

/// Reads the settings at each start: files are small, and others change them.
pub struct ServerSandboxes {
    pub home: Arc<Home>,
    pub user_home: PathBuf,
    pub known_tools: ToolSet,
    pub procs: Arc<procs::Procs>,
    pub kept: Arc<PermissionFiles>,
    /// Directories that no tool touches, and that of all temporary files.
    pub masked: Vec<PathBuf>,
}

impl ServerSandboxes {
    /// The sandbox of a program in a directory. Blocks.
    fn of(&self, cwd: &Path, temp: &Path) -> ProgramSandbox {
        let home = self.home.root();
        let loaded = settings::load(home, Some(cwd), &self.user_home, &self.known_tools);
        let mut layers = rule_layers(&self.home, &loaded.settings, loaded.project.as_ref());
        let settings = loaded.settings;
        let configured = settings.workspace_root.as_deref();
        let root = session::workspace_root(configured, cwd, &self.user_home);
        let kept = self.kept.of(&root);
        layers.push(RuleLayer {
            layer: policy::Layer::Persisted,
            rules: (*kept.in_force().1).clone(),
            origin: kept.origin(),
            trusted: true,
        });
        ProgramSandbox {
            cwd: cwd.to_path_buf(),
            root,
            user_home: self.user_home.clone(),
            temp: temp.to_path_buf(),
            masked: self.masked.clone(),
            layers,
            tools: self.known_tools.clone(),
            allow_write: settings.allow_write,
            deny_read: settings.deny_read,
            settings: settings.confine,
            strength: self.procs.strength(),
        }
    }
}

impl mcp::Sandboxes for ServerSandboxes {
    fn sandbox(
        &self,
        cwd: &Path,
        temp: &Path,
        env: Vec<(String, String)>,
    ) -> Result<SandboxedStart, String> {
        let (sandbox, env) = self.of(cwd, temp).around(env)?;
        Ok(SandboxedStart { sandbox, env })
    }

    fn terms(&self, cwd: &Path) -> String {
        let now = self.of(cwd, Path::new(""));
        let denied: Vec<_> = now.layers.iter().map(|layer| &layer.rules.deny).collect();
        let paths = (&now.root, &now.allow_write, &now.deny_read);
        format!("{denied:?} {paths:?} {:?}", now.settings)
    }
}

/// The rules of the files: the user's, and the project's as far as it is trusted.
pub fn rule_layers(
    home: &Home,
    settings: &Settings,
    project: Option<&settings::Project>,
) -> Vec<RuleLayer> {
    vec![
        RuleLayer {
            layer: policy::Layer::User,
            rules: settings.user_rules.clone(),
            origin: home.config().display().to_string(),
            trusted: true,
        },
        RuleLayer {
            layer: policy::Layer::Project,
            rules: settings.project_rules.clone(),
            // Not what else the project brings, such as its `.env`.
            origin: settings
                .project_file
                .as_ref()
                .map(|file| file.display().to_string())
                .unwrap_or_default(),
            trusted: project.is_none_or(|project| project.config_trusted),
        },
    ]
}
