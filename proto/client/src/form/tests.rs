use proto::item::{Display, ToolKind};
use proto::params::interaction::{Approval, Choice, InteractionRequest, PlanDecision};
use proto::record::Quarantined;
use proto::{Pid, Stamp};
use serde_json::{Value, json};

use super::*;
use crate::messages::Language;

const DECISIONS: [ApprovalDecision; 4] = [
    ApprovalDecision::AllowOnce,
    ApprovalDecision::AllowSession,
    ApprovalDecision::AllowAlways,
    ApprovalDecision::Deny,
];

fn interaction(request: InteractionRequest) -> Interaction {
    Interaction {
        interaction_id: "7.1".into(),
        session: Pid(7),
        call: "c1".into(),
        shown_hash: "hash".to_owned(),
        opened_at: Stamp(1),
        request,
    }
}

fn scope(rule: &str, always: bool) -> Scope {
    Scope {
        rule: rule.to_owned(),
        words: format!("words of {rule}"),
        always,
    }
}

fn approval(escape: Option<&str>, scopes: &[Scope]) -> InteractionRequest {
    InteractionRequest::Approval(Approval {
        tool: "bash".to_owned(),
        kind: ToolKind::Command,
        subject: "cargo test".to_owned(),
        preview: Display::Line {
            text: "cargo test".to_owned(),
        },
        rule: "the approval mode `ask`".to_owned(),
        escape: escape.map(str::to_owned),
        quarantined: Vec::new(),
        programs: Vec::new(),
        left_out: Vec::new(),
        again: false,
        review: None,
        scopes: scopes.to_vec(),
        following: 0,
        adds_dir: None,
        editable: escape.is_none(),
    })
}

/// The question whether to put back what a command made. A daemon that offered to edit it would be wrong.
fn put_back() -> InteractionRequest {
    let InteractionRequest::Approval(asked) = approval(None, &[]) else {
        unreachable!()
    };
    InteractionRequest::Approval(Approval {
        quarantined: vec![Quarantined {
            path: "/w/.mcp.json".to_owned(),
            kept: Some("/h/quarantine/1-2/.mcp.json".to_owned()),
            restored: false,
            problem: None,
        }],
        ..asked
    })
}

fn questions() -> InteractionRequest {
    let option = |label: &str| Choice {
        label: label.to_owned(),
        description: String::new(),
    };
    InteractionRequest::Questions {
        questions: vec![Question {
            question: "Which store?".to_owned(),
            header: "Store".to_owned(),
            options: vec![option("SQLite"), option("Postgres")],
            multi_select: false,
        }],
    }
}

fn elicitation() -> InteractionRequest {
    let asked = json!({
        "type": "elicitation", "server": "files", "message": "Who are you?",
        "fields": [{
            "name": "store", "value": {"type": "choice", "values": ["s", "p"]},
            "question": {"question": "Store", "header": "Store", "options": [
                {"label": "SQLite"}, {"label": "Postgres"}]},
        }],
    });
    serde_json::from_value(asked).expect("a question of a server")
}

/// What a kind is expected to be: its title, its subject, how its kind is called, and the answer of each decision.
struct Expected {
    title: Msg,
    subject: &'static str,
    kind: Msg,
    /// In the order of [`DECISIONS`]. `None`: a typed line may not decide so.
    decisions: Option<[Option<Value>; 4]>,
}

