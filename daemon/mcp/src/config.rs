//! The configuration of servers: `.mcp.json` in Claude Code's schema, and entries of `[[plugins]]`. Pure: the caller reads the
//! files and the environment.
//!
//! Entries are independent: an invalid one becomes a problem that names it and its file, and the others work.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::name::check_server_name;

mod variables;

pub use variables::expand;
use variables::is_variable_name;

/// How long a server may take to start, unless its entry says otherwise.
const STARTUP_SECONDS: u64 = 30;
/// How long a request may take, unless its entry says otherwise.
const REQUEST_SECONDS: u64 = 120;
/// The longest time that an entry may set.
const SECONDS_MAX: u64 = 3600;

/// Who configured a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigScope {
    /// The user, in their home.
    User,
    /// The project that is worked on.
    Project,
}

/// What a read-only session may call of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadOnlyPolicy {
    /// Nothing.
    #[default]
    Disabled,
    /// The tools that the server says only read.
    ReadOnly,
    /// Every tool.
    Allow,
}

/// How a server is reached. Variables are still in the texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A program that speaks over its standard input and output.
    Stdio {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
    },
    /// Streamable HTTP.
    Http {
        url: String,
        headers: BTreeMap<String, String>,
    },
}

/// A client of a server's authorization server that its user has registered there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OAuthClient {
    /// `None`: one is registered for each login.
    pub id: Option<String>,
    /// Names a variable until variables are replaced. `None`: the client has none.
    pub secret: Option<String>,
    /// The port of this machine that the browser is sent back to. `None`: any.
    pub callback_port: Option<u16>,
}

/// One configured server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    pub name: String,
    pub scope: ConfigScope,
    /// The file that configures it.
    pub origin: PathBuf,
    pub transport: Transport,
    /// How its login is made. `None`: as its authorization server says.
    pub oauth: Option<OAuthClient>,
    /// Whether sessions share its process.
    pub shared: bool,
    /// Whether it is to be used at all.
    pub enabled: bool,
    /// Whether its program runs in the sandbox of commands.
    pub sandbox: bool,
    pub startup_timeout: Duration,
    pub request_timeout: Duration,
    /// `None`: as the setting for all servers says.
    pub read_only_policy: Option<ReadOnlyPolicy>,
}

/// The servers of some files, and what is wrong with those that are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Servers {
    pub servers: Vec<ServerConfig>,
    pub problems: Vec<String>,
    /// Names of entries that are left out, and why: of these problems those that are about one entry.
    pub ignored: BTreeMap<String, String>,
}

/// An entry as files write it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    oauth: Option<OAuthEntry>,
    shared: Option<bool>,
    enabled: Option<bool>,
    /// Milliseconds, as Claude Code has it.
    timeout: Option<u64>,
    startup_timeout_seconds: Option<u64>,
    timeout_seconds: Option<u64>,
    read_only_policy: Option<ReadOnlyPolicy>,
    sandbox: Option<bool>,
}

/// `oauth` of an entry. Claude Code writes its names in camel case.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OAuthEntry {
    #[serde(alias = "clientId")]
    client_id: Option<String>,
    #[serde(alias = "clientSecret")]
    client_secret: Option<String>,
    #[serde(alias = "callbackPort")]
    callback_port: Option<u16>,
}

impl OAuthEntry {
    fn checked(self) -> Result<OAuthClient, String> {
        if self.client_secret.is_some() && self.client_id.is_none() {
            return Err("`oauth` has a `client_secret` without a `client_id`".to_owned());
        }
        if self
            .client_id
            .as_deref()
            .is_some_and(|id| id.trim().is_empty())
        {
            return Err("`client_id` is empty".to_owned());
        }
        if self.callback_port == Some(0) {
            return Err("`callback_port` must be from 1 to 65535".to_owned());
        }
        let is_variable = |text: &str| {
            let name = text
                .strip_prefix("${")
                .and_then(|text| text.strip_suffix('}'));
            name.is_some_and(is_variable_name)
        };
        if self
            .client_secret
            .as_deref()
            .is_some_and(|text| !is_variable(text))
        {
            // It is not quoted: it may be the secret itself.
            return Err(
                "`client_secret` must be an environment variable, `${NAME}`: the file is no place for a secret"
                    .to_owned(),
            );
        }
        Ok(OAuthClient {
            id: self.client_id,
            secret: self.client_secret,
            callback_port: self.callback_port,
        })
    }
}

