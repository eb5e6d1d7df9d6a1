//! Finding sessions, models and files, and what sessions are called.

use std::time::Duration;

use proto::Pid;
use testkit::model::{Answer, Model};
use tests::{House, Terminal, until};

use super::goldens::compare;
use super::scenes::{self, Scene, TerminalSetup, has_composer, interface, prompt, wait};
use crate::scripted;

/// Keys that come sooner after a question appears do not answer it.
const GUARD: Duration = Duration::from_millis(400);

const NARROW: TerminalSetup = TerminalSetup {
    columns: 40,
    ..TerminalSetup::USUAL
};

const CHINESE: TerminalSetup = TerminalSetup {
    language: "zh",
    ..TerminalSetup::USUAL
};

fn say(terminal: &Terminal, text: &str) {
    terminal.type_text(text);
    terminal.press("enter");
}

#[test]
fn a_session_is_resumed_by_its_pid() {
    let scene = scenes::several();
    let terminal = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    say(&terminal, "/resume 975");
    terminal.wait_text("There is no session `975`.");
    let third = Pid(scene.pid.0 + 2);
    say(&terminal, &format!("/resume {third}"));
    terminal.wait_scrolled("第三个会话。");
    // By the beginning of its id, too.
    let id = scene.house.log(scene.pid).created().session.to_string();
    terminal.wait_for("an empty line", has_composer);
    say(&terminal, &format!("/resume {id}"));
    terminal.wait_text("Say hello.");
    let terminal = scene.at_rest(CHINESE, "That is all.");
    say(&terminal, "/resume 975");
    terminal.wait_text("没有会话 `975`。");
}

/// The model that a session asks.
fn asks(scene: &Scene) -> String {
    let pid = scene.pid.to_string();
    scene.house.reasonix(&["model", &pid]).expect_code(0).out
}

/// A session at rest whose provider lists more models than its config.
fn listed() -> Scene {
    let scene = scenes::idle();
    scene.model.list(&["model-1", "quick-2", "deep/slow"]);
    let _ = scene
        .house
        .reasonix(&["models", "--refresh"])
        .expect_code(0);
    scene
}

#[test]
fn a_model_is_picked_by_its_letters_also_on_forty_columns() {
    let scene = listed();
    let terminal = scene.at_rest(NARROW, "That is all.");
    say(&terminal, "/model");
    terminal.wait_text("● model/model-1");
    terminal.wait_text("model/deep/slow");
    terminal.type_text("qck");
    terminal.wait_gone("model/deep/slow");
    terminal.press("enter");
    // The provider's cache would be lost.
    terminal.wait_text("Are you sure?");
    assert!(terminal.quiet(GUARD));
    terminal.press("y");
    until("the other model", || {
        asks(&scene).contains("model/quick-2").then_some(())
    });
    terminal.wait_for("an empty line", has_composer);
    say(&terminal, "/model");
    terminal.wait_text("● model/quick-2");
    terminal.press("esc");
    terminal.wait_for("an empty line", has_composer);
    assert!(asks(&scene).contains("model/quick-2"));
}

#[test]
fn a_model_that_is_not_known_is_answered_with_the_nearest() {
    let scene = listed();
    for (look, words) in [
        (
            TerminalSetup::USUAL,
            ["Unknown model `quick`", "2 more: `/model`"],
        ),
        (CHINESE, ["未知模型 `quick`", "另有 2 个：`/model`"]),
    ] {
        let terminal = scene.at_rest(look, "That is all.");
        say(&terminal, "/model quick");
        for words in words {
            terminal.wait_text(words);
        }
        terminal.wait_text("model/quick-2");
    }
}

#[test]
fn before_the_first_prompt_a_model_can_be_picked() {
    let (model, house) = scenes::empty();
    model.list(&["model-1", "quick-2"]);
    // The check of an endpoint that shows its list to all takes the first answer.
    model.push([testkit::model::Answer::text("That is all.")]);
    let _ = house.reasonix(&["models", "--refresh"]).expect_code(0);
    let terminal = interface(&house, &[], TerminalSetup::USUAL);
    terminal.wait_for("a line for prompts", has_composer);
    say(&terminal, "/model");
    terminal.wait_text("model/quick-2");
    terminal.type_text("quick");
    terminal.wait_gone("model/model-1");
    terminal.press("enter");
    terminal.wait_text("new sessions of this window use model/quick-2");
    say(&terminal, "Hello.");
    terminal.wait_scrolled("That is all.");
    let asked = model.requests().pop().expect("a request");
    assert_eq!(asked.json["model"], "quick-2");
}