/// A new kind needs a row here.
fn expected(request: &InteractionRequest) -> Expected {
    let approval = |decision: &str, rule: Option<&str>| {
        let mut answer = json!({"type": "approval", "decision": decision, "note": "why"});
        if let Some(rule) = rule {
            let always = rule == "Bash(cargo test:*)";
            answer["scope"] = json!({"rule": rule, "words": format!("words of {rule}")});
            if always {
                answer["scope"]["always"] = json!(true);
            }
        }
        Some(answer)
    };
    let plan = |decision: &str| Some(json!({"type": "plan", "decision": decision, "note": "why"}));
    match request {
        InteractionRequest::Approval(asked)
            if asked.escape.is_some() || !asked.quarantined.is_empty() =>
        {
            Expected {
                title: match asked.escape {
                    Some(_) => Msg::TitleOutside,
                    None => Msg::TitlePutBack,
                },
                subject: "cargo test",
                kind: Msg::Approval,
                decisions: Some([
                    approval("allow_once", None),
                    None,
                    None,
                    approval("deny", None),
                ]),
            }
        }
        InteractionRequest::Approval(_) => Expected {
            title: Msg::TitleCommand,
            subject: "cargo test",
            kind: Msg::Approval,
            decisions: Some([
                approval("allow_once", None),
                approval("allow_session", Some("Edit")),
                approval("allow_always", Some("Bash(cargo test:*)")),
                approval("deny", None),
            ]),
        },
        InteractionRequest::Plan { .. } => Expected {
            title: Msg::TitlePlan,
            subject: "# Do it",
            kind: Msg::Plan,
            decisions: Some([plan("approve"), None, None, plan("reject")]),
        },
        InteractionRequest::Elicitation(_) => Expected {
            title: Msg::TitleElicitation,
            subject: "Who are you?",
            kind: Msg::Elicitation,
            decisions: None,
        },
        InteractionRequest::Questions { .. } => Expected {
            title: Msg::TitleQuestion,
            subject: "Which store?",
            kind: Msg::Question,
            decisions: None,
        },
    }
}

#[test]
fn every_kind_has_a_form_whose_answers_are_of_that_kind() {
    let scopes = [scope("Edit", false), scope("Bash(cargo test:*)", true)];
    let requests = [
        approval(None, &scopes),
        approval(Some("no network"), &[]),
        put_back(),
        questions(),
        elicitation(),
        InteractionRequest::Plan {
            plan: "\n# Do it\n".to_owned(),
        },
    ];
    for request in requests {
        let expected = expected(&request);
        let interaction = interaction(request);
        let form = Form::of(&interaction);
        assert_eq!(
            (form.title, form.subject),
            (expected.title, expected.subject)
        );
        assert_eq!(kinds::names(form.kind).0, expected.kind);
        let kind = interaction.request.kind();
        let Some(decisions) = expected.decisions else {
            let reply = Reply {
                labels: vec!["SQLite".to_owned()],
                other: None,
            };
            let answer = serde_json::to_value(form.reply(vec![reply])).expect("JSON");
            let mut wanted = json!({"type": kind, "replies": [{"labels": ["SQLite"]}]});
            if kind == InteractionKind::Elicitation {
                wanted["decision"] = json!("accept");
            }
            assert_eq!(answer, wanted);
            assert!(form.decision().is_none());
            continue;
        };
        let shape = form.decision().expect("a decision");
        for (decision, answer) in DECISIONS.into_iter().zip(decisions) {
            assert_eq!(shape.refusal(decision).is_none(), answer.is_some());
            if let Some(expected) = answer {
                let scope = shape.scope(decision, 0).cloned();
                let answer = form.decide(decision, scope, Some("why".to_owned()));
                let answer = serde_json::to_value(answer).expect("JSON");
                assert_eq!(answer, expected);
                assert_eq!(answer["type"], kind.as_str());
            }
        }
    }
}

