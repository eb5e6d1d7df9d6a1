//! Skills: directories with a `SKILL.md` that holds instructions for a kind of task, and the files that these need.
//!
//! Finds them, and reads their front matter. Only a skill that is used is read as a whole.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use proto::params::skill::{RunAs, SkillSource};
use workspace::Workspace;

use crate::definition_files::{DefinitionFiles, Root};
use crate::front_matter::split;
use crate::skill_fields::{Fields, printable};

/// The file that makes a directory a skill.
const FILE: &str = "SKILL.md";
/// Directories of a project that hold skills. The first skill of a name counts.
const PROJECT_DIRS: [&str; 3] = [".reasonix/skills", ".agents/skills", ".claude/skills"];
/// Directories of the user's skills for all tools that know this form, from the user's home.
const SHARED_DIRS: [&str; 2] = [".agents/skills", ".claude/skills"];
/// Letters of a name.
const NAME_MAX: usize = 64;

/// Where skills are looked for beside the project, and which are not wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillPlaces {
    /// The user's skills for Reasonix alone.
    pub user_dir: PathBuf,
    /// `skills.paths`.
    pub configured: Vec<PathBuf>,
    /// `skills.excluded_paths`: directories in which no skill is looked for.
    pub excluded: Vec<PathBuf>,
    /// Names of skills that are not offered.
    pub disabled: Vec<String>,
}

impl SkillPlaces {
    /// Whether a path is in a directory that is excluded, as it is written or after its links were followed.
    fn excludes(&self, path: &Path) -> bool {
        let resolved = path.canonicalize().ok();
        self.excluded.iter().any(|directory| {
            let target = directory.canonicalize().ok();
            let is_below = |path: &Path| {
                path.starts_with(directory)
                    || target
                        .as_ref()
                        .is_some_and(|target| path.starts_with(target))
            };
            is_below(path) || resolved.as_deref().is_some_and(is_below)
        })
    }
}

/// A skill, without its instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    pub description: String,
    pub source: SkillSource,
    /// Its `SKILL.md`: from the workspace root, or absolute.
    pub file: String,
    /// Where its other files are. Absolute, without links.
    pub directory: PathBuf,
    /// The only tools that may be called while it is in force. `None`: all.
    pub allowed_tools: Option<Vec<String>>,
    pub run_as: RunAs,
    /// The agent that works by it, if it runs as one. `None`: `general`.
    pub agent: Option<String>,
    /// The model that it asks for. Counts if it runs as a sub-agent.
    pub model: Option<String>,
    /// Whether only the user may use it.
    pub user_only: bool,
    pub disabled: bool,
    /// Another skill of this name counts: its file.
    pub hidden_by: Option<String>,
    /// Where it is read.
    at: (PathBuf, bool),
}

/// A skill with its instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedSkill {
    pub skill: Skill,
    pub body: String,
}

/// The skills of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skills {
    /// Sorted by name; of the same name the one that counts first.
    pub skills: Vec<Skill>,
    /// Files that are left out, with their line where that is known. In words for the user.
    pub problems: Vec<String>,
}

impl Skills {
    /// The skill of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Skill> {
        let mut skills = self.skills.iter();
        skills.find(|skill| skill.name == name && skill.hidden_by.is_none())
    }

    /// Whether the model needs a way to run some of them that it does not read of: the user's own that run as sub-agents.
    #[must_use]
    pub fn have_agents_of_the_user(&self) -> bool {
        let mut skills = self.skills.iter();
        skills.any(|skill| {
            skill.user_only
                && skill.is_agent()
                && skill.hidden_by.is_none()
                && skill.refusal().is_none()
        })
    }
}

impl Skill {
    /// Why it cannot be used. In words for the user and the model.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        self.disabled.then(|| {
            format!(
                "The skill `{}` is disabled by `skills.disabled`.",
                self.name
            )
        })
    }

    /// Whether a sub-agent works by it.
    #[must_use]
    pub fn is_agent(&self) -> bool {
        self.run_as == RunAs::Subagent
    }

    /// Whether the model may use it on its own.
    #[must_use]
    pub fn is_offered(&self) -> bool {
        self.hidden_by.is_none() && !self.user_only && self.refusal().is_none()
    }

    /// Reads its instructions, as they are now. Blocks.
    ///
    /// # Errors
    /// It cannot be read any more: why, in words for the user.
    pub fn load(&self, workspace: &Workspace) -> Result<LoadedSkill, String> {
        let mut files = DefinitionFiles::new(workspace);
        let (path, is_project) = self.at.clone();
        let root = Root {
            path: path.clone(),
            is_project,
        };
        match read_skill(&mut files, &root, &path, self.source) {
            Some((skill, body)) => Ok(LoadedSkill {
                skill: Skill {
                    disabled: self.disabled,
                    ..skill
                },
                body,
            }),
            None => {
                let gone = format!("`{}` is left out: it does not exist.", self.file);
                Err(files.problems.pop().unwrap_or(gone))
            }
        }
    }
}

