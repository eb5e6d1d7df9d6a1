//! What a log says of the past. Owns nothing: pure folds over records.

pub(crate) mod cache_hits;
pub(crate) mod rewind_aim;
pub(crate) mod steps;
pub(crate) mod summary;
