//! Places that a person finds a session in, each held there until the test lets it go on.

use std::collections::BTreeMap;
use std::os::unix::net::UnixListener;

use proto::Pid;
use proto::hello::Role;
use proto::methods::{SessionCreate, SessionPrompt};
use proto::params::session::{CreateParams, PromptParams, When};
use proto::state::ApprovalMode;
use serde_json::json;
use testkit::model::{Answer, Fault, Gate as Pause, Model, Place, Script};
use tests::{Gate, House, Terminal, until};

use crate::scripted;

/// Markdown with a bit of everything that fits on a small screen.
pub const MARKDOWN: &str = "Hello, Ann. This is **bold**, this is `code`, and here is a list:\n\n\
    - one\n- 二，中文也在这里\n\n```rust\nfn main() {\n    println!(\"hello\");\n}\n```\n\n\
    | key | does |\n|---|---|\n| `y` | yes |\n| `n` | no |\n\nThat is all.";

/// A session at a place.
pub struct Scene {
    // Dropped first: the daemon goes before the model that it talks to.
    pub house: House,
    pub model: Model,
    pub pid: Pid,
    /// Holds an answer in its middle.
    pub pause: Pause,
    /// Holds a command.
    pub gate: Gate,
}

impl Scene {
    /// Begins a session that is made so; its number.
    pub fn create(&self, params: &CreateParams) -> Pid {
        create(&self.house, params)
    }

    /// What the model says to the next request.
    pub fn answers(&self, text: &str) {
        self.model.push([Answer::text(text)]);
    }

    /// Begins another session in the same house; its number.
    pub fn begin(&self, prompt: &str) -> Pid {
        begin(&self.house, prompt, |_| {})
    }

    /// Waits until the log holds so many records of a kind.
    pub fn wait(&self, kind: &str, count: usize) {
        wait(&self.house, self.pid, kind, count);
    }

    /// The session has not ended, and the daemon knows it.
    pub fn assert_alive(&self) {
        let pid = self.pid.to_string();
        let _ = self.house.reasonix(&["show", &pid]).expect_code(0);
        assert_eq!(self.house.log(self.pid).count("session.exited"), 0);
    }
}

/// A house with a model that answers so, and a session with this prompt.
pub fn scene(
    files: &str,
    answers: impl Into<Script>,
    pause: Pause,
    prompt: &str,
    change: impl FnOnce(&mut CreateParams),
) -> Scene {
    let model = Model::start(answers);
    let house = House::new();
    // A model that is held stays silent for as long as a test looks.
    house.settings(
        "[network]\nidle_seconds = 600\n[internal]\nretry_base_ms = 10\nretry_tries = 4\n",
    );
    house.provider(&model.entry("model", None));
    house.daemon();
    house.files(files);
    let gate = Gate::new(&house, "gate");
    let pid = begin(&house, prompt, change);
    Scene {
        house,
        model,
        pid,
        pause,
        gate,
    }
}

/// Makes an interactive session as a client that goes away at once.
fn begin(house: &House, prompt: &str, change: impl FnOnce(&mut CreateParams)) -> Pid {
    let mut params = house.create(prompt);
    change(&mut params);
    create(house, &params)
}

fn create(house: &House, params: &CreateParams) -> Pid {
    house.block_on(async {
        let client = house.client("scene", Role::Drive).await;
        let created = client.call::<SessionCreate>(params).await;
        created.expect("create a session").pid
    })
}

/// Says something in a session as a client that goes away at once.
pub fn prompt(house: &House, pid: Pid, text: &str) {
    let params = PromptParams {
        untyped: Vec::new(),
        on_ask: None,
        session: pid.to_string(),
        text: text.to_owned(),
        when: When::default(),
        credentials: BTreeMap::default(),
        env: BTreeMap::default(),
        request_id: None,
    };
    house.block_on(async {
        let client = house.client("another", Role::Drive).await;
        let prompted = client.call::<SessionPrompt>(&params).await;
        prompted.expect("prompt a session");
    });
}

