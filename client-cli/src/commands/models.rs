//! `reasonix models`: what sessions can use.

use std::collections::BTreeSet;

use client::Client;
use proto::methods::ProviderList;
use proto::params::config::{
    ModelFacts, ModelPrice, ProviderListOutput, ProviderListParams, ProviderStatus,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::Listing;
use super::setup::key::{self, answer, here};
use super::setup::pick::{is_usable, key_words};
use crate::exit::Error;
use crate::messages::Head;
use crate::messages::cost::Msg;
use crate::{output, reach, text};

/// List the models of all providers, with prices and key status.
///
/// `*` marks the default model. Prices are US dollars per million tokens: input / cached input / output. `~`: the price
/// differs at other hours or for long prompts. `-`: unknown. Models that only the provider's own list has are `listed` in
/// the last column. That list is kept, and asked for again when it is a day old and the provider is in use.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    listing: Listing,
    /// Refresh the list of models of each usable provider first, and send each a prompt of one token.
    #[arg(long)]
    refresh: bool,
}

/// One model of one provider.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ModelRow")]
pub struct Row {
    /// `provider/model`, or the provider alone where it names no model.
    model: String,
    provider: String,
    /// Sessions use it that name none.
    default: bool,
    /// Whether a session that begins here could use it.
    usable: bool,
    /// In words: `stored`, `missing (VAR)`, …
    key: String,
    /// `default`, `listed` (only its endpoint lists it), or the file of the entry.
    origin: String,
    /// Built in, and not configured.
    shipped: bool,
    /// What is known of it. Prices are millionths of a US dollar for a million tokens.
    facts: ModelFacts,
}

/// Lists them.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("models").await?;
    let params = ProviderListParams { cwd: here() };
    let list = client.call::<ProviderList>(&params).await?;
    if args.refresh && list.providers.iter().any(is_usable) {
        key::announce_cost();
    }
    let mut rows = Vec::new();
    for provider in &list.providers {
        let offered = match args.refresh && is_usable(provider) {
            true => offered(&client, provider).await?,
            false => (provider.listed.clone(), Vec::new()),
        };
        let (models, facts) = offered;
        rows.extend(of(provider, &models, &facts, list.default_model.as_deref()));
    }
    if args.listing.json {
        output::json(&rows)?;
        return Ok(0);
    }
    if args.listing.quiet {
        output::names(rows.iter().map(|row| row.model.as_str()))?;
        return Ok(0);
    }
    let cells: Vec<_> = rows
        .iter()
        .map(|row| {
            [
                if row.default { "*" } else { "" }.to_owned(),
                row.model.clone(),
                size(row.facts.context_window),
                size(row.facts.max_output_tokens),
                row.facts.price.as_ref().map_or_else(none, price),
                match row.facts.vision {
                    Some(true) => say!(Msg::Yes).to_owned(),
                    Some(false) => say!(Msg::No).to_owned(),
                    None => none(),
                },
                match row.facts.efforts.as_slice() {
                    [] => none(),
                    efforts => text::line(&efforts.join(" ")),
                },
                row.key.clone(),
                match row.shipped {
                    true => say!(Msg::BuiltIn).to_owned(),
                    false => row.origin.clone(),
                },
            ]
        })
        .collect();
    output::table(
        [
            Head::Empty,
            Head::Model,
            Head::Window,
            Head::Output,
            Head::Price,
            Head::Vision,
            Head::Effort,
            Head::Key,
            Head::From,
        ],
        &cells,
    )?;
    if list.default_model.is_none() {
        output::progress(say!(Msg::NoModelYet));
    }
    Ok(0)
}

/// The models that a provider names itself; its other messages go to standard error.
async fn offered(
    client: &Client,
    provider: &ProviderStatus,
) -> Result<(Vec<String>, Vec<ModelFacts>), Error> {
    let probed = key::probed(client, provider).await?;
    let words = format!("· {}: {}", provider.name, answer(&probed));
    output::progress(&text::line(&words));
    Ok((probed.models, probed.facts))
}

fn none() -> String {
    "-".to_owned()
}

fn size(tokens: u64) -> String {
    match tokens {
        0 => none(),
        tokens => output::short(tokens),
    }
}

/// `0.15 / 0.003 / 0.6`: sent, sent from the cache, got.
fn price(price: &ModelPrice) -> String {
    let cached = price.cached.unwrap_or(price.input);
    let shown = [price.input, cached, price.output].map(dollars).join(" / ");
    let mark = if price.varies { " ~" } else { "" };
    format!("{shown}{mark}")
}

/// Millionths as dollars, without what says nothing: `0.003625`, `15`.
fn dollars(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The rows of a provider: the configured models first, then the others that it names. Pure, but for the environment.
fn of(
    provider: &ProviderStatus,
    offered: &[String],
    known: &[ModelFacts],
    default: Option<&str>,
) -> Vec<Row> {
    let facts = |name: &str| {
        let mut all = provider.facts.iter().chain(known);
        all.find(|facts| facts.model == name).cloned()
    };
    let row = |name: Option<&String>, origin: &str| {
        let model = match name {
            Some(name) => format!("{}/{name}", provider.name),
            None => provider.name.clone(),
        };
        Row {
            default: is_default(provider, name, &model, default),
            model,
            provider: provider.name.clone(),
            usable: is_usable(provider),
            key: key_words(provider),
            origin: origin.to_owned(),
            shipped: provider.shipped,
            facts: name.and_then(|name| facts(name)).unwrap_or_default(),
        }
    };
    let known: BTreeSet<&String> = provider.models.iter().collect();
    let configured = provider
        .models
        .iter()
        .map(|name| row(Some(name), &provider.origin));
    let more = offered.iter().filter(|name| !known.contains(name));
    let more = more.map(|name| row(Some(name), say!(Msg::Listed)));
    let rows: Vec<Row> = configured.chain(more).collect();
    match rows.is_empty() {
        true => vec![row(None, &provider.origin)],
        false => rows,
    }
}

/// The default model, if its price is not known.
pub(super) fn unpriced_default(list: &ProviderListOutput) -> Option<String> {
    let default = list.default_model.as_deref();
    let rows = list
        .providers
        .iter()
        .flat_map(|provider| of(provider, &provider.listed, &[], default));
    let mut unpriced = rows.filter(|row| row.default && row.facts.price.is_none());
    unpriced.next().map(|row| row.model)
}

/// Whether the default means this model: it is named as `provider/model`, as provider, or as model.
fn is_default(
    provider: &ProviderStatus,
    name: Option<&String>,
    model: &str,
    default: Option<&str>,
) -> bool {
    let Some(default) = default else {
        return false;
    };
    let first = match provider.default.is_empty() {
        true => provider.models.first(),
        false => Some(&provider.default),
    };
    default == model
        || (default == provider.name && name == first)
        || name.is_some_and(|name| name == default)
}

#[cfg(test)]
mod tests;
