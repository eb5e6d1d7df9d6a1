//! Attaches what a prompt refers to (`@path`), as far as the session's deny rules let it be read.

use std::path::Path;
use std::time::Duration;

use knowledge::ResolvedReferences;
use policy::Access;
use proto::record::Verdict;
use serde_json::Map;

use crate::calls::permissions::{PermissionState, in_session};

/// The tool whose rules count for references.
const READING_TOOL: &str = "read_file";

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
    let arguments = Map::from_iter([("path".to_owned(), path.into())]);
    match in_session(permissions, READING_TOOL, &arguments) {
        Ok(explained) => {
            let decision = explained.explanation.decision;
            let denied = decision.verdict == Verdict::Deny;
            denied.then(|| format!("`{}` denies it", decision.rule))
        }
        // Without the tool nothing judges a path.
        Err(_) => {
            let rules = &permissions.standpoint.rules;
            let has_rules =
                rules.denies_all(Access::Read) || !rules.denied_paths(Access::Read).is_empty();
            has_rules.then(|| format!("the session has no tool `{READING_TOOL}` to check it by"))
        }
    }
}
