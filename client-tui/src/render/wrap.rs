//! Wraps text into rows of a width: by cells, at blanks if there are any, never within a character that is drawn as
//! one.
//!
//! A row is a range of the text, so styles stay with their bytes. Control characters are dropped here too, as a last
//! safeguard; a tab becomes blanks.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns from one tab stop to the next.
pub const TAB: usize = 4;

/// Wraps a styled line into rows of at most `width` cells. A single character wider than that gets its own row.
#[must_use]
pub fn line(line: &Line<'static>, width: usize) -> Vec<Line<'static>> {
    hanging(line, width, &Line::default(), &Line::default())
}

/// As [`line()`], with something before the first row and something before each other one, within the width.
#[must_use]
pub fn hanging(
    line: &Line<'static>,
    width: usize,
    first: &Line<'static>,
    rest: &Line<'static>,
) -> Vec<Line<'static>> {
    let text = Text::of(line);
    let (before, after) = (cells(first), cells(rest));
    let rows = ranges(
        &text.text,
        width.saturating_sub(before),
        width.saturating_sub(after),
    );
    rows.into_iter()
        .enumerate()
        .map(|(index, range)| {
            let prefix = if index == 0 { first } else { rest };
            text.row(prefix, range)
        })
        .collect()
}

/// Cuts a styled line into rows of at most `width` cells wherever the edge is, blanks kept: for code.
#[must_use]
pub fn hard(line: &Line<'static>, width: usize) -> Vec<Line<'static>> {
    let text = Text::of(line);
    let width = width.max(1);
    let (mut rows, mut start, mut used) = (Vec::new(), 0, 0);
    for (at, cluster) in text.text.grapheme_indices(true) {
        let takes = cluster_width(cluster);
        if used + takes > width && at > start {
            rows.push(text.row(&Line::default(), start..at));
            (start, used) = (at, 0);
        }
        used += takes;
    }
    rows.push(text.row(&Line::default(), start..text.text.len()));
    rows
}

/// Characters a cell that are looked at: more than any writing has, with all its marks.
const CELL: usize = 16;

/// The beginning of a text that fills `width` cells and a little more, so that [`cut`] need not process the whole of
/// a long text.
#[must_use]
pub fn beginning(text: &str, width: usize) -> &str {
    let most = (width + 1).saturating_mul(CELL);
    match text.char_indices().nth(most) {
        Some((at, _)) => text.get(..at).unwrap_or(text),
        None => text,
    }
}

/// Cells that a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    match text.is_ascii() {
        true => text.len(),
        false => text.graphemes(true).map(cluster_width).sum(),
    }
}

/// Cells that a line takes.
#[must_use]
pub fn cells(line: &Line<'_>) -> usize {
    match line.spans.as_slice() {
        [] => 0,
        [span] => width(&span.content),
        spans => width(&spans.iter().map(|span| &*span.content).collect::<String>()),
    }
}

/// As much of a text as fits into `width` cells, with `…` where something is left out.
#[must_use]
pub fn cut(text: &str, width: usize) -> String {
    if self::width(text) <= width {
        return text.to_owned();
    }
    match width.checked_sub(1) {
        Some(room) => format!("{}…", head(text, room)),
        None => String::new(),
    }
}

/// The same of styled words.
#[must_use]
pub fn clip(spans: Vec<Span<'static>>, width: usize) -> Vec<Span<'static>> {
    let all: usize = spans.iter().map(|span| self::width(&span.content)).sum();
    if all <= width {
        return spans;
    }
    let Some(mut left) = width.checked_sub(1) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for span in spans {
        let shown = head(&span.content, left);
        if shown.len() < span.content.len() {
            out.push(Span::styled(format!("{shown}…"), span.style));
            break;
        }
        left -= self::width(shown);
        out.push(span);
    }
    out
}

/// The longest beginning of a text that takes `room` cells at most.
fn head(text: &str, room: usize) -> &str {
    let mut used = 0;
    let clusters = text.grapheme_indices(true);
    let mut after = clusters.filter_map(|(at, cluster)| {
        used += cluster_width(cluster);
        (used > room).then_some(at)
    });
    let end = after.next().unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

/// Wraps a text into rows of at most `width` cells and keeps all of it, blanks too. A row breaks after a blank if one
/// is near its end, else at the edge. For texts that the user must judge.
#[must_use]
pub fn whole(text: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let (mut row, mut used) = (String::new(), 0);
    // After the last blank: the byte there, and the cells before it.
    let mut stop = (0, 0);
    for cluster in text.graphemes(true) {
        let cells = cluster_width(cluster);
        if used + cells > width && used > 0 {
            let near = stop.1 * 3 > width * 2;
            let rest = row.split_off(if near { stop.0 } else { row.len() });
            used -= if near { stop.1 } else { used };
            rows.push(std::mem::replace(&mut row, rest));
            stop = (0, 0);
        }
        row.push_str(cluster);
        used += cells;
        if cluster == " " {
            stop = (row.len(), used);
        }
    }
    rows.push(row);
    rows
}

/// A text with its tabs as blanks up to the next stop, and nothing that a terminal obeys.
#[cfg(test)]
pub fn untabbed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    expand(text, &mut 0, &mut out);
    out
}

fn cluster_width(cluster: &str) -> usize {
    match cluster.as_bytes() {
        [_] => 1,
        _ => cluster.width(),
    }
}

/// Appends a part of a line. `stop`: where in `out` the newest tab stop is. Widths are those of the whole line,
/// because a part may end in the middle of a grapheme cluster.
fn expand(text: &str, stop: &mut usize, out: &mut String) {
    let plain = !text.contains(|character: char| character.is_control());
    if plain {
        out.push_str(text);
        return;
    }
    for piece in text.split_inclusive(|character: char| character.is_control()) {
        let words = piece.trim_end_matches(|character: char| character.is_control());
        out.push_str(words);
        if piece.ends_with('\t') {
            let column = width(out.get(*stop..).unwrap_or_default());
            out.extend(std::iter::repeat_n(' ', TAB - column % TAB));
            *stop = out.len();
        }
    }
}

/// A line as one text, and which style each part of it has.
struct Text {
    text: String,
    /// Where a style ends, in order.
    styles: Vec<(usize, Style)>,
    line: Style,
    alignment: Option<ratatui::layout::Alignment>,
}

impl Text {
    fn of(line: &Line<'static>) -> Self {
        let (mut text, mut stop) = (String::new(), 0);
        let mut styles = Vec::with_capacity(line.spans.len());
        for span in &line.spans {
            expand(&span.content, &mut stop, &mut text);
            styles.push((text.len(), span.style));
        }
        Self {
            text,
            styles,
            line: line.style,
            alignment: line.alignment,
        }
    }

    fn row(&self, prefix: &Line<'static>, range: Range<usize>) -> Line<'static> {
        let mut spans = prefix.spans.clone();
        let first = self.styles.partition_point(|(end, _)| *end <= range.start);
        let mut at = range.start;
        for (end, style) in self.styles.iter().skip(first) {
            if at >= range.end {
                break;
            }
            let until = (*end).min(range.end);
            if let Some(part) = self.text.get(at..until)
                && !part.is_empty()
            {
                spans.push(Span::styled(part.to_owned(), *style));
            }
            at = until;
        }
        let mut row = Line::from(spans).style(self.line);
        row.alignment = self.alignment;
        row
    }
}

/// A character as it is drawn.
struct Cluster<'a> {
    start: usize,
    text: &'a str,
    width: usize,
}

impl Cluster<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn is_blank(&self) -> bool {
        matches!(self.text, " " | "\u{3000}")
    }
}

