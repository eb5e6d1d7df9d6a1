//! `/hooks`: when each hook runs, whether it can, and its last outcome.

use proto::params::hook::{HookStatus, ListOutput, ListParams, ReloadParams};

use crate::effect::{Call, Effect};
use crate::messages::app::Msg;
use crate::model::pager::PagerContent;
use crate::model::{Model, Tone};
use crate::update::pager;

/// Requests the hooks, or a reload. Before the first prompt there is no session, and nothing to reload.
pub fn asked(model: &Model, arguments: &str) -> Vec<Effect> {
    let session = model.session.as_ref().map(|session| session.id.to_string());
    let call = match (session, arguments) {
        (Some(session), "reload") => Call::ReloadHooks(ReloadParams { session }),
        (session, _) => {
            let cwd = model.place.cwd.to_string_lossy().into_owned();
            Call::Hooks(ListParams {
                cwd: session.is_none().then_some(cwd),
                session,
            })
        }
    };
    vec![Effect::Call(call)]
}

/// Shows the list.
pub fn shown(model: &mut Model, reloaded: bool, list: &ListOutput) -> Vec<Effect> {
    let language = model.look.language;
    if reloaded && list.problems.is_empty() {
        let count = list.hooks.len().to_string();
        model.toast(Tone::Info, language.fill(Msg::HooksReloaded, &[&count]));
        return Vec::new();
    }
    if list.hooks.is_empty() && list.problems.is_empty() {
        model.toast(Tone::Info, language.say(Msg::HooksNone));
        return Vec::new();
    }
    let mut lines = Vec::new();
    for hook in &list.hooks {
        lines.extend(of(model, hook));
        lines.push(String::new());
    }
    lines.extend(
        list.problems
            .iter()
            .map(|problem| client::text::line(problem)),
    );
    let title = language.say(Msg::HooksTitle).to_owned();
    pager::open(model, PagerContent::Lines { title, lines })
}

fn of(model: &Model, hook: &HookStatus) -> Vec<String> {
    let language = model.look.language;
    let about = hook.description.as_deref().map(client::text::line);
    let matches = match &hook.matches {
        Some(matches) => client::text::exact(matches),
        None => language.say(Msg::HookAll).to_owned(),
    };
    let mut lines = vec![
        format!("{} · {matches}", hook.event.as_str()),
        format!("  {}", client::text::exact(&hook.command)),
        format!("  {}", client::text::line(&hook.source)),
    ];
    if let Some(about) = about {
        lines.insert(1, format!("  {about}"));
    }
    if let Some(why) = &hook.broken {
        let why = client::text::line(why);
        lines.push(format!("  ! {}", language.fill(Msg::HookBroken, &[&why])));
    }
    if !hook.trusted {
        lines.push(format!("  ! {}", language.say(Msg::HookUntrusted)));
    }
    if let Some(last) = &hook.last {
        let ms = last.duration_ms.to_string();
        let words = language.fill(Msg::HookLast, &[last.outcome.as_str(), &ms]);
        lines.push(format!("  {words}"));
    }
    lines
}
