//! What servers list and return, by the official SDK: tools and their results, prompts, resources.

use rmcp::RoleClient;
use rmcp::model::{
    CallToolResult, ClientRequest, ContentBlock, GetPromptRequestParams, GetPromptResponse,
    ListToolsRequest, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ResourceContents, Role, ServerResult, Tool,
};
use rmcp::service::{Peer, ServiceError};
use serde_json::{Map, Value};

use super::{ConnectError, RawResource, ResultPart, ToolResult, http};
use crate::listing::{MalformedTool, RawTool, RawTools};
use crate::prompt::{PromptArgument, RawPrompt, Speaker, prompt_text, text_of};
use crate::text::{clean, cut};

/// Pages of a listing.
const PAGES_MAX: usize = 100;
/// Tools that are looked at.
const TOOLS_MAX: usize = 2_000;
/// In the place of what a later version of the protocol may bring.
const UNKNOWN: &str = "[content of an unknown kind]";
/// Resources that are looked at.
const RESOURCES_MAX: usize = 2_000;
/// Prompts that are looked at.
const PROMPTS_MAX: usize = 2_000;
/// Bytes of the name of a malformed tool.
const NAME_MAX: usize = 100;
/// Bytes of the reason why it is malformed.
const REASON_MAX: usize = 200;

/// All tools of a server. One that has none is not asked.
pub(super) async fn list_tools(peer: &Peer<RoleClient>) -> Result<RawTools, ConnectError> {
    if peer
        .peer_info()
        .is_some_and(|info| info.capabilities.tools.is_none())
    {
        return Ok(RawTools::default());
    }
    let entries = all_pages(TOOLS_MAX, |params| async move {
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        match peer.send_request(request).await? {
            ServerResult::ListToolsResult(page) => {
                Ok((page.tools.into_iter().map(Ok).collect(), page.next_cursor))
            }
            // For the SDK, a list with one malformed tool is no list of tools.
            ServerResult::CustomResult(page) => {
                tools_of(page.0).ok_or(ServiceError::UnexpectedResponse)
            }
            _ => Err(ServiceError::UnexpectedResponse),
        }
    });
    let mut listed = RawTools::default();
    let entries = entries.await.map_err(|error| match &error {
        // Some servers let anybody in, and want a login for what comes next.
        ServiceError::TransportSend(sent) if http::wants_login(&*sent.error) => {
            ConnectError::NeedsLogin
        }
        error => ConnectError::Failed(reason(error)),
    })?;
    for entry in entries {
        match entry {
            Ok(tool) => listed.tools.push(raw_tool(&tool)),
            Err(malformed) => listed.malformed.push(malformed),
        }
    }
    Ok(listed)
}

/// A tool of a page, unless it is malformed.
type ListedTool = Result<Tool, MalformedTool>;

/// A page of tools, some of them malformed, and the cursor of the next one. `None`: it is no page of tools.
fn tools_of(page: Value) -> Option<(Vec<ListedTool>, Option<String>)> {
    let Value::Object(mut page) = page else {
        return None;
    };
    let Some(Value::Array(entries)) = page.remove("tools") else {
        return None;
    };
    let next = page.get("nextCursor").and_then(Value::as_str);
    let tools = entries.into_iter().enumerate().map(|(place, entry)| {
        let name = match entry.get("name").and_then(Value::as_str) {
            Some(name) => clean(cut(name, NAME_MAX).0),
            None => format!("number {}", place + 1),
        };
        if !entry.is_object() {
            let reason = "it is not an object".to_owned();
            return Err(MalformedTool { name, reason });
        }
        serde_json::from_value(entry).map_err(|error| MalformedTool {
            name,
            reason: clean(cut(&error.to_string(), REASON_MAX).0),
        })
    });
    Some((tools.collect(), next.map(str::to_owned)))
}

/// The pages of a listing, until it ends or has more than `max` entries.
async fn all_pages<T, F>(
    max: usize,
    page: impl Fn(PaginatedRequestParams) -> F,
) -> Result<Vec<T>, ServiceError>
where
    F: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>,
{
    let mut all = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES_MAX {
        let mut params = PaginatedRequestParams::default();
        params.cursor = cursor.take();
        let (entries, next) = page(params).await?;
        all.extend(entries);
        cursor = next;
        if cursor.is_none() || all.len() > max {
            break;
        }
    }
    Ok(all)
}

fn raw_tool(tool: &rmcp::model::Tool) -> RawTool {
    let hint = tool.annotations.as_ref();
    RawTool {
        name: tool.name.to_string(),
        description: tool.description.as_deref().unwrap_or_default().to_owned(),
        schema: (*tool.input_schema).clone(),
        read_only: hint.and_then(|hint| hint.read_only_hint) == Some(true),
    }
}

/// What a tool returned.
pub(super) fn tool_result(result: CallToolResult) -> ToolResult {
    ToolResult {
        parts: result.content.into_iter().map(part).collect(),
        structured: result.structured_content,
        is_error: result.is_error == Some(true),
    }
}