/// The rows of a text: never none.
fn ranges(text: &str, first: usize, rest: usize) -> Vec<Range<usize>> {
    if text.is_ascii() && text.len() <= first {
        return std::iter::once(0..text.len()).collect();
    }
    let clusters: Vec<Cluster<'_>> = text
        .grapheme_indices(true)
        .map(|(start, text)| Cluster {
            start,
            text,
            width: cluster_width(text),
        })
        .collect();
    let (mut rows, mut limit, mut rest_of) = (Vec::new(), first.max(1), clusters.as_slice());
    loop {
        let count = fitting(rest_of, limit);
        let (row, after) = rest_of.split_at(count);
        rows.push(trimmed(row, limit, after.is_empty()));
        let blanks = after.iter().take_while(|next| next.is_blank()).count();
        rest_of = after.get(blanks..).unwrap_or_default();
        limit = rest.max(1);
        if rest_of.is_empty() {
            return rows;
        }
    }
}

/// How many characters fit into the next row; at least one, unless there are none.
fn fitting(clusters: &[Cluster<'_>], limit: usize) -> usize {
    let (mut used, mut chance, mut words) = (0, None, false);
    let mut before: Option<&Cluster<'_>> = None;
    for (index, cluster) in clusters.iter().enumerate() {
        if !cluster.is_blank() {
            if words && before.is_some_and(|before| parts(before, cluster)) {
                chance = Some(index);
            }
            if used + cluster.width > limit && index > 0 {
                return chance.unwrap_or(index);
            }
            words = true;
        }
        used += cluster.width;
        before = Some(cluster);
    }
    clusters.len()
}

/// The row without the blanks at its end; the last one keeps those that have room.
fn trimmed(row: &[Cluster<'_>], limit: usize, last: bool) -> Range<usize> {
    let start = row.first().map_or(0, |first| first.start);
    let words = row
        .iter()
        .rposition(|cluster| !cluster.is_blank())
        .map_or(0, |index| index + 1);
    let mut end = words;
    if last {
        let mut used: usize = row.iter().take(words).map(|cluster| cluster.width).sum();
        for blank in row.iter().skip(words) {
            used += blank.width;
            if used > limit {
                break;
            }
            end += 1;
        }
    }
    let end = end.checked_sub(1).and_then(|index| row.get(index));
    start..end.map_or(start, Cluster::end)
}

/// Whether a row may end between the two.
fn parts(before: &Cluster<'_>, next: &Cluster<'_>) -> bool {
    if before.is_blank() {
        return true;
    }
    (before.width == 2 || next.width == 2) && !is_closing(next.text) && !is_opening(before.text)
}

fn is_closing(text: &str) -> bool {
    text.starts_with([
        '，', '。', '！', '？', '、', '；', '：', '）', '」', '』', '】', '》', '〉', '〕', '］',
        '｝', '”', '’', '…', '—', '·', '％', 'ー', '々', '〜', ',', '.', '!', '?', ';', ':', ')',
        ']', '}', '%', '\'', '"',
    ])
}

fn is_opening(text: &str) -> bool {
    text.starts_with([
        '（', '「', '『', '【', '《', '〈', '〔', '［', '｛', '“', '‘', '(', '[', '{', '$', '¥',
        '￥', '#', '@',
    ])
}

#[cfg(test)]
mod tests;
