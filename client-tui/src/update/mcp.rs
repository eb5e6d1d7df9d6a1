//! `/mcp`: the MCP servers of the session's directory: state, tools, and why one does not work.

use proto::Pid;
use proto::params::mcp::{ListOutput, ListParams, McpServer, RestartParams};

use super::commands::called;
use crate::effect::{Call, Effect};
use crate::messages::app::Msg;
use crate::model::pager::PagerContent;
use crate::model::{Model, Tone};
use crate::update::pager;

/// Whether the arguments are none that `/mcp` takes.
pub fn is_wrong(arguments: &str) -> bool {
    !arguments.is_empty() && server_to_restart(arguments).is_none()
}

fn server_to_restart(arguments: &str) -> Option<&str> {
    let (word, name) = arguments.split_once(char::is_whitespace)?;
    let name = name.trim();
    (word == "restart" && !name.is_empty()).then_some(name)
}

/// Requests the servers of a directory, or that one of them is restarted.
pub fn asked(cwd: String, session: Option<Pid>, arguments: &str) -> Vec<Effect> {
    let cwd = Some(cwd);
    called(match server_to_restart(arguments) {
        Some(name) => Call::RestartServer(RestartParams {
            name: name.to_owned(),
            cwd,
            session,
        }),
        None => Call::Servers(ListParams { cwd }),
    })
}

/// The server is being restarted.
pub fn restarted(model: &mut Model, name: &str) {
    let name = client::text::line(name);
    let words = model.look.language.fill(Msg::ServerRestarted, &[&name]);
    model.toast(Tone::Info, words);
}

/// Shows the list.
pub fn shown(model: &mut Model, list: &ListOutput) -> Vec<Effect> {
    let language = model.look.language;
    if list.servers.is_empty() && list.problems.is_empty() {
        model.toast(Tone::Info, language.say(Msg::ServersNone));
        return Vec::new();
    }
    let mut lines = Vec::new();
    for server in &list.servers {
        lines.extend(server_lines(model, server));
        lines.push(String::new());
    }
    let problems = list.problems.iter();
    lines.extend(problems.map(|problem| client::text::line(problem)));
    let title = language.say(Msg::ServersTitle).to_owned();
    pager::open(model, PagerContent::Lines { title, lines })
}

fn server_lines(model: &Model, server: &McpServer) -> Vec<String> {
    let language = model.look.language;
    let state = client::server_state::words(language, &server.state);
    let sandboxed = match server.sandbox {
        true => format!(" · {}", language.say(Msg::ServerSandboxed)),
        false => String::new(),
    };
    let mut lines = vec![
        format!("{} · {state}{sandboxed}", client::text::line(&server.name)),
        format!("  {}", client::text::exact(&server.target)),
        format!("  {}", client::text::line(&server.source)),
    ];
    if let Some(reason) = &server.reason {
        let reason = client::text::line(reason);
        let words = language.fill(Msg::ServerFailed, &[&reason]);
        lines.push(format!("  ! {words}"));
    }
    let problems = server.problems.iter();
    lines.extend(problems.map(|problem| format!("  ! {}", client::text::line(problem))));
    let tools: Vec<_> = server
        .tools
        .iter()
        .map(|tool| client::text::line(tool))
        .collect();
    let words = match tools.as_slice() {
        [] => language.say(Msg::ServerToolsNone).to_owned(),
        tools => language.fill(
            Msg::ServerTools,
            &[&tools.len().to_string(), &tools.join(", ")],
        ),
    };
    lines.push(format!("  {words}"));
    lines
}
