//! The reference pages are made from the code, and the committed ones are what the code makes.
//!
//! `UPDATE=1 cargo test -p tests --test it reference` writes them; without it a difference is a failure.

use std::fmt::Write as _;
use std::path::Path;

use proto::ErrorName;
use reasonixd::settings::{KEYS, Kind, ProjectPermission, example};
use serde_json::{Map, Value};

/// The width of help in the reference, whatever terminal the test runs in.
const HELP_WIDTH: usize = 100;

#[test]
fn the_protocols_reference_is_what_the_code_says() {
    check("docs/reference/protocol.md", &protocol());
}

#[test]
fn the_contracts_methods_are_those_of_this_build_and_the_planned_ones_are_not() {
    let chapter = include_str!("../../docs/contract/10-protocol.md");
    let (_, rest) = chapter.split_once("\n## Methods\n").expect("methods");
    let (built, rest) = rest.split_once("\n### Planned\n").expect("planned ones");
    let (planned, _) = rest.split_once("\n## Events\n").expect("events");
    let mut built = methods_in(built);
    built.sort_unstable();
    let mut wanted: Vec<String> = proto::methods::NAMES
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    wanted.sort_unstable();
    assert_eq!(built, wanted);
    for name in methods_in(planned) {
        assert!(!wanted.contains(&name), "`{name}` is there: not planned");
    }
}

/// The methods that the rows of a table name: `session.list / get; history.search`.
fn methods_in(table: &str) -> Vec<String> {
    let rows = table.lines().filter_map(|row| row.strip_prefix("| "));
    let cells = rows.filter_map(|row| row.split(" | ").next());
    let mut found = Vec::new();
    for cell in cells.filter(|cell| *cell != "method") {
        let mut namespace = "";
        for name in cell.split([',', ';', '/']).map(str::trim) {
            let name = match name.split_once('.') {
                Some((before, _)) => {
                    namespace = before;
                    name.to_owned()
                }
                None => format!("{namespace}.{name}"),
            };
            found.push(name);
        }
    }
    found
}

#[test]
fn the_settings_reference_is_what_the_code_says() {
    check("docs/reference/settings.md", &settings());
}

#[test]
fn the_commands_reference_is_what_the_code_says() {
    check("docs/reference/commands.md", &commands());
}

#[test]
fn the_errors_reference_is_what_the_code_says() {
    check("docs/reference/errors.md", &errors());
}

#[test]
fn the_keys_reference_is_what_the_code_says() {
    check("docs/reference/keys.md", &client_tui::keys_page());
}

#[test]
fn the_example_config_is_what_the_code_says() {
    check("reasonix.example.toml", &example::text());
}

