//! The daemon's own messages to the model, and notices to users. Messages to the model are part of the conversation, so
//! a change of their wording changes request bytes. The first line of a result is shown to users too: what only the model
//! has to do about it is on the lines below.

use contract::{Decision, EffectivePermissions};
use proto::Pid;
use proto::params::interaction::{PlanDecision, Question, Reply};
use proto::record::{
    CacheMiss, InteractionResolved, MissCause, PolicyDecided, Todo, TodoStatus, Unattended, Usage,
    Verdict,
};
use proto::state::Mode;

use crate::compaction::FullContext;
use crate::facts::{Answerer, ReportedPermissions, UserEdit};

pub const REASONING_ONLY: &str =
    "Your last answer held no text and no tool call. Answer now, in words or with tool calls.";
/// After an answer that the provider paused.
pub const PAUSED: &str = "Your last answer was paused by the provider. Go on from where it ends.";
/// For users.
pub const INVALID_CALL_NOTICE: &str =
    "The provider refused a badly formed tool call; the model is asked again.";
/// The start of `invalid_call`. Also a marker: such messages are counted by it.
const INVALID_CALL: &str =
    "Your last answer was refused because a tool call in it is badly formed: ";
/// For the model: the prompt that continues the work of a turn which a limit ended.
pub const CONTINUE_AFTER_LIMIT: &str =
    "The limit that stopped you has been raised. Continue with the task where you stopped.";
/// For the model: the prompt of a turn that follows one which was completed, by the restart policy `always`.
const AFTER_COMPLETION: &str = "The last turn was completed, and this session is set to start again after each end. Go on with the task from where it is now, or do its next round.";
pub const SUM_UP: &str = "The step limit of this turn is reached; no more tools can be called. Say briefly what was done, what is left and what to do next.";
/// For users.
pub const MECHANICAL_SUMMARY: &str = "Older messages were replaced by a plain list, without a summary by the model. To restore them, use `/compact undo` or `reasonix compact --undo`.";
pub const GO_ON: &str = "The daemon was stopped in the middle of your answer above. Go on from exactly where it breaks off, without repeating what it says.";
pub const INTERRUPTED: &str = "Not run: the user interrupted the turn.";
/// For a call that names a tool which itself only names another. The session resolves one such step before.
pub const CALLS_A_CALLER: &str =
    "Not run: this call names another tool in place of calling it. Call that tool by its own name.";
pub const STOPPED: &str = "Not run: the turn was stopped.";
pub const NO_MORE_STEPS: &str = "Not run: the step limit of this turn is reached.";
pub const NO_MORE_CALLS: &str = "Not run: no more tools can be called in this turn.";
/// After the result of a call that was repeated. Also a marker: the result is compared without it.
pub const LOOP_WARNING: &str = "\n\n[This call has given the same result 5 times in a row. Change course: do something else, or answer with what you have. To wait for something, run one command that sleeps until it is there. If this goes on, the turn is ended.]";
pub const STUCK: &str = "The same calls gave the same results again and again, so no more tools can be called in this turn. Say briefly what was done, what is left and what stands in the way.";
pub const CUT_CALL: &str = "Not run: your answer broke off inside this call.\nMake a smaller call: write large files in several parts with `append`.";
pub const DENIED_BEFORE: &str = "Denied: the same call was denied before in this turn, and stays denied.\nDo not try to get the same \
                                 effect with another tool or another spelling: do something else, or explain what you need.";
const DENIED_WITH_REST: &str = "Denied: the user denied every call of that answer that needs approval.\nDo something else, or explain what you need.";
pub const NO_PLAN_MODE: &str = "Not proposed: the session is not in plan mode, and no plan has to be approved.\nGo on with the work; say in words what you are about to do.";
const PLAN_STOPPED: &str =
    "Not answered: the turn was stopped before anybody read the plan. Plan mode is still on.";
