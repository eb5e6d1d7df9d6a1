//! Planner and executor: a turn that starts with a user's prompt is planned by a session of its own, with another model,
//! before the session's model works on it.
//!
//! | the turn's prompt | planned |
//! |---|---|
//! | in a session without `planner_model`, a sub-agent among them | no |
//! | in plan mode | no: the session's model makes the plan, for the user |
//! | in a turn of a goal | no |
//! | from another session, or one that continues work after a limit | no |
//! | a command: begins with `!`, or with `/` and a name | no |
//! | only tells the model to go on, agrees, or thanks | no |
//! | asks to work without a plan | no |
//! | any other of a user | yes |
//!
//! Steering joins a turn and starts none, so it is never planned. The decision is in the log (`planner.started`): a
//! daemon that starts continues the planning, and does not decide again.

use contract::PlanRequest;
use proto::Body;
use proto::SessionOptions;
use proto::item::Voice;
use proto::params::session::QueuedPrompt;
use proto::record::{Level, PlannerFinished, PlannerStarted, PlanningOutcome, SessionSet};
use proto::state::{Kind, Mode, OnAsk};
use proto::{TextOrigin, UntypedText};

use crate::complexity::looks_complex;
use crate::facts::{Facts, Planning};
use crate::input::Effect;
use crate::machine::{Phase, Step};
use crate::words;

/// Prompts that need no plan, in lower case and without punctuation.
const TRIVIAL: [&str; 38] = [
    "continue",
    "go on",
    "go ahead",
    "carry on",
    "proceed",
    "keep going",
    "next",
    "yes",
    "y",
    "yep",
    "yeah",
    "yes please",
    "ok",
    "okay",
    "sure",
    "do it",
    "do that",
    "try again",
    "again",
    "retry",
    "no",
    "n",
    "stop",
    "thanks",
    "thank you",
    "good",
    "great",
    "继续",
    "接着",
    "接着做",
    "好",
    "好的",
    "是",
    "是的",
    "可以",
    "再试一次",
    "谢谢",
    "不",
];

/// Words with which a user asks for work without a plan.
const WITHOUT_PLAN: [&str; 7] = [
    "just do it",
    "without a plan",
    "without planning",
    "don't plan",
    "不用计划",
    "不要计划",
    "直接做",
];

/// Letters of the last answer that the planner gets.
const ANSWER_MAX: usize = 6_000;

/// The model that plans the turn of this prompt. `None`: the turn is not planned. See the table above.
fn planner_of<'a>(facts: &'a Facts, prompt: &QueuedPrompt, voice: Voice) -> Option<&'a str> {
    let model = facts.options.planner_model.as_deref()?;
    let planned = facts.options.mode != Some(Mode::Plan) && may_be_planned(facts, prompt, voice);
    planned.then_some(model)
}

/// Whether a prompt, by where it comes from and by its text, may be planned.
fn may_be_planned(facts: &Facts, prompt: &QueuedPrompt, voice: Voice) -> bool {
    facts.goal.is_none()
        && voice == Voice::Prompt
        && !facts.added.contains_key(&prompt.prompt_id)
        && needs_plan(&typed_of(prompt))
}

/// A prompt without what stands beside it, such as a piped file.
fn typed_of(prompt: &QueuedPrompt) -> String {
    UntypedText::cut(&prompt.text, &prompt.untyped, |origin| {
        origin == TextOrigin::Quoted
    })
}

/// Whether a prompt, by its text, is worth a plan.
fn needs_plan(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    let bare = text.replace(
        |letter: char| letter.is_ascii_punctuation() || "，。！？、；：…".contains(letter),
        " ",
    );
    let bare = bare.split_whitespace().collect::<Vec<_>>().join(" ");
    let straight = text.replace('’', "'");
    !bare.is_empty()
        && !is_command(&text)
        && !TRIVIAL.contains(&&*bare)
        && !WITHOUT_PLAN.iter().any(|words| straight.contains(words))
}

/// Whether a prompt is a command, of the user or of the shell. A path is none.
fn is_command(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    let command = word.strip_prefix('/');
    text.starts_with('!') || command.is_some_and(|name| !name.contains('/'))
}

