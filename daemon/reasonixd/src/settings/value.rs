//! What a key's value may be, and what it means where it stands: paths are made absolute here. Called by `layers`.

use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;
use serde_json::Value;
use toml_edit::Item;

use super::rules;
use super::schema::Kind;

/// The directories that relative paths and `~` start from.
pub struct BaseDirectories<'a> {
    /// The directory of the file that sets it.
    pub directory: &'a Path,
    pub user_home: &'a Path,
}

/// An entry of a list that does not count; the others do.
pub struct Refused {
    /// Where it stands in its file, in bytes.
    pub offset: usize,
    pub why: String,
    /// It counts all the same: its mistake is only reported.
    pub holds: bool,
}

/// The value as JSON, or what is allowed.
pub fn of(
    kind: Kind,
    item: &Item,
    base: &BaseDirectories<'_>,
    refused: &mut Vec<Refused>,
) -> Result<Value, String> {
    match kind {
        Kind::Text => item
            .as_str()
            .map(Value::from)
            .ok_or_else(|| "a text".to_owned()),
        Kind::Flag => item
            .as_bool()
            .map(Value::from)
            .ok_or_else(|| "true or false".to_owned()),
        Kind::Word(words) => {
            let written = item.as_str().map(str::to_owned);
            // `16` is typed as the number that it looks like.
            let written = written.or_else(|| item.as_integer().map(|number| number.to_string()));
            let word = written.filter(|word| words.contains(&word.as_str()));
            word.map(Value::from)
                .ok_or_else(|| format!("one of {}", words.join(", ")))
        }
        Kind::Number { min, max } => {
            let number = item
                .as_integer()
                .filter(|number| (min..=max).contains(number));
            number
                .map(Value::from)
                .ok_or_else(|| format!("a whole number from {min} to {max}"))
        }
        Kind::Decimal { min, max } => decimal(item, min, max)
            .ok_or_else(|| format!("a number from {min} to {max}, with or without a fraction")),
        Kind::Texts => list(item, "texts", refused, &|text| Ok(text.to_owned())),
        Kind::Rules(in_list) => rules::read(item, in_list, refused),
        Kind::Place => {
            let text = item.as_str().ok_or("a text that names a directory")?;
            place(text, base)
                .map(Value::from)
                .map_err(|why| format!("a directory: {why}"))
        }
        Kind::Places => list(item, "texts that name directories", refused, &|text| {
            place(text, base)
        }),
        Kind::Globs => list(item, "globs", refused, &glob),
        Kind::Variables => list(item, "names of variables", refused, &variable),
    }
}

/// A number with or without a fraction, as it was written.
#[allow(clippy::cast_precision_loss, reason = "bounds are small")]
fn decimal(item: &Item, min: i64, max: i64) -> Option<Value> {
    if let Some(whole) = item.as_integer() {
        return (min..=max).contains(&whole).then(|| Value::from(whole));
    }
    // Neither infinity nor what is no number is within bounds.
    let number = item.as_float()?;
    (min as f64..=max as f64)
        .contains(&number)
        .then(|| Value::from(number))
}

fn list(
    item: &Item,
    of_what: &str,
    refused: &mut Vec<Refused>,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Value, String> {
    let array = item
        .as_array()
        .filter(|array| array.iter().all(|value| value.as_str().is_some()))
        .ok_or_else(|| format!("a list of {of_what}"))?;
    let mut values = Vec::new();
    for value in array {
        match read(value.as_str().unwrap_or_default()) {
            Ok(text) => values.push(Value::from(text)),
            Err(why) => refused.push(Refused {
                offset: value.span().map_or(0, |span| span.start),
                why,
                holds: false,
            }),
        }
    }
    Ok(values.into())
}

/// A directory as an absolute path. One that is, or leads to, `/` would open the whole file system.
fn place(text: &str, base: &BaseDirectories<'_>) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("an empty text names none".to_owned());
    }
    let written = match text.strip_prefix('~') {
        Some("") => base.user_home.to_path_buf(),
        Some(rest) if rest.starts_with('/') => base.user_home.join(rest.trim_start_matches('/')),
        Some(_) => return Err("the homes of others cannot be named with `~`".to_owned()),
        None => base.directory.join(text),
    };
    let path = written.canonicalize().unwrap_or_else(|_| plain(&written));
    if !path.is_absolute() || path == Path::new("/") {
        return Err("not `/`, which is the whole file system".to_owned());
    }
    // As it is written: the workspace resolves links itself, when it opens the place.
    plain(&written)
        .into_os_string()
        .into_string()
        .map_err(|_| "its path is not UTF-8".to_owned())
}

/// Without `.` and `..`, by the text alone; a `..` behind a link is resolved by the file system instead.
fn plain(path: &Path) -> PathBuf {
    if let (true, Ok(real)) = (
        path.components().any(|part| part == Component::ParentDir),
        path.canonicalize(),
    ) {
        return real;
    }
    path_clean::clean(path)
}

fn glob(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("an empty glob names nothing".to_owned());
    }
    match GlobBuilder::new(text).literal_separator(true).build() {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!("no glob: {}", error.kind())),
    }
}

fn variable(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '*');
    match !text.is_empty() && text.chars().all(fits) {
        true => Ok(text.to_owned()),
        false => Err(
            "a name of a variable has letters, digits and `_`; `*` stands for any of them"
                .to_owned(),
        ),
    }
}