/// The entry of an unapproved plan in the list of calls that were denied because no client was attached.
pub const PLAN_UNATTENDED: &str = "a plan needs the user's approval, and no client is attached. Attach to the session and answer, or run it with `--on-ask wait`";
const PLAN_NOBODY: &str = "Nobody is there to approve the plan.\nIt is handed to the user as it stands, and plan mode is still on: end the turn now with a sentence or two, and call no more tools.";
/// For users: plan mode was set for a prompt.
pub const STARTS_IN_PLAN_MODE: &str = "This prompt looks like work of many steps, so the session starts in plan mode: nothing changes until you approve a plan. Leave plan mode to do without one; `agent.auto_plan = false` turns this off for new sessions.";
// Notices of the session's permissions to the model. Also markers: the last reported permissions are read from them.
const PLAN_ON: &str = "Plan mode is on: look, think and plan, and change nothing. Calls that change anything are refused. When the plan is ready, call the tool that hands it in; the user approves it or says what is missing.";
const READ_ONLY_ON: &str = "This session only reads: calls that change anything are refused until the user lifts that. Say what you would change in the place of changing it.";
const READ_ONLY_PLAN_ON: &str = "Plan mode is on, and this session only reads: calls that change anything are refused, and an approved plan does not lift that; only the user does. When the plan is ready, call the tool that hands it in.";
const ALL_OFF: &str = "Changes are possible again: neither plan mode nor a read-only session holds calls back. The user's permissions decide, as ever.";
const USER_ANSWERED: &str = "The user answered:";
/// The result of a call with questions when no client is attached.
pub const NOBODY_ANSWERS: &str = "Nobody is there to answer.\nChoose what is most sensible, say which assumption you make, and go on.";
pub const NOT_ANSWERED: &str = "Not answered: the turn was stopped before anybody did.";
pub const UNKNOWN_EFFECTS: &str = "The daemon stopped while this call ran. Whether and how far it took effect is unknown: look before you repeat it.";
pub const LOST_READ: &str = "Not finished: the daemon stopped while this call ran. It changed nothing; repeat it if you still need it.";
pub const LOST_AGENT: &str = "Not finished: the daemon stopped while the sub-agent worked. The sub-agent has ended, and the files that it changed stay changed: look at them before you start it again.";
pub const NOT_STARTED: &str = "Not run: the daemon stopped before this call was started.";

/// The reason that the daemon logs when it closes open interactions of a stopped turn.
pub const TURN_STOPPED: &str = "the turn was stopped";
/// The reasons that the daemon logs when it closes the question of a running call.
pub const CALL_ENDED: &str = "the call has ended";
pub const WITHDRAWN: &str = "the server does not need the answer any more";
pub const HANDS_OVER: &str = "the daemon is being replaced, and the call ends before";
pub const QUESTION_LOST: &str = "the daemon stopped while the call ran";
pub const ALLOWED_NOT_STARTED: &str =
    "It was let out of the sandbox for one run, and that was not started any more.";
/// For a call that the sandbox blocked and that may have run unsandboxed afterwards.
const UNKNOWN_OUTSIDE: &str = "The daemon stopped while it ran outside: how far it took effect there is unknown. Look before you repeat it.";

/// For users, and a marker for the next recovery: the daemon's end cut off the next answer, and the turn continues from
/// it. Without this marker, a cut-off answer means that the turn was about to end.
pub const GOES_ON_FROM_KEPT: &str = "The daemon was restarted during an answer. The part shown so far is kept, and the turn continues from there.";
pub const GOES_ON: &str = "The daemon was restarted; the turn continues where it was.";
pub const STILL_PAUSED: &str = "The daemon was restarted; the session is still paused.";
pub const WAS_ENDED: &str =
    "The daemon stopped during this turn, so the turn was ended. Send a prompt to continue.";
pub const LOG_WAS_BROKEN: &str = "The log contained calls without a result; results were added.";
/// Also a marker: the notice is sent only once.
pub const HALF_REWOUND: &str = "A rewind was interrupted while restoring files: some files may be restored, others not. Rewind again to finish it, or undo it to restore the previous state.";
/// The cause that recovery logs for the end of a background command.
pub const CHILD_LOST: &str = "the daemon stopped";
/// The start of `plan`. Also a marker: the message that has it hands over the plan.
const PLAN: &str = "Another model has read the user's message above and the project, and made this plan for you. Work by it; where you see that it is wrong, do better and say so. The user has not seen or approved it.";

