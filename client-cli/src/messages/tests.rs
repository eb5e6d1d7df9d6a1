use std::collections::BTreeSet;
use std::path::Path;

use clap::Command;
use client::messages::{Language, Message};

use super::{
    SessionSetting, agents, asking, back, common, cost, daemon, help, line_mode, run, running,
    setup, stored, tables, talk,
};

fn places(words: &str) -> Vec<String> {
    let places = (0..10).map(|n| format!("{{{n}}}"));
    places
        .filter(|place| words.contains(place.as_str()))
        .collect()
}

fn complete<M: Message + std::fmt::Debug>(all: &[M]) {
    assert!(!all.is_empty());
    for message in all {
        let (english, chinese) = (message.english(), message.chinese());
        assert_eq!(english.is_empty(), chinese.is_empty(), "{message:?}");
        assert_eq!(places(english), places(chinese), "{message:?}");
    }
}

#[test]
fn every_message_has_both_languages_with_the_same_values() {
    complete(SessionSetting::ALL);
    complete(agents::Msg::ALL);
    complete(asking::Msg::ALL);
    complete(back::Msg::ALL);
    complete(common::Msg::ALL);
    complete(cost::Msg::ALL);
    complete(daemon::Msg::ALL);
    complete(help::Msg::ALL);
    complete(help::refusal::Msg::ALL);
    complete(line_mode::Line::ALL);
    complete(run::Msg::ALL);
    complete(running::Msg::ALL);
    complete(setup::Msg::ALL);
    complete(stored::Msg::ALL);
    complete(tables::Head::ALL);
    complete(tables::Label::ALL);
    complete(tables::Thing::ALL);
    complete(talk::Msg::ALL);
}

#[test]
fn words_of_line_mode_help_begin_in_one_column() {
    let columns = |text: &str| text.chars().map(client::text::width).sum::<usize>();
    for row in line_mode::Line::ALL {
        for text in [row.english(), row.chinese()] {
            let (command, words) = text[2..].rsplit_once("  ").expect("two columns");
            assert_eq!(columns(command), 18, "{text}");
            assert!(!words.starts_with(' '), "{text}");
        }
    }
}

#[test]
fn results_for_programs_are_english() {
    let asks =
        |line: &str| super::is_for_programs(&line.split(' ').map(Into::into).collect::<Vec<_>>());
    for line in [
        "ls --json",
        "run --output-format jsonl x",
        "run --output-format=json x",
    ] {
        assert!(asks(line), "{line}");
    }
    for line in [
        "ls",
        "run --output-format text x",
        "run -- --json",
        "run json",
    ] {
        assert!(!asks(line), "{line}");
    }
}

/// The paragraphs of the help of a command and all below it.
fn paragraphs(command: &Command, found: &mut BTreeSet<String>) {
    let mut texts: Vec<String> = Vec::new();
    let mut add =
        |text: Option<&clap::builder::StyledStr>| texts.extend(text.map(ToString::to_string));
    add(command.get_about());
    add(command.get_long_about());
    for arg in command.get_arguments() {
        add(arg.get_help());
        add(arg.get_long_help());
        for value in arg.get_possible_values() {
            add(value.get_help());
        }
    }
    let paragraphs = texts.iter().flat_map(|text| text.split("\n\n"));
    found.extend(paragraphs.map(|text| text.strip_suffix('.').unwrap_or(text).to_owned()));
    command
        .get_subcommands()
        .for_each(|command| self::paragraphs(command, found));
}

#[test]
fn every_paragraph_of_help_has_a_row_and_every_row_a_paragraph() {
    let mut found = BTreeSet::new();
    paragraphs(&crate::command(), &mut found);
    found.extend(
        crate::commands::GROUPS
            .iter()
            .map(|(title, _)| (*title).to_owned()),
    );
    let rows: BTreeSet<String> = help::rows::ROWS
        .iter()
        .map(|(english, _)| (*english).to_owned())
        .collect();
    let missing: Vec<_> = found.difference(&rows).collect();
    assert!(missing.is_empty(), "no Chinese for {missing:#?}");
    let unused: Vec<_> = rows.difference(&found).collect();
    assert!(unused.is_empty(), "no help says {unused:#?}");
    assert_eq!(rows.len(), help::rows::ROWS.len(), "a row is there twice");
}

/// Help in Chinese has no English words but names: text in backticks, options, and words in capitals.
#[test]
fn help_in_chinese_leaves_no_english_sentence() {
    fn check(command: &mut Command, path: &str) {
        let text = command.render_long_help().to_string();
        for line in text.lines() {
            assert!(!has_english_sentence(line), "{path}: {line}");
        }
        for sub in command.get_subcommands_mut() {
            let path = format!("{path} {}", sub.get_name());
            check(sub, &path);
        }
    }
    check(
        &mut help::in_chinese(crate::command_without_overview()),
        "reasonix",
    );
}

