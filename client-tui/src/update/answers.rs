//! What became of effects.

use client::amounts;
use client::transcript::words;
use proto::budget::{BudgetNode, BudgetNodeKind, Dimension};
use proto::outcome::UsageTotals;
use proto::params::compact::{CompactOutput, CompactParams};
use proto::params::config::{TrustOutput, TrustSetParams};
use proto::params::history::{
    CheckpointsOutput, DeleteOutput, ForkOutput, RewindOutput, RewindParams, StatsOutput,
    StatsParams, StatsRow, What,
};
use proto::params::session::SetParams;
use proto::params::session::{CreateOutput, InspectOutput, InspectParams, InspectPart};
use proto::record::RewoundResult;
use proto::{ErrorName, RequestId};

use super::{commands, composer, daemon, hooks, list, pager, permissions};
use crate::effect::{Answer, Call, Copied, Effect, Trouble};
use crate::messages::app::Msg;
use crate::model::confirm::{Confirm, Then};
use crate::model::pager::Reading;
use crate::model::{Dialog, Model, Tone};
use crate::render::short;

/// Takes an answer to what was wanted while this following was the newest. Where the person has gone on to another
/// session since, it changes nothing of that one.
pub fn take(model: &mut Model, follow: u64, answer: Answer) -> Vec<Effect> {
    match follow == model.follow {
        true => here(model, answer),
        false => elsewhere(model, answer),
    }
}

/// Of a session that was left: told, where it is of use.
fn elsewhere(model: &mut Model, answer: Answer) -> Vec<Effect> {
    let language = model.look.language;
    match answer {
        Answer::Created { result, .. } => match result {
            Ok(made) => {
                let words = language.fill(Msg::Made, &[&made.pid.to_string()]);
                model.toast(Tone::Good, words);
            }
            Err(trouble) => model.trouble(&trouble),
        },
        Answer::Forked(Ok(made)) => {
            let words = language.fill(Msg::Made, &[&made.pid.to_string()]);
            model.toast(Tone::Good, words);
        }
        Answer::Deleted(Ok(deleted)) => {
            let words = language.fill(Msg::Forgotten, &[&deleted.pid.to_string()]);
            model.toast(Tone::Good, words);
        }
        Answer::Prompted {
            result: Err(trouble),
            ..
        }
        | Answer::Forked(Err(trouble))
        | Answer::Deleted(Err(trouble))
        | Answer::Checkpoints {
            undo: true,
            result: Err(trouble),
        }
        | Answer::Done {
            result: Err(trouble),
            ..
        }
        | Answer::Interrupted(Err(trouble)) => model.trouble(&trouble),
        Answer::Rewound {
            params,
            result: Err(trouble),
        } => {
            // What would happen is asked by lists, which are gone, but for an undo.
            if !params.dry_run || params.what == What::Code {
                model.trouble(&trouble);
            }
        }
        Answer::Done {
            what:
                Call::Unqueue {
                    params,
                    edit: Some(text),
                },
            result: Ok(()),
        } => taken_back(model, &params.session, &text),
        // Of no session.
        Answer::Sessions(_)
        | Answer::Processes(_)
        | Answer::Waiting(_)
        | Answer::Preview { .. }
        | Answer::TrustSet(_)
        | Answer::Revoked { .. }
        | Answer::Edited(_)
        | Answer::Directory { .. }
        | Answer::Copied { .. }
        | Answer::Exported(_) => return here(model, answer),
        Answer::Prompted { .. }
        | Answer::Done { .. }
        | Answer::Interrupted(_)
        | Answer::Checkpoints { .. }
        | Answer::Rewound { .. }
        | Answer::Compacted { .. }
        | Answer::Inspected(_)
        | Answer::Stats { .. }
        | Answer::Hooks { .. }
        | Answer::Rules(_)
        | Answer::Trust { .. }
        | Answer::Earlier { .. } => {}
    }
    Vec::new()
}

