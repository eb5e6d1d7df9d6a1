//! Fixtures for tests of dialogs.

use std::time::{Duration, Instant};

use proto::item::{Display, ToolKind};
use proto::params::interaction::{
    Approval, Choice, Interaction, InteractionRequest, Question, Scope,
};
use proto::{Pid, SessionId, Stamp};

use crate::effect::Effect;
use crate::event::Event;
use crate::keymap;
use crate::model::session::Session;
use crate::model::{Dialog, LaunchContext, Link, Model, ViewOptions};
use crate::render::Cache;
use crate::update::update;
use crate::view::Panel;

/// A model, and the clock that it is played by.
pub struct Scene {
    pub model: Model,
    pub now: Instant,
}

impl Scene {
    /// With these questions open, seen at the beginning, and keys from before them over.
    pub fn of(approvals: Vec<Interaction>, questions: Vec<Interaction>) -> Self {
        let mut scene = Self::fresh(approvals, questions);
        scene.later(300);
        scene
    }

    /// With these questions open, just drawn.
    pub fn fresh(approvals: Vec<Interaction>, questions: Vec<Interaction>) -> Self {
        let now = Instant::now();
        let place = LaunchContext::of("/p");
        let mut model = Model::new(ViewOptions::default(), place, now);
        let mut session = Session::new(SessionId::new(), Pid(7));
        session.open = approvals.into_iter().chain(questions).collect();
        model.session = Some(session);
        model.link = Link::Live;
        let mut scene = Self { model, now };
        scene.tick();
        scene
    }

    pub fn session(&mut self) -> &mut Session {
        self.model.session.as_mut().unwrap()
    }

    /// The session reports a durable event.
    pub fn report(&mut self, kind: &str, data: serde_json::Value) {
        let seq = self.session().seq.0 + 1;
        let event = serde_json::json!({
            "seq": seq, "session": 7, "at": Stamp(0), "turn": 1, "kind": kind, "data": data,
        });
        let event: proto::Event = serde_json::from_str(&event.to_string()).unwrap();
        self.session().fold(&event.into());
        self.tick();
    }

    pub fn later(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    pub fn tick(&mut self) -> Vec<Effect> {
        update(&mut self.model, Event::Tick, self.now)
    }

    /// Presses keys of the table one after another, and lets the last one count.
    pub fn press(&mut self, names: &[&str]) -> Vec<Effect> {
        let mut effects = self.press_at_once(names);
        let is_held = matches!(&self.model.dialog, Some(Dialog::Interaction(dialog)) if dialog.held.is_some());
        if is_held {
            self.later(250);
            effects.extend(self.tick());
        }
        effects
    }

    /// Presses keys at the same moment.
    pub fn press_at_once(&mut self, names: &[&str]) -> Vec<Effect> {
        let keys = names.iter().map(|name| keymap::key(name).unwrap());
        keys.flat_map(|key| update(&mut self.model, Event::Key(key), self.now))
            .collect()
    }

    pub fn paste(&mut self, text: &str) -> Vec<Effect> {
        update(&mut self.model, Event::Paste(text.to_owned()), self.now)
    }

    /// The dialog's rows in a terminal of this size.
    pub fn panel(&mut self, columns: u16, rows: u16) -> Panel {
        self.model.look.columns = columns;
        self.model.look.rows = rows;
        let dialog = self.model.dialog.as_ref().unwrap();
        let mut cache = Cache::default();
        let rows = usize::from(rows - 3);
        let panel =
            crate::view::dialog_panel(dialog, &self.model, &mut cache, columns.into(), rows);
        assert!(panel.rows.len() <= rows, "{} rows", panel.rows.len());
        for row in &panel.rows {
            assert!(row.width() <= columns.into(), "too wide: {row}");
            let text = row.to_string();
            assert!(!text.contains(char::is_control), "{text:?}");
        }
        panel
    }

    /// Its rows as text.
    pub fn rows(&mut self, columns: u16, rows: u16) -> Vec<String> {
        let panel = self.panel(columns, rows);
        panel.rows.iter().map(ToString::to_string).collect()
    }

    pub fn text(&mut self, columns: u16, rows: u16) -> String {
        self.rows(columns, rows).join("\n")
    }
}

pub fn scope(words: &str, rule: &str) -> Scope {
    Scope {
        rule: rule.to_owned(),
        words: words.to_owned(),
        always: rule != "Edit",
    }
}

/// Something that waits in the session.
pub fn interaction(number: u64, request: InteractionRequest) -> Interaction {
    Interaction {
        interaction_id: format!("7.{number}").as_str().into(),
        session: Pid(7),
        call: format!("c{number}").as_str().into(),
        shown_hash: format!("hash{number}"),
        opened_at: Stamp(number.try_into().unwrap()),
        request,
    }
}

/// The question about a command.
pub fn approval(number: u64, command: &str) -> Interaction {
    let approval = Approval {
        escape: None,
        quarantined: Vec::new(),
        programs: Vec::new(),
        left_out: Vec::new(),
        again: false,
        review: None,
        tool: "bash".to_owned(),
        kind: ToolKind::Command,
        subject: command.to_owned(),
        preview: Display::Line {
            text: command.to_owned(),
        },
        rule: "no rule allows it".to_owned(),
        scopes: vec![
            scope("this command", "Bash(cargo test --all)"),
            scope("any `cargo test …`", "Bash(cargo test:*)"),
        ],
        following: 0,
        adds_dir: None,
        editable: true,
    };
    interaction(number, InteractionRequest::Approval(approval))
}

/// The question about a command, changed.
pub fn approval_with(
    number: u64,
    command: &str,
    change: impl FnOnce(&mut Approval),
) -> Interaction {
    let mut open = approval(number, command);
    let InteractionRequest::Approval(approval) = &mut open.request else {
        panic!("it is an approval");
    };
    change(approval);
    open
}

/// The question about a change of a file.
pub fn change(number: u64, diff: &str) -> Interaction {
    approval_with(number, "", |approval| {
        approval.tool = "edit_file".to_owned();
        approval.editable = false;
        approval.kind = ToolKind::Edit;
        approval.subject = "src/a.rs".to_owned();
        approval.preview = Display::Diff {
            path: "src/a.rs".to_owned(),
            diff: diff.to_owned(),
            added: 1,
            removed: 1,
        };
    })
}

pub fn plan(number: u64, plan: &str) -> Interaction {
    let plan = plan.to_owned();
    interaction(number, InteractionRequest::Plan { plan })
}

pub fn ask(question: &str, labels: &[&str], multi_select: bool) -> Question {
    let options = labels.iter().map(|label| Choice {
        label: (*label).to_owned(),
        description: format!("what {label} means"),
    });
    Question {
        question: question.to_owned(),
        header: "Library".to_owned(),
        options: options.collect(),
        multi_select,
    }
}

/// A question of an MCP server: a name that is required, and a choice that is not.
pub fn elicitation(number: u64) -> Interaction {
    let asked = serde_json::json!({
        "type": "elicitation", "server": "files", "message": "Who are \u{1b}[2Jyou?",
        "fields": [
            {"name": "name", "question": {"question": "Your name", "header": "Your name", "options": []},
             "required": true, "value": {"type": "text"}},
            {"name": "sure", "question": {"question": "sure", "header": "sure", "options": [
                {"label": "yes"}, {"label": "no"}]}, "value": {"type": "boolean"}},
        ],
    });
    interaction(number, serde_json::from_value(asked).unwrap())
}

pub fn question(number: u64, questions: Vec<Question>) -> Interaction {
    interaction(number, InteractionRequest::Questions { questions })
}
