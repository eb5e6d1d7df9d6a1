//! Slash commands of other agents, and what does the same here. Only asked for words that are no command of ours.

/// Their name, and ours: commands, or a command line in backticks.
const FOREIGN: &[(&str, &str)] = &[
    ("status", "/context, /cost"),
    ("usage", "/cost"),
    ("tokens", "/context"),
    ("models", "/model"),
    ("thinking", "/effort"),
    ("reasoning", "/effort"),
    ("approvals", "/approval-mode"),
    ("mode", "/approval-mode"),
    ("yolo", "/approval-mode yolo"),
    ("auto", "/approval-mode auto"),
    ("allowed-tools", "/permissions"),
    ("sandbox", "/permissions"),
    ("history", "/sessions"),
    ("chats", "/sessions"),
    ("switch", "/sessions"),
    ("checkpoint", "/rewind"),
    ("checkpoints", "/rewind"),
    ("revert", "/undo"),
    ("branch", "/fork"),
    ("title", "/rename"),
    ("summarize", "/compact"),
    ("save", "/export"),
    ("transcript", "/view"),
    ("changes", "/diff"),
    ("tasks", "/top"),
    ("bashes", "/top"),
    ("jobs", "/top"),
    ("reset", "/clear"),
    ("todo", "/todos"),
    ("mention", "`@` and the name of a file"),
    ("add-dir", "`reasonix --add-dir DIR`"),
    ("login", "`reasonix login`"),
    ("logout", "`reasonix login PROVIDER --forget`"),
    ("connect", "`reasonix setup`"),
    ("config", "`reasonix config`"),
    ("settings", "`reasonix config`"),
    ("doctor", "`reasonix doctor`"),
    ("version", "`reasonix --version`"),
];

/// What does here what another agent's command does.
#[must_use]
pub fn here(word: &str) -> Option<&'static str> {
    let mut rows = FOREIGN.iter();
    rows.find(|row| row.0 == word).map(|row| row.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slash;

    #[test]
    fn hints_for_foreign_commands_name_existing_commands() {
        for (foreign, ours) in FOREIGN {
            assert!(slash::named(foreign).is_none(), "/{foreign} is ours");
            for command in ours.split(", ").filter_map(|name| name.strip_prefix('/')) {
                let name = command.split(' ').next().unwrap_or_default();
                assert!(slash::named(name).is_some(), "/{foreign}: no {command}");
            }
        }
    }
}
