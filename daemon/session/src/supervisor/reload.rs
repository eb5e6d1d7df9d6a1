//! Reads the instruction files of a session's directory and the facts that it reaches again, for the actor to put into
//! the prefix.

use std::path::Path;

use proto::params::reload::{ReloadOutput, ReloadParams};
use proto::{Failure, Stamp};

use crate::actor::commands::reload::FreshInstructions;
use crate::actor::handle::SessionHandle;
use crate::supervisor::{Supervisor, build};
use crate::tasks::blocking;

impl Supervisor {
    /// See `session.reload`.
    ///
    /// # Errors
    /// `busy` in a turn; `confirm_needed`: the cache starts anew, and nobody has said that this is meant; `storage`,
    /// `request_id_reused`.
    pub async fn reload(
        &self,
        handle: &SessionHandle,
        params: ReloadParams,
    ) -> Result<ReloadOutput, Failure> {
        let created = handle.created_now().await?;
        let services = self.services.clone();
        let reading = blocking(move || {
            let setup = services.assembly.resume(&created);
            let (root, cwd) = (Path::new(&created.root), Path::new(&created.cwd));
            let found = build::instructions(&services, &setup, root, cwd)?;
            Ok::<_, Failure>((found, build::facts(&services, root).load()))
        });
        let (mut found, mut facts) = reading.await??;
        found.problems.append(&mut facts.problems);
        let fresh = FreshInstructions {
            files: found.files,
            memory: facts.index_lines(Stamp::now()),
            problems: found.problems,
        };
        handle.reload(params, fresh).await
    }
}