impl Servers {
    /// Reads a `.mcp.json`.
    #[must_use]
    pub fn from_json(text: &str, file: &Path, scope: ConfigScope) -> Self {
        let mut found = Self::default();
        let place = file.display();
        // Editors of Windows put a mark of the encoding first.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let entries = match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(mut file) => match file.remove("mcpServers") {
                Some(Value::Object(entries)) => entries,
                Some(_) | None => {
                    found.problems.push(format!(
                        "{place}: it needs an object `mcpServers`; no server of it is used"
                    ));
                    return found;
                }
            },
            Err(error) => {
                found.problems.push(format!(
                    "{place}:{}: not valid JSON, so no server of it is used: {error}",
                    error.line()
                ));
                return found;
            }
        };
        for (name, value) in entries {
            let entry = Entry::deserialize(&value).map_err(|error| entry_error(&value, &error));
            found.take(&name, entry, (file, scope), &place.to_string());
        }
        found
    }

    /// Reads one `[[plugins]]` entry, as a TOML document. `place`: its file and line.
    pub fn take_toml(&mut self, text: &str, file: &Path, scope: ConfigScope, place: &str) {
        let mut table = match toml::from_str::<toml::Table>(text) {
            Ok(table) => table,
            Err(error) => {
                self.problems.push(format!(
                    "{place}: this plugin is ignored: {}",
                    error.message()
                ));
                return;
            }
        };
        let Some(toml::Value::String(name)) = table.remove("name") else {
            self.problems
                .push(format!("{place}: this plugin is ignored: it has no `name`"));
            return;
        };
        let entry = Entry::deserialize(toml::Value::Table(table))
            .map_err(|error| error.message().to_owned());
        self.take(&name, entry, (file, scope), place);
    }

    fn take(
        &mut self,
        name: &str,
        entry: Result<Entry, String>,
        (file, scope): (&Path, ConfigScope),
        place: &str,
    ) {
        let checked = check_server_name(name)
            .and(entry)
            .and_then(|entry| entry.checked(name, file, scope));
        match checked {
            Ok(server) => self.servers.push(server),
            Err(reason) => {
                let problem = format!("{place}: the MCP server {name:?} is ignored: {reason}");
                self.ignored.insert(name.to_owned(), problem.clone());
                self.problems.push(problem);
            }
        }
    }

    /// These servers, and of the others those whose names are not taken.
    #[must_use]
    pub fn or(mut self, others: Self) -> Self {
        for server in others.servers {
            if let Some(first) = self.servers.iter().find(|known| known.name == server.name) {
                if first.origin == server.origin || first.scope != server.scope {
                    self.problems.push(format!(
                        "{}: the MCP server `{}` is already configured in {}; this one is ignored",
                        server.origin.display(),
                        server.name,
                        first.origin.display()
                    ));
                }
                continue;
            }
            self.servers.push(server);
        }
        self.problems.extend(others.problems);
        for (name, problem) in others.ignored {
            self.ignored.entry(name).or_insert(problem);
        }
        self
    }
}

/// Why an entry cannot be read, with the name of the key that is wrong.
fn entry_error(entry: &Value, error: &serde_json::Error) -> String {
    let Value::Object(values) = entry else {
        return "it must be an object with `command` or `url`".to_owned();
    };
    let alone = values.iter().find_map(|(key, value)| {
        let alone = Map::from_iter([(key.clone(), value.clone())]);
        let error = Entry::deserialize(&Value::Object(alone)).err()?;
        Some((key, error.to_string()))
    });
    match alone {
        // That names it.
        Some((_, text)) if text.starts_with("unknown field") => text,
        Some((key, text)) => {
            let text = text.replace("expected a sequence", "expected a list");
            let text = text.replace("expected a map", "expected an object");
            let text = text.replace("expected struct OAuthEntry", "expected an object");
            format!("`{key}`: {text}")
        }
        None => error.to_string(),
    }
}

/// The scheme of an address. `None`: the text is none.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (!scheme.is_empty() && scheme.chars().all(is_scheme)).then_some(scheme)
}

