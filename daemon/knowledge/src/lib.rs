//! Files that the model is shown without having asked for them: instructions of users and projects, what prompts
//! refer to, the commands that they run, the skills that they use, the agents that can be given work, and facts from
//! earlier sessions.
//!
//! Reads them through `workspace`. Blocks.

mod agents;
mod command_rendering;
mod commands;
mod definition_files;
mod front_matter;
mod imports;
mod instructions;
pub mod memory;
mod reference_syntax;
mod references;
pub mod research;
mod skill_fields;
mod skill_rendering;
mod skills;
mod symbol_syntax;
mod symbols;

pub use agents::{
    AgentDefinition, AgentDefinitions, AgentSource, agent_directories, find_agents,
    is_parents_model, planner_definition,
};
pub use command_rendering::{FILLED_MAX, command_block, command_call, fill_in};
pub use commands::{CustomCommand, CustomCommands, find_commands};
pub use instructions::{Instructions, find_instructions};
pub use references::{ReferringText, ResolvedReferences, resolve_references};
pub use skill_rendering::{skill_index, skill_text};
pub use skills::{LoadedSkill, Skill, SkillPlaces, Skills, find_skills};
pub use symbols::{Symbol, Symbols, find_symbols};
