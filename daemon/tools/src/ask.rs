//! `ask`: questions of the model to the user.
//!
//! Only checks them: the session asks them, and the answers are the result of the call.

use std::collections::BTreeSet;

use contract::{CallAction, Family, Outcome, ToolSpec};
use proto::item::ToolKind;
use proto::params::interaction::{Choice, Question};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::{self, Arguments};
use crate::typed_tool::TypedTool;

/// For the model.
const DESCRIPTION: &str = "Ask the user to choose, where only they can decide: 1–4 questions of 2–4 options each. Own words are always possible, so no option \"Other\". Where nobody answers, state your assumption and go on.";

/// Characters of a header.
const HEADER_MAX: usize = 24;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    questions: Vec<QuestionArgument>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QuestionArgument {
    question: String,
    /// At most 24 characters
    header: String,
    options: Vec<OptionArgument>,
    #[serde(default, alias = "multiSelect")]
    multi_select: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OptionArgument {
    label: String,
    #[serde(default)]
    description: String,
}

impl Args {
    fn questions(&self) -> impl Iterator<Item = Question> {
        self.questions.iter().map(question)
    }
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[];

    fn check(&self) -> Result<(), Outcome> {
        let count = self.questions.len();
        if !(1..=4).contains(&count) {
            let text = format!("there are {count} questions; ask 1 to 4 at once");
            return Err(Outcome::refused(text));
        }
        let mut numbered = (1..).zip(self.questions());
        let wrong = numbered.find_map(|(number, question)| Some((number, wrong(&question)?)));
        wrong.map_or(Ok(()), |(number, why)| {
            Err(Outcome::refused(format!("question {number} {why}")))
        })
    }
}

pub(crate) struct Ask;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        kind: ToolKind::Ask,
        read_only: true,
        ..arguments::spec::<Args>("ask", DESCRIPTION, Family::Session)
            .with_names(Some("AskUserQuestion"), &[])
    }
}

impl TypedTool for Ask {
    type Args = Args;

    fn preview(args: Args) -> String {
        let headers: Vec<_> = args.questions().map(|question| question.header).collect();
        format!("ask: {}", headers.join(", "))
    }

    fn action(args: Args) -> CallAction {
        CallAction::AskUser(args.questions().collect())
    }
}

fn question(argument: &QuestionArgument) -> Question {
    let choice = |option: &OptionArgument| Choice {
        label: option.label.trim().to_owned(),
        description: option.description.trim().to_owned(),
    };
    Question {
        question: argument.question.trim().to_owned(),
        header: argument.header.trim().to_owned(),
        options: argument.options.iter().map(choice).collect(),
        multi_select: argument.multi_select,
    }
}

/// Why a question cannot be asked.
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
