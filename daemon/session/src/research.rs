//! Runs of long research: makes their directories in the project, and keeps their state there. Blocks.

use knowledge::research::{
    BRIEF_FILE, RunState, STATE_FILE, looks_like_research, named_directory, new_directory,
    starting_files,
};
use proto::record::GoalResearch;
use proto::{Body, ErrorName, Failure, Record, SessionId, Stamp};
use turn::facts::Facts;
use workspace::{Access, ExpectedFile, FileError, FileKind, Workspace};

/// How many names are tried for a new directory.
const NAMES_MAX: u32 = 100;

/// How often a write of the state is tried while others write it, too.
const TRIES_MAX: u32 = 3;

/// A goal that may be long research.
pub(crate) struct ResearchRequest<'a> {
    pub goal: &'a str,
    /// Commands that must succeed before it counts as complete.
    pub checks: &'a [String],
    /// What the user said; `None`: the goal's text decides.
    pub research: Option<bool>,
    /// The session may not write.
    pub reads_only: bool,
}

/// The directory for the run of a goal, made unless it goes on with an earlier run. `None`: the goal is not research.
///
/// # Errors
/// It is to be research, and the directory cannot be made.
pub(crate) fn begin(
    workspace: &Workspace,
    asked: &ResearchRequest<'_>,
) -> Result<Option<GoalResearch>, Failure> {
    let forced = match asked.research {
        Some(false) => return Ok(None),
        Some(true) if asked.reads_only => {
            return Err(Failure::new(
                ErrorName::NotAllowed,
                "This session only reads, and research keeps its state in files.",
                "Start the goal with `--simple`, or in a session that may write.",
            ));
        }
        Some(true) => true,
        None if asked.reads_only => return Ok(None),
        None => false,
    };
    let earlier = named_directory(asked.goal).filter(|dir| is_run(workspace, dir));
    if let Some(dir) = earlier {
        return Ok(Some(GoalResearch { dir, resumed: true }));
    }
    if !forced && !looks_like_research(asked.goal) {
        return Ok(None);
    }
    match make(workspace, asked) {
        Ok(dir) => Ok(Some(GoalResearch {
            dir,
            resumed: false,
        })),
        Err(error) => Err(Failure::new(
            ErrorName::Storage,
            format!("The directory for the state of the research cannot be made: {error}"),
            "Start the goal with `--simple`: it keeps no state in the project then.",
        )),
    }
}

/// Whether the directory of an earlier run is there.
fn is_run(workspace: &Workspace, dir: &str) -> bool {
    let brief = workspace.resolve(&format!("{dir}/{BRIEF_FILE}"), Access::Read);
    brief.is_ok_and(|at| at.kind() == Some(FileKind::File))
}

/// Makes a directory that did not exist, with the files that a run begins with.
fn make(workspace: &Workspace, asked: &ResearchRequest<'_>) -> Result<String, FileError> {
    let now = Stamp::now();
    let mut number = 1;
    let dir = loop {
        let dir = new_directory(asked.goal, now, number);
        if workspace.resolve(&dir, Access::Write)?.kind().is_none() || number == NAMES_MAX {
            break dir;
        }
        number += 1;
    };
    for (name, text) in starting_files(asked.goal, asked.checks) {
        let at = workspace.resolve(&format!("{dir}/{name}"), Access::Write)?;
        workspace.write(&at, text.as_bytes(), ExpectedFile::Absent)?;
    }
    Ok(dir)
}

/// A new state of a run, and the directory where it belongs. `None`: the record changes nothing about a run.
pub(crate) fn state_after(
    facts: &Facts,
    session: SessionId,
    record: &Record,
) -> Option<(String, RunState)> {
    let (run, goal, status, turn, why) = match &record.body {
        Body::GoalContinued(continued) => {
            let goal = facts.goal.as_ref()?;
            let why = continued.why.as_str();
            (&goal.research, &goal.text, "running", continued.number, why)
        }
        Body::GoalEnded(ended) => {
            let last = facts.last_goal.as_ref()?.goal.as_ref()?;
            let status = ended.outcome.as_str();
            let why = ended.reason.as_str();
            (&last.research, &last.text, status, ended.turns, why)
        }
        _ => return None,
    };
    let state = RunState {
        goal: goal.clone(),
        session,
        status: status.to_owned(),
        turn,
        why: why.to_owned(),
        record: record.seq,
        updated_at: record.at.to_string(),
    };
    Some((run.as_ref()?.dir.clone(), state))
}

/// Writes the state of a run, unless a newer one of this session is there.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn keep(workspace: &Workspace, dir: &str, state: &RunState) -> Result<(), FileError> {
    let path = format!("{dir}/{STATE_FILE}");
    let mut text = serde_json::to_string_pretty(state).unwrap_or_default();
    text.push('\n');
    let mut tries = 1;
    loop {
        let at = workspace.resolve(&path, Access::Write)?;
        let expected = match at.kind() {
            None => ExpectedFile::Absent,
            Some(_) => {
                let there = workspace.read(&at)?;
                if is_newer(&there.bytes, state) {
                    return Ok(());
                }
                ExpectedFile::File(there.stamp)
            }
        };
        match workspace.write(&at, text.as_bytes(), expected) {
            Ok(_) => return Ok(()),
            Err(FileError::Changed(_) | FileError::Exists(_) | FileError::Missing { .. })
                if tries < TRIES_MAX =>
            {
                tries += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Whether the state on disk is of a later record of the same session.
fn is_newer(bytes: &[u8], state: &RunState) -> bool {
    let there = serde_json::from_slice::<RunState>(bytes).ok();
    there.is_some_and(|there| there.session == state.session && there.record > state.record)
}

#[cfg(test)]
mod tests;
