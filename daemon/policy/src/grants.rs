//! The scopes that an approval may cover beyond this one call.
//!
//! A scope is a rule that the answer adds, for the session or always. A scope is not offered if it would not cover the
//! call itself, or would not match exactly what it says. `grants/passing` finds calls that are never made twice. Called
//! by `decide`.

mod passing;

use contract::Family;
use proto::params::interaction::Scope;
use proto::record::Verdict;

use crate::call::{Access, Call, is_mcp};
use crate::command::CommandForms;
use crate::context::ResolvedPath;
use crate::decide::{Finding, JudgeContext};
use crate::names::KnownTools;
use crate::options;
use crate::pathrules::{PathPattern, PatternBase};
use crate::programs;
use crate::rule::{self, List, Matcher, Rule, Target};
use crate::ruleset;
use crate::shell::{self, Word};
use crate::tables::tables;

/// Scopes for a command, narrowest first. `of_parts`: whether each of its parts is allowed already.
pub(crate) fn command(whole: &CommandForms<'_>, of_parts: &[Finding]) -> Vec<Scope> {
    let mut scopes = Vec::new();
    let line = shell::trim(whole.command);
    let readable = !whole.script.is_hard();
    let exact = format!("Bash({line})");
    // Here-documents and the like are never the same again, so a rule for the exact line is useless.
    if readable && !line.contains('\n') && is_line(&exact, line) {
        scopes.push(Scope {
            rule: exact,
            words: "this exact command".to_owned(),
            always: !passing::is_passing(&whole.script),
        });
    }
    // A prefix is offered only if it would allow the line: exactly one part is not allowed, and that is a plain
    // command.
    let parts = whole.script.parts.iter().zip(of_parts);
    let mut missing = parts.filter(|(_, finding)| finding.verdict != Verdict::Allow);
    let first = missing
        .next()
        .or_else(|| whole.script.parts.first().zip(of_parts.first()));
    if let (Some((part, _)), None, None) = (first, missing.next(), whole.script.doubt) {
        let plain = part.via.is_empty() && part.assignments.is_empty() && part.doubt.is_none();
        let copies = part
            .redirections
            .iter()
            .all(|to| *to == shell::Redirection::Copy);
        let known = part
            .words
            .iter()
            .all(|word| word.value == shell::Value::Known && !word.coded);
        if plain && copies && known {
            scopes.extend(prefix(&part.words));
        }
    }
    scopes
}

/// Parses a rule about a family, independent of the existing tools.
fn read(rule: &str) -> Result<Rule, (Target, String)> {
    rule::parse(rule, List::Allow, KnownTools(&[]))
}

fn is_line(rule: &str, line: &str) -> bool {
    read(rule).is_ok_and(|rule| rule.matcher == Matcher::Line(line.to_owned()))
}

fn prefix(words: &[Word]) -> Option<Scope> {
    let program = words.first()?.text.as_str();
    if program.contains('/') || programs::holds_commands(words) {
        return None;
    }
    let named = match tables().grantable_subcommands.get(program) {
        Some(known) => {
            let subcommand = words.get(1)?.text.as_str();
            if !known.contains(subcommand) {
                return None;
            }
            // `npm run` alone would allow every script.
            if subcommand == "run" { 3 } else { 2 }
        }
        None if tables().single_purpose.contains(program) => 1,
        None => return None,
    };
    let plain = |word: &Word| {
        word.text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'))
    };
    let head = words.get(..named)?;
    if !head.iter().all(plain) || head.iter().skip(1).any(|word| word.text.starts_with('-')) {
        return None;
    }
    if options::risk(words, named).is_some() {
        return None;
    }
    let text = shell::join(head.iter().map(|word| word.text.as_str()));
    let rule = format!("Bash({text}:*)");
    let expected: Vec<String> = head.iter().map(|word| word.text.clone()).collect();
    let says_so = read(&rule).is_ok_and(|rule| rule.matcher == Matcher::Words(expected));
    says_so.then(|| Scope {
        rule,
        words: format!("`{text}` with any arguments"),
        always: true,
    })
}

/// Scopes for a file tool: all edits for this session; always, only the file of this call.
pub(crate) fn edit(case: &JudgeContext<'_>) -> Vec<Scope> {
    let mut scopes = vec![Scope {
        rule: "Edit".to_owned(),
        words: "editing files in the workspace".to_owned(),
        always: false,
    }];
    scopes.extend(one_file(case));
    scopes
}

/// The edited file as rules write it: relative to the workspace root if it is below, or else absolute.
fn one_file(case: &JudgeContext<'_>) -> Option<Scope> {
    let mut edited = case.context.paths.iter();
    let file = edited.find(|path| path.access == Access::Edit)?;
    let place = file.absolute.as_ref()?;
    let is_other = |path: &ResolvedPath| path.absolute.as_ref() != Some(place);
    if case.context.paths.iter().any(is_other) || file.directory {
        return None;
    }
    let (base, path) = match place.strip_prefix(&case.context.root) {
        Ok(below) => (PatternBase::Root, below),
        Err(_) => (PatternBase::Absolute, place.as_path()),
    };
    let text = path.to_str()?;
    let literal = PathPattern {
        base,
        glob: text.trim_start_matches('/').to_owned(),
    };
    // A name with wildcards would be a rule over other files.
    let plain = !text.is_empty()
        && !text
            .chars()
            .any(|c| c.is_control() || "*?[]{}\\".contains(c));
    let rule = format!("Edit({text})");
    let read = read(&rule).ok().filter(|_| plain)?;
    (read.matcher == Matcher::Path(literal)).then(|| Scope {
        words: format!("editing `{text}`"),
        rule,
        always: true,
    })
}

/// Scopes for any other tool.
pub(crate) fn tool(call: &Call<'_>) -> Vec<Scope> {
    let name = &*call.tool.name;
    let plain = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if !plain {
        return Vec::new();
    }
    let mut scopes = Vec::new();
    if call.tool.family == Family::WebFetch
        && let Some(host) = ruleset::host(call)
        && let rule = format!("WebFetch(domain:{host})")
        && read(&rule).is_ok()
    {
        scopes.push(Scope {
            words: format!("fetching from `{host}`"),
            rule,
            always: true,
        });
    }
    // A user who has seen one call has not seen them all, so `always` is offered only for tools of a named server.
    scopes.push(Scope {
        rule: name.to_owned(),
        words: format!("every call of `{name}`"),
        always: is_mcp(name),
    });
    // A server's name never has the separator in it.
    if let Some((server, _)) = name
        .strip_prefix("mcp__")
        .and_then(|rest| rest.split_once("__"))
        && let rule = format!("mcp__{server}")
        && read(&rule).is_ok()
    {
        scopes.push(Scope {
            words: format!("every tool of the MCP server `{server}`"),
            rule,
            always: true,
        });
    }
    scopes
}
