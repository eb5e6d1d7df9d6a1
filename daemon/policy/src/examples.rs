//! Examples of a rule: calls that it should match, and calls that it should not.
//!
//! Checked when rules are loaded, with the code that later decides. So a rule that does not do what its author intended
//! is found early. Called by the code that loads rules.

use std::path::PathBuf;

use contract::{ArgumentUse, Basis, Family, ToolSpec};
use proto::record::{Rules, Verdict};
use proto::state::ApprovalMode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::{Call, subjects};
use contract::{EffectivePermissions, SandboxStrength};

use crate::context::{Context, ResolvedPath};
use crate::decide::decide;
use crate::files;
use crate::names::KnownTools;
use crate::rule::{self, List, RuleProblem, Target};
use crate::ruleset::{Layer, RuleSet};

/// A rule with its examples. Each is a command line, a path, a URL or a tool name, depending on the rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Examples {
    pub rule: String,
    pub list: List,
    /// Calls that the rule should match.
    #[serde(default, rename = "match", skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    /// Calls that it should not match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_match: Vec<String>,
}

const ROOT: &str = "/workspace";
const HOME: &str = "/home/you";

impl Examples {
    /// Checks the examples; one problem for each that fails. A rule that cannot be parsed is reported by
    /// [`RuleSet::parse`] and not again here.
    #[must_use]
    pub fn check(&self, layer: Layer, tools: &[&ToolSpec]) -> Vec<RuleProblem> {
        let Ok(parsed) = rule::parse(&self.rule, self.list, KnownTools(tools)) else {
            return Vec::new();
        };
        let wanted = self.matches.iter().map(|example| (example, true));
        let unwanted = self.not_match.iter().map(|example| (example, false));
        wanted
            .chain(unwanted)
            .filter_map(|(example, wanted)| {
                let matched = self.matches(&parsed.target, example, tools);
                let reason = match (matched, wanted) {
                    (true, true) | (false, false) => return None,
                    (false, true) => format!("it does not match its example `{example}`"),
                    (true, false) => format!("it matches `{example}`, which it is not to"),
                };
                Some(RuleProblem {
                    layer,
                    list: self.list,
                    text: self.rule.clone(),
                    fault: reason.clone(),
                    reason,
                })
            })
            .collect()
    }

    /// Whether the rule alone decides about the example.
    fn matches(&self, target: &Target, example: &str, tools: &[&ToolSpec]) -> bool {
        let mut rules = Rules::default();
        let list = match self.list {
            List::Allow => &mut rules.allow,
            List::Ask => &mut rules.ask,
            List::Deny => &mut rules.deny,
        };
        list.push(self.rule.clone());
        let set = RuleSet::parse(&[(Layer::User, &rules, true)], tools).0;
        let (tool, arguments) = call(target, example);
        let call = Call {
            tool: &tool,
            arguments: &arguments,
            touches: &[],
        };
        let decision = decide(&set, &context(&call), &call);
        let verdict = match self.list {
            List::Allow => Verdict::Allow,
            List::Ask => Verdict::Ask,
            List::Deny => Verdict::Deny,
        };
        decision.verdict == verdict && decision.basis == Basis::Rule
    }
}

/// The call of an example: only the argument that the rule is about.
fn call(target: &Target, example: &str) -> (ToolSpec, Map<String, Value>) {
    let (family, stands_for) = match target {
        Target::Bash => (Family::Bash, ArgumentUse::Command),
        Target::Edit => (Family::Edit, ArgumentUse::Edit),
        Target::Read => (Family::Read, ArgumentUse::Read),
        Target::WebFetch => (Family::WebFetch, ArgumentUse::Url),
        Target::WebSearch
        | Target::Task
        | Target::Memory
        | Target::Mcp
        | Target::McpServer(_)
        | Target::Tool(_)
        | Target::Unknown => {
            let tool = ToolSpec::new(example.trim(), "", Value::Null, Family::Session);
            return (tool, Map::new());
        }
    };
    let tool = ToolSpec {
        shallow: true,
        ..ToolSpec::new("example", "", Value::Null, family).with_arguments(&[("is", stands_for)])
    };
    let arguments = Map::from_iter([("is".to_owned(), Value::from(example))]);
    (tool, arguments)
}

/// A fictitious workspace in which paths are resolved by their text.
fn context(call: &Call<'_>) -> Context {
    let (root, home) = (PathBuf::from(ROOT), PathBuf::from(HOME));
    let paths = subjects(call)
        .paths
        .into_iter()
        .map(|subject| ResolvedPath {
            absolute: Some(files::lexical(&subject.text, &root, &home)),
            writable: true,
            protected: false,
            masked: false,
            denied: false,
            holds_closed: false,
            directory: false,
            unkept: false,
            error: None,
            text: subject.text,
            access: subject.access,
        });
    Context {
        paths: paths.collect(),
        root: root.clone(),
        cwd: root.clone(),
        user_home: home.clone(),
        altered: Vec::new(),
        git_programs: Vec::new(),
        masked: Vec::new(),
        approval_mode: ApprovalMode::Ask,
        effective_permissions: EffectivePermissions::default(),
        sandbox: SandboxStrength::Full,
        leaks: false,
        unconfined: None,
        trusted: true,
    }
}
