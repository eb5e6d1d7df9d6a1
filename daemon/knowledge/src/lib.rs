//! Files that the model is shown without having asked for them: instructions of users and projects, what prompts
//! refer to, the commands that they run, and the agents that can be given work.
//!
//! Reads them through `workspace`. Blocks.

mod agents;
mod command_rendering;
mod commands;
mod definition_files;
mod front_matter;
mod imports;
mod instructions;
mod reference_syntax;
mod references;

pub use agents::{AgentDefinition, AgentDefinitions, AgentSource, find_agents};
pub use command_rendering::{FILLED_MAX, command_block, command_call, fill_in};
pub use commands::{CustomCommand, CustomCommands, find_commands};
pub use instructions::{Instructions, find_instructions};
pub use references::{ReferringText, ResolvedReferences, resolve_references};
