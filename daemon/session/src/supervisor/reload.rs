//! Reads the instruction files, skills, facts and tools of MCP servers of a session again, for the actor to put into the
//! prefix.

use std::path::Path;

use proto::params::reload::{ReloadOutput, ReloadParams};
use proto::{ErrorName, Failure};

use crate::actor::handle::SessionHandle;
use crate::supervisor::workspaces::SessionPlace;
use crate::supervisor::{Supervisor, prefixes};
use crate::tasks::blocking;

impl Supervisor {
    /// See `session.reload`.
    ///
    /// # Errors
    /// `busy` in a turn; `confirm_needed`: the cache would be lost, and the caller has not confirmed that; `storage`,
    /// `request_id_reused`.
    pub async fn reload(
        &self,
        handle: &SessionHandle,
        params: ReloadParams,
    ) -> Result<ReloadOutput, Failure> {
        let created = handle.created_now().await?;
        let agent = created.agent.as_ref();
        if agent.is_some_and(|agent| !agent.mcp_servers.is_empty()) {
            return Err(Failure::new(
                ErrorName::NotAllowed,
                "This sub-agent has MCP servers of its own, and a reload would replace them with those of the project.",
                "Start the sub-agent again to take up what has changed.",
            ));
        }
        let services = self.services.clone();
        let reading = blocking(move || {
            let setup = services.assembly.resume(&created);
            let (root, cwd) = (Path::new(&created.root), Path::new(&created.cwd));
            let rules = created.options.rules.clone().unwrap_or_default();
            let place = SessionPlace {
                root,
                cwd,
                rules: &rules,
            };
            let fresh = prefixes::prefix_files(&services, &setup, place)?;
            Ok::<_, Failure>((fresh, services.assembly.tools_now(cwd)))
        });
        let (fresh, tools) = reading.await??;
        handle.reload(params, fresh, tools).await
    }
}
