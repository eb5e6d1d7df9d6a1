//! `/goal` without text: what the session works towards, how far it is, and what it has cost.

use client::transcript::words::{goal_detail, goal_ended, goal_limits, goal_reason, who};
use proto::budget::Spent;
use proto::params::goal::{GoalProgress, StatusOutput};
use proto::params::session::OneParams;
use proto::record::ContinueReason;

use crate::effect::{Call, Effect};
use crate::messages::app;
use crate::messages::goal::Msg;
use crate::model::goal::{checked_words, turn_words};
use crate::model::list::words;
use crate::model::pager::PagerContent;
use crate::model::{Model, Tone};
use crate::render::short;
use crate::update::pager;

/// Asks for it.
pub fn asked(model: &mut Model) -> Vec<Effect> {
    let Some(session) = &model.session else {
        model.toast(Tone::Info, model.look.language.say(app::Msg::NoGoal));
        return Vec::new();
    };
    let session = session.id.to_string();
    vec![Effect::Call(Call::GoalStatus(OneParams { session }))]
}

/// Shows it.
pub fn shown(model: &mut Model, status: &StatusOutput) -> Vec<Effect> {
    let language = model.look.language;
    let lines = match (&status.goal, &status.ended) {
        (Some(goal), _) => of(model, goal),
        (None, Some(ended)) => vec![
            client::text::clean(&status.ended_text),
            String::new(),
            client::text::line(&goal_ended(language, ended)),
        ],
        (None, None) => {
            model.toast(Tone::Info, language.say(app::Msg::NoGoal));
            return Vec::new();
        }
    };
    let title = language.say(Msg::Title).to_owned();
    pager::open(model, PagerContent::Lines { title, lines })
}

fn of(model: &Model, goal: &GoalProgress) -> Vec<String> {
    let language = model.look.language;
    let line = |text: &str| client::text::line(&language.translate(text));
    let mut lines: Vec<String> = client::text::clean(&goal.text)
        .lines()
        .map(str::to_owned)
        .collect();
    lines.push(String::new());
    let turn = turn_words(language, goal.turn, goal.max_turns);
    lines.push(format!("{turn} · {}", spent_words(model, &goal.spent)));
    let continued = goal.continued.as_ref();
    if let Some(last) = continued.filter(|last| last.why != ContinueReason::Started) {
        let why = goal_reason(language, last.why);
        let detail = goal_detail(language, last.why, &last.detail);
        let why = match client::text::line(&detail) {
            detail if detail.is_empty() => why.to_owned(),
            detail => format!("{why} · {detail}"),
        };
        lines.push(language.fill(Msg::Continued, &[&why]));
    }
    if let Some(report) = &goal.report {
        lines.push(language.fill(Msg::Report, &[&line(&report.summary)]));
        let rest = [
            (Msg::Evidence, &report.evidence),
            (Msg::NextStep, &report.next),
        ];
        for (message, text) in rest {
            lines.extend(
                text.as_ref()
                    .map(|text| language.fill(message, &[&line(text)])),
            );
        }
    }
    if goal.stalled > 0 {
        lines.push(language.fill(Msg::Stalled, &[&goal.stalled.to_string()]));
    }
    if !goal.budget.is_empty() {
        let limits = goal_limits(language, Some(goal.max_turns), Some(goal.budget));
        lines.push(language.fill(Msg::Limits, &[&limits]));
    }
    if let Some(dir) = &goal.research {
        lines.push(language.fill(Msg::Research, &[&client::text::line(dir)]));
    }
    lines.push(String::new());
    for check in &goal.check {
        lines.push(language.fill(Msg::Check, &[&client::text::exact(check)]));
    }
    let count = goal.check.len() as u64;
    lines.push(checked_words(language, count, goal.checked.as_ref()));
    lines.push(String::new());
    let by = who(language, &goal.by);
    lines.push(language.fill(Msg::StartedBy, &[&client::text::line(&by)]));
    lines.push(language.say(Msg::Keys).to_owned());
    lines
}

/// Cost, tokens, steps, time.
fn spent_words(model: &Model, spent: &Spent) -> String {
    let language = model.look.language;
    let time = std::time::Duration::from_millis(spent.ms);
    let mut parts = vec![
        language.fill(Msg::Spent, &[&short::count(spent.tokens)]),
        words::steps(language, spent.steps),
        short::duration(time),
    ];
    if spent.cost_micros > 0 {
        parts.insert(0, short::money(spent.cost_micros));
    }
    parts.join(" · ")
}
