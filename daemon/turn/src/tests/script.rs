//! Scenes as text: what happens stands behind `>`, what the machine makes of it stands below, `|` between.
//!
//! ```text
//! > session headless max_steps=2 timeout_ms=9 tries=2 parallel=1      (first, where it is not the plain one)
//! > user TEXT            > steer TEXT             > unqueue TEXT            > set kind=headless|max_steps=2|paused=true
//! > model says TEXT      > model thinks TEXT      > model cut TEXT          > model filtered TEXT
//! > model calls read a, write b, x:write b, read c!       (ids `a`, `b`, `x`, `c`; `!`: cut by the output limit)
//! > model breaks transient|permanent|too-long|no-key|lost-key [after 7s] [showing TEXT]
//! > policy a allow|ask|deny|refuse|left-denied|left-allowed [seeing OTHER]
//! > ann yes|always|no 7.1 [NOTE]                  > nobody no 7.1 NOTE
//! > ends a ok|failed|interrupted
//! > stop user|term|kill|shutdown [showing TEXT]   > retry | key | close
//! > time up 1 [early]     (when the timer runs out; early: at this moment)  > wait 500     (milliseconds go by)
//! > edit TEXT to OTHER    > edit TEXT to steer OTHER        > move TEXT to 0
//! > pause | resume        > suspend [now]                    > child 9 runs | ends     (told as its records are)
//! > crash continue|idle [before KIND | after KIND] [showing TEXT | showing TEXT of ITEM]
//! ```
//!
//! `read` only reads, `write` does not. A crash keeps the log whole, or cuts it at the last record of a kind.

use std::time::Duration;

use contract::provider::{ErrorKind, ProviderError};
use proto::item::{CallStatus, Finish, ToolCall};
use proto::params::approval::Decision as Answered;
use proto::params::session::When;
use proto::record::{
    ChildExited, ChildKind, ChildSpawned, PromptEdited, PromptMoved, PromptQueued, SessionSet,
    Verdict,
};
use proto::state::Kind;
use proto::{ApprovalId, Body, CallId, ItemId, Pid, Record, Stamp};

use super::checker::Checker;
use super::made::{created, judgement, prompt_id};
use crate::input::{Resolution, Unattended};
use crate::{
    Answer, Effect, Facts, Input, Judgement, Limits, Machine, Now, RecoverPolicy, StopReason,
};

mod told;

use told::told;

/// Plays a scene, and compares what came of each line.
#[track_caller]
pub fn check(script: &str) {
    let mut stage = Stage::new();
    let (mut played, mut wanted) = (Vec::new(), Vec::new());
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        match line.strip_prefix("> ") {
            Some(happens) => {
                played.push((happens, stage.play(happens)));
                wanted.push((happens, Vec::new()));
            }
            None => {
                let (_, made) = wanted
                    .last_mut()
                    .expect("a scene begins with something that happens");
                made.extend(
                    line.split('|')
                        .map(str::trim)
                        .filter(|part| !part.is_empty())
                        .map(str::to_owned),
                );
            }
        }
    }
    let tell = |scene: &[(&str, Vec<String>)]| -> String {
        scene
            .iter()
            .map(|(happens, made)| format!("> {happens}\n  {}\n", made.join(" | ")))
            .collect()
    };
    assert!(
        played == wanted,
        "it went so:\n{}\nand not so:\n{}",
        tell(&played),
        tell(&wanted)
    );
    Checker::of(&stage.log).no_prompt_is_lost();
}

struct Stage {
    machine: Machine,
    limits: Limits,
    log: Vec<Record>,
    now: Now,
    prompts: Vec<String>,
    /// The newest wait for another try.
    retry: (ItemId, u32),
    /// When the newest timer of a turn runs out.
    due_ms: u64,
}

impl Stage {
    fn new() -> Self {
        let mut stage = Self {
            machine: Machine::new(Facts::default(), Limits::default()),
            limits: Limits::default(),
            log: Vec::new(),
            now: Now {
                wall: Stamp(0),
                mono_ms: 0,
            },
            prompts: Vec::new(),
            retry: (ItemId::from("none"), 0),
            due_ms: 0,
        };
        stage.begin("");
        stage
    }

