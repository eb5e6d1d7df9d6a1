//! Examples that stand beside a rule: calls that it is to match, and calls that it is not.
//!
//! Checked when rules are loaded, by the engine that will decide, so that a rule which does not say what its author
//! thinks is found before it is needed. Called by whoever loads rules.

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

/// A rule with its examples: a command line, a path, a URL or the name of a tool each, as the rule has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Examples {
    pub rule: String,
    pub list: List,
    /// Calls that the rule is to match.
    #[serde(default, rename = "match", skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    /// Calls that it is not to match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_match: Vec<String>,
}

const ROOT: &str = "/workspace";
const HOME: &str = "/home/you";

impl Examples {
    /// What the rule does otherwise than its examples say, one problem each. A rule that cannot be read is a problem of
    /// [`RuleSet::parse`], and not told again.
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

/// The call that an example stands for: of a tool with nothing but what the rule is about.
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

/// A made-up workspace, in which paths lead where they seem to.
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
