//! What is known of well-known models: windows, limits, prices, and the vendors' caches; and what a request costs.
//!
//! Pure: the data stands in `models.toml` beside this file and is compiled in. What a user's config says goes before
//! it. What is not known for certain is not in it: an unknown price is unknown, never 0.

mod models;
mod price;

pub use models::{Cache, Model, find, host};
pub use price::{Peak, Price, Rates, Tier};
