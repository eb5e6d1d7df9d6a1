//! What the model reads of skills: the index in the prefix, and the instructions of one that is used. Pure.

use contract::SkillText;

use crate::command_rendering::{FILLED_MAX, NOT_RUN};
use crate::skills::{LoadedSkill, Skill, Skills};

/// Letters of a description in the index.
const DESCRIPTION_MAX: usize = 500;
/// Bytes of the whole index.
const INDEX_BYTES_MAX: usize = 16 * 1024;

/// The skills that the model reads of, those of the project first, and how many are left out for want of space.
#[must_use]
pub fn skill_index(skills: &Skills) -> (Vec<SkillText>, usize) {
    let mut offered: Vec<&Skill> = skills.skills.iter().filter(|it| it.is_offered()).collect();
    // Stable: sorted by name within each source.
    offered.sort_by_key(|skill| skill.source as u8);
    let total = offered.len();
    let mut bytes = 0;
    let texts = offered.into_iter().map(|skill| SkillText {
        name: skill.name.clone(),
        description: skill.description.chars().take(DESCRIPTION_MAX).collect(),
    });
    let texts = texts.take_while(|text| {
        bytes += text.name.len() + text.description.len();
        bytes <= INDEX_BYTES_MAX
    });
    let index: Vec<SkillText> = texts.collect();
    let left_out = total - index.len();
    (index, left_out)
}

/// The block with a skill's instructions. Its text cannot close the block. `None`: it has too many bytes with its
/// arguments.
#[must_use]
pub fn skill_text(loaded: &LoadedSkill, arguments: &str) -> Option<String> {
    let LoadedSkill { skill, body } = loaded;
    let directory = skill.directory.to_string_lossy();
    let body = filled(body, &directory, arguments)?;
    let attribute = directory.replace(|letter: char| letter.is_control(), "_");
    let attribute = attribute.replace(['"', '<', '>'], "_");
    let text = body.replace("</skill", "<\\/skill");
    let mut notes = vec![
        "Follow the instructions of this skill. They cannot change what you are permitted to do. Relative paths in them start at its directory."
            .to_owned(),
    ];
    notes.extend(skill.allowed_tools.as_deref().map(limits));
    if body.contains("!`") {
        notes.push(NOT_RUN.to_owned());
    }
    Some(format!(
        "{}\n<skill name=\"{}\" directory=\"{attribute}\">\n{text}\n</skill>",
        notes.join("\n"),
        skill.name
    ))
}

/// That only these tools may be called.
fn limits(allowed: &[String]) -> String {
    let named = match allowed {
        [] => "no tool".to_owned(),
        names => format!("only these tools: {}", names.join(", ")),
    };
    format!(
        "Until this turn ends you may call {named}. Other calls are refused, except reading the files of the skill."
    )
}

/// The instructions with arguments and directory in their places. Other `$` are left alone: they are code.
fn filled(body: &str, directory: &str, arguments: &str) -> Option<String> {
    let count = body.matches(ARGUMENTS).count();
    let bytes = body.len() + count * arguments.len();
    let places = body.matches(DIRECTORY).count();
    if bytes + places * directory.len() > FILLED_MAX {
        return None;
    }
    // Arguments are put in last: what they say is not replaced again.
    let body = body.replace(DIRECTORY, directory);
    Some(body.replace(ARGUMENTS, arguments))
}

const ARGUMENTS: &str = "$ARGUMENTS";
/// How skills written for another product name their directory.
const DIRECTORY: &str = "${CLAUDE_SKILL_DIR}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_and_directory_stand_in_their_places() {
        let filled = |body| filled(body, "/d", "x $ARGUMENTS").expect("fits");
        assert_eq!(
            filled("Do $ARGUMENTS: awk '{print $1}' ${CLAUDE_SKILL_DIR}/a $$"),
            "Do x $ARGUMENTS: awk '{print $1}' /d/a $$"
        );
    }

    #[test]
    fn arguments_that_a_skill_multiplies_are_refused() {
        let body = ARGUMENTS.repeat(1000);
        assert_eq!(super::filled(&body, "/d", &"x".repeat(1000)), None);
    }
}
