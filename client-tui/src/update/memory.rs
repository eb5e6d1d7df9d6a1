//! `/memory`: the facts that the session knows or would know, active and archived.

use proto::params::memory::{FactInfo, ListOutput, ListParams};

use crate::effect::{Call, Effect};
use crate::messages::app::Msg;
use crate::model::pager::PagerContent;
use crate::model::{Model, Tone};
use crate::update::pager;

/// Asks for them.
pub fn asked(model: &Model) -> Vec<Effect> {
    let session = model.session.as_ref().map(|session| session.id.to_string());
    let cwd = model.place.cwd.to_string_lossy().into_owned();
    vec![Effect::Call(Call::Memory(ListParams {
        cwd: session.is_none().then_some(cwd),
        session,
        archived: true,
    }))]
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
