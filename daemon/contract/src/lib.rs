//! The seams of the daemon, and the values that cross them.
//!
//! The session engine reaches models, tools and processes only through the traits that stand here.
//! No I/O but memory from the kernel ([`RequestBuffer`]), no runtime.

pub mod agents;
pub mod codec;
pub mod decision;
pub mod estimate;
mod first_line;
pub mod held_keys;
pub mod history;
pub mod image;
pub mod lossless_paths;
pub mod memory;
mod prompt_signals;
pub mod provider;
mod request_buffer;
pub mod sandbox_spec;
pub mod scrub;
pub mod secret;
pub mod spawn;
pub mod tool;
pub mod tool_set;
pub mod tool_spec;

pub use agents::{AgentSkill, AgentTask, Agents, PlanRequest};
pub use codec::{
    Asked, Codec, Fragment, InstructionText, Prefix, PrefixText, ServerCompaction, SkillText,
    ToolChoice,
};
pub use decision::{Basis, Confinement, Decision, EffectivePermissions};
pub use first_line::first_line;
pub use held_keys::{HeldKeyFilter, without_held_keys};
pub use history::PastMessages;
pub use image::{ImageError, OutcomeImage};
pub use memory::{ExternalChanges, KnownState, MemorySnapshot, ToolMemory};
pub use prompt_signals::{has_phrase, listed_items, weight};
pub use proto::record::Quarantined;
pub use provider::{Part, Permit, Provider, ProviderError, Request, RequestEnvironment, Unbounded};
pub use request_buffer::RequestBuffer;
pub use sandbox_spec::{KnownRepositories, SandboxSpec, SandboxStrength};
pub use scrub::scrub;
pub use secret::Secret;
pub use spawn::{
    Child, ChildEvent, ChildExit, Command, OWN_GIT_MEMORY_KIB, STDIN_MAX, Spawn, SpawnError, Stdin,
};
pub use tool::{
    CallAction, CallContext, CheckCall, ElicitationAnswer, FileWorker, MEMORY_TOOL, Outcome,
    Preview, Questions, SKILL_TOOL, SamplingAnswer, SamplingMessage, SamplingRequest, SamplingRole,
    SkillLibrary, Tool, Touch, UserShell,
};
pub use tool_set::ToolSet;
pub use tool_spec::{ArgumentUse, Family, ToolDeclaration, ToolSpec, is_server_tool};
