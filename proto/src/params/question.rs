//! Questions of the model to a person (the tool `ask`), and their answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CallId, Pid, QuestionId, RequestId, Stamp};

/// A call of `ask` that waits for a person. (`question.asked`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    pub question_id: QuestionId,
    pub session: Pid,
    pub call: CallId,
    /// 1 to 4, answered together.
    pub questions: Vec<Ask>,
    pub asked_at: Stamp,
}

/// One question. Words of the person's own ("Other") are always a possible answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ask {
    pub question: String,
    /// What it is about, in a word or two.
    pub header: String,
    /// 2 to 4.
    pub options: Vec<Choice>,
    /// Whether several options may be chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multi_select: bool,
}

/// One option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    pub label: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// What a person says to one question: options, words of their own, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "QuestionReply")]
pub struct Reply {
    /// Labels of the options that were chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

/// Parameters of `question.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "QuestionListParams")]
pub struct ListParams {
    /// One session only; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// Answer of `question.list`: oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "QuestionListOutput")]
pub struct ListOutput {
    pub questions: Vec<Question>,
}

/// Parameters of `question.answer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "QuestionAnswerParams")]
pub struct AnswerParams {
    pub question_id: QuestionId,
    /// One for each question, in their order.
    pub replies: Vec<Reply>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}
