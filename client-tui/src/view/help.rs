//! Keys and commands as rows, and as the page of the reference: made from their tables, so that none can be missing.

use std::fmt::Write as _;

use ratatui::text::{Line, Span};

use crate::keymap::{Action, BINDINGS, Binding, Context, shown, written};
use crate::messages::Language;
use crate::messages::pager::Msg;
use crate::model::ViewOptions;
use crate::render::wrap;
use crate::slash::{COMMANDS, Row};
use crate::theme::TextRole;

/// On narrower screens, the description is below its key.
const COLUMNS: usize = 72;
/// The widest column of keys.
const KEYS_MAX: usize = 32;
/// Where rows begin below their heading.
const INDENT: usize = 2;

/// How many sections there are.
pub const SECTIONS: usize = Context::ALL.len() + 2;

/// The rows of a section: first how to write, then the commands, then the keys by context.
#[must_use]
pub fn section(index: usize, look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
    let language = look.language;
    let (title, rows) = match index {
        0 => (language.say(Msg::WritingTitle), writing(language)),
        1 => (language.say(Msg::CommandsTitle), commands(language)),
        _ => match Context::ALL.get(index - 2) {
            Some(context) => (language.say(*context), keys(*context, language)),
            None => return Vec::new(),
        },
    };
    let mut out = Vec::new();
    if index > 0 {
        out.push(Line::default());
    }
    let heading = Span::styled(title, look.theme.style(TextRole::Heading));
    out.extend(wrap::line(&Line::from(heading), width));
    if index == 0 {
        let send = shown(Context::Composer, Action::Send);
        let words = language.fill(Msg::WriteSend, &[&send]);
        out.extend(indented(look, TextRole::Text, &words, INDENT, width));
    }
    out.extend(table(look, &rows, width));
    out
}

fn writing(language: Language) -> Vec<(String, &'static str)> {
    let newline = format!("\\ {}", shown(Context::Composer, Action::Send));
    vec![
        ("@".to_owned(), language.say(Msg::WriteFile)),
        ("/".to_owned(), language.say(Msg::WriteSlash)),
        ("!".to_owned(), language.say(Msg::WriteShell)),
        (newline, language.say(Msg::WriteNewline)),
        (
            language.say(Msg::Paste).to_owned(),
            language.say(Msg::WritePaste),
        ),
    ]
}

fn commands(language: Language) -> Vec<(String, &'static str)> {
    COMMANDS
        .iter()
        .map(|row| (command(row), language.say(row.about)))
        .collect()
}

/// A command's usage: `/quit, /exit, /q`, `/fork [NAME]`.
fn command(row: &Row) -> String {
    let mut words = format!("/{}", row.name);
    for alias in row.aliases {
        let _ = write!(words, ", /{alias}");
    }
    if !row.arguments.is_empty() {
        let _ = write!(words, " {}", row.arguments);
    }
    words
}

fn keys(context: Context, language: Language) -> Vec<(String, &'static str)> {
    bindings(context)
        .map(|row| (names(row), language.say(row.about())))
        .collect()
}

fn bindings(context: Context) -> impl Iterator<Item = &'static Binding> {
    BINDINGS.iter().filter(move |row| row.context == context)
}

fn names(row: &Binding) -> String {
    let names: Vec<_> = row.keys.iter().map(|name| written(name)).collect();
    names.join(", ")
}

fn table(look: &ViewOptions, rows: &[(String, &'static str)], width: usize) -> Vec<Line<'static>> {
    let widest = rows.iter().map(|row| wrap::width(&row.0));
    let column = widest.filter(|cells| *cells <= KEYS_MAX).max().unwrap_or(0);
    let mut out = Vec::new();
    for (name, about) in rows {
        let cells = wrap::width(name);
        if width < COLUMNS || cells > column {
            out.extend(indented(look, TextRole::Strong, name, INDENT, width));
            out.extend(indented(look, TextRole::Text, about, INDENT * 2, width));
            continue;
        }
        let start = INDENT + column + INDENT;
        let rows = indented(look, TextRole::Text, about, start, width);
        for (index, mut line) in rows.into_iter().enumerate() {
            if let (0, Some(first)) = (index, line.spans.first_mut()) {
                *first = Span::raw(" ".repeat(INDENT));
                let style = look.theme.style(TextRole::Strong);
                line.spans.insert(1, Span::styled(name.clone(), style));
                let gap = " ".repeat(start - INDENT - cells);
                line.spans.insert(2, Span::raw(gap));
            }
            out.push(line);
        }
    }
    out
}

/// Wrapped text, each row of it indented.
fn indented(
    look: &ViewOptions,
    ink: TextRole,
    words: &str,
    indent: usize,
    width: usize,
) -> Vec<Line<'static>> {
    let indent = indent.min(width / 2);
    let line = Line::from(Span::styled(words.to_owned(), look.theme.style(ink)));
    let mut rows = wrap::line(&line, width.saturating_sub(indent).max(1));
    for row in &mut rows {
        row.spans.insert(0, Span::raw(" ".repeat(indent)));
    }
    rows
}

/// The page of the reference, in English.
#[must_use]
pub fn markdown() -> String {
    let language = Language::English;
    let mut out = String::from(
        "# Keys and commands of the terminal interface\n\n\
         The innermost open view handles a key first. Keys that it does not use work as listed under Everywhere.\n\n\
         *Generated from the code; a test compares. Do not edit by hand.*\n",
    );
    for context in Context::ALL {
        let _ = write!(
            out,
            "\n## {}\n\n| key | description |\n|---|---|\n",
            language.say(*context)
        );
        for row in bindings(*context) {
            let keys: Vec<_> = row.keys.iter().map(|name| code(&written(name))).collect();
            let about = escaped(language.say(row.about()));
            let _ = writeln!(out, "| {} | {about} |", keys.join(", "));
        }
    }
    let title = language.say(Msg::CommandsTitle);
    let _ = write!(
        out,
        "\n## {title}\n\n| command | description | least role | needs a session |\n|---|---|---|---|\n"
    );
    for row in COMMANDS {
        let role = row.role.as_str();
        let session = if row.session { "yes" } else { "no" };
        let about = escaped(language.say(row.about));
        let _ = writeln!(
            out,
            "| {} | {about} | {role} | {session} |",
            code(&command(row))
        );
    }
    out
}

fn code(words: &str) -> String {
    format!("`{}`", escaped(words))
}

fn escaped(words: &str) -> String {
    words.replace('|', "\\|")
}

#[cfg(test)]
mod tests;