#[test]
fn a_file_is_found_anywhere_below_the_directory() {
    let (_model, house) = scenes::empty();
    house.files("//- src/deep/er/widget.rs\n1\n//- out/widget.rs\n2\n//- .gitignore\nout\n");
    let terminal = interface(&house, &[], TerminalSetup::USUAL);
    terminal.wait_for("a line for prompts", has_composer);
    terminal.type_text("see @widg");
    terminal.wait_text("src/deep/er/widget.rs");
    assert!(!terminal.screen().contains("out/widget.rs"));
    terminal.press("tab");
    terminal.wait_text("> see @src/deep/er/widget.rs");
    terminal.type_text("and @src/de");
    terminal.wait_text("> deep/");
    terminal.press("tab");
    terminal.wait_text("and @src/deep/");
}

fn title_of(house: &House, pid: Pid) -> String {
    let all = house.reasonix(&["ls", "--json"]).expect_code(0).json();
    let all = all.as_array().expect("a list");
    let found = all.iter().find(|session| session["pid"] == pid.0);
    found.expect("the session")["title"]
        .as_str()
        .expect("a title")
        .to_owned()
}

#[test]
fn a_session_is_called_by_its_first_prompt_until_it_is_renamed() {
    let model = Model::start([Answer::text("One."), Answer::text("Two.")]);
    let house = scripted::house(&model);
    let first = "Find the \u{1b}[31mbug\nin the second line";
    let done = house
        .reasonix(&["run", "--output-format", "json", first])
        .expect_code(0);
    let pid = Pid(done.json()["pid"].as_u64().expect("a pid"));
    assert_eq!(title_of(&house, pid), "Find the [31mbug");
    prompt(&house, pid, "And something else.");
    wait(&house, pid, "turn.ended", 2);
    assert_eq!(title_of(&house, pid), "Find the [31mbug");
    for line in [&["ls"][..], &["ps", "--all"]] {
        let out = house.reasonix(line).expect_code(0).out;
        assert!(out.contains("TITLE") && out.contains("bug"), "{out}");
        assert!(
            !out.contains("second line") && !out.contains("else"),
            "{out}"
        );
    }
    let terminal = interface(&house, &["attach", &pid.to_string()], TerminalSetup::USUAL);
    until("the terminal's title", || {
        let titles = terminal.titles();
        titles
            .iter()
            .any(|title| title.contains("bug"))
            .then_some(())
    });
    terminal.wait_for("a line for prompts", has_composer);
    say(&terminal, "/rename The hunt");
    until("its name", || {
        (title_of(&house, pid) == "The hunt").then_some(())
    });
    say(&terminal, "/sessions");
    terminal.wait_text("The hunt");
    until("the terminal's title", || {
        let titles = terminal.titles();
        titles
            .iter()
            .any(|title| title.contains("The hunt"))
            .then_some(())
    });
}

#[test]
fn set_up_again_enter_keeps_all_and_the_address_can_be_changed() {
    let (one, two) = (Model::start([]), Model::start([]));
    one.list(&["model-1", "quick-2"]);
    two.list(&["model-1"]);
    let house = House::new();
    house.provider(&one.entry("mine", None));
    house.settings("default_model = \"mine\"");
    house.daemon();
    let before = std::fs::read_to_string(house.home_file("config.toml")).expect("the config");
    let answers = |answers: &[(&str, &str)]| {
        let mut terminal = Terminal::reasonix(&house, &["setup"], 100, 50);
        for (question, answer) in answers {
            terminal.wait_text(question);
            say(&terminal, answer);
        }
        terminal.wait_text("new sessions now use mine/model-1");
        assert_eq!(terminal.exit_code(), 0);
        std::fs::read_to_string(house.home_file("config.toml")).expect("the config")
    };
    let kept = answers(&[
        ("Provider (number or name) [mine]:", ""),
        (&format!("URL [{}]:", one.base_url()), ""),
        ("Model (number or name) [model-1]:", ""),
    ]);
    assert!(
        !kept.contains("quick-2"),
        "the list is no part of the config"
    );
    for line in before.lines().filter(|line| line.contains('=')) {
        assert!(kept.contains(line), "{line} in {kept}");
    }
    let moved = answers(&[
        ("Provider (number or name) [mine]:", ""),
        (&format!("URL [{}]:", one.base_url()), &two.base_url()),
        ("Model (number or name) [model-1]:", ""),
    ]);
    assert!(moved.contains(&two.base_url()) && !moved.contains(&one.base_url()));
}

