//! Attaches what a prompt refers to (`@path`), as far as the session's deny rules let it be read.

use std::path::Path;
use std::time::Duration;

use contract::{ArgumentUse, Family, ToolSpec};
use knowledge::ResolvedReferences;
use policy::Access;
use proto::record::Verdict;
use serde_json::Map;

use crate::calls::permissions::{PermissionState, in_session};

/// How long a prompt waits for what it refers to.
const RESOLVING_MAX: Duration = Duration::from_secs(10);

/// Whether a prompt may refer to anything.
pub(crate) fn may_refer(prompt: &str) -> bool {
    prompt.contains('@')
}

/// Reads what a prompt refers to. A disk that does not answer is told, and holds nobody up.
pub(crate) async fn resolve(permissions: PermissionState, prompt: &str) -> ResolvedReferences {
    let text = prompt.to_owned();
    let reading = tokio::task::spawn_blocking(move || resolve_blocking(&permissions, &text));
    match tokio::time::timeout(RESOLVING_MAX, reading).await {
        Ok(Ok(resolved)) => resolved,
        Ok(Err(_)) | Err(_) => ResolvedReferences {
            found: None,
            problems: vec![
                "What the prompt refers to is not attached: the disk does not answer.".to_owned(),
            ],
        },
    }
}

fn resolve_blocking(permissions: &PermissionState, prompt: &str) -> ResolvedReferences {
    let workspace = &permissions.call_environment.workspace;
    knowledge::resolve_references(workspace, prompt, &|path| denial(permissions, path))
}

/// Why the rules deny reading a path. `None`: they do not.
fn denial(permissions: &PermissionState, path: &Path) -> Option<String> {
    let path = path.to_str()?.to_owned();
    let specs = permissions.call_environment.tools.specs();
    let judged = specs.filter_map(|spec| {
        let argument = path_argument(spec)?;
        let arguments = Map::from_iter([(argument.to_owned(), path.clone().into())]);
        in_session(permissions, &spec.name, &arguments).ok()
    });
    // Without such a tool nothing judges a path.
    let rules = &permissions.standpoint.rules;
    let has_rules = rules.denies_all(Access::Read) || !rules.denied_paths(Access::Read).is_empty();
    match judged.into_iter().next() {
        Some(explained) => {
            let decision = explained.explanation.decision;
            let denied = decision.verdict == Verdict::Deny;
            denied.then(|| format!("`{}` denies it", decision.rule))
        }
        None => has_rules.then(|| "the session has no tool that reads, to check it by".to_owned()),
    }
}

/// The argument of a tool that is the path of what it reads, if that is all that it does.
fn path_argument(spec: &ToolSpec) -> Option<&str> {
    let mut arguments = spec.arguments.iter();
    let read = arguments.find(|(_, use_of)| *use_of == ArgumentUse::Read);
    read.filter(|_| spec.family == Family::Read && spec.read_only)
        .map(|(name, _)| name.as_str())
}