/// An address with stars in the place of a password.
pub(crate) fn without_password(url: &str) -> String {
    let hidden = || {
        let (scheme, rest) = url.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (user, host) = authority.rsplit_once('@')?;
        let (name, _) = user.split_once(':')?;
        Some(format!("{scheme}://{name}:***@{host}{path}"))
    };
    hidden().unwrap_or_else(|| url.to_owned())
}

impl Entry {
    fn checked(
        mut self,
        name: &str,
        file: &Path,
        scope: ConfigScope,
    ) -> Result<ServerConfig, String> {
        let transport = self.transport()?;
        let sandbox = self.sandbox.unwrap_or(false);
        if sandbox && matches!(transport, Transport::Http { .. }) {
            return Err(
                "`sandbox` is only for `command`: a server at a URL is not started here".to_owned(),
            );
        }
        let oauth = self.oauth.take().map(OAuthEntry::checked).transpose()?;
        if scope == ConfigScope::Project && self.read_only_policy.is_some() {
            return Err("`read_only_policy` is only for your own configuration".to_owned());
        }
        let seconds = |seconds: Option<u64>, default: u64| match seconds {
            Some(seconds) if seconds == 0 || seconds > SECONDS_MAX => {
                Err(format!("a timeout must be from 1 to {SECONDS_MAX} seconds"))
            }
            seconds => Ok(Duration::from_secs(seconds.unwrap_or(default))),
        };
        let timeout = self
            .timeout_seconds
            .or(self.timeout.map(|ms| ms.div_ceil(1000)));
        Ok(ServerConfig {
            name: name.to_owned(),
            scope,
            origin: file.to_path_buf(),
            transport,
            oauth,
            shared: self.shared.unwrap_or(true),
            enabled: self.enabled.unwrap_or(true),
            sandbox,
            startup_timeout: seconds(self.startup_timeout_seconds, STARTUP_SECONDS)?,
            request_timeout: seconds(timeout, REQUEST_SECONDS)?,
            read_only_policy: self.read_only_policy,
        })
    }

    fn transport(&self) -> Result<Transport, String> {
        let (command, url) = (self.command.as_deref(), self.url.as_deref());
        let kind = self.kind.as_deref();
        match (kind, command, url) {
            (_, Some(_), Some(_)) => {
                Err("it has both `command` and `url`; keep one of them".to_owned())
            }
            (Some("sse"), ..) => Err(
                "`type` is `sse`, a transport that MCP has replaced; use the server's streamable HTTP address with `type` `http`"
                    .to_owned(),
            ),
            (Some("stdio") | None, Some(command), None) => {
                if self.headers.is_some() || self.oauth.is_some() {
                    return Err("`headers` and `oauth` are only for `url`".to_owned());
                }
                if command.trim().is_empty() {
                    return Err("`command` is empty".to_owned());
                }
                if let Some(scheme) = scheme(command) {
                    return Err(format!(
                        "`{scheme}://…` is an address, not a program, and only those of `http://` and `https://` can be reached"
                    ));
                }
                Ok(Transport::Stdio {
                    command: command.to_owned(),
                    args: self.args.clone().unwrap_or_default(),
                    env: self.env.clone().unwrap_or_default(),
                })
            }
            (Some("http" | "streamable-http" | "streamable_http") | None, None, Some(url)) => {
                if self.args.is_some() || self.env.is_some() {
                    return Err(
                        "`args` (words after an address) and `env` are only for a program (`command`)"
                            .to_owned(),
                    );
                }
                let is_variable = url.starts_with("${");
                let scheme = scheme(url).map(str::to_ascii_lowercase);
                if !is_variable && !matches!(scheme.as_deref(), Some("http" | "https")) {
                    return Err("`url` must begin with `http://` or `https://`".to_owned());
                }
                Ok(Transport::Http {
                    url: url.to_owned(),
                    headers: self.headers.clone().unwrap_or_default(),
                })
            }
            (Some("stdio"), None, _) => Err("`type` is `stdio`, which needs `command`".to_owned()),
            (Some("http" | "streamable-http" | "streamable_http"), ..) => {
                Err("`type` is `http`, which needs `url`".to_owned())
            }
            (Some(kind), ..) => Err(format!("`type` must be `stdio` or `http`, not {kind:?}")),
            (None, None, None) => Err("it needs `command` or `url`".to_owned()),
        }
    }
}

