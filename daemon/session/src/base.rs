//! What a cache reset keeps in its line's `own` member: another prefix, and the messages that stand in the place of
//! others, each with its neutral form and its wire bytes.

use std::ops::Range;

use contract::Prefix;
use contract::codec::FragmentRole;
use proto::Body;
use proto::item::Item;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use store::format::RawRecord;

/// A message that a reset puts in the place of others.
#[derive(Clone, Debug)]
pub struct Element {
    pub item: Item,
    /// Its wire bytes: comma-joined where one wire message groups several.
    pub fragment: String,
}

/// Where an element's wire bytes stand in the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementAt {
    pub role: FragmentRole,
    pub fragment: Range<usize>,
}

#[derive(Serialize)]
struct OwnOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<&'a Prefix>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elements: Vec<ElementOut<'a>>,
}

#[derive(Serialize)]
struct ElementOut<'a> {
    kind: &'a str,
    data: Box<RawValue>,
    fragment: Box<RawValue>,
}

#[derive(Deserialize)]
struct OwnIn<'a> {
    #[serde(default)]
    prefix: Option<Prefix>,
    #[serde(borrow, default)]
    elements: Vec<ElementIn<'a>>,
}

#[derive(Deserialize)]
struct ElementIn<'a> {
    kind: String,
    #[serde(borrow)]
    data: &'a RawValue,
    #[serde(borrow)]
    fragment: &'a RawValue,
}

/// The `own` member.
///
/// # Errors
/// Something cannot be written as JSON: a bug of a codec.
pub fn own(prefix: Option<&Prefix>, elements: &[Element]) -> Result<String, serde_json::Error> {
    let elements = elements.iter().map(|element| {
        let body = body(&element.item);
        Ok(ElementOut {
            kind: kind(&element.item),
            data: RawValue::from_string(body.to_json()?)?,
            fragment: RawValue::from_string(format!("[{}]", element.fragment))?,
        })
    });
    let elements = elements.collect::<Result<Vec<_>, serde_json::Error>>()?;
    serde_json::to_string(&OwnOut { prefix, elements })
}

/// Where the elements of a reset stand in its line. None where it has none, or they cannot be read.
pub fn elements(raw: &RawRecord<'_>) -> Vec<ElementAt> {
    let read = read(raw).map(|own| own.elements).unwrap_or_default();
    let places = read.iter().map(|element| {
        let range = raw.range_within(element.fragment);
        Some(ElementAt {
            role: FragmentRole::of(&item(element)?),
            // Without its brackets.
            fragment: range.start + 1..range.end - 1,
        })
    });
    places.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The prefix that a reset leaves, where it leaves another.
pub fn prefix(raw: &RawRecord<'_>) -> Option<Prefix> {
    read(raw)?.prefix
}

/// One of the messages that a reset puts in the place of others.
pub fn message(raw: &RawRecord<'_>, element: u32) -> Option<Item> {
    let own = read(raw)?;
    item(own.elements.get(usize::try_from(element).ok()?)?)
}

/// The same, with its wire bytes.
pub fn element(raw: &RawRecord<'_>, element: u32) -> Option<Element> {
    let own = read(raw)?;
    let found = own.elements.get(usize::try_from(element).ok()?)?;
    let fragment = found.fragment.get();
    let fragment = fragment.strip_prefix('[')?.strip_suffix(']')?;
    Some(Element {
        item: item(found)?,
        fragment: fragment.to_owned(),
    })
}

fn read<'a>(raw: &RawRecord<'a>) -> Option<OwnIn<'a>> {
    serde_json::from_str(raw.own?.get()).ok()
}

fn item(element: &ElementIn<'_>) -> Option<Item> {
    message_of(Body::decode(&element.kind, element.data).ok()?)
}

/// The message that a record is.
pub fn message_of(body: Body) -> Option<Item> {
    match body {
        Body::User(message) => Some(Item::User(message)),
        Body::Assistant(message) => Some(Item::Assistant(message)),
        Body::Tool(message) => Some(Item::Tool(message)),
        _ => None,
    }
}

fn body(item: &Item) -> Body {
    match item {
        Item::User(message) => Body::User(message.clone()),
        Item::Assistant(message) => Body::Assistant(message.clone()),
        Item::Tool(message) => Body::Tool(message.clone()),
    }
}

fn kind(item: &Item) -> &'static str {
    match item {
        Item::User(_) => "message.user",
        Item::Assistant(_) => "message.assistant",
        Item::Tool(_) => "message.tool",
    }
}
