//! A yes counts only once all that is judged was on the screen (I24).

use client::form::ShownInteraction;

use super::shown;
use crate::effect::Effect;
use crate::keymap::{self, Action, Context};
use crate::messages::dialog::Msg;
use crate::model::interaction::InteractionDialog;
use crate::model::pager::PagerContent;
use crate::model::seen::VisibleRows;
use crate::model::{Dialog, Model, ToastAbout, Tone};
use crate::update::pager;
use crate::view;

/// Why a yes does not count yet.
pub(super) enum Unread {
    /// This many rows were not on the screen.
    Rows(usize),
    TooSmall,
}

/// Whether an action would say yes, or lead to a yes, before all that is judged was on the screen (I24).
pub(super) fn unread(
    dialog: &InteractionDialog,
    action: Action,
    visible: Option<&VisibleRows>,
) -> Option<Unread> {
    use Action::{AllowAlways, AllowOnce, AllowSession, ApproveKeepAsking, EditCommand};
    let agrees = matches!(
        action,
        AllowOnce | AllowSession | AllowAlways | ApproveKeepAsking | EditCommand
    );
    let visible = visible.filter(|_| agrees && !dialog.seen.is_all())?;
    Some(match visible.is_readable {
        true => Unread::Rows(dialog.seen.left(visible)),
        false => Unread::TooSmall,
    })
}

pub(super) fn refuse(model: &mut Model, why: Unread) -> Vec<Effect> {
    let words = match why {
        Unread::Rows(rows) => read_first(model, rows),
        // The dialog itself says so.
        Unread::TooSmall => return Vec::new(),
    };
    model.toast(Tone::Warning, words);
    if let Some(toast) = &mut model.toast {
        toast.about = Some(ToastAbout::Unread);
    }
    Vec::new()
}

/// The notice that this many rows are to be read first.
fn read_first(model: &Model, rows: usize) -> String {
    let key = |action| keymap::shown(Context::Approval, action);
    let (down, read) = (key(Action::PageDown), key(Action::ReadAll));
    let language = model.look.language;
    language.fill(Msg::ReadFirst, &[&rows.to_string(), &down, &read])
}

/// The notice is over.
pub(super) fn forget_unread(model: &mut Model) {
    model
        .toast
        .take_if(|toast| toast.about == Some(ToastAbout::Unread));
}

/// Counts the rows of that notice again, as the next frame shows the dialog; without any left, the notice goes.
pub(super) fn renew_unread(model: &mut Model) {
    let about = model.toast.as_ref().and_then(|toast| toast.about.as_ref());
    let Some(Dialog::Interaction(dialog)) = &model.dialog else {
        return;
    };
    if about != Some(&ToastAbout::Unread) {
        return;
    }
    let visible = view::interaction::visible(dialog, model);
    let mut seen = dialog.seen;
    seen.note(&visible);
    if seen.is_all() {
        return forget_unread(model);
    }
    let words = read_first(model, seen.left(&visible));
    if let Some(toast) = &mut model.toast {
        toast.words = words;
    }
}

/// Opens all that is judged in the pager. Read to its end there, it counts as shown.
pub(super) fn read_all(model: &mut Model) -> Vec<Effect> {
    let Some(Dialog::Interaction(dialog)) = &model.dialog else {
        return Vec::new();
    };
    let title = model.look.language.say(dialog.form().title).to_owned();
    let lines = view::interaction::whole(dialog, &model.look);
    let asked = shown(model);
    let effects = pager::open(model, PagerContent::Lines { title, lines });
    if let Some(Dialog::Pager(pager)) = &mut model.dialog {
        pager.judged = asked;
    }
    effects
}

/// The body was read to its end in the pager.
pub(in crate::update) fn was_read(model: &mut Model, asked: &ShownInteraction) {
    let Some(session) = &mut model.session else {
        return;
    };
    let mut kept = session.asking.kept.iter_mut();
    let read = kept.find(|kept| ShownInteraction::from(&kept.interaction) == *asked);
    if let Some(dialog) = read {
        dialog.seen.read_all();
        forget_unread(model);
    }
}
