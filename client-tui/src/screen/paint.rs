//! A line as the bytes that draw it, and how many cells they take.
//!
//! Pure. Every row begins and ends in the terminal's default style, so that rows can be written in any order.

use std::fmt::Write as _;

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// How many colours the terminal has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Depth {
    #[default]
    True,
    Ansi256,
    Ansi16,
    /// None: bold, dim, underline and the like only.
    None,
}

/// A row, drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    /// The output: text and changes of style, no cursor moves.
    pub bytes: String,
    /// Cells that it takes; never more than the columns that it was made for.
    pub cells: usize,
}

impl Row {
    /// Draws a line: cut at the edge, without anything that a terminal would obey.
    pub fn of(line: &Line<'_>, columns: usize, depth: Depth) -> Self {
        let mut row = Self::default();
        let mut pen = Pen::default();
        for span in &line.spans {
            pen.take(
                Attributes::of(line.style.patch(span.style), depth),
                &mut row,
            );
            if !row.push(&span.content, columns) {
                break;
            }
        }
        // As ratatui does: a line's own background reaches to the edge.
        let ground = Attributes::of(line.style, depth);
        if ground.fills() && row.cells < columns {
            pen.take(ground, &mut row);
            let blanks = columns - row.cells;
            row.bytes.extend(std::iter::repeat_n(' ', blanks));
            row.cells = columns;
        }
        pen.take(Attributes::default(), &mut row);
        row
    }

    /// As much of the text as there is place for; whether it was all.
    fn push(&mut self, text: &str, columns: usize) -> bool {
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            let taken = text.len().min(columns - self.cells);
            self.bytes.push_str(text.get(..taken).unwrap_or_default());
            self.cells += taken;
            return taken == text.len();
        }
        if text.chars().any(char::is_control) {
            let text: String = text.chars().filter_map(harmless).collect();
            return self.graphemes(&text, columns);
        }
        self.graphemes(text, columns)
    }

    fn graphemes(&mut self, text: &str, columns: usize) -> bool {
        for grapheme in text.graphemes(true) {
            let cells = grapheme.width();
            if self.cells + cells > columns {
                return false;
            }
            self.bytes.push_str(grapheme);
            self.cells += cells;
        }
        true
    }
}

/// The last safeguard: text should have been cleaned long before.
fn harmless(character: char) -> Option<char> {
    match character {
        '\t' => Some(' '),
        character if character.is_control() => None,
        character => Some(character),
    }
}

/// A style as a terminal of some depth has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Attributes {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

impl Default for Attributes {
    fn default() -> Self {
        Self {
            fg: Color::Reset,
            bg: Color::Reset,
            modifier: Modifier::empty(),
        }
    }
}

impl Attributes {
    fn of(style: Style, depth: Depth) -> Self {
        Self {
            fg: lower(style.fg.unwrap_or(Color::Reset), depth),
            bg: lower(style.bg.unwrap_or(Color::Reset), depth),
            modifier: style.add_modifier.difference(style.sub_modifier),
        }
    }

    /// Whether a blank in it can be seen.
    fn fills(self) -> bool {
        self.bg != Color::Reset || self.modifier.contains(Modifier::REVERSED)
    }
}

/// The terminal's current attributes.
#[derive(Debug, Default)]
struct Pen {
    look: Attributes,
}

impl Pen {
    /// Changes only the attributes that differ. Turns attributes off with a reset, which every terminal supports.
    fn take(&mut self, look: Attributes, row: &mut Row) {
        if look == self.look {
            return;
        }
        let mut codes = String::new();
        let mut from = self.look;
        if look == Attributes::default() {
            row.bytes.push_str("\x1b[m");
            self.look = look;
            return;
        }
        if !look.modifier.contains(from.modifier) {
            codes.push_str("0;");
            from = Attributes::default();
        }
        for (modifier, code) in MODIFIERS {
            if look.modifier.contains(*modifier) && !from.modifier.contains(*modifier) {
                let _ = write!(codes, "{code};");
            }
        }
        if look.fg != from.fg {
            colour(look.fg, 30, &mut codes);
        }
        if look.bg != from.bg {
            colour(look.bg, 40, &mut codes);
        }
        let _ = write!(row.bytes, "\x1b[{}m", codes.trim_end_matches(';'));
        self.look = look;
    }
}

