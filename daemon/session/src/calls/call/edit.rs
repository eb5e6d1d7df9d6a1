//! A call with another command: the arguments that a user's change leads to. Called when the user answers; the call is
//! judged and run only from the log then.

use contract::ArgumentUse;
use proto::item::ToolCall;
use proto::record::CallEdit;
use proto::{ErrorName, Failure};
use serde_json::Value;

use crate::calls::call::CallEnvironment;

impl CallEnvironment {
    /// The call with this command in place of its own.
    ///
    /// # Errors
    /// It has no command, or its tool does not take this one.
    pub fn with_command(&self, call: &ToolCall, command: &str) -> Result<CallEdit, Failure> {
        let found = self.found(call)?;
        let spec = found.tool.spec();
        let mut named = spec.arguments.iter();
        let argument = named.find(|(_, stands_for)| *stands_for == ArgumentUse::Command);
        let Some((argument, _)) = argument else {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                "This call has no command that can be changed.",
                "Allow it as it is, or deny it and say what to do instead.",
            ));
        };
        let mut edited = found.arguments.clone();
        edited.insert(argument.clone(), Value::String(command.to_owned()));
        let edited = found
            .tool
            .parse(&edited)
            .map_err(crate::calls::judgement::UnjudgeableCall::from)?;
        Ok(CallEdit {
            tool: spec.name.to_string(),
            original: Value::Object(found.arguments).to_string(),
            edited: Value::Object(edited).to_string(),
            command: command.to_owned(),
        })
    }
}
