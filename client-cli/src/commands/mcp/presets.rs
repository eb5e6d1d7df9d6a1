//! Servers that many use, by name: `reasonix mcp add NAME` without a command adds one, `reasonix mcp presets` lists them.
//!
//! A preset is only an entry of `mcp.json`: once added it is changed there like any other.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::exit::Error;
use crate::messages::Head;
use crate::messages::presets::Msg;
use crate::{near, output};

/// How long `npx` and `uvx` may take: the first start downloads the server.
const STARTUP_SECONDS: u64 = 180;

/// How a server of the table is reached.
enum Source {
    /// A package of the npm registry, and its arguments.
    Npx(&'static [&'static str]),
    /// A package of PyPI, and its arguments.
    Uvx(&'static [&'static str]),
    /// An address, which wants the token of this variable.
    Url(&'static str, &'static str),
}

/// One server of the table.
struct Preset {
    name: &'static str,
    about: Msg,
    source: Source,
}

const fn preset(name: &'static str, about: Msg, source: Source) -> Preset {
    Preset {
        name,
        about,
        source,
    }
}

use Source::{Npx, Url, Uvx};

/// By name.
const PRESETS: &[Preset] = &[
    preset("context7", Msg::Context7, Npx(&["@upstash/context7-mcp"])),
    preset("fetch", Msg::Fetch, Uvx(&["mcp-server-fetch"])),
    preset(
        "filesystem",
        Msg::Filesystem,
        Npx(&["@modelcontextprotocol/server-filesystem"]),
    ),
    preset("git", Msg::Git, Uvx(&["mcp-server-git"])),
    preset(
        "github",
        Msg::Github,
        Url("https://api.githubcopilot.com/mcp/", "GITHUB_TOKEN"),
    ),
    preset(
        "memory",
        Msg::Memory,
        Npx(&["@modelcontextprotocol/server-memory"]),
    ),
    preset(
        "playwright",
        Msg::Playwright,
        // Without a window, and without a profile that two sessions could fight over.
        Npx(&["@playwright/mcp@latest", "--headless", "--isolated"]),
    ),
    preset(
        "sequential-thinking",
        Msg::SequentialThinking,
        Npx(&["@modelcontextprotocol/server-sequential-thinking"]),
    ),
    preset("time", Msg::Time, Uvx(&["mcp-server-time"])),
];

/// A preset, as `--json` prints it.
#[derive(Serialize, JsonSchema)]
pub struct ListedPreset {
    name: &'static str,
    /// What it does.
    about: &'static str,
    /// Program that starts it; absent for an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<&'static str>,
    /// Variable that must be set where `reasonix` is started.
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<&'static str>,
    /// Entry that is added to `mcp.json`.
    entry: Map<String, Value>,
}

impl Preset {
    fn entry(&self) -> Map<String, Value> {
        let program = |command: &str, before: &[&str], rest: &[&str]| {
            let args = [before, rest].concat();
            json!({"command": command, "args": args, "startup_timeout_seconds": STARTUP_SECONDS})
        };
        let entry = match &self.source {
            Npx(rest) => program("npx", &["-y"], rest),
            Uvx(rest) => program("uvx", &[], rest),
            Url(url, variable) => json!({"type": "http", "url": url,
                "headers": {"Authorization": format!("Bearer ${{{variable}}}")}}),
        };
        match entry {
            Value::Object(entry) => entry,
            _ => Map::new(),
        }
    }

    fn program(&self) -> Option<&'static str> {
        match self.source {
            Npx(_) => Some("npx"),
            Uvx(_) => Some("uvx"),
            Url(..) => None,
        }
    }

    fn variable(&self) -> Option<&'static str> {
        match self.source {
            Npx(_) | Uvx(_) => None,
            Url(_, variable) => Some(variable),
        }
    }
}

/// The entry of a preset, and what the user must know of it.
///
/// # Errors
/// There is no such preset.
pub(super) fn entry(name: &str) -> Result<(Map<String, Value>, Option<String>), Error> {
    let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) else {
        let names = PRESETS.iter().map(|preset| preset.name);
        return Err(Error::usage(
            say!(Msg::Unknown, name),
            near::hint(name, names, &say!(Msg::UnknownHint, name)),
        ));
    };
    let note = match (preset.program(), preset.variable()) {
        (Some("uvx"), _) => Some(say!(Msg::NeedsUvx).to_owned()),
        (Some(_), _) => Some(say!(Msg::NeedsNpx).to_owned()),
        (None, Some(variable)) => Some(say!(Msg::NeedsVariable, variable)),
        (None, None) => None,
    };
    Ok((preset.entry(), note))
}

/// Prints the table.
pub(super) fn list(json: bool, quiet: bool) -> Result<(), Error> {
    if json {
        let presets = PRESETS.iter().map(|preset| ListedPreset {
            name: preset.name,
            about: say!(preset.about),
            program: preset.program(),
            variable: preset.variable(),
            entry: preset.entry(),
        });
        return output::json(&presets.collect::<Vec<_>>());
    }
    if quiet {
        return output::names(PRESETS.iter().map(|preset| preset.name));
    }
    let rows = PRESETS.iter().map(|preset| {
        let needs = preset.program().or(preset.variable());
        [
            preset.name.to_owned(),
            needs.unwrap_or_default().to_owned(),
            say!(preset.about).to_owned(),
        ]
    });
    output::table(
        [Head::Name, Head::Needs, Head::About],
        &rows.collect::<Vec<_>>(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_sorted_and_each_has_one_way_to_be_reached() {
        let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        assert!(names.is_sorted(), "{names:?}");
        for preset in PRESETS {
            let entry = preset.entry();
            let ways = ["command", "url"].map(|key| entry.contains_key(key));
            assert!(ways[0] != ways[1], "{}", preset.name);
        }
    }
}
