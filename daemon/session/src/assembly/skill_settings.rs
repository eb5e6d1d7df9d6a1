//! What the settings say of skills.

use std::path::PathBuf;

use knowledge::SkillPlaces;

/// `[skills]` of the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillSettings {
    /// More directories with skills.
    pub paths: Vec<PathBuf>,
    /// Directories in which no skill is looked for.
    pub excluded_paths: Vec<PathBuf>,
    /// Names of skills that are not offered.
    pub disabled: Vec<String>,
}

impl SkillSettings {
    /// Where skills are looked for. `user_dir`: the user's skills for Reasonix alone.
    pub(crate) fn places(&self, user_dir: PathBuf) -> SkillPlaces {
        SkillPlaces {
            user_dir,
            configured: self.paths.clone(),
            excluded: self.excluded_paths.clone(),
            disabled: self.disabled.clone(),
        }
    }
}
