//! Sub-agents in the interface: a live row for each, a list that leads to one and back, their questions on the screen of
//! the session that started them.

use std::time::{Duration, Instant};

use proto::Pid;
use proto::state::ApprovalMode;
use serde_json::json;
use testkit::model::{Answer, Gate as Pause, Place, Request, Script};
use tests::wait::pace;
use tests::{Gate, Terminal, until};

use super::scenes::{self, Scene, TerminalSetup, has_composer, wait};

/// A key that comes sooner does not count as an answer: nobody can have read the question.
const GUARD: Duration = Duration::from_millis(350);

/// First prompt of the session that sent the request.
fn first_prompt(request: &Request) -> String {
    let mut messages = request.messages().iter();
    let first = messages.find(|message| message["role"] == "user");
    let first = first.and_then(|message| message["content"].as_str());
    first.unwrap_or_default().to_owned()
}

/// A session whose model gives tasks to these agents, in this order, and says that all is done when they have ended.
fn parent(
    pause: Pause,
    tasks: &'static [(&'static str, &'static str)],
    child: impl Fn(&Request) -> Answer + Send + Sync + 'static,
    mode: ApprovalMode,
) -> Scene {
    let script = Script::by(move |request: &Request| {
        match (
            first_prompt(request).contains("PARENT"),
            request.results().len(),
        ) {
            (true, 0) => {
                let mut answer = Answer::text("I give tasks.");
                for (agent, prompt) in tasks {
                    let task = json!({"agent": agent, "prompt": prompt, "description": "a part"});
                    answer = answer.and_call("task", task);
                }
                answer
            }
            (true, _) => Answer::text("All parts are done."),
            (false, _) => child(request),
        }
    });
    scenes::scene("", script, pause, "PARENT", |params| {
        params.options.approval_mode = Some(mode);
    })
}

/// Two at work: `explore` waits for the model, `general` runs a command.
fn two() -> Scene {
    let pause = Pause::new();
    let held = pause.clone();
    let command = Gate::command("gate");
    let child = move |request: &Request| match (
        first_prompt(request).contains("LOOK"),
        request.results().len(),
    ) {
        (true, _) => Answer::text("Nothing is there.").held(Place::Before, &held),
        (false, 0) => Answer::call("bash", json!({"command": command.clone()})),
        (false, _) => Answer::text("The command is through."),
    };
    let tasks = &[("explore", "LOOK"), ("general", "RUN")];
    let scene = parent(pause, tasks, child, ApprovalMode::Yolo);
    scene.gate.wait();
    scene.house.block_on(scene.pause.reached());
    scene
}

/// The number of the sub-agent of this definition.
fn agent(scene: &Scene, name: &str) -> Pid {
    until("the agent's log", || {
        let logs = scene.house.logs();
        let mut agents = logs.iter();
        let found = agents.find(|log| {
            let agent = log.created().agent;
            agent.is_some_and(|agent| agent.name == name)
        });
        found.map(tests::log::Log::pid)
    })
}

/// The row of a sub-agent above the line for prompts.
fn row(screen: &str, words: &str) -> Option<String> {
    let mut rows = screen.lines();
    rows.find(|row| row.contains(words) && row.contains(" · "))
        .map(str::to_owned)
}

fn finish(scene: &Scene) {
    scene.gate.open();
    scene.pause.open();
    scene.wait("turn.ended", 1);
}

#[test]
fn each_agent_has_a_live_row_and_the_list_leads_to_one_and_back() {
    let scene = two();
    let (explore, general) = (agent(&scene, "explore"), agent(&scene, "general"));
    let terminal = scene.attach(TerminalSetup::USUAL);
    terminal.wait_for("a row for each agent", |screen| {
        let thinks = row(screen, &format!("explore {explore}"));
        let runs = row(screen, &format!("general {general}"));
        thinks.is_some_and(|row| row.contains("thinking"))
            && runs.is_some_and(|row| row.contains("bash") && row.contains("1 step"))
    });
    terminal.type_text("/agents\n");
    terminal.wait_for("the list of agents", |screen| {
        let rows = |name: &str| {
            let mut rows = screen.lines();
            rows.any(|row| row.contains('▶') && row.contains(name))
        };
        screen.contains(&format!("Sub-agents of session {}", scene.pid))
            && screen.contains('▸')
            && rows("explore")
            && rows("general")
    });
    // Two calls of one answer start side by side: either agent may have the lower number, and the list is by number.
    let general_is_last = explore < general;
    terminal.press(if general_is_last { "end" } else { "home" });
    terminal.wait_for("the mark", |screen| {
        screen
            .lines()
            .any(|row| row.starts_with('▸') && row.contains("general"))
    });
    terminal.press("enter");
    // It is attached, and says how to go back.
    terminal.wait_text(&format!("sub-agent of session {}", scene.pid));
    terminal.wait_scrolled("RUN");
    terminal.press("ctrl-x");
    let name = format!("general {general}");
    terminal.wait_for("the parent", |screen| row(screen, &name).is_some());
    finish(&scene);
    terminal.wait_scrolled("All parts are done.");
    terminal.wait_for("no rows of agents", |screen| {
        has_composer(screen) && row(screen, &name).is_none()
    });
    terminal.type_text("/agents\n");
    terminal.wait_for("agents that have ended", |screen| {
        screen.matches("exited 0").count() >= 2
    });
}

