//! Calls about a session that every client makes.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use proto::methods::{SessionGet, SessionPrompt, SessionSet};
use proto::params::history::ExportFormat;
use proto::params::session::{
    CreateParams, OneParams, PromptOutput, PromptParams, SessionSummary, SetParams,
};
use proto::state::{Kind, OnAsk};
use proto::{RequestId, SessionId, SessionOptions};

use crate::{CallError, Client, environment};

/// Why a session was not written to a file.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    File(#[from] std::io::Error),
}

/// The format of an export, by the name of its file.
#[must_use]
pub fn export_format(file: &Path) -> ExportFormat {
    match file.extension() {
        Some(extension) if extension == "jsonl" => ExportFormat::Jsonl,
        _ => ExportFormat::Markdown,
    }
}

impl Client {
    /// One session in short.
    ///
    /// # Errors
    /// There is no such session, or the daemon is gone.
    pub async fn session(&self, session: &str) -> Result<SessionSummary, CallError> {
        let session = session.to_owned();
        self.call::<SessionGet>(&OneParams { session }).await
    }

    /// Parameters of a new session with the environment of this process, without its keys.
    pub async fn new_session(&self, cwd: String, options: SessionOptions) -> CreateParams {
        let own = environment::own(&self.hello().await);
        CreateParams {
            session: SessionId::new(),
            cwd,
            env: own.shared,
            env_held: own.held,
            request_id: Some(RequestId::new()),
            options,
            ..CreateParams::default()
        }
    }

    /// Changes options of a session.
    ///
    /// # Errors
    /// The daemon refuses, or is gone.
    pub async fn set(
        &self,
        session: &str,
        options: SessionOptions,
    ) -> Result<SessionSummary, CallError> {
        let params = SetParams::new(session.to_owned(), options);
        self.call::<SessionSet>(&params).await
    }

    /// Makes a run's session interactive: it does not exit after each turn, and its questions wait.
    ///
    /// # Errors
    /// The daemon refuses, or is gone.
    pub async fn take_over(&self, session: &str) -> Result<(), CallError> {
        let options = SessionOptions {
            kind: Some(Kind::Interactive),
            on_ask: Some(OnAsk::Wait),
            ..SessionOptions::default()
        };
        self.set(session, options).await.map(drop)
    }

    /// Gives a session a prompt, with the keys of this process. `renew`: also with variables that the session lost and
    /// this process has.
    ///
    /// # Errors
    /// The daemon refuses, or is gone.
    pub async fn prompt(
        &self,
        params: PromptParams,
        renew: bool,
    ) -> Result<PromptOutput, CallError> {
        let env = match renew {
            true => environment::lost(self, &params.session).await,
            false => params.env,
        };
        let params = PromptParams {
            credentials: self.credentials().await,
            env,
            request_id: params.request_id.or_else(|| Some(RequestId::new())),
            ..params
        };
        self.call::<SessionPrompt>(&params).await
    }

    /// Writes a session to a new file that nobody else may read. Returns its size.
    ///
    /// # Errors
    /// The file exists or cannot be written; as [`Client::export`].
    pub async fn export_to_file(
        &self,
        session: &str,
        format: ExportFormat,
        file: &Path,
    ) -> Result<u64, ExportError> {
        let mut out: Option<File> = None;
        let mut written = 0;
        let export = self.export(session, format, |piece: &str| {
            // Created with the first piece: a session that cannot be read leaves no empty file.
            let opened = match out.take() {
                Some(open) => open,
                None => create_new(file)?,
            };
            out.insert(opened).write_all(piece.as_bytes())?;
            written += piece.len() as u64;
            Ok::<(), ExportError>(())
        });
        export.await?;
        Ok(written)
    }
}

fn create_new(file: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600).open(file)
}

#[cfg(test)]
mod tests;
