//! Parses one rule from its text.
//!
//! Knows the syntax of rules, not what they are matched against. A rule that cannot be parsed allows nothing; if it
//! denies or asks, it applies to the whole family. Called by `ruleset`.

use std::fmt;

use contract::{ArgumentUse, Family, ToolSpec};
use serde::{Deserialize, Serialize};

use crate::call::is_mcp;
use crate::names::KnownTools;
use crate::pathrules::PathPattern;
use crate::shell;
use crate::textrules::{Pattern, PatternEnd};

/// The list that a rule is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum List {
    Allow,
    Ask,
    Deny,
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// A rule that may not mean what its author intended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{layer}: {list} rule `{text}`: {reason}")]
pub struct RuleProblem {
    pub layer: crate::Layer,
    pub list: List,
    /// The rule as written.
    pub text: String,
    /// What is wrong.
    pub fault: String,
    /// What is wrong, and how the rule is applied now.
    pub reason: String,
}

/// The tools that a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    Bash,
    Edit,
    Read,
    WebFetch,
    WebSearch,
    Task,
    Memory,
    Mcp,
    McpServer(String),
    Tool(String),
    /// Unknown: a rule that denies or asks applies to every call that changes something.
    Unknown,
}

/// The part of a rule after its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Matcher {
    All,
    /// The whole line: for rules that allow.
    Line(String),
    /// Leading words of one plain command: for rules that allow.
    Words(Vec<String>),
    /// Texts of commands: for rules that deny or ask.
    Texts(Vec<Pattern>),
    Path(PathPattern),
    Domain(String),
}

/// A parsed rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) target: Target,
    pub(crate) matcher: Matcher,
}

