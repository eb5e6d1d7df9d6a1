//! The definitions in the source files of a directory, for clients that complete references.

use std::path::Path;

use knowledge::find_symbols;
use proto::Failure;
use proto::params::symbol::{ListOutput, SymbolInfo};

use crate::calls::permissions::{open, root_of};
use crate::supervisor::Supervisor;
use crate::tasks::blocking;

impl Supervisor {
    /// The definitions that a prompt of a session in this directory can refer to.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub async fn symbols(&self, cwd: &Path) -> Result<ListOutput, Failure> {
        let (services, cwd) = (self.services.clone(), cwd.to_owned());
        blocking(move || {
            let assembly = &services.assembly;
            let terms = assembly.terms(&cwd);
            let root = root_of(&terms, &cwd, &assembly.user_home());
            let workspace = open(&terms, &**assembly, &cwd, &root, Vec::new())?;
            let found = find_symbols(&workspace);
            let symbols = found.symbols.into_iter().map(|symbol| SymbolInfo {
                path: symbol.path,
                line: symbol.line,
                name: symbol.name,
            });
            Ok(ListOutput {
                symbols: symbols.collect(),
                partial: found.partial,
            })
        })
        .await?
    }
}
