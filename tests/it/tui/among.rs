//! Three sessions at work at once, and one person who goes from one to the other.

use proto::Pid;
use proto::params::session::CreateParams;
use testkit::model::{Answer, Gate as Pause, Place, Request, Script};
use tests::Terminal;

use super::scenes::{self, Scene, TerminalSetup, has_composer, prompt, wait};

const NAMES: [&str; 3] = ["alpha", "beta", "gamma"];

/// The output of a session before its answer is held, and after it is released.
fn first(name: &str) -> String {
    format!("{name} one.")
}

fn last(name: &str) -> String {
    format!("{name} four.")
}

/// Three sessions, each in the middle of its answer.
struct Live {
    scene: Scene,
    pids: [Pid; 3],
    pauses: [Pause; 3],
}

impl Live {
    fn start() -> Self {
        let pauses = [Pause::new(), Pause::new(), Pause::new()];
        let held = pauses.clone();
        let script = Script::by(move |request: &Request| {
            let said = request.last_text();
            let which = NAMES.iter().position(|name| said.contains(name));
            let which = which.expect("a prompt that names its session");
            let name = NAMES[which];
            if said.contains("again") {
                return Answer::text(format!("{name} heard it."));
            }
            let text = format!("{name} one. {name} two. {name} three. {name} four.");
            Answer::text(text).held(Place::Middle, &held[which])
        });
        let named = |params: &mut CreateParams| params.options.name = Some("alpha".to_owned());
        let scene = scenes::scene("", script, Pause::new(), "Go, alpha.", named);
        let mut pids = [scene.pid; 3];
        for (pid, name) in pids.iter_mut().zip(NAMES).skip(1) {
            let mut params = scene.house.create(&format!("Go, {name}."));
            params.options.name = Some(name.to_owned());
            *pid = scene.create(&params);
        }
        for pause in &pauses {
            scene.house.block_on(pause.reached());
        }
        Self {
            scene,
            pids,
            pauses,
        }
    }

    /// Lets a session come to its end.
    fn finish(&self, which: usize) {
        self.pauses[which].open();
        wait(&self.scene.house, self.pids[which], "turn.ended", 1);
    }

    /// Says something in a session as another client; the turn is over when this returns.
    fn say(&self, which: usize, turns: usize) {
        let house = &self.scene.house;
        let words = format!("And again, {}.", NAMES[which]);
        prompt(house, self.pids[which], &words);
        wait(house, self.pids[which], "turn.ended", turns);
    }
}

/// The row of a session in the list.
fn row<'a>(screen: &'a str, name: &str) -> Option<&'a str> {
    let mut rows = screen.lines();
    rows.find(|row| row.starts_with(['▸', ' ']) && row.contains(&format!("  {name}  ")))
}

/// Opens the list, and waits until all of them are there.
fn list(terminal: &Terminal) {
    terminal.press("ctrl-p");
    terminal.wait_for("three sessions", |screen| {
        screen.contains('▸') && NAMES.iter().all(|name| row(screen, name).is_some())
    });
}

/// Goes to a session by the list's keys.
fn go(terminal: &Terminal, name: &str) {
    list(terminal);
    terminal.press("home");
    terminal.wait_for("the first row", |screen| {
        marked(screen).is_some_and(|row| row.contains("new session"))
    });
    // Rows move when their sessions do something; the mark stays on its own.
    for key in ["down", "j", "down"] {
        let before = terminal.screen();
        if marked(&before) == row(&before, name) {
            break;
        }
        terminal.press(key);
        let before = session(&before);
        terminal.wait_for("another row", |screen| session(screen) != before);
    }
    assert_eq!(session(&terminal.screen()), Some(name));
    terminal.press("enter");
    terminal.wait_for("the session", |screen| marked(screen).is_none());
}

/// The row that Enter would take.
fn marked(screen: &str) -> Option<&str> {
    screen.lines().find(|row| row.starts_with('▸'))
}

/// The session of that row; `None`: a new one.
fn session(screen: &str) -> Option<&'static str> {
    let marked = marked(screen)?;
    NAMES
        .into_iter()
        .find(|name| row(screen, name) == Some(marked))
}

/// Which sessions are marked as unread in the open list.
fn unread(screen: &str) -> Vec<&'static str> {
    let marked = |name: &&str| row(screen, name).is_some_and(|row| row.contains('•'));
    NAMES.into_iter().filter(marked).collect()
}

/// Waits until just these are marked as unread.
fn wait_unread(terminal: &Terminal, names: &[&str]) {
    terminal.wait_for(&format!("{names:?} unread"), |screen| {
        screen.contains('▸') && unread(screen) == names
    });
}

/// The screen shows this session alone. Full screen only: inline, the output of the session before stays above.
fn assert_own(terminal: &Terminal, name: &str, words: &str) {
    terminal.wait_text(words);
    let screen = terminal.screen();
    for other in NAMES.into_iter().filter(|other| *other != name) {
        assert!(!screen.contains(other), "{other} in {name}:\n{screen}");
    }
}

