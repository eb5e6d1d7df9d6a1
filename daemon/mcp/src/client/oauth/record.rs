//! Logins that are kept: in memory, in the store, and as the SDK reads and writes them.
//!
//! Each login has a number. A connection uses the login that it began with: a refresh that ends after the user has logged out,
//! or in again, changes nothing.

use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use contract::Secret;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, OAuthTokenResponse, StoredCredentials,
};
use serde::{Deserialize, Serialize};

use super::{Logins, blocking, revoke};

/// What is kept of a login.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Record {
    pub credentials: StoredCredentials,
    /// Of a client that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    pub redirect_uri: String,
}

/// The tokens of a record.
#[derive(Default)]
pub(super) struct Tokens {
    pub access: Option<String>,
    pub refresh: Option<String>,
}

impl Record {
    pub fn tokens(&self) -> Tokens {
        let response = self.credentials.token_response.as_ref();
        let token = |name: &str| response.and_then(|response| token(response, name));
        Tokens {
            access: token("access_token"),
            refresh: token("refresh_token"),
        }
    }
}

/// The token for requests in an answer of an authorization server.
pub(super) fn access_token(response: &OAuthTokenResponse) -> Option<String> {
    token(response, "access_token")
}

fn token(response: &OAuthTokenResponse, name: &str) -> Option<String> {
    // The SDK's type has no public way to its texts but its serialization.
    let tokens = serde_json::to_value(response).unwrap_or_default();
    let text = tokens.get(name)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// A record, and its texts that no log may show.
pub(super) struct KnownLogin {
    number: u64,
    record: Record,
    _secrets: Vec<Secret>,
}

impl KnownLogin {
    fn new(number: u64, record: Record) -> Self {
        let Tokens { access, refresh } = record.tokens();
        let secret = record.client_secret.clone();
        let secret = secret.filter(|text| !text.is_empty());
        let texts = [access, refresh, secret].into_iter().flatten();
        let secrets = texts.map(Secret::new).collect();
        Self {
            number,
            record,
            _secrets: secrets,
        }
    }
}

/// What tokens are kept for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The user logs in. If the store cannot be written, the login fails: the user is there, and sees why.
    LogIn,
    /// A connection uses the login of this number, if there is one. If the store cannot be written, the refreshed tokens are
    /// used from memory.
    Use(Option<u64>),
}

/// What became of tokens that were to be kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SaveOutcome {
    Stored,
    /// Not kept: their login is over.
    Ended,
}

impl Logins {
    /// The login of this name with its number, from memory or the store.
    pub(super) async fn look_up(self: &Arc<Self>, name: &str) -> Option<(u64, Record)> {
        let (logins, name) = (Arc::clone(self), name.to_owned());
        let found = blocking(move || Ok(logins.record(&name))).await;
        found.ok().flatten()
    }

    /// The same. Blocks.
    pub(super) fn record(&self, name: &str) -> Option<(u64, Record)> {
        let known = |known: &KnownLogin| (known.number, known.record.clone());
        if let Some(found) = self.lock().known.get(name) {
            return found.as_ref().map(known);
        }
        let text = self.store.load(name);
        let record = text.and_then(|text| serde_json::from_str::<Record>(text.expose()).ok());
        let mut inner = self.lock();
        // A store that has none now may have one later: it may have been locked.
        if let Some(record) = record {
            inner.next += 1;
            let number = inner.next;
            // A login that was saved or deleted in the meantime is newer: keep that.
            let entry = inner.known.entry(name.to_owned());
            entry.or_insert_with(|| Some(KnownLogin::new(number, record)));
        }
        inner.known.get(name)?.as_ref().map(known)
    }

    /// Keeps the tokens of a login, unless it is over. Blocks.
    pub(super) fn keep(
        &self,
        name: &str,
        purpose: Purpose,
        record: Record,
    ) -> Result<SaveOutcome, String> {
        let text = serde_json::to_string(&record);
        let text = Secret::new(text.map_err(|_| "the login cannot be written".to_owned())?);
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut inner = self.lock();
            let number = match purpose {
                Purpose::LogIn => {
                    inner.next += 1;
                    inner.next
                }
                Purpose::Use(wanted) => match (wanted, inner.known.get(name)) {
                    (Some(wanted), Some(Some(known))) if known.number == wanted => wanted,
                    _ => return Ok(SaveOutcome::Ended),
                },
            };
            // In memory first: a refresh token that was used once is of no use again.
            let known = Some(KnownLogin::new(number, record));
            inner.known.insert(name.to_owned(), known);
        }
        self.store
            .save(name, Some(&text))
            .map(|()| SaveOutcome::Stored)
    }

    /// Deletes a login, and returns what was kept of it. Blocks.
    pub(super) fn take(&self, name: &str) -> Result<Option<Record>, String> {
        let found = self.record(name);
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.lock().known.insert(name.to_owned(), None).flatten();
        if known.is_none() && found.is_none() {
            self.lock().known.remove(name);
            return Ok(None);
        }
        self.store.save(name, None)?;
        Ok(known.map(|known| known.record))
    }
}

/// One login, as the SDK reads and writes it.
pub(super) struct LoginCredentials {
    pub logins: Arc<Logins>,
    /// The server's address.
    pub url: String,
    pub name: String,
    pub client_secret: Option<String>,
    pub redirect_uri: String,
    pub purpose: Purpose,
}

#[async_trait]
impl CredentialStore for LoginCredentials {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let Purpose::Use(wanted) = self.purpose else {
            // A login begins without tokens.
            return Ok(None);
        };
        let found = self.logins.look_up(&self.name).await;
        let found = found.filter(|(number, _)| Some(*number) == wanted);
        Ok(found.map(|(_, record)| record.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let record = Record {
            credentials,
            client_secret: self.client_secret.clone(),
            redirect_uri: self.redirect_uri.clone(),
        };
        let (logins, name, purpose) = (Arc::clone(&self.logins), self.name.clone(), self.purpose);
        let kept = record.clone();
        let kept = blocking(move || logins.keep(&name, purpose, kept)).await;
        match kept {
            Ok(SaveOutcome::Stored) => Ok(()),
            Ok(SaveOutcome::Ended) => {
                // Nobody has these tokens but the server.
                let revocation = revoke::revoke(&self.url, &record).await;
                tracing::info!(?revocation, "a login ended while its tokens were refreshed");
                Err(AuthError::AuthorizationRequired)
            }
            Err(error) if purpose != Purpose::LogIn => {
                tracing::warn!(%error, "the refreshed tokens of an MCP server are not stored");
                Ok(())
            }
            Err(error) => Err(AuthError::CredentialStoreError(error)),
        }
    }

    async fn clear(&self) -> Result<(), AuthError> {
        if self.load().await?.is_none() {
            return Ok(());
        }
        let (logins, name) = (Arc::clone(&self.logins), self.name.clone());
        let taken = blocking(move || logins.take(&name)).await;
        taken.map(drop).map_err(AuthError::CredentialStoreError)
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let turn = {
            let mut inner = self.logins.lock();
            Arc::clone(inner.refreshing.entry(self.name.clone()).or_default())
        };
        Ok(Some(CredentialRefreshGuard::new(turn.lock_owned().await)))
    }
}