#[test]
fn list_shows_the_arguments_of_a_call_without_a_subject() {
    let InteractionRequest::Approval(asked) = approval(None, &[]) else {
        unreachable!()
    };
    let interaction = interaction(InteractionRequest::Approval(Approval {
        tool: "mcp__s__add".to_owned(),
        kind: ToolKind::Other,
        subject: String::new(),
        preview: Display::Line {
            text: r#"{"a":2}"#.to_owned(),
        },
        following: 0,
        adds_dir: None,
        editable: false,
        ..asked
    }));
    assert_eq!(Form::of(&interaction).listed(), r#"{"a":2}"#);
}

#[test]
fn yes_takes_the_selected_scope_or_the_first_that_may_be_kept() {
    let scopes = [scope("Edit", false), scope("A", true), scope("B", true)];
    let interaction = interaction(approval(None, &scopes));
    let form = Form::of(&interaction);
    let shape = form.decision().expect("a decision");
    let rule = |decision, selected| {
        let scope = shape.scope(decision, selected);
        scope.map(|scope| scope.rule.as_str())
    };
    assert_eq!(rule(ApprovalDecision::AllowSession, 0), Some("Edit"));
    assert_eq!(rule(ApprovalDecision::AllowAlways, 0), Some("A"));
    assert_eq!(rule(ApprovalDecision::AllowAlways, 2), Some("B"));
    assert_eq!(rule(ApprovalDecision::AllowOnce, 1), None);
}

#[test]
fn command_is_shown_once_beside_where_and_with_what_it_runs() {
    let mut request = approval(None, &[]);
    let InteractionRequest::Approval(approval) = &mut request else {
        panic!("an approval")
    };
    approval.preview = Display::Line {
        text: "in sub: with FOO changed: cargo test".to_owned(),
    };
    let interaction = interaction(request);
    let form = Form::of(&interaction);
    assert_eq!(
        form.content,
        [
            Content::Subject("cargo test"),
            Content::Text("in sub: with FOO changed")
        ]
    );
}

#[test]
fn what_is_put_back_is_named_and_its_command_cannot_be_edited() {
    let interaction = interaction(put_back());
    let form = Form::of(&interaction);
    let shape = form.decision().expect("a decision");
    assert_eq!(shape.command, None);
    assert_eq!(
        (shape.yes.key, shape.no.short),
        (Msg::KeyPutBack, Msg::KeyLeaveShort)
    );
    let named = form
        .content
        .iter()
        .any(|part| matches!(part, Content::Text("/w/.mcp.json")));
    assert!(named && form.lines.heading.contains("/w/.mcp.json"));
    for line in [
        &form.lines.heading,
        form.lines.how_to,
        shape.yes.line,
        shape.no.line,
    ] {
        let chinese = Language::Chinese.translate(line);
        assert_ne!(chinese, *line, "it is translated");
    }
}

#[test]
fn an_answer_about_putting_back_does_not_say_that_the_call_was_denied() {
    let asked = Asked::from(&put_back());
    let resolved = |decision| proto::record::InteractionResolved {
        interaction_id: "7.1".into(),
        call: "c1".into(),
        answer: Some(untyped_decision(decision, None, Some("later".to_owned()))),
        edit: None,
        reason: None,
        by: "ann".to_owned(),
        unattended: false,
        request_id: None,
    };
    let words = |decision| {
        let resolved = resolved(decision);
        assert!(asked.needs_words(&resolved));
        assert_eq!(asked.call_outcome(&resolved), kinds::CallOutcome::Other);
        let settled = asked.settlement(Language::English, &resolved, str::to_owned);
        settled.words
    };
    assert_eq!(
        words(ApprovalDecision::Deny),
        "ann left /w/.mcp.json moved away: later"
    );
    assert_eq!(
        words(ApprovalDecision::AllowOnce),
        "ann had /w/.mcp.json put back: later"
    );
}

#[test]
fn always_is_refused_if_no_scope_may_be_kept() {
    let interaction = interaction(approval(None, &[scope("Edit", false)]));
    let form = Form::of(&interaction);
    let shape = form.decision().expect("a decision");
    let why = shape.refusal(ApprovalDecision::AllowAlways);
    assert!(why.is_some_and(|why| why.contains("allow it once or for the session")));
    assert_eq!(shape.refusal(ApprovalDecision::AllowSession), None);
}

#[test]
fn only_an_approved_plan_ends_plan_mode() {
    let resolved = |decision| proto::record::InteractionResolved {
        interaction_id: "7.1".into(),
        call: "c1".into(),
        answer: Some(InteractionAnswer::Plan {
            decision,
            note: None,
        }),
        edit: None,
        reason: None,
        by: "ann".to_owned(),
        unattended: false,
        request_id: None,
    };
    assert!(ends_plan_mode(&resolved(PlanDecision::Approve)));
    assert!(ends_plan_mode(&resolved(PlanDecision::ApproveKeepAsking)));
    assert!(!ends_plan_mode(&resolved(PlanDecision::Reject)));
}

#[test]
fn a_program_that_the_session_may_change_is_in_red_and_asked_about_again() {
    use proto::params::interaction::NamedProgram;
    let program = |name: &str, path: Option<&str>, own| NamedProgram {
        name: name.to_owned(),
        path: path.map(str::to_owned),
        own,
    };
    let InteractionRequest::Approval(mut request) = approval(Some("it uses the network"), &[])
    else {
        unreachable!("it is an approval")
    };
    request.programs = vec![
        program("curl", Some("/ws/.venv/bin/curl"), true),
        program("x", None, true),
        program("env", Some("/usr/bin/env"), false),
    ];
    request.left_out = vec!["/ws/bin".to_owned()];
    let form = super::approval::form(&request);
    let notes = form.notes.iter().take(4);
    let notes: Vec<_> = notes
        .map(|note| (note.value.unwrap_or_default(), note.tone))
        .collect();
    let expected = [
        ("/ws/.venv/bin/curl", NoteTone::Danger),
        ("x", NoteTone::Danger),
        ("/usr/bin/env", NoteTone::Plain),
        ("/ws/bin", NoteTone::Plain),
    ];
    assert_eq!(notes, expected);
    let lines = form.lines.note.as_deref().expect("lines");
    assert!(
        lines.contains("WARNING: runs /ws/.venv/bin/curl"),
        "{lines}"
    );
    assert_ne!(form.title, kinds::Msg::TitleAgain);
    request.again = true;
    let form = super::approval::form(&request);
    assert_eq!(form.title, kinds::Msg::TitleAgain);
    assert!(
        form.lines.heading.starts_with("asked again"),
        "{}",
        form.lines.heading
    );
}

#[test]
fn questions_of_a_server_can_be_declined_and_show_whose_words_they_are() {
    let interaction = interaction(elicitation());
    let form = Form::of(&interaction);
    let fields = form.fields().expect("fields");
    assert!(fields.can_decline() && fields.is_optional(0));
    assert_eq!(form.content, [Content::Text("Who are you?")]);
    assert_eq!(form.notes[0].value, Some("files"));
    let declined = form.decide(ApprovalDecision::Deny, None, None);
    assert_eq!(
        serde_json::to_value(declined).expect("JSON"),
        json!({"type": "elicitation", "decision": "decline"})
    );
}

#[test]
fn a_server_that_asks_for_no_value_gets_a_yes_or_a_no() {
    let asked = json!({"type": "elicitation", "server": "files", "message": "Go on?"});
    let interaction = interaction(serde_json::from_value(asked).expect("a question"));
    let form = Form::of(&interaction);
    for (label, decision) in [("accept", "accept"), ("decline", "decline")] {
        let reply = Reply {
            labels: vec![label.to_owned()],
            other: None,
        };
        assert_eq!(
            serde_json::to_value(form.reply(vec![reply])).expect("JSON"),
            json!({"type": "elicitation", "decision": decision})
        );
    }
    let words = Reply {
        labels: Vec::new(),
        other: Some("perhaps".to_owned()),
    };
    // The daemon refuses values that were not asked for.
    assert_eq!(
        serde_json::to_value(form.reply(vec![words])).expect("JSON"),
        json!({"type": "elicitation", "decision": "accept", "replies": [{"other": "perhaps"}]})
    );
    let fields = form.fields().expect("fields");
    assert!(!fields.takes_words(0));
    assert!(form.lines.how_to.starts_with("type the number"));
}
