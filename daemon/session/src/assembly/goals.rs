//! What the config says about goals.

/// The settings of goals, as the files say now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalSettings {
    /// Number of turns after which a goal ends; 0: no limit.
    pub max_turns: u64,
    /// Commands that must succeed before a goal counts as complete.
    pub check: Vec<String>,
}

impl Default for GoalSettings {
    fn default() -> Self {
        Self {
            max_turns: 50,
            check: Vec::new(),
        }
    }
}
