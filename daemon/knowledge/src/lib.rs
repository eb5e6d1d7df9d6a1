//! Files that the model is shown without having asked for them: instructions of users and projects, and what prompts
//! refer to.
//!
//! Reads them through `workspace`. Blocks.

mod imports;
mod instructions;
mod reference_syntax;
mod references;

pub use instructions::{Instructions, find_instructions};
pub use references::{ResolvedReferences, resolve_references};
