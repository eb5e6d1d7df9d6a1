//! `ask`: questions of the model to a person.
//!
//! Here they are only checked: the session puts them, and the answers are the call's result.

use std::collections::BTreeSet;

use contract::{CallAction, CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use proto::item::{Display, ToolKind};
use proto::params::interaction::{Choice, Question};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::arguments::{self, Arguments};

/// Characters of a header.
const HEADER_MAX: usize = 24;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    questions: Vec<Asked>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    question: String,
    /// At most 24 characters
    header: String,
    options: Vec<Choosable>,
    #[serde(default, alias = "multiSelect")]
    multi_select: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Choosable {
    label: String,
    #[serde(default)]
    description: String,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[];
}

pub(crate) struct Ask {
    spec: ToolSpec,
}

impl Ask {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                kind: ToolKind::Ask,
                read_only: true,
                ..arguments::spec::<Args>("ask", include_str!("ask.md"), Family::Session)
                    .with_names(Some("AskUserQuestion"), &[])
            },
        }
    }
}

impl Tool for Ask {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        let arguments = arguments::canonical::<Args>(&self.spec.schema, arguments)?;
        questions(arguments.clone())?;
        Ok(arguments)
    }

    fn preview(&self, arguments: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        let questions = questions(arguments.clone())?;
        let headers: Vec<&str> = questions
            .iter()
            .map(|question| question.header.as_str())
            .collect();
        Ok(Preview {
            display: Display::Line {
                text: format!("ask: {}", headers.join(", ")),
            },
        })
    }

    fn action(&self, arguments: &Map<String, Value>) -> Result<CallAction, Outcome> {
        questions(arguments.clone()).map(CallAction::AskUser)
    }
}

/// The questions, checked.
fn questions(arguments: Map<String, Value>) -> Result<Vec<Question>, Outcome> {
    let Args { questions } = arguments::typed(arguments)?;
    if !(1..=4).contains(&questions.len()) {
        return Err(Outcome::refused(format!(
            "there are {} questions; ask 1 to 4 at once",
            questions.len()
        )));
    }
    let questions: Vec<Question> = questions.into_iter().map(question).collect();
    for (number, question) in (1..).zip(&questions) {
        if let Some(why) = wrong(question) {
            return Err(Outcome::refused(format!("question {number} {why}")));
        }
    }
    Ok(questions)
}

fn question(asked: Asked) -> Question {
    let choice = |option: Choosable| Choice {
        label: option.label.trim().to_owned(),
        description: option.description.trim().to_owned(),
    };
    Question {
        question: asked.question.trim().to_owned(),
        header: asked.header.trim().to_owned(),
        options: asked.options.into_iter().map(choice).collect(),
        multi_select: asked.multi_select,
    }
}

/// Why a question cannot be put.
fn wrong(question: &Question) -> Option<String> {
    let (options, header) = (question.options.len(), question.header.chars().count());
    let labels = || question.options.iter().map(|option| option.label.as_str());
    if question.question.is_empty() {
        return Some("is empty; write a whole question".to_owned());
    }
    if header == 0 || header > HEADER_MAX {
        return Some(format!(
            "has a header of {header} characters; write 1 to {HEADER_MAX}, a word or two"
        ));
    }
    if !(2..=4).contains(&options) {
        return Some(format!(
            "has {options} options; offer 2 to 4 (own words are always possible)"
        ));
    }
    if labels().any(str::is_empty) {
        return Some("has an option without a label; give each a short one".to_owned());
    }
    if labels().collect::<BTreeSet<_>>().len() != options {
        return Some("has two options of the same label; make them differ".to_owned());
    }
    None
}

#[cfg(test)]
mod tests;
