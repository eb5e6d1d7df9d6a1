//! The skills of a session: found as the files are now, loaded for the model's tool and for prompts of the user.

use std::sync::Arc;

use contract::Outcome;
use contract::tool::SkillLibrary;
use knowledge::{FILLED_MAX, Skill, SkillPlaces, Skills, find_skills, skill_text};
use proto::item::{CallStatus, Display};
use proto::near::nearest;
use proto::record::SkillUse;
use workspace::Workspace;

/// Finds and loads skills.
pub struct SessionSkills {
    pub workspace: Arc<Workspace>,
    pub places: SkillPlaces,
}

/// A skill that is used: what the model reads of it, and what it limits.
pub struct UsedSkill {
    pub text: String,
    pub used: SkillUse,
}

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
        let used = SkillUse {
            name: loaded.skill.name,
            directory: loaded.skill.directory.to_string_lossy().into_owned(),
            allowed_tools: loaded.skill.allowed_tools,
        };
        Ok(UsedSkill { text, used })
    }
}

impl SkillLibrary for SessionSkills {
    fn load(&self, name: &str, arguments: &str) -> Result<Outcome, Outcome> {
        let found = self.find();
        let skill = found.named(name).ok_or_else(|| unknown(name, &found))?;
        if skill.user_only {
            return Err(Outcome::refused(format!(
                "The skill `{name}` is for the user alone, who runs it with `/{name}`."
            )));
        }
        let UsedSkill { text, used } =
            self.use_skill(skill, arguments).map_err(Outcome::refused)?;
        let line = format!("skill {}", used.name);
        Ok(Outcome {
            display: Display::Line { text: line },
            skill: Some(used),
            ..Outcome::with_status(CallStatus::Ok, text)
        })
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