    /// A new session with these settings.
    fn begin(&mut self, settings: &str) {
        let mut record = created(Kind::Interactive, 0, 0);
        self.limits = Limits::default();
        for setting in settings.split_whitespace() {
            match setting.split_once('=') {
                None => record.kind = kind(setting),
                Some(("max_steps", steps)) => record.max_steps = number(steps),
                Some(("timeout_ms", ms)) => record.timeout_ms = number(ms),
                Some(("tries", tries)) => {
                    self.limits.retry_tries = tries.parse().expect("a number")
                }
                Some(("parallel", count)) => {
                    self.limits.parallel = count.parse().expect("a number")
                }
                Some((other, _)) => panic!("there is no setting `{other}`"),
            }
        }
        self.machine = Machine::new(Facts::default(), self.limits);
        self.log.clear();
        let effects = self.machine.record(Body::SessionCreated(record), self.now);
        self.keep(&effects);
    }

    /// Lets a line of the script happen, and tells what came of it.
    fn play(&mut self, line: &str) -> Vec<String> {
        let (who, what) = line.split_once(' ').unwrap_or((line, ""));
        let input = match who {
            "session" => {
                self.begin(what);
                return Vec::new();
            }
            "crash" => {
                let effects = self.crash(what);
                return self.keep(&effects);
            }
            "user" => self.prompt(what, When::Queue),
            "steer" => self.prompt(what, When::Steer),
            "unqueue" => Input::Unqueue(self.prompt_named(what)),
            "set" => set(what),
            "model" => model(what),
            "policy" => self.policy(what),
            "ann" => answer_question(what, false),
            "nobody" => answer_question(what, true),
            "ends" => ends(what),
            "stop" => stop(what),
            "edit" => self.edit(what),
            "move" => {
                let (text, place) = what.split_once(" to ").expect("move TEXT to PLACE");
                Input::Move(PromptMoved {
                    prompt_id: self.prompt_named(text),
                    position: number(place),
                    by: "ann".into(),
                    request_id: None,
                })
            }
            "pause" | "resume" => Input::Pause {
                paused: who == "pause",
                by: "ann".into(),
                request_id: None,
            },
            "suspend" if what == "now" => Input::SuspendNow,
            "suspend" => Input::Suspend,
            "child" => child(what),
            "wait" => {
                self.wait(number(what));
                return Vec::new();
            }
            "time" => {
                let turn = what.strip_prefix("up ").expect("time up TURN");
                let (turn, early) = turn
                    .strip_suffix(" early")
                    .map_or((turn, false), |turn| (turn, true));
                if !early {
                    self.wait(self.due_ms.saturating_sub(self.now.mono_ms));
                }
                let turn = number(turn);
                Input::TimeUp {
                    turn,
                    partial: None,
                }
            }
            "retry" => Input::RetryDue {
                item: self.retry.0.clone(),
                attempt: self.retry.1,
            },
            "key" => Input::CredentialsArrived,
            "close" => Input::Close { request_id: None },
            other => panic!("nobody is called `{other}`"),
        };
        let effects = self.machine.step(input, self.now);
        self.keep(&effects)
    }

    fn keep(&mut self, effects: &[Effect]) -> Vec<String> {
        for effect in effects {
            match effect {
                Effect::Append(record) => self.log.push(record.clone()),
                Effect::Retry { item, attempt, .. } => self.retry = (item.clone(), *attempt),
                Effect::ArmTimeout { in_ms, .. } => self.due_ms = self.now.mono_ms + in_ms,
                _ => {}
            }
        }
        effects.iter().filter_map(told).collect()
    }

    fn prompt(&mut self, text: &str, when: When) -> Input {
        self.prompts.push(text.to_owned());
        let prompt = PromptQueued {
            prompt_id: self.prompt_named(text),
            text: text.to_owned(),
            steer: when == When::Steer,
            by: "ann".into(),
            request_id: None,
        };
        Input::Prompt { prompt, when }
    }

    /// Time goes by, on both clocks.
    fn wait(&mut self, ms: u64) {
        self.now.mono_ms += ms;
        self.now.wall.0 += i64::try_from(ms).expect("small");
    }

    /// `TEXT to OTHER`: from now on the prompt is named by its new words.
    fn edit(&mut self, what: &str) -> Input {
        let (text, other) = what.split_once(" to ").expect("edit TEXT to OTHER");
        let (steer, other) = other
            .strip_prefix("steer ")
            .map_or((false, other), |other| (true, other));
        let prompt_id = self.prompt_named(text);
        let place = self.prompts.iter().rposition(|prompt| prompt == text);
        other.clone_into(&mut self.prompts[place.expect("somebody said that")]);
        Input::Edit(PromptEdited {
            prompt_id,
            text: other.to_owned(),
            steer,
            by: "ann".into(),
            request_id: None,
        })
    }

