//! The allowed values of a key, and their meaning in the file: paths are made absolute here. Called by `layers` and `edit`.

use std::path::{Component, Path, PathBuf};

use contract::ToolSet;
use globset::GlobBuilder;
use proto::near::nearest;
use serde_json::Value;
use toml_edit::Item;

use super::near::{hint, shown};
use super::rules;
use super::schema::Kind;

/// What the meaning of a value depends on.
pub struct ValueContext<'a> {
    /// The directory of the file that sets it: relative paths start from it.
    pub directory: &'a Path,
    pub user_home: &'a Path,
    /// The tools that settings may name.
    pub tools: &'a ToolSet,
}

/// An entry of a list that does not count; the others do.
pub struct Refused {
    /// Its position in its file, in bytes.
    pub offset: usize,
    pub why: String,
    /// It counts all the same: its mistake is only reported.
    pub holds: bool,
}

/// The value as JSON, or the allowed values.
pub fn of(
    kind: Kind,
    item: &Item,
    context: &ValueContext<'_>,
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
        Kind::Tools => list(item, "names of tools", refused, &|name| {
            tool(name, context.tools)
        }),
        Kind::Rules(in_list) => rules::read(item, in_list, context.tools, refused),
        Kind::Place => {
            let text = item.as_str().ok_or("a directory path")?;
            place(text, context)
                .map(Value::from)
                .map_err(|why| format!("a directory: {why}"))
        }
        Kind::File => {
            let text = item.as_str().ok_or("a file path")?;
            place(text, context)
                .map(Value::from)
                .map_err(|why| format!("a file: {why}"))
        }
        Kind::Places => list(item, "paths", refused, &|text| place(text, context)),
        Kind::Globs => list(item, "globs", refused, &glob),
        Kind::Variables => list(item, "names of variables", refused, &variable),
        Kind::Skills => list(item, "names of skills", refused, &skill),
        Kind::AgentModels => agent_models(item),
        Kind::Commands => list(item, "shell commands", refused, &command),
    }
}

/// A number with or without a fraction, as it was written.
#[allow(clippy::cast_precision_loss, reason = "bounds are small")]
fn decimal(item: &Item, min: i64, max: i64) -> Option<Value> {
    if let Some(whole) = item.as_integer() {
        return (min..=max).contains(&whole).then(|| Value::from(whole));
    }
    // Neither infinity nor NaN is within bounds.
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

/// A directory as an absolute path.
pub fn directory(text: &str, context: &ValueContext<'_>) -> Result<PathBuf, String> {
    place(text, context).map(PathBuf::from)
}

/// A file or directory as an absolute path. One that is, or leads to, `/` would open the whole file system.
fn place(text: &str, context: &ValueContext<'_>) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("it must not be empty".to_owned());
    }
    let written = match text.strip_prefix('~') {
        Some("") => context.user_home.to_path_buf(),
        Some(rest) if rest.starts_with('/') => context.user_home.join(rest.trim_start_matches('/')),
        Some(_) => return Err("`~` works only for your own home".to_owned()),
        None => context.directory.join(text),
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

/// Without `.` and `..`, by the text alone; a `..` after a link is resolved by the file system instead.
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
        return Err("a glob must not be empty".to_owned());
    }
    match GlobBuilder::new(text).literal_separator(true).build() {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!("not a valid glob: {}", error.kind())),
    }
}

fn tool(name: &str, known: &ToolSet) -> Result<String, String> {
    match known.get(name) {
        Some(_) => Ok(name.to_owned()),
        None => Err(format!(
            "unknown tool `{}`{}",
            shown(name),
            hint(&nearest(name, known.names()))
        )),
    }
}

/// The skills that there are differ from directory to directory: only an empty name is wrong.
/// Names of agents with their models.
fn agent_models(item: &Item) -> Result<Value, String> {
    let what = || "a table of agents and their models, `{ explore = \"MODEL\" }`".to_owned();
    let table = item.as_table_like().ok_or_else(what)?;
    let models = table.iter().map(|(name, item)| {
        let model = item.as_str().map(str::trim);
        let model = model.filter(|model| !model.is_empty());
        model.map(|model| (name.to_owned(), Value::from(model)))
    });
    let models: Option<serde_json::Map<_, _>> = models.collect();
    models.map(Value::from).ok_or_else(what)
}

fn skill(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("the name of a skill must not be empty".to_owned()),
        name => Ok(name.to_owned()),
    }
}

fn command(text: &str) -> Result<String, String> {
    match text.trim().is_empty() || text.contains('\0') {
        true => Err("a command must not be empty or contain a zero byte".to_owned()),
        false => Ok(text.to_owned()),
    }
}

fn variable(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '*');
    match !text.is_empty() && text.chars().all(fits) {
        true => Ok(text.to_owned()),
        false => {
            Err("a variable name has letters, digits and `_`; `*` matches any of them".to_owned())
        }
    }
}
