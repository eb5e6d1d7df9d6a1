//! Long runs of blank lines in text that is judged, folded into one visible line: they must not push what follows off
//! the screen (I24). Pure.

use crate::messages::Language;

crate::catalog! {
    /// 0: how many.
    BlankLines = "… {0} blank lines", "… {0} 个空行";
}

/// Blank lines that stay as they are.
const RUN_MAX: usize = 3;

/// A part of text that is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldedLine<'a> {
    Line(&'a str),
    /// So many blank lines, more than [`RUN_MAX`].
    Blank(usize),
}

impl FoldedLine<'_> {
    /// What to show in place of blank lines; `None`: it is a line.
    #[must_use]
    pub fn folded(&self, language: Language) -> Option<String> {
        match self {
            Self::Line(_) => None,
            Self::Blank(count) => Some(language.fill(Msg::BlankLines, &[&count.to_string()])),
        }
    }
}

/// The lines of a text, with long runs of blank ones folded.
#[must_use]
pub fn fold_blank_lines(text: &str) -> Vec<FoldedLine<'_>> {
    let mut out = Vec::new();
    let mut run: Vec<&str> = Vec::new();
    for line in text.split('\n') {
        // Other characters that draw nothing are shown by name.
        if line.trim_matches([' ', '\t']).is_empty() {
            run.push(line);
            continue;
        }
        end_run(&mut run, &mut out);
        out.push(FoldedLine::Line(line));
    }
    end_run(&mut run, &mut out);
    out
}

fn end_run<'a>(run: &mut Vec<&'a str>, out: &mut Vec<FoldedLine<'a>>) {
    match run.len() > RUN_MAX {
        true => out.push(FoldedLine::Blank(run.len())),
        false => out.extend(run.iter().map(|line| FoldedLine::Line(line))),
    }
    run.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_of_blank_lines_is_one_line_and_all_others_stay() {
        let text = format!("a\n\n\nb{}c", "\n \t".repeat(200) + "\n");
        let found = fold_blank_lines(&text);
        let lines: Vec<_> = found
            .iter()
            .map(|stretch| match stretch {
                FoldedLine::Line(line) => (*line).to_owned(),
                blank => blank.folded(Language::English).unwrap_or_default(),
            })
            .collect();
        assert_eq!(lines, ["a", "", "", "b", "… 200 blank lines", "c"]);
    }
}
