//! Texts that a server wants the session's model to answer (`sampling/createMessage`): read from the protocol, and the
//! result as the server gets it. Pure.
#![expect(deprecated, reason = "servers of today ask for samples")]

use contract::{SamplingMessage, SamplingRequest, SamplingRole};
use proto::item::Finish;
use proto::params::elicitation::{Elicitation, ElicitationKind};
use rmcp::ErrorData;
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ErrorCode, Role,
    SamplingMessage as RawMessage, SamplingMessageContentBlock,
};

use crate::text::{clean, cut};

/// Bytes of all that the model gets. The user reads all of it before the model does.
const TEXT_MAX: usize = 32 * 1024;
/// Messages of one request.
const MESSAGES_MAX: usize = 50;
/// Bytes of a token, about.
const TOKEN_BYTES: u64 = 4;
/// What the protocol has servers expect where the user says no.
const DECLINED: ErrorCode = ErrorCode(-1);

/// A request that can be shown and asked.
pub(super) struct Sample {
    /// What the user is shown: all that the model gets.
    pub shown: Elicitation,
    pub request: SamplingRequest,
    pub bounds: Bounds,
}

/// Where the answer ends.
pub(super) struct Bounds {
    max_tokens: u64,
    stops: Vec<String>,
}

/// Reads a request. The error is a text for the server.
pub(super) fn read(server: &str, params: CreateMessageRequestParams) -> Result<Sample, String> {
    if params.tools.is_some() || params.tool_choice.is_some() {
        return Err("samples with tools are not supported".to_owned());
    }
    if params.messages.is_empty() || params.messages.len() > MESSAGES_MAX {
        return Err(format!("a sample has from 1 to {MESSAGES_MAX} messages"));
    }
    let system = clean(params.system_prompt.as_deref().unwrap_or_default());
    let messages = params.messages.into_iter().map(message);
    let messages = messages.collect::<Result<Vec<_>, _>>()?;
    if messages.last().map(|last| last.role) != Some(SamplingRole::User) {
        return Err("the last message of a sample must be the user's".to_owned());
    }
    let text = shown(&system, &messages);
    if text.len() > TEXT_MAX {
        return Err(format!("a sample may have {TEXT_MAX} bytes"));
    }
    let max_tokens = u64::from(params.max_tokens);
    let hundredths = |temperature: f32| {
        let hundredths = (temperature * 100.0).round();
        // No provider takes more than 2.
        (0.0..=200.0)
            .contains(&hundredths)
            .then_some(hundredths as u32)
    };
    Ok(Sample {
        shown: Elicitation {
            server: server.to_owned(),
            message: text,
            fields: Vec::new(),
            kind: ElicitationKind::Sampling { max_tokens },
        },
        request: SamplingRequest {
            system,
            messages,
            temperature: params.temperature.and_then(hundredths),
            max_tokens,
        },
        bounds: Bounds {
            max_tokens,
            stops: params.stop_sequences.unwrap_or_default(),
        },
    })
}

fn message(raw: RawMessage) -> Result<SamplingMessage, String> {
    let role = match raw.role {
        Role::User => SamplingRole::User,
        Role::Assistant => SamplingRole::Assistant,
    };
    let blocks = raw.content.into_vec().into_iter();
    let texts = blocks.map(|block| match block {
        SamplingMessageContentBlock::Text(text) => Ok(clean(&text.text)),
        _ => Err("only texts can be sampled".to_owned()),
    });
    let text = texts.collect::<Result<Vec<_>, _>>()?.join("\n");
    match text.trim().is_empty() {
        true => Err("a message of the sample has no text".to_owned()),
        false => Ok(SamplingMessage { role, text }),
    }
}

/// All that the model gets. One message alone is just its text.
fn shown(system: &str, messages: &[SamplingMessage]) -> String {
    if let (true, [only]) = (system.trim().is_empty(), messages) {
        return only.text.clone();
    }
    let system = (!system.trim().is_empty()).then(|| format!("System: {system}"));
    let texts = messages.iter().map(|message| match message.role {
        SamplingRole::User => format!("User: {}", message.text),
        SamplingRole::Assistant => format!("Assistant: {}", message.text),
    });
    let all: Vec<_> = system.into_iter().chain(texts).collect();
    all.join("\n\n")
}