fn here(model: &mut Model, answer: Answer) -> Vec<Effect> {
    match answer {
        Answer::Created { prompt, result } => created(model, prompt, result),
        Answer::Checkpoints { undo: true, result } => match result {
            Ok(checkpoints) => undo(model, &checkpoints),
            Err(trouble) => troubled(model, &trouble),
        },
        Answer::Sessions(_)
        | Answer::Processes(_)
        | Answer::Waiting(_)
        | Answer::Checkpoints { .. }
        | Answer::Preview { .. } => list::take(model, answer),
        // Those of lists are asked about all that could be taken back.
        Answer::Rewound { params, result } if params.dry_run && params.what == What::Code => {
            match result {
                Ok(foreseen) => commands::undone(model, params, &foreseen),
                Err(trouble) => troubled(model, &trouble),
            }
        }
        Answer::Rewound { ref params, .. } if params.dry_run => list::take(model, answer),
        Answer::Earlier { .. } => pager::take(model, answer),
        Answer::Forked(result) => forked(model, result),
        Answer::Deleted(result) => deleted(model, result),
        Answer::Rules(result) => permissions::show(model, result),
        Answer::Stats { params, result } => stats(model, &params, result),
        Answer::Hooks { reloaded, result } => hooks::shown(model, reloaded, result),
        // What there is now is told whole, as when it is asked for.
        Answer::Done {
            what: Call::Set(ref params),
            result: Ok(()),
        } if params.options.budget.is_some() => {
            let part = InspectPart::Budget;
            let session = params.session.clone();
            commands::called(Call::Inspect(InspectParams { session, part }))
        }
        other => {
            told(model, other);
            Vec::new()
        }
    }
}

/// Answers after which nothing is to be done.
fn told(model: &mut Model, answer: Answer) {
    let language = model.look.language;
    match answer {
        Answer::Prompted {
            prompt,
            result: Err(trouble),
        } => not_sent(model, &prompt, &trouble),
        Answer::Interrupted(Ok(false)) => model.toast(Tone::Info, language.say(Msg::NothingRuns)),
        Answer::Interrupted(Err(trouble)) => model.trouble(&trouble),
        // Told already, before this is called.
        Answer::Done {
            what: Call::Answer(_),
            ..
        } => {}
        Answer::Done { what, result } => done(model, &what, result),
        Answer::Rewound { params, result } => rewound(model, &params, result),
        Answer::Compacted { params, result } => compacted(model, &params, result),
        Answer::Inspected(Ok(inspected)) => match *inspected {
            InspectOutput::Budget { nodes } => budget(model, &nodes),
            other => context(model, &other),
        },
        // The question at the start: nothing is said where nothing is held back, and nothing is asked over another dialog.
        Answer::Trust {
            unasked: true,
            ref result,
            ..
        } if model.dialog.is_some()
            || !result
                .as_ref()
                .is_ok_and(|trust| !trust.trusted && !trust.held_back.is_empty()) => {}
        Answer::Trust {
            params,
            result: Ok(trust),
            ..
        } => held_back(model, params.cwd, trust),
        Answer::Revoked { rule, result } => permissions::revoked(model, &rule, result),
        Answer::TrustSet(Ok(_)) => model.toast(Tone::Good, language.say(Msg::Trusted)),
        Answer::Edited(Ok(text)) => model.composer.restore(&text, language),
        Answer::Directory { directory, names } => composer::listed(model, directory, names),
        Answer::Copied {
            characters,
            result: Ok(copied),
        } => self::copied(model, characters, &copied),
        Answer::Exported(Ok((file, bytes))) => {
            let file = client::text::line(&file.display().to_string());
            let words = language.fill(Msg::Exported, &[&file, &bytes.to_string()]);
            model.toast(Tone::Good, words);
        }
        Answer::Edited(Err(trouble))
        | Answer::Inspected(Err(trouble))
        | Answer::Trust {
            result: Err(trouble),
            ..
        }
        | Answer::TrustSet(Err(trouble))
        | Answer::Copied {
            result: Err(trouble),
            ..
        }
        | Answer::Exported(Err(trouble)) => model.trouble(&trouble),
        Answer::Prompted { .. }
        | Answer::Interrupted(_)
        | Answer::Created { .. }
        | Answer::Sessions(_)
        | Answer::Processes(_)
        | Answer::Waiting(_)
        | Answer::Checkpoints { .. }
        | Answer::Preview { .. }
        | Answer::Earlier { .. }
        | Answer::Forked(_)
        | Answer::Deleted(_)
        | Answer::Hooks { .. }
        | Answer::Rules(_)
        | Answer::Stats { .. } => {}
    }
}