    fn prompt_named(&self, text: &str) -> proto::PromptId {
        let place = self
            .prompts
            .iter()
            .rposition(|prompt| prompt == text)
            .expect("somebody said that");
        prompt_id(u64::try_from(place).expect("small") + 1)
    }

    fn policy(&self, what: &str) -> Input {
        let (what, seeing) = what.split_once(" seeing ").unwrap_or((what, "it"));
        let (id, says) = what.split_once(' ').expect("policy CALL VERDICT");
        let open = self
            .machine
            .facts()
            .open
            .iter()
            .flat_map(|open| &open.calls);
        let call = open
            .map(|open| &open.call)
            .find(|call| call.id.0 == id)
            .expect("the model made that call")
            .clone();
        let wait = Unattended::Wait;
        let (verdict, unattended) = match says {
            "allow" => (Verdict::Allow, wait),
            "ask" => (Verdict::Ask, wait),
            "deny" => (Verdict::Deny, wait),
            "left-denied" => (
                Verdict::Ask,
                Unattended::Deny("Nobody was there; `--allow` would do.".into()),
            ),
            "left-allowed" => (Verdict::Ask, Unattended::Allow),
            "refuse" => {
                let judgement = Box::new(Judgement::Refused(contract::Outcome::refused(
                    "There is no such tool.",
                )));
                return Input::Judged {
                    call: call.id,
                    judgement,
                };
            }
            other => panic!("policy never says `{other}`"),
        };
        let mut judgement = judgement(&call, verdict, unattended, call.name == "read", 0);
        if let Judgement::Decided { question, .. } = &mut judgement {
            seeing.clone_into(&mut question.shown_hash);
        }
        Input::Judged {
            call: call.id,
            judgement: Box::new(judgement),
        }
    }

    /// The daemon dies; the log is cut; it comes back.
    fn crash(&mut self, what: &str) -> Vec<Effect> {
        let (what, shown) = what
            .split_once(" showing ")
            .map_or((what, None), |(what, shown)| (what, Some(shown)));
        let words: Vec<_> = what.split(' ').collect();
        let last = |kind: &str| {
            self.log
                .iter()
                .rposition(|record| record.body.kind() == kind)
                .expect("it is in the log")
        };
        let kept = match words[..] {
            [_] => self.log.len(),
            [_, "before", kind] => last(kind),
            [_, "after", kind] => last(kind) + 1,
            _ => panic!("crash POLICY [before|after KIND]"),
        };
        let policy = match words[0] {
            "continue" => RecoverPolicy::Continue,
            "idle" => RecoverPolicy::Idle,
            other => panic!("there is no recovery `{other}`"),
        };
        self.log.truncate(kept);
        self.machine = Machine::new(Facts::fold(&self.log), self.limits);
        self.now.mono_ms = 0;
        let kept = shown.map(|shown| self.kept(shown));
        self.machine.recover(policy, kept, self.now)
    }

    /// What the side file holds: of the answer that is asked for, or of `ITEM`.
    fn kept(&self, shown: &str) -> (ItemId, Answer) {
        let (text, item) = match shown.split_once(" of ") {
            Some((text, item)) => (text, ItemId::from(item)),
            None => {
                let open = self.machine.facts().open.as_ref();
                (shown, open.expect("a turn is open").next_item())
            }
        };
        let answer = Answer {
            text: text.to_owned(),
            ..Answer::default()
        };
        (item, answer)
    }
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}

/// `9 runs`, `9 ends`.
fn child(what: &str) -> Input {
    let (pid, does) = what.split_once(' ').expect("child PID runs|ends");
    let pid = Pid(number(pid));
    match does {
        "runs" => Input::ChildSpawned(ChildSpawned {
            pid,
            kind: ChildKind::Shell,
            call: CallId::from("a"),
            command: "sleep 9".into(),
        }),
        "ends" => Input::ChildExited(ChildExited {
            pid,
            code: Some(0),
            signal: None,
            cause: None,
        }),
        other => panic!("no child `{other}`"),
    }
}

fn kind(text: &str) -> Kind {
    match text {
        "headless" => Kind::Headless,
        "interactive" => Kind::Interactive,
        other => panic!("there is no kind `{other}`"),
    }
}

fn set(what: &str) -> Input {
    let (key, value) = what.split_once('=').expect("set KEY=VALUE");
    Input::Set(match key {
        "kind" => SessionSet {
            kind: Some(kind(value)),
            ..SessionSet::default()
        },
        "max_steps" => SessionSet {
            max_steps: Some(number(value)),
            ..SessionSet::default()
        },
        "paused" => SessionSet {
            paused: Some(value == "true"),
            ..SessionSet::default()
        },
        other => panic!("there is no setting `{other}`"),
    })
}

