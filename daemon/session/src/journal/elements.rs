//! What a cache reset keeps in its line's `own` member: another prefix, and the messages that replace
//! others, each with its neutral form and its wire bytes.

use std::ops::Range;

use contract::codec::FragmentRole;
use contract::{Prefix, PrefixText};
use proto::item::Item;
use proto::reset::{CacheReset, Piece};
use proto::{Body, Seq, Stamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use store::format::RawRecord;
use store::log::LogFile;

use crate::journal::MessageAt;

/// A message that a reset puts in the place of others.
#[derive(Clone, Debug)]
pub struct Element {
    pub item: Item,
    /// Its wire bytes: comma-joined if one wire message groups several.
    pub fragment: String,
}

/// Where an element's wire bytes are in the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementAt {
    pub role: FragmentRole,
    pub fragment: Range<usize>,
}

#[derive(Serialize)]
struct OwnOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<&'a Prefix>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a PrefixText>,
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
    #[serde(default)]
    text: Option<PrefixText>,
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
    let text = None;
    serde_json::to_string(&OwnOut {
        prefix,
        text,
        elements,
    })
}

/// The `own` member of a reset that changes only what the prefix says.
///
/// # Errors
/// As [`own`].
pub fn own_prefix(prefix: &Prefix, text: &PrefixText) -> Result<String, serde_json::Error> {
    serde_json::to_string(&OwnOut {
        prefix: Some(prefix),
        text: Some(text),
        elements: Vec::new(),
    })
}

/// Where the elements of a reset are in its line. Empty if it has none, or if they cannot be read.
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

/// How many elements of its own a reset names.
pub fn names(reset: &CacheReset) -> usize {
    let own = reset.base.iter().flatten();
    own.filter(|piece| matches!(piece, Piece::Element { reset: Seq(0), .. }))
        .count()
}

/// Takes over the prefix that a reset leaves, if the reset changes it. Returns the text before, if that changes too.
pub fn update_prefix(
    raw: &RawRecord<'_>,
    prefix: &mut Prefix,
    text: &mut PrefixText,
) -> Option<PrefixText> {
    let own = read(raw)?;
    if let Some(left) = own.prefix {
        *prefix = left;
    }
    Some(std::mem::replace(text, own.text?))
}

/// All messages that a reset puts in the place of others. `None` in the place of one that this build cannot read.
fn messages(raw: &RawRecord<'_>) -> Vec<Option<Item>> {
    let own = read(raw).map(|own| own.elements).unwrap_or_default();
    own.iter().map(item).collect()
}

/// Reads messages back from the log. The elements of a reset are in one line: it is read once for all that
/// follow each other.
pub struct Reader<'a> {
    file: &'a LogFile,
    newest: Option<(Seq, Stamp, Vec<Option<Item>>)>,
}

impl<'a> Reader<'a> {
    pub fn new(file: &'a LogFile) -> Self {
        Self { file, newest: None }
    }

    /// The message, and when its record was made. Blocks.
    ///
    /// # Errors
    /// The log cannot be read, or no message is there.
    pub fn message(&mut self, part: &MessageAt) -> Result<(Item, Stamp), String> {
        if let Piece::Element { reset, element } = &part.piece
            && let Some((of, at, items)) = &self.newest
            && of == reset
        {
            return Ok((nth(items, *reset, *element)?, *at));
        }
        let line = self
            .file
            .fetch(&part.line)
            .map_err(|error| format!("cannot read the log: {error}"))?;
        let raw = store::format::decode(&line)
            .map_err(|error| format!("a line of the log is damaged: {error}"))?;
        match &part.piece {
            Piece::Run(_, _) => {
                let record = raw.record().map_err(|error| error.to_string())?;
                let item = message_of(record.body);
                let item = item.ok_or_else(|| format!("record {} is not a message", raw.seq))?;
                Ok((item, raw.at))
            }
            Piece::Element { reset, element } => {
                let items = messages(&raw);
                let item = nth(&items, *reset, *element)?;
                self.newest = Some((*reset, raw.at, items));
                Ok((item, raw.at))
            }
        }
    }
}

fn nth(items: &[Option<Item>], reset: Seq, element: u32) -> Result<Item, String> {
    let place = usize::try_from(element).unwrap_or(usize::MAX);
    let item = items.get(place).cloned().flatten();
    item.ok_or_else(|| format!("element {element} of record {reset} cannot be read"))
}

/// One of the messages that a reset puts in the place of others, with its wire bytes.
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
