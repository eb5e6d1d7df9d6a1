//! The tools of a server as sessions get them: cleaned, bounded, and with a hash each. Kept on disk by the hash of the
//! server's configuration, so that the next session has them at once.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::name::name_tools;
use crate::prompt::{ListedPrompt, RawPrompt, listed_prompts};
use crate::schema;
use crate::text::{clean, cut};

/// Tools of one server.
const TOOLS_MAX: usize = 512;
/// Bytes of a tool's description.
const DESCRIPTION_MAX: usize = 8 * 1024;
/// Bytes of one schema.
const SCHEMA_MAX: usize = 64 * 1024;
/// Bytes of all schemas and descriptions of a server.
const TOTAL_MAX: usize = 1024 * 1024;
/// Problems of one server that are listed one by one.
const PROBLEMS_MAX: usize = 20;
/// The longest file of a listing that is read.
const FILE_MAX: u64 = 8 * 1024 * 1024;

/// A tool as its server lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTool {
    pub name: String,
    pub description: String,
    pub schema: Map<String, Value>,
    /// The server says that it changes nothing.
    pub read_only: bool,
}

/// What a server lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawTools {
    pub tools: Vec<RawTool>,
    /// Entries that are no tools.
    pub malformed: Vec<MalformedTool>,
}

/// An entry of a list of tools that is no tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalformedTool {
    /// Its name, or a text for its place in the list if it has none.
    pub name: String,
    pub reason: String,
}

/// A tool that sessions can have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedTool {
    /// The name that the model uses.
    pub name: String,
    /// The name that the server uses.
    pub tool: String,
    pub description: String,
    pub schema: Arc<Value>,
    pub read_only: bool,
    /// SHA-256 over name, description, schema and the server's configuration: what an approval is bound to.
    pub hash: String,
    /// Whether it lists and reads the resources of its server: not a tool of the server's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_resources: bool,
}

/// The tools of one server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Listing {
    pub tools: Vec<ListedTool>,
    /// Its prompts, as commands.
    #[serde(default)]
    pub prompts: Vec<ListedPrompt>,
    /// Tools and prompts that were left out, and why.
    pub problems: Vec<String>,
}