pub fn wait(house: &House, pid: Pid, kind: &str, count: usize) {
    until(&format!("{count} of {kind} in the log"), || {
        let logs = house.logs();
        let log = logs.iter().find(|log| log.pid() == pid)?;
        (log.count(kind) >= count).then_some(())
    });
}

const FILES: &str = "\
//- src/main.rs
fn main() {
    let total = add(1, 2);
    println!(\"{total}\");
}

fn add(a: u32, b: u32) -> u32 {
    a + b
}
//- src/lib.rs
//! Nothing yet.
//- README.md
# A project
//- 说明.md
# 一个项目
";

/// A house in which no session was ever begun. Bind the model first: later bindings are dropped before it.
pub fn empty() -> (Model, House) {
    let model = Model::start([Answer::text(MARKDOWN)]);
    let house = scripted::house(&model);
    house.files(FILES);
    (model, house)
}

/// A question was answered; nothing runs.
pub fn idle() -> Scene {
    let scene = scene(
        FILES,
        [Answer::text(MARKDOWN)],
        Pause::new(),
        "Say hello.",
        |_| {},
    );
    scene.wait("turn.ended", 1);
    scene
}

/// The prompt referred to files, one of which is missing.
pub fn attached() -> Scene {
    let prompt = "Compare @src/main.rs:1-4 with @src and @none.md.";
    let answers = [Answer::text("They agree. That is all.")];
    let scene = scene(FILES, answers, Pause::new(), prompt, |_| {});
    scene.wait("turn.ended", 1);
    scene
}

/// An answer stops in its middle until `pause` is opened.
pub fn streaming() -> Scene {
    let pause = Pause::new();
    let text = "The first half of the answer has come, with **some** words and\n\n- one point,\n\n\
        and the second half is still to come, word by word, until the very end.";
    let answer = Answer::text(text).held(Place::Middle, &pause);
    let scene = scene(FILES, [answer], pause, "Tell me slowly.", |_| {});
    scene.house.block_on(scene.pause.reached());
    scene
}

/// A command runs until `gate` is opened.
pub fn tool() -> Scene {
    let call = Answer::call("bash", json!({"command": Gate::command("gate")}));
    let answers = [call, Answer::text("The command is through.")];
    let scene = scene(FILES, answers, Pause::new(), "Run it.", |params| {
        params.options.approval_mode = Some(ApprovalMode::Yolo);
    });
    scene.gate.wait();
    scene
}

/// A person is asked about an edit.
pub fn approval() -> Scene {
    let scene = edited(Pause::new(), |answer, _| answer);
    scene.wait("interaction.opened", 1);
    scene
}

/// The same, but that the model stops before it asks, until `pause` is opened.
pub fn approval_later() -> Scene {
    let scene = edited(Pause::new(), |answer, pause| {
        answer.held(Place::Middle, pause)
    });
    scene.house.block_on(scene.pause.reached());
    scene
}

fn edited(pause: Pause, held: impl FnOnce(Answer, &Pause) -> Answer) -> Scene {
    let edit = json!({
        "path": "src/main.rs",
        "old_string": "    let total = add(1, 2);\n",
        "new_string": "    let total: u32 = add(1, 2);\n    // 合计\n    let total = total * 2;\n",
    });
    let answer = Answer::text("I would change it so:").and_call("edit_file", edit);
    let answers = [
        Answer::call("read_file", json!({"path": "src/main.rs"})),
        held(answer, &pause),
        Answer::text("It is changed."),
    ];
    scene(FILES, answers, pause, "Double the total.", |_| {})
}

/// The model asks something with two parts.
pub fn question() -> Scene {
    let asked = json!({"questions": [
        {"question": "Which colour shall it have?", "header": "Colour",
         "options": [{"label": "red", "description": "like a rose"}, {"label": "蓝色", "description": "天空的颜色"}]},
        {"question": "Which parts?", "header": "Parts", "multi_select": true,
         "options": [{"label": "door", "description": ""}, {"label": "roof", "description": ""}]},
    ]});
    let answers = [Answer::call("ask", asked), Answer::text("So be it.")];
    let scene = scene(FILES, answers, Pause::new(), "Paint it.", |_| {});
    scene.wait("interaction.opened", 1);
    scene
}

/// The provider refused, and the user can fix the cause.
pub fn failing() -> Scene {
    let fault = Fault::refusal(402, "Insufficient Balance", "insufficient_balance");
    let answers = [Answer::text("Now it works.").fault(fault)];
    let scene = scene(FILES, answers, Pause::new(), "Say something.", |_| {});
    scene.wait("turn.ended", 1);
    scene
}

/// Several sessions: one at rest, one that waits for a person, and one at rest that was active last.
pub fn several() -> Scene {
    let scene = idle();
    scene
        .model
        .push([Answer::call("bash", json!({"command": "touch made"}))]);
    let waiting = scene.begin("Make the file that is called made, please.");
    wait(&scene.house, waiting, "interaction.opened", 1);
    scene.answers("第三个会话。");
    let third = scene.begin("用中文回答。");
    wait(&scene.house, third, "turn.ended", 1);
    scene
}

/// The transcript's mark for a connection that was lost and restored.
pub const MARK: &str = "reconnected";

/// Size, language and theme of a terminal.
#[derive(Clone, Copy, Debug)]
pub struct TerminalSetup {
    pub columns: u16,
    pub rows: u16,
    /// As `REASONIX_LANG` says it.
    pub language: &'static str,
    /// As `tui.theme` says it.
    pub theme: &'static str,
}

impl TerminalSetup {
    /// The usual one.
    pub const USUAL: Self = Self {
        columns: 80,
        rows: 24,
        language: "en",
        theme: "dark",
    };
}

impl Scene {
    /// The interface, on the session of this scene.
    pub fn attach(&self, look: TerminalSetup) -> Terminal {
        self.attach_with(look, &[])
    }

    /// The same with more arguments.
    pub fn attach_with(&self, look: TerminalSetup, more: &[&str]) -> Terminal {
        let pid = self.pid.to_string();
        interface(&self.house, &[&["attach", &pid], more].concat(), look)
    }

    /// The same, once it shows words of the session's transcript and has a composer.
    pub fn at_rest(&self, look: TerminalSetup, words: &str) -> Terminal {
        let terminal = self.attach(look);
        terminal.wait_scrolled(words);
        terminal.wait_for("a line for prompts", has_composer);
        terminal
    }
}

/// Somebody in the daemon's place who never says a word, so that no daemon is started and none is found.
pub fn mute(house: &House) -> UnixListener {
    let socket = house.socket();
    // Left by the one that was killed.
    let _ = std::fs::remove_file(&socket);
    UnixListener::bind(&socket).expect("listen in the daemon's place")
}

/// The interface in a terminal that is set so.
pub fn interface(house: &House, arguments: &[&str], look: TerminalSetup) -> Terminal {
    let _ = house
        .reasonix(&["config", "set", "tui.theme", look.theme])
        .expect_code(0);
    let mut command = house.command(arguments);
    command.env("REASONIX_LANG", look.language);
    Terminal::start(command, look.columns, look.rows)
}

/// Whether the empty composer is on the screen, with nothing over it.
pub fn has_composer(screen: &str) -> bool {
    // In both languages and at every width it names the key of commands.
    screen
        .lines()
        .any(|row| row.starts_with("> ") && row.contains("`/`"))
}

/// How often words occur in a terminal's scrollback and screen.
pub fn times(terminal: &Terminal, words: &str) -> usize {
    terminal.scrollback().matches(words).count()
}
