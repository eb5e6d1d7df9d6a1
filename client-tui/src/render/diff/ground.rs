//! The background of changed lines, up to the end of the longest one: a terminal that breaks rows at a new edge has no
//! row of blanks then.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::render::wrap;

/// Sets the background of the spans that have none.
pub(super) fn under(spans: Vec<Span<'static>>, ground: Style) -> Line<'static> {
    let spans = spans.into_iter().map(|span| {
        let style = ground.patch(span.style);
        span.style(style)
    });
    Line::from(spans.collect::<Vec<_>>())
}

/// Makes all lines that have a background as long as the longest one.
pub(super) fn fill(lines: &mut [Line<'static>]) {
    let longest = lines.iter().map(wrap::cells).max().unwrap_or_default();
    for line in lines {
        let first = line.spans.first().and_then(|span| span.style.bg);
        let missing = longest.saturating_sub(wrap::cells(line));
        if let Some(ground) = first
            && missing > 0
        {
            let blanks = " ".repeat(missing);
            line.spans
                .push(Span::styled(blanks, Style::new().bg(ground)));
        }
    }
}
