//! A terminal's state after a program's output: its screen, its scrollback, its modes, and its answers to queries.

mod reflow;

use std::num::NonZeroU16;
use std::time::Instant;

use vt100::{Callbacks, CursorStyle, MouseProtocolMode, Parser, Screen};

/// Rows that the scrollback keeps.
const SCROLLBACK: usize = 10_000;

/// Columns that a row of the scrollback may have had when it was written.
const WIDEST: u16 = 1000;

/// A colour, as in 0x0d1117.
pub type Colour = u32;

/// The kind of a terminal: the queries that it answers.
#[derive(Clone, Copy, Debug)]
pub struct TerminalFeatures {
    /// It knows the keyboard protocol of kitty.
    pub keyboard: bool,
    /// It reports its background colour on request.
    pub background: Option<Colour>,
    /// It reports its cursor position and its terminal type. Every terminal does; a pipe that looks like one does not.
    pub answers: bool,
    /// It breaks rows at the new edge when it gets narrower, and joins them again when it gets wider. Another one cuts
    /// them. A program learns it from `VTE_VERSION`, which the test sets.
    pub reflows: bool,
}

impl Default for TerminalFeatures {
    fn default() -> Self {
        Self {
            keyboard: false,
            background: Some(0x0d_1117),
            answers: true,
            reflows: false,
        }
    }
}

/// What a program may leave a terminal in. All of it is as in [`Modes::default`] before a program begins, and must be
/// after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    pub alternate_screen: bool,
    pub hidden_cursor: bool,
    pub bracketed_paste: bool,
    pub focus: bool,
    pub mouse: bool,
    pub application_cursor: bool,
    pub application_keypad: bool,
    /// The cursor has another shape than the person chose.
    pub cursor_shaped: bool,
    /// Titles that were saved and not brought back.
    pub titles: u16,
    /// Keyboard flags that were pushed and not popped, on either screen.
    pub keyboard: Vec<u16>,
    /// Nothing is shown until the frame is whole.
    pub synchronized: bool,
    /// Long lines go on in the next row.
    pub unwrapped: bool,
    /// Later output is styled.
    pub styled: bool,
}

/// Output other than text.
#[derive(Debug, Default)]
struct Beside {
    nature: TerminalFeatures,
    /// To be sent to the program.
    answers: Vec<u8>,
    bells: usize,
    titles: Vec<String>,
    notes: Vec<String>,
    copied: Vec<String>,
    /// Sequences that nobody here knows.
    unknown: Vec<String>,
    focus: bool,
    synchronized: bool,
    unwrapped: bool,
    saved_titles: u16,
    /// Of the usual screen, and of the other.
    keyboard: [Vec<u16>; 2],
}

/// The terminal.
pub(super) struct Emulator {
    parser: Parser<Beside>,
    /// Everything that was written.
    pub raw: Vec<u8>,
    /// When the newest of it came.
    pub fed: Instant,
    /// Nothing will come any more.
    pub ended: bool,
}

