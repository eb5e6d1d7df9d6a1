use proptest::prelude::*;
use proto::item::{
    AssistantMessage, CallStatus, Finish, ToolCall, ToolMessage, UserMessage, Voice,
};
use proto::outcome::{OutcomeKind, TurnEnded};
use proto::params::history::{TurnCause, What};
use proto::record::{
    ContinueReason, SessionRewound, Todo, TodoStatus, TodoUpdated, TurnStarted, Usage,
};
use proto::{Body, CallId, ItemId, PromptId, Record, Seq, Stamp};

use super::normalize_runs;
use crate::Facts;

/// A reference model of a session that tracks turns, not runs of records.
#[derive(Default)]
struct Session {
    log: Vec<Record>,
    facts: Facts,
    open: Option<u64>,
    /// For each turn: its messages, complete answers, user messages, tokens, and todo list.
    turns: Vec<Turn>,
    visible: Vec<u64>,
    /// Undoable rewinds: the shown turns before each, and whether it only restored files.
    done: Vec<(Seq, What, Vec<u64>)>,
    /// The shown messages when the log ended with this record.
    history: Vec<Vec<Seq>>,
}

#[derive(Clone, Default)]
struct Turn {
    messages: Vec<Seq>,
    answered: u64,
    spoken: u64,
    tokens: Option<u64>,
    todos: Option<Vec<Todo>>,
}

impl Session {
    fn add(&mut self, body: Body) {
        let record = Record {
            seq: self.facts.seq.next(),
            at: Stamp(self.log.len() as i64),
            turn: self.open,
            body,
        };
        self.facts.apply(&record);
        if let Some(turn) = self.turns.last_mut().filter(|_| self.open.is_some()) {
            match &record.body {
                Body::User(_) => turn.spoken += 1,
                Body::Assistant(said) => {
                    turn.answered += u64::from(said.finish != Finish::Interrupted);
                }
                Body::Usage(usage) => turn.tokens = Some(usage.prompt_tokens),
                Body::TodoUpdated(updated) => turn.todos = Some(updated.todos.clone()),
                _ => {}
            }
            if matches!(
                record.body,
                Body::User(_) | Body::Assistant(_) | Body::Tool(_)
            ) {
                turn.messages.push(record.seq);
            }
        }
        self.log.push(record);
        self.history.push(self.messages());
    }

    fn messages(&self) -> Vec<Seq> {
        let shown = self
            .visible
            .iter()
            .map(|turn| &self.turns[*turn as usize - 1]);
        shown.flat_map(|turn| turn.messages.clone()).collect()
    }

    /// Adds a turn with some answers; all but the last make a call.
    fn turn(&mut self, answers: usize, broken: bool) {
        let number = self.turns.len() as u64 + 1;
        self.turns.push(Turn::default());
        self.visible.push(number);
        self.open = Some(number);
        let item = ItemId("m".into());
        self.add(Body::TurnStarted(TurnStarted {
            prompt_id: PromptId::default(),
        }));
        self.add(Body::User(UserMessage {
            item: item.clone(),
            prompt_id: None,
            text: format!("\n prompt {number}\nmore"),
            context: None,
            voice: Voice::Prompt,
            from: None,
            attached: Vec::new(),
            reported: Vec::new(),
        }));
        for answer in 0..answers {
            let last = answer + 1 == answers;
            let call = CallId(format!("c{number}.{answer}"));
            self.add(Body::Usage(usage(number * 100 + answer as u64)));
            self.add(Body::Assistant(AssistantMessage {
                item: item.clone(),
                text: "words".into(),
                reasoning: String::new(),
                calls: if last {
                    Vec::new()
                } else {
                    vec![a_call(&call)]
                },
                thoughts: Vec::new(),
                finish: if last && broken {
                    Finish::Interrupted
                } else {
                    Finish::Stop
                },
            }));
            if !last {
                self.add(Body::TodoUpdated(TodoUpdated {
                    todos: vec![a_todo(&call.0)],
                }));
                self.add(Body::Tool(ToolMessage {
                    item: item.clone(),
                    call,
                    tool: "read".into(),
                    status: CallStatus::Ok,
                    text: String::new(),
                    images: Vec::new(),
                }));
            }
        }
        self.add(Body::TurnEnded(ended()));
        self.open = None;
    }

    fn rewind(&mut self, to_turn: u64, what: What) {
        let plan = self.facts.plan_rewind(to_turn);
        let known = to_turn == 0 || self.visible.contains(&to_turn);
        assert_eq!(plan.is_some(), known, "a turn that is shown, or none");
        let Some(plan) = plan else { return };
        let hidden = self.visible.iter().filter(|turn| **turn > to_turn).count();
        assert_eq!((plan.turns, plan.to_turn), (hidden as u64, to_turn));
        let left = self.visible.len() - hidden;
        assert!(plan.shown.len() <= left, "no more runs than turns");
        self.done
            .push((self.facts.seq.next(), what, self.visible.clone()));
        if what != What::Code {
            self.visible.retain(|turn| *turn <= to_turn);
        }
        self.add(rewound(plan, what, None));
    }

