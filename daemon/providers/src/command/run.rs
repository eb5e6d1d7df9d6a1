//! One process for one request: started, fed, read line by line, and killed with the request.

use std::collections::VecDeque;
use std::sync::Arc;

use contract::provider::{ErrorKind, Part, ProviderError};
use contract::spawn::ChildExit;
use contract::{Child, ChildEvent, Command, Request, STDIN_MAX, Spawn, SpawnError};
use futures::StreamExt as _;
use tokio::time::Instant;

use super::stream::Collector;
use crate::deadline;
use crate::failure::ErrorContext;
use crate::options::Timeouts;
use crate::part_batch::PartBatch;
use crate::read::Flow;

/// The longest line in bytes.
const LINE_MAX: usize = 8 << 20;
/// How many of the last bytes of standard error are kept. Programs report their errors at the end.
const STDERR_MAX: usize = 2_000;

/// A request in progress. Dropping it kills the program and all its processes.
pub(super) struct Run {
    phase: Phase,
    collect: Collector,
    queue: VecDeque<Result<Part, ProviderError>>,
    timeouts: Timeouts,
    site: ErrorContext,
    /// An incomplete line.
    line: Vec<u8>,
    stderr: VecDeque<u8>,
    /// When it was started or last wrote output.
    heard: Instant,
    has_said: bool,
}

enum Phase {
    Starting(Box<(Arc<dyn Spawn>, Vec<String>, Request)>),
    Running(Child),
    Over,
}

impl Run {
    pub(super) fn new(
        spawn: Arc<dyn Spawn>,
        argv: Vec<String>,
        timeouts: Timeouts,
        site: ErrorContext,
        request: Request,
    ) -> Self {
        Self {
            collect: Collector::new(site.clone(), request.answered),
            phase: Phase::Starting(Box::new((spawn, argv, request))),
            queue: VecDeque::new(),
            timeouts,
            site,
            line: Vec::new(),
            stderr: VecDeque::new(),
            heard: Instant::now(),
            has_said: false,
        }
    }