#[test]
fn full_screen_shows_only_the_selected_session_while_others_keep_running() {
    let live = Live::start();
    let terminal = live
        .scene
        .attach_with(TerminalSetup::USUAL, &["--fullscreen"]);
    assert_own(&terminal, "alpha", &first("alpha"));
    for name in ["beta", "gamma", "alpha", "gamma"] {
        go(&terminal, name);
        assert_own(&terminal, name, &first(name));
    }
    live.finish(1);
    live.finish(0);
    go(&terminal, "beta");
    assert_own(&terminal, "beta", &last("beta"));
    go(&terminal, "alpha");
    assert_own(&terminal, "alpha", &last("alpha"));
    // The one that is still at work has not moved.
    go(&terminal, "gamma");
    assert_own(&terminal, "gamma", &first("gamma"));
    assert!(!terminal.screen().contains(&last("gamma")));
    live.finish(2);
    assert_own(&terminal, "gamma", &last("gamma"));
}

#[test]
fn output_below_a_session_divider_belongs_to_that_session_only() {
    let live = Live::start();
    let terminal = live.scene.attach(TerminalSetup::USUAL);
    terminal.wait_text(&first("alpha"));
    for (which, name) in [(1, "beta"), (2, "gamma"), (0, "alpha")] {
        go(&terminal, name);
        live.finish(which);
        terminal.wait_scrolled(&last(name));
        let all = terminal.scrollback();
        let divider = format!(" session {} ", live.pids[which]);
        let (_, own) = all
            .rsplit_once(&divider)
            .unwrap_or_else(|| panic!("{divider}:\n{all}"));
        for other in NAMES.into_iter().filter(|other| *other != name) {
            assert!(!own.contains(other), "{other} in {name}:\n{all}");
        }
        assert_eq!(own.matches(&last(name)).count(), 1, "{all}");
    }
}

#[test]
fn session_list_marks_unread_output_until_the_session_is_shown() {
    let live = Live::start();
    let terminal = live.scene.attach(TerminalSetup::USUAL);
    for name in ["beta", "gamma", "alpha"] {
        go(&terminal, name);
        terminal.wait_text(&first(name));
    }
    list(&terminal);
    wait_unread(&terminal, &[]);
    terminal.press("esc");
    terminal.wait_for("a line for prompts", has_composer);
    live.finish(1);
    list(&terminal);
    wait_unread(&terminal, &["beta"]);
    // The open list learns of it too.
    live.finish(2);
    wait_unread(&terminal, &["beta", "gamma"]);
    terminal.press("esc");
    terminal.wait_for("a line for prompts", has_composer);
    go(&terminal, "beta");
    terminal.wait_scrolled(&last("beta"));
    list(&terminal);
    wait_unread(&terminal, &["gamma"]);
    terminal.press("esc");
    terminal.wait_for("a line for prompts", has_composer);
    // Visible output counts as read.
    live.say(1, 2);
    terminal.wait_scrolled("beta heard it.");
    go(&terminal, "gamma");
    terminal.wait_scrolled(&last("gamma"));
    list(&terminal);
    wait_unread(&terminal, &[]);
    // Again, in one that was read before.
    live.say(1, 3);
    wait_unread(&terminal, &["beta"]);
    live.finish(0);
}

#[test]
fn each_session_keeps_its_own_draft_when_the_interface_switches() {
    let live = Live::start();
    let terminal = live.scene.attach(TerminalSetup::USUAL);
    terminal.wait_text(&first("alpha"));
    let is_written = |words: &'static str| {
        move |screen: &str| screen.lines().any(|row| row == format!("> {words}"))
    };
    terminal.type_text("a draft of the first");
    terminal.wait_for("the draft", is_written("a draft of the first"));
    go(&terminal, "beta");
    terminal.wait_for("an empty line", has_composer);
    terminal.type_text("another one");
    terminal.wait_for("the draft", is_written("another one"));
    go(&terminal, "gamma");
    terminal.wait_for("an empty line", has_composer);
    go(&terminal, "alpha");
    terminal.wait_for("the first draft", is_written("a draft of the first"));
    go(&terminal, "beta");
    terminal.wait_for("the other draft", is_written("another one"));
    // It goes to the session in which it was written.
    live.finish(1);
    terminal.press("ctrl-u");
    terminal.type_text("again, beta\n");
    terminal.wait_scrolled("beta heard it.");
    let request = live.scene.model.requests().pop().expect("a request");
    assert!(request.last_text().contains("again, beta"));
    go(&terminal, "alpha");
    terminal.wait_for("the first draft", is_written("a draft of the first"));
    for which in [0, 2] {
        live.pauses[which].open();
    }
}

#[test]
fn a_key_goes_to_what_waits_for_an_answer_in_another_session() {
    let scene = scenes::several();
    let terminal = scene.at_rest(TerminalSetup::USUAL, "That is all.");
    terminal.press("ctrl-q");
    terminal.wait_for("the waiting session", |screen| {
        screen.contains("Waiting for you") && screen.contains('▸')
    });
    terminal.press("enter");
    terminal.wait_text("touch made");
    terminal.wait_text("y yes");
    assert!(!terminal.screen().contains("Waiting for you"));
}