/// For the model: the plan of the planner, in a block that it cannot close.
pub fn plan(text: &str) -> String {
    let text = text.trim().replace("</plan", "<\\/plan");
    format!("{PLAN}\n\n<plan>\n{text}\n</plan>")
}

/// Whether this message of the daemon was made by `plan`.
pub fn is_plan(words: &str) -> bool {
    words.starts_with(PLAN)
}

/// For users: the turn goes on without a plan.
pub fn without_plan(why: &str) -> String {
    let why = why.trim().trim_end_matches('.');
    format!("There is no plan for this turn, and the session's model works without one: {why}.")
}

/// To the model, before what users' commands printed.
pub(crate) const USER_COMMANDS: &str = "The user ran these shell commands themselves before this prompt, in the session's directory and outside your sandbox. They are no calls of yours:";

/// To the model: a user's command, how it ended and its output, in a block that they cannot close.
pub(crate) fn user_command(line: &str, text: &str) -> String {
    let inside = format!("$ {line}\n{text}").replace("</user-command", "<\\/user-command");
    format!("<user-command>\n{inside}\n</user-command>")
}

/// To the model: a user's command whose end nobody saw.
pub(crate) fn lost_user_command(cause: Option<&str>) -> String {
    let cause = cause.unwrap_or("its end was not reported");
    format!("ended: {cause}; its output is lost, and how far it took effect is not known")
}

/// The result of a call without the warning that it repeats earlier ones.
pub(crate) fn without_loop_warning(text: &str) -> &str {
    text.strip_suffix(LOOP_WARNING).unwrap_or(text)
}

/// For users: what helps if the context is full. `window`: its size in tokens; 0: unknown.
pub fn full_context(full: &FullContext, window: u64) -> String {
    if full.is_prefix {
        return "The system prompt and the tools alone leave no room for a conversation: use a model with a larger context window, or start the server with a larger one.".to_owned();
    }
    let mut ways = Vec::new();
    if window > 0 && full.kept < window / 2 {
        ways.push("set `context_window` of the provider to what the server says");
    }
    if full.folds_manually {
        ways.push("run `/compact`");
    }
    if full.has_pins {
        ways.push("unpin messages");
    }
    ways.extend(["rewind the session", "continue in a new session"]);
    format!("What helps: {}.", ways.join("; "))
}

/// Reports to the model that the provider refused its answer. `refusal`: the provider's message.
pub fn invalid_call(refusal: &str) -> String {
    let refusal = refusal.trim_end_matches('.');
    format!(
        "{INVALID_CALL}{refusal}. Make the call again by the name of one of the tools, with its arguments as one JSON object, or answer in words."
    )
}

/// The prompt of the turn after a restart. `reason`: why the last one failed; empty: it did not.
pub fn after_restart(reason: &str) -> String {
    match reason {
        "" => AFTER_COMPLETION.to_owned(),
        reason => format!("Continue with the task. {}", turn_failed(reason)),
    }
}

/// That the last turn failed, for the turn that continues its work.
pub fn turn_failed(reason: &str) -> String {
    let reason = reason.trim_end_matches('.');
    format!(
        "The last turn failed: {reason}. What it did stays: go on from the results above, and do not repeat what is done."
    )
}

/// Whether this message of the daemon was made by `invalid_call`.
pub fn is_invalid_call(words: &str) -> bool {
    words.starts_with(INVALID_CALL)
}

/// `WAS_ENDED`, with the number of queued prompts.
pub fn was_ended(queued: usize) -> String {
    match queued {
        0 => WAS_ENDED.to_owned(),
        1 => format!("{WAS_ENDED} One queued prompt runs first."),
        many => format!("{WAS_ENDED} {many} queued prompts run first."),
    }
}

