//! `reasonix mcp login`: the browser's part of a login, on the user's machine.
//!
//! Listens on loopback for the browser's redirect, and takes a pasted address as well: the browser may run on another
//! machine. Only the address passes through here; the daemon has the login's secrets and gets the tokens.

use std::process::{Command, Stdio};
use std::time::Duration;

use client::Client;
use proto::methods::{McpList, McpLogin, McpLoginFinish, McpLogout};
use proto::params::mcp::{
    ListParams, LoginFinishParams, LoginParams, McpServer, Revocation, ServerParams,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::causes;
use crate::commands::setup::key::here;
use crate::exit::Error;
use crate::messages::asking::Msg;
use crate::terminal::Lines;
use crate::{output, terminal, text};

/// Where the browser comes back to.
const PATH: &str = "/callback";
/// A browser's request line and headers.
const REQUEST_MAX: usize = 32 * 1024;
/// How long a browser may take to send them: some connect ahead of time and send nothing.
const REQUEST_WAIT: Duration = Duration::from_secs(10);

/// Logs in to a server.
pub(super) async fn login(
    client: &Client,
    name: String,
    opens_browser: bool,
    json: bool,
) -> Result<u8, Error> {
    let listening = |source| Error::io(say!(Msg::DoListen), source);
    let list = client.call::<McpList>(&ListParams { cwd: here() }).await?;
    let server = list.servers.iter().find(|server| server.name == name);
    let chosen = server.and_then(|server| server.callback_port);
    let listener = TcpListener::bind(("127.0.0.1", chosen.unwrap_or(0))).await;
    let listener = listener.map_err(listening)?;
    let port = listener.local_addr().map_err(listening)?.port();
    // A client that was registered by hand was registered with this name.
    let host = match chosen {
        Some(_) => "localhost",
        None => "127.0.0.1",
    };
    let redirect = format!("http://{host}:{port}");
    let begun = client
        .call::<McpLogin>(&LoginParams {
            name: name.clone(),
            cwd: here(),
            redirect_uri: format!("{redirect}{PATH}"),
        })
        .await?;
    let address = begun.authorization_url;
    let interactive = terminal::is_interactive();
    if server.is_some_and(|server| server.state == "ready") {
        output::progress(&say!(Msg::McpLoginReady, text::line(&name)));
    }
    let opened = opens_browser && open(&address, interactive);
    output::progress(&match opened {
        true => say!(Msg::McpLoginOpened, text::line(&address)),
        false => say!(Msg::McpLoginOpen, text::line(&address)),
    });
    if interactive {
        output::progress(say!(Msg::McpLoginPaste));
    }
    let arriving = redirected(listener, &redirect, state_of(&address), interactive);
    let limit = Duration::from_secs(begun.seconds);
    let arrived = tokio::time::timeout(limit, arriving).await;
    let redirected = arrived.map_err(|_| Error::Failed {
        what: say!(Msg::McpLoginLate, limit.as_secs().div_ceil(60)),
        hint: say!(Msg::McpLoginAgain, name),
    })?;
    let params = LoginFinishParams {
        name,
        cwd: here(),
        redirected,
    };
    let server = client.call::<McpLoginFinish>(&params).await?;
    print(&server, json)
}

fn print(server: &McpServer, json: bool) -> Result<u8, Error> {
    let is_ready = server.state == "ready";
    if json {
        output::json(server)?;
    } else if is_ready {
        let name = text::line(&server.name);
        output::progress(&say!(Msg::McpLoggedIn, name, server.tools.len()));
    } else {
        let name = text::line(&server.name);
        output::progress(&say!(Msg::McpLoggedInNotReady, name));
        causes(server);
    }
    Ok(u8::from(!is_ready))
}

/// Deletes the login to a server.
pub(super) async fn logout(client: &Client, name: String, json: bool) -> Result<u8, Error> {
    let params = ServerParams { name, cwd: here() };
    let done = client.call::<McpLogout>(&params).await?;
    if json {
        output::json(&done)?;
        return Ok(0);
    }
    let name = params.name;
    output::progress(&match done.revocation {
        None if done.removed => say!(Msg::McpLoggedOut, name),
        None => say!(Msg::McpNoLogin, name),
        Some(Revocation::Done) => say!(Msg::McpLoggedOutRevoked, name),
        Some(Revocation::Unsupported) => say!(Msg::McpLoggedOutExpires, name),
        Some(Revocation::Failed) => {
            let reason = text::line(done.reason.as_deref().unwrap_or_default());
            say!(Msg::McpLoggedOutNotRevoked, name, reason)
        }
    });
    Ok(0)
}

/// The address that the browser is redirected to, from the listener or a pasted line. Others are ignored: any program of
/// this machine can reach the port.
async fn redirected(
    listener: TcpListener,
    redirect: &str,
    state: Option<String>,
    interactive: bool,
) -> String {
    let (sender, mut targets) = mpsc::channel(4);
    let wanted = state.clone();
    let accepting = async {
        loop {
            // An error is of one connection, or too many files are open: the next one may do.
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            tokio::spawn(answer(stream, wanted.clone(), sender.clone()));
        }
    };
    let mut lines = interactive.then(Lines::start);
    let pasting = async {
        while let Some(line) = next_line(&mut lines).await {
            let line = line.trim();
            if state.is_some() && state_of(line) == state {
                return line.to_owned();
            }
            if !line.is_empty() {
                output::progress(say!(Msg::McpLoginOther));
            }
        }
        // The end of the input: the browser may still come.
        std::future::pending().await
    };
    // Both arms only take what stays in a queue if it is not taken.
    tokio::select! {
        never = accepting => never,
        Some(target) = targets.recv() => format!("{redirect}{target}"),
        line = pasting => line,
    }
}

async fn next_line(lines: &mut Option<Lines>) -> Option<String> {
    lines.as_mut()?.next().await
}

/// Answers one request of a browser, and passes on its target if it is the redirect.
async fn answer(mut stream: TcpStream, state: Option<String>, sender: mpsc::Sender<String>) {
    let read = tokio::time::timeout(REQUEST_WAIT, request(&mut stream)).await;
    let Ok(Some(target)) = read else { return };
    let is_ours = target.split('?').next() == Some(PATH);
    let is_ours = is_ours && state.is_some() && state_of(&target) == state;
    // A status needs no words.
    let (status, words) = match is_ours {
        true => (200, say!(Msg::McpLoginPage)),
        false => (404, say!(Msg::McpLoginOtherPage)),
    };
    let body = format!("{words}\n");
    let response = format!(
        "HTTP/1.1 {status} \r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    // A browser that does not read has sent what matters.
    let sent = tokio::time::timeout(REQUEST_WAIT, stream.write_all(response.as_bytes()));
    let _ = sent.await;
    let _ = stream.shutdown().await;
    if is_ours {
        let _ = sender.send(target).await;
    }
}

/// The target of a `GET` request, after all its headers have come.
async fn request(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        if head.len() > REQUEST_MAX {
            return None;
        }
        let mut part = [0; 4096];
        let count = stream.read(&mut part).await.ok()?;
        head.extend_from_slice(part.get(..count).filter(|part| !part.is_empty())?);
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    (words.next() == Some("GET")).then_some(())?;
    words.next().map(str::to_owned)
}

/// The parameter `state` of an address. It is made of characters that need no encoding.
fn state_of(address: &str) -> Option<String> {
    let (_, query) = address.split_once('?')?;
    let query = query.split('#').next()?;
    let mut pairs = query.split('&');
    let state = pairs.find_map(|pair| pair.strip_prefix("state="));
    state.filter(|state| !state.is_empty()).map(str::to_owned)
}

/// Opens an address in the user's browser, if there is one on this machine: without a terminal only the one that the
/// environment names. Returns whether it was started.
fn open(address: &str, interactive: bool) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let chosen = std::env::var_os("BROWSER").filter(|browser| !browser.is_empty());
    let has_screen = cfg!(target_os = "macos") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
    let is_far = is_set("SSH_CONNECTION") || is_set("SSH_TTY");
    let program = match chosen {
        Some(browser) => browser,
        None if !interactive || !has_screen || is_far => return false,
        None if cfg!(target_os = "macos") => "open".into(),
        None => "xdg-open".into(),
    };
    let started = Command::new(program)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_an_address_is_found_wherever_it_is_in_the_query() {
        let state = |address: &str| state_of(address);
        assert_eq!(state("http://a/cb?state=x1").as_deref(), Some("x1"));
        assert_eq!(
            state("/callback?code=c&state=x-_2#f").as_deref(),
            Some("x-_2")
        );
        assert_eq!(state("/callback?code=state=no&sstate=1"), None);
        assert_eq!(state("/callback?state="), None);
        assert_eq!(state("/callback"), None);
    }
}
