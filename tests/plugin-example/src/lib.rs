//! A small MCP server over standard input and output, as an example for servers of your own: the tools `echo` and
//! `wordcount`, the prompt `greet`, and two resources.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, JsonObject,
    ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, Prompt,
    PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, Role, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};

/// Serves until the client closes standard input. Returns the exit code.
#[must_use]
pub fn run() -> i32 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else { return 1 };
    let served = runtime.block_on(async {
        let io = (tokio::io::stdin(), tokio::io::stdout());
        let service = ExampleServer.serve(io).await.ok()?;
        service.waiting().await.ok()
    });
    // Reading standard input is a thread of its own, which does not end by itself.
    runtime.shutdown_background();
    i32::from(served.is_none())
}

/// A resource that is text.
const NOTES: &str = "example://notes";
/// A resource that is not.
const LOGO: &str = "example://logo";

struct ExampleServer;

impl ServerHandler for ExampleServer {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_prompts()
                .enable_resources()
                .build(),
        );
        info.server_info =
            Implementation::new("reasonix-plugin-example", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![
            tool("echo", "Return a text as it is."),
            tool(
                "wordcount",
                "Count the lines, words and characters of a text.",
            ),
        ]))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let arguments = vec![
            PromptArgument::new("name").with_required(true),
            PromptArgument::new("wish"),
        ];
        let greet = Prompt::new("greet", Some("Greet somebody."), Some(arguments));
        Ok(ListPromptsResult::with_all_items(vec![greet]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != "greet" {
            let text = format!("there is no prompt {:?}", request.name);
            return Err(ErrorData::invalid_params(text, None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let argument = |name: &str| arguments.get(name).and_then(Value::as_str);
        let name = argument("name").unwrap_or("everybody");
        let wish = argument("wish").unwrap_or("a good day");
        let text = format!("Greet {name} and wish them {wish}.");
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![
            Resource::new(NOTES, "notes"),
            Resource::new(LOGO, "logo"),
        ]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = match &*request.uri {
            NOTES => ResourceContents::text("The notes of the example.", NOTES),
            // Base64 of six bytes.
            LOGO => ResourceContents::blob("iVBORw0K", LOGO).with_mime_type("image/png"),
            uri => {
                let text = format!("there is no resource {uri:?}");
                return Err(ErrorData::resource_not_found(text, None));
            }
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let Some(text) = arguments.get("text").and_then(Value::as_str) else {
            return Ok(CallToolResult::error(vec![ContentBlock::text(
                "`text` is missing or is no text",
            )])
            .into());
        };
        match &*request.name {
            "echo" => Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into()),
            "wordcount" => Ok(CallToolResult::structured(json!({
                "lines": text.lines().count(),
                "words": text.split_whitespace().count(),
                "characters": text.chars().count(),
            }))
            .into()),
            name => Err(ErrorData::invalid_params(
                format!("there is no tool {name:?}"),
                None,
            )),
        }
    }
}

/// A tool that takes a text and changes nothing.
fn tool(name: &'static str, description: &'static str) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    });
    let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
    let mut tool = Tool::new(name, description, Arc::new(schema));
    tool.annotations = Some(ToolAnnotations::new().read_only(true));
    tool
}