/// The result of the model's questions: the user's answers, one per line, or why there are none.
pub fn answers(by: Answerer, questions: &[Question], replies: &[Reply]) -> String {
    match by {
        Answerer::Person | Answerer::No => {}
        Answerer::Nobody => return NOBODY_ANSWERS.to_owned(),
        Answerer::Daemon => return NOT_ANSWERED.to_owned(),
    }
    let lines = replies.iter().enumerate().map(|(place, reply)| {
        let question = questions.get(place);
        let question = question.map_or("", |asked| asked.question.as_str());
        let said: Vec<_> = reply.labels.iter().chain(&reply.other).cloned().collect();
        format!("{question} → {}", said.join(", "))
    });
    let lines: Vec<_> = lines.collect();
    format!("{USER_ANSWERED}\n{}", lines.join("\n"))
}

/// The result of the model's questions for users: one line of at most 200 characters.
pub fn answers_in_one_line(words: &str) -> String {
    let lines: Vec<_> = match words.strip_prefix(USER_ANSWERED) {
        Some(said) => said.lines().filter(|line| !line.is_empty()).collect(),
        None => words.lines().take(1).collect(),
    };
    lines.join("; ").chars().take(200).collect()
}

/// The result of a call that a user denied, or that the daemon denied because no client was attached. The latter says how
/// to allow it.
pub fn denied_by_answer(resolved: &InteractionResolved, note: Option<&str>) -> String {
    match note {
        Some(note) if resolved.unattended => note.to_owned(),
        note => denied_by_person(&resolved.by, note),
    }
}

/// The result of a call that made a directory in which the session may write from now on.
pub fn with_added_dir(text: &str, dir: &str) -> String {
    format!(
        "{}\nThe session may write in `{dir}` from now on, with file tools and sandboxed commands.\n",
        text.trim_end_matches('\n')
    )
}

fn denied_by_person(by: &str, note: Option<&str>) -> String {
    match note {
        Some(note) if !note.trim().is_empty() => format!("Denied by the user ({by}): {note}"),
        _ => format!("Denied by the user ({by}).\nDo something else, or explain why it is needed."),
    }
}

/// The result of a call whose command the user changed, so that the model does not take it for its own command's.
pub fn changed_command_result(user: &UserEdit, text: &str) -> String {
    let (by, command) = (&user.by, &user.edit.command);
    format!(
        "The user ({by}) changed the command of this call before it ran, to:\n{command}\nThe rest is about the changed command; yours did not run.\n{text}"
    )
}

/// Why a blocked call does not run unsandboxed: a user denied it, or no client was attached.
pub fn kept_inside(resolved: &InteractionResolved, note: &str) -> String {
    if resolved.unattended {
        return "Nobody was there to let it run outside the sandbox.".into();
    }
    if resolved.answer.is_none() {
        return "Nobody said whether it may run outside the sandbox before the turn was stopped."
            .into();
    }
    let begin = format!(
        "The user ({}) was asked to let it run once outside the sandbox, and said no",
        resolved.by
    );
    match note {
        "" => format!("{begin}. Do something else, or explain why it is needed."),
        note => format!("{begin}: {note}"),
    }
}

/// Why files that a command created under protected names are not restored from quarantine.
pub fn kept_in_quarantine(resolved: &InteractionResolved, note: &str) -> String {
    if resolved.unattended || resolved.answer.is_none() {
        return "Nobody said whether it may be put back: it stays moved away.".into();
    }
    let begin = format!(
        "The user ({}) was asked whether to put it back, and said no: it stays moved away",
        resolved.by
    );
    match note {
        "" => format!("{begin}. Go on without it."),
        note => format!("{begin}. {note}"),
    }
}

/// Follows the result of a call whose files were being restored from quarantine when the daemon stopped.
pub const PUT_BACK_UNKNOWN: &str =
    "The user had it put back, and the daemon stopped meanwhile: look whether it is there.";

/// Like `kept_inside`, if the policy denied the unsandboxed run. `None` in other cases: then the result already says
/// what blocked the call.
pub fn kept_inside_by_policy(decided: &PolicyDecided) -> Option<String> {
    let said_no = decided.verdict == Verdict::Deny && decided.unattended.is_none();
    said_no.then(|| {
        format!(
            "It is not run outside the sandbox either: {}.",
            decided.rule
        )
    })
}

