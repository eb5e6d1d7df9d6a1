//! A run from prompt to end: make or find the session, give it the prompt, watch until its turn is over.

use std::time::Duration;

use client::{Client, Content, DecodedEvent, Follow, Followed, Heard, Start};
use proto::live::Live;
use proto::methods::SessionInterrupt;
use proto::params::session::OneParams;
use proto::state::OnAsk;
use proto::{Body, PromptId, Seq, SessionId};
use serde_json::json;
use tokio::time::Instant;

use super::anew::Anew;
use super::question::Questions;
use super::report::Report;
use super::{Args, Format, begin, code, left, prompt};
use crate::dialog::Dialog;
use crate::ended::unwritable;
use crate::exit::{self, Error};
use crate::messages::run::Msg;
use crate::paint::Painter;
use crate::pieces::Transcript;
use crate::signals::{Arrived, Signals};
use crate::{ended, output, reach, terminal, text};

/// A second Ctrl-C within this time leaves at once.
const TWICE: Duration = Duration::from_secs(2);

/// How long the daemon may take to end a turn whose time is up, or that was told to.
const GRACE: Duration = Duration::from_secs(10);

/// How long a log that cannot be written is waited for.
const BEARS: Duration = ended::BEARS;

/// Lines of a tool's output that progress shows.
const OUTPUT_LINES: usize = 8;

/// Does the run; returns its exit code, having printed its result.
pub async fn drive(args: Args, report: &mut Report) -> Result<u8, Error> {
    let hint = say!(Msg::GivePrompt);
    if args.fork && args.session.is_none() && !args.continue_last {
        return Err(Error::usage(say!(Msg::ForkNeeds), say!(Msg::ForkNeedsHint)));
    }
    let prompt = prompt::gather(&args.prompt, hint)?;
    let cwd = reach::cwd(args.cwd.as_deref())?;
    let cwd = reach::utf8(&cwd)?;
    let interactive = terminal::is_interactive() && !args.detach;
    // From here on, so that an early Ctrl-C does not leave a turn behind that nobody watches.
    let mut signals = Signals::listen()?;
    let connecting = reach::with("run", |options| {
        options.interactive = interactive;
        options.start = Start::Always;
    });
    let client = tokio::select! {
        client = connecting => client?,
        arrived = signals.next() => return leave(arrived, report, args.output_format),
    };
    let mut early = None;
    let given = {
        let giving = async {
            if args.session.is_some() || args.continue_last {
                begin::resume(&client, &args, &cwd, prompt, interactive, report).await
            } else {
                begin::create(&client, &args, cwd, prompt, interactive, report).await
            }
        };
        tokio::pin!(giving);
        loop {
            tokio::select! {
                given = &mut giving => break Some(given?),
                // The first one waits until there is a turn to be stopped; a second one does not.
                arrived = signals.next() => if early.replace(arrived).is_some() {
                    break None;
                }
            }
        }
    };
    let Some(given) = given else {
        return leave(Arrived::Int, report, args.output_format);
    };
    if args.detach {
        detached(report, args.output_format)?;
        return Ok(0);
    }
    let options = args.options.options();
    let run = Run {
        format: args.output_format,
        park: options.on_ask == Some(OnAsk::Park),
        session: given.session,
        prompt_id: given.prompt_id,
        from: given.seq,
        turn: None,
        ended: None,
        questions: interactive.then(Questions::default),
        transcript: Transcript::default(),
        painter: Painter::new(output::colour(&std::io::stderr()), OUTPUT_LINES),
        client,
    };
    let heard = (signals, early);
    let pid = report
        .pid
        .map_or_else(|| given.session.to_string(), |pid| pid.to_string());
    let watched = run
        .watch(given.follow, heard, options.timeout_ms, report)
        .await;
    let code = watched.map_err(|error| error.of_session(pid))?;
    if args.output_format == Format::Text {
        print_answer(report, code)?;
    }
    report.print(args.output_format)?;
    Ok(code)
}

/// Ends before there is a turn.
fn leave(arrived: Arrived, report: &mut Report, format: Format) -> Result<u8, Error> {
    let code = match arrived {
        Arrived::Int => exit::INTERRUPTED,
        Arrived::Term | Arrived::Hup => exit::TERMINATED,
    };
    report.left(left(code));
    report.print(format)?;
    Ok(code)
}

/// A signal that came early, else the next one. Cancel-safe: what is taken is returned at once.
async fn heard(signals: &mut Signals, early: &mut Option<Arrived>) -> Arrived {
    match early.take() {
        Some(arrived) => arrived,
        None => signals.next().await,
    }
}

