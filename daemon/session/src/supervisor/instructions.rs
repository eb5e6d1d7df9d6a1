//! The instruction files of a directory, for those who look after it.

use std::path::Path;

use contract::InstructionText;
use knowledge::{Instructions, find_instructions};
use proto::Failure;

use crate::calls::permissions::{open, root_of};
use crate::supervisor::Supervisor;
use crate::tasks::blocking;

/// Names of instruction files in a notice.
const NAMED_MAX: usize = 5;

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
            let readable = Some(user_file.clone()).filter(|file| file.exists());
            let readable = readable.into_iter().collect();
            let workspace = open(&terms, &**assembly, &cwd, &root, readable)?;
            Ok(find_instructions(&workspace, &user_file))
        })
        .await?
    }
}

/// Says which instructions the user does not vouch for. `None`: there are none.
pub(super) fn untrusted_notice(files: &[InstructionText]) -> Option<String> {
    let files = files.iter().filter(|file| file.is_of_project());
    let names: Vec<_> = files.map(|file| format!("`{}`", file.name)).collect();
    let (named, more) = names.split_at(names.len().min(NAMED_MAX));
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| {
        format!(
            "Instructions from a project that is not trusted: {}{more}. The model reads them; they permit nothing.",
            named.join(", ")
        )
    })
}