/// Precedes the result of a blocked call that ran again, unsandboxed.
pub fn ran_unsandboxed(reason: &str, lost: bool) -> String {
    let begin = format!(
        "The sandbox stopped this call ({reason}); the user then let it run once more, outside the sandbox."
    );
    match lost {
        false => format!("{begin} What that came to:"),
        true => format!("{begin} {UNKNOWN_OUTSIDE}"),
    }
}

/// The result of a call that a rule denied, or that no attached client could approve.
pub fn denied_by_policy(decided: &PolicyDecided) -> String {
    if decided.layer == EffectivePermissions::LAYER {
        return refused_by_effective_permissions(&decided.rule);
    }
    if decided.layer == Decision::SKILL_LAYER {
        return format!(
            "Denied by `allowed-tools`: {}.\nDo without this call, or say what it is needed for.",
            decided.rule
        );
    }
    if decided.layer == Decision::REVIEWER_LAYER {
        let reason = decided.rule.trim_end_matches('.');
        return format!(
            "Denied by the reviewer of risky calls: {reason}. Do without this call, or say what it is needed for."
        );
    }
    if decided.layer == Decision::ANSWER_LAYER {
        return DENIED_WITH_REST.to_owned();
    }
    match (decided.unattended, &decided.why) {
        (Some(Unattended::Denied), Some(why)) => why.clone(),
        _ => denied_by_rule(&decided.rule, &decided.layer),
    }
}

/// Quotes the rule in backticks, unless it is a reason that contains backticks itself.
fn denied_by_rule(rule: &str, layer: &str) -> String {
    let denied = match rule.contains('`') {
        true => format!("Denied: {rule} ({layer})"),
        false => format!("Denied by the rule `{rule}` ({layer})"),
    };
    format!("{denied}.\nIt will be denied again; find another way.")
}

/// The notice when the provider itself does not compact the conversation.
pub fn no_server_compaction(why: &str) -> String {
    format!("The provider did not compact the conversation ({why}), so the model writes a summary.")
}

/// The notice when the model of the config cannot write the summary of a compaction.
pub fn no_summary_writer(why: &str) -> String {
    format!(
        "The model of `agent.compaction_model` cannot be used ({why}), so the session's own model writes the summary."
    )
}

fn refused_by_effective_permissions(rule: &str) -> String {
    if rule == EffectivePermissions::PLAN_MODE {
        "Not run: the session is in plan mode, and this call may change something.\nLook and plan with calls that only read; when the plan is ready, call the tool that hands it in.".into()
    } else {
        "Not run: this session only reads, and this call may change something.\nSay what you would change; only the user can lift it.".into()
    }
}

/// The result of a call that presents a plan.
pub fn plan_answered(
    resolved: &InteractionResolved,
    decision: Option<PlanDecision>,
    note: &str,
) -> String {
    let who = &resolved.by;
    match decision {
        None if resolved.unattended => PLAN_NOBODY.to_owned(),
        None => PLAN_STOPPED.to_owned(),
        Some(PlanDecision::Approve) => plan_approved(
            who,
            "Until this turn ends calls run without asking, except those that are denied or always asked about.",
            note,
        ),
        Some(PlanDecision::ApproveKeepAsking) => {
            plan_approved(who, "Calls need approval as usual.", note)
        }
        Some(PlanDecision::Reject) => {
            let begin =
                format!("The user ({who}) did not approve the plan.\nPlan mode is still on");
            match note {
                "" => format!("{begin}: ask what is missing, or make a better plan."),
                note => format!("{begin}. They say: {note}"),
            }
        }
    }
}

fn plan_approved(who: &str, calls: &str, note: &str) -> String {
    let begin =
        format!("The user ({who}) approved the plan.\nPlan mode is off: carry it out now. {calls}");
    match note {
        "" => begin,
        note => format!("{begin}\nThe user adds: {note}"),
    }
}

