//! Compaction: decides which messages stay verbatim, which are removed, and what replaces them.
//!
//! Pure. The caller reads the messages and renders new ones. The limits come from the contract (chapter 60).

mod excerpt;
mod plan;
mod server;
mod shorten;
mod summary;
mod transcript;

pub use excerpt::{Excerpt, excerpt};
pub use plan::{
    BasePart, CompactionPlan, CompactionTerms, ConversationMessage, FullContext, NothingToCompact,
    TokenRatio, is_pinned, plan,
};
pub use server::{lead, stand_in};
pub use shorten::shorten;
pub use summary::{EditedFile, RestatedState, beginning, demand, is_summary, mechanical};
pub use transcript::{TRANSCRIPT_SYSTEM, transcript};
