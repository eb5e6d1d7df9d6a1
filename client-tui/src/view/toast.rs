//! A notice that is shown for a short time.

use ratatui::text::{Line, Span};

use crate::model::{Model, Tone};
use crate::render::wrap;
use crate::theme::TextRole;

/// Its rows, at most `most` of them; none if there is no notice at present.
pub fn rows(model: &Model, width: usize, most: usize) -> Vec<Line<'static>> {
    let Some(toast) = model.toast.as_ref().filter(|toast| toast.until > model.now) else {
        return Vec::new();
    };
    let (mark, ink) = match toast.tone {
        Tone::Info => ("·", TextRole::Text),
        Tone::Good => ("✓", TextRole::Good),
        Tone::Warning => ("!", TextRole::Warning),
        Tone::Error => ("✗", TextRole::Error),
    };
    let words = format!("{mark} {}", client::text::line(&toast.words));
    let style = model.look.theme.style(ink);
    match most {
        1 => vec![Line::from(Span::styled(wrap::cut(&words, width), style))],
        // The end of a failure message is the hint: it is not cut off if there is room for it.
        _ => {
            let rows = wrap::line(&Line::from(Span::styled(words, style)), width);
            rows.into_iter().take(most).collect()
        }
    }
}
