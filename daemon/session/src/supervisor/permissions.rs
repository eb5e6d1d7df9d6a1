//! Which rules are in force in a session or a directory, and how a call would be judged there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use policy::Layer;
use proto::record::SessionSet;
use proto::state::ApprovalMode;
use proto::{Failure, Pid};
use serde_json::{Map, Value};

use crate::actor::handle::SessionHandle;
use crate::calls::permissions::{
    Explained, PermissionScope, Permissions, compiled, in_directory, in_session, root_of, with_kept,
};
use crate::supervisor::Supervisor;
use crate::tasks::blocking;

impl Supervisor {
    /// The rules in force.
    ///
    /// # Errors
    /// No such session; the log of it cannot be opened.
    pub async fn permissions(&self, asked: &PermissionScope) -> Result<Permissions, Failure> {
        match asked {
            PermissionScope::Session(session) => {
                let standing = self.find_tightened(session).await?.standing().await?;
                let misread = compiled(&standing.layers, &standing.call_environment.tools).1;
                Ok(Permissions {
                    session: Some(standing.pid),
                    root: standing.call_environment.workspace.root().to_path_buf(),
                    approval_mode: standing.standpoint.approval_mode,
                    layers: standing.layers,
                    misread,
                    problems: Vec::new(),
                })
            }
            PermissionScope::Directory(cwd) => {
                let (services, cwd) = (self.services.clone(), cwd.clone());
                blocking(move || {
                    let assembly = &services.assembly;
                    let mut terms = assembly.terms(&cwd);
                    let root = root_of(&terms, &cwd, &assembly.user_home());
                    let layers = with_kept(&mut terms, &**assembly, &root);
                    let misread = compiled(&layers, &terms.tools).1;
                    Permissions {
                        session: None,
                        root,
                        approval_mode: terms.approval_mode,
                        layers,
                        misread,
                        problems: terms.problems,
                    }
                })
                .await
            }
        }
    }

    /// Judges a call as it would be judged now, or in this approval mode, and does nothing of it.
    ///
    /// # Errors
    /// No such session, no such tool, arguments that it does not take, a directory that cannot be opened.
    pub async fn explain(
        &self,
        asked: &PermissionScope,
        tool: String,
        arguments: Map<String, Value>,
        approval_mode: Option<ApprovalMode>,
    ) -> Result<Explained, Failure> {
        match asked {
            PermissionScope::Session(session) => {
                let mut standing = self.find_tightened(session).await?.standing().await?;
                if let Some(approval_mode) = approval_mode {
                    standing.standpoint.approval_mode = approval_mode;
                }
                blocking(move || in_session(&standing, &tool, &arguments)).await?
            }
            PermissionScope::Directory(cwd) => {
                let (assembly, cwd) = (Arc::clone(&self.services.assembly), cwd.clone());
                let judge =
                    move || in_directory(&*assembly, &cwd, &tool, &arguments, approval_mode);
                blocking(judge).await?
            }
        }
    }

    /// The session, following what the settings forbid now.
    async fn find_tightened(&self, session: &str) -> Result<SessionHandle, Failure> {
        let handle = self.find(session).await?;
        handle.tighten().await?;
        Ok(handle)
    }

    /// Lets every session that is loaded follow what the settings forbid now, at once; those that are held to more than
    /// before. Others look before their next call, or as they are loaded.
    pub async fn tighten_all(&self) -> Vec<Pid> {
        let mut reached = Vec::new();
        for handle in self.handles() {
            if let Ok(true) = handle.tighten().await {
                reached.push(handle.pid());
            }
        }
        reached.sort_unstable();
        reached
    }

    /// Projects are trusted no more: every session that is loaded follows that at once, and those below these directories
    /// read their hooks again.
    pub async fn end_trust(&self, directories: &[PathBuf]) {
        self.tighten_all().await;
        for handle in self.handles() {
            let cwd = handle.summary().cwd;
            if directories
                .iter()
                .any(|directory| Path::new(&cwd).starts_with(directory))
            {
                // One that has left memory reads them when it is loaded.
                let _ = handle.reload_hooks().await;
            }
        }
    }

    /// Lets every session that is loaded read its hooks again: those of a project that has lost its trust are gone.
    pub async fn reload_all_hooks(&self) {
        for handle in self.handles() {
            if let Err(failure) = handle.reload_hooks().await {
                tracing::warn!(pid = %handle.pid(), %failure, "hooks could not be read again");
            }
        }
    }

    /// Takes back a grant of a session; false: it was not.
    ///
    /// # Errors
    /// No such session; its log takes no more.
    pub async fn revoke(&self, session: &str, rule: &str, by: String) -> Result<bool, Failure> {
        let handle = self.find(session).await?;
        let standing = handle.standing().await?;
        let mut layers = standing.layers.iter();
        let granted = layers.find(|layer| layer.layer == Layer::Session);
        if !granted.is_some_and(|layer| layer.rules.allow.iter().any(|known| known == rule)) {
            return Ok(false);
        }
        let set = SessionSet {
            revoked: Some(rule.to_owned()),
            by: Some(by),
            ..SessionSet::default()
        };
        handle.set(set).await?;
        Ok(true)
    }
}