fn part(block: ContentBlock) -> ResultPart {
    let binary = |kind, media_type: String, data: &str| ResultPart::Binary {
        kind,
        media_type,
        // Base64.
        bytes: data.len() / 4 * 3,
    };
    match block {
        ContentBlock::Text(text) => ResultPart::Text(text.text),
        ContentBlock::Image(image) => ResultPart::Image {
            media_type: image.mime_type,
            base64: image.data,
        },
        ContentBlock::Audio(audio) => binary("audio", audio.mime_type, &audio.data),
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                ResultPart::Text(format!("Resource {uri}:\n{text}"))
            }
            ResourceContents::BlobResourceContents {
                mime_type, blob, ..
            } => match mime_type {
                Some(media_type) if media_type.starts_with("image/") => ResultPart::Image {
                    media_type,
                    base64: blob,
                },
                media_type => binary("resource", media_type.unwrap_or_default(), &blob),
            },
            _ => ResultPart::Text(UNKNOWN.to_owned()),
        },
        ContentBlock::ResourceLink(link) => {
            ResultPart::Text(format!("Resource link: {} ({})", link.uri, link.name))
        }
        _ => ResultPart::Text(UNKNOWN.to_owned()),
    }
}

/// All prompts of a server. One that has none is not asked.
pub(super) async fn list_prompts(peer: &Peer<RoleClient>) -> Result<Vec<RawPrompt>, String> {
    if peer
        .peer_info()
        .is_none_or(|info| info.capabilities.prompts.is_none())
    {
        return Ok(Vec::new());
    }
    let prompts = all_pages(PROMPTS_MAX, |params| async move {
        let page = peer.list_prompts(Some(params)).await?;
        Ok((page.prompts, page.next_cursor))
    });
    let prompts = prompts.await.map_err(|error| reason(&error))?;
    Ok(prompts.into_iter().map(raw).collect())
}

fn raw(prompt: rmcp::model::Prompt) -> RawPrompt {
    let arguments = prompt.arguments.unwrap_or_default().into_iter();
    RawPrompt {
        name: prompt.name,
        description: prompt.description.or(prompt.title).unwrap_or_default(),
        arguments: arguments
            .map(|argument| PromptArgument {
                name: argument.name,
                required: argument.required == Some(true),
            })
            .collect(),
    }
}

/// The text of a prompt with these arguments.
pub(super) async fn prompt(
    peer: &Peer<RoleClient>,
    name: &str,
    arguments: Map<String, Value>,
) -> Result<String, String> {
    let mut params = GetPromptRequestParams::new(name);
    params.arguments = Some(arguments);
    let answer = peer.get_prompt_once(params).await;
    let GetPromptResponse::Complete(result) = answer.map_err(|error| reason(&error))? else {
        return Err(NEEDS_INPUT.to_owned());
    };
    let messages = result.messages.into_iter().map(|message| {
        let speaker = match message.role {
            Role::User => Speaker::User,
            Role::Assistant => Speaker::Assistant,
        };
        (speaker, part(message.content))
    });
    let text = prompt_text(&messages.collect::<Vec<_>>());
    match text.trim().is_empty() {
        true => Err("its text is empty".to_owned()),
        false => Ok(text),
    }
}

/// All resources of a server.
pub(super) async fn list_resources(peer: &Peer<RoleClient>) -> Result<Vec<RawResource>, String> {
    let resources = all_pages(RESOURCES_MAX, |params| async move {
        let page = peer.list_resources(Some(params)).await?;
        Ok((page.resources, page.next_cursor))
    });
    let resources = resources.await.map_err(|error| reason(&error))?;
    let resources = resources.into_iter().map(|resource| RawResource {
        description: resource.description.or(resource.title).unwrap_or_default(),
        uri: resource.uri,
        name: resource.name,
        media_type: resource.mime_type,
        size: resource.size,
    });
    Ok(resources.collect())
}

/// The text of a resource.
pub(super) async fn resource(peer: &Peer<RoleClient>, uri: &str) -> Result<String, String> {
    let answer = peer
        .read_resource_once(ReadResourceRequestParams::new(uri))
        .await;
    let ReadResourceResponse::Complete(result) = answer.map_err(|error| reason(&error))? else {
        return Err(NEEDS_INPUT.to_owned());
    };
    let parts = result.contents.into_iter().map(|contents| match contents {
        ResourceContents::TextResourceContents { text, .. } => ResultPart::Text(text),
        ResourceContents::BlobResourceContents {
            mime_type, blob, ..
        } => ResultPart::Binary {
            kind: "resource",
            media_type: mime_type.unwrap_or_else(|| "of an unknown type".to_owned()),
            // Base64.
            bytes: blob.len() / 4 * 3,
        },
        _ => ResultPart::Text(UNKNOWN.to_owned()),
    });
    let texts: Vec<_> = parts.map(|part| text_of(&part)).collect();
    match texts.is_empty() {
        true => Err("it has no content".to_owned()),
        false => Ok(texts.join("\n")),
    }
}

const NEEDS_INPUT: &str = "it asks for more input, which only tools can";

fn reason(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => clean(&error.message),
        // The SDK's own words name its types.
        ServiceError::TransportSend(error) => clean(&http::causes(&*error.error)),
        error => clean(&error.to_string()),
    }
}