/// The notice to the model of the session's permissions.
pub fn effective_permissions(reported: ReportedPermissions) -> &'static str {
    match (reported.mode, reported.read_only) {
        (Mode::Normal, false) => ALL_OFF,
        (Mode::Plan, false) => PLAN_ON,
        (Mode::Normal, true) => READ_ONLY_ON,
        (Mode::Plan, true) => READ_ONLY_PLAN_ON,
    }
}

/// The permissions that this message reports, if it is a notice of permissions.
pub fn parse_reported_permissions(words: &str) -> Option<ReportedPermissions> {
    let all = [
        (Mode::Normal, false),
        (Mode::Plan, false),
        (Mode::Normal, true),
        (Mode::Plan, true),
    ];
    let mut all = all
        .map(|(mode, read_only)| ReportedPermissions { mode, read_only })
        .into_iter();
    all.find(|reported| effective_permissions(*reported) == words)
}

/// For users: the provider's cache served less than expected.
pub fn cache_miss(usage: &Usage, miss: &CacheMiss, ttl_ms: u64) -> String {
    let expected = usage.expected_cached.unwrap_or(0);
    let served = format!(
        "{} of {expected} tokens were served from it",
        usage.cached_tokens
    );
    let gap = format_duration(miss.gap_ms);
    match miss.cause {
        MissCause::Expired => format!(
            "The provider's cache of this conversation has expired ({} since the last request; it is kept for {}): {served}.",
            gap,
            format_duration(ttl_ms)
        ),
        MissCause::ProbablyExpired => format!(
            "The provider's cache of this conversation has probably expired ({gap} since the last request): {served}."
        ),
        MissCause::Vendor => format!(
            "The provider's cache missed: {served}, although the earlier messages did not change. The entry was evicted, or another server answered."
        ),
        MissCause::Ours => format!(
            "Bug in Reasonix: earlier messages changed without a reason (first difference: {}), so the provider bills them at the full price. Please report this with the output of `reasonix cache`.",
            miss.differs.as_deref().unwrap_or("?")
        ),
        MissCause::NotReported => "The provider does not report cache use.".to_owned(),
    }
}

/// A duration for users: seconds below two minutes, minutes below two hours, then hours.
fn format_duration(ms: u64) -> String {
    match ms / 1_000 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

/// For users: prompts are queued after a turn that a budget ended.
pub fn waits_for_budget(waiting: usize) -> String {
    let prompts = match waiting {
        1 => "1 prompt is queued".to_owned(),
        waiting => format!("{waiting} prompts are queued"),
    };
    format!("{prompts} until you raise the session's budget or send another prompt.")
}

/// The result of a call that updates the todo list: how many items are done, and which one is in progress.
pub fn todo_progress(todos: &[Todo]) -> String {
    if todos.is_empty() {
        return "nothing to be done".to_owned();
    }
    let count = |status| todos.iter().filter(|todo| todo.status == status).count();
    let counts = format!("{} of {} done", count(TodoStatus::Completed), todos.len());
    let mut in_progress = todos.iter();
    match in_progress.find(|todo| todo.status == TodoStatus::InProgress) {
        Some(todo) => format!("{counts}; in progress: {}", todo.active_form),
        None => counts,
    }
}

/// For users: the step limit ends a turn.
pub fn at_step_limit(pid: Pid) -> String {
    format!(
        "The step limit of this turn is reached. Continue with `reasonix resume {pid} --add-steps N`, or send a prompt."
    )
}

/// For users: the time limit ends a turn.
pub fn at_time_limit(pid: Pid) -> String {
    format!(
        "The time limit of this turn is reached. Continue with `reasonix resume {pid} --add-minutes N`, or send a prompt."
    )
}

/// For users: how many steps a turn has that continues after a limit.
pub fn adds_steps(steps: u64) -> String {
    format!("The work continues; more steps: {steps}.")
}

/// For users: how long a turn may run that continues after a limit.
pub fn adds_time(ms: u64) -> String {
    format!("The work continues for {}.", format_duration(ms))
}