fn detached(report: &Report, format: Format) -> Result<(), Error> {
    let (session, pid) = (report.session, report.pid);
    match format {
        Format::Text => output::line(&pid.map_or_else(String::new, |pid| pid.to_string())),
        Format::Json => output::json(&json!({"session": session, "pid": pid})),
        Format::Jsonl => output::json(&json!({"kind": "result", "session": session, "pid": pid})),
    }
}

/// The answer on standard output; where the run was parked, the session to come back to.
fn print_answer(report: &Report, code: u8) -> Result<(), Error> {
    if code == exit::PARKED {
        let pid = report.pid.map_or_else(String::new, |pid| pid.to_string());
        output::progress(say!(Msg::WaitsInbox));
        return output::line(&pid);
    }
    if report.text.is_empty() {
        return Ok(());
    }
    // A file or program gets the answer byte for byte; a terminal must not obey it.
    let answer = if std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        text::clean(&report.text)
    } else {
        report.text.clone()
    };
    output::line(answer.strip_suffix('\n').unwrap_or(&answer))
}

/// A run that is being watched.
struct Run {
    client: Client,
    format: Format,
    /// Leave when a person is needed.
    park: bool,
    session: SessionId,
    prompt_id: PromptId,
    from: Seq,
    /// The turn that the prompt became.
    turn: Option<u64>,
    /// It has ended, with this code, and hooks are notified of it before the run is over.
    ended: Option<u8>,
    questions: Option<Questions>,
    transcript: Transcript,
    painter: Painter,
}

impl Run {
    /// Watches until the turn has ended, or we leave.
    async fn watch(
        mut self,
        follow: Option<Follow>,
        (mut signals, mut early): (Signals, Option<Arrived>),
        timeout: Option<u64>,
        report: &mut Report,
    ) -> Result<u8, Error> {
        let Some(mut follow) = follow else {
            return Ok(0);
        };
        // The daemon ends the turn when its time is up. Should it not, we do not wait for ever.
        let mut limit = timeout.map(|ms| {
            (
                Instant::now() + Duration::from_millis(ms) + GRACE,
                exit::TIMEOUT,
            )
        });
        let mut interrupted: Option<Instant> = None;
        let mut anew = Anew::default();
        follow.bear(BEARS);
        loop {
            tokio::select! {
                heard = follow.heard() => if let Some(mut event) = anew.take(self.hear(heard?))? {
                    if self.is_our_end(&event) && ended::is_untold(&event) {
                        *event = ended::told(&self.client, &self.session.to_string(), &event).await?;
                    }
                    if let Some(code) = self.take(*event, report)? {
                        let asked = limit.filter(|(_, asked)| *asked == exit::TERMINATED);
                        return Ok(asked.map_or(code, |(_, asked)| asked));
                    }
                },
                line = typed(&mut self.questions) => if let Some(questions) = &mut self.questions {
                    questions.answer(&self.client, &line).await?;
                },
                arrived = heard(&mut signals, &mut early) => match arrived {
                    Arrived::Hup => {
                        report.left("detached");
                        return Ok(0);
                    }
                    Arrived::Int if interrupted.is_some_and(|at| at.elapsed() < TWICE) => {
                        report.left(left(exit::INTERRUPTED));
                        return Ok(exit::INTERRUPTED);
                    }
                    Arrived::Int => {
                        interrupted = Some(Instant::now());
                        output::progress(say!(Msg::Interrupting));
                        self.interrupt();
                    }
                    Arrived::Term => {
                        limit = Some((Instant::now() + TWICE, exit::TERMINATED));
                        self.interrupt();
                    }
                },
                code = reached(limit) => {
                    self.interrupt();
                    if let Some(code) = self.ended {
                        return Ok(code);
                    }
                    // Let the request leave before we do.
                    tokio::task::yield_now().await;
                    report.left(left(code));
                    return Ok(code);
                }
            }
        }
    }

    /// Says to a person why nothing comes; leaves what does.
    fn hear(&mut self, heard: Heard) -> Option<Followed> {
        // A break is of interest to who looks on while it lasts.
        let seen = std::io::IsTerminal::is_terminal(&std::io::stderr());
        let (words, followed) = match heard {
            Heard::Followed(Followed::Event(event)) => return Some(Followed::Event(event)),
            Heard::Followed(Followed::Reconnected) => (
                seen.then(|| say!(Msg::Reconnected).to_owned()),
                Some(Followed::Reconnected),
            ),
            Heard::Lost => (seen.then(|| say!(Msg::Lost).to_owned()), None),
            Heard::Unwritable(failure) => (Some(format!("! {}", unwritable(&failure))), None),
        };
        if self.format == Format::Text
            && let Some(words) = words
        {
            output::progress_part(&self.painter.close());
            output::progress(&words);
        }
        followed
    }

