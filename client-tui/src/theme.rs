//! Colours by meaning. Nothing is shown by colour alone: what matters has a mark or a word too.

use ratatui::style::{Color, Modifier, Style};

/// Which colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Theme {
    /// For a dark background.
    #[default]
    Dark,
    /// For a light background.
    Light,
    /// The terminal's own sixteen, whatever they are: fits any background.
    Sixteen,
    /// None: bold, dim and underline only.
    None,
}

/// The role of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ink {
    /// Ordinary words.
    Text,
    /// Less important text: reasoning, hints, times.
    Dim,
    /// Emphasised text.
    Strong,
    /// The user's text.
    User,
    /// A prompt in the transcript, and the bar before it.
    Prompt,
    /// A tool's activity.
    Tool,
    Good,
    Warning,
    Error,
    /// The product's own colour: the prompt's mark, the selected row's mark.
    Accent,
    /// A question to the user.
    Question,
    Heading,
    /// Code within words, and code without highlighting.
    Code,
    Link,
    Quote,
    /// Lines of tables and frames.
    Border,
    Added,
    Removed,
    /// Background of an added line, and of a removed one.
    AddedLine,
    RemovedLine,
    /// The changed part of a changed line.
    AddedPart,
    RemovedPart,
    /// The row that a key would take.
    Selected,
}

impl Theme {
    /// The names that the setting `tui.theme` takes beside `auto`.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("dark", Self::Dark),
        ("light", Self::Light),
        ("16", Self::Sixteen),
        ("none", Self::None),
    ];

    /// The theme of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut names = Self::NAMES.iter();
        names.find(|(known, _)| *known == name).map(|row| row.1)
    }

    /// Its name in the settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut names = Self::NAMES.iter();
        names
            .find(|(_, known)| *known == self)
            .map_or("", |row| row.0)
    }

    /// How that kind of text looks.
    #[must_use]
    pub fn style(self, ink: Ink) -> Style {
        let colour = match self {
            Self::Dark => dark(ink),
            Self::Light => light(ink),
            Self::Sixteen => sixteen(ink),
            Self::None => Style::new(),
        };
        colour.add_modifier(modifier(self, ink))
    }

    /// Whether code is coloured.
    #[must_use]
    pub fn highlights(self) -> bool {
        matches!(self, Self::Dark | Self::Light)
    }
}

fn modifier(theme: Theme, ink: Ink) -> Modifier {
    match (ink, theme) {
        (Ink::Strong | Ink::User | Ink::Prompt | Ink::Heading | Ink::Question, _) => Modifier::BOLD,
        (Ink::Link, _) => Modifier::UNDERLINED,
        (Ink::Quote, _) => Modifier::ITALIC,
        (Ink::Dim | Ink::Border, Theme::Sixteen | Theme::None) => Modifier::DIM,
        (Ink::Selected, Theme::Sixteen | Theme::None) => Modifier::REVERSED,
        (Ink::Warning | Ink::Error | Ink::Accent, Theme::None) => Modifier::BOLD,
        (Ink::AddedPart | Ink::RemovedPart, Theme::Sixteen | Theme::None) => Modifier::UNDERLINED,
        // With 256 colours, the background may come from the line.
        (Ink::AddedPart | Ink::RemovedPart, _) => Modifier::BOLD,
        _ => Modifier::empty(),
    }
}

fn rgb(value: u32) -> Color {
    let part = |shift: u32| u8::try_from(value >> shift & 0xff).unwrap_or_default();
    Color::Rgb(part(16), part(8), part(0))
}

fn fg(value: u32) -> Style {
    Style::new().fg(rgb(value))
}

/// Contrast at least 4.5 : 1 on black and on dark greys.
fn dark(ink: Ink) -> Style {
    match ink {
        Ink::Text => Style::new(),
        Ink::Dim => fg(0x8b_949e),
        Ink::Strong | Ink::Heading => fg(0xe6_edf3),
        Ink::User => fg(0x79_c0ff),
        Ink::Tool => fg(0x7e_e0d0),
        Ink::Good | Ink::Added => fg(0x7e_e787),
        Ink::Warning | Ink::Question => fg(0xe3_b341),
        Ink::Error | Ink::Removed => fg(0xff_7b72),
        Ink::Accent => fg(0xd2_a8ff),
        Ink::Code => fg(0xff_a657),
        Ink::Link => fg(0x58_a6ff),
        Ink::Quote => fg(0xa5_b1bd),
        Ink::Border => fg(0x6e_7681),
        Ink::Prompt => fg(0x79_c0ff).bg(rgb(0x17_263b)),
        Ink::AddedLine => Style::new().bg(rgb(0x00_320a)),
        Ink::RemovedLine => Style::new().bg(rgb(0x3c_0a0a)),
        Ink::AddedPart => fg(0xaf_f5b4).bg(rgb(0x1e_5c2a)),
        Ink::RemovedPart => fg(0xff_dcd7).bg(rgb(0x7d_1218)),
        Ink::Selected => Style::new().bg(rgb(0x26_3a57)),
    }
}

/// Contrast at least 4.5 : 1 on white.
fn light(ink: Ink) -> Style {
    match ink {
        Ink::Text => Style::new(),
        Ink::Dim => fg(0x59_636e),
        Ink::Strong | Ink::Heading => fg(0x1f_2328),
        Ink::User => fg(0x09_50b0),
        Ink::Tool => fg(0x0f_6b5c),
        Ink::Good | Ink::Added => fg(0x11_6329),
        Ink::Warning | Ink::Question => fg(0x7d_4e00),
        Ink::Error | Ink::Removed => fg(0xb3_1d28),
        Ink::Accent => fg(0x66_39ba),
        Ink::Code => fg(0x95_3800),
        Ink::Link => fg(0x09_69da),
        Ink::Quote => fg(0x4b_5563),
        Ink::Border => fg(0x81_8b98),
        Ink::Prompt => fg(0x09_50b0).bg(rgb(0xe6_effb)),
        Ink::AddedLine => Style::new().bg(rgb(0xd4_f8d8)),
        Ink::RemovedLine => Style::new().bg(rgb(0xff_dcd8)),
        Ink::AddedPart => fg(0x0a_3d1a).bg(rgb(0xac_eebb)),
        Ink::RemovedPart => fg(0x67_060c).bg(rgb(0xff_b8b3)),
        Ink::Selected => Style::new().bg(rgb(0xdd_eaff)),
    }
}

fn sixteen(ink: Ink) -> Style {
    let fg = |colour| Style::new().fg(colour);
    match ink {
        Ink::Text | Ink::Dim | Ink::Strong | Ink::Heading | Ink::Border | Ink::Quote => {
            Style::new()
        }
        Ink::User | Ink::Prompt | Ink::Link => fg(Color::Blue),
        Ink::Tool | Ink::Code => fg(Color::Cyan),
        Ink::Good | Ink::Added | Ink::AddedPart => fg(Color::Green),
        Ink::Warning | Ink::Question => fg(Color::Yellow),
        Ink::Error | Ink::Removed | Ink::RemovedPart => fg(Color::Red),
        Ink::Accent => fg(Color::Magenta),
        Ink::Selected | Ink::AddedLine | Ink::RemovedLine => Style::new(),
    }
}
