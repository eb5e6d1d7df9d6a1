//! I1: between two cache resets each request extends the one before it, byte for byte.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The parts of a request, as they stand in its bytes.
#[derive(Deserialize)]
struct Chat<'a> {
    #[serde(borrow)]
    model: &'a RawValue,
    #[serde(borrow)]
    messages: &'a RawValue,
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
}

/// Checks requests of one session in order.
///
/// The messages' array without its closing bracket must be a prefix of the next one's, ending where a message ends;
/// tools and model must be the same bytes. (The system prompt is the first message.)
///
/// # Errors
/// Which request differs, and where.
pub fn check<'a>(bodies: impl IntoIterator<Item = &'a [u8]>) -> Result<(), String> {
    let parts = |body| serde_json::from_slice::<Chat<'a>>(body).map_err(|error| error.to_string());
    each_extends(bodies, parts, extends)
}

/// Checks each body, once read, against the one before it.
fn each_extends<'a, T>(
    bodies: impl IntoIterator<Item = &'a [u8]>,
    read: impl Fn(&'a [u8]) -> Result<T, String>,
    extends: impl Fn(&T, &T) -> Result<(), String>,
) -> Result<(), String> {
    let mut before: Option<T> = None;
    for (index, body) in bodies.into_iter().enumerate() {
        let number = index + 1;
        let now = read(body).map_err(|why| format!("request {number} is no request: {why}"))?;
        if let Some(before) = &before {
            extends(before, &now).map_err(|why| {
                format!("request {number} does not extend request {index}: {why}")
            })?;
        }
        before = Some(now);
    }
    Ok(())
}

fn extends(before: &Chat<'_>, now: &Chat<'_>) -> Result<(), String> {
    same("model", before.model.get(), now.model.get())?;
    let text = |part: Option<&RawValue>| part.map_or("", RawValue::get).to_owned();
    same("tools", &text(before.tools), &text(now.tools))?;
    let old = before.messages.get();
    let old = old.strip_suffix(']').unwrap_or(old);
    let new = now.messages.get();
    match new.strip_prefix(old) {
        Some(rest) if rest.starts_with([',', ']']) => Ok(()),
        Some(rest) => Err(format!(
            "the last message goes on with `{}`",
            excerpt(rest, 0)
        )),
        None => same("messages", old, new),
    }
}

/// What a request of another wire is made of: what must stay, and what must only grow.
pub struct Parts {
    pub fixed: Vec<(&'static str, String)>,
    pub items: Vec<String>,
}

impl Parts {
    /// The members `fixed` of a body, as they stand there, and the elements of its list `items`.
    ///
    /// # Errors
    /// It is no such body.
    pub fn of(body: &[u8], fixed: &[&'static str], items: &str) -> Result<Self, String> {
        let wrong = |error: serde_json::Error| error.to_string();
        let body: BTreeMap<&str, &RawValue> = serde_json::from_slice(body).map_err(wrong)?;
        let text = |name: &str| body.get(name).map_or("", |raw| raw.get());
        let items: Vec<&RawValue> = serde_json::from_str(text(items)).map_err(wrong)?;
        Ok(Self {
            fixed: fixed
                .iter()
                .map(|name| (*name, text(name).to_owned()))
                .collect(),
            items: items.iter().map(|item| item.get().to_owned()).collect(),
        })
    }

    fn extend(&self, before: &Self) -> Result<(), String> {
        for ((what, old), (_, new)) in before.fixed.iter().zip(&self.fixed) {
            same(what, old, new)?;
        }
        let old = &before.items;
        let new = self.items.get(..old.len()).ok_or("messages are gone")?;
        same("messages", &old.join("\n"), &new.join("\n"))
    }
}

/// Checks requests of one session in order, by their parts.
///
/// # Errors
/// Which request differs, and where.
pub fn check_parts<'a>(
    bodies: impl IntoIterator<Item = &'a [u8]>,
    parts: impl Fn(&'a [u8]) -> Result<Parts, String>,
) -> Result<(), String> {
    each_extends(bodies, parts, |before, now| now.extend(before))
}

fn same(what: &str, old: &str, new: &str) -> Result<(), String> {
    if old == new {
        return Ok(());
    }
    let at = old
        .bytes()
        .zip(new.bytes())
        .take_while(|(one, two)| one == two)
        .count();
    Err(format!(
        "{what} differ at byte {at}:\n  was `{}`\n  is  `{}`",
        excerpt(old, at),
        excerpt(new, at)
    ))
}

/// What stands around a byte.
fn excerpt(text: &str, at: usize) -> String {
    let (start, end) = (at.saturating_sub(60), (at + 100).min(text.len()));
    String::from_utf8_lossy(text.as_bytes().get(start..end).unwrap_or_default()).into_owned()
}
