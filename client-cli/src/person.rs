//! A person at the terminal who is asked things one after another: lines, keys that are not shown, yes or no.
//!
//! A thread reads only while something is asked: no line is taken from whoever reads the terminal later. Ctrl-C and the
//! like end the asking by an error, with the terminal as it was.

use std::io::{self, BufRead, IsTerminal};

use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::oneshot;

use crate::exit::{self, Error};
use crate::messages::common::Msg;
use crate::output;
use crate::signals::{OsSignal, Signals};
use crate::terminal::EchoOffGuard;

/// Whoever sits there.
pub struct TerminalUser {
    signals: Signals,
    /// The message when they stop it: how far it got.
    stopped: &'static str,
}

impl TerminalUser {
    /// From now on Ctrl-C does not end the program by itself.
    ///
    /// # Errors
    /// Signals cannot be listened to.
    pub fn new(stopped: &'static str) -> Result<Self, Error> {
        Ok(Self {
            signals: Signals::listen()?,
            stopped,
        })
    }

    /// The next line that is typed after `prompt`, without blanks around it. Input typed before the prompt appeared does
    /// not count.
    ///
    /// # Errors
    /// The person leaves: by a signal, or the end of the input.
    pub async fn line(&mut self, prompt: &str) -> Result<String, Error> {
        self.asked(prompt, false).await
    }

    /// The same, not shown while it is typed.
    ///
    /// # Errors
    /// As [`TerminalUser::line`]; the terminal cannot hide it.
    pub async fn hidden(&mut self, prompt: &str) -> Result<String, Error> {
        self.asked(prompt, true).await
    }

    /// Yes or no; an empty line is `default`.
    ///
    /// # Errors
    /// As [`TerminalUser::line`].
    pub async fn agrees(&mut self, question: &str, default: bool) -> Result<bool, Error> {
        let choice = if default { "[Y/n]" } else { "[y/N]" };
        loop {
            let line = self.line(&format!("{question} {choice} ")).await?;
            match line.to_ascii_lowercase().as_str() {
                "" => return Ok(default),
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                _ => output::progress(say!(Msg::YesOrNo)),
            }
        }
    }

    /// Waits for something of the daemon, unless the person leaves.
    ///
    /// # Errors
    /// A signal came; or the awaited work failed.
    pub async fn wait<T, E: Into<Error>>(
        &mut self,
        future: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Error> {
        tokio::select! {
            done = future => done.map_err(Into::into),
            arrived = self.signals.next() => Err(self.left(arrived)),
        }
    }

    async fn asked(&mut self, prompt: &str, hidden: bool) -> Result<String, Error> {
        let guard = match hidden {
            true => {
                Some(EchoOffGuard::start().map_err(|source| Error::io(say!(Msg::DoHide), source))?)
            }
            false => None,
        };
        if io::stdin().is_terminal() {
            // If it fails, input typed ahead is taken for the answer: it can be seen and asked again.
            let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        }
        output::question(prompt);
        let (sender, line) = oneshot::channel();
        // It blocks in `read` for ever if nobody types; the end of the process ends it.
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = io::stdin().lock().read_line(&mut line);
            // Nobody waits any more: the person has left.
            let _ = sender.send(read.map(|count| (count > 0).then_some(line)));
        });
        let typed = tokio::select! {
            typed = line => typed,
            arrived = self.signals.next() => {
                drop(guard);
                output::progress("");
                return Err(self.left(arrived));
            }
        };
        drop(guard);
        match typed {
            Ok(Ok(Some(line))) => Ok(line.trim().to_owned()),
            Ok(Err(source)) => Err(Error::io(say!(Msg::DoTyped), source)),
            // The end of the input.
            Ok(Ok(None)) | Err(_) => {
                output::progress("");
                Err(self.left(OsSignal::Int))
            }
        }
    }

    fn left(&self, arrived: OsSignal) -> Error {
        Error::Stopped {
            what: self.stopped.to_owned(),
            code: match arrived {
                OsSignal::Int => exit::INTERRUPTED,
                OsSignal::Term | OsSignal::Hup => exit::TERMINATED,
            },
        }
    }
}