fn model(what: &str) -> Input {
    let (does, what) = what.split_once(' ').unwrap_or((what, ""));
    let says = |text: &str, finish| Answer {
        text: text.to_owned(),
        finish: Some(finish),
        ..Answer::default()
    };
    let answer = match does {
        "says" => says(what, Finish::Stop),
        "cut" => says(what, Finish::Length),
        "filtered" => says(what, Finish::ContentFilter),
        "thinks" => Answer {
            reasoning: what.to_owned(),
            ..says("", Finish::Stop)
        },
        "calls" => Answer {
            calls: what.split(", ").map(call).collect(),
            ..says("", Finish::ToolCalls)
        },
        "breaks" => return breaks(what),
        other => panic!("a model never `{other}`"),
    };
    Input::Answered(Box::new(answer))
}

/// `read a`, `x:read a`, `read a!`.
fn call(text: &str) -> ToolCall {
    let (text, cut) = text
        .strip_suffix('!')
        .map_or((text, false), |text| (text, true));
    let (id, text) = text
        .split_once(':')
        .map_or((None, text), |(id, text)| (Some(id), text));
    let (name, subject) = text.split_once(' ').expect("TOOL SUBJECT");
    let arguments = format!("{{\"path\":\"{subject}\"}}");
    ToolCall {
        id: CallId::from(id.unwrap_or(subject)),
        name: name.to_owned(),
        arguments,
        cut,
    }
}

fn breaks(what: &str) -> Input {
    let (what, shown) = what.split_once(" showing ").unwrap_or((what, ""));
    let (what, after) = what
        .split_once(" after ")
        .map_or((what, None), |(what, after)| (what, Some(after)));
    let kind = match what {
        "transient" => ErrorKind::Transient,
        "permanent" => ErrorKind::Permanent,
        "too-long" => ErrorKind::ContextLength,
        "no-key" | "lost-key" => ErrorKind::Credentials,
        other => panic!("nothing breaks `{other}`"),
    };
    let retry_after = after.map(|after| Duration::from_secs(number(after.trim_end_matches('s'))));
    let error = ProviderError {
        message: what.to_owned(),
        hint: String::new(),
        kind,
        status: None,
        retry_after,
    };
    let partial = Box::new(Answer {
        text: shown.to_owned(),
        ..Answer::default()
    });
    // Chance at its most: the waits are then 500, 1000, 2000, … milliseconds.
    Input::Broke {
        error,
        partial,
        jitter: 1.0,
        key_lost: what == "lost-key",
    }
}

fn answer_question(what: &str, unattended: bool) -> Input {
    let mut words = what.splitn(3, ' ');
    let decision = match words.next() {
        Some("yes") => Answered::AllowOnce,
        Some("always") => Answered::AllowSession,
        Some("no") => Answered::Deny,
        other => panic!("nobody answers {other:?}"),
    };
    Input::Resolved(Box::new(Resolution {
        approval_id: ApprovalId::from(words.next().expect("ANSWER QUESTION")),
        decision,
        scope: None,
        note: words.next().map(str::to_owned),
        by: if unattended {
            "reasonix".into()
        } else {
            "ann".into()
        },
        unattended,
        request_id: None,
    }))
}

fn ends(what: &str) -> Input {
    let (call, how) = what.split_once(' ').expect("ends CALL HOW");
    let status = match how {
        "ok" => CallStatus::Ok,
        "failed" => CallStatus::Failed,
        "interrupted" => CallStatus::Interrupted,
        other => panic!("no call ends `{other}`"),
    };
    let outcome = Box::new(contract::Outcome::with_status(status, "its output"));
    Input::CallEnded {
        call: CallId::from(call),
        outcome,
        duration_ms: 5,
    }
}

fn stop(what: &str) -> Input {
    let (why, shown) = what
        .split_once(" showing ")
        .map_or((what, None), |(why, shown)| (why, Some(shown)));
    let reason = match why {
        "user" => StopReason::User,
        "term" => StopReason::Term,
        "kill" => StopReason::Kill,
        "shutdown" => StopReason::Shutdown,
        other => panic!("nothing stops for `{other}`"),
    };
    let partial = shown.map(|text| {
        Box::new(Answer {
            text: text.to_owned(),
            ..Answer::default()
        })
    });
    Input::Stop { reason, partial }
}
