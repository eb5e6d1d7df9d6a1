//! Search matches in rows: finding them, ignoring case, and highlighting them.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

/// A row's words.
pub fn words(line: &Line<'_>) -> String {
    line.spans
        .iter()
        .map(|span| span.content.as_ref())
        .collect()
}

/// Matches of a query in a text, as ranges of bytes. Case does not count.
pub fn ranges(text: &str, query: &str) -> Vec<(usize, usize)> {
    let wanted: Vec<char> = query.chars().flat_map(char::to_lowercase).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    // Each small letter with the bytes of the letter that it is of: there may be two for one.
    let letters: Vec<(char, usize, usize)> = text
        .char_indices()
        .flat_map(|(at, letter)| {
            let end = at + letter.len_utf8();
            letter.to_lowercase().map(move |small| (small, at, end))
        })
        .collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(window) = letters.get(at..at + wanted.len()) {
        let same = window
            .iter()
            .map(|letter| letter.0)
            .eq(wanted.iter().copied());
        match (same, window.first(), window.last()) {
            (true, Some(first), Some(last)) => {
                found.push((first.1, last.2));
                at += wanted.len();
            }
            _ => at += 1,
        }
    }
    found
}

/// Rows in which a match begins, even if it continues in the row below.
pub fn rows(lines: &[Line<'static>], query: &str) -> Vec<usize> {
    let texts: Vec<String> = lines.iter().map(words).collect();
    let begins = |index: &usize| {
        let Some(text) = texts.get(*index) else {
            return false;
        };
        if !ranges(text, query).is_empty() {
            return true;
        }
        let Some(below) = texts.get(index + 1) else {
            return false;
        };
        let text = text.trim_end();
        // Where the row below has it whole, it is found there.
        ["", " "].iter().any(|between| {
            let both = format!("{text}{between}{}", below.trim_start());
            let within = ranges(&both, query);
            within
                .iter()
                .any(|(from, to)| *from < text.len() && *to > text.len() + between.len())
        })
    };
    (0..lines.len()).filter(begins).collect()
}

/// A row with its matches highlighted.
pub fn mark(line: Line<'static>, query: &str, style: Style, here: bool) -> Line<'static> {
    let ranges = ranges(&words(&line), query);
    if ranges.is_empty() {
        return line;
    }
    let style = match here {
        true => style.add_modifier(Modifier::REVERSED),
        false => style.add_modifier(Modifier::UNDERLINED),
    };
    let mut spans = Vec::new();
    let mut start = 0;
    for span in line.spans {
        let end = start + span.content.len();
        let mut edges = vec![start, end];
        let inside = ranges.iter().flat_map(|(from, to)| [*from, *to]);
        edges.extend(inside.filter(|edge| (start..end).contains(edge)));
        edges.sort_unstable();
        edges.dedup();
        for pair in edges.windows(2) {
            let [from, to] = *pair else { continue };
            let Some(piece) = span.content.get(from - start..to - start) else {
                continue;
            };
            let marked = ranges.iter().any(|range| range.0 <= from && to <= range.1);
            let style = match marked {
                true => span.style.patch(style),
                false => span.style,
            };
            spans.push(Span::styled(piece.to_owned(), style));
        }
        start = end;
    }
    Line {
        spans,
        style: line.style,
        alignment: line.alignment,
    }
}

#[cfg(test)]
mod tests;
