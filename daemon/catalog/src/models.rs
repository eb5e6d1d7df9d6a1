//! The table of models, and look-ups in it.
//!
//! A vendor is identified by the host of its endpoint. A gateway sets its own prices and windows
//! for the same model.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::price::Price;

/// Facts about a model, or about several models that share them. Absent facts are unknown.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Names on the wire.
    pub names: Vec<String>,
    /// In tokens.
    pub context_window: Option<u64>,
    /// Maximum output tokens.
    pub max_output_tokens: Option<u64>,
    /// The vendor's names of reasoning efforts.
    #[serde(default)]
    pub efforts: Vec<String>,
    /// Whether it accepts images.
    pub vision: Option<bool>,
    pub price: Option<Price>,
    /// The date of the price: `2026-11-15`.
    pub price_as_of: Option<String>,
    /// Whether it accepts a temperature. Absent: yes.
    pub temperature: Option<bool>,
    /// The provider's cache.
    #[serde(skip)]
    pub cache: Cache,
}

/// How a vendor's prefix cache works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Cached tokens are a multiple of this.
    pub block_tokens: Option<u64>,
    /// Minimum time that a prefix is kept after its last use.
    pub ttl_seconds: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vendor {
    hosts: Vec<String>,
    #[serde(default)]
    cache: Cache,
    models: Vec<Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    vendors: Vec<Vendor>,
}

/// A test parses it too, so it is never empty.
static TABLE: LazyLock<Vec<Vendor>> = LazyLock::new(|| read().unwrap_or_default());

fn read() -> Result<Vec<Vendor>, toml::de::Error> {
    let table: Table = toml::from_str(include_str!("models.toml"))?;
    let vendors = table.vendors.into_iter().map(|mut vendor| {
        for model in &mut vendor.models {
            model.cache = vendor.cache;
        }
        vendor
    });
    Ok(vendors.collect())
}

/// The facts about a model at an endpoint.
#[must_use]
pub fn find(base_url: &str, model: &str) -> Option<&'static Model> {
    let host = host(base_url)?;
    let vendor = TABLE.iter().find(|vendor| vendor.hosts.contains(&host))?;
    let named = |name: &str| {
        let mut models = vendor.models.iter();
        models.find(|known| known.names.iter().any(|known| known == name))
    };
    named(model).or_else(|| named(undated(model)?))
}

/// The host of a URL, in lower case.
#[must_use]
pub fn host(base_url: &str) -> Option<String> {
    let (_, rest) = base_url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?;
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// The name without the date of a snapshot (`-20251001`, `-2025-10-01`), because vendors charge the
/// same for all snapshots. Any other suffix may be another model.
fn undated(model: &str) -> Option<&str> {
    let is_date = |text: &str, form: &str| {
        text.len() == form.len()
            && text.bytes().zip(form.bytes()).all(|(byte, form)| {
                if form == b'0' {
                    byte.is_ascii_digit()
                } else {
                    byte == form
                }
            })
    };
    ["-00000000", "-0000-00-00"].into_iter().find_map(|form| {
        let (name, date) = model.split_at_checked(model.len().checked_sub(form.len())?)?;
        (!name.is_empty() && is_date(date, form)).then_some(name)
    })
}

#[cfg(test)]
mod tests;