/// Three English words in a row, outside of backticks.
fn has_english_sentence(line: &str) -> bool {
    let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" 、 ");
    let mut row = 0;
    plain.split_whitespace().any(|word| {
        let is_word = word.len() > 1
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || ",.;:".contains(c));
        row = if is_word { row + 1 } else { 0 };
        row >= 3
    })
}

/// Sources whose words go to a model, to a shell, or to a program that writes lines of JSON. What a schema's problems are
/// is for the model first.
const FOR_PROGRAMS: [&str; 5] = [
    "/json_schema",
    "/commands/run/structured.rs",
    "/commands/run/input.rs",
    "/commands/run/driven.rs",
    "/commands/completions/dynamic.rs",
];

#[test]
fn no_source_holds_words_that_bypass_the_catalogs() {
    let mut found = Vec::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut |path, literal| {
            let for_people = !FOR_PROGRAMS
                .iter()
                .any(|end| path.to_string_lossy().contains(end));
            if for_people && is_sentence(literal) && !is_command(literal) && !is_title(literal) {
                found.push(format!("{}: {literal:?}", path.display()));
            }
        },
    );
    assert!(
        found.is_empty(),
        "put these into a catalog of `messages`: {found:#?}"
    );
}

/// Two words in a row; not text in backticks or values.
fn is_sentence(literal: &str) -> bool {
    let mut plain = String::new();
    for (index, part) in literal.split(['`', '{', '}']).enumerate() {
        plain.push_str(if index % 2 == 0 { part } else { "\u{1}" });
    }
    let is_word = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\u{1}');
        word.len() > 1 && word.chars().all(|c| c.is_ascii_alphabetic())
    };
    let words: Vec<bool> = plain.split_whitespace().map(is_word).collect();
    words.windows(2).any(|pair| pair[0] && pair[1])
}

/// A command line of ours, or the name of a command.
fn is_command(literal: &str) -> bool {
    let mut words = literal
        .split_whitespace()
        .filter(|word| !word.contains('='));
    let Some(first) = words.next() else {
        return false;
    };
    let program = crate::command();
    let second = words.next().unwrap_or_default();
    let names = |command: &Command, word: &str| {
        let is_placeholder = word.chars().all(|c| c.is_ascii_uppercase());
        word.starts_with(['-', '[']) || is_placeholder || command.find_subcommand(word).is_some()
    };
    match program.find_subcommand(first) {
        Some(command) => names(command, second),
        None => first.starts_with('/') || (first == "reasonix" && names(&program, second)),
    }
}

/// The title of a group of commands, which help translates.
fn is_title(literal: &str) -> bool {
    let mut titles = crate::commands::GROUPS.iter();
    titles.any(|(title, _)| *title == literal)
}

/// Calls for each string literal of the sources below a directory, without tests, catalogs, attributes and comments.
fn sources(path: &Path, each: &mut dyn FnMut(&Path, &str)) {
    if path.is_dir() {
        if path.ends_with("messages") {
            return;
        }
        let entries = std::fs::read_dir(path).unwrap();
        entries.for_each(|entry| sources(&entry.unwrap().path(), each));
    } else if path.extension().is_some_and(|extension| extension == "rs")
        && !path.ends_with("tests.rs")
    {
        let source = std::fs::read_to_string(path).unwrap();
        let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let lines = source.lines().filter(|line| {
            let line = line.trim_start();
            !line.starts_with("//") && !line.starts_with("#[")
        });
        let source = lines
            .collect::<Vec<_>>()
            .join("\n")
            .replace("\\\"", "\u{2}")
            .replace("'\"'", " ");
        source
            .split('"')
            .skip(1)
            .step_by(2)
            .for_each(|literal| each(path, literal));
    }
}

#[test]
fn every_setting_of_a_session_has_a_name_in_every_language() {
    let schema = schemars::schema_for!(proto::SessionOptions);
    let properties = schema.get("properties").and_then(|found| found.as_object());
    let options = properties.unwrap().keys().map(String::as_str);
    // Rules are listed by what they do.
    let options = options.filter(|name| *name != "rules");
    for name in options.chain(["allow", "ask", "deny", "grants"]) {
        assert_eq!(SessionSetting::shown(Language::English, name), name);
        assert_ne!(SessionSetting::shown(Language::Chinese, name), name);
    }
    assert_eq!(
        SessionSetting::shown(Language::Chinese, "new_one"),
        "new_one"
    );
}
