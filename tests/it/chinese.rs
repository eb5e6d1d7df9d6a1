//! The command line under a Chinese locale: what a person reads is Chinese, what a program reads is not.

use std::process::Stdio;

use testkit::Script;
use tests::{Done, House, Running, Terminal, program, until};

const LOCALE: &str = "zh_CN.UTF-8";

/// Runs `reasonix` to its end under a Chinese locale.
fn run(house: &House, arguments: &[&str]) -> Done {
    program::run(house.command(arguments).env("LANG", LOCALE))
}

/// The same on a pipe that stays open.
fn start(house: &House, arguments: &[&str]) -> Running {
    let mut command = house.command(arguments);
    Running::start(command.env("LANG", LOCALE).stdin(Stdio::piped()))
}

/// Both streams hold Chinese, and no English sentence; `names`: names, and words that come from the model.
fn speaks_chinese(done: &Done, names: &[&str]) {
    let text = format!("{}\n{}", done.out, done.err);
    assert!(text.chars().any(is_chinese), "no Chinese: {done:?}");
    no_english(&text, names);
}

fn no_english(text: &str, names: &[&str]) {
    for line in text.lines() {
        let mut rest = without_system_errors(line);
        names
            .iter()
            .for_each(|name| rest = rest.replace(name, "\u{1}"));
        assert!(
            !is_english(&rest),
            "an English sentence is left: {line:?} in {text}"
        );
    }
}

/// A line without the system's own words for an error, as in `file: Permission denied (os error 13)`.
fn without_system_errors(line: &str) -> String {
    let mut rest = line.to_owned();
    while let Some(number) = rest.find(" (os error ") {
        let begin = rest[..number].rfind(": ").map_or(0, |colon| colon + 2);
        let end = rest[number..]
            .find(')')
            .map_or(rest.len(), |bracket| number + bracket + 1);
        rest.replace_range(begin..end, "\u{1}");
    }
    rest
}

fn is_chinese(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// Two words in a row that are no names: lower-case letters, outside of backticks.
fn is_english(line: &str) -> bool {
    let plain: Vec<&str> = line.split('`').step_by(2).collect();
    let words = |part: &str| {
        let is_word = |word: &str| {
            // Commands of line mode, and names in a list.
            let is_name = word.starts_with('/') || word.ends_with(',');
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            !is_name && word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase())
        };
        let words: Vec<bool> = part.split_whitespace().map(is_word).collect();
        words.windows(2).any(|pair| pair[0] && pair[1])
    };
    plain.into_iter().any(words)
}

#[test]
fn the_locale_chooses_the_language_and_the_setting_wins() {
    let house = House::new();
    let chinese = run(&house, &["frobnicate"]).expect_code(64);
    speaks_chinese(&chinese, &[]);
    let english = house.reasonix(&["frobnicate"]).expect_code(64);
    assert!(!english.err.chars().any(is_chinese), "{english:?}");
    house.settings("language = \"en\"\n");
    let set = run(&house, &["frobnicate"]).expect_code(64);
    assert_eq!(set.err, english.err);
    let house = House::new();
    house.settings("language = \"zh\"\n");
    let set = house.reasonix(&["frobnicate"]).expect_code(64);
    assert_eq!(set.err, chinese.err);
}

#[test]
fn wrong_arguments_are_refused_in_chinese() {
    let house = House::new();
    for arguments in [
        &["ls", "--nonsense"][..],
        &["ls", "--state", "asleep"],
        &["kill"],
        &["run", "--timeout", "soon", "x"],
        &["run", "--budget-usd", "much", "x"],
        &["run", "--budget-tokens", "many", "x"],
        &["run", "--max-steps", "few", "x"],
        &["goal", "--max-turns", "x", "finish"],
        &["goal", "change", "1", "--max-turns", "x"],
        &["budget", "1", "--minutes", "long"],
        &["model", "1", "--samples", "9"],
        &["history", "search", "-n", "0", "x"],
        &["config", "frob"],
        &["ls", "--json", "--quiet", "--nonsense"],
    ] {
        let done = run(&house, arguments).expect_code(64);
        if !arguments.contains(&"--json") {
            speaks_chinese(&done, &["[OPTIONS]"]);
        }
    }
}

#[test]
fn without_a_provider_everything_says_so_in_chinese() {
    let house = House::new();
    house.config_text("");
    speaks_chinese(&run(&house, &["run", "hello"]).expect_code(78), &[]);
    let done = run(&house, &["doctor"]);
    speaks_chinese(&done, &[]);
    speaks_chinese(&run(&house, &["inbox"]).expect_code(0), &[]);
    speaks_chinese(
        &run(&house, &["daemon", "status"]).expect_code(0),
        &["reasonix daemon status"],
    );
    speaks_chinese(&run(&house, &["setup"]).expect_code(64), &[]);
    speaks_chinese(&run(&house, &["login"]), &[]);
    speaks_chinese(&run(&house, &["trust"]).expect_code(0), &[]);
}

#[test]
fn a_wrong_model_or_session_is_refused_in_chinese() {
    let house = House::playing(&Script::new().says("Hello."));
    house.daemon();
    for arguments in [
        &["run", "--model", "nonsense", "hello"][..],
        &["run", "--preset", "nonsense", "hello"],
        &["show", "99"],
        &["kill", "99"],
        &["wait", "99"],
        &["rewind", "99", "--list"],
        &["inbox", "allow", "9.9"],
        &["inbox", "answer", "9.9", "1"],
        &["config", "set", "nonsense", "1"],
        &["config", "get", "nonsense"],
        &["permissions", "revoke", "Bash(x)"],
        &["send", "99", "hello"],
        &["attach", "--plain", "99"],
        &["model", "99", "nonsense"],
    ] {
        let done = run(&house, arguments);
        assert_ne!(done.code(), Some(0), "{done:?}");
        speaks_chinese(&done, &[]);
    }
}