impl ServerConfig {
    /// The same server, as a process of one session alone.
    #[must_use]
    pub fn for_one_session(&self) -> Self {
        Self {
            shared: false,
            ..self.clone()
        }
    }

    /// As somebody is shown it who is to trust it: what runs, or where it connects, and with what. Variables are not replaced.
    #[must_use]
    pub fn line(&self) -> String {
        let (what, values) = match &self.transport {
            Transport::Stdio { env, .. } => ("runs", env),
            Transport::Http { headers, .. } => ("connects to", headers),
        };
        let place = if self.sandbox { " in the sandbox" } else { "" };
        let mut line = format!("MCP server {}: {what}{place} {}", self.name, self.target());
        for (name, value) in values {
            line.push_str(&format!(", {name}={value:?}"));
        }
        if let Some(OAuthClient { id, secret, .. }) = &self.oauth {
            let named = [("client_id", id), ("client_secret", secret)];
            for (name, value) in named {
                if let Some(value) = value {
                    line.push_str(&format!(", {name}={value:?}"));
                }
            }
        }
        line
    }

    /// The command line or the address.
    #[must_use]
    pub fn target(&self) -> String {
        match &self.transport {
            Transport::Stdio { command, args, .. } => {
                let words = std::iter::once(command).chain(args);
                let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\'' | '\\');
                let quoted =
                    words.map(
                        |word| match !word.is_empty() && word.chars().all(is_plain) {
                            true => word.clone(),
                            false => format!("{word:?}"),
                        },
                    );
                quoted.collect::<Vec<_>>().join(" ")
            }
            Transport::Http { url, .. } => url.clone(),
        }
    }

    /// The same for lists: without the password of an address.
    #[must_use]
    pub fn shown_target(&self) -> String {
        match &self.transport {
            Transport::Stdio { .. } => self.target(),
            Transport::Http { url, .. } => without_password(url),
        }
    }

    /// A hash of what it starts or connects to, before variables are replaced: what trust and caches are bound to.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut text = format!("{}\n{:?}", self.name, self.transport);
        if let Some(oauth) = &self.oauth {
            text.push_str(&format!("\n{oauth:?}"));
        }
        if self.sandbox {
            text.push_str("\nsandbox");
        }
        hex::encode(Sha256::digest(text.as_bytes()))
    }

    /// The variables in its texts that have no default.
    #[must_use]
    pub fn needed_variables(&self) -> Vec<String> {
        let named = RefCell::new(BTreeSet::new());
        // An empty value gives way to a default, and nothing is missing.
        let _ = self.expanded(&|name| {
            named.borrow_mut().insert(name.to_owned());
            Some(String::new())
        });
        let mut needed: Vec<_> = named.into_inner().into_iter().collect();
        let is_needed = |wanted: &String| {
            let others = |name: &str| (name != wanted).then(String::new);
            self.expanded(&others).is_err()
        };
        needed.retain(is_needed);
        needed
    }

    /// The same with the variables in its texts replaced.
    ///
    /// # Errors
    /// A variable that is unset and has no default, as a text for the user.
    pub fn expanded(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let one = |text: &String| expand(text, variable);
        let all = |values: &BTreeMap<String, String>| {
            let pairs = values.iter();
            pairs
                .map(|(name, text)| Ok((name.clone(), one(text)?)))
                .collect::<Result<BTreeMap<_, _>, String>>()
        };
        let transport = match &self.transport {
            Transport::Stdio { command, args, env } => Transport::Stdio {
                command: one(command)?,
                args: args.iter().map(one).collect::<Result<_, _>>()?,
                env: all(env)?,
            },
            Transport::Http { url, headers } => Transport::Http {
                url: one(url)?,
                headers: all(headers)?,
            },
        };
        let oauth = match &self.oauth {
            Some(oauth) => Some(OAuthClient {
                id: oauth.id.as_ref().map(one).transpose()?,
                secret: oauth.secret.as_ref().map(one).transpose()?,
                callback_port: oauth.callback_port,
            }),
            None => None,
        };
        Ok(Self {
            transport,
            oauth,
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests;
