//! Logins to servers over HTTP: OAuth 2.1 with PKCE, by the official SDK. Finds the authorization server, registers a client,
//! keeps what a login needs until the browser comes back, and refreshes tokens.
//!
//! Tokens are in the [`LoginStore`] and in memory only. A login belongs to one address: a configuration that is changed to
//! another address does not take it along. Called by the transport over HTTP and by the methods of the daemon.

mod address;
mod client;
mod record;
mod revoke;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use contract::Secret;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, OAuthClientConfig,
};
use sha2::{Digest as _, Sha256};
use tokio_util::task::TaskTracker;

use self::address::{browser_state, check_endpoints, check_redirect, safe_address};
pub(crate) use self::client::HttpClient;
use self::record::{KnownLogin, LoginCredentials, Purpose};
pub use self::revoke::Revocation;

use super::http;
use crate::config::{OAuthClient, ServerConfig, Transport};
use crate::text::{clean, cut};

/// How long a login may take from the address in the browser to the redirect.
const LOGIN_MAX: Duration = Duration::from_secs(600);
/// How long the servers may take that a login asks, all of them together.
const SERVERS_MAX: Duration = Duration::from_secs(60);
/// Logins that wait for a browser. The oldest is dropped for one more.
const PENDING_MAX: usize = 16;
/// What the names of logins in the store begin with. No environment variable is called so.
pub const LOGIN_PREFIX: &str = "mcp-login-";
/// Bytes of an error.
const REASON_MAX: usize = 300;
/// The name under which a client is registered.
const CLIENT_NAME: &str = "Reasonix";

/// Where logins are kept. Blocks.
pub trait LoginStore: Send + Sync {
    /// What is kept under this name.
    fn load(&self, name: &str) -> Option<Secret>;

    /// Keeps a text under this name, or forgets it. The error is a text for the user, and does not quote it.
    ///
    /// # Errors
    /// It cannot be written.
    fn save(&self, name: &str, text: Option<&Secret>) -> Result<(), String>;
}

/// Why a login does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginError {
    /// The address is not the redirect of a login that waits. The login goes on.
    OtherLogin,
    /// It is over. A text for the user.
    Failed(String),
}

/// What a logout did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Logout {
    /// There was no login.
    NoLogin,
    /// The tokens are deleted here.
    Deleted(Revocation),
}

/// A login that waits for the browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedLogin {
    /// What the user opens.
    pub authorization_url: String,
    /// How long it waits.
    pub limit: Duration,
}

struct PendingLogin {
    name: String,
    manager: AuthorizationManager,
    due: Instant,
}

#[derive(Default)]
struct Inner {
    /// Logins that were found in the store. `None`: deleted.
    known: BTreeMap<String, Option<KnownLogin>>,
    /// Numbers logins.
    next: u64,
    /// By the `state` of their addresses.
    pending: BTreeMap<String, PendingLogin>,
    refreshing: BTreeMap<String, Arc<tokio::sync::Mutex<()>>>,
    /// What servers said to whom logins have too few rights, until the next login.
    challenges: BTreeMap<String, String>,
}

/// All logins of the daemon.
pub struct Logins {
    store: Arc<dyn LoginStore>,
    inner: Mutex<Inner>,
    /// Held while the store is written: memory and store change in the same order.
    writing: Mutex<()>,
    refreshes: TaskTracker,
}

impl Logins {
    /// Those of this store.
    #[must_use]
    pub fn new(store: Arc<dyn LoginStore>) -> Arc<Self> {
        Arc::new(Self {
            store,
            inner: Mutex::default(),
            writing: Mutex::default(),
            refreshes: TaskTracker::new(),
        })
    }

