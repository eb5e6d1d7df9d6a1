//! Answers to effects.

mod failed;
mod reports;
pub(super) mod set_options;

use std::path::Path;

use client::goal_command::{self, GoalCommand};
use client::prompt::Prompt;
use client::transcript::words;
use proto::RequestId;
use proto::params::compact::{CompactOutput, CompactParams};
use proto::params::config::{TrustOutput, TrustSetParams};
use proto::params::history::{
    CheckpointsOutput, DeleteOutput, ForkOutput, RewindOutput, RewindParams, What,
};
use proto::params::session::{
    CreateOutput, InspectOutput, InspectPart, SessionSummary, SetParams, ShellParams, Signal,
};
use proto::record::RewoundResult;

use super::{
    commands, composer, custom, daemon, goal, hooks, interaction, list, mcp, memory, pager,
    permissions, submit,
};
use crate::effect::{Answer, Call, Copied, Effect};
use crate::messages::app::Msg;
use crate::messages::dialog::Msg as Title;
use crate::model::confirm::ConfirmedAction;
use crate::model::{Model, Tone};
use crate::update::pager::outputs;

/// Handles the answer to a call that was made under subscription `follow`. If the user has gone to another session
/// since, the answer changes nothing in that one.
pub fn take(model: &mut Model, follow: u64, answer: Answer) -> Vec<Effect> {
    let language = model.look.language;
    let here = follow == model.follow;
    match answer {
        Answer::Failed {
            call: Call::Trust { unasked: true, .. },
            ..
        } => {
            model.greet(&[]);
            return submit::first(model);
        }
        // Its file may be gone: the others are read all the same.
        Answer::Failed {
            call: Call::Output { session, call },
            ..
        } => return outputs::take(model, &session, &call, Err(())),
        Answer::Failed { call, trouble } => failed::failed(model, here, call, trouble),
        // Of no session.
        Answer::Sessions(_)
        | Answer::Processes(_)
        | Answer::Waiting(_)
        | Answer::Models { .. }
        | Answer::Skills(_)
        | Answer::Hits(_)
        | Answer::Preview { .. } => list::take(model, answer),
        Answer::Found(found) => return list::visit(model, &found),
        Answer::Done(Call::SetTrust(_)) => model.toast(Tone::Good, language.say(Msg::Trusted)),
        Answer::Revoked { rule, output } => permissions::revoked(model, &rule, &output),
        Answer::Edited(Ok(text)) => {
            let edited = model.composer.prompt().edited(text);
            model.composer.restore(&edited, language);
        }
        Answer::Directory { directory, names } => composer::listed(model, directory, names),
        Answer::Tree { root, paths } => composer::walked(model, root, paths),
        Answer::Copied {
            characters,
            result: Ok(copied),
        } => self::copied(model, characters, &copied),
        Answer::Exported { file, bytes } => exported(model, &file, bytes),
        Answer::FactEdited {
            fact,
            text: Ok(text),
        } => return memory::edited(model, *fact, text),
        Answer::Edited(Err(trouble))
        | Answer::FactEdited {
            text: Err(trouble), ..
        }
        | Answer::Copied {
            result: Err(trouble),
            ..
        } => model.trouble(&trouble),
        // Also of a session that was left.
        Answer::Done(Call::Unqueue {
            params,
            edit: Some(prompt),
            following,
        }) => {
            taken_back(model, &params.session, &prompt);
            if here {
                model.composer.following = following;
            }
        }
        Answer::Interrupted {
            session,
            taken_back: prompts,
            ..
        } if !prompts.is_empty() => all_taken_back(model, &session, &prompts),
        Answer::Deleted(deleted) => return self::deleted(model, here, &deleted),
        Answer::Created(CreateOutput { pid, .. }) | Answer::Forked(ForkOutput { pid, .. })
            if !here =>
        {
            model.toast(Tone::Good, language.fill(Msg::Made, &[&pid.to_string()]));
        }
        answer if here => return of_session(model, answer),
        // It would show something of a session that was left.
        _ => {}
    }
    Vec::new()
}

