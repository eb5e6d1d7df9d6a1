//! The logins to MCP servers, in the store of the keys.

use std::path::PathBuf;

use contract::Secret;

use super::{Store, StoreChoice};

/// The longest login, in bytes: keyrings refuse longer texts.
const LOGIN_MAX: usize = 64 * 1024;

/// Whether what is kept under this name is a login, not a key.
pub(super) fn is_login(name: &str) -> bool {
    name.starts_with(mcp::LOGIN_PREFIX)
}

/// The logins of a home.
pub struct StoredLogins {
    home: PathBuf,
    /// The setting `credentials_store`, as it is now.
    choice: Box<dyn Fn() -> StoreChoice + Send + Sync>,
}

impl StoredLogins {
    /// Those of this home.
    pub fn new(home: PathBuf, choice: impl Fn() -> StoreChoice + Send + Sync + 'static) -> Self {
        Self {
            home,
            choice: Box::new(choice),
        }
    }

    fn store(&self) -> Store {
        Store::open(&self.home, (self.choice)())
    }
}

impl mcp::LoginStore for StoredLogins {
    fn load(&self, name: &str) -> Option<Secret> {
        self.store().keys().remove(name)
    }

    fn save(&self, name: &str, text: Option<&Secret>) -> Result<(), String> {
        if text.is_some_and(|text| text.expose().len() > LOGIN_MAX) {
            return Err(format!("the login has more than {LOGIN_MAX} bytes"));
        }
        let kept = self.store().put(name, text);
        kept.map(drop).map_err(|failure| failure.message)
    }
}
