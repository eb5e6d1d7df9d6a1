//! Questions of MCP servers: what a server asks the user while a call of one of its tools runs. Named as in its protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::interaction::Question;
use crate::words::words;

/// A question of an MCP server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Elicitation {
    /// Name of the server, as it is configured.
    pub server: String,
    /// What the server says. Its own words, without control characters.
    pub message: String,
    /// Values that it asks for, in their order. None: it only wants a yes or no.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<ElicitationField>,
    /// What the server wants.
    #[serde(default, skip_serializing_if = "ElicitationKind::is_form")]
    pub kind: ElicitationKind,
}

/// What a server wants of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ElicitationKind {
    /// The values of the fields, or a yes or no.
    #[default]
    Form,
    /// The user opens an address, and goes on there. Nothing opens it by itself.
    Link {
        url: String,
        /// Host of the address, in ASCII.
        host: String,
    },
    /// The session's model answers the text of `message`, and the server receives the answer. The session pays for it.
    Sampling {
        /// Largest answer that the server takes, in tokens.
        max_tokens: u64,
    },
}

impl ElicitationKind {
    /// For `skip_serializing_if`.
    #[must_use]
    pub fn is_form(&self) -> bool {
        *self == Self::Form
    }
}

/// One value that a server asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ElicitationField {
    /// As the server calls it.
    pub name: String,
    /// As the user is asked. There may be no options, or more than four.
    pub question: Question,
    /// Whether the user must give it to accept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    pub value: FieldType,
}

/// What a value may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FieldType {
    /// Any words. Lengths are in characters.
    Text {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_length: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_length: Option<u64>,
        /// What the words must be. Absent: anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<TextFormat>,
    },
    Number {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        minimum: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        maximum: Option<f64>,
    },
    Integer {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        minimum: Option<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        maximum: Option<i64>,
    },
    /// The options of the question are yes and no.
    Boolean,
    /// One of the options of the question, or several if it takes several.
    Choice {
        /// What is sent to the server for each option, in their order.
        values: Vec<String>,
    },
}

words! {
    /// What a text must be, as JSON Schema names it.
    TextFormat {
        /// An email address.
        Email = "email",
        /// An address with its scheme: `https://example.org/page`.
        Uri = "uri",
        /// A day: `2026-01-31`.
        Date = "date",
        /// A time with its date and zone: `2026-01-31T09:30:00Z`.
        DateTime = "date-time",
    }
}

words! {
    /// The user's decision on a question of an MCP server.
    ElicitationDecision {
        /// The replies go to the server.
        Accept = "accept",
        /// The server learns that the user gives no answer. The call continues.
        Decline = "decline",
        /// The server learns that the user closed the question without a decision.
        Cancel = "cancel",
    }
}

impl ElicitationDecision {
    /// The decision in words.
    #[must_use]
    pub fn called(self) -> &'static str {
        match self {
            Self::Accept => "answered",
            Self::Decline => "declined",
            Self::Cancel => "cancelled",
        }
    }
}
