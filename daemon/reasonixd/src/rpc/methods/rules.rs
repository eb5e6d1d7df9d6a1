//! `rules.*` and `permission.explain`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::{ArgumentUse, Basis, ToolSet};
use policy::{Explanation, Layer, List, NestingStep, cases};
use proto::params::rules as p;
use proto::{ErrorName, Failure};
use session::{PermissionScope, Permissions};

use super::interaction::refuse_tools;
use crate::daemon::Daemon;
use crate::rpc::peer::Peer;
use crate::settings::edit;
use session::tasks::blocking;

/// Bytes of rules in a page: an answer stays well within a frame.
const PAGE_BYTES: usize = 256 * 1024;
/// The most problems in an answer.
const PROBLEMS_MAX: usize = 200;
/// The most parts of a call in an answer.
const PARTS_MAX: usize = 512;
/// The longest text of a rule, a part or a reason in an answer, in bytes.
const TEXT_MAX: usize = 4096;

/// Which rules are meant: those of a session, or of a directory.
pub(super) fn asked(
    session: Option<String>,
    cwd: Option<String>,
) -> Result<PermissionScope, Failure> {
    let wrong = |what: &str| {
        let hint = "Give a session, or the absolute path of a directory.";
        Failure::new(ErrorName::InvalidParams, what, hint)
    };
    match (session, cwd) {
        (Some(session), _) => Ok(PermissionScope::Session(session)),
        (None, Some(cwd)) if Path::new(&cwd).is_absolute() => {
            Ok(PermissionScope::Directory(PathBuf::from(cwd)))
        }
        (None, Some(_)) => Err(wrong("The directory must be an absolute path.")),
        (None, None) => Err(wrong("Neither a session nor a directory was given.")),
    }
}

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::ListParams,
) -> Result<p::ListOutput, Failure> {
    let asked = asked(params.session, params.cwd)?;
    let found = daemon.supervisor.permissions(&asked).await?;
    let from = usize::try_from(params.from).unwrap_or(usize::MAX);
    let mut rules = in_force(&found).into_iter().enumerate().skip(from);
    let (mut page, mut bytes, mut next) = (Vec::new(), 0, None);
    for (index, rule) in rules.by_ref() {
        bytes += rule.rule.len()
            + rule.origin.len()
            + rule.problem.as_ref().map_or(0, String::len)
            + 128;
        if bytes > PAGE_BYTES && !page.is_empty() {
            next = Some(index as u64);
            break;
        }
        page.push(rule);
    }
    let mut problems = if from == 0 {
        problems(&found)
    } else {
        Vec::new()
    };
    if problems.len() > PROBLEMS_MAX {
        let more = problems.len() - PROBLEMS_MAX;
        problems.truncate(PROBLEMS_MAX);
        problems.push(format!("and {more} more"));
    }
    Ok(p::ListOutput {
        session: found.session,
        root: found.root.display().to_string(),
        approval_mode: found.approval_mode,
        rules: page,
        problems: problems.iter().map(|text| short(text)).collect(),
        next,
    })
}

/// All rules, those that deny first; in a list layer by layer.
fn in_force(found: &Permissions) -> Vec<p::InForce> {
    let mut rules = Vec::new();
    for list in [List::Deny, List::Ask, List::Allow] {
        for layer in &found.layers {
            let texts = match list {
                List::Deny => &layer.rules.deny,
                List::Ask => &layer.rules.ask,
                List::Allow => &layer.rules.allow,
            };
            rules.extend(texts.iter().map(|text| {
                let misread = found.misread.iter().find(|problem| {
                    problem.layer == layer.layer && problem.list == list && problem.text == *text
                });
                p::InForce {
                    list: shown(list),
                    rule: short(text),
                    layer: layer.layer.to_string(),
                    origin: layer.origin.clone(),
                    problem: misread.map(|problem| short(&problem.reason)),
                }
            }));
        }
    }
    rules
}

/// Problems of the files, and of rules that are in no file.
fn problems(found: &Permissions) -> Vec<String> {
    let mut problems = found.problems.clone();
    // Those of files are reported with their lines when the files are read.
    let of_files = found.session.is_none();
    let is_reported = |layer| of_files && matches!(layer, Layer::User | Layer::Project);
    let misread = found
        .misread
        .iter()
        .filter(|problem| !is_reported(problem.layer));
    problems.extend(misread.map(ToString::to_string));
    let mut seen = BTreeSet::new();
    problems.retain(|problem| seen.insert(problem.clone()));
    problems
}

