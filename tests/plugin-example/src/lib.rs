//! A small MCP server over standard input and output, as an example for servers of your own: the tools `echo`,
//! `wordcount`, `introduce` (which asks the user) and `learn` (which adds a tool), the prompt `greet`, and two resources.
//! With the argument `newest` it knows the newest version of the protocol only.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    InputRequiredResult, InputResponses, JsonObject, ListPromptsResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, Prompt, PromptArgument, PromptMessage,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, Role, ServerCapabilities, ServerConfig, ServerNotification,
    SubscriptionFilter, Tool, ToolAnnotations, ToolListChangedNotification,
};
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
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
        let server = ExampleServer {
            is_newest_only: std::env::args().any(|argument| argument == "newest"),
            ..ExampleServer::default()
        };
        let service = server.serve(io).await.ok()?;
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

#[derive(Default)]
struct ExampleServer {
    is_newest_only: bool,
    /// `learn` was called: there is the tool `greeting`.
    has_learnt: AtomicBool,
    /// Clients that want to hear when the tools change.
    listening: Mutex<Vec<SubscriptionSink>>,
}

impl ServerHandler for ExampleServer {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_tool_list_changed()
                .enable_prompts()
                .enable_resources()
                .build(),
        );
        info.server_info =
            Implementation::new("reasonix-plugin-example", env!("CARGO_PKG_VERSION"));
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        match self.is_newest_only {
            true => Cow::Owned(vec![ProtocolVersion::LATEST]),
            false => Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS),
        }
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = vec![
            tool("echo", "Return a text as it is."),
            tool(
                "wordcount",
                "Count the lines, words and characters of a text.",
            ),
            without_arguments("introduce", "Ask the user who they are."),
            without_arguments("learn", "Learn the tool `greeting`."),
        ];
        if self.has_learnt.load(Ordering::Relaxed) {
            tools.push(tool("greeting", "Greet somebody."));
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let sink = context.sink().clone();
        if let Ok(mut listening) = self.listening.lock() {
            listening.push(sink);
        }
        context.cancelled().await;
        Ok(())
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
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*request.name {
            "introduce" => return Ok(introduce(request.input_responses.as_ref())),
            "learn" => return Ok(self.learn(&context).await),
            _ => {}
        }
        let arguments = request.arguments.unwrap_or_default();
        let Some(text) = arguments.get("text").and_then(Value::as_str) else {
            return Ok(CallToolResult::error(vec![ContentBlock::text(
                "`text` is missing or is no text",
            )])
            .into());
        };
        match &*request.name {
            "greeting" => {
                let greeting = format!("Hello, {text}.");
                Ok(CallToolResult::success(vec![ContentBlock::text(greeting)]).into())
            }
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

impl ExampleServer {
    /// Adds a tool, and says so to everybody who listens. Earlier versions of the protocol hear it unasked.
    async fn learn(&self, context: &RequestContext<RoleServer>) -> CallToolResponse {
        self.has_learnt.store(true, Ordering::Relaxed);
        let listening = match self.listening.lock() {
            Ok(listening) => listening.clone(),
            Err(_) => Vec::new(),
        };
        for sink in &listening {
            let changed = ToolListChangedNotification::default();
            let changed = ServerNotification::ToolListChangedNotification(changed);
            // One that listens no more needs no news.
            let _ = sink.send(changed).await;
        }
        if listening.is_empty() {
            let _ = context.peer.notify_tool_list_changed().await;
        }
        CallToolResult::success(vec![ContentBlock::text("learnt")]).into()
    }
}

/// Asks the user who they are. The client calls again with the answer.
fn introduce(answers: Option<&InputResponses>) -> CallToolResponse {
    const WHO: &str = "who";
    if let Some(answer) = answers.and_then(|answers| answers.get(WHO)) {
        let text = match (
            answer["action"].as_str(),
            answer["content"]["name"].as_str(),
        ) {
            (Some("accept"), Some(name)) => format!("The user is {name}."),
            _ => "The user did not say who they are.".to_owned(),
        };
        return CallToolResult::success(vec![ContentBlock::text(text)]).into();
    }
    let asked = serde_json::from_value(json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": "Who are you?",
            "requestedSchema": {
                "type": "object",
                "properties": {"name": {"type": "string", "title": "Your name"}},
                "required": ["name"],
            },
        },
    }));
    match asked {
        Ok(asked) => {
            InputRequiredResult::from_input_requests([(WHO.to_owned(), asked)].into()).into()
        }
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into(),
    }
}

/// A tool that takes nothing.
fn without_arguments(name: &'static str, description: &'static str) -> Tool {
    let schema = json!({"type": "object"});
    let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name, description, Arc::new(schema))
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
