//! Renders conversations as Messages requests. Pure: equal input always yields equal bytes.
//!
//! A fragment is the blocks of one neutral item, comma-joined and without cache marks. `assemble`
//! groups them into messages, merging everything on our side between two answers. It inserts the
//! cache marks while copying, so they can move with each request and fragments stay unchanged.

use contract::codec::FragmentRole;
use contract::image::placeholder;
use contract::{
    Asked, Codec, Fragment, Prefix, RequestBuffer, ServerCompaction, ToolChoice, ToolDeclaration,
};
use proto::item::{AssistantMessage, CallStatus, Image, Item, ToolCall, ToolMessage};
use serde_json::{Value, json};

use super::KIND;
use crate::ids;
use crate::json::{on_one_line, quoted, schemas};
use crate::options::ProviderOptions;
use crate::registry::OpenError;
use crate::thoughts::{AnswerPiece, answer_pieces};
use crate::{body, extra, result_images, user_text};

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
const MARK: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}";

/// How long the vendor keeps a marked prefix after its last use (its documentation on prompt
/// caching, 2026).
const KEPT_MS: u64 = 5 * 60 * 1_000;

/// The output limit if no other is known. All models since 2025 support it.
const MAX_TOKENS: u64 = 32_000;

/// The longest id that the vendor accepts.
const ID_MAX: usize = 64;

/// The smallest budget of thinking that the vendor accepts.
const BUDGET_MIN: u64 = 1_024;

/// Precedes the text of a failed call that has images.
const FAILED: &str = "[The call failed.]\n";

/// The codec of one entry.
pub(super) struct Messages {
    pub(super) extra: String,
    vision: Option<bool>,
    /// Whether the entry turns on the vendor's own compaction.
    pub(super) compacts: bool,
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
            extra::join(&mut extra, &thinking(&options.model, &effort, max_tokens));
        }
        extra::join(&mut extra, &extra::members(options, RESERVED)?);
        Ok(Self {
            extra,
            vision: options.vision,
            compacts: options.server_compaction,
        })
    }

    fn assistant(message: &AssistantMessage) -> Option<String> {
        let mut pieces = answer_pieces(message, &[KIND]);
        // The vendor refuses blank text.
        pieces.retain(|piece| !matches!(piece, AnswerPiece::Text(text) if text.trim().is_empty()));
        let is_thought = |piece: &AnswerPiece<'_>| matches!(piece, AnswerPiece::Thought(_));
        if pieces.iter().all(is_thought) {
            // An answer with only empty thinking is not a message.
            return None;
        }
        let blocks = pieces.into_iter().map(|piece| match piece {
            AnswerPiece::Text(text) => text_block(text),
            AnswerPiece::Call(call) => call_block(call),
            AnswerPiece::Thought(thought) => on_one_line(&thought.data).into_owned(),
        });
        Some(blocks.collect::<Vec<_>>().join(","))
    }

    fn tool(&self, message: &ToolMessage) -> String {
        let text = result_images::text(message, self.vision);
        let call = ids::fit(&message.call.0, ID_MAX);
        let mut out = json!({"type": "tool_result", "tool_use_id": call});
        let failed = message.status != CallStatus::Ok;
        let images = match result_images::sent(message, self.vision) {
            [] => {
                if failed {
                    out["is_error"] = json!(true);
                }
                out["content"] = json!(text);
                return out.to_string();
            }
            images => images.iter().map(image_block),
        };
        // The vendor refuses a result that is marked as an error and is not only text.
        let text = match failed {
            true => format!("{FAILED}{text}"),
            false => text.into_owned(),
        };
        let blocks: Vec<_> = [text_block(&text)].into_iter().chain(images).collect();
        let mut out = out.to_string();
        out.pop();
        out.push_str(&format!(",\"content\":[{}]}}", blocks.join(",")));
        out
    }
}

/// The members that set an effort (a JSON text). Models before 4.6, Haiku 4.5 among them, know neither adaptive thinking nor
/// efforts: they get a budget in its place, as the provider's page on adaptive thinking says.
fn thinking(model: &str, effort: &str, max_tokens: u64) -> String {
    if !thinks_by_budget(model) {
        // Some models omit their thinking text unless requested.
        return format!(
            "\"thinking\":{{\"type\":\"adaptive\",\"display\":\"summarized\"}},\"output_config\":{{\"effort\":{effort}}}"
        );
    }
    let wanted = match effort.trim_matches('"') {
        "none" => 0,
        "minimal" | "low" => 2_048,
        "medium" => 8_192,
        _ => 16_384,
    };
    // At least half of the answer is left for its text.
    match wanted.min(max_tokens / 2) {
        budget @ BUDGET_MIN.. => {
            format!("\"thinking\":{{\"type\":\"enabled\",\"budget_tokens\":{budget}}}")
        }
        _ => String::new(),
    }
}

