//! Detects the terminal's features and the user's preferences from the environment. Pure: the terminal is not
//! queried.

use crate::messages::Language;
use crate::screen::Depth;
use crate::theme::Theme;

/// Features of the terminal that are known before anything is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalEnvironment {
    pub colours: Depth,
    /// The value of the setting `auto` here.
    pub theme: Theme,
    pub language: Language,
    /// It probably understands links (OSC 8).
    pub links: bool,
    /// It breaks rows at the new edge when it gets narrower, for certain.
    pub reflows: bool,
    /// Between us and the terminal is tmux.
    pub tmux: bool,
    /// A terminal that knows little beyond text and colours, or not even these.
    pub plain: bool,
}

impl TerminalEnvironment {
    /// Of this process.
    #[must_use]
    pub fn read() -> Self {
        Self::of(|name| std::env::var(name).ok())
    }

    /// Of these variables.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        // A variable that is empty counts as none, as in POSIX.
        let get = |name: &str| variable(name).filter(|value| !value.is_empty());
        let term = get("TERM").unwrap_or_default();
        let tmux = get("TMUX").is_some() || term.starts_with("tmux");
        let plain = matches!(
            term.as_str(),
            "dumb" | "linux" | "vt100" | "vt102" | "vt220"
        );
        // GNU screen neither hands links on nor knows more than 256 colours.
        let screen = term.starts_with("screen") && !tmux;
        let apple = get("TERM_PROGRAM").is_some_and(|name| name == "Apple_Terminal");
        let colours = depth(&get, &term, screen || apple);
        Self {
            colours,
            theme: theme(colours, get("COLORFGBG").as_deref()),
            language: Language::of_environment(&get),
            links: !plain && !screen && !apple,
            reflows: !screen && (tmux || reflows(&get, &term)),
            tmux,
            plain,
        }
    }
}

type Get<'a> = &'a dyn Fn(&str) -> Option<String>;

fn depth(get: Get<'_>, term: &str, limited: bool) -> Depth {
    /// Terminals with all colours that do not always say so, by the beginning of `TERM` or by `TERM_PROGRAM`.
    const KNOWN: &[&str] = &[
        "alacritty",
        "foot",
        "ghostty",
        "iTerm.app",
        "kitty",
        "rio",
        "vscode",
        "wezterm",
        "WezTerm",
        "xterm-ghostty",
        "xterm-kitty",
    ];
    if get("NO_COLOR").is_some() || matches!(term, "dumb" | "vt100" | "vt102" | "vt220") {
        return Depth::None;
    }
    let said =
        get("COLORTERM").is_some_and(|value| matches!(value.as_str(), "truecolor" | "24bit"));
    let program = get("TERM_PROGRAM").unwrap_or_default();
    let known = KNOWN
        .iter()
        .any(|name| term.starts_with(name) || program == *name);
    match term {
        "linux" => Depth::Ansi16,
        _ if limited => Depth::Ansi256,
        _ if said || known || term.ends_with("-direct") || get("WT_SESSION").is_some() => {
            Depth::True
        }
        term if term.contains("256color") => Depth::Ansi256,
        _ => Depth::Ansi16,
    }
}

/// By what only such terminals set.
fn reflows(get: Get<'_>, term: &str) -> bool {
    const VARIABLES: &[&str] = &[
        "ALACRITTY_WINDOW_ID",
        "GHOSTTY_RESOURCES_DIR",
        "KITTY_WINDOW_ID",
        "KONSOLE_VERSION",
        "VTE_VERSION",
        "WEZTERM_PANE",
        "WT_SESSION",
    ];
    const TERMS: &[&str] = &[
        "alacritty",
        "foot",
        "wezterm",
        "xterm-ghostty",
        "xterm-kitty",
    ];
    const PROGRAMS: &[&str] = &["Apple_Terminal", "iTerm.app", "vscode"];
    let program = get("TERM_PROGRAM").unwrap_or_default();
    VARIABLES.iter().any(|name| get(name).is_some())
        || TERMS.iter().any(|name| term.starts_with(name))
        || PROGRAMS.contains(&program.as_str())
}

/// The theme by the background's colour number, the last of `COLORFGBG`; dark if it is not set.
fn theme(colours: Depth, ground: Option<&str>) -> Theme {
    let ground = ground.and_then(|value| value.rsplit(';').next()?.parse::<u8>().ok());
    match (colours, ground) {
        (Depth::None, _) => Theme::None,
        (Depth::Ansi16, _) => Theme::Sixteen,
        (_, Some(7 | 9..=15)) => Theme::Light,
        _ => Theme::Dark,
    }
}