/// Compares a committed file with the expected text, or writes it if `UPDATE` is set.
fn check(path: &str, wanted: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    if std::env::var_os("UPDATE").is_some_and(|value| !value.is_empty()) {
        std::fs::create_dir_all(
            file.parent()
                .expect("a file of the repository has a directory"),
        )
        .expect("make it");
        std::fs::write(&file, wanted).expect("write the reference");
        return;
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    let lines = || {
        found
            .lines()
            .map(Some)
            .chain([None])
            .zip(wanted.lines().map(Some).chain([None]))
    };
    let differs = lines()
        .enumerate()
        .find(|(_, (found, wanted))| found != wanted);
    if let Some((line, (found, wanted))) = differs {
        panic!(
            "{path}:{}: the file has {found:?}, the code says {wanted:?}.\nWrite it again with \
             `UPDATE=1 cargo test -p tests --test it reference`, and look at the changes.",
            line + 1
        );
    }
    assert_eq!(found, wanted, "{path} differs in its line ends");
}

/// The head of a page: its subject, and a note that it is generated.
fn page(title: &str, about: &str) -> String {
    format!(
        "# {title}\n\n{about}\n\n*Generated from the code; a test compares. Do not edit by hand.*\n"
    )
}

fn settings() -> String {
    let mut text = page(
        "Settings",
        "Settings are read from `<home>/config.toml` (`<home>` is `$REASONIX_HOME`, else `~/.reasonix`) and from \
         `reasonix.toml` in the working directory or the nearest parent up to its git root. A project's value overrides \
         yours; rules of both apply.\n\n\
         *In a project*: whether a project's file may set the key: *always*, *when trusted*, *if lower* (a limit), or *never*.",
    );
    let mut section = None;
    for key in KEYS {
        let (table, _) = key.name.split_once('.').unwrap_or(("", key.name));
        if section != Some(table) {
            let title = if table.is_empty() {
                "Top level".to_owned()
            } else {
                format!("`[{table}]`")
            };
            let _ = write!(
                text,
                "\n## {title}\n\n| key | value | default | in a project | description |\n|---|---|---|---|---|\n"
            );
            section = Some(table);
        }
        let value = match key.kind {
            Kind::Text => "text".to_owned(),
            Kind::Flag => "`true`, `false`".to_owned(),
            Kind::Tools => "list of tools".to_owned(),
            Kind::Rules(_) => "list of rules".to_owned(),
            Kind::Place => "directory".to_owned(),
            Kind::File => "file".to_owned(),
            Kind::Places => "list of paths".to_owned(),
            Kind::Globs => "list of globs".to_owned(),
            Kind::Variables => "list of variable names".to_owned(),
            Kind::Commands => "list of shell commands".to_owned(),
            Kind::Skills => "list of skill names".to_owned(),
            Kind::AgentModels => "table of agents and their models".to_owned(),
            Kind::Number { min, max } | Kind::Decimal { min, max } => format!("{min} to {max}"),
            Kind::Word(words) => words
                .iter()
                .map(|word| format!("`{word}`"))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let default = if key.default.is_empty() {
            "–".to_owned()
        } else {
            format!("`{}`", key.default)
        };
        let reach = match key.reach {
            ProjectPermission::Free => "always",
            ProjectPermission::Trusted => "when trusted",
            ProjectPermission::Lower => "if lower",
            ProjectPermission::User => "never",
        };
        let _ = writeln!(
            text,
            "| `{}` | {value} | {default} | {reach} | {} |",
            key.name,
            cell(key.about)
        );
    }
    text.push_str(
        "\n## `[[providers]]`\n\nAny number of entries, each with its own name. Entries of a project apply once the \
         project is trusted, and never replace one of yours.\n\n```toml\n",
    );
    text.push_str(&example_entry("providers"));
    text.push_str(
        "```\n\n## `[[autostart]]`\n\nAny number of entries, each with its own name; only in your own config, and read \
         when the daemon starts. Each has a `goal` or a `server`.\n\n```toml\n",
    );
    text.push_str(&example_entry("autostart"));
    text.push_str("```\n");
    text
}

/// An entry of an array as the example file has it, without the marks of comments.
fn example_entry(array: &str) -> String {
    let example = example::text();
    let head = format!("# [[{array}]]\n");
    let (_, entry) = example
        .split_once(&head)
        .expect("the example has such an entry");
    let (entry, _) = entry.split_once("\n\n").unwrap_or((entry, ""));
    let lines = entry.lines();
    let lines = lines.map(|line| line.strip_prefix("# ").unwrap_or(line));
    let lines: Vec<_> = lines.collect();
    format!("[[{array}]]\n{}\n", lines.join("\n"))
}

fn errors() -> String {
    let mut text = page(
        "Errors of the protocol",
        "An error is JSON-RPC's `{code, message, data}`. `data` always has `name`, `hint` (what to do next) and `retryable` \
         (whether the same call may succeed later), and may have details. Programs should test `data.name`, never the \
         message.",
    );
    text.push_str("\n| code | name | when |\n|---|---|---|\n");
    let schema = proto::methods::schema();
    let described = schema["$defs"]["ErrorName"]["oneOf"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    for name in ErrorName::ALL {
        let when = described
            .iter()
            .find(|one| one["const"] == name.as_str())
            .map_or("", about);
        let _ = writeln!(
            text,
            "| {} | `{}` | {} |",
            name.code(),
            name.as_str(),
            cell(when)
        );
    }
    text.push_str(
        "\nInvalid JSON, batches and unknown methods get JSON-RPC's own codes -32700, -32600 and -32601; the connection \
         stays open.\n",
    );
    text
}

fn commands() -> String {
    let mut text = page("Commands", "The help of `reasonix` and of each command.");
    let mut root = client_cli::command().term_width(HELP_WIDTH);
    root.build();
    let mut waiting = vec![root];
    while let Some(mut command) = waiting.pop() {
        let name = command.get_bin_name().unwrap_or("reasonix").to_owned();
        let level = if name.contains(' ') { "###" } else { "##" };
        let help = command.render_long_help().to_string();
        let help: Vec<_> = help.lines().map(str::trim_end).collect();
        let _ = write!(
            text,
            "\n{level} `{name}`\n\n```text\n{}\n```\n",
            help.join("\n").trim_end()
        );
        let inner: Vec<_> = command.get_subcommands().cloned().collect();
        waiting.extend(inner.into_iter().rev());
    }
    text
}

fn protocol() -> String {
    let schema = proto::methods::schema();
    let types = schema["$defs"]
        .as_object()
        .expect("the schema has definitions");
    let mut text = page(
        "Protocol: methods, events and types",
        "JSON-RPC 2.0, one JSON text per line, over a Unix socket. [Chapter 10](../contract/10-protocol.md) of the contract \
         describes its use, [errors](errors.md) lists its errors, [client.py](../client.py) is a small client. \
         `reasonix rpc --schema` prints it as JSON Schema.\n\n\
         A field with a `?` may be left out of parameters; what that means stands with it, else it is empty, 0 or no. In \
         answers and events such a field may be absent or `null`, which mean the same. Fields that you do not know: \
         ignore them.",
    );
    let _ = write!(
        text,
        "\nProtocol versions of this build: {} to {}.\n",
        proto::PROTOCOL[0],
        proto::PROTOCOL[1]
    );
    text.push_str(
        "\n## Methods\n\n| method | role | changes something | description |\n|---|---|---|---|\n",
    );
    let methods = schema["methods"]
        .as_object()
        .expect("the schema has methods");
    for (name, method) in methods {
        let role = method["role"].as_str().unwrap_or_default();
        let mutates = if method["mutates"] == true {
            "yes"
        } else {
            "no"
        };
        let _ = writeln!(
            text,
            "| [`{name}`](#{}) | {role} | {mutates} | {} |",
            anchor(name),
            cell(summary(method))
        );
    }
    for (name, method) in methods {
        let _ = write!(text, "\n### `{name}`\n\n{}\n", summary(method));
        part(&mut text, "Parameters", &method["params"], types);
        part(&mut text, "Answer", &method["result"], types);
    }
    text.push_str(
        "\n## Events\n\nEvents are `event` notifications with `{subscription, event}`. Durable events are records of \
         the session's log and have a `seq`; live events have none.\n\n| kind | | `data` |\n|---|---|---|\n",
    );
    for (kinds, what) in [("records", "durable"), ("live", "live")] {
        for (kind, data) in schema[kinds].as_object().expect("the schema has events") {
            let _ = writeln!(text, "| `{kind}` | {what} | {} |", named(data));
        }
    }
    text.push_str("\n## Types\n");
    let mut sorted: Vec<_> = types.iter().filter(|(name, _)| !inlined(name)).collect();
    sorted.sort_by_key(|(name, _)| *name);
    for (name, shape) in sorted {
        let _ = write!(text, "\n### {name}\n");
        let about = about(shape);
        if !about.is_empty() {
            let _ = write!(text, "\n{about}\n");
        }
        body(&mut text, shape);
    }
    text
}

/// Parameters and answers of methods are with their method, not among the types.
fn inlined(name: &str) -> bool {
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    name == "Empty" || name.ends_with("Params") || name.ends_with("Output") && name != "ToolOutput"
}

/// Parameters or answer of a method.
fn part(text: &mut String, title: &str, reference: &Value, types: &Map<String, Value>) {
    let name = reference["$ref"]
        .as_str()
        .and_then(|path| path.rsplit('/').next())
        .unwrap_or_default();
    if !inlined(name) {
        let _ = write!(text, "\n{title}: {}.\n", named(reference));
        return;
    }
    let shape = &types[name];
    let is_object = shape["oneOf"].is_null() && shape["anyOf"].is_null();
    if is_object && shape["properties"].as_object().is_none_or(Map::is_empty) {
        let _ = write!(text, "\n{title}: none (`{{}}`).\n");
        return;
    }
    let _ = write!(text, "\n{title}:\n");
    body(text, shape);
}

/// What a type is made of: fields, words, or another type.
fn body(text: &mut String, shape: &Value) {
    if let Some(fields) = shape["properties"].as_object() {
        text.push_str("\n| field | type | |\n|---|---|---|\n");
        let required = shape["required"].as_array().cloned().unwrap_or_default();
        for (name, field) in fields {
            let optional = if required.iter().any(|one| one == name) {
                ""
            } else {
                "?"
            };
            let _ = writeln!(
                text,
                "| `{name}`{optional} | {} | {} |",
                named(field),
                cell(about(field))
            );
        }
        return;
    }
    let variants = shape["oneOf"]
        .as_array()
        .or_else(|| shape["anyOf"].as_array());
    if let Some(variants) = variants {
        text.push_str("\n| one of | |\n|---|---|\n");
        for variant in variants {
            let _ = writeln!(text, "| {} | {} |", named(variant), cell(about(variant)));
        }
        return;
    }
    let _ = write!(text, "\nA {}.\n", named(shape));
}

/// A type in one cell.
fn named(shape: &Value) -> String {
    let Some(object) = shape.as_object() else {
        return "anything".to_owned();
    };
    if let Some(path) = object.get("$ref").and_then(Value::as_str) {
        let name = path.rsplit('/').next().unwrap_or_default();
        return format!("[{name}](#{})", type_anchor(name));
    }
    if let Some(word) = object.get("const") {
        return format!("`{word}`").replace('"', "");
    }
    if let Some(words) = object.get("enum").and_then(Value::as_array) {
        let words = words.iter().filter(|word| !word.is_null());
        return words
            .map(|word| format!("`{word}`").replace('"', ""))
            .collect::<Vec<_>>()
            .join(", ");
    }
    if let Some(choices) = object
        .get("anyOf")
        .or_else(|| object.get("oneOf"))
        .and_then(Value::as_array)
    {
        let known = choices.iter().filter(|choice| choice["type"] != "null");
        return known.map(named).collect::<Vec<_>>().join(" or ");
    }
    let kinds: Vec<_> = match object.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .filter(|kind| *kind != "null")
            .collect(),
        _ => return "anything".to_owned(),
    };
    let kinds: Vec<_> = kinds.into_iter().map(|kind| one(kind, object)).collect();
    kinds.join(" or ")
}

fn one(kind: &str, object: &Map<String, Value>) -> String {
    match kind {
        "string" if object.get("format").is_some_and(|format| format == "uuid") => {
            "UUID".to_owned()
        }
        "string" => "text".to_owned(),
        "integer" => "whole number".to_owned(),
        "boolean" => "yes or no".to_owned(),
        "array" => match (object.get("items"), object.get("prefixItems")) {
            (_, Some(Value::Array(items))) => format!(
                "[{}]",
                items.iter().map(named).collect::<Vec<_>>().join(", ")
            ),
            (Some(items), _) => format!("list of {}", named(items)),
            _ => "list".to_owned(),
        },
        "object" => match (
            object.get("properties").and_then(Value::as_object),
            object.get("additionalProperties"),
        ) {
            (Some(fields), _) => {
                let fields = fields
                    .iter()
                    .map(|(name, field)| format!("`{name}`: {}", named(field)));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
            (None, Some(values)) if values.is_object() => format!("map of {}", named(values)),
            _ => "object".to_owned(),
        },
        other => other.to_owned(),
    }
}

fn about(shape: &Value) -> &str {
    shape["description"].as_str().unwrap_or_default()
}

fn summary(method: &Value) -> &str {
    method["about"].as_str().unwrap_or_default()
}

/// The anchor that a heading gets on the usual hosts of Markdown.
fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
        .collect::<String>()
        .to_lowercase()
}

/// The anchor of a type. Methods come first: the heading of `SessionSet` is the second that gives `sessionset`.
fn type_anchor(name: &str) -> String {
    let anchor_of_type = anchor(name);
    let mut methods = proto::methods::NAMES.iter();
    match methods.any(|method| anchor(method) == anchor_of_type) {
        true => format!("{anchor_of_type}-1"),
        false => anchor_of_type,
    }
}

/// Text that fits a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
