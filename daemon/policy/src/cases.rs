//! Runs permission cases. Each is one call, under rules, in a fictitious workspace: paths are resolved by their text
//! alone, and commands count as fully sandboxed. The header of a file of cases describes their format.
//!
//! `permissions check`, our own corpus and the examples all run cases with this module.

use std::path::{Path, PathBuf};

use contract::{ArgumentUse, Basis, Family, SandboxStrength, ToolSpec};
use proto::item::ToolKind;
use proto::record::{Rules, Verdict};
use proto::state::ApprovalMode;
use serde_json::{Map, Value};

use crate::call::{Access, Call, is_mcp, subjects};
use crate::context::{Context, ResolvedPath};
use crate::decide::explain;
use crate::explain::Explanation;
use crate::ruleset::{Layer, RuleSet};

const ROOT: &str = "/user/someone/project";

/// Maximum size of a case's arguments in bytes, with pieces and repetitions expanded.
const ARGUMENTS_MAX: usize = 8 * 1024 * 1024;
/// Maximum rules that a case may generate.
const GENERATED_MAX: u64 = 1_000_000;

/// Whether a path below the workspace configures the agent, its repository, an editor or a shell. Supplied by
/// `workspace`.
pub type IsProtected = fn(&Path) -> bool;

/// The result of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseResult {
    pub id: String,
    pub tier: String,
    /// `error` if the case is malformed.
    pub verdict: &'static str,
    /// The rule that decided, or the reason if none did.
    pub rule: String,
    pub ok: bool,
    /// Whether the call is ordinary work, which should be allowed.
    pub honest: bool,
    /// Whether allowing the call would be a security hole.
    pub hostile: bool,
}

/// Runs one case. A malformed case never passes; its `rule` says what is wrong.
#[must_use]
pub fn run(case: &Value, is_protected: IsProtected, tools: &[&ToolSpec]) -> CaseResult {
    let accept = list(&case["accept"]);
    let (verdict, rule) = match broken(case, &accept) {
        Some(why) => ("error", why),
        None => judge(case, is_protected, tools),
    };
    CaseResult {
        id: case["id"].as_str().unwrap_or_default().to_owned(),
        tier: case["tier"].as_str().unwrap_or_default().to_owned(),
        ok: accept.iter().any(|right| right == verdict),
        honest: accept == ["allow"] || case["tier"] == "usability",
        hostile: matches!(case["tier"].as_str(), None | Some("core" | "hard"))
            && !accept.iter().any(|right| right == "allow"),
        verdict,
        rule,
    }
}

/// Why a case is malformed; `None`: it is not.
fn broken(case: &Value, accept: &[String]) -> Option<String> {
    let known = |word: &String| matches!(word.as_str(), "allow" | "ask" | "deny");
    if !case.is_object() {
        return Some("a case is a JSON object".to_owned());
    }
    if case["tool"].as_str().is_none_or(str::is_empty) {
        return Some("it names no `tool`".to_owned());
    }
    if accept.is_empty() || !accept.iter().all(known) {
        return Some("`accept` is a list of `allow`, `ask` and `deny`".to_owned());
    }
    if case["rules_generated"].as_u64().unwrap_or(0) > GENERATED_MAX {
        return Some(format!("`rules_generated` may be {GENERATED_MAX} at most"));
    }
    let pieces = case["args_parts"].as_object().into_iter().flatten();
    let bytes = pieces.flat_map(|(_, pieces)| pieces.as_array().into_iter().flatten());
    let bytes = bytes.map(|piece| {
        let text = piece[0].as_str().unwrap_or_default();
        times(piece).saturating_mul(text.len())
    });
    if bytes.fold(0_usize, usize::saturating_add) > ARGUMENTS_MAX {
        return Some(format!(
            "its arguments are longer than {ARGUMENTS_MAX} bytes"
        ));
    }
    None
}

fn times(piece: &Value) -> usize {
    usize::try_from(piece[1].as_u64().unwrap_or(0)).unwrap_or(usize::MAX)
}

fn list(value: &Value) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn rules(value: &Value) -> Rules {
    Rules {
        allow: list(&value["allow"]),
        ask: list(&value["ask"]),
        deny: list(&value["deny"]),
    }
}

