//! Data of well-known models: windows, limits, prices and vendors' caches, and the cost of a
//! request.
//!
//! Pure: the data is in `models.toml` beside this file and is compiled in. The user's config takes
//! precedence. It contains only certain facts: an unknown price is unknown, never 0.

mod models;
mod price;

pub use models::{Cache, Model, find, host};
pub use price::{Peak, Price, Rates, Tier};