const MODIFIERS: &[(Modifier, u8)] = &[
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::SLOW_BLINK, 5),
    (Modifier::RAPID_BLINK, 6),
    (Modifier::REVERSED, 7),
    (Modifier::HIDDEN, 8),
    (Modifier::CROSSED_OUT, 9),
];

/// The parameters of a colour: `base` 30 for text, 40 for the background.
fn colour(colour: Color, base: u8, codes: &mut String) {
    let _ = match (colour, sixteen_index(colour)) {
        (Color::Rgb(red, green, blue), _) => {
            write!(codes, "{};2;{red};{green};{blue};", base + 8)
        }
        (Color::Indexed(index), _) if index > 15 => write!(codes, "{};5;{index};", base + 8),
        (_, Some(index)) if index < 8 => write!(codes, "{};", base + index),
        (_, Some(index)) => write!(codes, "{};", base + 60 + index - 8),
        (_, None) => write!(codes, "{};", base + 9),
    };
}

/// Which of the terminal's own sixteen it is.
fn sixteen_index(colour: Color) -> Option<u8> {
    Some(match colour {
        Color::Reset | Color::Rgb(..) => return None,
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
        Color::Indexed(index) => return (index < 16).then_some(index),
    })
}

/// The nearest colour that the terminal has.
fn lower(colour: Color, depth: Depth) -> Color {
    match (depth, colour) {
        (Depth::True, colour) => colour,
        (Depth::None, _) => Color::Reset,
        (Depth::Ansi256, Color::Rgb(red, green, blue)) => {
            Color::Indexed(nearest_of_256([red, green, blue]))
        }
        (Depth::Ansi16, Color::Rgb(red, green, blue)) => {
            Color::Indexed(nearest([red, green, blue], 0..=15))
        }
        (Depth::Ansi16, Color::Indexed(index)) if index > 15 => {
            Color::Indexed(nearest(palette(index), 0..=15))
        }
        (_, colour) => colour,
    }
}

/// The nearest of the colours from 16 on: of a cube, whose sides are independent, and of greys, which are evenly apart. It
/// is asked for each change of style, so it looks at none of the others.
fn nearest_of_256(wanted: [u8; 3]) -> u8 {
    let [red, green, blue] = wanted.map(|part| {
        let distance = |side: &u8| STEPS[usize::from(*side)].abs_diff(part);
        (0..6).min_by_key(distance).unwrap_or_default()
    });
    let cube = 16 + 36 * red + 6 * green + blue;
    let sum: u16 = wanted.iter().map(|part| u16::from(*part)).sum();
    // The nearest to the mean; of two the darker one.
    let grey = u8::try_from(sum.saturating_sub(10) / 30).unwrap_or(u8::MAX);
    let grey = 232 + grey.min(23);
    match is_greyish(wanted) && distance(grey, wanted) < distance(cube, wanted) {
        true => grey,
        false => cube,
    }
}

/// Whether a grey may take the place of a colour. A dark red or green is nearest to one, and would lose what it says.
fn is_greyish(wanted: [u8; 3]) -> bool {
    /// How far the parts of a colour are apart that is seen as one.
    const COLOURED: u8 = 50;
    let [red, green, blue] = wanted;
    let (low, high) = (red.min(green).min(blue), red.max(green).max(blue));
    high - low < COLOURED
}

fn nearest(wanted: [u8; 3], among: std::ops::RangeInclusive<u8>) -> u8 {
    among
        .min_by_key(|index| distance(*index, wanted))
        .unwrap_or_default()
}

/// How far a colour of the palette is from this one.
fn distance(index: u8, wanted: [u8; 3]) -> u32 {
    let parts = palette(index).into_iter().zip(wanted);
    parts
        .map(|(one, other)| u32::from(one.abs_diff(other)).pow(2))
        .sum()
}

/// The parts of the colours of the cube.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The colours of the usual palette.
fn palette(index: u8) -> [u8; 3] {
    let step = |index: u8| STEPS[usize::from(index % 6)];
    let bits = |index: u8, strength: u8| [1, 2, 4].map(|bit| strength * u8::from(index & bit != 0));
    match index {
        7 => [192; 3],
        8 => [128; 3],
        0..=6 => bits(index, 128),
        9..=15 => bits(index - 8, 255),
        16..=231 => {
            let cube = index - 16;
            [step(cube / 36), step(cube / 6), step(cube)]
        }
        232..=255 => [8 + (index - 232) * 10; 3],
    }
}

#[cfg(test)]
mod tests;
