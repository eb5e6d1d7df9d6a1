//! What a person types as the answer to a question of the model. Pure.
//!
//! `2` is the second option, `1,3` are two of them, `2: words` is an option and something to say about it; the label of
//! an option is that option; anything else is words of the person's own, and so is all of it where there are no options.
//! A question may take only its options.

use proto::params::interaction::{Question, Reply};

/// What an answer to a question may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplyRules {
    /// `-` is no answer.
    pub optional: bool,
    /// The user's own words are none.
    pub only_options: bool,
}

/// Reads the answer to one question.
///
/// # Errors
/// It means nothing here: why, in words.
pub fn read(ask: &Question, rules: ReplyRules, words: &str) -> Result<Reply, String> {
    if rules.optional && words.trim() == "-" {
        return Ok(Reply::default());
    }
    match read_any(ask, words) {
        Ok(reply) if rules.only_options && reply.other.is_some() => Err(ONLY_OPTIONS.to_owned()),
        Err(_) if rules.only_options => Err(ONLY_OPTIONS.to_owned()),
        read => read,
    }
}

const ONLY_OPTIONS: &str = "give the number of one of the options: there is no other answer";

fn read_any(ask: &Question, words: &str) -> Result<Reply, String> {
    let words = words.trim();
    if words.is_empty() {
        return Err("give the number of an option, or your own words".to_owned());
    }
    if ask.options.is_empty() {
        // A number is no option here.
        return Ok(chosen(Vec::new(), Some(words.to_owned())));
    }
    if let Some(option) = named(ask, words) {
        return Ok(chosen(vec![option], None));
    }
    let (numbers, other) = match words.split_once(':') {
        Some((numbers, other)) => (
            numbers,
            Some(other.trim()).filter(|other| !other.is_empty()),
        ),
        None => (words, None),
    };
    let Some(numbers) = read_numbers(numbers) else {
        return Ok(chosen(Vec::new(), Some(words.to_owned())));
    };
    let mut labels = Vec::new();
    for number in numbers {
        let option = usize::try_from(number)
            .ok()
            .and_then(|number| number.checked_sub(1))
            .and_then(|index| ask.options.get(index));
        let Some(option) = option else {
            return Err(format!(
                "there is no option {number}: give 1 to {}, or your own words",
                ask.options.len()
            ));
        };
        if !labels.contains(&option.label) {
            labels.push(option.label.clone());
        }
    }
    if labels.len() > 1 && !ask.multi_select {
        return Err("only one of them can be chosen".to_owned());
    }
    Ok(chosen(labels, other.map(str::to_owned)))
}

/// A label, as the question has it.
fn named(ask: &Question, words: &str) -> Option<String> {
    let mut labels = ask.options.iter().map(|option| &option.label);
    labels
        .find(|label| label.trim().to_lowercase() == words.to_lowercase())
        .cloned()
}

/// Numbers with commas or blanks between; `None`: there is something else.
fn read_numbers(words: &str) -> Option<Vec<u64>> {
    let parts = words.split(|c: char| c == ',' || c.is_whitespace());
    let parts = parts.filter(|part| !part.is_empty());
    let numbers: Vec<u64> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
    (!numbers.is_empty()).then_some(numbers)
}

fn chosen(labels: Vec<String>, other: Option<String>) -> Reply {
    Reply { labels, other }
}

/// The answers to questions that are asked together, as far as they were given here.
#[derive(Clone, Debug, Default)]
pub struct Replies(Vec<Reply>);

impl Replies {
    /// The question that is to be answered next, its number from 1, and how many there are.
    pub fn next<'a>(&self, questions: &'a [Question]) -> Option<(&'a Question, usize, usize)> {
        let question = questions.get(self.0.len())?;
        Some((question, self.0.len() + 1, questions.len()))
    }

    /// Takes the answer to that one; all answers if it was the last: they are asked from the beginning then. `rules`: what
    /// the answer to the question with an index may be.
    ///
    /// # Errors
    /// As [`read`]; nothing is taken.
    pub fn take(
        &mut self,
        questions: &[Question],
        rules: impl Fn(usize) -> ReplyRules,
        words: &str,
    ) -> Result<Option<Vec<Reply>>, String> {
        if let Some((question, _, _)) = self.next(questions) {
            let reply = read(question, rules(self.0.len()), words)?;
            self.0.push(reply);
        }
        Ok((self.0.len() >= questions.len()).then(|| std::mem::take(&mut self.0)))
    }
}

#[cfg(test)]
mod tests;
