//! Escape sequences to write to a terminal. Pure.

use super::Options;

/// Keys are distinguished that were one (Ctrl-I and Tab, Shift-Enter and Enter): the kitty protocol, its first flag only.
/// Terminals that do not know it ignore it. Each screen, usual and alternate, has its own.
pub const KEYS_ON: &str = "\x1b[>1u";
/// The keys as they were.
pub const KEYS_OFF: &str = "\x1b[<1u";
/// Rings.
pub const BELL: &str = "\x07";

/// The same flag if it was pushed before.
const KEYS_AGAIN: &str = "\x1b[=1;1u";
/// Turns on bracketed paste and focus reports.
const MODES_ON: &str = "\x1b[?2004h\x1b[?1004h";
const MODES_OFF: &str = "\x1b[?1004l\x1b[?2004l";
const TITLE_SAVE: &str = "\x1b[22;0t";
const TITLE_RESTORE: &str = "\x1b[23;0t";
/// A bar cursor, between characters, where typed text goes.
const CURSOR_BAR: &str = "\x1b[6 q";
const CURSOR_USUAL: &str = "\x1b[0 q";
/// Buttons and wheel, with places beyond column 223; no moves.
const WHEEL_ON: &str = "\x1b[?1000h\x1b[?1006h";
const WHEEL_OFF: &str = "\x1b[?1006l\x1b[?1000l";
/// Whatever a frame that was cut short has left: style, wrapping, the cursor, drawing held back.
const USUAL: &str = "\x1b[m\x1b[?7h\x1b[?25h\x1b[?2026l";

/// Characters of a title or a notification: more of them nobody sees.
const WORDS_MAX: usize = 200;

/// Sequences that set up the terminal. `again`: it is set up already, but may have been changed.
pub(super) fn enter(options: Options, again: bool) -> String {
    let mut bytes = MODES_ON.to_owned();
    if !options.plain {
        bytes.push_str(if again { KEYS_AGAIN } else { KEYS_ON });
        bytes.push_str(CURSOR_BAR);
        bytes.push_str(if again { "" } else { TITLE_SAVE });
    }
    if options.wheel {
        bytes.push_str(WHEEL_ON);
    }
    bytes
}

/// Sequences that restore it.
pub(super) fn restore(options: Options, covered: bool) -> String {
    let mut bytes = String::new();
    if covered {
        bytes.push_str(if options.plain { "" } else { KEYS_OFF });
        bytes.push_str("\x1b[?1049l");
    }
    if options.wheel {
        bytes.push_str(WHEEL_OFF);
    }
    if !options.plain {
        bytes.push_str(TITLE_RESTORE);
        bytes.push_str(CURSOR_USUAL);
        bytes.push_str(KEYS_OFF);
    }
    bytes.push_str(MODES_OFF);
    bytes.push_str(USUAL);
    bytes
}

/// Sets the title of the window.
#[must_use]
pub fn title(words: &str) -> String {
    format!("\x1b]2;{}\x07", safe(words))
}

/// Shows a desktop notification, if the terminal can. `tmux` passes it on if `allow-passthrough` is on.
#[must_use]
pub fn notify(words: &str, tmux: bool) -> String {
    let mut words = safe(words);
    // A number at the beginning is a command to some terminals: `4;…` moves a progress bar.
    if words.starts_with(|first: char| first.is_ascii_digit()) {
        words.insert(0, ' ');
    }
    match tmux {
        true => format!("\x1bPtmux;\x1b\x1b]9;{words}\x07\x1b\\"),
        false => format!("\x1b]9;{words}\x07"),
    }
}

/// On one line, without anything that would end or begin a sequence.
fn safe(words: &str) -> String {
    let words = client::text::line(words);
    let words = words.chars().filter(|character| !character.is_control());
    words.take(WORDS_MAX).collect()
}