/// Takes an answer about the session that is followed.
fn of_session(model: &mut Model, answer: Answer) -> Vec<Effect> {
    match answer {
        Answer::Created(created) => return self::created(model, &created),
        Answer::QueuedAgain { prompt, following } => {
            return list::put_before(model, prompt, &following);
        }
        Answer::Goal(status) => return goal::shown(model, &status),
        Answer::Forked(forked) => return self::forked(model, &forked),
        Answer::Checkpoints { undo: true, output } => return undo(model, &output),
        // Those of lists are asked about all that could be taken back.
        Answer::Rewound { params, output } if params.dry_run && params.what == What::Code => {
            return commands::undone(model, params, &output);
        }
        Answer::Rewound { params, output } if !params.dry_run => rewound(model, &params, &output),
        Answer::Earlier { session, events } => pager::take(model, &session, Ok(events)),
        Answer::Output {
            session,
            call,
            text,
        } => return outputs::take(model, &session, &call, Ok(&text)),
        Answer::Rules(rules) => return permissions::show(model, &rules),
        Answer::Stats { params, output } => return reports::stats(model, &params, &output),
        Answer::Commands(output) => return composer::commands_came(model, output.commands),
        Answer::Symbols(output) => composer::symbols_came(model, output.symbols),
        Answer::Resources(output) => composer::resources_came(model, output.resources),
        Answer::Prompts(output) => {
            let composer = &mut model.composer;
            composer.remember_earlier(&output.prompts, model.look.language);
        }
        Answer::CustomCommands(output) => return custom::shown(model, &output),
        Answer::Memory(output) => return memory::shown(model, &output),
        Answer::Fact(fact) => return vec![Effect::EditFact(fact)],
        Answer::Done(done @ (Call::WriteFact(_) | Call::ForgetFact(_) | Call::RestoreFact(_))) => {
            memory::changed(model, &done)
        }
        Answer::Hooks { reloaded, output } => return hooks::shown(model, reloaded, &output),
        Answer::Servers(output) => return mcp::shown(model, &output),
        Answer::Done(Call::RestartServer(params)) => mcp::restarted(model, &params.name),
        Answer::Set { params, summary } => return set(model, *params, &summary),
        Answer::NotDelivered(signal) => not_delivered(model, signal),
        Answer::Interrupted { ran: false, .. } => {
            model.toast(Tone::Info, model.look.language.say(Msg::NothingRuns));
        }
        Answer::Reloaded(output) => {
            for line in words::reloaded(model.look.language, &output) {
                model.transcript.say(Tone::Info, line);
            }
        }
        Answer::Compacted { params, output } => compacted(model, &params, &output),
        Answer::Inspected(inspected) => match *inspected {
            InspectOutput::Budget { nodes } => reports::budget(model, &nodes),
            other => reports::context(model, &other),
        },
        Answer::Trust {
            unasked: true,
            params,
            output,
        } => return trust_at_start(model, params.cwd, output),
        Answer::Trust { params, output, .. } => held_back(model, params.cwd, output),
        Answer::Checkpoints { .. } | Answer::Rewound { .. } => list::take(model, answer),
        // An event shows it, or [`take`] has done it.
        Answer::Done(_)
        | Answer::Interrupted { .. }
        | Answer::Failed { .. }
        | Answer::Sessions(_)
        | Answer::Found(_)
        | Answer::Models { .. }
        | Answer::Skills(_)
        | Answer::Hits(_)
        | Answer::Processes(_)
        | Answer::Waiting(_)
        | Answer::Preview { .. }
        | Answer::Revoked { .. }
        | Answer::Edited(_)
        | Answer::FactEdited { .. }
        | Answer::Directory { .. }
        | Answer::Tree { .. }
        | Answer::Copied { .. }
        | Answer::Exported { .. }
        | Answer::Deleted(_) => {}
    }
    Vec::new()
}

fn copied(model: &mut Model, characters: usize, copied: &Copied) {
    let language = model.look.language;
    let words = match copied {
        Copied::Terminal => language.fill(Msg::Copied, &[&characters.to_string()]),
        Copied::File(file) => language.fill(Msg::CopiedFile, &[&file.display().to_string()]),
    };
    model.toast(Tone::Good, words);
}

/// A signal that changes nothing.
fn not_delivered(model: &mut Model, signal: Signal) {
    let words = match signal {
        Signal::Resume => Msg::NotPaused,
        Signal::Pause => Msg::AlreadyPaused,
        Signal::Int | Signal::Term | Signal::Kill => return,
    };
    model.toast(Tone::Info, model.look.language.say(words));
}

fn exported(model: &mut Model, file: &Path, bytes: u64) {
    let file = client::text::line(&file.display().to_string());
    let language = model.look.language;
    let words = language.fill(Msg::Exported, &[&file, &bytes.to_string()]);
    model.toast(Tone::Good, words);
}

fn forked(model: &mut Model, forked: &ForkOutput) -> Vec<Effect> {
    let effects = daemon::go_on_to(model, &forked.session.to_string());
    let (pid, turn) = (forked.pid.to_string(), forked.at_turn.to_string());
    let words = model.look.language.fill(Msg::Forked, &[&pid, &turn]);
    model.toast(Tone::Good, words);
    effects
}

fn deleted(model: &mut Model, here: bool, deleted: &DeleteOutput) -> Vec<Effect> {
    let effects = match here {
        true => daemon::fresh(model),
        false => Vec::new(),
    };
    let pid = deleted.pid.to_string();
    let words = model.look.language.fill(Msg::Forgotten, &[&pid]);
    model.toast(Tone::Good, words);
    effects
}

