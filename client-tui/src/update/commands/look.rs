//! The look of the interface: its colours, its language, and the keys of the composer.

use crate::effect::Effect;
use crate::messages::Language;
use crate::messages::app::Msg;
use crate::model::{Model, Tone};
use crate::theme::Theme;

pub(super) fn theme(model: &mut Model, arguments: &str) -> Vec<Effect> {
    let language = model.look.language;
    let auto = (arguments == Theme::AUTO).then_some(model.look.auto_theme);
    let Some(theme) = auto.or_else(|| Theme::named(arguments)) else {
        let names = Theme::NAMES.iter().map(|row| row.0);
        let names: Vec<&str> = [Theme::AUTO].into_iter().chain(names).collect();
        let words = language.fill(
            Msg::ThemeWhich,
            &[model.look.theme.name(), &names.join(", ")],
        );
        model.toast(Tone::Info, words);
        return Vec::new();
    };
    model.look.theme = theme;
    let words = language.fill(Msg::ThemeNow, &[arguments]);
    model.toast(Tone::Info, words);
    vec![Effect::Reprint]
}

pub(super) fn language(model: &mut Model, arguments: &str) -> Vec<Effect> {
    let Some(language) = Language::named(arguments) else {
        let words = model.look.language.say(Msg::LanguageWhich);
        model.toast(Tone::Info, words);
        return Vec::new();
    };
    model.look.language = language;
    model.toast(Tone::Info, language.say(Msg::LanguageNow));
    vec![Effect::Reprint]
}

pub(super) fn vim(model: &mut Model) -> Vec<Effect> {
    model.look.vim = !model.look.vim;
    model.composer.set_vim(model.look.vim);
    let message = if model.look.vim {
        Msg::VimOn
    } else {
        Msg::VimOff
    };
    let words = model.look.language.say(message);
    model.toast(Tone::Info, words);
    Vec::new()
}
