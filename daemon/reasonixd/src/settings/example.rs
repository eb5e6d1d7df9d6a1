//! `reasonix.example.toml`: every setting with its default and a sentence, made from the schema.

use std::fmt::Write as _;

use super::providers::FIELDS;
use super::schema::{KEYS, Kind};
use super::shipped;
use super::{autostart, presets};

/// The text of the example file.
#[must_use]
pub fn text() -> String {
    let mut text = String::from(
        "# All settings of Reasonix with their defaults. Copy the ones you change to `~/.reasonix/config.toml`, or to\n\
         # `reasonix.toml` in a project.\n",
    );
    let mut table = "";
    for key in KEYS {
        let (section, name) = key.name.split_once('.').unwrap_or(("", key.name));
        if section != table {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n[{section}]\n");
            table = section;
        } else {
            text.push('\n');
        }
        for line in wrapped(&sentence(key.about, key.kind)) {
            let _ = writeln!(text, "# {line}");
        }
        let value = if key.default.is_empty() {
            "\"\""
        } else {
            key.default
        };
        let mark = if key.default.is_empty() { "# " } else { "" };
        let _ = writeln!(text, "{mark}{name} = {value}");
    }
    let about = format!(
        "A preset sets model, effort and samples of a session with one name. {} are built in; entries here change them or \
         add others.",
        presets::SHIPPED.join(", ")
    );
    text.push('\n');
    for line in wrapped(&about) {
        let _ = writeln!(text, "# {line}");
    }
    text.push_str("# [presets.fast]\n");
    for (name, about) in presets::FIELDS {
        for line in wrapped(about) {
            let _ = writeln!(text, "# # {line}");
        }
        let example = match *name {
            "model" => "\"deepseek-v4-flash\"",
            "effort" => "\"low\"",
            _ => "1",
        };
        let _ = writeln!(text, "# {name} = {example}");
    }
    let shipped: Vec<_> = shipped::all().into_iter().map(|entry| entry.name).collect();
    let about = format!(
        "A provider is an API endpoint with its models. Built in, once their key is set: {}. Add entries for others, or to \
         change a built-in one.",
        shipped.join(", ")
    );
    text.push('\n');
    for line in wrapped(&about) {
        let _ = writeln!(text, "# {line}");
    }
    text.push_str("# [[providers]]\n");
    for (name, about) in FIELDS {
        for line in wrapped(about) {
            let _ = writeln!(text, "# # {line}");
        }
        let _ = writeln!(text, "# {name} = {}", example_of(name));
    }
    let about = "What starts with the daemon: a goal to work on, or an MCP server to keep running. Only in your own config. \
                 There is none by default.";
    text.push('\n');
    for line in wrapped(about) {
        let _ = writeln!(text, "# {line}");
    }
    text.push_str("# [[autostart]]\n");
    for (name, about) in autostart::FIELDS {
        for line in wrapped(about) {
            let _ = writeln!(text, "# # {line}");
        }
        // One of the two is given.
        let mark = if *name == "server" { "# " } else { "" };
        let _ = writeln!(text, "# {mark}{name} = {}", example_of_autostart(name));
    }
    text
}

fn example_of_autostart(field: &str) -> &'static str {
    match field {
        "name" => "\"nightly\"",
        "goal" => "\"Keep the tests green.\"",
        "server" => "\"docs\"",
        "dir" => "\"~/code/app\"",
        "required" => "false",
        "max_turns" => "50",
        "check" => "[\"make test\"]",
        "budget_usd" => "5.0",
        "budget_tokens" | "budget_steps" | "budget_minutes" | "max_steps" => "0",
        "model" => "\"deepseek-v4-flash\"",
        "effort" => "\"high\"",
        "approval_mode" => "\"ask\"",
        "on_ask" => "\"sandboxed\"",
        _ => "\"on-failure\"",
    }
}

fn sentence(about: &str, kind: Kind) -> String {
    match kind {
        Kind::Number { min, max } | Kind::Decimal { min, max } => {
            format!("{about} ({min} to {max})")
        }
        Kind::Word(_)
        | Kind::Flag
        | Kind::Text
        | Kind::Tools
        | Kind::Rules(_)
        | Kind::Place
        | Kind::File
        | Kind::Places
        | Kind::Globs
        | Kind::Variables
        | Kind::Skills
        | Kind::AgentModels
        | Kind::Commands => about.to_owned(),
    }
}

fn example_of(field: &str) -> &'static str {
    match field {
        "name" => "\"deepseek\"",
        "kind" => "\"openai\"",
        "base_url" => "\"https://api.deepseek.com\"",
        "models" => "[\"deepseek-v4-flash\", \"deepseek-v4-pro\"]",
        "default" => "\"deepseek-v4-flash\"",
        "model" => "\"deepseek-v4-flash\"",
        "api_key_env" => "\"DEEPSEEK_API_KEY\"",
        "context_window" => "1000000",
        "headers" => "{ X-Title = \"Reasonix\" }",
        "extra" => "{ temperature = 0.0 }",
        "effort" => "\"high\"",
        "efforts" => "[\"low\", \"medium\", \"high\", \"max\"]",
        "max_output_tokens" => "0",
        "command" => "[]",
        "price" => "{ input = 0.15, cached = 0.003, output = 0.6 }",
        "max_concurrent" => "16",
        "repair" => "true",
        _ => "false",
    }
}

/// Lines of at most 110 characters.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines
            .last_mut()
            .filter(|line| line.is_empty() || line.len() + word.len() < 110);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