fn at_least_one(size: u16) -> NonZeroU16 {
    NonZeroU16::new(size).unwrap_or(NonZeroU16::MIN)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Emulator {
    pub fn new(columns: u16, rows: u16, nature: TerminalFeatures) -> Self {
        let beside = Beside {
            nature,
            ..Beside::default()
        };
        let (rows, columns) = (at_least_one(rows), at_least_one(columns));
        Self {
            parser: Parser::new_with_callbacks(rows, columns, SCROLLBACK, beside),
            raw: Vec::new(),
            fed: Instant::now(),
            ended: false,
        }
    }

    /// Takes what the program wrote; what the terminal says to it.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.raw.extend_from_slice(bytes);
        self.parser.process(bytes);
        self.fed = Instant::now();
        std::mem::take(&mut self.parser.callbacks_mut().answers)
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        let (rows, columns) = (at_least_one(rows), at_least_one(columns));
        if self.parser.callbacks().nature.reflows && !self.vt().alternate_screen() {
            return self.reflow(columns, rows);
        }
        self.parser.set_size(rows, columns);
    }

    /// Whether the screen shows a whole frame.
    pub fn is_whole(&self) -> bool {
        self.ended || !self.parser.callbacks().synchronized
    }

    pub fn vt(&self) -> &Screen {
        self.parser.screen()
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        let (rows, columns) = self.vt().size();
        (columns.get(), rows.get())
    }

    /// The rows on the screen.
    pub fn rows(&self) -> Vec<String> {
        let rows = self.vt().rows(0, WIDEST);
        rows.map(|row| row.trim_end().to_owned()).collect()
    }

    /// Every row that has scrolled off, and the screen.
    pub fn all_rows(&mut self) -> Vec<String> {
        let mut rows = Vec::new();
        let mut above = self.vt().scrollback_len();
        while above > 0 {
            self.parser.screen_mut().set_scrollback(above);
            let page = self.rows();
            let taken = page.len().min(above);
            rows.extend(page.into_iter().take(taken));
            above -= taken;
        }
        self.parser.screen_mut().set_scrollback(0);
        rows.extend(self.rows());
        rows
    }

    pub fn modes(&self) -> Modes {
        let (screen, beside) = (self.vt(), self.parser.callbacks());
        let plain = vt100::Color::Default;
        Modes {
            alternate_screen: screen.alternate_screen(),
            hidden_cursor: screen.hide_cursor(),
            bracketed_paste: screen.bracketed_paste(),
            focus: beside.focus,
            mouse: screen.mouse_protocol_mode() != MouseProtocolMode::None,
            application_cursor: screen.application_cursor(),
            application_keypad: screen.application_keypad(),
            cursor_shaped: screen.cursor_style() != CursorStyle::default(),
            titles: beside.saved_titles,
            keyboard: beside.keyboard.concat(),
            synchronized: beside.synchronized,
            unwrapped: beside.unwrapped,
            styled: screen.fgcolor() != plain
                || screen.bgcolor() != plain
                || screen.bold()
                || screen.dim()
                || screen.italic()
                || screen.underline()
                || screen.inverse(),
        }
    }

    /// Whether the program has enabled disambiguated keys.
    pub fn disambiguates_keys(&self) -> bool {
        let beside = self.parser.callbacks();
        let flags = beside.keyboard[usize::from(self.vt().alternate_screen())].last();
        beside.nature.keyboard && flags.is_some_and(|flags| flags & 1 == 1)
    }

    pub fn bells(&self) -> usize {
        self.parser.callbacks().bells
    }

    pub fn titles(&self) -> &[String] {
        &self.parser.callbacks().titles
    }

    pub fn notes(&self) -> &[String] {
        &self.parser.callbacks().notes
    }

    pub fn copied(&self) -> &[String] {
        &self.parser.callbacks().copied
    }

    pub fn unknown(&self) -> &[String] {
        &self.parser.callbacks().unknown
    }
}

impl Beside {
    fn answer(&mut self, text: &str) {
        if self.nature.answers {
            self.answers.extend_from_slice(text.as_bytes());
        }
    }

    /// A private mode that the parser does not know.
    fn mode(&mut self, mode: u16, on: bool) -> bool {
        match mode {
            7 => self.unwrapped = !on,
            1004 => self.focus = on,
            2026 => self.synchronized = on,
            // A blinking cursor; an old mouse encoding; the parser knows the others.
            12 | 1015 => {}
            1 | 6 | 9 | 25 | 47 | 1000 | 1002 | 1003 | 1005 | 1006 | 1049 | 2004 => {}
            _ => return false,
        }
        true
    }

