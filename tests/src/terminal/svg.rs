//! Screens as pictures: what a terminal shows, as an SVG for the documents.
//!
//! Every run of cells that look alike is one text that is stretched to its cells, so that it does not matter which fonts
//! the reader has; lines of boxes are drawn. What differs from run to run is made alike first ([`steady`]), and then
//! shown as something that could have stood there.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};
use vt100::{Cell, Color};

use super::Terminal;
use super::emulator::{Colour, Emulator};
use super::golden::{settled, steady};

/// What a directory of tests is shown as; both have the same length.
const DIRECTORY: [&str; 2] = ["/tmp/rx______", "/user/ann/src"];

// All in tenths of a pixel, so that nothing is rounded.
const CELL: u32 = 84;
const ROW: u32 = 190;
const SIZE: u32 = 140;
/// From the top of a row down to the baseline.
const BASE: u32 = 140;
const MARGIN: u32 = 160;
/// The window's title.
const BAR: u32 = 320;

/// The terminal's own colours.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub ground: Colour,
    pub text: Colour,
    pub bar: Colour,
    pub buttons: Colour,
}

impl Window {
    pub const DARK: Self = Self {
        ground: 0x0d_1117,
        text: 0xe6_edf3,
        bar: 0x16_1b22,
        buttons: 0x48_4f58,
    };
    pub const LIGHT: Self = Self {
        ground: 0xff_ffff,
        text: 0x1f_2328,
        bar: 0xf0_f2f5,
        buttons: 0xaf_b8c1,
    };
}

/// Compares a terminal with the picture `docs/screens/NAME.svg`, as soon as it is as that shows; with `UPDATE=1` draws
/// the picture. `about` is for readers who do not see it.
///
/// # Panics
/// It does not become what the picture shows.
pub fn picture(name: &str, about: &str, window: Window, terminal: &Terminal) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../docs/screens")
        .join(format!("{name}.svg"));
    settled(&path, terminal, &|emulator| draw(about, window, emulator));
}