fn judge(case: &Value, is_protected: IsProtected, tools: &[&ToolSpec]) -> (&'static str, String) {
    if mode(case) == Some("plan") && !tool(case, tools).read_only {
        return ("deny", "plan mode".to_owned());
    }
    let changed = &case["context"]["mcp"]["definition_changed_since_approval"];
    let Some(explanation) = explained(case, is_protected, tools) else {
        return ("deny", "arguments".to_owned());
    };
    if changed == &Value::Bool(true) {
        return ("ask", "definition changed".to_owned());
    }
    let decision = explanation.decision;
    // In this mode no client is attached.
    let unattended = case["mode"] == "deny" && decision.basis != Basis::Rule;
    match decision.verdict {
        Verdict::Ask if unattended => ("deny", decision.rule),
        verdict => (verdict.as_str(), decision.rule),
    }
}

/// The tool of a case: one of `tools`, or a fictitious one whose behaviour is derived from its arguments.
fn tool(case: &Value, tools: &[&ToolSpec]) -> ToolSpec {
    let name = case["tool"].as_str().unwrap_or_default();
    let known = tools.iter().find(|tool| *tool.name == *name);
    let mut tool = known.map_or_else(|| guessed(case), |tool| (*tool).clone());
    // A server's own statements count only if the user configured the server.
    let mcp = &case["context"]["mcp"];
    let own = mcp["scope"].as_str().is_none_or(|scope| scope == "user");
    let read_only = case["read_only"].as_bool().unwrap_or(tool.read_only);
    tool.read_only =
        read_only && tool.family != Family::Bash && own && mcp["trusted"] != Value::Bool(false);
    // What it asks, only a person answers.
    tool.person_only |= tool.kind == ToolKind::Ask && !tool.read_only;
    tool
}

/// Whether the arguments that the tool's schema describes are of its types: a tool refuses others before they are judged.
fn have_right_types(tool: &ToolSpec, arguments: &Map<String, Value>) -> bool {
    arguments.iter().all(
        |(name, value)| match tool.schema["properties"][name]["type"].as_str() {
            Some("string") => value.is_string(),
            Some("integer" | "number") => value.is_number(),
            Some("boolean") => value.is_boolean(),
            Some("array") => value.is_array(),
            Some("object") => value.is_object(),
            Some(_) | None => true,
        },
    )
}

fn guessed(case: &Value) -> ToolSpec {
    let has = |name: &str| case["args"].get(name).is_some();
    let reads = case["read_only"] == Value::Bool(true);
    let (family, arguments): (_, &[(&str, ArgumentUse)]) = if has("url") {
        (Family::WebFetch, &[("url", ArgumentUse::Url)])
    } else if !has("path") && !has("file_path") {
        (Family::Session, &[])
    } else if reads {
        (Family::Read, &[("path", ArgumentUse::Read)])
    } else {
        (Family::Edit, &[("path", ArgumentUse::Edit)])
    };
    let name = case["tool"].as_str().unwrap_or_default();
    let tool = ToolSpec::new(name, "", Value::Null, family).with_arguments(arguments);
    ToolSpec {
        // The behaviour of such a tool is unknown.
        person_only: family == Family::Session && !reads && !is_mcp(name),
        ..tool
    }
}

/// Renames the path arguments of a call to the names that the tool uses.
fn canonical(tool: &ToolSpec, arguments: Map<String, Value>) -> Map<String, Value> {
    let renamed = |(name, value): (String, Value)| {
        let known = |name: &str| tool.arguments.iter().any(|(known, _)| known == name);
        let other = match name.as_str() {
            "file_path" => "path",
            "source_path" => "source",
            "destination_path" => "destination",
            _ => return (name, value),
        };
        match known(other) {
            true => (other.to_owned(), value),
            false => (name, value),
        }
    };
    arguments.into_iter().map(renamed).collect()
}

