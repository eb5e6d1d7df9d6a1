//! The commands that a menu offers: those of the interface, and custom ones that the daemon runs.

use nucleo_matcher::{Config, Matcher};
use proto::hello::Role;
use proto::params::command::{CommandInfo, CommandSource};
use proto::params::skill::{SkillInfo, SkillSource};

use super::{fuzzy, score};
use crate::slash::{COMMANDS, Row};

/// A command that can be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandChoice {
    /// One of the interface.
    Own(&'static Row),
    /// One that a prompt runs.
    Custom(CommandInfo),
}

impl CommandChoice {
    /// Without the slash.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Own(row) => row.name,
            Self::Custom(command) => &command.name,
        }
    }

    /// Usage of the arguments.
    #[must_use]
    pub fn arguments(&self) -> &str {
        match self {
            Self::Own(row) => row.arguments,
            Self::Custom(command) => command.argument_hint.as_deref().unwrap_or_default(),
        }
    }

    /// Whether it is called so, by its name or another one.
    #[must_use]
    pub fn is_named(&self, word: &str) -> bool {
        self.names().any(|name| name == word)
    }

    /// Whether one of its names begins so.
    #[must_use]
    pub fn begins_with(&self, word: &str) -> bool {
        self.names().any(|name| name.starts_with(word))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let aliases = match self {
            Self::Own(row) => row.aliases,
            Self::Custom(_) => &[],
        };
        aliases.iter().copied().chain([self.name()])
    }
}

/// The skills that a prompt can run, as the commands that they are there.
pub fn of_skills(skills: Vec<SkillInfo>) -> impl Iterator<Item = CommandInfo> {
    let usable = |skill: &SkillInfo| {
        !skill.is_command && skill.hidden_by.is_none() && skill.refusal.is_none()
    };
    skills.into_iter().filter(usable).map(|skill| CommandInfo {
        name: skill.name,
        description: skill.description,
        argument_hint: None,
        source: match skill.source {
            SkillSource::Project => CommandSource::Project,
            SkillSource::User | SkillSource::Configured => CommandSource::User,
        },
        file: Some(skill.file),
        hidden_by: None,
        trusted: skill.trusted,
    })
}

/// Commands that fit: the same name, names that begin so, then those that have the letters in this order.
pub fn fitting(word: &str, role: Role, custom: &[CommandInfo]) -> Vec<CommandChoice> {
    let mut matcher = Matcher::new(Config::DEFAULT);
    let pattern = fuzzy(word);
    let own = COMMANDS.iter().filter(|row| row.role <= role);
    let custom = custom.iter().filter(|_| role >= Role::Drive);
    let mut found: Vec<(u32, CommandChoice)> = own
        .map(CommandChoice::Own)
        .chain(custom.cloned().map(CommandChoice::Custom))
        .filter_map(|choice| {
            let rank = if word.is_empty() || choice.is_named(word) {
                0
            } else if choice.name().starts_with(word) {
                1
            } else if choice.begins_with(word) {
                2
            } else {
                let names = choice.names();
                let best = names.filter_map(|name| score(&pattern, name, &mut matcher));
                u32::MAX - best.max()?
            };
            Some((rank, choice))
        })
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, choice)| choice).collect()
}

#[cfg(test)]
mod tests {
    use proto::params::skill::RunAs;

    use super::*;

    #[test]
    fn skills_that_a_prompt_can_run_are_offered() {
        let skill = |name: &str| SkillInfo {
            name: name.to_owned(),
            description: "does it".to_owned(),
            source: SkillSource::User,
            file: "SKILL.md".to_owned(),
            hidden_by: None,
            is_command: false,
            trusted: true,
            offered: true,
            allowed_tools: None,
            run_as: RunAs::Inline,
            model: None,
            refusal: None,
        };
        let skills = vec![
            skill("pdf"),
            SkillInfo {
                hidden_by: Some("other".to_owned()),
                ..skill("hidden")
            },
            SkillInfo {
                is_command: true,
                ..skill("init")
            },
            SkillInfo {
                refusal: Some("It is disabled.".to_owned()),
                ..skill("off")
            },
        ];
        let names: Vec<_> = of_skills(skills).map(|it| it.name).collect();
        assert_eq!(names, ["pdf"]);
    }

    fn custom(name: &str) -> CommandInfo {
        CommandInfo {
            name: name.to_owned(),
            description: "does it".to_owned(),
            argument_hint: Some("[what]".to_owned()),
            source: CommandSource::Project,
            file: None,
            hidden_by: None,
            trusted: true,
        }
    }

    #[test]
    fn custom_commands_stand_among_the_others_for_who_may_send_prompts() {
        let known = [custom("git:commit"), custom("helper")];
        let names = |word: &str, role: Role| -> Vec<String> {
            let found = fitting(word, role, &known);
            found.iter().map(|it| it.name().to_owned()).collect()
        };
        assert_eq!(names("git:commit", Role::Drive)[0], "git:commit");
        assert_eq!(names("hel", Role::Drive)[..2], ["help", "helper"]);
        assert!(!names("hel", Role::Watch).contains(&"helper".to_owned()));
        assert_eq!(names("", Role::Drive).len(), COMMANDS.len() + 2);
    }
}
