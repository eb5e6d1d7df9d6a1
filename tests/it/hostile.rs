//! Words of models, tools, files and vendors that want to drive the terminal, or to hide the question (I31): through
//! every command that prints, and on the screen.

use proto::Pid;
use serde_json::json;
use testkit::model::{Answer, Fault, Model};
use tests::program::run;
use tests::terminal::Terminal;
use tests::{Done, House, until};

use crate::scripted::FAST_RETRIES;

/// A title, colours, a cleared screen, a clipboard, a link, C1 codes, a carriage return, reordering, nothing to be seen.
const HOSTILE: &str = "A\u{1b}]0;pwned\u{7}B\u{1b}[2J\u{1b}[31mC\u{1b}]52;c;cHduZWQ=\u{7}D\u{1b}]8;;http://evil/\u{1b}\\E\u{9b}1mF\u{9d}0;pwned\u{9c}G\rH\u{8}I\u{7}J\u{202e}K\u{2066}L\u{200b}M\u{feff}N\u{2028}O\u{e0041}P";

/// The same for names, which cannot contain control characters.
const NAME: &str = "n\u{202e}a\u{200b}m\u{2066}e";

/// Whether a terminal would obey it, or show something else than there is.
fn is_hostile(character: char) -> bool {
    (character.is_control() && character != '\n') || proto::hidden(character)
}

/// The control sequences in a command's output, with the text before them.
fn first_hostile(what: &str, done: &Done) -> Option<String> {
    [&done.out, &done.err].into_iter().find_map(|text| {
        let (at, character) = text
            .char_indices()
            .find(|(_, character)| is_hostile(*character))?;
        let begin = text[..at]
            .char_indices()
            .rev()
            .nth(60)
            .map_or(0, |(at, _)| at);
        Some(format!(
            "`{what}` prints {character:?}, after {:?}",
            &text[begin..at]
        ))
    })
}

#[track_caller]
fn assert_tame(what: &str, done: &Done) {
    assert_eq!(first_hostile(what, done), None);
}

/// A house in which everything that can be named has a hostile name. Session 1 has had tools, session 2 waits for an
/// answer, session 3 has failed.
fn scene() -> (House, Model) {
    let model = Model::start([
        Answer::text("I look. ").reasoning(HOSTILE).and_call(
            "bash",
            json!({"command": format!("printf '%s' '{HOSTILE}'"), "description": HOSTILE}),
        ),
        Answer::call("ls", json!({"path": "."}))
            .and_call("read_file", json!({"path": format!("no{HOSTILE}such")})),
        Answer::call("no_such_tool", json!({HOSTILE: HOSTILE}))
            .and_call("grep", json!({"pattern": "evil", "path": HOSTILE})),
        Answer::call(
            "todo_write",
            json!({"todos": [{"content": HOSTILE, "status": "pending", "activeForm": HOSTILE}]}),
        )
        .and_call(
            "write_file",
            json!({"path": format!("made{NAME}"), "content": HOSTILE}),
        ),
        Answer::text(HOSTILE),
        Answer::call(
            "bash",
            json!({"command": format!("rm -rf {HOSTILE}"), "description": HOSTILE}),
        ),
        Answer::text("").fault(Fault::Status {
            status: 400,
            retry_after: None,
            body: json!({"error": {"message": HOSTILE, "code": HOSTILE}}).to_string(),
        }),
    ]);
    let house = House::new();
    house.settings(&format!(
        "{FAST_RETRIES}[permissions]\ndeny = [\"Bash(x\\u001b]0;pwned\\u0007{NAME})\"]\n"
    ));
    house.provider(&model.entry("acme", None));
    house.provider(&format!("name = \"{NAME}\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/{NAME}\"\nmodels = [\"m{NAME}\", \"\\u001b]0;pwned\\u0007\"]"));
    std::fs::create_dir(house.project().join(".git")).expect("a directory");
    std::fs::write(
        house.project().join(".git/HEAD"),
        format!("ref: refs/heads/{HOSTILE}\n"),
    )
    .expect("a branch");
    std::fs::write(
        house
            .project()
            .join(format!("evil{}", HOSTILE.replace('/', "_"))),
        "evil\n",
    )
    .expect("a file");
    house.files(&format!(
        "//- reasonix.toml\ndefault_model = \"x\\u001b]0;pwned\\u0007{NAME}\"\n\"no{NAME}\" = 1\n"
    ));
    let line = |arguments: &[&str]| {
        let mut all = vec!["run", "--name"];
        all.extend(arguments);
        // Its answer too: a pipe may end in a terminal.
        assert_tame("run", &house.reasonix(&all));
    };
    line(&[
        &format!("{NAME}1"),
        "--model",
        "acme",
        "--label",
        NAME,
        "--on-ask",
        "allow",
        HOSTILE,
    ]);
    line(&[
        &format!("{NAME}2"),
        "--model",
        "acme",
        "--on-ask",
        "wait",
        "--detach",
        "remove",
    ]);
    until("a question", || {
        house
            .reasonix(&["inbox", "--json"])
            .out
            .contains("rm -rf")
            .then_some(())
    });
    line(&[&format!("{NAME}3"), "--model", "acme", "fail"]);
    (house, model)
}

