//! Rules that were allowed always: `<home>/projects/<slug>/permissions.toml`, one file a workspace.
//!
//! The user's own file: they may write into it, and every comment and the order of it stay. What a session adds is on
//! disk before it counts, and counts at once in all sessions of the workspace. A project's own files are never written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use contract::ToolSet;
use policy::List;
use proto::record::Rules;
use proto::{ErrorName, Failure};
use session::{Guards, PersistedRules};
use store::home::Home;
use toml_edit::{Array, Document, DocumentMut, Item, Table};

use super::read::line_of;
use super::{edit, read, rules};

/// The file of each workspace that was asked for.
pub struct PermissionFiles {
    home: Arc<Home>,
    /// The tools that rules may name.
    tools: ToolSet,
    files: Mutex<BTreeMap<PathBuf, Arc<WorkspaceRules>>>,
}

/// The rules kept for one workspace.
pub struct WorkspaceRules {
    home: Arc<Home>,
    tools: ToolSet,
    root: PathBuf,
    file: PathBuf,
    known: Mutex<CachedRules>,
    /// Held over reading the file and knowing it: whoever read it before a rule was taken back must not have the last
    /// word. Not `known` itself, which running sessions look at and must not wait for a disk.
    reading: Mutex<()>,
}

/// As the file was read last.
#[derive(Default)]
struct CachedRules {
    /// Counts its changes.
    number: u64,
    rules: Arc<Rules>,
    problems: Vec<String>,
}

impl PermissionFiles {
    pub fn new(home: Arc<Home>, tools: ToolSet) -> Self {
        Self {
            home,
            tools,
            files: Mutex::default(),
        }
    }

    /// The rules kept for the workspace with this root, read again. Blocks.
    pub fn of(&self, root: &Path) -> Arc<WorkspaceRules> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = files.entry(root.to_path_buf()).or_insert_with(|| {
            Arc::new(WorkspaceRules {
                file: self.home.project_dir(root).join("permissions.toml"),
                home: Arc::clone(&self.home),
                tools: self.tools.clone(),
                root: root.to_path_buf(),
                known: Mutex::default(),
                reading: Mutex::default(),
            })
        });
        let kept = Arc::clone(kept);
        drop(files);
        kept.read();
        kept
    }
}

impl PersistedRules for WorkspaceRules {
    fn in_force(&self) -> (u64, Arc<Rules>) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        (known.number, Arc::clone(&known.rules))
    }

    fn keep(&self, rule: &str) -> Result<(), Failure> {
        self.home.make_project_dir(&self.root).map_err(|fault| {
            Failure::new(
                ErrorName::Storage,
                format!("The rule cannot be kept: {}", store::reason(&fault)),
                "Allow it once, and look at the disk.",
            )
        })?;
        edit::change(&self.file, &[&["permissions", "allow"]], &|text| {
            let text = match text.trim().is_empty() {
                true => header(&self.root),
                false => text.to_owned(),
            };
            let mut document = edit::parse(&self.file, &text)?;
            add(&mut document, rule).map_err(|what| {
                edit::unusable(
                    &self.file,
                    format!("`{what}` is not what it should be there"),
                    "Fix that line.",
                )
            })?;
            Ok(document.to_string())
        })?;
        self.read();
        Ok(())
    }

    fn problems(&self) -> Vec<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.problems.clone()
    }

    fn origin(&self) -> String {
        self.file.display().to_string()
    }
}

impl WorkspaceRules {
    /// Takes a rule back; false: it is not there. Blocks.
    ///
    /// # Errors
    /// The file cannot be changed as it is, or not be written.
    pub fn forget(&self, rule: &str) -> Result<bool, Failure> {
        let found = edit::forget_rule(&self.file, rule)?;
        self.read();
        Ok(found)
    }

    fn read(&self) {
        let _one = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let (rules, problems) = read_file(&self.file, &self.tools);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if *known.rules != rules {
            known.number += 1;
            known.rules = Arc::new(rules);
        }
        known.problems = problems;
    }
}