#[test]
fn on_a_small_screen_agents_share_a_row_in_both_languages() {
    let scene = two();
    for (language, words) in [
        ("en", "2 sub-agents at work: /agents"),
        ("zh", "2 个子代理正在工作：/agents"),
    ] {
        let terminal = scene.attach(TerminalSetup {
            columns: 40,
            rows: 12,
            language,
            ..TerminalSetup::USUAL
        });
        terminal.wait_text(words);
        terminal.type_text("/agents\n");
        terminal.wait_for("the list", |screen| {
            screen.contains("explore") && screen.contains("general")
        });
    }
    finish(&scene);
}

#[test]
fn rows_of_agents_leave_nothing_in_the_scrollback() {
    let scene = two();
    let terminal = scene.attach(TerminalSetup::USUAL);
    terminal.wait_for("a row", |screen| row(screen, "explore").is_some());
    finish(&scene);
    terminal.wait_scrolled("All parts are done.");
    terminal.wait_for("no rows of agents", |screen| {
        has_composer(screen) && row(screen, "thinking").is_none()
    });
    let all = terminal.scrollback();
    assert!(!all.contains("thinking"), "{all}");
    assert_eq!(all.matches("All parts are done.").count(), 1, "{all}");
}

/// Answers with yes once keys count. The screen is not at rest meanwhile: the parent works.
fn yes(terminal: &Terminal) {
    pace(Instant::now() + GUARD);
    terminal.press("y");
}

/// A child that wants to write a file, and has asked; its number.
pub fn asking() -> (Scene, Pid) {
    let child = |request: &Request| match request.results().len() {
        0 => Answer::call("write_file", json!({"path": "made", "content": "x"})),
        _ => Answer::text("It is made."),
    };
    let tasks = &[("general", "WRITE")];
    let scene = parent(Pause::new(), tasks, child, ApprovalMode::Ask);
    let child = agent(&scene, "general");
    wait(&scene.house, child, "interaction.opened", 1);
    (scene, child)
}

#[test]
fn question_of_an_agent_is_answered_on_the_screen_of_its_parent() {
    let (scene, child) = asking();
    let terminal = scene.attach(TerminalSetup::USUAL);
    terminal.wait_text(&format!("asked by the sub-agent general (session {child})"));
    terminal.wait_text("y yes");
    yes(&terminal);
    terminal.wait_scrolled("All parts are done.");
    assert!(scene.house.project().join("made").exists());
    // Nobody went to the child for it.
    assert!(
        !terminal
            .scrollback()
            .contains(&format!(" session {child} ─"))
    );
}

#[test]
fn question_of_an_agent_that_is_answered_elsewhere_leaves_the_screen() {
    let (scene, _child) = asking();
    let terminal = scene.attach(TerminalSetup::USUAL);
    terminal.wait_text("asked by the sub-agent");
    let id = scene.house.reasonix(&["inbox", "-q"]).expect_code(0).out;
    let _ = scene
        .house
        .reasonix(&["inbox", "allow", id.trim()])
        .expect_code(0);
    terminal.wait_gone("asked by the sub-agent");
    terminal.wait_scrolled("All parts are done.");
}

#[test]
fn the_board_is_a_tree_with_steps_and_its_keys_reach_a_childs_question() {
    let (scene, child) = asking();
    let terminal = scenes::interface(&scene.house, &["top"], TerminalSetup::USUAL);
    terminal.wait_for("a tree", |screen| {
        screen.contains("STEPS") && screen.contains(&format!("└ {child}"))
    });
    // The mark is on the parent, whose child asks.
    terminal.press("home");
    terminal.press("a");
    terminal.wait_text("y yes");
    yes(&terminal);
    scene.wait("turn.ended", 1);
}

#[test]
fn question_of_another_session_is_shown_as_one_row_until_answered() {
    let scene = scenes::several();
    let terminal = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    terminal.wait_text("1 question waits in another session: /inbox");
    answer_all(&scene);
    terminal.wait_gone("waits in another session");
}

fn answer_all(scene: &Scene) {
    let ids = scene.house.reasonix(&["inbox", "-q"]).expect_code(0).out;
    for id in ids.lines() {
        let _ = scene.house.reasonix(&["inbox", "deny", id]).expect_code(0);
    }
}
