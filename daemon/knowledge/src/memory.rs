//! Memory: facts that outlive sessions.
//!
//! What a fact is, how it is written and found, is pure (`fact`, `index`, `search`, `recall`); `stores` reads and writes the files
//! of the user and of a project.

mod fact;
mod index;
mod recall;
mod search;
mod stores;

pub use fact::{Fact, FactDraft, InvalidFact, day};
pub use index::{INDEX_LINES_MAX, index_lines};
pub use recall::recall_note;
pub use search::{FactHit, search};
pub use stores::{ArchivedFact, FactStores, LoadedFacts, MemoryError, SavedFact};