fn shown(list: List) -> p::List {
    match list {
        List::Deny => p::List::Deny,
        List::Ask => p::List::Ask,
        List::Allow => p::List::Allow,
    }
}

/// A text that fits an answer.
fn short(text: &str) -> String {
    match text.len() > TEXT_MAX {
        true => format!("{}…", &text[..text.floor_char_boundary(TEXT_MAX)]),
        false => text.to_owned(),
    }
}

pub async fn revoke(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::RevokeParams,
) -> Result<p::RevokeOutput, Failure> {
    refuse_tools(&peer)?;
    let asked = asked(params.session.clone(), params.cwd)?;
    let found = daemon.supervisor.permissions(&asked).await?;
    let rule = params.rule.trim().to_owned();
    let mut standing = standing(&daemon, &found, &rule).await?;
    if let Some(place) = params.place {
        standing.retain(|(found, _)| *found == place);
    }
    let (place, origin) = match standing.as_slice() {
        [] => return Err(not_there(&found, &rule)),
        [one] => one.clone(),
        several => return Err(ambiguous(&rule, several)),
    };
    let gone = match (place, params.session) {
        (p::Place::Session, Some(session)) => {
            daemon
                .supervisor
                .revoke(&session, &rule, peer.name())
                .await?
        }
        (p::Place::Session, None) => false,
        (p::Place::Persisted, _) => {
            let (daemon, root, rule) = (Arc::clone(&daemon), found.root.clone(), rule.clone());
            blocking(move || daemon.kept.of(&root).forget(&rule)).await??
        }
        (p::Place::User, _) => {
            let (daemon, rule) = (Arc::clone(&daemon), rule.clone());
            blocking(move || edit::forget_rule(&daemon.home.config(), &rule)).await??
        }
    };
    match gone {
        true => Ok(p::RevokeOutput { place, origin }),
        // Somebody was faster.
        false => Err(not_there(&found, &rule)),
    }
}

/// Where a rule is that can be removed from there.
async fn standing(
    daemon: &Arc<Daemon>,
    found: &Permissions,
    rule: &str,
) -> Result<Vec<(p::Place, String)>, Failure> {
    let mut places = Vec::new();
    for layer in &found.layers {
        let place = match layer.layer {
            Layer::Session => p::Place::Session,
            Layer::Persisted => p::Place::Persisted,
            // A session knows its user's rules as they were: the file is what counts.
            Layer::User | Layer::Project | Layer::Run | Layer::BuiltIn => continue,
        };
        if layer.rules.allow.iter().any(|known| known == rule) {
            places.push((place, layer.origin.clone()));
        }
    }
    let (config, wanted) = (daemon.home.config(), rule.to_owned());
    let file = config.clone();
    if blocking(move || edit::allows_rule(&file, &wanted)).await? {
        places.push((p::Place::User, config.display().to_string()));
    }
    Ok(places)
}

fn not_there(found: &Permissions, rule: &str) -> Failure {
    let other = found.layers.iter().find(|layer| {
        let allowed = layer.rules.allow.iter().any(|known| known == rule);
        allowed && matches!(layer.layer, Layer::Project | Layer::Run)
    });
    let shown = short(rule);
    match other {
        Some(layer) if layer.layer == Layer::Run => Failure::new(
            ErrorName::NotAllowed,
            format!(
                "`{shown}` was set when the session was created and cannot be removed from it."
            ),
            "Start a new session without it.",
        ),
        Some(layer) => Failure::new(
            ErrorName::NotAllowed,
            format!("`{shown}` is in the project's file {}.", layer.origin),
            "Edit that file yourself, or stop trusting it with `reasonix trust --no`.",
        ),
        None => Failure::new(
            ErrorName::NotFound,
            format!("There is no allow rule `{shown}` to remove here."),
            "List the rules with `reasonix permissions list`; add `--session` for those of a session.",
        ),
    }
}

fn ambiguous(rule: &str, several: &[(p::Place, String)]) -> Failure {
    let places: Vec<_> = several
        .iter()
        .map(|(place, origin)| {
            let place = serde_json::to_value(place).unwrap_or_default();
            format!("{} ({origin})", place.as_str().unwrap_or_default())
        })
        .collect();
    Failure::new(
        ErrorName::Ambiguous,
        format!(
            "`{}` is in several places: {}.",
            short(rule),
            places.join(", ")
        ),
        "Choose one with `--from session`, `--from kept` or `--from user`.",
    )
    .with("candidates", places)
}