fn header(root: &Path) -> String {
    format!(
        "# Rules that you always allowed in this directory and below:\n#   {}\n# `reasonix permissions list` lists them, `reasonix permissions revoke RULE` removes one.\n# You can edit this file; it counts from the next call on.\n\n[permissions]\nallow = [\n]\n",
        // A path may hold anything, and this is one line.
        root.display().to_string().escape_debug()
    )
}

/// Adds a rule to those that allow, at the end; or the obstacle.
fn add(document: &mut DocumentMut, rule: &str) -> Result<(), &'static str> {
    let table = document
        .entry("permissions")
        .or_insert(Item::Table(Table::new()));
    let table = table.as_table_like_mut().ok_or("permissions")?;
    let fresh = !table.contains_key("allow");
    let list = table
        .entry("allow")
        .or_insert(Item::Value(Array::new().into()));
    let list = list.as_array_mut().ok_or("permissions.allow")?;
    let same = |value: &toml_edit::Value| {
        let text = value.as_str();
        let text = text.or_else(|| value.as_inline_table()?.get("rule")?.as_str());
        text == Some(rule)
    };
    if list.iter().any(same) {
        return Ok(());
    }
    let lines = fresh
        || list.is_empty()
        || list
            .trailing()
            .as_str()
            .is_some_and(|end| end.contains('\n'));
    let mut value = toml_edit::Value::from(rule);
    if lines {
        // A comment after the last rule, or on separate lines, stays in its place.
        let before = list
            .trailing()
            .as_str()
            .unwrap_or_default()
            .trim_end()
            .to_owned();
        value.decor_mut().set_prefix(format!("{before}\n    "));
        list.set_trailing("\n");
        list.set_trailing_comma(true);
    } else {
        value.decor_mut().set_prefix(" ");
    }
    list.push_formatted(value);
    Ok(())
}

/// The rules of the file, and its problems. Nothing if there is none.
fn read_file(file: &Path, tools: &ToolSet) -> (Rules, Vec<String>) {
    let mut found = Rules::default();
    let place = file.display();
    let text = match read::no_link(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (found, Vec::new()),
        Err(error) => {
            found.deny.push(Guards::UNREAD.to_owned());
            return (found, vec![format!("{place}: cannot be read: {error}")]);
        }
    };
    let document = match Document::parse(text.as_str()) {
        Ok(document) => document,
        Err(error) => {
            found.deny.push(Guards::UNREAD.to_owned());
            return (found, vec![read::not_toml(file, &text, &error)]);
        }
    };
    let mut problems = Vec::new();
    for (name, item) in document.as_table() {
        let lists = item.as_table_like().filter(|_| name == "permissions");
        let Some(lists) = lists else {
            let line = line_of(&text, item.span().map_or(0, |span| span.start));
            problems.push(format!(
                "{place}:{line}: only `[permissions]` is read here; `{}` is ignored",
                super::near::shown(name)
            ));
            continue;
        };
        for (name, item) in lists.iter() {
            let line = line_of(&text, item.span().map_or(0, |span| span.start));
            let (list, into) = match name {
                "allow" => (List::Allow, &mut found.allow),
                "ask" => (List::Ask, &mut found.ask),
                "deny" => (List::Deny, &mut found.deny),
                other => {
                    let other = super::near::shown(other);
                    problems.push(format!("{place}:{line}: `{other}` is none of `allow`, `ask` and `deny`; it is ignored"));
                    continue;
                }
            };
            let mut refused = Vec::new();
            match rules::read(item, list, tools, &mut refused) {
                Ok(value) => into.extend(rules::texts(&value)),
                Err(allowed) => problems.push(format!(
                    "{place}:{line}: `{name}` must be {allowed}; all of it is ignored"
                )),
            }
            problems.extend(refused.into_iter().map(|refused| {
                format!(
                    "{place}:{}: {}",
                    line_of(&text, refused.offset),
                    refused.why
                )
            }));
        }
    }
    (found, problems)
}

#[cfg(test)]
mod tests;
