//! The instruction files of a directory, for those who look after it.

use std::path::Path;

use knowledge::{Instructions, find_instructions};
use proto::Failure;

use crate::calls::permissions::{open, root_of};
use crate::supervisor::Supervisor;
use crate::tasks::blocking;

impl Supervisor {
    /// The instruction files that a new session in this directory has, and those that are left out or cut.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub async fn instructions(&self, cwd: &Path) -> Result<Instructions, Failure> {
        let (services, cwd) = (self.services.clone(), cwd.to_owned());
        blocking(move || {
            let assembly = &services.assembly;
            let terms = assembly.terms(&cwd);
            let root = root_of(&terms, &cwd, &assembly.user_home());
            let user_file = services.home.instructions();
            let readable = vec![user_file.clone()];
            let workspace = open(&terms, &**assembly, &cwd, &root, readable)?;
            Ok(find_instructions(&workspace, &user_file))
        })
        .await?
    }
}
