//! Builders for test data.

use std::collections::BTreeMap;

use contract::{Basis, CallAction, Confinement, Decision, EffectivePermissions, Outcome};
use proto::item::{CallStatus, Display, ToolCall, ToolKind};
use proto::params::elicitation::{
    Elicitation, ElicitationDecision, ElicitationField, ElicitationKind, FieldType,
};
use proto::params::interaction::{Approval, Choice, InteractionAnswer, Question, Reply, Scope};
use proto::record::{
    CheckpointCreated, FileState, Kept, SessionCreated, Todo, TodoStatus, Verdict,
};
use proto::state::{Kind, OnAsk};
use proto::{CallId, Pid, PromptId, SessionId, SessionOptions};

use crate::input::Unattended;
use crate::repair::{RepairTool, RepairTools};
use crate::{Decided, Judgement};

/// The first record of a session with these settings.
pub fn created(kind: Kind, max_steps: u64, timeout_ms: u64) -> SessionCreated {
    SessionCreated {
        origin: None,
        agent: None,
        session: "00000007-0000-0000-0000-000000000000"
            .parse::<SessionId>()
            .expect("it is a UUID"),
        pid: Pid(7),
        ppid: Pid(0),
        epoch: 1,
        cwd: "/w".into(),
        root: "/w".into(),
        provider_kind: "openai".into(),
        context_window: 0,
        prefix_sha256: String::new(),
        instructions: Vec::new(),
        add_dirs: Vec::new(),
        tools: Vec::new(),
        env: BTreeMap::new(),
        env_names: Vec::new(),
        env_held: Vec::new(),
        request_id: None,
        version: "0".into(),
        options: SessionOptions {
            model: Some("p/m".into()),
            kind: Some(kind),
            on_ask: Some(OnAsk::Wait),
            max_steps: Some(max_steps),
            timeout_ms: Some(timeout_ms),
            ..SessionOptions::default()
        },
    }
}

pub fn prompt_id(number: u64) -> PromptId {
    format!("00000000-0000-0000-0000-{number:012x}")
        .parse()
        .expect("it is a UUID")
}

pub fn outcome(status: CallStatus) -> Outcome {
    Outcome::with_status(status, "result")
}

/// A question of the model with two options.
pub fn ask(question: &str) -> Question {
    let choice = |label: &str| Choice {
        label: label.to_owned(),
        description: String::new(),
    };
    Question {
        question: question.to_owned(),
        header: "h".into(),
        options: vec![choice("red"), choice("blue")],
        multi_select: false,
    }
}

/// An answer to a question.
pub fn reply(label: &str) -> Reply {
    Reply {
        labels: vec![label.to_owned()],
        other: None,
    }
}

/// A question of an MCP server for one word.
pub fn elicitation() -> Elicitation {
    Elicitation {
        server: "files".into(),
        message: "Who are you?".into(),
        kind: ElicitationKind::Form,
        fields: vec![ElicitationField {
            name: "name".into(),
            question: Question {
                options: Vec::new(),
                ..ask("Name?")
            },
            required: true,
            value: FieldType::Text {
                min_length: None,
                max_length: None,
                format: None,
            },
        }],
    }
}

/// A user's answer to [`elicitation`]: these words; `None`: none are given.
pub fn elicited(decision: ElicitationDecision, words: Option<&str>) -> InteractionAnswer {
    let reply = |words: &str| Reply {
        labels: Vec::new(),
        other: Some(words.to_owned()),
    };
    InteractionAnswer::Elicitation {
        decision,
        replies: words.map(reply).into_iter().collect(),
    }
}

/// A todo item.
pub fn todo(content: &str) -> Todo {
    Todo {
        content: content.to_owned(),
        active_form: content.to_owned(),
        status: TodoStatus::Pending,
    }
}

/// The checkpoint of a file for a call, or for a rewind.
pub fn checkpoint(call: Option<&CallId>, path: &str) -> CheckpointCreated {
    CheckpointCreated {
        call: call.cloned(),
        files: vec![Kept {
            path: path.to_owned(),
            was: FileState::Absent,
        }],
        ..CheckpointCreated::default()
    }
}

/// The policy's judgement of a call. `version`: version of the file that the call is about; the shown text changes with
/// it.
pub fn judgement(
    call: &ToolCall,
    verdict: Verdict,
    unattended: Unattended,
    read_only: bool,
    version: usize,
) -> Judgement {
    let scope = Scope {
        rule: format!("{}(*)", call.name),
        words: "all of them".into(),
        always: true,
    };
    let decision = Decision {
        verdict,
        rule: "a rule".into(),
        basis: Basis::Rule,
        layer: "user".into(),
        parts: Vec::new(),
        scopes: vec![scope.clone()],
        read_only,
        confinement: Confinement::None,
        confinement_suffices: false,
    };
    let approval = Approval {
        review: None,
        tool: call.name.clone(),
        kind: kind(&call.name),
        subject: call.arguments.clone(),
        preview: Display::Line {
            text: format!("version {version}"),
        },
        rule: "a rule".into(),
        escape: None,
        quarantined: Vec::new(),
        programs: Vec::new(),
        left_out: Vec::new(),
        again: false,
        scopes: vec![scope],
        following: 0,
        adds_dir: None,
        editable: true,
    };
    Judgement::Decided(Decided {
        checkpoint: None,
        action: CallAction::Run,
        effective_permissions: EffectivePermissions::default(),
        tool: call.name.clone(),
        kind: kind(&call.name),
        decision,
        in_read_only_sessions: false,
        subject: call.arguments.clone(),
        input_sha256: format!("{} {}", call.name, call.arguments),
        shown_hash: format!("{}{version}", call.arguments),
        again_hash: None,
        approval,
        unattended,
    })
}

fn kind(tool: &str) -> ToolKind {
    match tool {
        "bash_output" => ToolKind::CommandOutput,
        "bash" => ToolKind::Command,
        "delegate" => ToolKind::Agent,
        _ => ToolKind::Other,
    }
}

/// The repair tools of tests: `read` only reads files.
pub fn means() -> RepairTools {
    let tools = [
        "read",
        "write",
        "bash",
        "bash_output",
        "ask",
        "plan",
        "delegate",
    ];
    let known = |tool: &str| RepairTool {
        may_run_truncated: tool == "read",
        flat: None,
    };
    RepairTools(tools.map(|tool| (tool.to_owned(), known(tool))).into())
}

/// A fallback model (`provider/model`) with default reasoning effort.
pub fn fallback(model: &str) -> crate::Fallback {
    let (provider, model) = model.split_once('/').expect("PROVIDER/MODEL");
    crate::Fallback {
        provider: provider.to_owned(),
        model: model.to_owned(),
        effort: None,
    }
}