/// The planner's task: the prompt, and what it cannot know because another session has said it: a new planner the
/// `conversation` so far.
fn task(prompt: &str, conversation: Option<&str>, last_answer: &str) -> String {
    let answer = last_answer.trim();
    let conversation = conversation.map_or_else(String::new, |shown| {
        let shown = shown.replace("</conversation", "<\\/conversation");
        format!("\n\n<conversation>\n{shown}\n</conversation>")
    });
    if answer.is_empty() {
        return format!("{prompt}{conversation}");
    }
    let end = answer.char_indices().nth(ANSWER_MAX).map(|(at, _)| at);
    let cut = end.map_or("", |_| "\n(cut)");
    let shown = &answer[..end.unwrap_or(answer.len())];
    let shown = shown.replace("</last-answer", "<\\/last-answer");
    format!("{prompt}{conversation}\n\n<last-answer>\n{shown}{cut}\n</last-answer>")
}

impl Step<'_> {
    /// Sets plan mode before the turn of a prompt that looks like work of many steps, where the session is to do so.
    pub(crate) fn decide_plan_mode(&mut self, prompt: &QueuedPrompt, voice: Voice) {
        let options = &self.facts.options;
        let wanted = options.auto_plan == Some(true)
            && options.kind.unwrap_or_default() == Kind::Interactive
            && options.mode != Some(Mode::Plan)
            && matches!(self.facts.on_ask(), OnAsk::Wait | OnAsk::Park)
            && may_be_planned(self.facts, prompt, voice)
            && looks_complex(&typed_of(prompt));
        if wanted {
            self.append(Body::SessionSet(SessionSet {
                options: SessionOptions {
                    mode: Some(Mode::Plan),
                    ..SessionOptions::default()
                },
                ..SessionSet::default()
            }));
            self.notice(Level::Info, words::STARTS_IN_PLAN_MODE.to_owned());
        }
    }

    /// Logs that the open turn is planned, if it is. Called before the message of its prompt is logged.
    pub(crate) fn decide_planning(&mut self, prompt: &QueuedPrompt, voice: Voice) {
        if self.facts.is_planning() {
            // A daemon that was killed before the message was logged has decided it.
            return;
        }
        if let Some(model) = planner_of(self.facts, prompt, voice) {
            let model = model.to_owned();
            self.append(Body::PlannerStarted(PlannerStarted { model }));
        }
    }

    /// Continues an open turn whose model has not been asked yet: with the planner, with its plan, or without.
    pub(crate) fn continue_planning(&mut self) -> Phase {
        let Some(open) = &self.facts.open else {
            return Phase::Idle;
        };
        match open.planning.clone() {
            Planning::None => self.ask_again(),
            Planning::Running { .. } if self.held() => Phase::Held,
            Planning::Running { model } => {
                let conversation = self.facts.conversation_for_new_planner(&model);
                let last_answer = &self.facts.planner.last_answer;
                self.effects.push(Effect::Plan(PlanRequest {
                    turn: open.number,
                    round: self.facts.planner.round,
                    prompt_id: open.prompt_id,
                    task: task(&open.prompt, conversation.as_deref(), last_answer),
                    model,
                }));
                Phase::Planning
            }
            Planning::Due { plan } => {
                self.say(words::plan(&plan), None, None, Voice::Daemon);
                self.ask_again()
            }
        }
    }

    /// The planner has ended: the session's model goes on with its plan, or without one.
    pub(crate) fn planned(&mut self, phase: Phase, finished: PlannerFinished) -> Phase {
        let turn = self.facts.open.as_ref().map(|open| open.number);
        if phase != Phase::Planning || turn != Some(finished.turn) {
            return phase;
        }
        let why = finished.why.clone();
        let failed = finished.outcome != PlanningOutcome::Planned;
        self.append(Body::PlannerFinished(finished));
        if failed {
            let why = why.unwrap_or_default();
            self.notice(Level::Warning, words::without_plan(&why));
        }
        self.continue_planning()
    }

    /// The turn is stopped while the planner works. What it has used is reported when it has ended.
    pub(crate) fn stop_planning(&mut self) {
        let Some(open) = self
            .facts
            .open
            .as_ref()
            .filter(|_| self.facts.is_planning())
        else {
            return;
        };
        let turn = open.number;
        self.effects.push(Effect::CancelPlan);
        self.append(Body::PlannerFinished(PlannerFinished {
            turn,
            outcome: PlanningOutcome::Stopped,
            session: None,
            pid: None,
            plan: String::new(),
            why: None,
            duration_ms: 0,
        }));
    }
}

#[cfg(test)]
mod tests;
