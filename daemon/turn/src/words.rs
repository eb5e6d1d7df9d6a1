//! What the daemon says to the model in its own name. Wording is part of the conversation's bytes.

use proto::params::question::Question;
use proto::record::{ApprovalResolved, PolicyDecided, QuestionAnswered, Unattended};

use crate::facts::Answerer;

pub const REASONING_ONLY: &str =
    "Your last answer held no text and no tool call. Answer now, in words or with tool calls.";
pub const SUM_UP: &str = "The step limit of this turn is reached; no more tools can be called. Say briefly what was done, what is left and what to do next.";
pub const GO_ON: &str = "The daemon was stopped in the middle of your answer above. Go on from exactly where it breaks off, without repeating what it says.";
pub const INTERRUPTED: &str = "Not run: the user interrupted the turn.";
pub const STOPPED: &str = "Not run: the turn was stopped.";
pub const NO_MORE_STEPS: &str = "Not run: the step limit of this turn is reached.";
pub const CUT_CALL: &str = "Not run: your answer was cut off by the output limit inside this call. Make a smaller call: write large files in several parts with `append`.";
pub const DENIED_BEFORE: &str = "Denied: the same call was denied before in this turn. Do something else, or explain what you need.";
const USER_ANSWERED: &str = "The user answered:";
/// In the place of answers where nobody is there.
pub const NOBODY_ANSWERS: &str = "Nobody is there to answer. Choose what is most sensible, say which assumption you make, and go on.";
pub const NOT_ANSWERED: &str = "Not answered: the turn was stopped before anybody did.";
pub const UNKNOWN_EFFECTS: &str = "The daemon stopped while this call ran. Whether and how far it took effect is unknown: look before you repeat it.";
pub const LOST_READ: &str = "Not finished: the daemon stopped while this call ran. It changed nothing; repeat it if you still need it.";
pub const NOT_STARTED: &str = "Not run: the daemon stopped before this call was started.";

/// To people, and a mark for the next recovery: the answer that follows was cut off by the daemon's end, and the turn
/// goes on from it. Without it a cut answer is the last thing before a turn's end.
pub const GOES_ON_FROM_KEPT: &str = "The daemon was restarted in the middle of an answer; what had been shown of it is kept, and the turn goes on from there.";
pub const GOES_ON: &str = "The daemon was restarted; the turn goes on where it was.";
pub const STILL_PAUSED: &str = "The daemon was restarted; the session is still paused.";
pub const WAS_ENDED: &str =
    "The daemon stopped in the middle of this turn; the turn was ended. Prompt again to go on.";
pub const LOG_WAS_BROKEN: &str =
    "The log had calls without a result where none can be; they were given one.";
/// Also a mark: it is said once.
pub const HALF_REWOUND: &str = "Files were being put back, and that broke off: some may be as they were then, and some not. Rewind again to finish it, or undo it to have all as it was.";
/// Why a command in the background ended that a recovery finds in the log.
pub const CHILD_LOST: &str = "the daemon stopped";

/// As `WAS_ENDED`, with the prompts that wait behind the turn.
pub fn was_ended(behind: usize) -> String {
    match behind {
        0 => WAS_ENDED.to_owned(),
        1 => format!("{WAS_ENDED} One prompt waits, and goes first."),
        many => format!("{WAS_ENDED} {many} prompts wait, and go first."),
    }
}

/// What came of the model's questions; what a person answered, a line each.
pub fn answers(by: Answerer, asked: &Question, answered: &QuestionAnswered) -> String {
    match by {
        Answerer::Person => {}
        Answerer::Nobody => return NOBODY_ANSWERS.to_owned(),
        Answerer::Daemon => return NOT_ANSWERED.to_owned(),
    }
    let lines = answered.replies.iter().enumerate().map(|(place, reply)| {
        let ask = asked.questions.get(place);
        let question = ask.map_or("", |ask| ask.question.as_str());
        let said: Vec<_> = reply.labels.iter().chain(&reply.other).cloned().collect();
        format!("{question} → {}", said.join(", "))
    });
    let lines: Vec<_> = lines.collect();
    format!("{USER_ANSWERED}\n{}", lines.join("\n"))
}

/// What came of the questions, for people: at most 200 characters.
pub fn answers_in_a_line(words: &str) -> String {
    let said = words.strip_prefix(USER_ANSWERED).unwrap_or(words);
    let lines: Vec<_> = said.lines().filter(|line| !line.is_empty()).collect();
    lines.join("; ").chars().take(200).collect()
}

/// A person said no, or the daemon had to: then it says why, and what would allow it.
pub fn denied_by_answer(resolved: &ApprovalResolved) -> String {
    match &resolved.note {
        Some(note) if resolved.unattended => note.clone(),
        note => denied_by_person(&resolved.by, note.as_deref()),
    }
}

fn denied_by_person(by: &str, note: Option<&str>) -> String {
    match note {
        Some(note) if !note.trim().is_empty() => format!("Denied by the user ({by}): {note}"),
        _ => format!("Denied by the user ({by}). Do something else, or explain why it is needed."),
    }
}

/// A rule said no, or nobody was there to say yes.
pub fn denied_by_policy(decided: &PolicyDecided) -> String {
    match (decided.unattended, &decided.why) {
        (Some(Unattended::Denied), Some(why)) => why.clone(),
        _ => denied_by_rule(&decided.rule, &decided.layer),
    }
}

fn denied_by_rule(rule: &str, layer: &str) -> String {
    format!("Denied by the rule `{rule}` ({layer}). It will be denied again; find another way.")
}
