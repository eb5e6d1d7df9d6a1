//! Kinds of code tokens, and their colours. Contrast at least 4.5 : 1 on black, or on white.

use std::sync::OnceLock;

use ratatui::style::{Color, Modifier, Style};
use syntect::parsing::{Scope, ScopeStack};

use crate::theme::{TextRole, Theme};

/// The kind of a code token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paint {
    Plain,
    Comment,
    String,
    Constant,
    Keyword,
    Type,
    Function,
    Tag,
    Heading,
    Added,
    Removed,
}

/// The first row that matches the innermost scope wins; if none does, the scope around it is tried.
const SCOPES: &[(&str, Paint)] = &[
    ("comment", Paint::Comment),
    ("constant.character.escape", Paint::Constant),
    ("meta.interpolation", Paint::Plain),
    ("meta.template.expression", Paint::Plain),
    ("string", Paint::String),
    ("constant", Paint::Constant),
    ("support.constant", Paint::Constant),
    ("keyword.operator.word", Paint::Keyword),
    ("keyword.operator", Paint::Plain),
    ("keyword", Paint::Keyword),
    ("storage", Paint::Keyword),
    ("variable.language", Paint::Keyword),
    ("variable.function", Paint::Function),
    ("entity.name.function", Paint::Function),
    ("support.function", Paint::Function),
    ("support.macro", Paint::Function),
    ("entity.name.tag", Paint::Tag),
    ("entity.other.attribute-name", Paint::Constant),
    ("entity.name.section", Paint::Heading),
    ("markup.heading", Paint::Heading),
    ("entity.name", Paint::Type),
    ("entity.other.inherited-class", Paint::Type),
    ("support.type.property-name", Paint::Tag),
    ("support.type", Paint::Type),
    ("support.class", Paint::Type),
    ("markup.inserted", Paint::Added),
    ("markup.deleted", Paint::Removed),
    ("meta.diff", Paint::Type),
    ("source", Paint::Plain),
    ("text", Paint::Plain),
];

fn scopes() -> &'static [(Scope, Paint)] {
    static KNOWN: OnceLock<Vec<(Scope, Paint)>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let known = SCOPES.iter();
        known
            .filter_map(|(name, paint)| Some((Scope::new(name).ok()?, *paint)))
            .collect()
    })
}

/// How a piece of code in these scopes looks.
pub(super) fn style(stack: &ScopeStack, theme: Theme) -> Style {
    let paint = stack.as_slice().iter().rev().find_map(|scope| {
        let mut known = scopes().iter();
        known.find(|(prefix, _)| prefix.is_prefix_of(*scope))
    });
    of(paint.map_or(Paint::Plain, |row| row.1), theme)
}

fn of(paint: Paint, theme: Theme) -> Style {
    let pair = |dark: u32, light: u32| match theme {
        Theme::Dark => Style::new().fg(Color::from_u32(dark)),
        Theme::Light => Style::new().fg(Color::from_u32(light)),
        Theme::Sixteen | Theme::None => Style::new(),
    };
    match paint {
        Paint::Plain => Style::new(),
        Paint::Comment => pair(0x8b_949e, 0x59_636e).add_modifier(Modifier::ITALIC),
        Paint::String => pair(0xa5_d6ff, 0x0a_3069),
        Paint::Constant => pair(0x79_c0ff, 0x05_50ae),
        Paint::Keyword => pair(0xff_7b72, 0xb3_1d28),
        Paint::Type => pair(0xff_a657, 0x95_3800),
        Paint::Function => pair(0xd2_a8ff, 0x66_39ba),
        Paint::Tag => pair(0x7e_e787, 0x11_6329),
        Paint::Heading => pair(0xd2_a8ff, 0x66_39ba).add_modifier(Modifier::BOLD),
        Paint::Added => theme.style(TextRole::Added),
        Paint::Removed => theme.style(TextRole::Removed),
    }
}
