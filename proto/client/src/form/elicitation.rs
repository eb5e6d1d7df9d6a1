//! The form of questions of MCP servers: values, a link to open, a text for the model.

use std::borrow::Cow;

use proto::params::elicitation::{
    Elicitation, ElicitationDecision, ElicitationField, ElicitationKind, FieldType,
};
use proto::params::interaction::{Choice, InteractionAnswer, InteractionKind, Question, Reply};

use super::kinds::Msg;
use super::{Content, Fields, Form, Lines, Note, NoteTone, Shape};

/// The label of a yes to a question that asks for no value, and that of a no.
const YES_OR_NO: [&str; 2] = ["accept", "decline"];

/// The form of a question of a server.
pub(super) fn form(asked: &Elicitation) -> Form<'_> {
    let questions: Vec<_> = match asked.fields.is_empty() {
        true => vec![Question {
            question: String::new(),
            header: String::new(),
            options: YES_OR_NO
                .map(|label| Choice {
                    label: label.to_owned(),
                    description: String::new(),
                })
                .to_vec(),
            multi_select: false,
        }],
        false => asked
            .fields
            .iter()
            .map(|field| field.question.clone())
            .collect(),
    };
    let answer: fn(Vec<Reply>) -> InteractionAnswer = match asked.fields.is_empty() {
        true => yes_or_no,
        false => |replies| elicitation_answer(ElicitationDecision::Accept, replies),
    };
    let words = words(asked);
    let mut content = vec![Content::Text(&asked.message)];
    if let ElicitationKind::Link { url, .. } = &asked.kind {
        content.push(Content::Text(url));
    }
    Form {
        kind: InteractionKind::Elicitation,
        title: words.title,
        tool: None,
        shows_tool: false,
        subject: &asked.message,
        content,
        notes: words.notes,
        lines: Lines {
            heading: words.heading,
            note: Some(words.note),
            how_to: match asked.fields.is_empty() {
                true => "type the number of an option; `/deny` declines",
                false => {
                    "answer one after another: the number of an option, or `/answer` and your own words; `/deny` declines"
                }
            },
            name_suffix: "",
        },
        shape: Shape::Fields(Fields {
            of_server: !asked.fields.is_empty(),
            questions: Cow::Owned(questions),
            optional: asked.fields.iter().map(|field| !field.required).collect(),
            only_options: match asked.fields.is_empty() {
                true => vec![true],
                false => asked.fields.iter().map(takes_only_options).collect(),
            },
            answer,
            decline: Some(|| elicitation_answer(ElicitationDecision::Decline, Vec::new())),
        }),
    }
}

fn takes_only_options(field: &ElicitationField) -> bool {
    match field.value {
        FieldType::Boolean | FieldType::Choice { .. } => true,
        FieldType::Text { .. } | FieldType::Number { .. } | FieldType::Integer { .. } => false,
    }
}

/// A decision without values. A reply that is neither yes nor no goes to the daemon as it is, which refuses it.
fn yes_or_no(replies: Vec<Reply>) -> InteractionAnswer {
    let is = |label: &str| {
        let only = |reply: &Reply| reply.labels == [label] && reply.other.is_none();
        matches!(replies.as_slice(), [reply] if only(reply))
    };
    let [yes, no] = YES_OR_NO;
    if is(no) {
        return elicitation_answer(ElicitationDecision::Decline, Vec::new());
    }
    match is(yes) {
        true => elicitation_answer(ElicitationDecision::Accept, Vec::new()),
        false => elicitation_answer(ElicitationDecision::Accept, replies),
    }
}

/// What the client says about a question.
struct Words<'a> {
    title: Msg,
    notes: Vec<Note<'a>>,
    heading: String,
    note: Cow<'a, str>,
}

fn words(asked: &Elicitation) -> Words<'_> {
    let server = &asked.server;
    match &asked.kind {
        ElicitationKind::Form => Words {
            title: Msg::TitleElicitation,
            notes: vec![Note::new(Msg::WordsOfServer, Some(server))],
            heading: format!("the MCP server `{server}` asks"),
            note: Cow::Borrowed(
                "the server wrote this text and receives your answer: do not enter a password or key",
            ),
        },
        ElicitationKind::Link { host, .. } => Words {
            title: Msg::TitleLink,
            notes: vec![
                Note::new(Msg::LinkOfServer, Some(server)),
                Note::new(Msg::LinkLeads, Some(host)).with_tone(NoteTone::Warning),
            ],
            heading: format!("the MCP server `{server}` asks you to open a link"),
            note: Cow::Owned(format!(
                "the link leads to `{host}` and is not opened for you: open it yourself if you trust that host, and accept"
            )),
        },
        ElicitationKind::Sampling { .. } => Words {
            title: Msg::TitleSampling,
            notes: vec![Note::new(Msg::SamplingMeans, Some(server))],
            heading: format!("the MCP server `{server}` asks your model"),
            note: Cow::Borrowed(
                "if you accept, the session's model answers this text without tools, the session pays for it, and the server receives the answer",
            ),
        },
    }
}

fn elicitation_answer(decision: ElicitationDecision, replies: Vec<Reply>) -> InteractionAnswer {
    InteractionAnswer::Elicitation { decision, replies }
}
