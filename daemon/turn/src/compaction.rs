//! Compaction: which messages of a conversation go, which stay word for word, and what stands in the place of the rest.
//!
//! Pure. Whoever calls it has read the messages, and renders what is new. The numbers are the contract's (chapter 60).

mod excerpt;
mod plan;
mod shorten;
mod summary;

pub use excerpt::{Excerpt, excerpt};
pub use plan::{
    BasePart, CompactionPlan, CompactionTerms, ConversationMessage, NothingToCompact, TokenRatio,
    is_pinned, plan,
};
pub use shorten::shorten;
pub use summary::{EditedFile, RestatedState, beginning, demand, is_summary, mechanical};