fn created(model: &mut Model, created: &CreateOutput) -> Vec<Effect> {
    model.creating = false;
    let command = model.first_command.take();
    let goal = model.first_goal.take();
    let effects = daemon::go_on_to(model, &created.session.to_string());
    // Text typed meanwhile was meant for it.
    model.composer.restore_draft(None);
    let command = command.map(|command| {
        Effect::Call(Call::Shell(ShellParams {
            session: created.session.to_string(),
            command,
            request_id: Some(RequestId::new()),
        }))
    });
    let goal = goal.and_then(|words| match goal_command::parse(&words) {
        Ok(GoalCommand::Start { text, research }) => {
            let session = created.session.to_string();
            Some(Effect::Call(commands::start_goal(session, text, research)))
        }
        // It was parsed before the session was created.
        Ok(_) | Err(_) => None,
    });
    effects.into_iter().chain(command).chain(goal).collect()
}

fn set(model: &mut Model, params: SetParams, now: &SessionSummary) -> Vec<Effect> {
    let language = model.look.language;
    if let Some(name) = &params.options.name {
        let name = client::text::line(name);
        model.toast(Tone::Good, language.fill(Msg::Renamed, &[&name]));
    }
    let words = set_options::outcome(language, &params, now);
    if !words.is_empty() {
        model.toast(Tone::Good, words.join("; "));
    }
    if params.options.budget.is_none() {
        return Vec::new();
    }
    // The whole budget is shown, as when it is asked for.
    commands::inspect(params.session, InspectPart::Budget)
}

/// Reports a preview, or why nothing was done. The session's record covers the rest.
fn compacted(model: &mut Model, params: &CompactParams, done: &CompactOutput) {
    if params.preview || done.why.is_some() {
        let words = words::compacted(model.look.language, params.preview, params.undo, done);
        model.transcript.say(Tone::Info, words);
    }
}

/// A queued prompt goes back into the composer of its session.
fn taken_back(model: &mut Model, session: &str, prompt: &Prompt) {
    let language = model.look.language;
    let here = model.session.as_ref().map(|here| here.id);
    match session.parse().ok().filter(|of| Some(*of) != here) {
        Some(elsewhere) => model.composer.store_draft_for(elsewhere, prompt, language),
        None => model.composer.prepend(prompt, language),
    }
}

/// The prompts that waited for a turn that was stopped, as one.
fn all_taken_back(model: &mut Model, session: &str, prompts: &[Prompt]) {
    let mut joined = Prompt::default();
    for (at, prompt) in prompts.iter().enumerate() {
        joined.text.push_str(if at > 0 { "\n\n" } else { "" });
        joined.push(prompt);
    }
    taken_back(model, session, &joined);
    model.toast(Tone::Info, model.look.language.say(Msg::TakenBack));
}

fn undo(model: &mut Model, checkpoints: &CheckpointsOutput) -> Vec<Effect> {
    for note in checkpoints.turns.last().iter().flat_map(|turn| &turn.notes) {
        model.transcript.say(Tone::Info, client::text::line(note));
    }
    let turns: Vec<u64> = checkpoints.turns.iter().map(|turn| turn.turn).collect();
    commands::undo(model, &turns)
}

/// Reports the details that the session's record leaves out.
fn rewound(model: &mut Model, params: &RewindParams, done: &RewindOutput) {
    let language = model.look.language;
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
        let words = language.counted(changed as u64, Msg::OneChangedSince, Msg::ChangedSince);
        model.toast(Tone::Warning, words);
    } else if params.what == What::Code && !params.undo && count(&RewoundResult::Restored) == 0 {
        model.toast(Tone::Info, language.say(Msg::NoFile));
    }
}

/// Trust was looked up without being asked for.
fn trust_at_start(model: &mut Model, cwd: String, trust: TrustOutput) -> Vec<Effect> {
    model.greet(&trust.instructions);
    // Say nothing if nothing is held back, and do not ask over another dialog.
    if model.dialog.is_some() || trust.trusted || trust.held_back.is_empty() {
        return submit::first(model);
    }
    held_back(model, cwd, trust);
    Vec::new()
}

/// Shows the settings in a project's config, and asks whether to trust them.
fn held_back(model: &mut Model, cwd: String, trust: TrustOutput) {
    let language = model.look.language;
    if trust.held_back.is_empty() {
        model.toast(Tone::Info, language.say(Msg::TrustNothing));
        return;
    }
    let directory = trust.directory.clone().unwrap_or_default();
    let mut words = vec![language.fill(Msg::TrustWhat, &[&client::text::line(&directory)])];
    words.extend(trust.held_back.iter().map(|line| client::text::exact(line)));
    if !trust.instructions.is_empty() {
        let names = client::text::line(&trust.instructions.join(", "));
        words.push(language.fill(Msg::TrustInstructions, &[&names]));
    }
    words.push(language.say(Msg::TrustSure).to_owned());
    let yes = Call::SetTrust(TrustSetParams {
        cwd,
        trusted: true,
        hash: trust.hash,
        connection: false,
    });
    interaction::keep(model);
    model.confirm(
        Title::TitleTrust,
        words,
        ConfirmedAction::Do(vec![Effect::Call(yes)]),
    );
}

#[cfg(test)]
mod tests;