    fn undo(&mut self) {
        let undoable = self.facts.undoable().cloned();
        let Some((seq, what, before)) = self.done.pop() else {
            assert_eq!(undoable, None, "nothing is left to be taken back");
            return;
        };
        let rewind = undoable.expect("there is a rewind");
        assert_eq!((rewind.seq, rewind.what), (seq, what), "the newest first");
        let plan = self.facts.plan_undo(&rewind);
        assert_eq!(plan.to_turn, before.last().copied().unwrap_or_default());
        if what != What::Code {
            let gone = self.visible.iter().filter(|turn| !before.contains(turn));
            let back = before.iter().filter(|turn| !self.visible.contains(turn));
            assert_eq!(plan.turns, (gone.count() + back.count()) as u64);
            self.visible = before;
        }
        self.add(rewound(plan, what, Some(seq)));
    }

    fn agrees(&self) {
        let facts = &self.facts;
        let marks: Vec<_> = facts.marks.iter().map(|mark| mark.turn).collect();
        assert_eq!(marks, self.visible, "turns");
        assert_eq!(
            facts.shown_turn(),
            self.visible.last().copied().unwrap_or_default()
        );
        for mark in &facts.marks {
            assert_eq!(mark.prompt, format!("prompt {}", mark.turn));
        }
        let shown = self
            .visible
            .iter()
            .map(|turn| &self.turns[*turn as usize - 1]);
        let shown: Vec<_> = shown.collect();
        let answered: u64 = shown.iter().map(|turn| turn.answered).sum();
        let spoken: u64 = shown.iter().map(|turn| turn.spoken).sum();
        let tokens = shown.iter().rev().find_map(|turn| turn.tokens);
        let todos = shown.iter().rev().find_map(|turn| turn.todos.clone());
        assert_eq!((facts.answered, facts.spoken), (answered, spoken));
        assert_eq!(facts.context_tokens, tokens.unwrap_or_default());
        assert_eq!(facts.todos, todos.unwrap_or_default());
        assert_eq!(facts.turns, self.turns.len() as u64, "numbers go on");
        for (then, seq) in self.history.iter().zip(1..) {
            let runs = facts.shown_upto(Seq(seq));
            let ordered = runs.windows(2).all(|two| two[0].1 < two[1].0);
            assert!(ordered && runs.iter().all(|run| run.0 <= run.1), "{runs:?}");
            let among = |seq: &Seq| runs.iter().any(|run| (run.0..=run.1).contains(seq));
            let all = self.turns.iter().flat_map(|turn| &turn.messages);
            let shown: Vec<_> = all.copied().filter(among).collect();
            assert_eq!(shown, *then, "as it was shown at {seq}");
        }
        assert_eq!(Facts::fold(&self.log), *facts, "a fold knows the same");
    }
}

fn rewound(plan: super::RewindPlan, what: What, undoes: Option<Seq>) -> Body {
    Body::SessionRewound(SessionRewound {
        to_turn: plan.to_turn,
        what,
        undoes,
        shown: (what != What::Code).then_some(plan.shown),
        todos: None,
        files: Vec::new(),
        by: "ann".into(),
        request_id: None,
    })
}

fn a_call(id: &CallId) -> ToolCall {
    ToolCall {
        id: id.clone(),
        name: "read".into(),
        arguments: "{}".into(),
        cut: false,
        found: false,
    }
}

fn a_todo(content: &str) -> Todo {
    Todo {
        content: content.to_owned(),
        active_form: String::new(),
        status: TodoStatus::Pending,
    }
}

fn usage(prompt_tokens: u64) -> Usage {
    Usage {
        item: ItemId("m".into()),
        provider: String::new(),
        model: String::new(),
        purpose: proto::record::Purpose::Answer,
        step: 1,
        attempt: 1,
        prompt_tokens,
        cached_tokens: 0,
        expected_cached: None,
        output_tokens: 0,
        reasoning_tokens: 0,
        cache_write_tokens: 0,
        reported: true,
        cost_micros: None,
        request_bytes: 0,
        first_token_ms: 0,
        duration_ms: 0,
        cache_miss: None,
    }
}

fn ended() -> TurnEnded {
    TurnEnded {
        outcome: OutcomeKind::Completed,
        reason: None,
        text: String::new(),
        error: None,
        usage: proto::outcome::UsageTotals::default(),
        tree_usage: None,
        steps: 0,
        tool_calls: 0,
        duration_ms: 0,
        denied: Vec::new(),
        hooks: false,
        supervised: false,
    }
}

#[derive(Clone, Debug)]
enum Does {
    Turn(usize, bool),
    Rewind(u64, What),
    Undo,
}

fn does() -> impl Strategy<Value = Does> {
    let what = prop_oneof![Just(What::Both), Just(What::Conversation), Just(What::Code)];
    prop_oneof![
        3 => (0_usize..4, any::<bool>()).prop_map(|(answers, broken)| Does::Turn(answers, broken)),
        2 => (0_u64..10, what).prop_map(|(turn, what)| Does::Rewind(turn, what)),
        2 => Just(Does::Undo),
    ]
}

