//! What the interface looks like at every place of a session: at three sizes, in both languages, with and without
//! colours. `UPDATE=1 cargo test -p tests --test it tui::goldens` rewrites the files; look at the changes.

use tests::Terminal;
use tests::terminal::golden::{GoldenContent, golden};

use super::scenes::{self, Scene, TerminalSetup, has_composer, interface};

const SIZES: [(u16, u16); 3] = [(80, 24), (40, 12), (200, 60)];
const LANGUAGES: [&str; 2] = ["en", "zh"];
const THEMES: [&str; 2] = ["dark", "none"];

/// Every way to look at a scene.
fn looks() -> impl Iterator<Item = TerminalSetup> {
    SIZES.into_iter().flat_map(|(columns, rows)| {
        LANGUAGES.into_iter().flat_map(move |language| {
            THEMES.into_iter().map(move |theme| TerminalSetup {
                columns,
                rows,
                language,
                theme,
            })
        })
    })
}

/// Compares one look at a scene with its file.
pub(super) fn compare(name: &str, look: TerminalSetup, terminal: &Terminal) {
    let TerminalSetup {
        columns,
        rows,
        language,
        theme,
    } = look;
    // Colours need to be looked at once, not at every size; with ages in them they would never be the same.
    let of = match (name, columns, theme) {
        ("sessions" | "search", _, _) => GoldenContent::Text,
        (_, 80, _) | (_, _, "none") => GoldenContent::Colours,
        _ => GoldenContent::Text,
    };
    let name = format!("{name}-{columns}x{rows}-{language}-{theme}");
    golden(&name, of, terminal);
    assert_eq!(terminal.unknown(), Vec::<String>::new(), "{name}");
    if theme == "none" {
        assert_no_colour(&name, terminal);
    }
}

/// No cell has a colour.
fn assert_no_colour(name: &str, terminal: &Terminal) {
    let (columns, rows) = terminal.size();
    let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    for (row, column) in cells {
        let Some(cell) = terminal.cell(row, column) else {
            continue;
        };
        let colours = (cell.fgcolor(), cell.bgcolor());
        let none = (vt100::Color::Default, vt100::Color::Default);
        assert_eq!(colours, none, "{name}: row {row}, column {column}");
    }
}

/// A scene in every look, once `shows` is true of the screen.
fn of_scene(name: &str, scene: &Scene, shows: impl Fn(&str, TerminalSetup) -> bool) {
    of_mode(name, scene, &[], shows);
}

/// The same on the whole screen, with the interface's own scrolling.
fn of_whole(name: &str, scene: &Scene, shows: impl Fn(&str, TerminalSetup) -> bool) {
    of_mode(name, scene, &["--fullscreen"], shows);
}

fn of_mode(name: &str, scene: &Scene, mode: &[&str], shows: impl Fn(&str, TerminalSetup) -> bool) {
    for look in looks() {
        let terminal = scene.attach_with(look, mode);
        terminal.wait_for(name, |screen| shows(screen, look));
        assert_eq!(terminal.modes().alternate_screen, !mode.is_empty());
        compare(name, look, &terminal);
    }
}

/// A scene in every look, after something was done that makes `shows` true of the screen.
fn after(name: &str, scene: &Scene, act: impl Fn(&Terminal), shows: impl Fn(&str) -> bool) {
    for look in looks() {
        let terminal = scene.at_rest(look, "Hello, Ann.");
        act(&terminal);
        terminal.wait_for(name, &shows);
        compare(name, look, &terminal);
    }
}

#[test]
fn a_new_session_before_its_first_prompt() {
    let (_model, house) = scenes::empty();
    for look in looks() {
        let terminal = interface(&house, &[], look);
        terminal.wait_for("a line for prompts", has_composer);
        compare("new", look, &terminal);
    }
}

#[test]
fn at_rest() {
    let scene = scenes::idle();
    let shows = |screen: &str, _| has_composer(screen) && screen.contains("That is all.");
    of_scene("idle", &scene, shows);
    of_whole("whole-idle", &scene, shows);
}

#[test]
fn attachments_below_a_prompt() {
    of_scene("attached", &scenes::attached(), |screen, _| {
        has_composer(screen) && screen.contains("That is all.")
    });
}

#[test]
fn while_an_answer_grows() {
    let scene = scenes::streaming();
    let shows = |screen: &str, _| screen.contains("one po");
    of_scene("streaming", &scene, shows);
    of_whole("whole-streaming", &scene, shows);
    scene.pause.open();
}