/// The specifier after a rule's name.
enum Specifier<'a> {
    Pattern(&'a str),
    Literal(&'a str),
}

/// Parses a rule. `Err`: the target that it applies to if it denies or asks, and what is wrong.
pub(crate) fn parse(
    text: &str,
    list: List,
    known: KnownTools<'_>,
) -> Result<Rule, (Target, String)> {
    let text = text.trim();
    let (name, specifier) = split(text).map_err(|reason| (Target::Unknown, reason))?;
    let target = target(name, text, known)?;
    let (specifier, literal) = match specifier {
        None => {
            return Ok(Rule {
                target,
                matcher: Matcher::All,
            });
        }
        Some(Specifier::Pattern(text)) => (text.trim(), false),
        Some(Specifier::Literal(text)) => (text.trim(), true),
    };
    if specifier.is_empty() {
        return Err((target, "it has no subject".to_owned()));
    }
    let matcher = match &target {
        Target::Bash => bash(specifier, literal, list),
        Target::Edit | Target::Read => path(specifier, literal),
        Target::Tool(tool) if literal => return literal_tool(tool, specifier, known),
        Target::WebFetch => domain(specifier),
        Target::Mcp => return mcp(specifier).map_err(|reason| (target, reason)),
        Target::WebSearch
        | Target::Task
        | Target::Memory
        | Target::McpServer(_)
        | Target::Tool(_)
        | Target::Unknown => Err("this kind of rule has no parentheses".to_owned()),
    };
    match matcher {
        Ok(matcher) => Ok(Rule { target, matcher }),
        Err(reason) => Err((target, reason)),
    }
}

/// Splits a rule: `Name`, `Name(specifier)` or the older `name=literal`.
fn split(text: &str) -> Result<(&str, Option<Specifier<'_>>), String> {
    let end = text.find(['(', '=']).unwrap_or(text.len());
    let name = text[..end].trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(is_name) {
        return Err("a rule is `Tool` or `Tool(specifier)`".to_owned());
    }
    let rest = &text[end..];
    if rest.is_empty() {
        return Ok((name, None));
    }
    if let Some(literal) = rest.strip_prefix('=') {
        return Ok((name, Some(Specifier::Literal(literal))));
    }
    match rest
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    {
        Some(specifier) => Ok((name, Some(Specifier::Pattern(specifier)))),
        None => Err("the `)` at its end is missing".to_owned()),
    }
}

/// The problem to report for a valid rule about a tool that does not exist: another version or a server may have it.
pub(crate) fn unknown_tool(rule: &Rule, known: KnownTools<'_>) -> Option<String> {
    match &rule.target {
        Target::Tool(tool) if !is_mcp(tool) && known.tool(tool).is_none() => {
            Some(no_tool(tool, tool, known))
        }
        _ => None,
    }
}

/// The problem that no tool has this name, with the rule that was probably meant.
fn no_tool(name: &str, rule: &str, known: KnownTools<'_>) -> String {
    let rest = rule.strip_prefix(name).unwrap_or_default();
    match known.nearest(name, !is_id(name, rule)) {
        Some(nearest) => format!("unknown tool `{name}` (did you mean `{nearest}{rest}`?)"),
        None => format!("unknown tool `{name}`"),
    }
}

/// Whether a rule is the name of one tool.
fn is_id(name: &str, rule: &str) -> bool {
    name == rule && !name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// The target of a name. `rule`: the whole rule.
fn target(name: &str, rule: &str, known: KnownTools<'_>) -> Result<Target, (Target, String)> {
    Ok(match name {
        "Bash" => Target::Bash,
        "Edit" | "Write" => Target::Edit,
        "Read" => Target::Read,
        "WebFetch" => Target::WebFetch,
        "WebSearch" => Target::WebSearch,
        "Task" => Target::Task,
        "Memory" => Target::Memory,
        "Mcp" => Target::Mcp,
        "NotebookRead" => return Err((Target::Read, foreign(name, "Read"))),
        _ => match name.strip_prefix("mcp__") {
            Some(rest) => match rest.split_once("__") {
                Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
                    Target::Tool(name.to_owned())
                }
                None if !rest.is_empty() => Target::McpServer(rest.to_owned()),
                Some(_) | None => {
                    return Err((
                        Target::Mcp,
                        "it does not name an MCP server or tool".to_owned(),
                    ));
                }
            },
            None => match (known.tool(name), known.foreign(name)) {
                (Some(tool), _) => target_of(tool),
                (None, Some(tool)) => return Err((target_of(tool), foreign(name, &tool.name))),
                (None, None) => return another(name, rule, known),
            },
        },
    })
}

/// The target of a rule with the name of this tool. The family's name means the same as the name of its only tool.
fn target_of(tool: &ToolSpec) -> Target {
    let runs = |(_, stands_for): &(String, ArgumentUse)| *stands_for == ArgumentUse::Command;
    match tool.family {
        Family::Bash if tool.arguments.iter().any(runs) => Target::Bash,
        Family::WebFetch => Target::WebFetch,
        Family::WebSearch => Target::WebSearch,
        Family::Task => Target::Task,
        Family::Bash | Family::Edit | Family::Read | Family::Memory | Family::Session => {
            Target::Tool(tool.name.to_string())
        }
    }
}

fn foreign(name: &str, write: &str) -> String {
    format!("`{name}` is another product's tool name; write `{write}`")
}

/// The target of a name that is not one of ours.
fn another(name: &str, rule: &str, known: KnownTools<'_>) -> Result<Target, (Target, String)> {
    if let Some(same) = known.same(name) {
        let meant = target(same, same, known).unwrap_or(Target::Unknown);
        return Err((meant, no_tool(name, rule, known)));
    }
    // A tool of this name may appear later, but it has no known subjects and no family.
    if is_id(name, rule) {
        Ok(Target::Tool(name.to_owned()))
    } else {
        Err((Target::Unknown, no_tool(name, rule, known)))
    }
}

fn mcp(specifier: &str) -> Result<Rule, String> {
    let (server, tool) = match specifier.split_once(':') {
        Some((server, tool)) => (server, Some(tool)),
        None => (specifier, None),
    };
    let is_name = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    if !is_name(server) || tool.is_some_and(|tool| !is_name(tool)) {
        return Err("write `Mcp(server)` or `Mcp(server:tool)`".to_owned());
    }
    let target = match tool {
        Some(tool) => Target::Tool(format!("mcp__{server}__{tool}")),
        None => Target::McpServer(server.to_owned()),
    };
    Ok(Rule {
        target,
        matcher: Matcher::All,
    })
}

fn path(specifier: &str, literal: bool) -> Result<Matcher, String> {
    let text = if literal {
        globset::escape(specifier)
    } else {
        specifier.to_owned()
    };
    PathPattern::parse(&text)
        .map(Matcher::Path)
        .map_err(|error| error.to_string())
}

/// `write_file=docs/a.md`: the older form, for file tools with a path.
fn literal_tool(
    tool: &str,
    specifier: &str,
    known: KnownTools<'_>,
) -> Result<Rule, (Target, String)> {
    let spec = known.tool(tool);
    let takes_path = |(_, stands_for): &(String, ArgumentUse)| match stands_for {
        ArgumentUse::Read | ArgumentUse::Search | ArgumentUse::Edit | ArgumentUse::Create => true,
        ArgumentUse::Command | ArgumentUse::Pattern | ArgumentUse::Url => false,
    };
    let spec = spec.filter(|spec| spec.arguments.iter().any(takes_path));
    let target = match spec.map(|spec| spec.family) {
        Some(Family::Edit) => Target::Edit,
        Some(Family::Read) => Target::Read,
        _ => {
            return Err((
                Target::Tool(tool.to_owned()),
                "this tool does not take a literal subject".to_owned(),
            ));
        }
    };
    match path(specifier, true) {
        Ok(matcher) => Ok(Rule { target, matcher }),
        Err(reason) => Err((Target::Tool(tool.to_owned()), reason)),
    }
}

fn domain(specifier: &str) -> Result<Matcher, String> {
    let host = specifier
        .strip_prefix("domain:")
        .map(str::trim)
        .unwrap_or_default();
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let plain = host
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
    if host.is_empty() || !plain || host.starts_with('.') {
        return Err("write `WebFetch(domain:example.org)`; subdomains are included".to_owned());
    }
    Ok(Matcher::Domain(host))
}

fn bash(specifier: &str, literal: bool, list: List) -> Result<Matcher, String> {
    let tightens = list != List::Allow;
    let late_star = || Err("in an allow rule, `*` works only at the end".to_owned());
    if literal {
        return Ok(line(specifier, tightens));
    }
    if matches!(specifier, "*" | ":*") {
        return if tightens {
            Ok(Matcher::All)
        } else {
            Err("to allow every command, write `Bash`".to_owned())
        };
    }
    if let Some(prefix) = specifier
        .strip_suffix(":*")
        .or_else(|| specifier.strip_suffix(" *"))
    {
        return match prefix.trim() {
            "" => Err("it does not name a program".to_owned()),
            prefix if tightens => Ok(texts(prefix, PatternEnd::Word)),
            prefix if prefix.contains('*') => late_star(),
            prefix => words(prefix),
        };
    }
    if !specifier.contains('*') {
        return Ok(line(specifier, tightens));
    }
    if tightens {
        return Ok(texts(specifier, PatternEnd::Text));
    }
    // `Bash(git log*)` allows no more than `Bash(git log:*)`: an allow rule ends at a word boundary.
    match specifier.strip_suffix('*') {
        Some(prefix) if !prefix.contains('*') => words(prefix),
        Some(_) | None => late_star(),
    }
}

/// An exact rule: the whole line; in a rule that denies or asks, also each command.
fn line(text: &str, tightens: bool) -> Matcher {
    if tightens {
        texts(text, PatternEnd::Text)
    } else {
        Matcher::Line(shell::trim(text).to_owned())
    }
}

fn words(prefix: &str) -> Result<Matcher, String> {
    // Most prefixes are letters and blanks: these are read without a parser, so that ten thousand are fast.
    if let Some(words) = shell::plain_words(prefix) {
        return Ok(Matcher::Words(words));
    }
    let script = shell::read(prefix);
    let doubt = script.doubt;
    match script.into_plain() {
        Some(words) => Ok(Matcher::Words(
            words.into_iter().map(|word| word.text).collect(),
        )),
        None => Err(format!(
            "a prefix must be the start of one plain command, but {}",
            doubt.map_or("it is not one plain command", |doubt| doubt.words())
        )),
    }
}

/// A rule that denies or asks over text: as written, and in the readings that lines with special characters have.
fn texts(text: &str, end: PatternEnd) -> Matcher {
    let mut forms = vec![shell::join(text.split_whitespace())];
    for reading in shell::readings(text) {
        if !reading.is_empty() && !forms.contains(&reading) {
            forms.push(reading);
        }
    }
    Matcher::Texts(forms.iter().map(|form| pattern(form, end)).collect())
}

/// `*` matches anything. If there is one, `?` and `[…]` are read as `*` too, because any other reading would match
/// less.
fn pattern(text: &str, end: PatternEnd) -> Pattern {
    let mut stars = String::with_capacity(text.len());
    let globs = text.contains('*');
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '?' if globs => stars.push('*'),
            '[' if globs && rest.contains(']') => {
                stars.push('*');
                rest = rest.split_once(']').map_or("", |(_, rest)| rest);
            }
            c => stars.push(c),
        }
    }
    let mut parts = stars.split('*').map(str::to_owned);
    let head = parts.next().unwrap_or_default();
    let pieces: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    let open = stars.ends_with('*');
    Pattern {
        head,
        pieces,
        end: if open { PatternEnd::Open } else { end },
    }
}
