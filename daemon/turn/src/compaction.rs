//! Compaction: which messages of a conversation go, which stay word for word, and what stands in the place of the rest.
//!
//! Pure. Whoever calls it has read the messages, and renders what is new. The numbers are the contract's (chapter 60).

mod digest;
mod excerpt;
mod plan;
mod shorten;

pub use digest::{EditedFile, RestatedState, beginning, demand, is_digest, mechanical};
pub use excerpt::{Excerpt, excerpt};
pub use plan::{
    BasePart, CompactionPlan, CompactionTerms, ConversationMessage, NothingToCompact, TokenRatio,
    is_pinned, plan,
};
pub use shorten::shorten;