fn copied(model: &mut Model, characters: usize, copied: &Copied) {
    let language = model.look.language;
    let words = match copied {
        Copied::Terminal => language.fill(Msg::Copied, &[&characters.to_string()]),
        Copied::File(file) => language.fill(Msg::CopiedFile, &[&file.display().to_string()]),
    };
    model.toast(Tone::Good, words);
}

fn troubled(model: &mut Model, trouble: &Trouble) -> Vec<Effect> {
    model.trouble(trouble);
    Vec::new()
}

fn forked(model: &mut Model, result: Result<ForkOutput, Trouble>) -> Vec<Effect> {
    let forked = match result {
        Ok(forked) => forked,
        Err(trouble) => return troubled(model, &trouble),
    };
    let effects = daemon::go_on_to(model, &forked.session.to_string());
    let (pid, turn) = (forked.pid.to_string(), forked.at_turn.to_string());
    let words = model.look.language.fill(Msg::Forked, &[&pid, &turn]);
    model.toast(Tone::Good, words);
    effects
}

fn deleted(model: &mut Model, result: Result<DeleteOutput, Trouble>) -> Vec<Effect> {
    let deleted = match result {
        Ok(deleted) => deleted,
        Err(trouble) => return troubled(model, &trouble),
    };
    let effects = daemon::fresh(model);
    let pid = deleted.pid.to_string();
    let words = model.look.language.fill(Msg::Forgotten, &[&pid]);
    model.toast(Tone::Good, words);
    effects
}

fn created(
    model: &mut Model,
    prompt: String,
    result: Result<CreateOutput, Trouble>,
) -> Vec<Effect> {
    model.creating = false;
    match result {
        Ok(created) => {
            let effects = daemon::go_on_to(model, &created.session.to_string());
            // What was written meanwhile was written for it.
            model.composer.take_up(None);
            effects
        }
        Err(trouble) => {
            not_sent(model, &prompt, &trouble);
            Vec::new()
        }
    }
}

/// What could not be sent stands in the composer again, unless something else does.
fn not_sent(model: &mut Model, prompt: &str, trouble: &Trouble) {
    let language = model.look.language;
    if let Some(session) = &mut model.session {
        // Keys and variables did not come through either, as far as is known.
        session.unsure = true;
    }
    model.transcript.say(Tone::Error, trouble.what.clone());
    if !trouble.hint.is_empty() {
        model.transcript.say(Tone::Error, trouble.hint.clone());
    }
    if model.composer.is_empty() {
        model.composer.restore(prompt, language);
        let words = language.fill(Msg::NotSent, &[&client::text::line(&trouble.what)]);
        model.toast(Tone::Error, words);
    }
}

fn done(model: &mut Model, what: &Call, result: Result<(), Trouble>) {
    let language = model.look.language;
    match (what, result) {
        (Call::Set(params), Ok(())) => {
            if let Some(name) = &params.options.name {
                let words = language.fill(Msg::Renamed, &[&client::text::line(name)]);
                model.toast(Tone::Good, words);
            }
        }
        (
            Call::Unqueue {
                params,
                edit: Some(text),
            },
            Ok(()),
        ) => taken_back(model, &params.session, text),
        (_, Ok(())) => {}
        (Call::Set(params), Err(trouble)) if trouble.name == Some(ErrorName::ConfirmNeeded) => {
            confirm(model, params, &trouble);
        }
        (_, Err(trouble)) => model.trouble(&trouble),
    }
}

/// The vendor's cache starts anew with a change: whether that is meant.
fn confirm(model: &mut Model, params: &SetParams, trouble: &Trouble) {
    let yes = Call::Set(Box::new(SetParams {
        confirm: true,
        request_id: Some(RequestId::new()),
        ..params.clone()
    }));
    super::interaction::keep(model);
    model.dialog = Some(Dialog::Confirm(Confirm {
        title: crate::messages::dialog::Msg::TitleConfirm,
        words: vec![client::text::line(&trouble.what)],
        then: Then::Do(vec![Effect::Call(yes)]),
        scroll: 0,
        since: model.now,
        drawn: false,
        back: None,
    }));
}