#[test]
fn a_run_with_a_denial_and_what_is_left_of_it_is_told_in_chinese() {
    let house = House::playing(&Script::new().runs("touch made").says("I could not."));
    house.turn_off_sandbox();
    house.daemon();
    let names = &[
        "touch made",
        "I could not.",
        "make it",
        "replay: replay",
        "reasonix run",
        "reasonix inspect",
    ][..];
    let done = run(&house, &["run", "make it"]).expect_code(3);
    speaks_chinese(&done, names);
    for arguments in [
        &["ls"][..],
        &["ls", "-v"],
        &["ps", "-a"],
        &["show", "1"],
        &["logs", "1"],
        &["rewind", "1", "--list"],
        &["steps", "1"],
        &["inspect", "1"],
        &["inspect", "1", "context"],
        &["strace", "1"],
        &["cache", "1"],
        &["stats"],
        &["stats", "--by", "tool"],
        &["budget", "1"],
        &["prompt"],
        &["permissions"],
        &["permissions", "explain", "--", "touch made"],
        &["hooks"],
        &["wait", "1"],
        &["queue", "1"],
        &["rm", "--dry-run", "1"],
        &["rewind", "1", "0"],
        &["rewind", "1", "--undo"],
        &["fork", "1"],
        &["doctor"],
    ] {
        let done = run(&house, arguments);
        speaks_chinese(&done, names);
    }
    let missing = run(&house, &["show", "1", "--step", "99"]).expect_code(64);
    speaks_chinese(&missing, names);
    let rule = run(&house, &["run", "--deny", "Bash(", "make it"]).expect_code(64);
    speaks_chinese(&rule, names);
}

#[test]
fn results_for_programs_are_the_same_in_every_language() {
    let house = House::playing(&Script::new().runs("touch made").says("I could not."));
    house.turn_off_sandbox();
    house.daemon();
    let done = run(&house, &["run", "--output-format", "json", "make it"]).expect_code(3);
    let why = done.json()["denied"][0]["why"].to_string();
    assert!(why.contains("this call needs approval"), "{why}");
    for arguments in [
        &["ls", "--json"][..],
        &["ls", "-q"],
        &["doctor", "--json"],
        &["rpc", "--schema"],
    ] {
        let done = run(&house, arguments);
        assert!(!done.out.chars().any(is_chinese), "{done:?}");
    }
    let refused = run(
        &house,
        &["run", "--output-format", "json", "--model", "nonsense", "x"],
    );
    assert!(!refused.out.chars().any(is_chinese), "{refused:?}");
}

#[test]
fn line_mode_asks_and_answers_in_chinese() {
    let house = House::playing(&Script::new().runs("touch made").says("Done."));
    house.turn_off_sandbox();
    house.daemon();
    let detached = house
        .reasonix(&["run", "--on-ask", "wait", "--detach", "make it"])
        .expect_code(0);
    let pid = detached.out.trim().to_owned();
    until("the question", || {
        let open = house.reasonix(&["inbox", "-q"]).out;
        open.contains(&format!("{pid}.")).then_some(())
    });
    let names = &["touch made", "make it", "Done."][..];
    speaks_chinese(&run(&house, &["inbox"]).expect_code(0), names);
    speaks_chinese(&run(&house, &["inbox", "--line"]).expect_code(0), names);
    speaks_chinese(&run(&house, &["ls"]).expect_code(0), names);
    let mut attached = start(&house, &["attach", "--plain", &pid]);
    let asked = attached.line("the question", |line| line.contains(&format!("[{pid}.")));
    assert!(asked.contains("允许运行 `bash` 吗？"), "{asked}");
    attached.say("/help\n");
    attached.line("help", |line| line.contains("/quit"));
    attached.say("y\n");
    attached.line("the answer of the model", |line| line.contains("Done."));
    attached.say("/quit\n");
    let done = attached.done();
    speaks_chinese(&done, names);
    assert!(house.project().join("made").exists());
}

#[test]
fn help_is_chinese_and_fits() {
    let house = House::new();
    for arguments in [
        &["help"][..],
        &["--help"],
        &["help", "--all"],
        &["help", "run"],
        &["ls", "-h"],
        &["daemon", "--help"],
    ] {
        let done = run(&house, arguments).expect_code(0);
        speaks_chinese(&done, &[]);
    }
}

/// The cells of a character on the terminal.
fn width(text: &str) -> usize {
    text.chars()
        .map(|c| {
            if is_chinese(c) || ('\u{3000}'..='\u{ffef}').contains(&c) {
                2
            } else {
                1
            }
        })
        .sum()
}

#[test]
fn tables_stand_in_columns_and_fit_the_terminal() {
    let house = House::playing(&Script::new().says("你好，世界。"));
    house.daemon();
    let _ = run(&house, &["run", "--name", "名称", "问候"]).expect_code(0);
    for columns in [40, 80] {
        let mut command = house.command(&["ls"]);
        command.env("LANG", LOCALE);
        let terminal = Terminal::start(command, columns, 24);
        terminal.wait_for("the row of the session", |screen| screen.contains("已退出"));
        let rows = terminal.screen();
        let lines: Vec<&str> = rows
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        assert!(lines[0].starts_with("编号"), "{rows}");
        assert!(
            lines
                .iter()
                .all(|line| width(line.trim_end()) <= usize::from(columns)),
            "{rows}"
        );
        // The second column begins below its head.
        let head = lines[0].find("状态").map(|at| width(&lines[0][..at]));
        let cell = lines[1].find("已退出").map(|at| width(&lines[1][..at]));
        assert_eq!(head, cell, "{rows}");
    }
}
