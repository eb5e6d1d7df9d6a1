//! What a person types as the answer to a question of the model. Pure.
//!
//! `2` is the second option, `1,3` are two of them, `2: words` is an option and something to say about it; the label of
//! an option is that option; anything else is words of the person's own.

use proto::params::question::{Ask, Question, Reply};

/// Reads the answer to one question.
///
/// # Errors
/// It means nothing here: why, in words.
pub fn read(ask: &Ask, words: &str) -> Result<Reply, String> {
    let words = words.trim();
    if words.is_empty() {
        return Err("an answer is the number of an option, or words of your own".to_owned());
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
                "there is no option {number}: 1 to {}, or words of your own",
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

/// A label, as it stands there.
fn named(ask: &Ask, words: &str) -> Option<String> {
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
#[derive(Clone, Debug)]
pub struct Replies {
    pub question: Question,
    given: Vec<Reply>,
}

impl Replies {
    /// Nothing is answered yet.
    pub fn new(question: Question) -> Self {
        Self {
            question,
            given: Vec::new(),
        }
    }

    /// The question that is to be answered next, its number from 1, and how many there are.
    pub fn next(&self) -> Option<(&Ask, usize, usize)> {
        let ask = self.question.questions.get(self.given.len())?;
        Some((ask, self.given.len() + 1, self.question.questions.len()))
    }

    /// Takes the answer to that one; all answers where it was the last.
    ///
    /// # Errors
    /// As [`read`]; nothing is taken.
    pub fn take(&mut self, words: &str) -> Result<Option<Vec<Reply>>, String> {
        if let Some((ask, _, _)) = self.next() {
            let reply = read(ask, words)?;
            self.given.push(reply);
        }
        Ok((self.given.len() >= self.question.questions.len()).then(|| self.given.clone()))
    }

    /// What was given did not count: it is asked from the beginning.
    pub fn again(&mut self) {
        self.given.clear();
    }
}

#[cfg(test)]
mod tests;