    /// Lets no request start another refresh, and waits for those that are running. Called when the daemon stops.
    pub async fn refreshes_ended(&self) {
        self.refreshes.close();
        self.refreshes.wait().await;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the authorization server of this server, whose variables are replaced, and registers a client there.
    ///
    /// # Errors
    /// There is nothing to log in to. A text for the user.
    pub async fn begin(
        self: &Arc<Self>,
        server: &ServerConfig,
        redirect_uri: &str,
    ) -> Result<StartedLogin, String> {
        let begun = tokio::time::timeout(SERVERS_MAX, self.begin_unbounded(server, redirect_uri));
        begun.await.unwrap_or_else(|_| {
            let seconds = SERVERS_MAX.as_secs();
            Err(format!("its servers did not answer within {seconds} s"))
        })
    }

    async fn begin_unbounded(
        self: &Arc<Self>,
        server: &ServerConfig,
        redirect_uri: &str,
    ) -> Result<StartedLogin, String> {
        let (url, name) = login_of(server)?;
        check_redirect(redirect_uri)?;
        let mut manager = new_manager(&url).await.map_err(|error| reason(&error))?;
        let known = self.lock().challenges.get(&name).cloned();
        let challenge = match (known, &server.transport) {
            (Some(known), _) => Some(known),
            (None, Transport::Http { url, headers }) => http::challenge(url, headers).await,
            (None, Transport::Stdio { .. }) => None,
        };
        let found = manager
            .resolve_metadata_from_challenge(challenge.as_deref())
            .await;
        let found = found.map_err(|error| reason(&error))?;
        check_endpoints(&found.metadata)?;
        let is_published = found.source.is_discovered();
        manager.set_metadata(found.metadata);
        let scopes = manager.select_initial_scopes(&[]).await;
        let scopes: Vec<_> = scopes.iter().map(String::as_str).collect();
        let client = match registered_by_hand(server, redirect_uri) {
            Some(client) => {
                let configured = manager.configure_client(client.clone());
                configured.map_err(|error| reason(&error))?;
                client
            }
            None => {
                let registering = manager.register_client(CLIENT_NAME, redirect_uri, &scopes);
                let registered = registering.await;
                registered.map_err(|error| not_registered(is_published, &error))?
            }
        };
        manager.set_credential_store(LoginCredentials {
            logins: Arc::clone(self),
            url,
            name: name.clone(),
            client_secret: client.client_secret.clone(),
            redirect_uri: redirect_uri.to_owned(),
            purpose: Purpose::LogIn,
        });
        let address = manager.get_authorization_url(&scopes).await;
        let address = address.map_err(|error| reason(&error))?;
        let state = browser_state(&address)?;
        let mut inner = self.lock();
        let now = Instant::now();
        inner.pending.retain(|_, pending| pending.due > now);
        if inner.pending.len() >= PENDING_MAX {
            let oldest = inner.pending.iter().min_by_key(|(_, pending)| pending.due);
            let oldest = oldest.map(|(state, _)| state.clone());
            oldest.and_then(|state| inner.pending.remove(&state));
        }
        let due = now + LOGIN_MAX;
        let pending = PendingLogin { name, manager, due };
        inner.pending.insert(state, pending);
        Ok(StartedLogin {
            authorization_url: address,
            limit: LOGIN_MAX,
        })
    }

    /// Takes the address that the browser was redirected to, and keeps the tokens that its code gives.
    ///
    /// # Errors
    /// It is of another login; the user refused; the authorization server does not give the tokens; they cannot be kept.
    pub async fn finish(&self, server: &ServerConfig, redirected: &str) -> Result<(), LoginError> {
        let (_, name) = login_of(server).map_err(LoginError::Failed)?;
        let url = Url::parse(redirected.trim()).map_err(|_| LoginError::OtherLogin)?;
        let value = |wanted: &str| {
            let mut pairs = url.query_pairs();
            let found = pairs.find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.into_owned())
        };
        let state = value("state").unwrap_or_default();
        let pending = {
            let mut inner = self.lock();
            let is_its =
                |pending: &PendingLogin| pending.name == name && pending.due > Instant::now();
            match inner.pending.remove(&state) {
                Some(pending) if is_its(&pending) => pending,
                Some(other) => {
                    inner.pending.insert(state, other);
                    return Err(LoginError::OtherLogin);
                }
                None => return Err(LoginError::OtherLogin),
            }
        };
        if let Some(error) = value("error") {
            let description = value("error_description").map(|text| format!(": {text}"));
            let words = format!("{error}{}", description.unwrap_or_default());
            return Err(LoginError::Failed(clean(&words)));
        }
        let callback = AuthorizationCallback::from_redirect_url(url.as_str());
        let callback = callback.map_err(|error| LoginError::Failed(reason(&error)))?;
        let _code = Secret::new(callback.code.clone());
        let exchange = pending.manager.exchange_code_for_token_with_issuer(
            &callback.code,
            &callback.csrf_token,
            callback.issuer.as_deref(),
        );
        match tokio::time::timeout(SERVERS_MAX, exchange).await {
            Ok(Ok(_)) => {
                self.lock().challenges.remove(&name);
                Ok(())
            }
            Ok(Err(error)) => Err(LoginError::Failed(reason(&error))),
            Err(_) => Err(LoginError::Failed(
                "its authorization server did not answer in time".to_owned(),
            )),
        }
    }

    /// The server wants more rights than the login has: the next login asks for them.
    pub(crate) fn note_challenge(&self, server: &ServerConfig, challenge: String) {
        if let Ok((_, name)) = login_of(server) {
            self.lock().challenges.insert(name, challenge);
        }
    }

    /// Deletes the login of a server, and has its authorization server revoke the tokens.
    ///
    /// # Errors
    /// It is still in the store. A text for the user.
    pub async fn log_out(self: &Arc<Self>, server: &ServerConfig) -> Result<Logout, String> {
        let (url, name) = login_of(server)?;
        let logins = Arc::clone(self);
        // Deleted first: a server that does not answer keeps nobody logged in.
        let record = blocking(move || logins.take(&name)).await?;
        Ok(match record {
            Some(record) => Logout::Deleted(revoke::revoke(&url, &record).await),
            None => Logout::NoLogin,
        })
    }