/// The answer as the server gets it: not longer than it takes, and up to where it wants it to stop.
pub(super) fn result(
    text: String,
    model: String,
    finish: Finish,
    bounds: &Bounds,
) -> CreateMessageResult {
    let stops = bounds.stops.iter().filter(|stop| !stop.is_empty());
    let stop = stops.filter_map(|stop| text.find(&**stop)).min();
    let text = stop.and_then(|at| text.get(..at)).unwrap_or(&text);
    let bytes = bounds.max_tokens.saturating_mul(TOKEN_BYTES);
    let (text, was_cut) = cut(text, usize::try_from(bytes).unwrap_or(usize::MAX));
    let reason = match (was_cut, stop, finish) {
        (true, ..) | (false, None, Finish::Length) => {
            CreateMessageResult::STOP_REASON_END_MAX_TOKEN
        }
        (false, Some(_), _) => CreateMessageResult::STOP_REASON_END_SEQUENCE,
        (false, None, _) => CreateMessageResult::STOP_REASON_END_TURN,
    };
    CreateMessageResult::new(RawMessage::assistant_text(text), model).with_stop_reason(reason)
}

/// The user has not approved it.
pub(super) fn declined() -> ErrorData {
    ErrorData::new(DECLINED, "the user has not approved the request", None)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn sample(params: Value) -> Result<Sample, String> {
        read("s", serde_json::from_value(params).unwrap())
    }

    fn said(role: &str, text: &str) -> Value {
        json!({"role": role, "content": {"type": "text", "text": text}})
    }

    #[test]
    fn a_user_is_shown_all_that_the_model_gets() {
        let alone = sample(json!({"messages": [said("user", "A\u{1b}[31m?")], "maxTokens": 9}));
        let alone = alone.unwrap();
        assert_eq!(alone.shown.message, "A?");
        assert_eq!(
            alone.shown.kind,
            ElicitationKind::Sampling { max_tokens: 9 }
        );
        let several = sample(json!({
            "systemPrompt": "Be brief.", "maxTokens": 9, "temperature": 0.25,
            "messages": [said("user", "A?"), said("assistant", "B."), said("user", "C?")],
        }));
        let several = several.unwrap();
        assert_eq!(
            several.shown.message,
            "System: Be brief.\n\nUser: A?\n\nAssistant: B.\n\nUser: C?"
        );
        assert_eq!(several.request.system, "Be brief.");
        assert_eq!(several.request.temperature, Some(25));
        let texts = several
            .request
            .messages
            .iter()
            .map(|message| &*message.text);
        assert_eq!(texts.collect::<Vec<_>>(), ["A?", "B.", "C?"]);
    }

    #[test]
    fn what_cannot_be_sampled_is_refused_with_a_reason() {
        let image = json!({"role": "user",
            "content": {"type": "image", "data": "AAAA", "mimeType": "image/png"}});
        let tool = json!({"name": "t", "inputSchema": {"type": "object"}});
        for (params, wanted) in [
            (json!({"messages": [], "maxTokens": 9}), "messages"),
            (json!({"messages": [image], "maxTokens": 9}), "only texts"),
            (
                json!({"messages": [said("user", " ")], "maxTokens": 9}),
                "no text",
            ),
            (
                json!({"messages": [said("assistant", "x")], "maxTokens": 9}),
                "last message",
            ),
            (
                json!({"messages": [said("user", &"x".repeat(TEXT_MAX + 1))], "maxTokens": 9}),
                "bytes",
            ),
            (
                json!({"messages": [said("user", "x")], "maxTokens": 9, "tools": [tool]}),
                "tools",
            ),
        ] {
            let reason = sample(params).err().expect("refused");
            assert!(reason.contains(wanted), "{reason}");
        }
    }

    #[test]
    fn an_answer_ends_where_the_server_wants_it_to() {
        let ended = |max_tokens, stops: &[&str], finish| {
            let bounds = Bounds {
                max_tokens,
                stops: stops.iter().map(|stop| (*stop).to_owned()).collect(),
            };
            let result = result("one two three".to_owned(), "m".to_owned(), finish, &bounds);
            let json = serde_json::to_value(result).unwrap();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (text(&json["content"]["text"]), text(&json["stopReason"]))
        };
        let pair = |text: &str, reason: &str| (text.to_owned(), reason.to_owned());
        assert_eq!(
            ended(99, &[], Finish::Stop),
            pair("one two three", "endTurn")
        );
        assert_eq!(
            ended(99, &[], Finish::Length),
            pair("one two three", "maxTokens")
        );
        assert_eq!(ended(1, &[], Finish::Stop), pair("one ", "maxTokens"));
        assert_eq!(
            ended(99, &["", " th", " t"], Finish::Stop),
            pair("one", "stopSequence")
        );
    }
}
