//! The pictures of the README, drawn from what the interface shows. `UPDATE=1 cargo test -p tests --test it
//! tui::pictures` redraws them; look at the changes.

use proto::state::ApprovalMode;
use serde_json::json;
use testkit::model::{Answer, Gate as Pause, Usage};
use tests::Gate;
use tests::terminal::svg::{Window, picture};

use super::scenes::{Scene, TerminalSetup, interface, scene, wait};

const SIZE: (u16, u16) = (92, 26);

const FILES: &str = "\
//- src/main.rs
fn main() {
    println!(\"{}\", add(1, 2));
}

/// Adds two numbers.
fn add(a: u32, b: u32) -> u32 {
    a + b
}
//- check.sh
touch gate.here
while [ ! -e gate.open ]; do sleep 0.01; done
";

const ANSWER: &str = "It prints `3`. But `add` has **two answers** to a sum that is too large:\n\n\
    | call | debug build | release build |\n|---|---|---|\n\
    | `add(1, 2)` | 3 | 3 |\n| `add(u32::MAX, 1)` | it panics | 0 |\n\n\
    1. It could say that there is no sum, and\n2. whoever calls it decides what to do then:\n\n\
    ```rust\nfn add(a: u32, b: u32) -> Option<u32> {\n    // `None`: it does not fit.\n    a.checked_add(b)\n}\n```\n\n\
    Shall I change it?";

const CHINESE: &str = "它打印 `3`。但和太大时，`add` 有**两种结果**：\n\n\
    | 调用 | 调试版 | 发布版 |\n|---|---|---|\n\
    | `add(1, 2)` | 3 | 3 |\n| `add(u32::MAX, 1)` | 崩溃 | 0 |\n\n\
    1. 它可以说明没有和，\n2. 由调用者决定怎么办：\n\n\
    ```rust\nfn add(a: u32, b: u32) -> Option<u32> {\n    // `None`：放不下。\n    a.checked_add(b)\n}\n```\n\n\
    要我改吗？";

fn at(language: &'static str, theme: &'static str) -> TerminalSetup {
    let (columns, rows) = SIZE;
    TerminalSetup {
        columns,
        rows,
        language,
        theme,
    }
}

fn reads() -> Answer {
    Answer::call("read_file", json!({"path": "src/main.rs"}))
}

/// The counts of `top` depend on their sources.
fn took(answer: Answer, prompt: u64) -> Answer {
    answer.usage(Usage {
        prompt,
        cached: 0,
        output: 86,
        reasoning: 0,
    })
}

/// A turn that read a file and said this of it.
fn answered(prompt: &str, answer: &str) -> Scene {
    let answers = [reads(), Answer::text(answer)];
    let scene = scene(FILES, answers, Pause::new(), prompt, |_| {});
    scene.wait("turn.ended", 1);
    scene
}

#[test]
fn a_turn() {
    let scene = answered("What does src/main.rs print?", ANSWER);
    let terminal = scene.at_rest(at("en", "dark"), "Shall I change it?");
    let about =
        "Reasonix in a terminal: a prompt, a file that was read, an answer with a table and code";
    picture("turn", about, Window::DARK, &terminal);
}

#[test]
fn a_turn_in_chinese() {
    let scene = answered("src/main.rs 会打印什么？", CHINESE);
    let terminal = scene.at_rest(at("zh", "light"), "要我改吗？");
    let about = "终端里的 Reasonix：一个提示，读过的文件，带表格和代码的回答";
    picture("turn-zh", about, Window::LIGHT, &terminal);
}

#[test]
fn an_approval() {
    let edit = json!({
        "path": "src/main.rs",
        "old_string": "/// Adds two numbers.\nfn add(a: u32, b: u32) -> u32 {\n    a + b\n",
        "new_string": "/// Adds two numbers; `None`: the sum does not fit.\nfn add(a: u32, b: u32) -> Option<u32> {\n    a.checked_add(b)\n",
    });
    let answers = [
        reads(),
        Answer::text("First `add` itself, then who calls it:").and_call("edit_file", edit),
        Answer::text("It is changed."),
    ];
    let prompt = "Let add say when a sum does not fit.";
    let scene = scene(FILES, answers, Pause::new(), prompt, |_| {});
    scene.wait("interaction.opened", 1);
    let terminal = scene.attach(at("en", "dark"));
    terminal.wait_text("y yes");
    let about =
        "Reasonix asks before it changes a file: the difference, and the answers y, s and n";
    picture("approval", about, Window::DARK, &terminal);
}

#[test]
fn several_sessions() {
    let answers = [
        took(reads(), 1204),
        took(Answer::text("It prints 3."), 1411),
    ];
    let prompt = "What does src/main.rs print?";
    let scene = scene(FILES, answers, Pause::new(), prompt, |_| {});
    scene.wait("turn.ended", 1);
    let push = Answer::call("bash", json!({"command": "git push origin main"}));
    scene.model.push([took(push, 2340)]);
    let waiting = scene.begin("Publish what is finished.");
    wait(&scene.house, waiting, "interaction.opened", 1);
    let gate = Gate::new(&scene.house, "gate");
    let check = Answer::call("bash", json!({"command": "sh check.sh"}));
    scene.model.push([took(check, 1078)]);
    let mut params = scene.house.create("Check that everything still works.");
    params.options.approval_mode = Some(ApprovalMode::Yolo);
    scene.create(&params);
    gate.wait();
    let terminal = interface(&scene.house, &["top", "--fullscreen"], at("en", "dark"));
    terminal.wait_text("check.sh");
    let about =
        "reasonix top: three sessions, one of which waits for an answer and one runs a command";
    picture("top", about, Window::DARK, &terminal);
}
