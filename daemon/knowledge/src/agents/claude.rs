//! What agent files of Claude Code say that is not taken as it is: parts of tools, permission modes and hooks. An agent
//! never gets more by it than its file gives.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Events of Claude Code whose hooks only look on. Those of other events may refuse something.
const LOOKING_ON: [&str; 7] = [
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "SubagentStart",
    "SessionStart",
    "SessionEnd",
    "PreCompact",
];
/// What is said of hooks that only look on.
pub(super) const HOOKS_WITHOUT_EFFECT: &str =
    "the key `hooks` has no effect: hooks of the settings run for sub-agents too";

/// Hooks in the form of Claude Code: by event.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Hooks {
    Events(BTreeMap<String, IgnoredAny>),
    Other(IgnoredAny),
}

/// The names that are of whole tools. What a file gives in part (`Bash(git:*)`) is not given at all: the whole tool would
/// be more.
pub(super) fn whole_tools(
    names: Vec<String>,
    line: u64,
    warnings: &mut Vec<(u64, String)>,
) -> Vec<String> {
    let (parts, whole): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| name.contains('('));
    for part in &parts {
        let tool = tool_of_part(part);
        if !whole.iter().any(|name| name.eq_ignore_ascii_case(tool)) {
            warnings.push((
                line,
                format!("`{part}` gives a part of a tool, which cannot be given: the agent has no `{tool}` by it"),
            ));
        }
    }
    whole
}

/// The names of the tools that these are parts of: what is taken away in part is taken away whole.
pub(super) fn widened(
    names: Vec<String>,
    line: u64,
    warnings: &mut Vec<(u64, String)>,
) -> Vec<String> {
    let whole = |name: String| match name.contains('(') {
        false => name,
        true => {
            let tool = tool_of_part(&name).to_owned();
            warnings.push((
                line,
                format!("`{name}` takes a part of a tool away, which cannot be done: the agent has no `{tool}` at all"),
            ));
            tool
        }
    };
    names.into_iter().map(whole).collect()
}

fn tool_of_part(part: &str) -> &str {
    part.split('(').next().unwrap_or_default().trim()
}

/// Refuses hooks that may keep an agent from something: without them it would do more than its file wants.
pub(super) fn check_hooks(hooks: &Hooks) -> Result<(), String> {
    let events = match hooks {
        Hooks::Events(events) => events,
        Hooks::Other(IgnoredAny) => return Err("`hooks` must name events".to_owned()),
    };
    match events
        .keys()
        .find(|event| !LOOKING_ON.contains(&event.as_str()))
    {
        None => Ok(()),
        Some(event) => Err(format!(
            "the hook `{event}` of an agent is not supported, and may be there to refuse calls: put it in the settings"
        )),
    }
}

/// Whether the agent only reads in this permission mode of Claude Code, and what is to be said of it. A sub-agent never
/// may do more than the session that starts it.
pub(super) fn permission_mode(mode: Option<Option<String>>) -> (bool, Option<String>) {
    match mode.as_ref().map(|mode| mode.as_deref()) {
        None | Some(Some("default")) => (false, None),
        Some(Some("plan")) => (true, None),
        Some(_) => {
            let text = "`permissionMode` gives no permission: an agent has those of the session that starts it";
            (false, Some(text.to_owned()))
        }
    }
}
