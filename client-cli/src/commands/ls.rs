//! `reasonix ls`: stored sessions.

use client::form::kinds;
use client::transcript::words;
use proto::Stamp;
use proto::methods::SessionList;
use proto::outcome::TurnLimit;
use proto::params::session::{ListParams, SessionSummary};
use proto::state::{Mode, State};

use super::Listing;
use crate::exit::Error;
use crate::messages::Head;
use crate::messages::language;
use crate::messages::stored::Msg;
use crate::output;
use crate::reach;
use crate::session_options::one_of;
use crate::terminal;

/// On a terminal a directory takes at most this part of the columns.
const CWD_SHARE: usize = 4;
/// On a terminal with fewer columns than this only what tells sessions apart is shown: the rest would hide their titles.
const NARROW: usize = 70;

/// List stored sessions, newest first. `-v` shows more columns.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only sessions of this directory.
    #[arg(long)]
    here: bool,
    /// Only sessions in this state.
    #[arg(long, value_parser = one_of!(State))]
    state: Option<State>,
    /// Only sessions with this label.
    #[arg(short, long)]
    label: Option<String>,
    /// Only sessions whose name contains this text, ignoring case.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    #[command(flatten)]
    listing: Listing,
}

/// Lists them, all pages; `verbose`: with more columns.
pub async fn run(args: Args, verbose: bool) -> Result<u8, Error> {
    let cwd = super::here(args.here)?;
    let client = reach::daemon("ls").await?;
    let params = ListParams {
        cwd,
        state: args.state,
        label: args.label,
        ..ListParams::default()
    };
    let mut sessions = client.all::<SessionList>(params).await?.sessions;
    if let Some(text) = &args.name {
        let text = text.to_lowercase();
        sessions.retain(|session| {
            // As it is shown: control sequences are not part of it.
            let name = crate::text::line(session.name.as_deref().unwrap_or_default());
            name.to_lowercase().contains(&text)
        });
    }
    print(&sessions, &args.listing, verbose)?;
    Ok(0)
}

/// Prints sessions in the form that was asked for; `verbose`: a table with more columns.
pub fn print(sessions: &[SessionSummary], listing: &Listing, verbose: bool) -> Result<(), Error> {
    if listing.json {
        return output::json(&sessions);
    }
    if listing.quiet {
        return sessions
            .iter()
            .try_for_each(|session| output::line(&session.pid.to_string()));
    }
    print_table(sessions, verbose)
}

/// A row of a table of sessions.
pub trait SessionTableRow {
    /// Cells of the default columns.
    fn default_cells(&self) -> [String; 8];
    /// Cells of all columns, for `--verbose`.
    fn verbose_cells(&self) -> [String; 16];
}

/// Prints the rows under a header, with all columns if `verbose`.
pub fn print_table(rows: &[impl SessionTableRow], verbose: bool) -> Result<(), Error> {
    if verbose {
        let rows: Vec<_> = rows.iter().map(SessionTableRow::verbose_cells).collect();
        return output::table(
            [
                Head::Pid,
                Head::State,
                Head::Model,
                Head::Turns,
                Head::Tokens,
                Head::Cost,
                Head::Context,
                Head::Approval,
                Head::Created,
                Head::Active,
                Head::Attached,
                Head::Labels,
                Head::Session,
                Head::Cwd,
                Head::Title,
                Head::Last,
            ],
            &rows,
        );
    }
    let columns = terminal::columns();
    let rows = rows
        .iter()
        .map(SessionTableRow::default_cells)
        .map(|mut row| {
            // A long directory would hide the titles.
            if let (Some(columns), [.., cwd, _]) = (columns, &mut row) {
                *cwd = output::end_of(cwd, columns / CWD_SHARE);
            }
            row
        });
    if columns.is_some_and(|columns| columns < NARROW) {
        let rows: Vec<_> = rows
            .map(|[pid, state, _, _, _, active, _, title]| [pid, state, active, title])
            .collect();
        return output::table([Head::Pid, Head::State, Head::Active, Head::Title], &rows);
    }
    let rows: Vec<_> = rows.collect();
    output::table(
        [
            Head::Pid,
            Head::State,
            Head::Model,
            Head::Turns,
            Head::Tokens,
            Head::Active,
            Head::Cwd,
            Head::Title,
        ],
        &rows,
    )
}

impl SessionTableRow for SessionSummary {
    fn default_cells(&self) -> [String; 8] {
        [
            self.pid.to_string(),
            format!("{}{}", state(self), held(self)),
            model(&self.model),
            self.turns.to_string(),
            output::short(self.usage.prompt_tokens + self.usage.output_tokens),
            say!(Msg::Ago, output::ago(self.active_at)),
            self.cwd.clone(),
            self.title.clone(),
        ]
    }

