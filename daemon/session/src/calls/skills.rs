//! The skills of a session: found as the files are now, loaded for the model's tool and for prompts of the user.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::tool::{SkillLibrary, SkillLoad};
use contract::{AgentSkill, AgentTask, Outcome, SKILL_TOOL};
use knowledge::{FILLED_MAX, Skill, SkillPlaces, Skills, find_skills, skill_text};
use proto::item::{CallStatus, Display};
use proto::near::nearest;
use proto::record::SkillUse;
use serde_json::json;
use workspace::Workspace;

/// Finds and loads skills.
pub struct SessionSkills {
    pub workspace: Arc<Workspace>,
    pub places: SkillPlaces,
    /// Skills for the user alone that the user has asked the model to run as sub-agents.
    pub asked_for: Mutex<BTreeSet<String>>,
}

/// A skill that is used: what the model reads of it, and its limits.
pub struct UsedSkill {
    pub text: String,
    pub used: SkillUse,
    /// The agent that works by it, and its model. `None`: it is read in the session itself.
    agent: Option<(Option<String>, Option<String>)>,
}

/// The agent that works by a skill which names none.
const AGENT: &str = "general";

impl SessionSkills {
    /// The skills, as the files are now. Blocks.
    pub fn find(&self) -> Skills {
        find_skills(&self.workspace, &self.places)
    }

    /// Loads a skill for use. Blocks.
    ///
    /// # Errors
    /// It cannot be used: why, in words for the user and the model.
    pub fn use_skill(&self, skill: &Skill, arguments: &str) -> Result<UsedSkill, String> {
        if let Some(refusal) = skill.refusal() {
            return Err(refusal);
        }
        let loaded = skill.load(&self.workspace)?;
        // The file may say something else by now.
        if let Some(refusal) = loaded.skill.refusal() {
            return Err(refusal);
        }
        let text = skill_text(&loaded, arguments).ok_or_else(|| {
            format!(
                "The skill `{}` has more than {} KB with its arguments.",
                skill.name,
                FILLED_MAX / 1024
            )
        })?;
        let agent = loaded.skill.is_agent();
        let agent = agent.then(|| (loaded.skill.agent.clone(), loaded.skill.model.clone()));
        let used = SkillUse {
            name: loaded.skill.name,
            directory: loaded.skill.directory.to_string_lossy().into_owned(),
            allowed_tools: loaded.skill.allowed_tools,
            read_only: false,
        };
        Ok(UsedSkill { text, used, agent })
    }

    /// The model's instruction for a skill that the user runs and that works in a sub-agent.
    ///
    /// # Errors
    /// It cannot be used: why, in words for the user.
    pub fn ask_for(
        &self,
        skill: &Skill,
        arguments: &str,
        has_tool: bool,
    ) -> Result<String, String> {
        let UsedSkill { used, .. } = self.use_skill(skill, arguments)?;
        if !has_tool {
            return Err(format!(
                "The skill `{}` runs as a sub-agent, and the model of this session cannot load skills: start a new session.",
                skill.name
            ));
        }
        self.asked_for().insert(used.name.clone());
        let call = json!({"name": used.name, "arguments": arguments});
        Ok(format!(
            "The user runs the skill `{}`, which works in a sub-agent. Call `{SKILL_TOOL}` with {call}, and answer with what comes back.",
            used.name
        ))
    }

    fn asked_for(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.asked_for
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl SkillLibrary for SessionSkills {
    fn load(&self, name: &str, arguments: &str) -> Result<SkillLoad, Outcome> {
        let found = self.find();
        let skill = found.named(name).ok_or_else(|| unknown(name, &found))?;
        if skill.user_only && !self.asked_for().contains(&skill.name) {
            return Err(Outcome::refused(format!(
                "The skill `{name}` is for the user alone, who runs it with `/{name}`."
            )));
        }
        let UsedSkill { text, used, agent } =
            self.use_skill(skill, arguments).map_err(Outcome::refused)?;
        if let Some((agent, model)) = agent {
            let prompt = format!("/{name} {arguments}");
            return Ok(SkillLoad::Subagent(AgentTask {
                agent: agent.unwrap_or_else(|| AGENT.to_owned()),
                description: String::new(),
                prompt: prompt.trim_end().to_owned(),
                skill: Some(AgentSkill { text, used, model }),
                background: false,
            }));
        }
        let line = format!("skill {}", used.name);
        Ok(SkillLoad::Inline(Box::new(Outcome {
            display: Display::Line { text: line },
            skill: Some(used),
            ..Outcome::with_status(CallStatus::Ok, text)
        })))
    }
}

/// There is no such skill.
fn unknown(name: &str, found: &Skills) -> Outcome {
    let offered = found.skills.iter().filter(|skill| skill.is_offered());
    let names: Vec<&str> = offered.map(|skill| skill.name.as_str()).collect();
    let near = nearest(name, names.iter().copied());
    let meant = near
        .first()
        .map(|near| format!(" (did you mean `{near}`?)"));
    let there = match names.as_slice() {
        [] => "There are no skills".to_owned(),
        names => format!("Skills: {}", names.join(", ")),
    };
    Outcome::refused(format!(
        "There is no skill `{name}`{}. {there}.",
        meant.unwrap_or_default()
    ))
}
