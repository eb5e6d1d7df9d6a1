//! One fact: a Markdown file with front matter. Parsing, checking and writing it. Pure.

use std::fmt::Write as _;

use proto::Stamp;
use proto::params::memory::FactType;
use serde::Deserialize;

use crate::front_matter::{self, Malformed};

/// Characters of a name.
const NAME_MAX: usize = 64;
/// Characters of a description: it is a line of the index, and each word there is paid for on every request.
const DESCRIPTION_MAX: usize = 200;
/// Bytes of a fact's text.
const CONTENT_BYTES_MAX: usize = 16 * 1024;

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// That of its file, without `.md`.
    pub name: String,
    /// One line.
    pub description: String,
    pub fact_type: FactType,
    /// RFC 3339. `None`: the file does not say.
    pub created: Option<String>,
    /// RFC 3339. `None`: the file does not say.
    pub updated: Option<String>,
    /// The id of the session that saved it. `None`: the user did.
    pub source: Option<String>,
    /// The last day on which it holds, `YYYY-MM-DD`.
    pub expires: Option<String>,
    /// The name of the fact that contradicts and replaces it.
    pub superseded_by: Option<String>,
    /// Markdown, without blank lines at its ends.
    pub content: String,
}

/// What somebody wants to be remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactDraft {
    pub name: String,
    pub description: String,
    pub fact_type: FactType,
    pub content: String,
    pub expires: Option<String>,
    pub superseded_by: Option<String>,
    /// The id of the session that saves it. `None`: the user does.
    pub source: Option<String>,
}

/// Why a draft is no fact, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidFact(pub String);

#[derive(Debug, Default, Deserialize)]
struct Fields {
    name: Option<String>,
    description: Option<String>,
    #[serde(rename = "type")]
    fact_type: Option<FactType>,
    created: Option<String>,
    updated: Option<String>,
    source: Option<String>,
    expires: Option<String>,
    superseded_by: Option<String>,
}

impl FactDraft {
    /// Checks it. `before`: the fact that it replaces.
    ///
    /// # Errors
    /// A part of it is empty, too long, or has characters that it may not have.
    pub fn into_fact(self, now: Stamp, before: Option<&Fact>) -> Result<Fact, InvalidFact> {
        let name = self.name.trim().to_ascii_lowercase();
        check_name(&name)?;
        let description = self.description.trim().to_owned();
        let content = self.content.replace("\r\n", "\n");
        let content = content.trim_matches('\n').trim_end().to_owned();
        let refuse = |reason: String| Err(InvalidFact(reason));
        if description.is_empty() || content.trim().is_empty() {
            return refuse("The description and the content of a fact cannot be empty.".to_owned());
        }
        if description.chars().count() > DESCRIPTION_MAX {
            return refuse(format!(
                "The description has more than {DESCRIPTION_MAX} characters."
            ));
        }
        if content.len() > CONTENT_BYTES_MAX {
            return refuse(format!(
                "The content has more than {CONTENT_BYTES_MAX} bytes."
            ));
        }
        let line = description.chars().any(|letter| is_hidden(letter, false));
        if line || content.chars().any(|letter| is_hidden(letter, true)) {
            return refuse(
                "A fact cannot contain control characters or invisible characters, and its description is one line."
                    .to_owned(),
            );
        }
        if let Some(day) = self.expires.as_deref().filter(|day| !is_day(day)) {
            return refuse(format!("`{}` is not a day `YYYY-MM-DD`.", printable(day)));
        }
        if let Some(other) = &self.superseded_by {
            check_name(other)?;
        }
        Ok(Fact {
            created: before
                .and_then(|before| before.created.clone())
                .or_else(|| Some(now.to_string())),
            updated: Some(now.to_string()),
            name,
            description,
            fact_type: self.fact_type,
            source: self.source,
            expires: self.expires,
            superseded_by: self.superseded_by,
            content,
        })
    }
}

