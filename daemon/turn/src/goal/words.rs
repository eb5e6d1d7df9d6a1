//! The texts of goals: for the model, in the messages of its turns, and the reasons that people read.

use proto::Pid;
use proto::item::CallStatus;
use proto::record::{ContinueReason, GoalReport, GoalResearch, ReportStatus};

use crate::facts::Goal;

// Reasons, for people.
pub(super) const INTERRUPTED: &str = "a turn was interrupted";
pub(super) const OUT_OF_TIME: &str = "the time limit of a turn was reached";
pub(super) const OUT_OF_BUDGET: &str = "a budget is used up";
pub(super) const TURN_FAILED: &str = "a turn failed";
pub(super) const CONTEXT_FULL: &str = "the context is full";
pub(super) const DENIED: &str = "a call needed an approval and did not get it";
pub(super) const TURN_BLOCKED: &str = "a turn was blocked";
pub(super) const STOPPED: &str = "stopped";
pub(super) const REPLACED: &str = "replaced by another goal";
pub(super) const SESSION_ENDED: &str = "the session ended";
pub(super) const MODE_CHANGED: &str = "the mode was changed";

// For the model.
pub(super) const NO_GOAL: &str = "There is no goal in this session, so there is nothing to report. Go on with what the user asked.";
pub(super) const NOT_YET: &str = "The goal of this session was given while this turn ran, and starts with the next one: there is nothing to report yet. Go on with what the user asked before.";
const COMPLETE: &str =
    "The goal is complete. End the turn now with a few words about what was done.";
const CHECKED: &str = "The checks passed: the goal is complete. End the turn now with a few words about what was done.";
const REFUSED: &str = "Not complete yet. Missing: ";
const CHECK_FAILED: &str = "Not complete yet: the check commands did not succeed. Fix what they report, then report again. Their result:";
const NOTED: &str = "Noted.";
pub(crate) const CHANGED_SINCE: &str =
    "checks after the last change: something was changed after they had passed";
pub(crate) const OPEN_ITEMS: &str = "the todo list has open items";
pub(super) const NO_EVIDENCE: &str = "`evidence` that shows that the goal is reached";
const RULES: &str = "You work on this goal by yourself, turn after turn, until it is reached. Before a turn ends, call the tool that reports on the goal: `continue` with the next step, `complete` with evidence when all of it is done and checked, or `blocked` with the reason if nothing more can be done without the user. Do not ask whether to go on.";
const RESEARCH: &str = "`plan.md` has the hypotheses and the next steps; keep it current. Append to `journal.md` after each experiment: hypothesis, experiment, result, decision; never change what is in it. `findings.md` has what is shown, each with its evidence. `brief.md` and `state.json` are not yours to change. Test one hypothesis at a time, and measure before and after. If two experiments in a row show nothing new, change the direction, and write down why.";
const RESUMED: &str = "An earlier run goes on: read `brief.md`, `plan.md`, `findings.md` and the end of `journal.md` before you do anything else. ";
const NO_REPORT: &str = "Continue with the goal. The last turn ended without a report on it: report before this one ends.";
const NO_PROGRESS: &str = "Continue with the goal, in another way: the last turns made no progress. Nothing new was read, run or finished. Look at something new, try another approach, or report what blocks you; without progress in this turn the goal ends.";
const STEP_LIMIT: &str = "Continue with the goal where the step limit of the last turn stopped it.";
const RESTARTED: &str = "Continue with the goal. The daemon was restarted during the last turn: look at what it left before you repeat anything.";
const LIMIT_RAISED: &str = "Continue with the goal. A limit had ended it, and the user raised that limit: look at what the last turn left before you repeat anything.";

/// Of how many turns without progress a goal ended.
pub(super) fn no_progress(turns: u64) -> String {
    format!("no progress in {turns} turns")
}

