//! Sessions: make, find, attach, prompt, stop.

mod create;
mod events;
mod inspect;
mod prompts;
mod signals;
mod steps;
mod summary;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use create::{CreateOutput, CreateParams, SetParams};
pub use events::{
    AttachOutput, AttachParams, DetachParams, EndedNotification, EventNotification, EventParams,
    PieceOutput, ReadOutput, ReadParams,
};
pub use inspect::{Block, BlockKind, ChangedFile, InspectOutput, InspectParams, InspectPart};
pub use prompts::{
    EditParams, PromptOutput, PromptParams, QueueOutput, QueuedPrompt, ReorderParams, ShellOutput,
    ShellParams, UnqueueParams, When,
};
pub use signals::{
    Exited, ResumeParams, Signal, SignalOutput, SignalParams, Until, WaitOutput, WaitParams,
};
pub use steps::{OutputParams, Step, StepCall, StepParams, StepPart, StepsOutput, StepsParams};
pub use summary::{ListOutput, ListParams, SessionSummary};

/// Names one session: a pid, a UUID, an unambiguous prefix of at least 4 characters, or a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OneParams {
    pub session: String,
}
