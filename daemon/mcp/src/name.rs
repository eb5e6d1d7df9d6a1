//! The names of tools: `mcp__server__tool`. Pure.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

/// What the names of all of them start with.
const PREFIX: &str = "mcp__";
/// The longest name that providers accept.
pub const NAME_MAX: usize = 64;
/// Hexadecimal digits of the hash in a shortened name.
const HASH_DIGITS: usize = 8;
/// The longest name of a server: a tool's name must find room behind it.
const SERVER_NAME_MAX: usize = 40;

/// Why a server cannot have this name.
///
/// # Errors
/// A text for the user.
pub fn check_server_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() {
        return Err("its name is empty".to_owned());
    }
    if !name.chars().all(is_plain) {
        return Err("its name may have only letters, digits, `-` and `_`".to_owned());
    }
    if name.contains("__") || name.starts_with('_') || name.ends_with('_') {
        return Err("its name may not contain `__`, nor begin or end with `_`".to_owned());
    }
    if name.len() > SERVER_NAME_MAX {
        return Err(format!(
            "its name has more than {SERVER_NAME_MAX} characters"
        ));
    }
    Ok(())
}

/// Whether a tool of this name is one of a server.
#[must_use]
pub fn is_server_tool(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// The name under which a model calls a tool. Equal for equal names of server and tool.
#[must_use]
pub fn tool_name(server: &str, tool: &str) -> String {
    let clean: String = tool
        .chars()
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() || c == '-' => c,
            _ => '_',
        })
        .collect();
    let name = format!("{PREFIX}{server}__{clean}");
    if name.len() <= NAME_MAX {
        return name;
    }
    let hash = hex::encode(Sha256::digest(format!("{server}\n{tool}").as_bytes()));
    let kept = NAME_MAX - HASH_DIGITS - 1;
    // All characters are ASCII.
    format!(
        "{}_{}",
        name.get(..kept).unwrap_or_default(),
        hash.get(..HASH_DIGITS).unwrap_or_default()
    )
}

/// Names the tools of one server, in the order in which it lists them: the first of a name counts. Returns the name of each
/// (`None`: it is left out) and what the user should know.
#[must_use]
pub fn name_tools(server: &str, tools: &[&str]) -> (Vec<Option<String>>, Vec<String>) {
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    let mut problems = Vec::new();
    let named = tools.iter().map(|tool| {
        let name = tool_name(server, tool);
        if let Some(first) = taken.get(&name) {
            problems.push(format!(
                "the tools {first:?} and {tool:?} of the MCP server `{server}` have the same name `{name}`; the second one is left out"
            ));
            return None;
        }
        taken.insert(name.clone(), tool);
        Some(name)
    });
    (named.collect(), problems)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_separator_in_a_servers_name_is_refused() {
        for name in ["a__b", "", "a b", "_a", "a_", "ä", &"x".repeat(41)] {
            assert!(check_server_name(name).is_err(), "{name}");
        }
        for name in ["a", "github", "my-server_2", &"x".repeat(40)] {
            assert_eq!(check_server_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn of_two_tools_with_one_name_the_first_counts_and_it_is_said() {
        let (names, problems) = name_tools("s", &["a.b", "a b", "c"]);
        assert_eq!(
            names,
            [
                Some("mcp__s__a_b".to_owned()),
                None,
                Some("mcp__s__c".to_owned())
            ]
        );
        assert_eq!(problems.len(), 1);
        assert!(
            problems
                .iter()
                .all(|problem| problem.contains("mcp__s__a_b"))
        );
    }

    proptest! {
        #[test]
        fn every_tool_of_every_server_gets_a_name_that_providers_accept(
            server in "[a-z0-9][a-z0-9-]{0,38}[a-z0-9]",
            tool in ".{0,200}",
        ) {
            let name = tool_name(&server, &tool);
            prop_assert!(name.len() <= NAME_MAX);
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
            prop_assert_eq!(&name, &tool_name(&server, &tool));
            let start = format!("mcp__{}__", server);
            prop_assert!(name.starts_with(&start), "the server can be read from it");
        }

        #[test]
        fn long_names_differ_where_their_tools_do(a in "[a-z]{80}", b in "[a-z]{80}") {
            prop_assume!(a != b);
            prop_assert_ne!(tool_name("s", &a), tool_name("s", &b));
        }
    }
}