    /// A client that sends the tokens of this server, if there are any.
    ///
    /// # Errors
    /// There are tokens, and their authorization server does not answer. A text for the user.
    pub(crate) async fn authorized(
        self: &Arc<Self>,
        server: &ServerConfig,
        client: reqwest::Client,
    ) -> Result<HttpClient, String> {
        let (url, name) = login_of(server)?;
        let mut manager = new_manager(&url).await.map_err(|error| reason(&error))?;
        let known = self.look_up(&name).await;
        let login = known.as_ref().map(|(login, _)| *login);
        let (client_secret, redirect_uri) = match known {
            Some((_, record)) => {
                let found = manager.resolve_metadata().await;
                let metadata = found.map_err(|error| reason(&error))?.metadata;
                // It may have changed since the login, and a refresh sends a token there.
                safe_address(&metadata.token_endpoint)?;
                manager.set_metadata(metadata);
                (record.client_secret, record.redirect_uri)
            }
            None => (None, String::new()),
        };
        manager.set_credential_store(LoginCredentials {
            logins: Arc::clone(self),
            url,
            name: name.clone(),
            client_secret: client_secret.clone(),
            redirect_uri: redirect_uri.clone(),
            purpose: Purpose::Use(login),
        });
        let is_ready = manager.initialize_from_store().await;
        let is_ready = is_ready.map_err(|error| reason(&error))?;
        if is_ready
            && let Some(secret) = client_secret
            && let Some((_, record)) = self.look_up(&name).await
        {
            // The SDK's own start from a store knows public clients only.
            let client = OAuthClientConfig::new(record.credentials.client_id, redirect_uri);
            let configured = manager.configure_client(client.with_client_secret(secret));
            configured.map_err(|error| reason(&error))?;
        }
        let refreshes = self.refreshes.clone();
        Ok(HttpClient::new(client, manager, refreshes))
    }
}

/// The client that the entry names, which its user has registered at the authorization server.
fn registered_by_hand(server: &ServerConfig, redirect_uri: &str) -> Option<OAuthClientConfig> {
    let OAuthClient { id, secret, .. } = server.oauth.as_ref()?;
    let client = OAuthClientConfig::new(id.clone()?, redirect_uri);
    Some(match secret {
        Some(secret) => client.with_client_secret(secret),
        None => client,
    })
}

/// Why no client was registered, and what the user can do. `is_published`: the server names its authorization server.
fn not_registered(is_published: bool, error: &AuthError) -> String {
    let reason = reason(error);
    match is_published {
        true => format!(
            "its authorization server does not register clients ({reason}). Register one on the server's website and put its `client_id` under `oauth` in the entry. Or create a token there and put it into `headers` as `Authorization`"
        ),
        false => format!(
            "it names no authorization server ({reason}). If it wants a token, put it into `headers`"
        ),
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err("the credential store failed".to_owned()))
}

/// The address that a login is for, and the name under which it is kept.
fn login_of(server: &ServerConfig) -> Result<(String, String), String> {
    let Transport::Http { url, headers } = &server.transport else {
        return Err("it is a program; only servers with a `url` have logins".to_owned());
    };
    if has_authorization(headers) {
        return Err("its entry sets the header `Authorization`; remove that to log in".to_owned());
    }
    let hash = hex::encode(Sha256::digest(url.as_bytes()));
    let name = format!("{LOGIN_PREFIX}{}", hash.get(..32).unwrap_or_default());
    Ok((url.clone(), name))
}

/// Whether an entry brings its own authorization.
pub(crate) fn has_authorization(headers: &BTreeMap<String, String>) -> bool {
    headers
        .keys()
        .any(|name| name.eq_ignore_ascii_case("authorization"))
}

async fn new_manager(url: &str) -> Result<AuthorizationManager, AuthError> {
    http::install_tls();
    // An address of the user's own configuration may be in a private network, and its authorization server too.
    let mut manager = AuthorizationManager::new_allowing_private_addresses(url).await?;
    if Url::parse(url).is_ok_and(|url| http::is_local(&url)) {
        let client = reqwest::Client::builder()
            .connect_timeout(http::CONNECT)
            .timeout(Duration::from_secs(30))
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy();
        manager.with_client(client.build()?)?;
    }
    Ok(manager)
}

/// An error of the SDK with its causes, as a text for the user.
fn reason(error: &AuthError) -> String {
    let text = http::causes(error);
    // Servers answer with whole pages.
    let words: Vec<_> = text.split_whitespace().collect();
    let text = words.join(" ");
    let (text, was_cut) = cut(&text, REASON_MAX);
    format!("{}{}", clean(text), if was_cut { "…" } else { "" })
}

#[cfg(test)]
mod tests;
