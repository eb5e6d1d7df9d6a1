//! Why a call cannot be judged: in words for the model, and for a client.

use contract::Outcome;
use proto::near;
use proto::{ErrorName, Failure};

/// Why there is nothing to judge.
#[derive(Debug)]
pub enum UnjudgeableCall {
    /// No tool has this name; those that there are.
    NoTool { name: String, known: Vec<String> },
    /// The session was created with a tool of this name, and this version of the daemon does not have it.
    MissingTool(String),
    /// The same, and it is one of an MCP server.
    MissingServerTool(String),
    /// Its MCP server has changed its definition since the session started.
    RedefinedTool(String),
    /// The arguments are none that the tool takes.
    Arguments(Box<Outcome>),
}

/// The tool that was perhaps meant.
fn nearest(name: &str, known: &[String]) -> String {
    let near = near::nearest(name, known.iter().map(String::as_str));
    let near = near
        .first()
        .map(|near| format!(" (did you mean `{near}`?)"));
    near.unwrap_or_default()
}

/// Names of tools in a sentence.
const TOOLS_MAX: usize = 40;

/// The tools that there are. Many of them are only counted: the model knows them, or finds them.
fn shown_tools(known: &[String]) -> String {
    let (shown, more) = known.split_at(known.len().min(TOOLS_MAX));
    let shown = shown.join(", ");
    match more.len() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

impl From<Outcome> for UnjudgeableCall {
    fn from(outcome: Outcome) -> Self {
        Self::Arguments(Box::new(outcome))
    }
}

/// In words for the model.
impl From<UnjudgeableCall> for Outcome {
    fn from(unfit: UnjudgeableCall) -> Self {
        match unfit {
            UnjudgeableCall::NoTool { name, known } => {
                let meant = nearest(&name, &known);
                let known = shown_tools(&known);
                Self::refused(format!("There is no tool `{name}`{meant}. Tools: {known}."))
            }
            UnjudgeableCall::MissingTool(name) => Self::refused(format!(
                "This version of Reasonix no longer has the tool `{name}`, which this session was created with. Go on \
                 without it; a new session has the tools of this version."
            )),
            UnjudgeableCall::MissingServerTool(name) => Self::refused(format!(
                "There is no tool `{name}` now: its MCP server does not offer it any more, the server's entry was changed or \
                 removed, or its project is not trusted any more. Nothing was called. The user sees the state of the servers with `reasonix mcp list`, and \
                 `/reload` gives this session the tools that there are."
            )),
            UnjudgeableCall::RedefinedTool(name) => Self::refused(format!(
                "The MCP server has changed the definition of `{name}` since this session started. Nothing was called. \
                 Sessions that start from now on have the new definition, as has this one after the user's `/reload`, and \
                 the user is asked about it."
            )),
            UnjudgeableCall::Arguments(outcome) => *outcome,
        }
    }
}

/// In words for a client.
impl From<UnjudgeableCall> for Failure {
    fn from(unfit: UnjudgeableCall) -> Self {
        match unfit {
            UnjudgeableCall::NoTool { name, known } => Self::new(
                ErrorName::NotFound,
                format!("Unknown tool `{name}`."),
                format!("Tools: {}.", known.join(", ")),
            ),
            UnjudgeableCall::MissingTool(name) => Self::new(
                ErrorName::NotFound,
                format!("This version of Reasonix no longer has the tool `{name}`."),
                "Create a new session.",
            ),
            UnjudgeableCall::MissingServerTool(name) | UnjudgeableCall::RedefinedTool(name) => {
                Self::new(
                    ErrorName::NotFound,
                    format!(
                        "The MCP server does not have the tool `{name}` as this session knows it."
                    ),
                    "`reasonix mcp list` shows its state; `/reload` gives the session the tools that there are.",
                )
            }
            UnjudgeableCall::Arguments(outcome) => Self::new(
                ErrorName::InvalidParams,
                outcome.text,
                "Give the arguments as the tool's description has them.",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    //! The words for tools that are missing.

    use super::*;

    #[test]
    fn missing_tool_of_a_server_names_every_cause() {
        let unfit = UnjudgeableCall::MissingServerTool("mcp__files__read".to_owned());
        let text = Outcome::from(unfit).text;
        for cause in [
            "its MCP server does not offer it any more",
            "the server's entry was changed or removed",
            "its project is not trusted any more",
        ] {
            assert!(text.contains(cause), "{cause}: {text}");
        }
    }
}
