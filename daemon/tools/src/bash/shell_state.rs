//! The shell state around one command: the state that it starts with, and the changes that are kept.

use std::sync::Arc;

use contract::CallContext;

use super::ShellStateFile;
use crate::command;
use crate::lasting::{self, CommandStart, Environment};
use crate::memory::Memory;
use crate::run::CommandEnd;

pub(super) struct ShellState {
    memory: Option<Arc<Memory>>,
    /// The session's own environment.
    base: Environment,
    pub(super) start: CommandStart,
    /// `None`: the command changes nothing of it.
    pub(super) back: Option<ShellStateFile>,
    /// Lines for the model, at the end of the result.
    notes: Vec<String>,
}

impl ShellState {
    /// For a command that cannot change the state: one in the background, or a stateless line.
    pub(super) fn begin_only(context: &CallContext) -> Self {
        let base = command::environment(&context.env);
        let memory = Memory::of(&context.memory);
        let dirs = memory
            .as_ref()
            .map(|memory| memory.workspace().writable_dirs(&[]));
        let shell = command::shell(
            base.get("PATH").map_or("", String::as_str),
            &dirs.unwrap_or_default(),
        );
        let (cwd, mut env, note) = match &memory {
            Some(memory) => memory.shell_start(&context.call, &base),
            None => (None, base.clone(), None),
        };
        if let Some(path) = &context.path {
            env.insert("PATH".to_owned(), path.clone());
        }
        let start = CommandStart {
            shell,
            cwd: cwd.unwrap_or_else(|| context.cwd.clone()),
            env,
            sandbox: context.sandbox.clone(),
        };
        Self {
            memory,
            base,
            start,
            back: None,
            notes: note.into_iter().collect(),
        }
    }

    /// For a command whose end is read back, if this line may change something.
    pub(super) async fn begin(line: &str, context: &CallContext) -> Self {
        let (line, context) = (line.to_owned(), context.clone());
        let begun = tokio::task::spawn_blocking(move || {
            let mut state = Self::begin_only(&context);
            let is_stateless = command::is_stateless(&line, &state.start.env);
            if state.memory.is_some() && !is_stateless {
                // The shell writes it, so it must be writable in the sandbox.
                let within = context.sandbox.as_ref().map(|sandbox| &sandbox.temp);
                let dir = within.unwrap_or(&context.spill_dir);
                match ShellStateFile::make(dir) {
                    Ok(back) => state.back = Some(back),
                    Err(error) => state.notes.push(format!(
                        "directory and variables do not last: make a file in {}: {error}",
                        dir.display()
                    )),
                }
            }
            state
        });
        match begun.await {
            Ok(state) => state,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }

    /// Applies the state that the command left, if it ended by itself. `lasts`: false if the command may run once more.
    /// Returns lines for the end of the result.
    pub(super) async fn end(
        self,
        end: &CommandEnd,
        lasts: bool,
        context: &CallContext,
    ) -> Vec<String> {
        let finished = end.stopped.is_none() && end.exit.is_some_and(|exit| exit.code.is_some());
        let home = context.cwd.clone();
        let ended = tokio::task::spawn_blocking(move || {
            let Self {
                memory,
                base,
                start,
                back,
                mut notes,
            } = self;
            let Some(memory) = memory else {
                return notes;
            };
            let left = back.filter(|_| finished).and_then(|back| back.read().ok());
            match left.as_deref().and_then(lasting::read) {
                Some(left) if lasts => notes.extend(memory.shell_ended(&base, &start, &left)),
                Some(left) if memory.shell_would_change(&base, &start, &left) => {
                    notes.push("directory and variables stay as they were before it".to_owned());
                }
                Some(_) | None => {}
            }
            let cwd = memory.shell_cwd().filter(|cwd| *cwd != home);
            notes.extend(cwd.map(|cwd| format!("in {}", lasting::shown(memory.workspace(), &cwd))));
            notes
        });
        let notes = ended.await.unwrap_or_default();
        notes.into_iter().map(|line| format!("({line})")).collect()
    }
}

#[cfg(test)]
mod tests;