/// The notice that a limit has ended the goal of this session. `option`: raises that limit.
pub(super) fn at_limit(pid: Pid, option: &str) -> String {
    format!("A limit has ended the goal. `reasonix goal change {pid} {option} N` lets it go on.")
}

/// The notice that a budget of the day or the project, which is not the goal's to change, has ended it. The command changes
/// nothing else: it is that of a limit that the goal has.
pub(super) fn at_day_budget(pid: Pid, max_turns: u64) -> String {
    format!(
        "A budget has ended the goal that is not its own to change. When there is room in it again, `reasonix goal change {pid} --max-turns {max_turns}` lets the goal go on."
    )
}

/// After how many turns a goal ended.
pub(super) fn out_of_turns(turns: u64) -> String {
    match turns {
        1 => "its 1 turn is used up".to_owned(),
        turns => format!("its {turns} turns are used up"),
    }
}

/// The block about the goal that goes before the text of each user message of its turns.
pub(crate) fn context(goal: &Goal) -> String {
    let turn = match (goal.turns + 1, goal.max_turns) {
        (turn, 0) => turn.to_string(),
        (turn, max) => format!("{turn} of {max}"),
    };
    let text = goal.text.replace("</goal", "<\\/goal");
    let research = goal.research.as_ref().map_or_else(String::new, research);
    format!("<goal turn=\"{turn}\">\n{text}\n</goal>\n{RULES}{research}")
}

/// How a run of long research works, and where it keeps its state.
fn research(run: &GoalResearch) -> String {
    let dir = &run.dir;
    let resumed = match run.resumed {
        true => RESUMED,
        false => "",
    };
    format!("\nThis is long research. {resumed}Its state is in `{dir}/`: {RESEARCH}")
}

/// The text of the prompt that starts another turn of a goal.
pub(super) fn prompt(goal: &Goal, why: ContinueReason, detail: &str) -> String {
    match why {
        ContinueReason::Started => goal.text.clone(),
        ContinueReason::Reported if detail.is_empty() => "Continue with the goal.".to_owned(),
        ContinueReason::Reported => {
            format!("Continue with the goal. You named as the next step: {detail}")
        }
        ContinueReason::NoReport => NO_REPORT.to_owned(),
        ContinueReason::Refused => {
            format!("Continue with the goal: it is not complete. Missing: {detail}")
        }
        ContinueReason::Blocked => format!(
            "Continue with the goal. You reported a block: {detail}\nLook for another way; if it is still in the way afterwards, report it again in the same words."
        ),
        ContinueReason::NoProgress => NO_PROGRESS.to_owned(),
        ContinueReason::StepLimit => STEP_LIMIT.to_owned(),
        ContinueReason::Restarted => RESTARTED.to_owned(),
        ContinueReason::LimitRaised => LIMIT_RAISED.to_owned(),
        ContinueReason::Failed => {
            format!(
                "Continue with the goal. {}",
                crate::words::turn_failed(detail)
            )
        }
    }
}

/// The result of a report. `missing`: what a claim of completion lacks.
pub(super) fn report_result(report: &GoalReport, missing: &[String]) -> (CallStatus, String) {
    if !missing.is_empty() {
        return (
            CallStatus::Refused,
            format!("{REFUSED}{}.", missing.join("; ")),
        );
    }
    let text = match report.status {
        ReportStatus::Complete => COMPLETE,
        ReportStatus::Continue | ReportStatus::Blocked => NOTED,
    };
    (CallStatus::Ok, text.to_owned())
}

/// The result of a report whose check commands have run, or did not run.
pub(crate) fn checked_result(status: CallStatus, result: &str) -> String {
    match status {
        CallStatus::Ok => format!("{CHECKED}\n\n{result}"),
        CallStatus::Failed
        | CallStatus::Denied
        | CallStatus::Refused
        | CallStatus::Interrupted
        | CallStatus::Unknown => format!("{CHECK_FAILED}\n\n{result}"),
    }
}
