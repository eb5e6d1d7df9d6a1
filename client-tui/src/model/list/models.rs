//! The list of models, with descriptions.

use proto::params::config::{ModelFacts, ModelPrice, ProviderListOutput, ProviderStatus};

use super::Key;
use super::rows::{Cell, Row};
use crate::messages::Language;
use crate::messages::models::Msg;
use crate::model::Model;
use crate::render::short;
use crate::theme::TextRole;

/// A model that can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// `provider/model`. Not cleaned: it is sent to the daemon.
    pub name: String,
    pub facts: ModelFacts,
    pub key: KeyPresence,
}

/// Whether a model's key is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPresence {
    NotNeeded,
    There,
    /// The variable that would hold it.
    Missing(String),
}

/// The models of all configured providers, and of those that come with the program where their key is there. `keys`:
/// variables of keys that this process has.
#[must_use]
pub fn offers(list: &ProviderListOutput, keys: &[String]) -> Vec<Offer> {
    let of_provider = |provider: &ProviderStatus| {
        let key = presence(provider, keys);
        let offered = !provider.shipped || key == KeyPresence::There;
        let names = provider.models.iter().chain(&provider.listed);
        let offers: Vec<Offer> = names
            .zip(
                provider
                    .facts
                    .iter()
                    .map(Some)
                    .chain(std::iter::repeat(None)),
            )
            .filter(|_| offered)
            .map(|(model, facts)| Offer {
                name: format!("{}/{model}", provider.name),
                facts: facts.cloned().unwrap_or_default(),
                key: key.clone(),
            })
            .collect();
        offers
    };
    list.providers.iter().flat_map(of_provider).collect()
}

fn presence(provider: &ProviderStatus, keys: &[String]) -> KeyPresence {
    let variable = &provider.api_key_env;
    match (
        variable.is_empty(),
        provider.has_key || keys.contains(variable),
    ) {
        (true, _) => KeyPresence::NotNeeded,
        (false, true) => KeyPresence::There,
        (false, false) => KeyPresence::Missing(variable.clone()),
    }
}

/// The model that is asked at present, as `provider/model`.
#[must_use]
pub fn present(model: &Model) -> &str {
    let session = model.session.as_ref();
    let own = session.and_then(|session| session.options.model.as_deref());
    own.unwrap_or(&model.place.model)
}

/// A row: name, price, window, key.
#[must_use]
pub fn row(offer: &Offer, model: &Model) -> Row {
    let language = model.look.language;
    let cell = |text: String, ink| Cell {
        text,
        ink,
        marks: Vec::new(),
    };
    let (key, ink) = match offer.key {
        KeyPresence::NotNeeded => (String::new(), TextRole::Dim),
        KeyPresence::There => (language.say(Msg::Key).to_owned(), TextRole::Dim),
        KeyPresence::Missing(_) => (language.say(Msg::NoKey).to_owned(), TextRole::Warning),
    };
    let mark = match present(model) == offer.name {
        true => ("●", TextRole::Good),
        false => (" ", TextRole::Text),
    };
    Row {
        key: Key::Model(offer.name.clone()),
        mark,
        cells: vec![
            cell(client::text::line(&offer.name), TextRole::Text),
            cell(
                offer.facts.price.as_ref().map(price).unwrap_or_default(),
                TextRole::Dim,
            ),
            cell(window(&offer.facts), TextRole::Dim),
            cell(key, ink),
        ],
    }
}

/// Details of the marked model, one per line.
#[must_use]
pub fn about(offer: &Offer, language: Language) -> [String; 3] {
    let price = match &offer.facts.price {
        None => language.say(Msg::PriceUnknown).to_owned(),
        Some(price) => language.fill(Msg::Price, &[&dollars(price.input), &dollars(price.output)]),
    };
    let window = match window(&offer.facts).as_str() {
        "" => language.say(Msg::WindowUnknown).to_owned(),
        window => language.fill(Msg::Window, &[window]),
    };
    let key = match &offer.key {
        KeyPresence::NotNeeded => language.say(Msg::KeyNotNeeded).to_owned(),
        KeyPresence::There => language.say(Msg::KeyThere).to_owned(),
        KeyPresence::Missing(variable) => {
            let provider = offer.name.split('/').next().unwrap_or_default();
            language.fill(Msg::KeyMissing, &[variable, provider])
        }
    };
    [
        format!("{price} · {window}"),
        key,
        client::text::line(&offer.name),
    ]
}

fn window(facts: &ModelFacts) -> String {
    match facts.context_window {
        0 => String::new(),
        tokens => short::count(tokens),
    }
}

/// `$0.27/1.10`: a million tokens in, a million out.
fn price(price: &ModelPrice) -> String {
    let varies = if price.varies { "~" } else { "" };
    format!(
        "{varies}${}/{}",
        dollars(price.input),
        dollars(price.output)
    )
}

/// Millionths as dollars, without what says nothing: `0.27`, `15`.
fn dollars(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