fn many() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn turns_are_hidden_and_shown_as_somebody_would_who_keeps_them_in_mind(
        doings in prop::collection::vec(does(), 0..24),
    ) {
        let mut session = Session::default();
        for does in doings {
            match does {
                Does::Turn(answers, broken) => session.turn(answers, broken),
                Does::Rewind(turn, what) => session.rewind(turn, what),
                Does::Undo => session.undo(),
            }
            session.agrees();
        }
    }

    /// An edited log may name any runs.
    #[test]
    fn runs_from_any_log_are_normalized(
        runs in prop::collection::vec((edge(), edge()), 0..6),
        before in edge(),
        seq in edge(),
    ) {
        let runs: Vec<_> = runs.into_iter().map(|(first, last)| (Seq(first), Seq(last))).collect();
        let tidy = normalize_runs(&runs, Seq(before));
        for run in &tidy {
            prop_assert!(Seq(0) < run.0 && run.0 <= run.1 && run.1 < Seq(before));
            prop_assert!(runs.iter().any(|named| named.0 <= run.0 && run.1 <= named.1));
        }
        prop_assert!(tidy.windows(2).all(|two| two[0].1 < two[1].0));
        let view = super::ConversationView { runs: tidy, since: Seq(before), bases: Vec::new() };
        let upto = view.upto(Seq(seq));
        prop_assert!(upto.iter().all(|run| run.0 <= run.1 && run.1 <= Seq(seq)));
        prop_assert!(upto.iter().all(|run| view.shows(run.0) && view.shows(run.1)));
        prop_assert!(!view.shows(Seq(before)));
    }
}

/// Numbers that are close together, or at the extremes.
fn edge() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0_u64..12, 1 => (u64::MAX - 2)..=u64::MAX]
}

#[test]
fn rewind_during_a_turn_hides_nothing() {
    let mut session = Session::default();
    session.turn(1, false);
    session.turn(3, false);
    let plan = session.facts.plan_rewind(1).expect("it is shown");
    // Only an edited log lacks this line.
    session.log.pop();
    let mut facts = Facts::fold(&session.log);
    let body = rewound(plan, What::Both, None);
    let seq = facts.seq.next();
    facts.apply(&Record {
        seq,
        at: Stamp(0),
        turn: Some(2),
        body,
    });
    assert_eq!(facts.shown_upto(seq), [(Seq(1), seq)]);
    assert_eq!(facts.shown_turn(), 2);
}

#[test]
fn a_rewind_is_known_by_its_request_id() {
    use crate::facts::content_of_rewind;

    let mut session = Session::default();
    session.turn(1, false);
    session.turn(1, false);
    let (to, back) = (request(1), request(2));
    let plan = session.facts.plan_rewind(1).expect("it is shown");
    let asked_by = |body, id| match body {
        Body::SessionRewound(rewound) => Body::SessionRewound(SessionRewound {
            request_id: Some(id),
            ..rewound
        }),
        other => other,
    };
    session.add(asked_by(rewound(plan, What::Both, None), to));
    let rewind = session.facts.undoable().cloned().expect("there is one");
    let plan = session.facts.plan_undo(&rewind);
    session.add(asked_by(rewound(plan, What::Both, Some(rewind.seq)), back));
    let done = |id| session.facts.requests[&id].content.clone();
    assert_eq!(done(to), content_of_rewind(Some(1), What::Both));
    assert_eq!(done(back), content_of_rewind(None, What::Conversation));
    assert_ne!(done(to), content_of_rewind(Some(1), What::Code));
    assert_ne!(done(to), done(back));
}

fn request(number: u64) -> proto::RequestId {
    format!("00000000-0000-0000-0000-{number:012x}")
        .parse()
        .expect("it is a UUID")
}

#[test]
fn a_turn_that_no_prompt_started_has_a_cause() {
    let log = crate::tests::script::log_of(
        "
        > goal make it work
        > model says I have begun.
        > model calls read a
        > policy a reports continue half of it
        > ends a ok
        > model says More.
        > ungoal
        > model says Stopped.
        > agent All is found.
        > model says Good.
    ",
    );
    let facts = Facts::fold(&log);
    let causes: Vec<_> = facts
        .marks
        .iter()
        .map(|mark| (mark.prompt.as_str(), mark.cause.clone()))
        .collect();
    let goal = |number, why, detail: &str| {
        let detail = detail.to_owned();
        Some(TurnCause::Goal {
            number,
            why,
            detail,
        })
    };
    assert_eq!(causes[0], ("make it work", None));
    assert_eq!(causes[1], ("", goal(2, ContinueReason::NoReport, "")));
    assert!(
        matches!(causes.last(), Some(("", Some(TurnCause::Message { text, .. }))) if text == "All is found."),
        "{causes:?}"
    );
}
