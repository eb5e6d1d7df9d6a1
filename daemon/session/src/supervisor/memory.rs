//! The facts that a session or a directory reaches, for clients: the user's own looks and changes, which ask nobody.

use std::path::Path;
use std::sync::Arc;

use knowledge::memory::{FactStores, MemoryError};
use proto::{ErrorName, Failure};

use crate::calls::permissions::{PermissionScope, root_of};
use crate::supervisor::Supervisor;
use crate::supervisor::load::SessionServices;
use crate::tasks::blocking;

impl Supervisor {
    /// Does something with the facts.
    ///
    /// # Errors
    /// No such session; the log of it cannot be opened. What the work says.
    pub async fn with_facts<T: Send + 'static>(
        &self,
        asked: &PermissionScope,
        work: impl FnOnce(&FactStores) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<T, Failure> {
        let services = self.services.clone();
        let done = match asked {
            PermissionScope::Session(session) => {
                let standing = self.find(session).await?.standing().await?;
                let call_environment = Arc::clone(&standing.call_environment);
                blocking(move || {
                    let root = call_environment.workspace.root();
                    work(&facts(&services, root))
                })
                .await?
            }
            PermissionScope::Directory(cwd) => {
                let cwd = cwd.clone();
                blocking(move || {
                    let assembly = &services.assembly;
                    let root = root_of(&assembly.terms(&cwd), &cwd, &assembly.user_home());
                    work(&facts(&services, &root))
                })
                .await?
            }
        };
        done.map_err(|error| failure(&error))
    }
}

/// The facts that a session with this root reaches.
pub(super) fn facts(services: &SessionServices, root: &Path) -> FactStores {
    // As the workspace has it, which tools go by.
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let home = &services.home;
    FactStores::new(home.memory(), home.project_memory(&root))
}

fn failure(error: &MemoryError) -> Failure {
    let (name, hint) = match error {
        MemoryError::Invalid(_) => (ErrorName::InvalidParams, "Correct it and try again."),
        MemoryError::NotFound(_) | MemoryError::NotArchived(_) => (
            ErrorName::NotFound,
            "`reasonix memory list --archived` lists all facts.",
        ),
        MemoryError::NotSuperseding(_) => (
            ErrorName::InvalidParams,
            "Name another fact that `reasonix memory list` shows.",
        ),
        MemoryError::Exists(_) => (
            ErrorName::InvalidParams,
            "Choose another name, or change it with `reasonix memory edit`.",
        ),
        MemoryError::Unusable { .. } => (
            ErrorName::Storage,
            "Correct the file, or move it out of the directory.",
        ),
        MemoryError::Disk(_) => (
            ErrorName::Storage,
            "Free space or fix the disk, then try again.",
        ),
    };
    Failure::new(name, error.to_string(), hint)
}