#[test]
fn while_a_command_runs() {
    let scene = scenes::tool();
    of_scene("tool", &scene, |screen, _| screen.contains("gate.here"));
    scene.gate.open();
}

#[test]
fn when_an_edit_is_asked_about() {
    let scene = scenes::approval();
    let shows = |screen: &str, look: TerminalSetup| {
        let title = match look.language {
            "zh" => "修改这个文件？",
            _ => "Change this file?",
        };
        screen.contains(title)
    };
    of_scene("approval", &scene, shows);
    of_whole("whole-approval", &scene, shows);
}

#[test]
fn when_the_model_asks() {
    of_scene("question", &scenes::question(), |screen, _| {
        screen.contains("Colour")
    });
}

#[test]
fn when_a_sub_agent_asks() {
    let scene = super::agents::asking().0;
    of_scene("agent-question", &scene, |screen, look| {
        screen.contains(match look.language {
            "zh" => "由子代理",
            _ => "asked by the sub-agent",
        })
    });
}

#[test]
fn when_a_recoverable_failure_occurred() {
    of_scene("failing", &scenes::failing(), |screen, _| {
        has_composer(screen) && screen.contains("402")
    });
}

#[test]
fn the_menu_of_commands() {
    let shows = |screen: &str| screen.contains("/help");
    after(
        "menu",
        &scenes::idle(),
        |terminal| terminal.type_text("/"),
        shows,
    );
}

#[test]
fn the_menu_of_files() {
    let shows = |screen: &str| screen.contains("README.md") && screen.contains("src/");
    after(
        "files",
        &scenes::idle(),
        |terminal| terminal.type_text("look at @"),
        shows,
    );
}

#[test]
fn the_list_of_sessions() {
    let scene = scenes::several();
    let shows = |screen: &str| screen.contains("第三个") || screen.contains("用中文");
    after(
        "sessions",
        &scene,
        |terminal| terminal.press("ctrl-p"),
        shows,
    );
}

#[test]
fn the_keys() {
    let shows = |screen: &str| screen.contains("  @");
    after(
        "keys",
        &scenes::idle(),
        |terminal| terminal.press("f1"),
        shows,
    );
}

#[test]
fn while_the_connection_is_made_again() {
    let scene = scenes::idle();
    for look in looks() {
        if scene.house.daemon_pid().is_none() {
            scene.house.daemon();
        }
        let terminal = scene.at_rest(look, "Hello, Ann.");
        scene.house.kill_daemon_and_parent();
        let mute = scenes::mute(&scene.house);
        let words = match look.language {
            "zh" => "重新连接中",
            _ => "reconnecting",
        };
        terminal.wait_text(words);
        compare("reconnecting", look, &terminal);
        drop(terminal);
        drop(mute);
        let _ = std::fs::remove_file(scene.house.socket());
    }
}

#[test]
fn what_a_model_says_never_reaches_the_terminal_as_an_escape() {
    let scene = scenes::idle();
    let evil = "before \u{1b}]0;pwned\u{7}\u{1b}]52;c;cHduZWQ=\u{7}\u{1b}[2J\u{1b}[31mred\u{9b}31m \u{202e}txt\u{7} `\u{1b}[5m` behind";
    scene.answers(evil);
    let mut terminal = scene.at_rest(TerminalSetup::USUAL, "Hello, Ann.");
    let bells = terminal.bells();
    terminal.type_text("say it\n");
    terminal.wait_scrolled("behind");
    terminal.wait_for("a line for prompts", has_composer);
    assert_eq!(terminal.unknown(), Vec::<String>::new());
    assert_eq!(terminal.copied(), Vec::<String>::new());
    assert_eq!(terminal.bells(), bells);
    assert!(!terminal.titles().iter().any(|title| title == "pwned"));
    let raw = String::from_utf8_lossy(&terminal.raw_bytes()).into_owned();
    for foreign in [
        "\u{1b}]0;",
        "\u{1b}]52",
        "\u{1b}[2J",
        "\u{1b}[5m",
        "\u{9b}",
        "\u{202e}",
    ] {
        assert!(!raw.contains(foreign), "{foreign:?}");
    }
    assert!(
        terminal.scrollback().contains("Hello, Ann."),
        "nothing is wiped away"
    );
    terminal.press("ctrl-d");
    assert_eq!(terminal.exit_code(), 0);
}