/// Whether a model is older than version 4.6: `claude-haiku-4-5-20251001`, `claude-3-7-sonnet-20250219`. A name without a
/// version is a new one's.
fn thinks_by_budget(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or_default();
    let is_claude = name.contains("claude");
    let numbers = name.split(['-', '.', '@']).map(str::parse::<u32>);
    // A date is no version.
    let mut version = numbers
        .filter_map(Result::ok)
        .filter(|number| *number < 100);
    let major = version.next().filter(|_| is_claude);
    major.is_some_and(|major| (major, version.next().unwrap_or(0)) < (4, 6))
}

fn image_block(image: &Image) -> String {
    let media_type = image.format.media_type();
    let data = placeholder(image);
    format!(
        r#"{{"type":"image","source":{{"type":"base64","media_type":"{media_type}","data":"{data}"}}}}"#
    )
}

fn text_block(text: &str) -> String {
    json!({"type": "text", "text": text}).to_string()
}

fn call_block(call: &ToolCall) -> String {
    // The input must be an object here. Other arguments are sent as a text inside an object.
    let input = match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(_)) => on_one_line(&call.arguments).trim().to_owned(),
        _ => json!({"INVALID_JSON": call.arguments}).to_string(),
    };
    let id = quoted(&ids::fit(&call.id.0, ID_MAX));
    let name = quoted(&call.name);
    format!("{{\"type\":\"tool_use\",\"id\":{id},\"name\":{name},\"input\":{input}}}")
}

impl Codec for Messages {
    fn prefix(&self, model: &str, system: &str, tools: &[ToolDeclaration]) -> Prefix {
        let system = match system.trim() {
            "" => String::new(),
            _ => text_block(system),
        };
        Prefix {
            model: model.to_owned(),
            system,
            tools: schemas(
                tools,
                |name, description, schema| json!({"name": name, "description": description, "input_schema": schema}),
            ),
            extra: self.extra.clone(),
        }
    }

    fn render(&self, item: &Item) -> Option<String> {
        match item {
            Item::User(message) => {
                let text = user_text::render(message);
                // The vendor refuses an empty message, and with it every later request of the
                // session.
                (!text.trim().is_empty()).then(|| text_block(&text))
            }
            Item::Assistant(message) => Self::assistant(message),
            Item::Tool(message) => Some(self.tool(message)),
        }
    }

    fn sends_images(&self) -> bool {
        self.vision == Some(true)
    }

    /// Uses no cache key: this vendor finds prefixes by their bytes and marks.
    fn assemble(&self, asked: &Asked<'_>) -> RequestBuffer {
        let prefix = asked.prefix;
        let mut head = format!("{{\"model\":{},\"stream\":true", quoted(&prefix.model));
        body::push_members(
            &mut head,
            &[
                ("", "", &prefix.extra, ""),
                ("\"tools\":", "[", &marked(&prefix.tools), "]"),
                ("\"system\":", "[", &marked(&prefix.system), "]"),
            ],
        );
        head.push_str(",\"messages\":[");
        let length = |fragment: &Fragment<'_>| fragment.bytes.len() + 40;
        let fragments: usize = asked.fragments.iter().map(length).sum();
        let mut body = RequestBuffer::with_capacity(head.len() + fragments + 128);
        body.extend_from_slice(head.as_bytes());
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

    fn server_compaction(&self) -> Option<&dyn ServerCompaction> {
        Some(self)
    }

    fn with_output_limit(&self, extra: &str, tokens: u64) -> Option<String> {
        let thinks = extra.contains("\"thinking\"");
        extra::with_output_limit(extra, "max_tokens", tokens, thinks)
    }

    fn cache_ttl_ms(&self) -> u64 {
        KEPT_MS
    }
}

/// Blocks, with a mark in the last one.
fn marked(blocks: &str) -> String {
    match blocks.strip_suffix('}') {
        Some(open) => format!("{open}{MARK}}}"),
        None => blocks.to_owned(),
    }
}

/// Groups fragments into messages, one per run of the same side. The two newest messages of our
/// side end with a mark.
fn push_messages(body: &mut RequestBuffer, fragments: &[Fragment<'_>]) {
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
        match fragment.bytes.strip_suffix(b"}") {
            Some(open) if newest.contains(&at) => {
                body.extend_from_slice(open);
                body.extend_from_slice(MARK.as_bytes());
                body.push(b'}');
            }
            _ => body.extend_from_slice(fragment.bytes),
        }
        begins = ends(at);
        if begins {
            body.extend_from_slice(b"]}");
        }
    }
}

#[cfg(test)]
mod tests;
