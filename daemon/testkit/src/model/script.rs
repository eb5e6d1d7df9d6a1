//! Which answer a request gets: the next of a list, or what a function says.

use super::Request;
use super::answer::{Answer, Fault};

/// What the model says.
pub enum Script {
    List(List),
    /// For sessions whose requests a list cannot foresee.
    By(Box<dyn FnMut(&Request) -> Answer + Send>),
}

/// Answers in order.
///
/// An answer that went out whole and is asked for again with the very same messages is said again: whoever asks did
/// not keep it.
#[derive(Default)]
pub struct List {
    answers: Vec<Answer>,
    next: usize,
    /// Faults of the next answer that have befallen.
    failed: usize,
    /// The messages that got the answer before `next`.
    answered: Option<String>,
}

/// What one request gets.
pub(crate) struct PlannedResponse {
    pub answer: Answer,
    pub fault: Option<Fault>,
    /// Its place in the list.
    pub place: Option<usize>,
}

impl From<Vec<Answer>> for Script {
    fn from(answers: Vec<Answer>) -> Self {
        Self::List(List {
            answers,
            ..List::default()
        })
    }
}

impl<const N: usize> From<[Answer; N]> for Script {
    fn from(answers: [Answer; N]) -> Self {
        Vec::from(answers).into()
    }
}

impl Script {
    /// A function of the request.
    pub fn by(answer: impl FnMut(&Request) -> Answer + Send + 'static) -> Self {
        Self::By(Box::new(answer))
    }

    pub(crate) fn extend(&mut self, answers: impl IntoIterator<Item = Answer>) {
        match self {
            Self::List(list) => list.answers.extend(answers),
            Self::By(_) => panic!("a script that is a function has no list to append to"),
        }
    }

    pub(crate) fn plan(&mut self, request: &Request) -> PlannedResponse {
        match self {
            Self::By(answer) => {
                let mut answer = answer(request);
                let fault = (!answer.faults.is_empty()).then(|| answer.faults.remove(0));
                PlannedResponse {
                    answer,
                    fault,
                    place: None,
                }
            }
            Self::List(list) => list.plan(request),
        }
    }

    /// The answer is about to be whole. Called before its last bytes leave: the next request may come the moment they
    /// arrive.
    pub(crate) fn done(&mut self, request: &Request, place: Option<usize>) {
        if let (Self::List(list), Some(place)) = (self, place)
            && place == list.next
        {
            list.next += 1;
            list.failed = 0;
            list.answered = Some(request.json["messages"].to_string());
        }
    }
}

impl List {
    fn plan(&mut self, request: &Request) -> PlannedResponse {
        let again = self.answered.as_deref() == Some(&*request.json["messages"].to_string());
        let place = if again { self.next - 1 } else { self.next };
        let Some(answer) = self.answers.get(place).cloned() else {
            return PlannedResponse {
                answer: Answer::text("THE SCRIPT IS OVER"),
                fault: None,
                place: None,
            };
        };
        let fault = answer
            .faults
            .get(self.failed)
            .filter(|_| place == self.next)
            .cloned();
        self.failed += usize::from(fault.is_some());
        PlannedResponse {
            answer,
            fault,
            place: Some(place),
        }
    }
}
