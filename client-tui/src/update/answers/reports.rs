//! What a session holds and costs, as it was asked for: the context, the budget and the usage.

use client::amounts;
use proto::budget::{BudgetNode, BudgetNodeKind, Dimension};
use proto::outcome::UsageTotals;
use proto::params::history::{StatsOutput, StatsParams, StatsRow};
use proto::params::session::InspectOutput;

use crate::effect::Effect;
use crate::messages::app::Msg;
use crate::model::pager::PagerContent;
use crate::model::{Model, Tone};
use crate::render::short;
use crate::update::pager;

/// How full the context is, and what the cache saves.
pub(super) fn context(model: &mut Model, inspected: &InspectOutput) {
    let InspectOutput::Context {
        tokens,
        window,
        prefix_bytes,
        messages,
        message_bytes,
        ..
    } = inspected
    else {
        return;
    };
    let language = model.look.language;
    let of = match window {
        0 => String::new(),
        window => language.fill(
            Msg::OfWindow,
            &[&short::count(*window), &percent(*tokens, *window)],
        ),
    };
    let words = language.fill(
        Msg::Context,
        &[
            &short::count(*tokens),
            &of,
            &messages.to_string(),
            &short::bytes(*message_bytes),
            &short::bytes(*prefix_bytes),
        ],
    );
    model.transcript.say(Tone::Info, words);
    let usage = model.session.as_ref().map(|session| session.usage);
    if let Some(usage) = usage.filter(|usage| usage.prompt_tokens > 0) {
        let share = percent(usage.cached_tokens, usage.prompt_tokens);
        let words = language.fill(
            Msg::CacheSaved,
            &[&share, &short::count(usage.prompt_tokens)],
        );
        model.transcript.say(Tone::Info, words);
    }
}

/// Usage and limits of the day, the project and the session, one line each.
pub(super) fn budget(model: &mut Model, nodes: &[BudgetNode]) {
    let language = model.look.language;
    for node in nodes {
        let of = language.say(match node.kind {
            BudgetNodeKind::Day => Msg::BudgetDay,
            BudgetNodeKind::Project => Msg::BudgetProject,
            BudgetNodeKind::Session => Msg::BudgetSession,
        });
        let used = |dimension| amounts::used(node, dimension);
        let words = language.fill(
            Msg::Budget,
            &[
                of,
                &node.name,
                &used(Dimension::Money),
                &used(Dimension::Tokens),
                &used(Dimension::Steps),
            ],
        );
        // The others have no time of their own.
        let words = match node.kind {
            BudgetNodeKind::Day | BudgetNodeKind::Project => words,
            BudgetNodeKind::Session => {
                language.fill(Msg::BudgetMinutes, &[&words, &used(Dimension::Time)])
            }
        };
        model.transcript.say(Tone::Info, words);
    }
}

fn percent(part: u64, whole: u64) -> String {
    short::percent(part, whole).unwrap_or_default().to_string()
}

pub(super) fn stats(model: &mut Model, params: &StatsParams, stats: &StatsOutput) -> Vec<Effect> {
    let language = model.look.language;
    if params.session.is_some() {
        let words = used(model, &stats.total.usage);
        model.transcript.say(Tone::Info, words);
        return Vec::new();
    }
    let mut lines = vec![format!(
        "{}: {}",
        language.say(Msg::StatsTotal),
        used(model, &stats.total.usage)
    )];
    let row = |row: &StatsRow| {
        format!(
            "  {}: {}",
            client::text::line(&row.key),
            used(model, &row.usage)
        )
    };
    for (title, rows) in [
        (Msg::StatsDays, &stats.days),
        (Msg::StatsModels, &stats.models),
    ] {
        lines.push(String::new());
        lines.push(language.say(title).to_owned());
        lines.extend(rows.iter().map(row));
    }
    let title = language.say(Msg::StatsTitle).to_owned();
    pager::open(model, PagerContent::Lines { title, lines })
}

fn used(model: &Model, usage: &UsageTotals) -> String {
    let language = model.look.language;
    let cost = short::cost(usage).unwrap_or_else(|| language.say(Msg::CostUnknown).to_owned());
    language.fill(
        Msg::Cost,
        &[
            &language.counted(usage.requests, Msg::OneRequest, Msg::Requests),
            &short::count(usage.prompt_tokens),
            &short::count(usage.output_tokens),
            &cost,
        ],
    )
}
