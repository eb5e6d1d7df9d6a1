//! `/copy`: which answer of the model, or which code, goes into the clipboard.

use crate::effect::Effect;
use crate::messages::app::Msg;
use crate::model::transcript::EntryKind;
use crate::model::{Model, Tone};

/// Whether it is nothing that can be copied.
pub fn is_wrong(arguments: &str) -> bool {
    copied(arguments).is_none()
}

/// Why the answer cannot be copied; `None`: it can, or there is no answer at all, which [`run`] reports.
pub fn refused(model: &Model, arguments: &str) -> Option<String> {
    let language = model.look.language;
    let Some(CopySource::Answer(back)) = copied(arguments) else {
        return None;
    };
    match answers(model).count() {
        0 => None,
        1 if back > 0 => Some(language.say(Msg::OneAnswer).to_owned()),
        count if back >= count => Some(language.fill(Msg::FewAnswers, &[&count.to_string()])),
        _ => None,
    }
}

/// The last answer, the one N before it, or the code of the last.
pub fn run(model: &mut Model, arguments: &str) -> Vec<Effect> {
    let language = model.look.language;
    let (back, code) = match copied(arguments) {
        Some(CopySource::Answer(back)) => (back, false),
        Some(CopySource::Code) | None => (0, true),
    };
    let Some(answer) = answers(model).nth(back) else {
        model.toast(Tone::Warning, language.say(Msg::NoAnswer));
        return Vec::new();
    };
    if !code {
        return vec![Effect::Copy(answer.to_owned())];
    }
    match last_code(answer) {
        Some(code) => vec![Effect::Copy(code)],
        None => {
            model.toast(Tone::Warning, language.say(Msg::NoCode));
            Vec::new()
        }
    }
}

/// The last block of code of a text in Markdown.
fn last_code(markdown: &str) -> Option<String> {
    use pulldown_cmark::{Event, Parser, Tag, TagEnd};
    let mut last = None;
    let mut open: Option<String> = None;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => open = Some(String::new()),
            Event::Text(text) => {
                if let Some(code) = &mut open {
                    code.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => last = open.take(),
            _ => {}
        }
    }
    last
}

/// The argument of `/copy`.
enum CopySource {
    /// An answer: this many before the last one.
    Answer(usize),
    /// The code of the last answer.
    Code,
}

/// `None`: it is nothing that can be copied.
fn copied(arguments: &str) -> Option<CopySource> {
    match arguments {
        "" => Some(CopySource::Answer(0)),
        "code" => Some(CopySource::Code),
        number => {
            let back = number.parse::<usize>().ok()?.checked_sub(1)?;
            Some(CopySource::Answer(back))
        }
    }
}

/// Answers of the model, newest first.
fn answers(model: &Model) -> impl Iterator<Item = &str> {
    let entries = model.transcript.entries.iter().rev();
    entries.filter_map(|entry| match &entry.kind {
        EntryKind::Answer { text: markdown, .. } if !markdown.text().trim().is_empty() => {
            Some(markdown.text())
        }
        _ => None,
    })
}