    /// Asks for the turn's end; that it came is an event.
    fn interrupt(&self) {
        let client = self.client.clone();
        let params = OneParams {
            session: self.session.to_string(),
        };
        tokio::spawn(async move {
            if let Err(error) = client.call::<SessionInterrupt>(&params).await {
                exit::tell(&error.into(), false);
            }
        });
    }

    /// Whether an event ends the run, whatever it says.
    fn is_our_end(&self, event: &DecodedEvent) -> bool {
        event.seq.is_some_and(|seq| seq >= self.from)
            && match event.kind() {
                "turn.ended" => event.turn.is_some() && event.turn == self.turn,
                "session.exited" => true,
                _ => false,
            }
    }

    /// Takes an event; returns the exit code where it ends the run.
    fn take(&mut self, event: DecodedEvent, report: &mut Report) -> Result<Option<u8>, Error> {
        if event.seq.is_some_and(|seq| seq < self.from) {
            return Ok(None);
        }
        match self.format {
            Format::Jsonl => output::json(&event)?,
            Format::Text => self.show(&event),
            Format::Json => {}
        }
        let body = match event.content {
            Content::Durable(body) => body,
            Content::Live(Live::Sync(sync)) => {
                let mut open = Dialog::by_sync(&sync);
                return Ok(open.find_map(|asked| self.asked(asked, report)));
            }
            Content::Live(_) | Content::UnknownLive => return Ok(None),
        };
        Ok(match body {
            Body::TurnStarted(started) if started.prompt_id == self.prompt_id => {
                self.turn = event.turn;
                None
            }
            Body::TurnEnded(ended) if event.turn.is_some() && event.turn == self.turn => {
                let code = code(ended.exit_code());
                self.ended = ended.hooks.then_some(code);
                report.ended(ended);
                self.ended.is_none().then_some(code)
            }
            Body::SessionExited(exited) => {
                report.exited(&exited);
                Some(self.ended.unwrap_or(code(exited.exit_code)))
            }
            // What follows a turn: its hooks have run.
            Body::SessionState(_) | Body::TurnStarted(_) if self.ended.is_some() => self.ended,
            Body::PromptUnqueued(unqueued) if unqueued.prompt_id == self.prompt_id => {
                output::progress(say!(Msg::PromptRemoved));
                report.left(left(exit::INTERRUPTED));
                Some(exit::INTERRUPTED)
            }
            body => {
                if let Some((id, questions)) = Dialog::closed_by(&body).zip(self.questions.as_mut())
                {
                    questions.close(id);
                    // The next one.
                    questions.draw();
                }
                Dialog::opened_by(&body).and_then(|asked| self.asked(asked, report))
            }
        })
    }

    /// A person is asked; questions that were open when we attached are, too.
    fn asked(&mut self, asked: Dialog, report: &mut Report) -> Option<u8> {
        if self.park {
            report.left(left(exit::PARKED));
            return Some(exit::PARKED);
        }
        if let Some(questions) = &mut self.questions {
            questions.add(asked);
        }
        None
    }

    /// Progress on standard error: all but the prompt, the answer, and questions that are drawn anyway.
    fn show(&mut self, event: &DecodedEvent) {
        // Beginnings of answers: progress shows whole ones.
        if event.kind() == "sync" {
            return;
        }
        let pieces = self.transcript.fold(event);
        let skip = match event.body() {
            Some(Body::Assistant(message)) => message.calls.is_empty(),
            Some(Body::User(message)) => message.prompt_id == Some(self.prompt_id),
            Some(Body::SessionExited(_)) => true,
            Some(Body::InteractionOpened(_)) => self.questions.is_some(),
            _ => false,
        };
        if !skip {
            for piece in pieces {
                output::progress_part(&self.painter.paint(&piece));
            }
        }
    }
}

/// The next answer, where questions are asked here.
async fn typed(questions: &mut Option<Questions>) -> String {
    match questions {
        Some(questions) => questions.typed().await,
        None => std::future::pending().await,
    }
}

/// When a time is reached: the exit code that goes with it.
async fn reached(limit: Option<(Instant, u8)>) -> u8 {
    match limit {
        Some((at, code)) => {
            tokio::time::sleep_until(at).await;
            code
        }
        None => std::future::pending().await,
    }
}
