use proptest::prelude::*;
use proto::item::{AssistantMessage, ToolCall, ToolMessage, UserMessage};
use proto::record::{Notice, SessionRewound, TodoUpdated, ToolStarted, TurnStarted};
use proto::{ItemId, PromptId, Stamp};
use serde_json::json;

use super::*;

/// A log in the making.
#[derive(Default)]
struct Story(Vec<Record>, Option<u64>);

impl Story {
    fn new() -> Self {
        let created = serde_json::from_value(json!({
            "session": "0189aaaa-0000-7000-8000-000000000001", "pid": 3, "ppid": 0, "epoch": 1,
            "cwd": "/w/a `b`", "root": "/w", "provider_kind": "openai", "model": "vendor/m",
            "context_window": 0, "prefix_sha256": "", "tools": [], "kind": "interactive", "approval_mode": "ask", "on_ask": "wait",
            "name": "the <b>name</b>", "max_steps": 0, "timeout_ms": 0, "env": {}, "version": "0",
        }));
        let mut story = Self::default();
        story.then(Body::SessionCreated(created.unwrap()));
        story
    }

    fn then(&mut self, body: Body) -> &mut Self {
        let seq = Seq(self.0.len() as u64 + 1);
        let at = "2026-11-21T10:00:00.000Z".parse::<Stamp>().unwrap();
        let turn = self.1;
        self.0.push(Record {
            seq,
            at,
            turn,
            body,
        });
        self
    }

    fn turn(&mut self, number: u64, prompt: &str) -> &mut Self {
        self.1 = Some(number);
        let prompt_id = PromptId::new();
        self.then(Body::TurnStarted(TurnStarted { prompt_id }));
        self.then(Body::User(UserMessage {
            item: ItemId("u".into()),
            prompt_id: Some(prompt_id),
            text: prompt.into(),
            context: None,
            voice: Voice::Prompt,
            from: None,
            attached: Vec::new(),
            reported: Vec::new(),
        }))
    }

    fn says(&mut self, text: &str, calls: &[(&str, &str)]) -> &mut Self {
        let calls = calls.iter().map(|(id, name)| ToolCall {
            id: CallId((*id).into()),
            name: (*name).into(),
            arguments: "{\"path\":\"x\"}".into(),
            cut: false,
            found: false,
        });
        let calls: Vec<_> = calls.collect();
        self.then(Body::Assistant(AssistantMessage {
            item: ItemId("a".into()),
            text: text.into(),
            reasoning: "Not told.".into(),
            thoughts: Vec::new(),
            finish: match calls.is_empty() {
                true => Finish::Stop,
                false => Finish::ToolCalls,
            },
            calls,
        }))
    }

    fn result(&mut self, id: &str, tool: &str, status: CallStatus, text: &str) -> &mut Self {
        self.then(Body::Tool(ToolMessage {
            item: ItemId("t".into()),
            call: CallId(id.into()),
            tool: tool.into(),
            status,
            text: text.into(),
            images: Vec::new(),
        }))
    }

    fn ran(&mut self, id: &str, subject: &str, display: Display) -> &mut Self {
        self.then(Body::ToolStarted(ToolStarted {
            kind: proto::item::ToolKind::Other,
            outside: false,
            call: CallId(id.into()),
            tool: "bash".into(),
            subject: subject.into(),
            read_only: false,
        }));
        self.then(Body::ToolFinished(ToolFinished {
            changed: Vec::new(),
            known: Vec::new(),
            reported: Vec::new(),
            skill: None,
            agent: None,
            call: CallId(id.into()),
            tool: "bash".into(),
            status: CallStatus::Ok,
            duration_ms: 5,
            display,
            spill: None,
        }))
    }

    fn ends(&mut self, outcome: OutcomeKind) -> &mut Self {
        let ended = serde_json::from_value(json!({
            "outcome": outcome, "text": "", "usage": UsageTotals::default(), "steps": 1, "tool_calls": 0, "duration_ms": 1,
        }));
        self.then(Body::TurnEnded(ended.unwrap()))
    }

    fn page(&self) -> String {
        let facts = Facts::fold(&self.0);
        let reported: Vec<_> = self
            .0
            .iter()
            .filter(|record| lists(&record.body))
            .cloned()
            .collect();
        render(&facts, &reported)
    }
}

