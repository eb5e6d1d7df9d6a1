//! `/memory`: the facts that the session knows or would know, active and archived, and the user's changes of them.

use proto::params::memory::{
    FactInfo, FactOutput, ForgetParams, ListOutput, ListParams, ReadParams, RestoreParams,
    WriteParams,
};

use super::commands::called;
use crate::effect::{Call, Effect};
use crate::messages::app::Msg;
use crate::model::pager::PagerContent;
use crate::model::{Model, Tone};
use crate::update::pager;

/// What a line asks for.
enum Wanted<'a> {
    List,
    Add { name: &'a str, text: &'a str },
    Edit(&'a str),
    Forget(&'a str),
    Restore(&'a str),
}

/// Parses the arguments. `None`: they are none that `/memory` takes.
fn parse(arguments: &str) -> Option<Wanted<'_>> {
    if arguments.is_empty() {
        return Some(Wanted::List);
    }
    let (word, rest) = arguments.split_once(char::is_whitespace)?;
    let rest = rest.trim();
    let (name, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match word {
        "add" if !text.is_empty() => Some(Wanted::Add {
            name,
            text: text.trim(),
        }),
        _ if name.is_empty() || !text.is_empty() => None,
        "edit" => Some(Wanted::Edit(name)),
        "forget" => Some(Wanted::Forget(name)),
        "restore" => Some(Wanted::Restore(name)),
        _ => None,
    }
}

/// Whether the arguments are none that `/memory` takes.
pub fn is_wrong(arguments: &str) -> bool {
    parse(arguments).is_none()
}

/// The facts are those of the session, or of the directory: the one, else the other.
fn place(model: &Model) -> (Option<String>, Option<String>) {
    let session = model.session.as_ref().map(|session| session.id.to_string());
    let cwd = model.place.cwd.to_string_lossy().into_owned();
    (session.is_none().then_some(cwd), session)
}

/// Asks for them, or for a change.
pub fn asked(model: &Model, arguments: &str) -> Vec<Effect> {
    let (cwd, session) = place(model);
    called(match parse(arguments).unwrap_or(Wanted::List) {
        Wanted::List => Call::Memory(ListParams {
            cwd,
            session,
            archived: true,
        }),
        Wanted::Add { name, text } => Call::WriteFact(WriteParams {
            cwd,
            session,
            ..WriteParams::new_fact(name.to_owned(), text.to_owned())
        }),
        Wanted::Edit(name) => Call::ReadFact(ReadParams {
            cwd,
            session,
            name: name.to_owned(),
        }),
        Wanted::Forget(name) => Call::ForgetFact(ForgetParams {
            cwd,
            session,
            name: name.to_owned(),
        }),
        Wanted::Restore(name) => Call::RestoreFact(RestoreParams {
            cwd,
            session,
            name: name.to_owned(),
            version: None,
        }),
    })
}

/// The user has edited the text of a fact.
pub fn edited(model: &mut Model, fact: FactOutput, text: String) -> Vec<Effect> {
    if text.trim_end() == fact.content.trim_end() {
        let name = client::text::line(&fact.fact.name);
        let words = model.look.language.fill(Msg::MemoryUnchanged, &[&name]);
        model.toast(Tone::Info, words);
        return Vec::new();
    }
    let (cwd, session) = place(model);
    called(Call::WriteFact(WriteParams {
        cwd,
        session,
        ..WriteParams::changed(fact.fact, text)
    }))
}

/// A fact was changed.
pub fn changed(model: &mut Model, call: &Call) {
    let (name, words) = match call {
        Call::WriteFact(params) => (&params.name, Msg::MemorySaved),
        Call::RestoreFact(params) => (&params.name, Msg::MemoryRestored),
        Call::ForgetFact(params) => (&params.name, Msg::MemoryForgotten),
        _ => return,
    };
    let name = client::text::line(name);
    let words = model.look.language.fill(words, &[&name]);
    model.toast(Tone::Good, words);
}

/// Shows the list.
pub fn shown(model: &mut Model, list: &ListOutput) -> Vec<Effect> {
    let language = model.look.language;
    if list.facts.is_empty() && list.problems.is_empty() {
        model.toast(Tone::Info, language.say(Msg::MemoryNone));
        return Vec::new();
    }
    let (archived, active): (Vec<_>, Vec<_>) =
        list.facts.iter().partition(|fact| fact.archived.is_some());
    let mut lines: Vec<String> = active
        .into_iter()
        .flat_map(|fact| of(model, fact))
        .collect();
    if !archived.is_empty() {
        lines.push(language.say(Msg::MemoryArchived).to_owned());
        lines.push(String::new());
        lines.extend(archived.into_iter().flat_map(|fact| of(model, fact)));
    }
    let problems = list.problems.iter();
    lines.extend(problems.map(|problem| client::text::line(problem)));
    let title = language.say(Msg::MemoryTitle).to_owned();
    pager::open(model, PagerContent::Lines { title, lines })
}

fn of(model: &Model, fact: &FactInfo) -> Vec<String> {
    let language = model.look.language;
    let name = client::text::line(&fact.name);
    let version = fact
        .archived
        .map_or_else(String::new, |version| format!(" {version}"));
    let mut lines = vec![
        format!("{name}{version} · {}", fact.fact_type.as_str()),
        format!("  {}", client::text::line(&fact.description)),
        format!("  {}", client::text::line(&fact.file)),
    ];
    let superseded = fact.superseded_by.as_deref();
    let expires = fact.expires.as_deref().filter(|_| fact.stale);
    let mark = match (superseded, expires) {
        (Some(by), _) => Some(language.fill(Msg::MemorySuperseded, &[&client::text::line(by)])),
        (None, Some(day)) => Some(language.fill(Msg::MemoryExpired, &[&client::text::line(day)])),
        (None, None) => None,
    };
    lines.extend(mark.map(|mark| format!("  ! {mark}")));
    lines.push(String::new());
    lines
}