impl Fact {
    /// Reads the file of this name.
    ///
    /// # Errors
    /// Its front matter is malformed, lacks a description, or says another name; something is hidden in it.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, Malformed> {
        if check_name(name).is_err() {
            let reason =
                format!("its name is not 1 to {NAME_MAX} lower-case letters, digits, `-` and `_`");
            return Err(Malformed { line: 1, reason });
        }
        let text = &text.replace("\r\n", "\n");
        if let Some(line) = hidden_line(text) {
            let reason = "it has a control character or an invisible character".to_owned();
            return Err(Malformed { line, reason });
        }
        let document = front_matter::split(text)?;
        let fields: Fields = document.fields()?;
        let line_of = |key: &str| {
            let start = format!("{key}:");
            let at = text.lines().position(|line| line.starts_with(&start));
            at.map_or(1, |at| at as u64 + 1)
        };
        let malformed = |key: &str, reason: &str| Malformed {
            line: line_of(key),
            reason: reason.to_owned(),
        };
        if fields.name.is_some_and(|said| said.trim() != name) {
            return Err(malformed("name", "its `name` is not the name of the file"));
        }
        let description = fields.description.unwrap_or_default().trim().to_owned();
        let letters = description.chars();
        if description.is_empty() || letters.clone().any(|letter| is_hidden(letter, false)) {
            let reason = "its front matter needs a `description` of one line";
            return Err(malformed("description", reason));
        }
        let expires = fields.expires;
        if expires.as_deref().is_some_and(|day| !is_day(day)) {
            return Err(malformed(
                "expires",
                "its `expires` is not a day `YYYY-MM-DD`",
            ));
        }
        let content = document.body.trim_matches('\n').trim_end();
        let short = |text: Option<String>| text.map(|text| text.chars().take(NAME_MAX).collect());
        Ok(Self {
            name: name.to_owned(),
            description: letters.take(DESCRIPTION_MAX).collect(),
            fact_type: fields.fact_type.unwrap_or_default(),
            created: short(fields.created),
            updated: short(fields.updated),
            source: short(fields.source),
            expires,
            superseded_by: short(fields.superseded_by),
            content: content.to_owned(),
        })
    }

    /// The whole file.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = "---\n".to_owned();
        let fields = [
            ("name", Some(self.name.as_str())),
            ("description", Some(&self.description)),
            ("type", Some(self.fact_type.as_str())),
            ("created", self.created.as_deref()),
            ("updated", self.updated.as_deref()),
            ("source", self.source.as_deref()),
            ("expires", self.expires.as_deref()),
            ("superseded_by", self.superseded_by.as_deref()),
        ];
        for (key, value) in fields {
            if let Some(value) = value {
                // A JSON string is a YAML string, whatever it looks like. Writing to a string cannot fail.
                let _ = writeln!(text, "{key}: {}", serde_json::json!(value));
            }
        }
        let _ = write!(text, "---\n\n{}\n", self.content);
        text
    }

    /// Whether it no longer holds on this day (`YYYY-MM-DD`): it has expired, or another fact replaces it.
    #[must_use]
    pub fn is_stale(&self, today: &str) -> bool {
        let expired = self.expires.as_deref().is_some_and(|day| day < today);
        expired || self.superseded_by.is_some()
    }

    /// Why it no longer holds, for a list. `None`: it holds.
    #[must_use]
    pub fn stale_mark(&self, today: &str) -> Option<String> {
        let superseded = self.superseded_by.as_ref();
        let superseded = superseded.map(|by| format!("superseded by {by}"));
        superseded.or_else(|| {
            let day = self.expires.as_deref().filter(|day| *day < today)?;
            Some(format!("expired on {day}"))
        })
    }
}

/// The day of a time, `YYYY-MM-DD`, UTC.
#[must_use]
pub fn day(now: Stamp) -> String {
    now.to_string().chars().take(10).collect()
}

/// Whether a text can be the name of a fact.
///
/// # Errors
/// It cannot, with the reason.
pub(crate) fn check_name(name: &str) -> Result<(), InvalidFact> {
    let fits = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_')
    };
    let starts = name.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    if starts && name.len() <= NAME_MAX && name.chars().all(fits) {
        return Ok(());
    }
    Err(InvalidFact(format!(
        "`{}` cannot be the name of a fact: use 1 to {NAME_MAX} lower-case letters, digits, `-` and `_`.",
        printable(name)
    )))
}

/// A text in an error.
fn printable(text: &str) -> String {
    let letters = text.chars().take(NAME_MAX);
    letters
        .map(|letter| {
            if is_hidden(letter, false) {
                '_'
            } else {
                letter
            }
        })
        .collect()
}

fn is_day(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        let part = bytes.get(range);
        part.is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let number = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse().ok());
    bytes.len() == 10
        && digits(0..4)
        && bytes.get(4) == Some(&b'-')
        && digits(5..7)
        && bytes.get(7) == Some(&b'-')
        && digits(8..10)
        && number(5..7).is_some_and(|month: u8| (1..=12).contains(&month))
        && number(8..10).is_some_and(|day: u8| (1..=31).contains(&day))
}

/// The first line, from 1, with a character that a reader would not see.
fn hidden_line(text: &str) -> Option<u64> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let at = text.find(|letter| is_hidden(letter, true))?;
    let before = text.get(..at).unwrap_or_default();
    Some(before.matches('\n').count() as u64 + 1)
}

/// Whether a reader would not see a character for what it is: controls, and what steers the direction of text or draws
/// nothing. Joiners and variation selectors are parts of words and pictures.
fn is_hidden(letter: char, lines: bool) -> bool {
    match letter {
        '\n' | '\t' => !lines,
        _ if letter.is_control() => true,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => true,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
