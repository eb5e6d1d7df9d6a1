//! A run from prompt to end: make or find the session, give it the prompt, watch until its turn is over.

use client::{Client, Start};
use serde_json::json;

use super::begin::{self, StartedPrompt};
use super::report::Report;
use super::structured::{self, AnswerSchema};
use super::watch::Run;
use super::{Args, Format, answers, driven, left, prompt, worktree};
use crate::exit::{self, Error};
use crate::messages::goal::Msg as GoalMsg;
use crate::messages::run::Msg;
use crate::signals::{OsSignal, Signals};
use crate::{output, reach, terminal, text};
use client::prompt::Prompt;

/// Does the run; returns its exit code, having printed its result.
pub async fn drive(args: Args, report: &mut Report) -> Result<u8, Error> {
    args.check()?;
    let hint = match args.goal {
        Some(_) => say!(GoalMsg::GiveGoal),
        None => say!(Msg::GivePrompt),
    };
    if args.reads_lines() {
        return driven::drive(args, report).await;
    }
    let schema = args.json_schema.as_deref().map(AnswerSchema::read);
    let schema = schema.transpose()?;
    let prompt = prompt::gather(&args.prompt, hint)?;
    let prompt = prompt::with_files(prompt, &args.file)?;
    let prompt = match &schema {
        Some(schema) => schema.prompt(prompt),
        None => prompt,
    };
    let cwd = reach::cwd(args.cwd.as_deref())?;
    let cwd = reach::utf8(&cwd)?;
    let interactive = terminal::is_interactive() && !args.detach;
    // From here on, so that an early Ctrl-C does not leave a turn that nobody watches.
    let mut signals = Signals::listen()?;
    let connecting = reach::with("run", |options| {
        options.interactive = interactive;
        options.start = Start::Always;
    });
    let client = tokio::select! {
        client = connecting => client?,
        arrived = signals.next() => return leave(arrived, report, args.format()),
    };
    let prompt = tokio::select! {
        prompt = answers::attached(&client, prompt, &args.from) => prompt?,
        arrived = signals.next() => return leave(arrived, report, args.format()),
    };
    let mut early = None;
    let given = {
        let giving = async {
            if args.continues() {
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
        return leave(OsSignal::Int, report, args.format());
    };
    let pid = report
        .pid
        .map_or_else(|| given.session.to_string(), |pid| pid.to_string());
    let watched = watch(client, &args, given, schema, (signals, early), report).await;
    watched.map_err(|error| error.of_session(pid))
}

/// Watches the turn of a prompt that was given, and those in which the model is asked again; prints the result.
async fn watch(
    client: Client,
    args: &Args,
    given: StartedPrompt,
    schema: Option<AnswerSchema>,
    (mut signals, mut early): (Signals, Option<OsSignal>),
    report: &mut Report,
) -> Result<u8, Error> {
    let Some(mut follow) = given.follow else {
        detached(report, args.format())?;
        return Ok(0);
    };
    let options = args.options.options();
    let asks = terminal::is_interactive();
    let mut run = Run::new(client, args, given.session, given.seq, asks);
    run.wait_for(given.prompt_id, given.seq);
    let mut asked_again = 0;
    let code = loop {
        let heard = (&mut signals, &mut early);
        // The time limit of a goal is that of each of its turns: only the daemon knows them.
        let timeout = options.timeout_ms.filter(|_| args.goal.is_none());
        let watched = run.watch(&mut follow, heard, timeout, report);
        let code = watched.await?;
        let Some(schema) = schema.as_ref().filter(|_| report.is_complete()) else {
            break code;
        };
        let problems = match schema.value(&report.text) {
            Ok(value) => {
                report.structured = Some(value);
                break code;
            }
            Err(problems) => problems,
        };
        if asked_again == structured::ASKED_AGAIN_MAX {
            return Err(structured::unfit(&problems));
        }
        asked_again += 1;
        output::progress(&say!(
            Msg::AsksAgain,
            asked_again,
            structured::ASKED_AGAIN_MAX
        ));
        let prompt = Prompt::typed(structured::again(&problems));
        let on_ask = given.on_ask;
        let (prompt_id, seq) = begin::give(&run.client, run.session, prompt, true, on_ask).await?;
        run.wait_for(prompt_id, seq);
    };
    if args.format() == Format::Text {
        print_answer(report, code, schema.is_some())?;
    }
    tokio::select! {
        ended = worktree::end(&run.client, args, code, report) => ended?,
        // Another Ctrl-C does not wait for a daemon that does not answer.
        _ = signals.next() => {}
    }
    report.print(args.format())?;
    Ok(code)
}

/// Ends before there is a turn.
pub(super) fn leave(arrived: OsSignal, report: &mut Report, format: Format) -> Result<u8, Error> {
    let code = match arrived {
        OsSignal::Int => exit::INTERRUPTED,
        OsSignal::Term | OsSignal::Hup => exit::TERMINATED,
    };
    report.left(left(code));
    report.print(format)?;
    Ok(code)
}

fn detached(report: &Report, format: Format) -> Result<(), Error> {
    let (session, pid) = (report.session, report.pid);
    let mut object = match format {
        Format::Text => {
            return output::line(&pid.map_or_else(String::new, |pid| pid.to_string()));
        }
        Format::Json => json!({"session": session, "pid": pid}),
        Format::Jsonl => json!({"kind": "result", "session": session, "pid": pid}),
    };
    if let Some(worktree) = &report.worktree {
        object["worktree"] = json!(worktree);
    }
    output::json(&object)
}

/// The answer on standard output; where the run was parked, the session to come back to.
fn print_answer(report: &Report, code: u8, structured: bool) -> Result<(), Error> {
    if code == exit::PARKED {
        let pid = report.pid.map_or_else(String::new, |pid| pid.to_string());
        output::progress(say!(Msg::WaitsInbox));
        return output::line(&pid);
    }
    if let Some(value) = &report.structured {
        return output::json(value);
    }
    if report.text.is_empty() {
        return Ok(());
    }
    if structured {
        // Whoever reads standard output expects JSON that fits, or nothing.
        output::progress(&text::clean(&report.text));
        return Ok(());
    }
    // A pipe may end in a terminal, which must not obey it. `--output-format json` has every byte.
    let answer = text::clean(&report.text);
    output::line(answer.strip_suffix('\n').unwrap_or(&answer))
}
