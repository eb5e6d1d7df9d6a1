//! A small MCP server over standard input and output, as an example for servers of your own: `echo` and `wordcount`.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
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

struct ExampleServer;

impl ServerHandler for ExampleServer {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
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
