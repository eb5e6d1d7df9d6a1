//! The table of models, and how one is found in it.
//!
//! A vendor is known by the host of its endpoint: what a gateway asks for the same model, and how much of its window it
//! lets through, is the gateway's matter.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::price::Price;

/// What is known of a model (or of several that are alike). What is absent is not known.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// What it is called on the wire; several, where all that stands here is true of several models.
    pub names: Vec<String>,
    /// Tokens.
    pub context_window: Option<u64>,
    /// The longest answer that it can give, in tokens.
    pub max_output_tokens: Option<u64>,
    /// The words of the vendor for how hard it is to think.
    #[serde(default)]
    pub efforts: Vec<String>,
    /// Whether it can be shown images.
    pub vision: Option<bool>,
    pub price: Option<Price>,
    /// The day on which the vendor (or who quotes it) asked that price: `2026-11-15`.
    pub price_as_of: Option<String>,
    /// Whether it takes a temperature; absent: it does.
    pub temperature: Option<bool>,
    /// The vendor's.
    #[serde(skip)]
    pub cache: Cache,
}

/// How a vendor's cache of prefixes works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Tokens that it serves together: what it serves is a multiple of them.
    pub block_tokens: Option<u64>,
    /// A prefix is kept so long after its last use, at least.
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

/// A test reads it too: it is never empty.
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

/// What is known of a model behind an endpoint.
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

/// The host of an address, in small letters.
#[must_use]
pub fn host(base_url: &str) -> Option<String> {
    let (_, rest) = base_url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?;
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}

/// The name without the date of a snapshot (`-20251001`, `-2025-10-01`): vendors ask the same for all of them. Any other
/// ending may be another model.
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