/// Finds the skills of the project and of the user. Blocks. A file that cannot be used hides nothing.
#[must_use]
pub fn find_skills(workspace: &Workspace, places: &SkillPlaces) -> Skills {
    let mut files = DefinitionFiles::new(workspace);
    let project = PROJECT_DIRS.map(|dir| workspace.root().join(dir));
    let shared = SHARED_DIRS.map(|dir| workspace.user_home().join(dir));
    let user = [places.user_dir.clone()].into_iter().chain(shared);
    let of = |source| move |path| (path, source);
    let roots = project
        .into_iter()
        .map(of(SkillSource::Project))
        .chain(user.map(of(SkillSource::User)))
        .chain(
            places
                .configured
                .iter()
                .cloned()
                .map(of(SkillSource::Configured)),
        );
    let mut skills = Vec::new();
    for (path, source) in roots {
        let root = Root {
            path,
            is_project: source == SkillSource::Project,
        };
        if places.excludes(&root.path) {
            continue;
        }
        for file in files.in_subdirectories(&root, FILE) {
            if places.excludes(&file) {
                continue;
            }
            let read = read_skill(&mut files, &root, &file, source);
            skills.extend(read.map(|(skill, _)| skill));
        }
    }
    for skill in &mut skills {
        skill.disabled = places.disabled.contains(&skill.name);
    }
    hide(&mut skills);
    Skills {
        skills,
        problems: files.problems,
    }
}

/// Notes which skills do not count, and sorts by name.
fn hide(skills: &mut [Skill]) {
    let mut counting: HashMap<String, String> = HashMap::new();
    for skill in skills.iter_mut() {
        match counting.get(&skill.name) {
            Some(file) => skill.hidden_by = Some(file.clone()),
            None => {
                counting.insert(skill.name.clone(), skill.file.clone());
            }
        }
    }
    // Stable: of the same name the first stays first.
    skills.sort_by(|one, other| one.name.cmp(&other.name));
}

/// Reads a skill with its instructions. `None`: it is left out, and that is reported.
fn read_skill(
    files: &mut DefinitionFiles<'_>,
    root: &Root,
    file: &Path,
    source: SkillSource,
) -> Option<(Skill, String)> {
    let text = files.read(file, root)?;
    let directory = files.directory_of(file, root)?;
    let parsed = split(&text).and_then(|mut document| {
        let name_line = document.line_of("name").unwrap_or(1);
        // For people: of a skill it is not shown.
        document.take_raw("argument-hint");
        let fields: Fields = document.described_fields()?;
        Ok((fields, name_line, document.body.trim()))
    });
    let (fields, name_line, body) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            files.report(file, Some(error.line), &error.reason);
            return None;
        }
    };
    if body.is_empty() {
        files.report(file, Some(1), "it says nothing to the model");
        return None;
    }
    let own_name = file.parent().and_then(Path::file_name);
    let own_name = own_name.map(|name| name.to_string_lossy().into_owned());
    let own_name = own_name.filter(|name| is_name(name));
    let name = match (fields.name.clone(), own_name) {
        (Some(name), _) if is_name(&name) => name,
        // A name such as `Hook Development`, which cannot be typed behind a slash.
        (Some(_), Some(own_name)) => {
            let reason = format!(
                "its name has letters that a skill cannot have, so it is called `{own_name}`, like its directory"
            );
            files.warn(file, name_line, &reason);
            own_name
        }
        (None, Some(own_name)) => own_name,
        (written, None) => {
            let line = written.map_or(1, |_| name_line);
            let reason = "its name has letters that a skill cannot have";
            files.report(file, Some(line), reason);
            return None;
        }
    };
    let first_line = body
        .lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches('#');
    let description = fields.description.as_deref().unwrap_or(first_line);
    let skill = Skill {
        description: printable(description),
        source,
        file: files.name_of(file),
        directory,
        run_as: fields.run_as(),
        user_only: fields.disable_model_invocation,
        agent: fields.agent.as_deref().map(printable),
        model: fields.model.as_deref().map(printable),
        allowed_tools: fields.allowed_tools(),
        disabled: false,
        hidden_by: None,
        at: (file.to_owned(), root.is_project),
        name,
    };
    Some((skill, body.to_owned()))
}

fn is_name(name: &str) -> bool {
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
    !name.is_empty() && name.chars().count() <= NAME_MAX && name.chars().all(fits)
}

#[cfg(test)]
mod tests;