/// What the record of it does not say: what it would come to, or why nothing was done.
fn compacted(model: &mut Model, params: &CompactParams, result: Result<CompactOutput, Trouble>) {
    match result {
        Ok(done) if params.preview || done.why.is_some() => {
            let words = words::compacted(model.look.language, params.preview, params.undo, &done);
            model.transcript.say(Tone::Info, words);
        }
        Ok(_) => {}
        Err(trouble) => model.trouble(&trouble),
    }
}

/// A prompt that waited is written again, where its session is.
fn taken_back(model: &mut Model, session: &str, text: &str) {
    let language = model.look.language;
    let here = model.session.as_ref().map(|here| here.id);
    match session.parse().ok().filter(|of| Some(*of) != here) {
        Some(elsewhere) => model.composer.lay_for(elsewhere, text, language),
        None => match model.composer.is_empty() {
            true => model.composer.restore(text, language),
            // Something else was begun meanwhile: it is one key away.
            false => model.composer.remember(text),
        },
    }
}

fn undo(model: &mut Model, checkpoints: &CheckpointsOutput) -> Vec<Effect> {
    for note in checkpoints.turns.last().iter().flat_map(|turn| &turn.notes) {
        model.transcript.say(Tone::Info, client::text::line(note));
    }
    let turns: Vec<u64> = checkpoints.turns.iter().map(|turn| turn.turn).collect();
    commands::undo(model, &turns)
}

/// What the record of it does not say.
fn rewound(model: &mut Model, params: &RewindParams, result: Result<RewindOutput, Trouble>) {
    let language = model.look.language;
    let done = match result {
        Ok(done) => done,
        Err(trouble) => return model.trouble(&trouble),
    };
    for note in &done.notes {
        model.transcript.say(Tone::Info, client::text::line(note));
    }
    let count = |result: &RewoundResult| {
        done.files
            .iter()
            .filter(|file| file.result == *result)
            .count()
    };
    let changed = count(&RewoundResult::ChangedSince);
    if changed > 0 {
        let words = language.fill(Msg::ChangedSince, &[&changed.to_string()]);
        model.toast(Tone::Warning, words);
    } else if params.what == What::Code && !params.undo && count(&RewoundResult::Restored) == 0 {
        model.toast(Tone::Info, language.say(Msg::NoFile));
    }
}

/// How full the context is, and what the cache saves.
fn context(model: &mut Model, inspected: &InspectOutput) {
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

/// What the day, the project and the session have used, and may use: a line each.
fn budget(model: &mut Model, nodes: &[BudgetNode]) {
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

fn stats(
    model: &mut Model,
    params: &StatsParams,
    result: Result<Box<StatsOutput>, Trouble>,
) -> Vec<Effect> {
    let language = model.look.language;
    let stats = match result {
        Ok(stats) => stats,
        Err(trouble) => {
            model.trouble(&trouble);
            return Vec::new();
        }
    };
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
    pager::open(model, Reading::Lines { title, lines })
}

fn used(model: &Model, usage: &UsageTotals) -> String {
    let language = model.look.language;
    let cost = short::cost(usage).unwrap_or_else(|| language.say(Msg::CostUnknown).to_owned());
    language.fill(
        Msg::Cost,
        &[
            &usage.requests.to_string(),
            &short::count(usage.prompt_tokens),
            &short::count(usage.output_tokens),
            &cost,
        ],
    )
}

/// What a project's config would set, and whether it shall.
fn held_back(model: &mut Model, cwd: String, trust: TrustOutput) {
    let language = model.look.language;
    if trust.held_back.is_empty() {
        model.toast(Tone::Info, language.say(Msg::TrustNothing));
        return;
    }
    let directory = trust.directory.clone().unwrap_or_default();
    let mut words = vec![language.fill(Msg::TrustWhat, &[&client::text::line(&directory)])];
    words.extend(trust.held_back.iter().map(|line| client::text::exact(line)));
    words.push(language.say(Msg::TrustSure).to_owned());
    let yes = Call::SetTrust(TrustSetParams {
        cwd,
        trusted: true,
        hash: trust.hash,
    });
    super::interaction::keep(model);
    model.dialog = Some(Dialog::Confirm(Confirm {
        title: crate::messages::dialog::Msg::TitleTrust,
        words,
        then: Then::Do(vec![Effect::Call(yes)]),
        scroll: 0,
        since: model.now,
        drawn: false,
        back: None,
    }));
}

#[cfg(test)]
mod tests;