#[test]
fn set_up_offers_the_address_at_which_the_api_is_found() {
    let model = Model::start([]);
    model.list(&["model-1"]);
    let house = House::new();
    house.daemon();
    let whole = model.base_url();
    let bare = whole.trim_end_matches("/v1");
    let mut terminal = Terminal::reasonix(&house, &["setup"], 100, 60);
    for (question, answer) in [
        ("Provider (number or name)", "new"),
        ("Name of the provider", "mine"),
        ("URL, for example", bare),
        ("Does it need a key?", "n"),
        (&format!("Use `{whole}`? [Y/n]"), ""),
        ("Model (number or name) [model-1]:", ""),
    ] {
        terminal.wait_text(question);
        say(&terminal, answer);
    }
    terminal.wait_text("new sessions now use mine/model-1");
    assert_eq!(terminal.exit_code(), 0);
    let config = std::fs::read_to_string(house.home_file("config.toml")).expect("the config");
    assert!(config.contains(&format!("\"{whole}\"")), "{config}");
}

#[test]
fn set_up_asks_for_another_address_where_nothing_answers() {
    let model = Model::start([]);
    model.list(&["model-1"]);
    let house = House::new();
    house.daemon();
    let right = model.base_url();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = nobody.local_addr().expect("its address").port();
    drop(nobody);
    let wrong = format!("http://127.0.0.1:{port}/v1");
    let mut terminal = Terminal::reasonix(&house, &["setup"], 100, 60);
    for (question, answer) in [
        ("Provider (number or name)", "new"),
        ("Name of the provider", "mine"),
        ("URL, for example", wrong.as_str()),
        ("Does it need a key?", "n"),
        ("Keep it anyway?", "n"),
        (&format!("[{wrong}]"), right.as_str()),
        ("Model (number or name) [model-1]:", ""),
    ] {
        terminal.wait_text(question);
        say(&terminal, answer);
    }
    terminal.wait_text("new sessions now use mine/model-1");
    assert!(
        terminal
            .screen()
            .contains(&format!("{wrong}: no connection: connection refused"))
    );
    assert_eq!(terminal.exit_code(), 0);
}

/// Both languages at the usual and at a narrow width.
fn looks() -> impl Iterator<Item = TerminalSetup> {
    let sizes = [(80, 24), (40, 12)].into_iter();
    sizes.flat_map(|(columns, rows)| {
        ["en", "zh"].map(|language| TerminalSetup {
            columns,
            rows,
            language,
            theme: "none",
        })
    })
}

#[test]
fn skills_are_listed_with_their_faults_and_one_is_used_also_on_forty_columns() {
    let scene = scenes::idle();
    scene.house.files(
        "//- .claude/skills/fix/SKILL.md\n---\nname: fix\ndescription: Fix a fault\n---\nFix $ARGUMENTS.\n//- .reasonix/skills/look/SKILL.md\n---\ndescription: Look around\n---\nLook.\n//- .claude/skills/look/SKILL.md\n---\ndescription: Look elsewhere\n---\nLook.\n//- .claude/skills/bad/SKILL.md\n---\nname: bad\n",
    );
    for look in looks() {
        let terminal = scene.at_rest(look, "That is all.");
        say(&terminal, "/skills");
        terminal.wait_text("fix");
        terminal.wait_text("look");
        compare("skills", look, &terminal);
    }
    scene.answers("It is fixed.");
    let terminal = scene.at_rest(NARROW, "That is all.");
    say(&terminal, "/skills");
    terminal.wait_text("fix");
    terminal.press("enter");
    terminal.wait_text("> /fix");
    terminal.type_text("the door");
    terminal.press("enter");
    terminal.wait_text("It is fixed.");
    let asked = scene.model.requests();
    let body = String::from_utf8_lossy(&asked[asked.len() - 1].body).into_owned();
    assert!(body.contains("Fix the door."), "{body}");
}

#[test]
fn a_search_marks_the_words_and_opens_the_session_of_a_hit_also_on_forty_columns() {
    let scene = scenes::several();
    let found = || {
        let found = scene
            .house
            .reasonix(&["search", "hello"])
            .out
            .contains("hello");
        found.then_some(())
    };
    until("the index", found);
    let third = Pid(scene.pid.0 + 2).to_string();
    for look in looks() {
        let terminal = interface(&scene.house, &["attach", &third], look);
        terminal.wait_scrolled("第三个会话。");
        terminal.wait_for("an empty line", has_composer);
        say(&terminal, "/search Hello");
        terminal.wait_text("Say hello.");
        terminal.press("end");
        compare("search", look, &terminal);
        terminal.press("home");
        terminal.press("enter");
        terminal.wait_text("That is all.");
    }
    let terminal = scene.at_rest(CHINESE, "That is all.");
    say(&terminal, "/search nowhere-at-all");
    terminal.wait_text("没有消息含有这些词");
}
