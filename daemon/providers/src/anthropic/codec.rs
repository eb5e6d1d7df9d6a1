//! Renders conversations as Messages requests. Pure: equal input always yields equal bytes.
//!
//! A fragment is the blocks of one neutral item, comma-joined and without cache marks. `assemble`
//! groups them into messages, merging everything on our side between two answers. It inserts the
//! cache marks while copying, so they can move with each request and fragments stay unchanged.

use contract::codec::FragmentRole;
use contract::{Asked, Codec, Fragment, Prefix, ToolChoice, ToolDeclaration};
use proto::item::{AssistantMessage, CallStatus, Item, ToolCall, ToolMessage, UserMessage};
use serde_json::Value;

use super::KIND;
use crate::ids;
use crate::json::{on_one_line, push_string, schemas};
use crate::options::ProviderOptions;
use crate::registry::OpenError;
use crate::thoughts::{AnswerPiece, answer_pieces};
use crate::{extra, user_text};

/// Members that the request writes itself.
const RESERVED: &[&str] = &[
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "max_tokens",
];

/// Marks the end of a prefix to cache. A request may have four marks, and all four are used.
const MARK: &[u8] = b",\"cache_control\":{\"type\":\"ephemeral\"}";

/// How long the vendor keeps a marked prefix after its last use (its documentation on prompt
/// caching, 2026).
const KEPT_MS: u64 = 5 * 60 * 1_000;

/// The output limit if no other is known. All models since 2025 support it.
const MAX_TOKENS: u64 = 32_000;

/// The longest id that the vendor accepts.
const ID_MAX: usize = 64;

/// The codec of one entry.
pub(super) struct Messages {
    extra: String,
}

impl Messages {
    /// Checks the members that the entry adds to requests.
    pub(super) fn new(options: &ProviderOptions) -> Result<Self, OpenError> {
        extra::no_command(options)?;
        let max_tokens = match options.max_output_tokens {
            0 => MAX_TOKENS,
            set => set,
        };
        let mut extra = format!("\"max_tokens\":{max_tokens}");
        if let Some(effort) = extra::effort(options, &["thinking", "output_config"])? {
            // Some models omit their thinking text unless requested.
            let thinking = "\"thinking\":{\"type\":\"adaptive\",\"display\":\"summarized\"}";
            let config = format!("\"output_config\":{{\"effort\":{effort}}}");
            extra::join(&mut extra, thinking);
            extra::join(&mut extra, &config);
        }
        extra::join(&mut extra, &extra::members(options, RESERVED)?);
        Ok(Self { extra })
    }

    fn user(message: &UserMessage) -> Option<String> {
        let words = user_text::render(message);
        if words.trim().is_empty() {
            // The vendor refuses an empty message, and with it every later request of the session.
            return None;
        }
        let mut out = String::new();
        push_text(&mut out, &words);
        Some(out)
    }

    fn assistant(message: &AssistantMessage) -> Option<String> {
        let mut out = String::new();
        let mut says = false;
        for piece in answer_pieces(message, KIND) {
            // The vendor refuses blank text.
            if matches!(piece, AnswerPiece::Text(text) if text.trim().is_empty()) {
                continue;
            }
            if !out.is_empty() {
                out.push(',');
            }
            match piece {
                AnswerPiece::Text(text) => push_text(&mut out, text),
                AnswerPiece::Call(call) => push_call(&mut out, call),
                AnswerPiece::Thought(thought) => out.push_str(&on_one_line(&thought.data)),
            }
            says |= !matches!(piece, AnswerPiece::Thought(_));
        }
        // An answer with only empty thinking is not a message.
        says.then_some(out)
    }

    fn tool(message: &ToolMessage) -> String {
        let mut out = String::from("{\"type\":\"tool_result\",\"tool_use_id\":");
        push_string(&mut out, &ids::fit(&message.call.0, ID_MAX));
        if message.status != CallStatus::Ok {
            out.push_str(",\"is_error\":true");
        }
        out.push_str(",\"content\":");
        push_string(&mut out, &message.text);
        out.push('}');
        out
    }
}

fn push_text(out: &mut String, text: &str) {
    out.push_str("{\"type\":\"text\",\"text\":");
    push_string(out, text);
    out.push('}');
}

fn push_call(out: &mut String, call: &ToolCall) {
    out.push_str("{\"type\":\"tool_use\",\"id\":");
    push_string(out, &ids::fit(&call.id.0, ID_MAX));
    out.push_str(",\"name\":");
    push_string(out, &call.name);
    out.push_str(",\"input\":");
    // The input must be an object here. Other arguments are sent as a text inside an object.
    if matches!(serde_json::from_str(&call.arguments), Ok(Value::Object(_))) {
        out.push_str(on_one_line(&call.arguments).trim());
    } else {
        out.push_str("{\"INVALID_JSON\":");
        push_string(out, &call.arguments);
        out.push('}');
    }
    out.push('}');
}

