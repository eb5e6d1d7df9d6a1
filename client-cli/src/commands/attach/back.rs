//! Going back, forks, names, lists and exports, as thin calls. What a rewind did is shown by its record.

use std::path::Path;

use client::session::{ExportError, export_format};
use client::{CallError, transcript};
use proto::methods::{SessionCheckpoints, SessionFork, SessionReload, SessionRewind};
use proto::params::history::{ForkParams, RewindParams, TurnCheckpoint, What};
use proto::params::reload::ReloadParams;
use proto::params::session::OneParams;
use proto::record::RewoundResult;
use proto::{ErrorName, RequestId, SessionId, SessionOptions};

use super::Attached;
use crate::exit::Error;
use crate::messages::talk::Msg;
use crate::messages::{language, translated};
use crate::output;
use crate::pieces::{Piece, Tone};

/// Files of a turn that are named; of more there is only the number.
const FILES: usize = 3;

impl Attached {
    /// Hides the conversation, once it was said twice.
    pub(super) async fn clear(&mut self, sure: bool) -> Result<(), Error> {
        if !sure {
            self.note(say!(Msg::ClearMeans))?;
            return self.note(say!(Msg::ClearHow));
        }
        self.rewind(0, What::Conversation).await
    }

    /// Has the session read its instruction files again; what that costs is said first.
    pub(super) async fn reload(&mut self, sure: bool) -> Result<(), Error> {
        let params = ReloadParams {
            session: self.session.clone(),
            confirm: sure,
            request_id: Some(RequestId::new()),
        };
        match self.client.call::<SessionReload>(&params).await {
            Ok(done) => {
                let lines = transcript::words::reloaded(language(), &done);
                lines.iter().try_for_each(|line| self.note(line))
            }
            Err(CallError::Failure(failure)) if failure.name == ErrorName::ConfirmNeeded => {
                self.note(&translated(&failure.message))?;
                self.note(say!(Msg::ReloadHow))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The turns that can be gone back to.
    pub(super) async fn turns(&mut self) -> Result<(), Error> {
        let session = self.session.clone();
        let checkpoints = self
            .client
            .call::<SessionCheckpoints>(&OneParams { session })
            .await?;
        if checkpoints.turns.is_empty() {
            self.note(say!(Msg::NoRewind))?;
        }
        for turn in &checkpoints.turns {
            self.note(&words(turn))?;
            for note in &turn.notes {
                self.note(&format!("   {note}"))?;
            }
        }
        if checkpoints.undo {
            self.note(say!(Msg::RedoUndoes))?;
        }
        Ok(())
    }

    pub(super) async fn rewind(&mut self, turn: u64, what: What) -> Result<(), Error> {
        let params = RewindParams {
            session: self.session.clone(),
            to_turn: Some(turn),
            what,
            request_id: Some(RequestId::new()),
            ..RewindParams::default()
        };
        self.go_back(&params).await
    }

    /// Files as they were before the newest turn; the conversation stays.
    pub(super) async fn undo(&mut self) -> Result<(), Error> {
        let session = self.session.clone();
        let checkpoints = self
            .client
            .call::<SessionCheckpoints>(&OneParams { session })
            .await?;
        let mut newest = checkpoints.turns.iter().rev();
        let Some(last) = newest.next() else {
            return self.note(say!(Msg::NoUndo));
        };
        for note in &last.notes {
            self.note(note)?;
        }
        let before = newest.next().map_or(0, |turn| turn.turn);
        self.rewind(before, What::Code).await
    }

    pub(super) async fn redo(&mut self) -> Result<(), Error> {
        let params = RewindParams {
            session: self.session.clone(),
            undo: true,
            request_id: Some(RequestId::new()),
            ..RewindParams::default()
        };
        self.go_back(&params).await
    }

    async fn go_back(&mut self, params: &RewindParams) -> Result<(), Error> {
        let done = self.client.call::<SessionRewind>(params).await?;
        for note in &done.notes {
            self.note(note)?;
        }
        let of = |result: &RewoundResult| done.files.iter().any(|file| file.result == *result);
        if of(&RewoundResult::ChangedSince) {
            let hint = say!(Msg::RewindForce, self.session, again(params));
            self.note(&hint)?;
        }
        if params.what == What::Code && !params.undo && !of(&RewoundResult::Restored) {
            self.note(say!(Msg::NoFiles))?;
        }
        Ok(())
    }

    pub(super) async fn fork(&mut self, name: Option<String>) -> Result<(), Error> {
        let params = ForkParams {
            kind: None,
            ephemeral: false,
            session: self.session.clone(),
            fork: SessionId::new(),
            at_turn: None,
            name,
        };
        let forked = self.client.call::<SessionFork>(&params).await?;
        let (pid, turn) = (forked.pid, forked.at_turn);
        self.note(&say!(Msg::Forked, pid, turn))
    }

    pub(super) async fn rename(&mut self, name: String) -> Result<(), Error> {
        let options = SessionOptions {
            name: Some(name.clone()),
            ..SessionOptions::default()
        };
        self.client.set(&self.session, options).await?;
        self.note(&say!(Msg::Renamed, name))
    }

    pub(super) fn todos(&mut self) -> Result<(), Error> {
        let todos = self.transcript.todos().to_vec();
        if todos.is_empty() {
            return self.note(say!(Msg::TodosEmpty));
        }
        output::part(&self.painter.paint(&Piece::Todos { todos }))
    }

    /// Writes the session to a new file that nobody else may read.
    pub(super) async fn export(&mut self, file: &str) -> Result<(), Error> {
        let path = Path::new(file);
        let export = self
            .client
            .export_to_file(&self.session, export_format(path), path);
        match export.await {
            Ok(bytes) => self.note(&say!(Msg::Written, file, bytes)),
            Err(ExportError::File(error)) => self.tell(Tone::Warning, &format!("{file}: {error}")),
            Err(ExportError::Call(error)) => Err(error.into()),
        }
    }

    /// A line of a question.
    pub(super) fn ask(&mut self, line: &str) -> Result<(), Error> {
        let piece = Piece::Block {
            tone: Tone::Approval,
            text: line.to_owned(),
        };
        output::part(&self.painter.paint(&piece))
    }
}

/// The words of the command line that say the same.
fn again(params: &RewindParams) -> String {
    let turn = match params.to_turn {
        Some(turn) if !params.undo => turn.to_string(),
        Some(_) | None => return "--undo".to_owned(),
    };
    match params.what {
        What::Both => turn,
        What::Code => format!("{turn} --code"),
        What::Conversation => format!("{turn} --conversation"),
    }
}

/// A turn that can be gone back to, on a line.
fn words(turn: &TurnCheckpoint) -> String {
    let files: Vec<&str> = turn.files.iter().take(FILES).map(String::as_str).collect();
    let files = match turn.files.len() {
        0 => String::new(),
        count if count <= FILES => say!(Msg::ChangedNames, files.join(", ")),
        count => say!(Msg::ChangedNamesMore, files.join(", "), count - FILES),
    };
    format!("{:>4}  {}{files}", turn.turn, turn.prompt)
}