    fn verbose_cells(&self) -> [String; 16] {
        let [pid, state, _, turns, tokens, _, cwd, title] = self.default_cells();
        // Date and time to the minute.
        let minute = |at: Stamp| at.to_string().chars().take(16).collect();
        [
            pid,
            state,
            self.model.clone(),
            turns,
            tokens,
            output::cost(self.cost()),
            context(self),
            self.approval_mode.as_str().to_owned(),
            minute(self.created_at),
            minute(self.active_at),
            self.attached.to_string(),
            self.labels.join(","),
            self.session.to_string(),
            cwd,
            title,
            self.last_line.clone(),
        ]
    }
}

/// A model for a column. Of one that is named by an absolute path (a local server's weights, a recorded answer) only the
/// last component is shown: `demo/…/cassette.jsonl`.
fn model(name: &str) -> String {
    let path = name.split_once("//");
    match path.and_then(|(provider, path)| Some((provider, path.rsplit_once('/')?.1))) {
        Some((provider, file)) if !file.is_empty() => format!("{provider}/…/{file}"),
        _ => name.to_owned(),
    }
}

/// How much of its context the newest request filled.
pub fn context(session: &SessionSummary) -> String {
    let tokens = session.context_tokens;
    match tokens
        .saturating_mul(100)
        .checked_div(session.context_window)
    {
        Some(percent) => format!("{percent} %"),
        None if tokens == 0 => "-".to_owned(),
        None => output::short(tokens),
    }
}

/// The limit on calls that change anything, shown after the state.
pub fn held(session: &SessionSummary) -> &'static str {
    match (session.mode, session.only_reads) {
        (Mode::Normal, false) => "",
        (Mode::Plan, false) => say!(Msg::PlanMode),
        (Mode::Normal, true) => say!(Msg::ReadOnlyMode),
        (Mode::Plan, true) => say!(Msg::PlanReadOnly),
    }
}

/// At rest, and the outcome of the last turn if it was not completed.
fn idle(session: &SessionSummary) -> String {
    match session.cut_off {
        _ if session.at_limit == Some(TurnLimit::Steps) => say!(Msg::AtStepLimit).to_owned(),
        _ if session.at_limit == Some(TurnLimit::Time) => say!(Msg::AtTimeLimit).to_owned(),
        None => say!(Msg::Idle).to_owned(),
        Some(outcome) => say!(Msg::IdleOutcome, words::outcome(language(), outcome, None)),
    }
}

/// The state in words, with the awaited event and how it exited.
pub fn state(session: &SessionSummary) -> String {
    use proto::state::WaitingFor;
    if session.read_only.is_some() {
        return say!(Msg::StateReadOnly).to_owned();
    }
    match (session.state, session.waiting_for, session.exit_code) {
        (State::Idle | State::Running | State::Exited, _, _) if session.compacting => {
            say!(Msg::Compacting).to_owned()
        }
        // They wait for the user: after a turn that was cut off nothing starts by itself.
        (State::Idle, _, _) if session.queued > 0 => {
            say!(Msg::WithQueued, idle(session), session.queued)
        }
        (State::Idle, _, _) => idle(session),
        (State::Running, _, _) => match session.silent_since {
            None if session.planning => say!(Msg::Planning).to_owned(),
            None => say!(Msg::Running).to_owned(),
            Some(since) => say!(Msg::NoData, output::ago(since)),
        },
        (State::Waiting, None, _) => say!(Msg::Waiting).to_owned(),
        (State::Waiting, Some(WaitingFor::Interaction(kind)), _) => {
            say!(Msg::WaitingKind, language().say(kinds::names(kind).0))
        }
        (State::Waiting, Some(WaitingFor::Retry), _) => say!(Msg::WaitingRetry).to_owned(),
        (State::Waiting, Some(WaitingFor::Restart), _) => say!(Msg::WaitingRestart).to_owned(),
        (State::Waiting, Some(WaitingFor::Credentials), _) => say!(Msg::WaitingKey).to_owned(),
        (State::Paused, _, _) if session.pending_interactions > 0 => {
            say!(Msg::PausedAnswer).to_owned()
        }
        (State::Paused, _, _) => say!(Msg::Paused).to_owned(),
        (State::Exited, _, Some(code)) => say!(Msg::ExitedCode, code),
        (State::Exited, _, None) => say!(Msg::Exited).to_owned(),
    }
}

#[cfg(test)]
mod tests;
