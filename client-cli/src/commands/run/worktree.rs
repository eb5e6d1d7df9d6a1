//! `--worktree`: what a run says of the git worktree that its session works in.

use client::Client;
use proto::methods::{SessionWait, SessionWorktree};
use proto::params::session::{OneParams, Until, WaitParams};
use proto::params::worktree::{LeftKind, WorktreeReport, WorktreeState};
use proto::{Pid, SessionId};

use super::report::Report;
use super::{Args, Format};
use crate::exit::{self, Error};
use crate::messages::run::Msg;
use crate::{output, text};

/// How long a session whose turn has ended may take to exit.
const EXITS_MS: u64 = 5_000;
/// Maximum number of changed paths that are shown.
const SHOWN_MAX: usize = 10;

/// Notes where a new session works.
pub(super) async fn begin(client: &Client, args: &Args, report: &mut Report) -> Result<(), Error> {
    let Some(session) = report.session.filter(|_| args.worktree) else {
        return Ok(());
    };
    report.worktree = ask(client, session).await?;
    let Some(worktree) = &report.worktree else {
        return Ok(());
    };
    if args.format() == Format::Text {
        let (path, branch) = (text::line(&worktree.path), text::line(&worktree.branch));
        output::progress(&say!(Msg::WorksInWorktree, path, branch));
        left_out(worktree);
    }
    Ok(())
}

/// Notes what the session leaves in its worktree, and prints that for a person. `code`: how the run ends.
pub(super) async fn end(
    client: &Client,
    args: &Args,
    code: u8,
    report: &mut Report,
) -> Result<(), Error> {
    if !args.worktree && !args.continues() {
        return Ok(());
    }
    let Some(session) = report.session else {
        return Ok(());
    };
    let mut found = match ask(client, session).await {
        Ok(found) => found,
        // The run itself is over, whatever became of the worktree.
        Err(error) => {
            if args.worktree {
                exit::tell(&error, false);
            }
            return Ok(());
        }
    };
    let is_in_use = |found: &Option<WorktreeReport>| {
        let found = found.as_ref();
        found.is_some_and(|worktree| worktree.state == WorktreeState::InUse)
    };
    // The session of a run exits after its turn, unless it waits for the user.
    if is_in_use(&found) && code != exit::PARKED {
        let exits = WaitParams {
            session: session.to_string(),
            until: Until::Exit,
            timeout_ms: Some(EXITS_MS),
        };
        client.call::<SessionWait>(&exits).await?;
        found = ask(client, session).await?;
    }
    report.worktree = match (found, report.worktree.take()) {
        (Some(found), _) => Some(found),
        // The daemon has removed it meanwhile: nothing in it had changed.
        (None, Some(before)) => Some(removed(before)),
        (None, None) => None,
    };
    if let Some(worktree) = report.worktree.as_ref()
        && args.format() == Format::Text
    {
        show(worktree, report.pid);
    }
    Ok(())
}

async fn ask(client: &Client, session: SessionId) -> Result<Option<WorktreeReport>, Error> {
    let params = OneParams {
        session: session.to_string(),
    };
    Ok(client.call::<SessionWorktree>(&params).await?.worktree)
}

fn removed(before: WorktreeReport) -> WorktreeReport {
    WorktreeReport {
        state: WorktreeState::Removed,
        changed: Vec::new(),
        more: 0,
        commits: 0,
        take_over: Vec::new(),
        unfinished: false,
        left_behind: Vec::new(),
        delete: None,
        ..before
    }
}

fn show(worktree: &WorktreeReport, pid: Option<Pid>) {
    let (path, branch) = (text::line(&worktree.path), text::line(&worktree.branch));
    match worktree.state {
        WorktreeState::Removed => return output::progress(say!(Msg::WorktreeRemoved)),
        WorktreeState::InUse => {
            let pid = pid.map_or_else(String::new, |pid| pid.to_string());
            return output::progress(&say!(Msg::WorktreeInUse, pid, path, branch));
        }
        WorktreeState::Kept => {
            output::progress(&say!(Msg::WorktreeKept, path, branch, worktree.commits));
            output::progress(&say!(Msg::WorktreeChanged, changed(worktree)));
        }
        WorktreeState::Unknown => {
            let reason = worktree.reason.as_deref().unwrap_or_default();
            output::progress(&say!(Msg::WorktreeUnknown, path, text::line(reason)));
        }
    }
    left_out(worktree);
    for line in &worktree.take_over {
        output::progress(&say!(Msg::WorktreeTakeOver, text::line(line)));
    }
    if worktree.unfinished {
        output::progress(&say!(Msg::WorktreeUnfinished, path));
    }
    for left in &worktree.left_behind {
        let name = text::line(&left.name);
        output::progress(&match left.kind {
            LeftKind::Commit => say!(Msg::WorktreeCommitLeft, name),
            LeftKind::Stash => say!(Msg::WorktreeStashLeft, name),
            LeftKind::Repository => say!(Msg::WorktreeRepositoryLeft, name),
            LeftKind::Worktree => say!(Msg::WorktreeWorktreeLeft, name),
        });
    }
    if let Some(line) = &worktree.delete {
        output::progress(&say!(Msg::WorktreeDelete, text::line(line)));
    }
}

fn changed(worktree: &WorktreeReport) -> String {
    let shown = worktree.changed.iter().take(SHOWN_MAX);
    let shown: Vec<_> = shown.map(|path| text::line(path)).collect();
    let hidden = worktree.changed.len().saturating_sub(SHOWN_MAX);
    let hidden = u64::try_from(hidden).unwrap_or(u64::MAX);
    match hidden.saturating_add(worktree.more) {
        0 => shown.join(", "),
        more => say!(Msg::AndMore, shown.join(", "), more),
    }
}

fn left_out(worktree: &WorktreeReport) {
    if worktree.left_out > 0 {
        output::progress(&say!(Msg::WorktreeLeftOut, worktree.left_out));
    }
}
