//! The task of one command in the background: drains it, answers looks, stops it, reports its end.
//!
//! Owns the command and its output. Ends when its row is gone.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use contract::tool::Shells as Session;
use futures::FutureExt;
use proto::Pid;
use proto::record::ChildExited;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::{NewOutput, RunningSlot};
use crate::bash::{TAIL_CHARS, TOKENS_MAX};
use crate::capture::Capture;
use crate::run::{CommandEnd, GRACE_MS, RunEvent, RunningCommand, StopCause};
use crate::truncate;

/// Clean text kept of the beginning and of the end once the command has ended: as much as fits one result.
const END_MAX_ENDED: usize = 32 * 1024;

/// A request to a keeper.
pub(super) enum KeeperRequest {
    Look {
        whole_lines: bool,
        reply: oneshot::Sender<NewOutput>,
    },
    Stop,
}

pub(super) struct Keeper {
    pub number: Pid,
    pub run: RunningCommand,
    pub capture: Capture,
    /// A result has named the file that holds all of the output.
    pub named: bool,
    pub slot: RunningSlot,
    pub inbox: mpsc::Receiver<KeeperRequest>,
    /// Set when the end has been reported.
    pub ended: watch::Sender<Option<Instant>>,
    pub session: Arc<dyn Session>,
}

impl Keeper {
    pub(super) async fn keep(mut self) {
        let watched = AssertUnwindSafe(self.until_ended()).catch_unwind();
        let end = match watched.await {
            Ok(end) => end,
            // Without an end it would run for ever, as far as people and the log can see.
            Err(_) => self.run.give_up(),
        };
        let Self {
            number,
            run,
            mut capture,
            mut named,
            slot,
            mut inbox,
            ended,
            session,
        } = self;
        // Where the end was not reported, this kills whatever is left.
        drop(run);
        session.exited(ChildExited {
            pid: number,
            code: end.exit.and_then(|exit| exit.code),
            signal: end.exit.and_then(|exit| exit.signal),
            cause: end.cause(),
            result: None,
        });
        drop((slot, session));
        capture.finish().await;
        capture.shrink(END_MAX_ENDED);
        ended.send_replace(Some(Instant::now()));
        while let Some(ask) = inbox.recv().await {
            match ask {
                KeeperRequest::Look { reply, .. } => {
                    look(&mut capture, &mut named, CommandState::Ended(end), reply).await;
                    // A file that was made only for this look is not held open.
                    capture.finish().await;
                }
                KeeperRequest::Stop => {}
            }
        }
        if !named {
            capture.discard_spill().await;
        }
    }

    async fn until_ended(&mut self) -> CommandEnd {
        let mut has_row = true;
        loop {
            // Cancel-safe: both say so of themselves. In no order, so that a flood delays no question.
            tokio::select! {
                step = self.run.next() => match step {
                    RunEvent::Output(bytes) => {
                        self.capture.push(&bytes).await;
                        if self.capture.too_much() && !self.run.is_stopped() {
                            self.run.stop(StopCause::Output, GRACE_MS);
                        }
                    }
                    RunEvent::Quarantined(items) => self.session.quarantined(items),
                    RunEvent::Ended(end) => return end,
                },
                ask = self.inbox.recv(), if has_row => match ask {
                    Some(KeeperRequest::Look { whole_lines, reply }) => {
                        if !whole_lines {
                            self.capture.take_begun().await;
                        }
                        let state = CommandState::Runs(self.run.elapsed());
                        look(&mut self.capture, &mut self.named, state, reply).await;
                    }
                    Some(KeeperRequest::Stop) => self.run.stop(StopCause::Killed, GRACE_MS),
                    None => {
                        has_row = false;
                        self.run.stop(StopCause::Unloaded, 0);
                    }
                },
            }
        }
    }
}

/// The status of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CommandState {
    /// For how long.
    Runs(std::time::Duration),
    Ended(CommandEnd),
}

/// Answers a look. What nobody waits for any more is kept for the next.
async fn look(
    capture: &mut Capture,
    named: &mut bool,
    state: CommandState,
    reply: oneshot::Sender<NewOutput>,
) {
    let is_cut = truncate::cut(capture.pieces(), TOKENS_MAX, "").cut;
    let kept = if is_cut || !capture.fits(TAIL_CHARS) {
        let kept = capture.keep_spill().await;
        *named |= kept.file().is_some();
        Some(kept)
    } else {
        None
    };
    // The wait for the disk may have been too long for them.
    if reply.is_closed() {
        return;
    }
    let look = NewOutput {
        state,
        output_bytes: capture.bytes(),
        output_lines: capture.lines(),
        text: capture.take(),
        kept,
    };
    // They left just now: their call was dropped with its turn, and nobody reads its result.
    let _ = reply.send(look);
}
