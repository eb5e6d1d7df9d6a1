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
pub enum TextRole {
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
    /// The name of the theme that fits the terminal.
    pub const AUTO: &'static str = "auto";

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
    pub fn style(self, ink: TextRole) -> Style {
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

fn modifier(theme: Theme, ink: TextRole) -> Modifier {
    match (ink, theme) {
        (
            TextRole::Strong
            | TextRole::User
            | TextRole::Prompt
            | TextRole::Heading
            | TextRole::Question,
            _,
        ) => Modifier::BOLD,
        (TextRole::Link, _) => Modifier::UNDERLINED,
        (TextRole::Quote, _) => Modifier::ITALIC,
        (TextRole::Dim | TextRole::Border, Theme::Sixteen | Theme::None) => Modifier::DIM,
        (TextRole::Selected, Theme::Sixteen | Theme::None) => Modifier::REVERSED,
        (TextRole::Warning | TextRole::Error | TextRole::Accent, Theme::None) => Modifier::BOLD,
        (TextRole::AddedPart | TextRole::RemovedPart, Theme::Sixteen | Theme::None) => {
            Modifier::UNDERLINED
        }
        // With 256 colours, the background may come from the line.
        (TextRole::AddedPart | TextRole::RemovedPart, _) => Modifier::BOLD,
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
fn dark(ink: TextRole) -> Style {
    match ink {
        TextRole::Text => Style::new(),
        TextRole::Dim => fg(0x8b_949e),
        TextRole::Strong | TextRole::Heading => fg(0xe6_edf3),
        TextRole::User => fg(0x79_c0ff),
        TextRole::Tool => fg(0x7e_e0d0),
        TextRole::Good | TextRole::Added => fg(0x7e_e787),
        TextRole::Warning | TextRole::Question => fg(0xe3_b341),
        TextRole::Error | TextRole::Removed => fg(0xff_7b72),
        TextRole::Accent => fg(0xd2_a8ff),
        TextRole::Code => fg(0xff_a657),
        TextRole::Link => fg(0x58_a6ff),
        TextRole::Quote => fg(0xa5_b1bd),
        TextRole::Border => fg(0x6e_7681),
        TextRole::Prompt => fg(0x79_c0ff).bg(rgb(0x17_263b)),
        TextRole::AddedLine => Style::new().bg(rgb(0x00_320a)),
        TextRole::RemovedLine => Style::new().bg(rgb(0x3c_0a0a)),
        TextRole::AddedPart => fg(0xaf_f5b4).bg(rgb(0x1e_5c2a)),
        TextRole::RemovedPart => fg(0xff_dcd7).bg(rgb(0x7d_1218)),
        TextRole::Selected => Style::new().bg(rgb(0x26_3a57)),
    }
}

/// Contrast at least 4.5 : 1 on white.
fn light(ink: TextRole) -> Style {
    match ink {
        TextRole::Text => Style::new(),
        TextRole::Dim => fg(0x59_636e),
        TextRole::Strong | TextRole::Heading => fg(0x1f_2328),
        TextRole::User => fg(0x09_50b0),
        TextRole::Tool => fg(0x0f_6b5c),
        TextRole::Good | TextRole::Added => fg(0x11_6329),
        TextRole::Warning | TextRole::Question => fg(0x7d_4e00),
        TextRole::Error | TextRole::Removed => fg(0xb3_1d28),
        TextRole::Accent => fg(0x66_39ba),
        TextRole::Code => fg(0x95_3800),
        TextRole::Link => fg(0x09_69da),
        TextRole::Quote => fg(0x4b_5563),
        TextRole::Border => fg(0x81_8b98),
        TextRole::Prompt => fg(0x09_50b0).bg(rgb(0xe6_effb)),
        TextRole::AddedLine => Style::new().bg(rgb(0xd4_f8d8)),
        TextRole::RemovedLine => Style::new().bg(rgb(0xff_dcd8)),
        TextRole::AddedPart => fg(0x0a_3d1a).bg(rgb(0xac_eebb)),
        TextRole::RemovedPart => fg(0x67_060c).bg(rgb(0xff_b8b3)),
        TextRole::Selected => Style::new().bg(rgb(0xdd_eaff)),
    }
}

fn sixteen(ink: TextRole) -> Style {
    let fg = |colour| Style::new().fg(colour);
    match ink {
        TextRole::Text
        | TextRole::Dim
        | TextRole::Strong
        | TextRole::Heading
        | TextRole::Border
        | TextRole::Quote => Style::new(),
        TextRole::User | TextRole::Prompt | TextRole::Link => fg(Color::Blue),
        TextRole::Tool | TextRole::Code => fg(Color::Cyan),
        TextRole::Good | TextRole::Added | TextRole::AddedPart => fg(Color::Green),
        TextRole::Warning | TextRole::Question => fg(Color::Yellow),
        TextRole::Error | TextRole::Removed | TextRole::RemovedPart => fg(Color::Red),
        TextRole::Accent => fg(Color::Magenta),
        TextRole::Selected | TextRole::AddedLine | TextRole::RemovedLine => Style::new(),
    }
}