#[test]
fn no_command_prints_what_a_terminal_obeys() {
    let (house, _model) = scene();
    let log = house.log(Pid(1));
    assert!(log.check().results().len() >= 6, "{:?}", log.results());
    let commands: &[&[&str]] = &[
        &["ls", "-a"],
        &["ps", "-a"],
        &["show", "1"],
        &["show", "2"],
        &["show", "3"],
        &["logs", "1"],
        &["logs", "2"],
        &["logs", "3"],
        &["steps", "1"],
        &["steps", "3"],
        &["cache", "1"],
        &["prompt", "1"],
        &["strace", "1"],
        &["strace", "2"],
        &["strace", "3"],
        &["inspect", "1", "status"],
        &["inspect", "1", "context"],
        &["inspect", "1", "files"],
        &["inspect", "1", "env"],
        &["inspect", "2", "status"],
        &["queue", "1"],
        &["search", "evil"],
        &["search", "pwned"],
        &["stats"],
        &["export", "1"],
        &["export", "3"],
        &["inbox"],
        &["models"],
        &["config"],
        &["doctor"],
        &["trust", "--show"],
        &["daemon", "status"],
        &["daemon", "logs"],
        &["rewind", "1", "0", "--dry-run", "--conversation"],
        &["run", "--model", HOSTILE, "x"],
        &["run", "--allow", HOSTILE, "x"],
        &["show", HOSTILE],
        &["inbox", "deny", HOSTILE],
        &["config", "get", HOSTILE],
        &["rename", "1", HOSTILE],
        &["attach", "--plain", HOSTILE],
        &["search", HOSTILE],
    ];
    let mut wild = Vec::new();
    for arguments in commands {
        let mut json: Vec<&str> = arguments.to_vec();
        json.push("--json");
        for arguments in [arguments, &json[..]] {
            let done = house.reasonix(arguments);
            wild.extend(first_hostile(&arguments.join(" "), &done));
        }
    }
    assert!(wild.is_empty(), "{wild:#?}");
    // A person follows along, line by line.
    let mut attached = house.start(&["attach", "--plain", "1"]);
    attached.hang_up();
    assert_tame("attach", &attached.done());
    let _ = run(house.command(&["inbox", "deny", "2.1"]).env("X", "y"));
}

#[test]
fn an_approval_shows_every_character_that_cannot_be_seen() {
    let (house, _model) = scene();
    let listed = house.reasonix(&["inbox"]).out;
    for mark in ["\\u{1b}", "\\u{202e}", "\\u{200b}", "\\u{9b}", "\\u{e0041}"] {
        assert!(listed.contains(mark), "{mark} is not shown: {listed}");
    }
    let terminal = Terminal::reasonix(&house, &["attach", "2"], 110, 40);
    terminal.wait_text("rm -rf A\\u{1b}");
    // A long line is continued on the next row, after a mark.
    let rows: Vec<_> = terminal
        .screen()
        .lines()
        .map(|row| row.trim_start_matches("┆ ").to_owned())
        .collect();
    let screen = rows.concat();
    for mark in ["\\u{202e}", "\\u{200b}", "\\u{9b}"] {
        assert!(screen.contains(mark), "{mark} is not shown:\n{screen}");
    }
    assert_screen_is_ours(&terminal);
    drop(terminal);
    let _ = house.reasonix(&["inbox", "deny", "2.1"]);
}

/// No outside text was obeyed, and the screen shows no hiding character.
#[track_caller]
fn assert_screen_is_ours(terminal: &Terminal) {
    let text = format!("{}\n{}", terminal.scrollback(), terminal.screen());
    let bad: Vec<char> = text
        .chars()
        .filter(|character| is_hostile(*character))
        .collect();
    assert!(bad.is_empty(), "{bad:?} on the screen:\n{text}");
    let titles = terminal.titles();
    assert!(
        titles
            .iter()
            .all(|title| title != "pwned" && !title.chars().any(is_hostile)),
        "{titles:?}"
    );
    assert!(terminal.copied().is_empty(), "{:?}", terminal.copied());
    let bytes = String::from_utf8_lossy(&terminal.raw_bytes()).into_owned();
    for obeyed in [
        "\u{1b}]0;pwned",
        "\u{1b}]52",
        "\u{1b}]8;;http://evil",
        "\u{9b}",
        "\u{9d}",
        "\u{202e}",
        "\u{2066}",
    ] {
        assert!(!bytes.contains(obeyed), "{obeyed:?} reached the terminal");
    }
}

#[test]
fn no_interface_screen_executes_control_sequences_of_a_session() {
    let (house, _model) = scene();
    for session in ["1", "3"] {
        let terminal = Terminal::reasonix(&house, &["attach", session], 100, 40);
        terminal.wait_for("the session's last words", |screen| screen.contains("acme"));
        // The transcript, lists, the pager, and details of the session.
        for keys in [
            "ctrl-t", "ctrl-r", "ctrl-b", "esc", "ctrl-p", "esc", "f1", "esc",
        ] {
            terminal.press(keys);
        }
        for words in ["/context", "/cost", "/trust", "/sessions", "/queue"] {
            terminal.type_text(words);
            terminal.press("enter");
            let _ = terminal.quiet(std::time::Duration::from_millis(200));
            assert_screen_is_ours(&terminal);
            terminal.press("esc");
        }
        assert_screen_is_ours(&terminal);
    }
    let _ = house.reasonix(&["inbox", "deny", "2.1"]);
}
