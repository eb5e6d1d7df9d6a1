//! `/permissions`: the rules in force, to be read, and taking one back.

use proto::params::rules::{List, ListOutput, ListParams, RevokeOutput, RevokeParams};

use super::pager;
use crate::effect::{Call, Effect};
use crate::messages::app::Msg;
use crate::model::pager::PagerContent;
use crate::model::{Model, Tone};

/// The arguments of `/permissions`.
enum PermissionsCommand<'a> {
    All,
    Revoke(&'a str),
}

fn wanted(arguments: &str) -> Option<PermissionsCommand<'_>> {
    if arguments.is_empty() {
        return Some(PermissionsCommand::All);
    }
    let (verb, rule) = arguments.split_once(char::is_whitespace)?;
    let rule = rule.trim();
    (verb == "revoke" && !rule.is_empty()).then_some(PermissionsCommand::Revoke(rule))
}

/// Whether it is nothing that can be asked for.
pub(super) fn is_wrong(arguments: &str) -> bool {
    wanted(arguments).is_none()
}

/// Requests the rules of the session, or of the directory if there is none; or revokes one.
pub(super) fn ask(session: String, cwd: String, arguments: &str) -> Vec<Effect> {
    let session = Some(session).filter(|session| !session.is_empty());
    let cwd = session.is_none().then_some(cwd);
    let call = match wanted(arguments) {
        None => return Vec::new(),
        Some(PermissionsCommand::All) => Call::Rules(ListParams {
            session,
            cwd,
            from: 0,
        }),
        Some(PermissionsCommand::Revoke(rule)) => Call::Revoke(RevokeParams {
            rule: rule.to_owned(),
            session,
            cwd,
            place: None,
        }),
    };
    vec![Effect::Call(call)]
}

/// Shows the rules in force.
pub(super) fn show(model: &mut Model, found: &ListOutput) -> Vec<Effect> {
    let language = model.look.language;
    let plain = |text: &str| client::text::line(text);
    let approval_mode = found.approval_mode.as_str();
    let mut lines = vec![language.fill(Msg::RulesWhere, &[&plain(&found.root), approval_mode])];
    for (list, title) in [
        (List::Deny, Msg::RulesDeny),
        (List::Ask, Msg::RulesAsk),
        (List::Allow, Msg::RulesAllow),
    ] {
        let of_list: Vec<_> = found
            .rules
            .iter()
            .filter(|rule| rule.list == list)
            .collect();
        if of_list.is_empty() {
            continue;
        }
        lines.push(String::new());
        lines.push(language.say(title).to_owned());
        for rule in of_list {
            let from = format!("{}: {}", rule.layer, rule.origin);
            lines.push(language.fill(Msg::RuleFrom, &[&plain(&rule.rule), &plain(&from)]));
        }
    }
    if found.rules.is_empty() {
        lines.push(String::new());
        lines.push(language.say(Msg::RulesNone).to_owned());
    }
    if !found.problems.is_empty() {
        lines.push(String::new());
        lines.push(language.say(Msg::RulesProblems).to_owned());
        lines.extend(
            found
                .problems
                .iter()
                .map(|problem| format!("  ! {}", plain(problem))),
        );
    }
    lines.push(String::new());
    lines.push(language.say(Msg::RulesRevoke).to_owned());
    let title = language.say(Msg::RulesTitle).to_owned();
    pager::open(model, PagerContent::Lines { title, lines })
}

/// Reports where a rule was that was taken back.
pub(super) fn revoked(model: &mut Model, rule: &str, gone: &RevokeOutput) {
    let (rule, origin) = (client::text::line(rule), client::text::line(&gone.origin));
    let language = model.look.language;
    let words = language.fill(Msg::RuleRevoked, &[&rule, &origin]);
    model.toast(Tone::Good, words);
}

#[cfg(test)]
mod tests;