    /// A sequence that begins with `CSI`; whether it is known.
    fn control(&mut self, screen: &Screen, marks: &[u8], params: &[u16], last: char) -> bool {
        let first = params.first().copied().unwrap_or_default();
        let keyboard = &mut self.keyboard[usize::from(screen.alternate_screen())];
        match (marks, last) {
            ([], 'n') if first == 6 => {
                let (row, column) = screen.cursor_position();
                self.answer(&format!("\x1b[{};{}R", row + 1, column + 1));
            }
            ([], 'n') if first == 5 => self.answer("\x1b[0n"),
            ([], 'c') => self.answer("\x1b[?62;22c"),
            // Kinds of underline and its colour.
            ([], 'm') => {}
            ([], 't') if first == 22 => self.saved_titles += 1,
            ([], 't') if first == 23 => self.saved_titles = self.saved_titles.saturating_sub(1),
            ([b'?'], 'u') => {
                let flags = keyboard.last().copied().unwrap_or_default();
                if self.nature.keyboard {
                    self.answer(&format!("\x1b[?{flags}u"));
                }
            }
            ([b'>'], 'u') => keyboard.push(first),
            ([b'='], 'u') => match keyboard.last_mut() {
                Some(last) => *last = first,
                None => keyboard.push(first),
            },
            ([b'<'], 'u') => {
                let left = keyboard.len().saturating_sub(first.max(1).into());
                keyboard.truncate(left);
            }
            // Which terminal it is: not every one says so.
            ([b'>'], 'q' | 'c') => {}
            ([b'?', b'$'], 'p') => {
                let state = u8::from(first == 2026) * 2;
                self.answer(&format!("\x1b[?{first};{state}$y"));
            }
            ([b'?'], 'h' | 'l') => return params.iter().all(|mode| self.mode(*mode, last == 'h')),
            _ => return false,
        }
        true
    }
}

impl Callbacks for Beside {
    fn audible_bell(&mut self, _: &mut Screen) {
        self.bells += 1;
    }

    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        self.titles.push(lossy(title));
    }

    fn copy_to_clipboard(&mut self, _: &mut Screen, _: &[u8], data: &[u8]) {
        self.copied.push(lossy(data));
    }

    fn paste_from_clipboard(&mut self, _: &mut Screen, _: &[u8]) {
        self.unknown.push("a look at the clipboard".to_owned());
    }

    fn unhandled_char(&mut self, _: &mut Screen, c: char) {
        self.unknown.push(format!("character {c:?}"));
    }

    fn unhandled_control(&mut self, _: &mut Screen, byte: u8) {
        self.unknown.push(format!("control {byte:#x}"));
    }

    fn unhandled_escape(&mut self, _: &mut Screen, i1: Option<u8>, i2: Option<u8>, byte: u8) {
        // The end of a string, and the ordinary character set.
        if !matches!((i1, byte), (None, b'\\') | (Some(b'('), b'B')) {
            self.unknown.push(format!("ESC {i1:?} {i2:?} {byte:#x}"));
        }
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut Screen,
        i1: Option<u8>,
        i2: Option<u8>,
        params: &[&[u16]],
        last: char,
    ) {
        let marks: Vec<u8> = i1.into_iter().chain(i2).collect();
        let flat: Vec<u16> = params
            .iter()
            .filter_map(|one| one.first().copied())
            .collect();
        if !self.control(screen, &marks, &flat, last) {
            let marks = lossy(&marks);
            self.unknown.push(format!("CSI {marks}{params:?}{last}"));
        }
    }

    fn unhandled_osc(&mut self, _: &mut Screen, params: &[&[u8]]) {
        match params {
            [b"9", note @ ..] => self.notes.push(lossy(&note.join(&b';'))),
            // Only the text of a link is drawn.
            [b"8", ..] => {}
            [what @ (b"10" | b"11"), b"?"] => {
                if let Some(background) = self.nature.background {
                    let colour = match *what {
                        b"11" => background,
                        // Something that can be read on it.
                        _ => 0xff_ffff ^ background,
                    };
                    let [_, r, g, b] = colour.to_be_bytes();
                    let what = lossy(what);
                    self.answer(&format!(
                        "\x1b]{what};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}\x1b\\"
                    ));
                }
            }
            _ => {
                let words: Vec<_> = params.iter().map(|part| lossy(part)).collect();
                self.unknown.push(format!("OSC {}", words.join(";")));
            }
        }
    }
}
