//! The frozen prefix of a session: its text and what a model's provider makes of it, both kept in the first record.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use contract::{
    Codec, Family, InstructionText, KnownState, MEMORY_TOOL, Prefix, PrefixText, SKILL_TOOL,
    SkillText, ToolDeclaration, ToolSet, ToolSpec,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::assembly::setup::{ModelSetup, Profile};
use crate::assembly::tool_repair;
use crate::context::system_prompt;

/// The system prompt of sessions that no profile gives another one.
pub const SYSTEM_PROMPT: &str = include_str!("../../prompts/system.md");

/// What the files of a directory say to the model before the conversation.
pub struct PrefixFiles {
    pub instructions: Vec<InstructionText>,
    pub skills: Vec<SkillText>,
    /// Whether there are skills for the user alone that run as sub-agents.
    pub agents_of_the_user: bool,
    /// A line for each fact.
    pub memory: Vec<String>,
    /// Files that are left out or cut, and why.
    pub problems: Vec<String>,
}

/// The prefix in the `own` member of the first record.
#[derive(Debug, Serialize, Deserialize)]
pub struct FrozenPrefix {
    /// As the session's first model gets it.
    pub prefix: Prefix,
    /// The text it was rendered from, and is rendered from again for another model.
    pub text: PrefixText,
}

impl FrozenPrefix {
    /// Renders the text of a profile, with instruction files, skills and the lines of facts, for its model.
    pub fn of(
        profile: &Profile,
        instructions: Vec<InstructionText>,
        skills: Vec<SkillText>,
        memory: Vec<String>,
    ) -> Self {
        let text = PrefixText {
            instructions,
            skills,
            memory,
            ..text(profile)
        };
        let prefix = render(&profile.model, &text);
        Self { prefix, text }
    }

    /// Names of the instruction files, in their order.
    pub fn instruction_names(&self) -> Vec<String> {
        let files = self.text.instructions.iter();
        files.map(|file| file.name.clone()).collect()
    }

    /// The instruction files that are in the prefix.
    pub fn known_files(&self) -> Vec<KnownState> {
        known_files(&self.text)
    }

    /// Reads the `own` member of a first record. `None`: it holds no prefix.
    pub fn read(own: &str) -> Option<Self> {
        serde_json::from_str(own).ok()
    }
}

/// The instruction files that a text has.
pub fn known_files(text: &PrefixText) -> Vec<KnownState> {
    let files = text.instructions.iter();
    files.filter_map(InstructionText::known).collect()
}

/// The skills that a session with these tools lists. A session that lists none has no tool that loads them, so that the
/// prefix of one without skills is the same as ever; `keep_tool`: the user has some that the model runs without reading
/// of them.
pub fn offer_skills(
    profile: &mut Profile,
    skills: Vec<SkillText>,
    keep_tool: bool,
) -> Vec<SkillText> {
    if profile.tools.get(SKILL_TOOL).is_none() {
        return Vec::new();
    }
    if skills.is_empty() && !keep_tool {
        let others = profile.tools.names().filter(|name| *name != SKILL_TOOL);
        let others: Vec<_> = others.map(str::to_owned).collect();
        profile.tools = profile.tools.restricted_to(&others);
    }
    skills
}

/// The texts of the sessions in memory: those that say the same share one.
#[derive(Debug, Default)]
pub struct SharedTexts(Mutex<Vec<Weak<PrefixText>>>);

impl SharedTexts {
    /// This text, or the equal one that another session has.
    pub fn share(&self, text: PrefixText) -> Arc<PrefixText> {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.retain(|known| known.strong_count() > 0);
        let equal = texts
            .iter()
            .filter_map(Weak::upgrade)
            .find(|known| **known == text);
        equal.unwrap_or_else(|| {
            let text = Arc::new(text);
            texts.push(Arc::downgrade(&text));
            text
        })
    }
}

/// The tools of a set that the prefix declares.
pub fn declared<'a>(
    tools: &'a ToolSet,
    pinned: &'a [String],
) -> impl Iterator<Item = ToolDeclaration> + 'a {
    declared_specs(tools, pinned).map(ToolSpec::declaration)
}

/// Deferred ones are left out, unless they are pinned.
fn declared_specs<'a>(
    tools: &'a ToolSet,
    pinned: &'a [String],
) -> impl Iterator<Item = &'a ToolSpec> {
    let is_pinned = |spec: &ToolSpec| pinned.iter().any(|pinned| *pinned == *spec.name);
    let specs = tools.specs();
    specs.filter(move |spec| !spec.deferred || is_pinned(spec))
}

/// System prompt and tools of a profile. Nothing variable goes in: same build and files, same bytes.
fn text(profile: &Profile) -> PrefixText {
    let declaration = |spec: &ToolSpec| match spec.family {
        Family::Task => with_agents(spec.declaration(), &profile.agents),
        Family::Read
        | Family::Edit
        | Family::Bash
        | Family::WebFetch
        | Family::WebSearch
        | Family::Memory
        | Family::Session => spec.declaration(),
    };
    let specs = declared_specs(&profile.tools, &profile.pinned);
    PrefixText {
        lacks_memory_tool: profile.tools.get(MEMORY_TOOL).is_none(),
        system: system_prompt::for_tools(&profile.system_prompt, &profile.tools)
            .trim_end()
            .to_owned(),
        appended: profile.append_system_prompt.clone(),
        examples: profile.examples.clone(),
        tools: specs.map(declaration).collect(),
        ..PrefixText::default()
    }
}

/// A tool that starts agents, with those that there are.
fn with_agents(tool: ToolDeclaration, agents: &str) -> ToolDeclaration {
    ToolDeclaration {
        description: format!("{}{agents}", tool.description).into(),
        ..tool
    }
}

/// Renders a text for a model.
pub fn render(model: &ModelSetup, text: &PrefixText) -> Prefix {
    render_with(&*model.codec, &model.name, text, model.repair)
}

/// Renders a text for the model of this name. `flat`: its malformed calls are repaired, so parameters are shown flat.
pub fn render_with(codec: &dyn Codec, model: &str, text: &PrefixText, flat: bool) -> Prefix {
    let system = system_prompt::render(text);
    if !flat {
        return codec.prefix(model, &system, &text.tools);
    }
    let tools: Vec<_> = text.tools.iter().map(tool_repair::flattened).collect();
    codec.prefix(model, &system, &tools)
}

/// SHA-256 over the prefix, hexadecimal.
pub fn hash(prefix: &Prefix) -> String {
    let parts = [&prefix.model, &prefix.system, &prefix.tools, &prefix.extra];
    digest(&parts.map(String::as_bytes))
}

/// SHA-256 over parts, each with its length, hexadecimal.
pub fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hex::encode(hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(system: &str) -> PrefixText {
        PrefixText {
            system: system.to_owned(),
            ..PrefixText::default()
        }
    }

    #[test]
    fn equal_texts_are_one_and_leave_with_their_last_session() {
        let texts = SharedTexts::default();
        let first = texts.share(text("a"));
        assert!(Arc::ptr_eq(&first, &texts.share(text("a"))));
        let other = texts.share(text("b"));
        assert_eq!(*other, text("b"));
        drop(first);
        let again = texts.share(text("a"));
        assert_eq!(
            (Arc::strong_count(&again), texts.0.lock().unwrap().len()),
            (1, 2)
        );
    }
}