#[test]
fn a_session_reads_as_a_conversation() {
    let mut story = Story::new();
    story
        .turn(1, "Fix it.\n# not a heading of ours")
        .says("I look.\n```sh\nls", &[("c1", "bash"), ("c2", "edit_file")])
        .ran(
            "c1",
            "ls </summary> | cat",
            Display::Command {
                exit_code: Some(3),
                signal: None,
                output_bytes: 9,
                output_lines: 1,
                head: String::new(),
                tail: String::new(),
                sandbox_stopped: false,
                stopped: None,
            },
        )
        .ran(
            "c2",
            "src/a.rs",
            Display::Diff {
                path: "src/a.rs".into(),
                diff: "-old\n+new\n".into(),
                added: 1,
                removed: 1,
            },
        )
        .result("c1", "bash", CallStatus::Failed, "```\nout\u{1b}[31m")
        .result("c2", "edit_file", CallStatus::Ok, "Changed.")
        .then(Body::TodoUpdated(TodoUpdated {
            todos: vec![
                Todo {
                    content: "Run *tests*".into(),
                    active_form: "Running".into(),
                    status: TodoStatus::Completed,
                },
                Todo {
                    content: "Write".into(),
                    active_form: "Writing".into(),
                    status: TodoStatus::InProgress,
                },
            ],
        }))
        .says("Done.", &[])
        .ends(OutcomeKind::Completed)
        .then(Body::Notice(Notice {
            level: Level::Warning,
            text: "The disk is full.".into(),
        }));
    let golden = include_str!("golden.md");
    let page = story.page();
    if std::env::var_os("UPDATE").is_some() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src/supervisor/export/markdown/golden.md"
        );
        std::fs::write(path, &page).unwrap();
        return;
    }
    assert_eq!(page, golden);
}

#[test]
fn nothing_that_the_model_opens_swallows_what_follows() {
    assert_eq!(closed("a\n~~~~\n```\n<!-- b"), "a\n~~~~\n```\n<!-- b\n~~~~");
    assert_eq!(closed("a\n  <!-- b\n<script>"), "a\n  \\<!-- b\n\\<script>");
    assert_eq!(
        closed("```c\n#include <a>\n<b>\n```\n"),
        "```c\n#include <a>\n<b>\n```"
    );
}

#[test]
fn what_a_rewind_has_hidden_is_left_out() {
    let mut story = Story::new();
    story
        .turn(1, "one")
        .says("First.", &[])
        .ends(OutcomeKind::Completed);
    let upto = Seq(story.0.len() as u64);
    story
        .turn(2, "two")
        .says("Second.", &[])
        .ends(OutcomeKind::Interrupted);
    story.then(Body::SessionRewound(SessionRewound {
        to_turn: 1,
        what: proto::params::history::What::Conversation,
        undoes: None,
        shown: Some(vec![(Seq(1), upto)]),
        todos: None,
        files: Vec::new(),
        by: "ann".into(),
        request_id: None,
    }));
    story
        .turn(3, "three")
        .says("Third.", &[])
        .ends(OutcomeKind::Completed);
    let page = story.page();
    assert!(page.contains("First.") && page.contains("Third."));
    assert!(!page.contains("Second.") && !page.contains("## Turn 2"));
    assert!(page.contains("- Turns: 2\n"));
}

/// The lines outside of blocks of code, as a reader of Markdown sees them.
fn outside(page: &str) -> Vec<&str> {
    let mut fence: Option<(char, usize)> = None;
    let mut lines = Vec::new();
    for line in page.lines() {
        let ticks = |letter| line.chars().take_while(|next| *next == letter).count();
        match fence {
            None => match ['`', '~'].into_iter().find(|letter| ticks(*letter) >= 3) {
                Some(letter) => fence = Some((letter, ticks(letter))),
                None => lines.push(line),
            },
            Some((letter, len)) => {
                let rest = line.trim_start_matches(letter);
                if ticks(letter) >= len && rest.trim().is_empty() {
                    fence = None;
                }
            }
        }
    }
    assert!(fence.is_none(), "a block is left open:\n{page}");
    lines
}

proptest! {
    #[test]
    fn no_result_gets_out_of_its_block(text in "(`{1,6}|~{3}|\n|</details>|## Turn 9|[ a-z\u{1b}\u{7}])*") {
        let mut story = Story::new();
        story
            .turn(1, &text)
            .says("I look.", &[("c1", "bash")])
            .result("c1", "bash", CallStatus::Ok, &text)
            .says("Done.", &[])
            .ends(OutcomeKind::Completed);
        let page = story.page();
        prop_assert!(!page.chars().any(|letter| letter.is_control() && letter != '\n'));
        let outside = outside(&page);
        let count = |wanted: &str| outside.iter().filter(|line| **line == wanted).count();
        prop_assert_eq!((count("</details>"), count("## Turn 1"), count("## Turn 9")), (1, 1, 0));
    }
}