/// The screen as a window, without the rows below the last that shows something.
fn draw(about: &str, window: Window, emulator: &Emulator) -> String {
    let (columns, _) = emulator.size();
    let rows = emulator.rows();
    let last = rows.iter().rposition(|row| !row.is_empty()).unwrap_or(0);
    let count = u32::try_from(last + 1).unwrap_or_default();
    let width = 2 * MARGIN + u32::from(columns) * CELL;
    let height = BAR + 2 * MARGIN + count * ROW;
    let mut out = String::new();
    let about = escaped(about);
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" aria-label="{about}">"#,
        w = px(width),
        h = px(height),
    );
    let _ = writeln!(out, "<title>{about}</title>");
    let _ = writeln!(
        out,
        r#"<rect x=".5" y=".5" width="{}" height="{}" rx="9" fill="{}" stroke="{}"/>"#,
        px(width - 10),
        px(height - 10),
        hex(window.ground),
        hex(window.buttons),
    );
    let _ = writeln!(
        out,
        r#"<path d="M1 {bar}V9.5Q1 1 9.5 1H{right}Q{edge} 1 {edge} 9.5V{bar}z" fill="{fill}"/>"#,
        bar = px(BAR),
        right = px(width - 95),
        edge = px(width - 10),
        fill = hex(window.bar),
    );
    for place in [180, 360, 540] {
        let _ = writeln!(
            out,
            r#"<circle cx="{}" cy="16" r="5" fill="{}"/>"#,
            px(place),
            hex(window.buttons)
        );
    }
    if !emulator.vt().hide_cursor() {
        let (row, column) = emulator.vt().cursor_position();
        let _ = writeln!(
            out,
            r#"<rect x="{}" y="{}" width="{}" height="{}" fill="{}" fill-opacity=".4"/>"#,
            px(MARGIN + u32::from(column) * CELL),
            px(BAR + MARGIN + u32::from(row) * ROW),
            px(CELL),
            px(ROW),
            hex(window.text)
        );
    }
    let _ = writeln!(
        out,
        r#"<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Noto Sans Mono CJK SC','PingFang SC','Microsoft YaHei',monospace" font-size="{}" fill="{}">"#,
        px(SIZE),
        hex(window.text)
    );
    let mut lines = BTreeMap::new();
    for (number, row) in (0..).zip(rows.iter().take(last + 1)) {
        let cells = cells(emulator, window, number, columns, row);
        let top = BAR + MARGIN + u32::from(number) * ROW;
        grounds(&mut out, &cells, top);
        texts(&mut out, &cells, top);
        strokes(&mut lines, &cells, top, window);
    }
    out.push_str("</g>\n");
    for (colour, path) in lines {
        let _ = writeln!(
            out,
            r#"<path d="{path}" fill="none" stroke="{}"/>"#,
            hex(colour)
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The text of one cell, and its style.
struct StyledCell {
    column: u32,
    /// Cells that it takes: one or two.
    width: u32,
    words: String,
    look: CellStyle,
}

impl StyledCell {
    fn is_blank(&self) -> bool {
        self.words.trim().is_empty()
    }

    fn x(&self) -> u32 {
        MARGIN + self.column * CELL
    }

    fn end(&self) -> u32 {
        self.x() + self.width * CELL
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "a terminal's attributes are so many switches"
)]
struct CellStyle {
    /// `None`: the window's.
    text: Option<Colour>,
    ground: Option<Colour>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
}

fn cells(
    emulator: &Emulator,
    window: Window,
    row: u16,
    columns: u16,
    text: &str,
) -> Vec<StyledCell> {
    let mut words = by_cell(&presentable(text)).into_iter();
    let mut places = Vec::new();
    for column in 0..columns {
        let words = words.next().unwrap_or_default();
        let Some(cell) = emulator.vt().cell(row, column) else {
            break;
        };
        if cell.is_wide_continuation() {
            continue;
        }
        places.push(StyledCell {
            column: u32::from(column),
            width: if cell.is_wide() { 2 } else { 1 },
            words,
            look: look(cell, window),
        });
    }
    places
}

fn look(cell: &Cell, window: Window) -> CellStyle {
    let (mut text, mut ground) = (colour(cell.fgcolor()), colour(cell.bgcolor()));
    if cell.inverse() {
        let (front, back) = (text.unwrap_or(window.text), ground.unwrap_or(window.ground));
        (text, ground) = (Some(back), Some(front));
    }
    CellStyle {
        text,
        ground,
        bold: cell.bold(),
        dim: cell.dim(),
        italic: cell.italic(),
        underline: cell.underline(),
    }
}

/// A colour of the usual palette; `None`: the terminal's own.
fn colour(colour: Color) -> Option<Colour> {
    const SIXTEEN: [Colour; 16] = [
        0x48_4f58, 0xff_7b72, 0x3f_b950, 0xd2_9922, 0x58_a6ff, 0xbc_8cff, 0x39_c5cf, 0xb1_bac4,
        0x6e_7681, 0xff_a198, 0x56_d364, 0xe3_b341, 0x79_c0ff, 0xd2_a8ff, 0x56_d4dd, 0xff_ffff,
    ];
    let of = |r: u8, g: u8, b: u8| u32::from_be_bytes([0, r, g, b]);
    match colour {
        Color::Default => None,
        Color::Rgb(r, g, b) => Some(of(r, g, b)),
        Color::Idx(index @ 0..=15) => Some(SIXTEEN[usize::from(index)]),
        Color::Idx(index @ 16..=231) => {
            let step = |part: u8| if part == 0 { 0 } else { 55 + 40 * part };
            let cube = index - 16;
            Some(of(step(cube / 36), step(cube / 6 % 6), step(cube % 6)))
        }
        Color::Idx(index) => {
            let grey = 8 + 10 * (index - 232);
            Some(of(grey, grey, grey))
        }
    }
}

/// A row made alike, with something in place of every `#` that came of that, and of the directory's name.
fn presentable(row: &str) -> String {
    let alike = steady(row);
    let mut next = '1';
    let digits = row.chars().zip(alike.chars()).map(|(real, alike)| {
        if alike != '#' || real == '#' {
            // Anything else ends a number.
            if !matches!(alike, '.' | ':') {
                next = '1';
            }
            return alike;
        }
        let digit = next;
        next = if next == '9' {
            '0'
        } else {
            char::from(next as u8 + 1)
        };
        digit
    });
    digits
        .collect::<String>()
        .replace(DIRECTORY[0], DIRECTORY[1])
}

/// The text of each cell; the second cell of a wide character is empty.
fn by_cell(row: &str) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    for letter in row.chars() {
        match letter.width().unwrap_or_default() {
            // It belongs to the letter before, over the empty half of one that is wide.
            0 => match cells.iter_mut().rev().find(|cell| !cell.is_empty()) {
                Some(cell) => cell.push(letter),
                None => cells.push(letter.to_string()),
            },
            width => {
                cells.push(letter.to_string());
                cells.extend((1..width).map(|_| String::new()));
            }
        }
    }
    cells
}

fn grounds(out: &mut String, cells: &[StyledCell], top: u32) {
    for run in cells.chunk_by(|one, two| one.look.ground == two.look.ground) {
        let [first, ..] = run else { continue };
        let Some(ground) = first.look.ground else {
            continue;
        };
        let end = run.last().map_or(first.end(), StyledCell::end);
        let _ = writeln!(
            out,
            r#"<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>"#,
            px(first.x()),
            px(top),
            px(end - first.x()),
            px(ROW),
            hex(ground)
        );
    }
}

/// Whether two places beside each other are drawn as one text.
fn are_one(one: &StyledCell, two: &StyledCell) -> bool {
    let alike = one.look == two.look && one.width == two.width;
    alike && arms(one).is_none() && arms(two).is_none()
}

fn texts(out: &mut String, cells: &[StyledCell], top: u32) {
    for run in cells.chunk_by(are_one) {
        let words: Vec<bool> = run.iter().map(StyledCell::is_blank).collect();
        let mut at = 0;
        while at < run.len() {
            if words[at] {
                at += 1;
                continue;
            }
            // Up to two blanks in a row: their width is not left to fonts.
            let ends = (at..run.len())
                .find(|&place| words[place] && words.get(place + 1).is_none_or(|next| *next));
            let end = ends.unwrap_or(run.len());
            text(out, &run[at..end], top);
            at = end;
        }
    }
}

fn text(out: &mut String, run: &[StyledCell], top: u32) {
    let ([first, ..], Some(last)) = (run, run.last()) else {
        return;
    };
    if arms(first).is_some() {
        return;
    }
    let look = first.look;
    let _ = write!(out, r#"<text x="{}" y="{}""#, px(first.x()), px(top + BASE));
    // Something alone is as wide as it is.
    if run.len() > 1 {
        let _ = write!(out, r#" textLength="{}""#, px(last.end() - first.x()));
        if first.width == 1 {
            out.push_str(r#" lengthAdjust="spacingAndGlyphs""#);
        }
    }
    if let Some(colour) = look.text {
        let _ = write!(out, r#" fill="{}""#, hex(colour));
    }
    for (is, attribute) in [
        (look.bold, r#" font-weight="bold""#),
        (look.dim, r#" fill-opacity=".6""#),
        (look.italic, r#" font-style="italic""#),
        (look.underline, r#" text-decoration="underline""#),
    ] {
        if is {
            out.push_str(attribute);
        }
    }
    let words: String = run.iter().map(|place| place.words.as_str()).collect();
    let _ = writeln!(out, ">{}</text>", escaped(&words));
}

/// Where the strokes of a letter that draws boxes go: left, right, up, down.
fn arms(place: &StyledCell) -> Option<[bool; 4]> {
    let (left, right, up, down) = match place.words.as_str() {
        "─" => (true, true, false, false),
        "│" => (false, false, true, true),
        "┌" | "╭" => (false, true, false, true),
        "┐" | "╮" => (true, false, false, true),
        "└" | "╰" => (false, true, true, false),
        "┘" | "╯" => (true, false, true, false),
        "├" => (false, true, true, true),
        "┤" => (true, false, true, true),
        "┬" => (true, true, false, true),
        "┴" => (true, true, true, false),
        "┼" => (true, true, true, true),
        _ => return None,
    };
    Some([left, right, up, down])
}

/// The lines of boxes, by colour: long ones in one stroke.
fn strokes(lines: &mut BTreeMap<Colour, String>, cells: &[StyledCell], top: u32, window: Window) {
    let middle = top + ROW / 2;
    let mut open: Option<(Colour, u32, u32)> = None;
    for place in cells {
        let colour = place.look.text.unwrap_or(window.text);
        let centre = place.x() + CELL / 2;
        let [left, right, up, down] = arms(place).unwrap_or_default();
        if left || right {
            let from = if left { place.x() } else { centre };
            let to = if right { place.end() } else { centre };
            match &mut open {
                Some((own, _, end)) if *own == colour && *end == from => *end = to,
                _ => {
                    across(lines, open.take(), middle);
                    open = Some((colour, from, to));
                }
            }
        }
        if up || down {
            let from = if up { top } else { middle };
            let to = if down { top + ROW } else { middle };
            let path = lines.entry(colour).or_default();
            let _ = write!(path, "M{} {}V{}", px(centre), px(from), px(to));
        }
    }
    across(lines, open, middle);
}

fn across(lines: &mut BTreeMap<Colour, String>, line: Option<(Colour, u32, u32)>, middle: u32) {
    if let Some((colour, from, to)) = line {
        let path = lines.entry(colour).or_default();
        let _ = write!(path, "M{} {}H{}", px(from), px(middle), px(to));
    }
}

/// Tenths of a pixel as pixels.
fn px(tenths: u32) -> String {
    match (tenths / 10, tenths % 10) {
        (whole, 0) => whole.to_string(),
        (whole, tenth) => format!("{whole}.{tenth}"),
    }
}

fn hex(colour: Colour) -> String {
    format!("#{colour:06x}")
}

/// Text as XML takes it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.width());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML has no way to say it.
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::TerminalFeatures;
    use super::{Emulator, Window, draw, presentable};

    fn drawn(bytes: &str) -> String {
        let mut emulator = Emulator::new(20, 4, TerminalFeatures::default());
        emulator.feed(format!("\x1b[?25l{bytes}").as_bytes());
        draw("A <test>", Window::DARK, &emulator)
    }

    #[test]
    fn letters_that_mean_something_in_xml_are_escaped() {
        let svg = drawn("a<b & \"c\"");
        assert!(svg.contains(">a&lt;b &amp; &quot;c&quot;</text>"), "{svg}");
        assert!(svg.contains("<title>A &lt;test&gt;</title>"), "{svg}");
    }

    #[test]
    fn what_looks_alike_is_one_text_over_its_cells() {
        let svg = drawn("ab cd\x1b[2;3;4;38;2;1;2;3mef\x1b[0m  g");
        let first =
            r#"<text x="16" y="62" textLength="42" lengthAdjust="spacingAndGlyphs">ab cd</text>"#;
        assert!(svg.contains(first), "{svg}");
        let second = "fill=\"#010203\" fill-opacity=\".6\" font-style=\"italic\" \
                      text-decoration=\"underline\">ef</text>";
        assert!(svg.contains(second), "{svg}");
        assert!(svg.contains(r#"<text x="91.6" y="62">g</text>"#), "{svg}");
    }

    #[test]
    fn wide_letters_are_drawn_at_their_cells() {
        let svg = drawn("a中文b");
        for part in [
            r#"<text x="16" y="62">a<"#,
            r#"<text x="24.4" y="62" textLength="33.6">中文<"#,
            r#"<text x="58" y="62">b<"#,
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
    }

    #[test]
    fn grounds_and_what_is_inverse_are_filled_and_boxes_are_lines() {
        let svg = drawn("\x1b[44m  \x1b[0m\x1b[7mi\x1b[0m┌─┐");
        for part in [
            r##"<rect x="16" y="48" width="16.8" height="19" fill="#58a6ff"/>"##,
            r##"<rect x="32.8" y="48" width="8.4" height="19" fill="#e6edf3"/>"##,
            r##"fill="#0d1117">i</text>"##,
            "M45.4 57.5V67",
            "M45.4 57.5H62.2",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert!(!svg.contains('┌'), "{svg}");
    }

    #[test]
    fn what_differs_from_run_to_run_becomes_something_that_could_be_there() {
        for (row, shown) in [
            ("⠹ 34s · 7.7k tokens", "⠋ 12s · 1.2k tokens"),
            ("/tmp/rxa1B2c3/project #1", "/user/ann/src/project #1"),
        ] {
            assert_eq!(presentable(row), shown);
        }
    }
}
