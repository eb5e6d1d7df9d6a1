//! What a log says of the past.

pub(crate) mod cache_hits;
pub(crate) mod rewind_aim;
pub(crate) mod steps;
pub(crate) mod summary;
