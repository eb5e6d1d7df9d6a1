//! Scenarios: a few rules, a call, and the decision.

use std::path::PathBuf;
use std::sync::LazyLock;

use contract::{
    ArgumentUse, Basis, Confinement, Decision, EffectivePermissions, Family, SandboxStrength,
    ToolSpec,
};
use proto::record::{Rules, Verdict};
use proto::state::{ApprovalMode, OnAsk};
use serde_json::{Map, Value, json};

use crate::*;

mod abbreviations;
mod altered;
mod approval_modes;
mod bound;
mod code;
mod commands;
mod corpus;
mod covered;
#[cfg(unix)]
mod differential;
mod escape;
mod everyday;
mod examples;
mod files;
mod forms;
mod git;
mod gitconfig;
mod grants;
mod matrix;
mod names;
mod other_names;
mod patterns;
mod properties;
mod redirections;
mod sandboxed;
mod scripts;
mod skills;
mod spellings;
mod transfers;

const ROOT: &str = "/home/someone/project";

/// The built-in tools, and some that are planned.
static TOOLS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| {
    let built_in = tools::BuiltIn::default().set(tools::Options::default());
    let later = [
        (
            "web_fetch",
            Family::WebFetch,
            Some(("url", ArgumentUse::Url)),
        ),
        ("web_search", Family::WebSearch, None),
        ("task", Family::Task, None),
        ("later_tool", Family::Session, None),
        ("remember", Family::Memory, None),
        ("forget", Family::Memory, None),
        (
            "notebook_edit",
            Family::Edit,
            Some(("path", ArgumentUse::Edit)),
        ),
        (
            "view_image",
            Family::Read,
            Some(("path", ArgumentUse::Read)),
        ),
    ];
    let later = later.map(|(name, family, argument)| ToolSpec {
        person_only: matches!(name, "remember" | "forget"),
        shallow: family == Family::Read,
        ..ToolSpec::new(name, "", Value::Null, family).with_arguments(argument.as_slice())
    });
    built_in.specs().cloned().chain(later).collect()
});

fn known_tools() -> Vec<&'static ToolSpec> {
    TOOLS.iter().collect()
}

fn parse(layers: &[(Layer, &Rules, bool)]) -> (RuleSet, Vec<RuleProblem>) {
    RuleSet::parse(layers, &known_tools())
}

/// The tool of this name; an unknown one changes a file.
fn tool(name: &str) -> ToolSpec {
    let known = TOOLS.iter().find(|tool| *tool.name == *name);
    known.cloned().unwrap_or_else(|| {
        ToolSpec::new(name, "", Value::Null, Family::Edit)
            .with_arguments(&[("path", ArgumentUse::Edit)])
    })
}

/// One session: rules, an approval mode, a sandbox.
struct Scene {
    rules: Rules,
    approval_mode: ApprovalMode,
    effective_permissions: EffectivePermissions,
    sandbox: SandboxStrength,
    leaks: bool,
    unconfined: Option<String>,
    git_programs: Vec<String>,
}

/// `allow Bash(x); deny Edit(y)`: one list and one rule each.
fn scene(rules: &str) -> Scene {
    Scene {
        rules: read_rules(rules),
        approval_mode: ApprovalMode::Ask,
        effective_permissions: EffectivePermissions::default(),
        sandbox: SandboxStrength::None,
        leaks: false,
        unconfined: None,
        git_programs: Vec::new(),
    }
}

fn read_rules(text: &str) -> Rules {
    let mut rules = Rules::default();
    for line in text
        .split(" / ")
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        match line.split_once(' ') {
            Some(("allow", rule)) => rules.allow.push(rule.to_owned()),
            Some(("ask", rule)) => rules.ask.push(rule.to_owned()),
            Some(("deny", rule)) => rules.deny.push(rule.to_owned()),
            other => panic!("not a rule of a scene: {other:?}"),
        }
    }
    rules
}

impl Scene {
    fn approval_mode(mut self, approval_mode: ApprovalMode) -> Self {
        self.approval_mode = approval_mode;
        self
    }

    fn effective_permissions(mut self, effective_permissions: EffectivePermissions) -> Self {
        self.effective_permissions = effective_permissions;
        self
    }

    fn sandbox(mut self, sandbox: SandboxStrength) -> Self {
        self.sandbox = sandbox;
        self
    }

    fn rule_set(&self) -> RuleSet {
        parse(&[(Layer::User, &self.rules, true)]).0
    }

    fn call(&self, tool: &str, arguments: Value) -> Decision {
        self.call_with(tool, arguments, |_| {})
    }

    /// Judges a call with its paths resolved by text, then changed by `change`.
    fn call_with(
        &self,
        tool: &str,
        arguments: Value,
        change: impl Fn(&mut ResolvedPath),
    ) -> Decision {
        let Value::Object(arguments) = arguments else {
            panic!("arguments are an object")
        };
        let call = Call {
            tool: &self::tool(tool),
            arguments: &arguments,
            touches: &[],
        };
        let mut context = self.context(&call);
        context.paths.iter_mut().for_each(change);
        decide(&self.rule_set(), &context, &call)
    }

    fn context(&self, call: &Call<'_>) -> Context {
        let root = PathBuf::from(ROOT);
        let user_home = PathBuf::from("/home/someone");
        let resolve = |subject: &Subject| {
            let absolute = crate::files::lexical(&subject.text, &root, &user_home);
            let inside = absolute.starts_with(&root);
            ResolvedPath {
                text: subject.text.clone(),
                access: subject.access,
                protected: workspace::is_protected(
                    absolute.strip_prefix(&root).unwrap_or(&absolute),
                ),
                absolute: Some(absolute),
                writable: inside,
                masked: false,
                denied: false,
                holds_closed: false,
                directory: false,
                unkept: false,
                error: None,
            }
        };
        Context {
            paths: subjects(call).paths.iter().map(resolve).collect(),
            root: root.clone(),
            cwd: root.clone(),
            user_home: user_home.clone(),
            altered: Vec::new(),
            git_programs: self.git_programs.clone(),
            approval_mode: self.approval_mode,
            effective_permissions: self.effective_permissions,
            sandbox: self.sandbox,
            leaks: self.leaks,
            unconfined: self.unconfined.clone(),
            masked: vec![PathBuf::from("/agent/home")],
            trusted: true,
        }
    }

    fn bash(&self, command: &str) -> Decision {
        self.call("bash", json!({ "command": command }))
    }
}

/// Expects one decision per line: `verdict | command`.
fn check(rules: &str, lines: &str) {
    check_in(&scene(rules), lines);
}

/// The same in a session.
fn check_in(scene: &Scene, lines: &str) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (expected, command) = line
            .split_once(" | ")
            .unwrap_or_else(|| panic!("a line is `verdict | command`: {line}"));
        let command = command.replace("\\n", "\n").replace("\\t", "\t");
        let decision = scene.bash(&command);
        let verdict = format!("{:?}", decision.verdict).to_lowercase();
        assert_eq!(
            verdict,
            expected.trim(),
            "`{command}` under {:?}: {}",
            scene.rules,
            decision.rule
        );
    }
}

fn verdict_of_edit(rules: &str, path: &str) -> Verdict {
    scene(rules)
        .call(
            "edit_file",
            json!({"path": path, "old_string": "a", "new_string": "b"}),
        )
        .verdict
}
