//! Questions of a model and their answers, in words. Pure.

use proto::params::question::{Ask, Question, Reply};
use proto::record::QuestionAnswered;

use super::{Piece, Tone, block};

/// Questions with their numbered options: what a person must see to answer.
#[must_use]
pub fn question_pieces(question: &Question) -> Vec<Piece> {
    let count = question.questions.len();
    let head = match count {
        1 => format!("the model asks [{}]", question.question_id),
        _ => format!(
            "the model asks {count} questions [{}]",
            question.question_id
        ),
    };
    let mut lines = vec![head];
    for (index, ask) in question.questions.iter().enumerate() {
        lines.extend(ask_lines(ask, index + 1, count));
    }
    block(Tone::Approval, lines.join("\n"))
}

/// The `number`th of `count` questions, a line each for it and for what may be chosen.
#[must_use]
pub fn ask_lines(ask: &Ask, number: usize, count: usize) -> Vec<String> {
    let place = match count {
        0 | 1 => String::new(),
        _ => format!("{number}/{count} "),
    };
    let header = match ask.header.trim() {
        "" => String::new(),
        header => format!("{}: ", one_line(header)),
    };
    let mut lines = vec![format!("{place}{header}{}", ask.question.trim())];
    for (index, option) in ask.options.iter().enumerate() {
        let description = match option.description.trim() {
            "" => String::new(),
            description => format!(" ({})", one_line(description)),
        };
        let label = one_line(&option.label);
        lines.push(format!("  {}. {label}{description}", index + 1));
    }
    if ask.multi_select {
        lines.push("  several may be chosen".to_owned());
    }
    lines
}

/// Who answered what: one line, or a line a question.
#[must_use]
pub fn answered_words(answered: &QuestionAnswered) -> String {
    let id = &answered.question_id;
    if answered.unattended {
        return format!("[{id}] nobody was there to answer");
    }
    let by = &answered.by;
    match answered.replies.as_slice() {
        [] => format!("[{id}] closed without an answer by {by}"),
        [reply] => format!("[{id}] answered by {by}: {}", reply_words(reply)),
        replies => {
            let mut lines = vec![format!("[{id}] answered by {by}")];
            let answers = replies.iter().enumerate();
            lines.extend(
                answers.map(|(index, reply)| format!("  {}. {}", index + 1, reply_words(reply))),
            );
            lines.join("\n")
        }
    }
}

/// One reply on one line: the labels, and words of the person's own in quotes.
#[must_use]
pub fn reply_words(reply: &Reply) -> String {
    let labels = reply.labels.iter().map(|label| one_line(label));
    let other = reply
        .other
        .iter()
        .map(|other| format!("\"{}\"", one_line(other)));
    let words: Vec<String> = labels.chain(other).collect();
    match words.is_empty() {
        true => "no answer".to_owned(),
        false => words.join(", "),
    }
}

/// No option may look like two.
fn one_line(text: &str) -> String {
    text.trim().replace(['\n', '\r'], " ")
}