impl Codec for Messages {
    fn prefix(&self, model: &str, system: &str, tools: &[ToolDeclaration]) -> Prefix {
        let mut block = String::new();
        if !system.trim().is_empty() {
            push_text(&mut block, system);
        }
        Prefix {
            model: model.to_owned(),
            system: block,
            tools: schemas(tools, ["{\"name\":", ",\"input_schema\":", "}"]),
            extra: self.extra.clone(),
        }
    }

    fn render(&self, item: &Item) -> Option<String> {
        match item {
            Item::User(message) => Self::user(message),
            Item::Assistant(message) => Self::assistant(message),
            Item::Tool(message) => Some(Self::tool(message)),
        }
    }

    /// Uses no cache key: this vendor finds prefixes by their bytes and marks. A thinking model
    /// accepts only its default temperature.
    fn temperature(&self, hundredths: u32) -> Option<String> {
        let thinks = self.extra.contains("\"thinking\"");
        extra::temperature(&self.extra, hundredths).filter(|_| !thinks)
    }

    fn assemble(&self, asked: &Asked<'_>) -> Vec<u8> {
        let prefix = asked.prefix;
        let fragments: usize = asked
            .fragments
            .iter()
            .map(|fragment| fragment.bytes.len() + 40)
            .sum();
        let mut body =
            Vec::with_capacity(prefix.tools.len() + prefix.system.len() + fragments + 512);
        let mut model = String::from("{\"model\":");
        push_string(&mut model, &prefix.model);
        body.extend_from_slice(model.as_bytes());
        body.extend_from_slice(b",\"stream\":true");
        if !prefix.extra.is_empty() {
            body.push(b',');
            body.extend_from_slice(prefix.extra.as_bytes());
        }
        if !prefix.tools.is_empty() {
            body.extend_from_slice(b",\"tools\":[");
            push_marked(&mut body, prefix.tools.as_bytes());
            body.push(b']');
        }
        if !prefix.system.is_empty() {
            body.extend_from_slice(b",\"system\":[");
            push_marked(&mut body, prefix.system.as_bytes());
            body.push(b']');
        }
        body.extend_from_slice(b",\"messages\":[");
        push_messages(&mut body, asked.fragments);
        body.push(b']');
        if !prefix.tools.is_empty() {
            body.extend_from_slice(match asked.tool_choice {
                ToolChoice::Auto => b",\"tool_choice\":{\"type\":\"auto\"}",
                ToolChoice::None => b",\"tool_choice\":{\"type\":\"none\"}",
            });
        }
        body.push(b'}');
        body
    }

    fn cache_ttl_ms(&self) -> u64 {
        KEPT_MS
    }
}

/// Copies blocks, with a mark in the last one.
fn push_marked(body: &mut Vec<u8>, blocks: &[u8]) {
    match blocks.strip_suffix(b"}") {
        Some(open) => {
            body.extend_from_slice(open);
            body.extend_from_slice(MARK);
            body.push(b'}');
        }
        None => body.extend_from_slice(blocks),
    }
}

/// Groups fragments into messages, one per run of the same side. The two newest messages of our
/// side end with a mark.
fn push_messages(body: &mut Vec<u8>, fragments: &[Fragment<'_>]) {
    let is_ours = |fragment: &Fragment<'_>| fragment.role != FragmentRole::Assistant;
    let ends = |at: usize| {
        let next = fragments.get(at + 1);
        next.is_none_or(|next| is_ours(next) != is_ours(&fragments[at]))
    };
    let newest: Vec<usize> = (0..fragments.len())
        .rev()
        .filter(|at| is_ours(&fragments[*at]) && ends(*at))
        .take(2)
        .collect();
    let mut begins = true;
    for (at, fragment) in fragments.iter().enumerate() {
        let opening: &[u8] = match (begins, is_ours(fragment)) {
            (false, _) => b",",
            (true, true) => b"{\"role\":\"user\",\"content\":[",
            (true, false) => b"{\"role\":\"assistant\",\"content\":[",
        };
        if begins && at > 0 {
            body.push(b',');
        }
        body.extend_from_slice(opening);
        if newest.contains(&at) {
            push_marked(body, fragment.bytes);
        } else {
            body.extend_from_slice(fragment.bytes);
        }
        begins = ends(at);
        if begins {
            body.extend_from_slice(b"]}");
        }
    }
}

#[cfg(test)]
mod tests;