/// The explanation of a case's call; `None` if its arguments are malformed.
#[must_use]
pub fn explained(
    case: &Value,
    is_protected: IsProtected,
    tools: &[&ToolSpec],
) -> Option<Explanation> {
    let tool = tool(case, tools);
    let arguments = canonical(&tool, arguments(case)?);
    if !have_right_types(&tool, &arguments) {
        return None;
    }
    let mut own = rules(&case["rules"]);
    let generated = case["rules_generated"].as_u64().unwrap_or(0);
    own.allow
        .extend((0..generated).map(|n| format!("Bash(tool-{n}:*)")));
    let layers = [
        (Layer::Run, own, true),
        (Layer::User, rules(&case["layers"]["user"]), true),
        (
            Layer::Project,
            rules(&case["layers"]["project"]),
            case["layers"]["project_trusted"].as_bool().unwrap_or(false),
        ),
    ];
    let layers: Vec<(Layer, &Rules, bool)> = layers
        .iter()
        .map(|(layer, rules, trusted)| (*layer, rules, *trusted))
        .collect();
    let rules = RuleSet::parse(&layers, tools).0;
    let call = Call {
        tool: &tool,
        arguments: &arguments,
        touches: &[],
    };
    let context = Context {
        paths: subjects(&call)
            .paths
            .iter()
            .map(|subject| resolve(&subject.text, subject.access, is_protected))
            .collect(),
        root: PathBuf::from(ROOT),
        cwd: PathBuf::from(ROOT),
        user_home: PathBuf::from("/user/someone"),
        altered: Vec::new(),
        git_programs: Vec::new(),
        approval_mode: match mode(case) {
            Some("yolo") => ApprovalMode::Yolo,
            Some("auto") => ApprovalMode::Auto,
            // The mode applies to calls that no rule covers, like this approval mode.
            _ if case["mode"] == "allow" => ApprovalMode::Auto,
            _ => ApprovalMode::Ask,
        },
        effective_permissions: contract::EffectivePermissions::default(),
        sandbox: SandboxStrength::Full,
        leaks: false,
        unconfined: None,
        masked: Vec::new(),
        trusted: true,
    };
    Some(explain(&rules, &context, &call))
}

fn arguments(case: &Value) -> Option<Map<String, Value>> {
    if let Some(raw) = case["args_raw"].as_str() {
        return serde_json::from_str::<Unique>(raw)
            .ok()
            .map(|unique| unique.0);
    }
    if let Some(parts) = case["args_parts"].as_object() {
        return Some(
            parts
                .iter()
                .map(|(key, pieces)| (key.clone(), Value::String(pieces_of(pieces))))
                .collect(),
        );
    }
    let text = case["args"].to_string().replace("${WS}", ROOT);
    serde_json::from_str(&text).ok()
}

fn pieces_of(pieces: &Value) -> String {
    let mut text = String::new();
    for piece in pieces.as_array().into_iter().flatten() {
        text.push_str(&piece[0].as_str().unwrap_or_default().repeat(times(piece)));
    }
    text
}

fn resolve(text: &str, access: Access, is_protected: IsProtected) -> ResolvedPath {
    let start = match text.strip_prefix('~') {
        Some(rest) => PathBuf::from(format!("/user/someone{rest}")),
        None => Path::new(ROOT).join(text),
    };
    let absolute = path_clean::clean(start);
    let inside = absolute.starts_with(ROOT);
    let error = text
        .contains('\0')
        .then(|| "the path holds a zero byte".to_owned());
    ResolvedPath {
        text: text.to_owned(),
        access,
        protected: is_protected(absolute.strip_prefix(ROOT).unwrap_or(&absolute)),
        absolute: Some(absolute),
        writable: inside,
        masked: false,
        denied: false,
        holds_closed: false,
        directory: false,
        unkept: false,
        error,
    }
}

/// A JSON object without duplicate keys: readers differ in which duplicate they use.
struct Unique(Map<String, Value>);

impl<'de> serde::Deserialize<'de> for Unique {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> serde::de::Visitor<'de> for UniqueVisitor {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(
        self,
        mut access: A,
    ) -> Result<Self::Value, A::Error> {
        let mut map = Map::new();
        while let Some((key, value)) = access.next_entry::<String, Value>()? {
            if map.insert(key, value).is_some() {
                return Err(serde::de::Error::custom("a key stands twice"));
            }
        }
        Ok(map)
    }
}

/// The approval mode of a case. Collections of cases that were written elsewhere call it `posture`.
fn mode(case: &Value) -> Option<&str> {
    let mut names = ["approval_mode", "posture"].into_iter();
    names.find_map(|name| case[name].as_str())
}