    /// The next part, or `None` after the last one or the first error.
    pub(super) async fn next(&mut self) -> Option<Result<Part, ProviderError>> {
        loop {
            if let Some(part) = self.queue.pop_front() {
                return Some(part);
            }
            match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Starting(what) => {
                    let (spawn, argv, request) = *what;
                    match self.start(spawn, argv, request).await {
                        Ok(child) => self.phase = Phase::Running(child),
                        Err(error) => self.queue.push_back(Err(error)),
                    }
                }
                Phase::Running(child) => self.listen(child).await,
                Phase::Over => return None,
            }
        }
    }

    async fn start(
        &mut self,
        spawn: Arc<dyn Spawn>,
        argv: Vec<String>,
        request: Request,
    ) -> Result<Child, ProviderError> {
        if request.body.len() > STDIN_MAX {
            let what = format!("takes at most {STDIN_MAX} bytes, and the request is longer");
            let hint =
                "the conversation is too long for a `command` provider: compact it".to_owned();
            return Err(self.site.error(&what, hint, ErrorKind::ContextLength, None));
        }
        let mut env = request.ground.env.as_ref().clone();
        if let (Some(variable), Some(key)) = (&self.site.entry.key_env, &request.key) {
            env.retain(|(name, _)| name != variable);
            env.push((variable.clone(), key.expose().trim().to_owned()));
        }
        let command = Command {
            argv,
            cwd: request.ground.cwd.clone(),
            env,
            title: format!("provider: {}", self.site.entry.name),
            number: None,
            // The user's own program needs the network and its login files, so it is not sandboxed.
            sandbox: None,
            stdin: contract::Stdin::Text(String::from_utf8_lossy(&request.body).into_owned()),
            merge_stderr: false,
        };
        let starting = spawn.spawn(request.ground.session, command);
        let due = self.heard + self.timeouts.first_byte;
        match deadline::until(due, starting).await {
            Ok(Ok(child)) => Ok(child),
            Ok(Err(error @ SpawnError::Start { .. })) => Err(self.site.permanent(
                &format!("cannot be started: {error}"),
                "check `command` of this provider, and that the program is on `PATH`",
            )),
            Ok(Err(error @ SpawnError::Stopping)) => {
                Err(self.site.transient(&format!("cannot be started: {error}")))
            }
            Err(_) => Err(self.site.silent("did not start", self.timeouts.first_byte)),
        }
    }

    /// Waits for parts or for the end.
    async fn listen(&mut self, mut child: Child) {
        let (limit, what) = match self.has_said {
            false => (self.timeouts.first_byte, "printed nothing"),
            true => (self.timeouts.idle, "was silent in the middle of its answer"),
        };
        let due = self.heard + limit;
        let Ok(event) = deadline::until(due, child.events.next()).await else {
            let error = self.site.silent(what, limit);
            return self.fail(error);
        };
        let mut batch = PartBatch::default();
        let outcome = match event {
            Some(ChildEvent::Stdout(bytes)) => {
                (self.heard, self.has_said) = (Instant::now(), true);
                self.take(&bytes, &mut batch)
            }
            Some(ChildEvent::Stderr(bytes)) => {
                self.stderr.extend(bytes);
                let excess = self.stderr.len().saturating_sub(STDERR_MAX);
                self.stderr.drain(..excess);
                Ok(Flow::Nothing)
            }
            // Only commands in a sandbox have it.
            Some(ChildEvent::Quarantined(_)) => Ok(Flow::Nothing),
            Some(ChildEvent::Exited(exit)) => self.exited(Some(exit), &mut batch),
            None => self.exited(None, &mut batch),
        };
        if let Ok(Flow::Last) = outcome {
            let _ = self.collect.0.finish(&mut batch);
        }
        self.queue.extend(batch.into_parts().map(Ok));
        match outcome {
            // The answer is complete. Dropping `child` ends the program.
            Ok(Flow::Last) => {}
            Ok(Flow::More | Flow::Nothing) => self.phase = Phase::Running(child),
            Err(error) => self.fail(error),
        }
    }

    /// Handles bytes of its output.
    fn take(&mut self, mut bytes: &[u8], batch: &mut PartBatch) -> Result<Flow, ProviderError> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.grow(&bytes[..end])?;
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            let flow = self.collect.line(&String::from_utf8_lossy(&line), batch)?;
            if flow == Flow::Last {
                return Ok(flow);
            }
        }
        self.grow(bytes)?;
        Ok(Flow::Nothing)
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<(), ProviderError> {
        if self.line.len() + bytes.len() > LINE_MAX {
            return Err(self.site.permanent(
                "wrote a line longer than any event",
                "the program must write one JSON event per line: see docs/command-provider.md",
            ));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Handles the exit. The last line may lack its line end.
    fn exited(
        &mut self,
        exit: Option<ChildExit>,
        batch: &mut PartBatch,
    ) -> Result<Flow, ProviderError> {
        let line = std::mem::take(&mut self.line);
        let last = self.collect.line(&String::from_utf8_lossy(&line), batch);
        if matches!(last, Ok(Flow::Last)) {
            return last;
        }
        let code = exit.and_then(|exit| exit.code);
        let how = match (code, exit.and_then(|exit| exit.signal)) {
            (Some(code), _) => format!("ended with exit code {code}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "ended for an unknown reason,".to_owned(),
        };
        let mut stderr = self.stderr.make_contiguous();
        // If the start is lost, begins at the next line.
        if stderr.len() == STDERR_MAX
            && let Some(end) = stderr.iter().position(|byte| *byte == b'\n')
        {
            stderr = &mut stderr[end + 1..];
        }
        let stderr = String::from_utf8_lossy(stderr).trim().to_owned();
        let tail: String = match stderr.char_indices().rev().nth(299) {
            Some((start, _)) => format!("…{}", &stderr[start..]),
            None => stderr,
        };
        let said = match tail.is_empty() {
            true => String::new(),
            false => format!(": {tail}"),
        };
        let what = format!("{how} before its answer was complete{said}");
        Err(match code {
            // The exit code reports a failure. The program can mark a temporary one with an event.
            Some(1..) => self
                .site
                .permanent(&what, "check the program's output, or run it by hand"),
            _ => self.site.transient(&what),
        })
    }

    fn fail(&mut self, error: ProviderError) {
        let reported = self.collect.0.usage;
        self.queue
            .extend(reported.map(|usage| Ok(Part::Usage(usage))));
        self.queue.push_back(Err(error));
    }
}
