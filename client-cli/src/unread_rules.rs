//! Permission rules in the settings of other agents. They have the form of ours, but only our own settings count, and
//! the user gets a notice.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use serde_json::Value;

use crate::messages::asking::Msg;

/// Settings of other agents in a project.
const FILES: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];

/// Their lists of rules.
const LISTS: [&str; 3] = ["allow", "ask", "deny"];

/// Bytes of such a file that are read. A longer one is not looked at.
const BYTES_MAX: u64 = 1 << 20;

/// A line for each of these files in a directory that has rules.
pub fn lines(dir: &Path) -> Vec<String> {
    let rules = FILES.iter().map(|name| (name, rules(&dir.join(name))));
    let found = rules.filter(|(_, rules)| *rules > 0);
    found
        .map(|(name, rules)| say!(Msg::UnreadRules, name, rules))
        .collect()
}

/// How many rules a file has; 0 if it cannot be read.
fn rules(file: &Path) -> usize {
    let mut text = String::new();
    // A pipe must not hold us up.
    let options = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(file, options, Mode::empty()).map_err(std::io::Error::from);
    let read = opened
        .map(File::from)
        .and_then(|file| match file.metadata()?.is_file() {
            true => file.take(BYTES_MAX).read_to_string(&mut text),
            false => Ok(0),
        });
    if read.is_err() {
        return 0;
    }
    let settings: Value = serde_json::from_str(&text).unwrap_or_default();
    let lists = LISTS
        .iter()
        .filter_map(|list| settings["permissions"][list].as_array());
    lists.map(Vec::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_rules_are_named_with_their_number() {
        let dir = tempfile::tempdir().unwrap();
        assert!(lines(dir.path()).is_empty());
        std::fs::create_dir(dir.path().join(".claude")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write(
            FILES[0],
            r#"{"permissions": {"deny": ["Read(x)"], "allow": ["Bash(ls)", "Edit"]}}"#,
        );
        write(FILES[1], "{\"permissions\": {\"deny\": 3");
        let found = lines(dir.path());
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains(FILES[0]) && found[0].contains(": 3"),
            "{found:?}"
        );
    }

    #[test]
    fn pipe_in_the_place_of_settings_holds_nobody_up() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(".claude")).unwrap();
        for name in FILES {
            let path = dir.path().join(".").join(name);
            rustix::fs::mkfifoat(rustix::fs::CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
        }
        assert!(lines(dir.path()).is_empty());
    }
}