impl Listing {
    /// From what a server lists. `config_hash`: of its configuration.
    #[must_use]
    pub fn new(server: &str, config_hash: &str, raw: &[RawTool]) -> Self {
        let names: Vec<_> = raw.iter().map(|tool| &*tool.name).collect();
        let (names, mut problems) = name_tools(server, &names);
        let mut tools = Vec::new();
        let mut total = 0;
        for (tool, name) in raw.iter().zip(names) {
            let Some(name) = name else { continue };
            let left_out = |reason: &str| {
                format!(
                    "the tool {:?} of the MCP server `{server}` is left out: {reason}",
                    tool.name
                )
            };
            if tool.name.trim().is_empty() {
                problems.push(left_out("it has no name"));
                continue;
            }
            let schema = match schema::usable(&tool.schema) {
                Ok(schema) => schema,
                Err(reason) => {
                    problems.push(left_out(&reason));
                    continue;
                }
            };
            let description = clean(&tool.description);
            let description = cut(&description, DESCRIPTION_MAX).0.to_owned();
            let text = schema.to_string();
            if text.len() > SCHEMA_MAX {
                problems.push(left_out(&format!(
                    "its schema has {} bytes; the limit is {SCHEMA_MAX}",
                    text.len()
                )));
                continue;
            }
            if tools.len() == TOOLS_MAX || total + text.len() + description.len() > TOTAL_MAX {
                problems.push(format!(
                    "the MCP server `{server}` lists more than a session can take ({TOOLS_MAX} tools, {TOTAL_MAX} bytes): those after `{}` are left out",
                    tools.last().map_or("", |tool: &ListedTool| &tool.tool),
                ));
                break;
            }
            total += text.len() + description.len();
            let mut hasher = Sha256::new();
            for part in [&*tool.name, &*description, &*text, config_hash] {
                hasher.update((part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
            tools.push(ListedTool {
                name,
                tool: tool.name.clone(),
                description,
                schema: Arc::new(schema),
                read_only: tool.read_only,
                hash: hex::encode(hasher.finalize()),
                of_resources: false,
            });
        }
        Self {
            tools,
            prompts: Vec::new(),
            problems,
        }
    }

    /// The same without these entries.
    #[must_use]
    pub fn with_malformed(mut self, server: &str, malformed: &[MalformedTool]) -> Self {
        let left_out = malformed.iter().map(|tool| {
            format!(
                "the tool {:?} of the MCP server `{server}` is left out: {}",
                tool.name, tool.reason
            )
        });
        self.problems.extend(left_out);
        self
    }

    /// The same with the first problems, and the number of the others.
    #[must_use]
    pub fn with_bounded_problems(mut self, server: &str) -> Self {
        let more = self.problems.len().saturating_sub(PROBLEMS_MAX);
        if more > 0 {
            self.problems.truncate(PROBLEMS_MAX);
            self.problems.push(format!(
                "{more} more tools or prompts of the MCP server `{server}` are left out"
            ));
        }
        self
    }

    /// The same with the prompts of the server.
    #[must_use]
    pub fn with_prompts(mut self, server: &str, raw: &[RawPrompt]) -> Self {
        let (prompts, problems) = listed_prompts(server, raw);
        self.prompts = prompts;
        self.problems.extend(problems);
        self
    }

    /// The same with a tool for the resources of the server, unless the server has one of that name.
    #[must_use]
    pub fn with_resources(mut self, server: &str, config_hash: &str) -> Self {
        let tool = RawTool {
            name: "resources".to_owned(),
            description: format!(
                "The resources of the MCP server `{server}`. Without `uri`: a list of them. With it: the content of one."
            ),
            schema: Map::from_iter([(
                "properties".to_owned(),
                json!({"uri": {"type": "string", "description": "URI from the list"}}),
            )]),
            read_only: true,
        };
        let own = Self::new(server, config_hash, std::slice::from_ref(&tool)).tools;
        let own = own.into_iter().map(|tool| ListedTool {
            of_resources: true,
            ..tool
        });
        let own: Vec<_> = own.filter(|tool| self.get(&tool.name).is_none()).collect();
        self.tools.extend(own);
        self
    }

    /// The tool that the model calls by this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ListedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The listing that was kept in this directory. A missing or damaged file is as none.
    #[must_use]
    pub fn load(dir: &Path, config_hash: &str) -> Option<Self> {
        let file = dir.join(format!("{config_hash}.json"));
        if fs::metadata(&file).ok()?.len() > FILE_MAX {
            return None;
        }
        serde_json::from_slice(&fs::read(file).ok()?).ok()
    }

    /// Keeps it. Another process never sees half of it.
    ///
    /// # Errors
    /// The directory does not take it.
    pub fn store(&self, dir: &Path, config_hash: &str) -> std::io::Result<()> {
        let text = serde_json::to_vec(self)?;
        crate::disk::write_private(dir, &format!("{config_hash}.json"), &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(name: &str, schema: &Value) -> RawTool {
        RawTool {
            name: name.to_owned(),
            description: "does \u{1b}[31mit".to_owned(),
            schema: schema.as_object().cloned().unwrap_or_default(),
            read_only: false,
        }
    }

    #[test]
    fn a_schema_that_providers_would_refuse_costs_its_tool_only() {
        let deep = (0..40).fold(
            json!({}),
            |inner, _| json!({"type": "object", "properties": {"a": inner}}),
        );
        let listing = Listing::new(
            "s",
            "c",
            &[
                raw(
                    "good",
                    &json!({"type": "object", "properties": {"b": {"type": "string"}, "a": {}}}),
                ),
                raw("bare", &json!({})),
                raw("list", &json!({"type": "array"})),
                raw("odd", &json!({"properties": {"a": 7}})),
                raw("need", &json!({"required": "a"})),
                raw("deep", &deep),
                raw("", &json!({})),
                raw("key", &json!({"properties": {"a b": {}}})),
                raw("large", &json!({"description": "x".repeat(SCHEMA_MAX)})),
            ],
        );
        let names: Vec<_> = listing.tools.iter().map(|tool| &*tool.tool).collect();
        assert_eq!(names, ["good", "bare"]);
        assert_eq!(listing.problems.len(), 7, "{:?}", listing.problems);
        let good = listing.get("mcp__s__good").unwrap();
        assert_eq!(good.description, "does it");
        assert_eq!(
            good.schema.to_string(),
            r#"{"properties":{"a":{},"b":{"type":"string"}},"type":"object"}"#
        );
    }

    #[test]
    fn problems_of_a_server_are_bounded_and_the_others_counted() {
        let same: Vec<_> = (0..20_000).map(|_| raw("same", &json!({}))).collect();
        let malformed = [MalformedTool {
            name: "unfinished".to_owned(),
            reason: "missing field `inputSchema`".to_owned(),
        }];
        let listing = Listing::new("s", "c", &same)
            .with_malformed("s", &malformed)
            .with_bounded_problems("s");
        assert_eq!(listing.tools.len(), 1);
        assert_eq!(listing.problems.len(), PROBLEMS_MAX + 1);
        let last = listing.problems.last().unwrap();
        assert!(last.starts_with("19980 more tools"), "{last}");
    }

    #[test]
    fn a_change_of_anything_changes_the_hash() {
        let hash = |description: &str, schema: Value, config: &str| {
            let tool = RawTool {
                description: description.to_owned(),
                ..raw("t", &schema)
            };
            let listing = Listing::new("s", config, &[tool]);
            listing.tools.first().unwrap().hash.clone()
        };
        let first = hash("a", json!({}), "c");
        assert_eq!(first, hash("a", json!({}), "c"));
        assert_ne!(first, hash("b", json!({}), "c"));
        assert_ne!(first, hash("a", json!({"properties": {"x": {}}}), "c"));
        assert_ne!(first, hash("a", json!({}), "d"));
    }

    #[test]
    fn a_listing_is_kept_and_a_damaged_one_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let listing = Listing::new("s", "c", &[raw("t", &json!({}))]);
        assert_eq!(Listing::load(dir.path(), "c"), None);
        listing.store(dir.path(), "c").unwrap();
        assert_eq!(Listing::load(dir.path(), "c"), Some(listing));
        fs::write(dir.path().join("c.json"), "{").unwrap();
        assert_eq!(Listing::load(dir.path(), "c"), None);
    }
}