pub async fn check(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::CheckParams,
) -> Result<p::CheckOutput, Failure> {
    blocking(move || {
        let known: Vec<_> = daemon.tools.specs().collect();
        let ran = params
            .cases
            .iter()
            .map(|case| cases::run(case, workspace::is_protected, &known));
        p::CheckOutput {
            results: ran
                .map(|ran| p::Checked {
                    id: short(&ran.id),
                    verdict: ran.verdict.to_owned(),
                    rule: short(&ran.rule),
                    ok: ran.ok,
                    honest: ran.honest,
                    hostile: ran.hostile,
                })
                .collect(),
        }
    })
    .await
}

/// The tool that runs commands, and the argument that has the command.
fn command_tool(tools: &ToolSet) -> (String, String) {
    let mut specs = tools.specs();
    let found = specs.find_map(|spec| {
        let mut arguments = spec.arguments.iter();
        let runs = |(_, stands_for): &&(String, ArgumentUse)| *stands_for == ArgumentUse::Command;
        let (argument, _) = arguments.find(runs)?;
        Some((spec.name.to_string(), argument.clone()))
    });
    found.unwrap_or_default()
}

pub async fn explain(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::ExplainParams,
) -> Result<p::ExplainOutput, Failure> {
    let asked = asked(params.session, params.cwd)?;
    let (tool, arguments) = match (params.tool, params.command) {
        (Some(tool), None) => (tool, params.arguments),
        (None, Some(command)) => {
            let (tool, argument) = command_tool(&daemon.tools);
            let command = serde_json::Value::String(command);
            (tool, [(argument, command)].into_iter().collect())
        }
        (Some(_), Some(_)) | (None, None) => {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                "Give either `command` or `tool`.",
                "With `tool`, also give its `arguments`.",
            ));
        }
    };
    let explained = daemon
        .supervisor
        .explain(&asked, tool, arguments, params.approval_mode)
        .await?;
    let Explanation {
        decision,
        doubt,
        parts,
    } = explained.explanation;
    Ok(p::ExplainOutput {
        tool: explained.tool,
        verdict: decision.verdict,
        rule: short(&decision.rule),
        layer: decision.layer,
        basis: match decision.basis {
            Basis::Rule => "rule",
            Basis::Fallback => "fallback",
            Basis::AlwaysAsked => "always_asked",
            Basis::NotAnalysed => "not_understood",
            Basis::EffectivePermissions => "mode",
        }
        .to_owned(),
        approval_mode: explained.approval_mode,
        read_only: decision.read_only,
        doubt: doubt.map(|doubt| doubt.words().to_owned()),
        parts: parts.into_iter().take(PARTS_MAX).map(part).collect(),
        scopes: decision.scopes,
    })
}

fn part(part: policy::ExplainedPart) -> p::ExplainedPart {
    p::ExplainedPart {
        text: short_of(&part.text),
        start: part.span.map(|span| span.start as u64),
        end: part.span.map(|span| span.end as u64),
        via: part.via.iter().map(via).collect(),
        doubt: part.doubt.map(|doubt| doubt.words().to_owned()),
        verdict: part.verdict,
        rule: short_of(&part.rule),
        layer: part.layer,
    }
}

/// As `short`, if there may be many.
fn short_of(text: &str) -> String {
    const EACH: usize = 512;
    match text.len() > EACH {
        true => format!("{}…", &text[..text.floor_char_boundary(EACH)]),
        false => text.to_owned(),
    }
}

fn via(via: &NestingStep) -> String {
    match via {
        NestingStep::Background => "in the background".to_owned(),
        NestingStep::PipeBoth => "in a `|&`".to_owned(),
        NestingStep::Negated => "negated".to_owned(),
        NestingStep::Subshell => "in a subshell".to_owned(),
        NestingStep::Group => "in a group".to_owned(),
        NestingStep::Loop => "in a loop".to_owned(),
        NestingStep::Condition => "in a condition".to_owned(),
        NestingStep::Case => "in a `case`".to_owned(),
        NestingStep::Function(name) => format!("in the function `{}`", short_of(name)),
        NestingStep::Substitution => "in a substitution".to_owned(),
        NestingStep::ProcessSubstitution => "in a process substitution".to_owned(),
        NestingStep::Inside => "inside an expression or text".to_owned(),
        NestingStep::Launched(program) => format!("launched by `{}`", short_of(program)),
        NestingStep::Line(program) => format!("a line for `{}`", short_of(program)),
    }
}
