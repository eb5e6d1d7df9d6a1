//! Calls that failed: what was typed is kept, what has to be confirmed is asked, the rest is reported.

use client::prompt::Prompt;
use proto::params::history::{RewindParams, What};
use proto::params::reload::ReloadParams;
use proto::params::session::{CreateParams, SetParams};
use proto::{ErrorName, RequestId};

use crate::effect::{Answer, Call, Effect, ErrorReport};
use crate::messages::app::Msg;
use crate::messages::dialog::Msg as Title;
use crate::model::composer::as_text;
use crate::model::confirm::ConfirmedAction;
use crate::model::{Model, Tone};
use crate::update::{interaction, list, pager};

use super::set_options;

/// Prompts that this client did not take back or move: what becomes of them is shown.
fn forget_queue_changes(model: &mut Model, call: &Call) {
    let transcript = &mut model.transcript;
    match call {
        Call::Interrupt { queue, .. } => {
            for queued in queue {
                transcript.forget_queue_change(queued.prompt_id);
            }
        }
        Call::Unqueue { params, .. } => transcript.forget_queue_change(params.prompt_id),
        Call::Reorder(params) => transcript.forget_queue_change(params.prompt_id),
        _ => {}
    }
}

/// A call failed. `here`: the call was for the followed session, or no other is followed since.
pub(super) fn failed(model: &mut Model, here: bool, call: Call, trouble: ErrorReport) {
    forget_queue_changes(model, &call);
    match call {
        Call::Answer(params) => interaction::refused(model, &params, &trouble),
        Call::Sessions(_)
        | Call::Processes(_)
        | Call::Waiting
        | Call::Models(_)
        | Call::Skills(_)
        | Call::Search(_)
        | Call::Preview { .. } => {
            list::take(model, Answer::Failed { call, trouble });
        }
        // Lists request these previews, except for an undo.
        Call::Checkpoints { undo: false, .. }
        | Call::Rewind(RewindParams {
            dry_run: true,
            what: What::Both | What::Conversation,
            ..
        }) => {
            if here {
                list::take(model, Answer::Failed { call, trouble });
            }
        }
        Call::Create(params) if here => not_created(model, &params, &trouble),
        Call::Prompt {
            params, following, ..
        } if here => {
            let prompt = Prompt {
                text: params.text,
                untyped: params.untyped,
            };
            if not_sent(model, &as_text(&prompt), &trouble) {
                model.composer.following = following;
            }
        }
        Call::Shell(params) if here => {
            let prompt = Prompt::typed(format!("!{}", params.command));
            let _ = not_sent(model, &prompt, &trouble);
        }
        Call::Set(params) if here && trouble.name == Some(ErrorName::ConfirmNeeded) => {
            let changes = set_options::requested(model.look.language, &params);
            let yes = Call::Set(Box::new(SetParams {
                confirm: true,
                request_id: Some(RequestId::new()),
                ..*params
            }));
            confirm(model, changes, yes, &trouble);
        }
        Call::Reload(params) if here && trouble.name == Some(ErrorName::ConfirmNeeded) => {
            let yes = Call::Reload(ReloadParams {
                confirm: true,
                ..params
            });
            confirm(model, Vec::new(), yes, &trouble);
        }
        // It has started or was removed meanwhile: the list of the queue shows that.
        Call::Reorder(_) if trouble.name == Some(ErrorName::NotFound) => {}
        // A notice of the session says what failed.
        Call::Compact(_)
            if here
                && trouble.name == Some(ErrorName::ProviderFailed)
                && !trouble.hint.is_empty() =>
        {
            model.trouble(&ErrorReport {
                what: trouble.hint,
                hint: String::new(),
                ..trouble
            });
        }
        // The menu has the commands of the interface. The daemon says what else is wrong with a prompt.
        Call::Commands(_) => commands_unknown(model, &trouble),
        // Nobody waits for them: the next key that looks for one asks again.
        Call::Prompts(_) => model.composer.history.not_read(),
        // The menu has the files.
        Call::Symbols(_) | Call::Resources(_) => {}
        Call::Earlier { session, .. } if here => pager::take(model, &session, Err(trouble)),
        // They would have shown something of a session that was left.
        Call::Earlier { .. }
        | Call::Compact(_)
        | Call::Reload(_)
        | Call::Inspect(_)
        | Call::Stats(_)
        | Call::Hooks(_)
        | Call::CustomCommands(_)
        | Call::Memory(_)
        | Call::ReloadHooks(_)
        | Call::Servers(_)
        | Call::Rules(_)
        | Call::Trust { .. }
            if !here => {}
        call => {
            if let (Call::Interrupt { .. }, true, Some(session)) = (call, here, &mut model.session)
            {
                session.interrupted = false;
            }
            model.trouble(&trouble);
        }
    }
}

/// No session was created: what was to be its beginning is not sent.
fn not_created(model: &mut Model, params: &CreateParams, trouble: &ErrorReport) {
    model.creating = false;
    let command = model.first_command.take();
    let command = command.map(|command| format!("!{command}"));
    let goal = model.first_goal.take().map(|goal| format!("/goal {goal}"));
    let prompt = params.prompt.clone().map(|text| Prompt {
        text,
        untyped: params.untyped.clone(),
    });
    match prompt {
        Some(prompt) => {
            let _ = not_sent(model, &as_text(&prompt), trouble);
        }
        None => {
            let line = command.or(goal).unwrap_or_default();
            let _ = not_sent(model, &Prompt::typed(line), trouble);
        }
    }
}

/// Puts a prompt that could not be sent back into the composer, unless the composer is in use. Returns whether it did.
fn not_sent(model: &mut Model, prompt: &Prompt, trouble: &ErrorReport) -> bool {
    let language = model.look.language;
    if let Some(session) = &mut model.session {
        // Keys and variables did not come through either, as far as is known.
        session.unsure = true;
    }
    model.transcript.say(Tone::Error, trouble.what.clone());
    if !trouble.hint.is_empty() {
        model.transcript.say(Tone::Error, trouble.hint.clone());
    }
    let is_free = model.composer.is_empty();
    if is_free {
        model.composer.restore(prompt, language);
        let what = client::text::line(&language.translate(&trouble.what));
        let words = language.fill(Msg::NotSent, &[&what]);
        model.toast(Tone::Error, words);
    }
    is_free
}

/// The custom commands did not come: reported only if a prompt in the composer waits for them.
fn commands_unknown(model: &mut Model, trouble: &ErrorReport) {
    let waiting = model.awaits_commands.take();
    if waiting.is_some_and(|(text, _)| model.composer.text() == text) {
        model.trouble(trouble);
    }
}

/// The change invalidates the provider's cache: ask for confirmation. `words`: what changes, a line each.
fn confirm(model: &mut Model, mut words: Vec<String>, yes: Call, trouble: &ErrorReport) {
    words.push(client::text::line(&trouble.what));
    interaction::keep(model);
    model.confirm(
        Title::TitleConfirm,
        words,
        ConfirmedAction::Do(vec![Effect::Call(yes)]),
    );
}
