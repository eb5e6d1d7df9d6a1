//! How the interface is started by who comes from other agents: with a prompt, with a slip, in a simple terminal.

use testkit::Script;
use tests::{House, Terminal};

use super::scenes::{TerminalSetup, has_composer, interface};

#[test]
fn a_prompt_behind_the_name_is_the_first_one() {
    let house = House::playing(&Script::new().says("Found and fixed."));
    let terminal = interface(&house, &["fix the bug"], TerminalSetup::USUAL);
    terminal.wait_for("the answer, and a line for the next prompt", |screen| {
        screen.contains("> fix the bug")
            && screen.contains("Found and fixed.")
            && has_composer(screen)
    });
    assert_eq!(house.logs().len(), 1);
}

#[test]
fn one_unknown_word_is_a_command_misspelt() {
    let house = House::new();
    let refused = house.reasonix(&["rnu"]).expect_code(64);
    assert!(
        refused.err.contains("Unknown command `rnu`"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("`run`"), "{}", refused.err);
    for arguments in [&["-p", "fix it"][..], &["-p"]] {
        let refused = house.reasonix(arguments).expect_code(64);
        assert!(refused.err.contains("reasonix run"), "{}", refused.err);
    }
}

#[test]
fn words_behind_no_command_are_a_misspelt_command_or_need_quotes() {
    let house = House::new();
    let table = [
        (&["attch", "3"][..], "Unknown command `attch`", "`attach`"),
        (&["runn", "hi"], "Unknown command `runn`", "`run`"),
        (&["runn", "--json"], "Unknown command `runn`", "`run`"),
        (
            &["fix", "the", "tests"],
            "Unknown command `fix`",
            "`reasonix \"fix the tests\"`",
        ),
        (
            &["review", "HEAD"],
            "Unknown command `review`",
            "`reasonix run /review`",
        ),
        (
            &["resume", "--last"],
            "unknown option `--last`",
            "`reasonix -c`",
        ),
        (
            &["run", "-C", "/", "hi"],
            "unknown option `-C`",
            "`--cwd DIR`",
        ),
        (
            &["-C", "/", "hi"],
            "unknown option `-C`",
            "`cd DIR && reasonix`",
        ),
        (&["foo", "ls"], "Unknown command `foo`", "`reasonix help`"),
        (
            &["please", "search"],
            "Unknown command `please`",
            "`reasonix help`",
        ),
        (
            &["-p", "--output-format", "json", "hello"],
            "`-p` is not needed with `reasonix run`",
            "`reasonix run --output-format json hello`",
        ),
        (
            &["--output-format", "json", "-p", "hi"],
            "`-p` is not needed with `reasonix run`",
            "`reasonix run --output-format json hi`",
        ),
        (
            &[
                "-p",
                "hi",
                "--output-format",
                "stream-json",
                "--max-turns",
                "5",
            ],
            "`-p` is not needed with `reasonix run`",
            "`reasonix run hi --output-format jsonl --max-steps 5`",
        ),
        (
            &["fix it", "--json"],
            "unknown option `--json`",
            "`reasonix run \"fix it\" --json`",
        ),
        (
            &["--print", "fix it", "--model", "x"],
            "`--print` is not needed",
            "`reasonix run \"fix it\" --model x`",
        ),
        (
            &["-p", "say `id` and $HOME, don't"],
            "`-p` is not needed",
            r"`reasonix run 'say `id` and $HOME, don'\''t'`",
        ),
        (
            &["-p", "--model", "m"],
            "`-p` is not needed",
            "`reasonix run --model m \"fix the failing test\"`",
        ),
        (
            &["fix", "`date`", "it"],
            "Unknown command `fix`",
            "`reasonix 'fix `date` it'`",
        ),
        (
            &["-r", "7", "fix", "it", "now"],
            "a prompt of several words needs quotes",
            "`reasonix -r 7 \"fix it now\"`",
        ),
        (
            &["--resume=7", "fix", "it"],
            "a prompt of several words needs quotes",
            "`reasonix --resume=7 \"fix it\"`",
        ),
        (
            &["run", "--input-format", "stream-json"],
            "unknown format `stream-json`",
            "`--input-format jsonl`",
        ),
        (&["init"], "Unknown command `init`", "`reasonix run /init`"),
        (
            &["run", "--resume", "3", "hi"],
            "unknown option `--resume`",
            "`--session N`",
        ),
        (
            &["run", "--permission-mode", "plan", "hi"],
            "unknown option `--permission-mode`",
            "`--plan`",
        ),
        (
            &["run", "--sandbox", "workspace-write", "hi"],
            "unknown option `--sandbox`",
            "leave it out",
        ),
        (
            &["run", "--output-format", "stream-json", "hi"],
            "unknown format `stream-json`",
            "`--output-format jsonl`",
        ),
        (
            &["config", "list"],
            "Unknown command `list`",
            "`reasonix config`",
        ),
        (
            &["-r", "", "hi"],
            "name the session for this prompt",
            "`reasonix ls`",
        ),
        (
            &["run", "-a", "never"],
            "unknown option `-a`",
            "`--approval-mode MODE`",
        ),
        (
            &["run", "--sandbox", "read-only"],
            "unknown option `--sandbox`",
            "`--read-only`",
        ),
    ];
    for (arguments, what, hint) in table {
        let refused = house.reasonix(arguments).expect_code(64);
        assert!(refused.err.contains(what), "{arguments:?}: {}", refused.err);
        assert!(refused.err.contains(hint), "{arguments:?}: {}", refused.err);
    }
    let sentence = house.reasonix(&["fix", "the", "bug"]).expect_code(64);
    assert!(!sentence.err.contains("Did you mean"), "{}", sentence.err);
}

#[test]
fn an_unknown_model_is_refused_before_anything_is_made() {
    let house = House::playing(&Script::new().says("Hello."));
    let run = house.reasonix(&["run", "-m", "nonsense", "fix it"]);
    let run = run.expect_code(64);
    let mut terminal = Terminal::reasonix(&house, &["-m", "nonsense", "fix it"], 200, 24);
    assert_eq!(terminal.exit_code(), 64);
    let said = terminal.scrollback();
    for line in run.err.lines() {
        assert!(said.contains(line.trim()), "{line}: {said}");
    }
    assert!(house.logs().is_empty());
}

#[test]
fn a_dumb_terminal_gets_the_lines() {
    let house = House::playing(&Script::new().says("Line by line."));
    for arguments in [&[][..], &["attach"]] {
        let mut command = house.command(arguments);
        command.env("TERM", "dumb");
        let mut terminal = Terminal::start(command, 80, 24);
        terminal.wait_scrolled("line mode, because this terminal is simple");
        if arguments.is_empty() {
            terminal.type_text("hello\n");
        }
        terminal.wait_scrolled("Line by line.");
        terminal.type_text("/quit\n");
        assert_eq!(terminal.exit_code(), 0);
        let written = terminal.raw_bytes();
        assert!(
            !written.contains(&0x1b),
            "no escape: {}",
            terminal.scrollback()
        );
    }
}

#[test]
fn a_dumb_terminal_takes_prompt_and_options_as_any_other() {
    let house = House::playing(&Script::new().runs("touch made").says("It may not."));
    let mut command = house.command(&["--read-only", "--approval-mode", "auto", "make it"]);
    command.env("TERM", "dumb");
    let mut terminal = Terminal::start(command, 80, 24);
    terminal.wait_scrolled("It may not.");
    terminal.type_text("/quit\n");
    assert_eq!(terminal.exit_code(), 0);
    assert!(!house.project().join("made").exists());
    let log = house.log(proto::Pid(1));
    assert_eq!(
        log.check().results()[0].status,
        proto::item::CallStatus::Denied
    );
    assert_eq!(log.count("interaction.opened"), 0);
    // It shows no list to pick from.
    let mut command = house.command(&["-r"]);
    command.env("TERM", "dumb");
    let mut terminal = Terminal::start(command, 80, 24);
    terminal.wait_scrolled("too simple to pick a session");
    assert_eq!(terminal.exit_code(), 64);
}

#[test]
fn a_sentence_in_a_script_without_blanks_is_a_prompt() {
    let house = House::playing(&Script::new().says("修好了。"));
    let terminal = interface(
        &house,
        &["修复登录页面的错误，并运行测试"],
        TerminalSetup::USUAL,
    );
    terminal.wait_text("修好了。");
}

#[test]
fn a_narrow_terminal_shows_the_titles_of_sessions() {
    let house = House::playing(&Script::new().says("Done."));
    let _ = house.reasonix(&["run", "mend the login"]).expect_code(0);
    for (columns, model) in [(40, false), (120, true)] {
        let mut terminal = Terminal::reasonix(&house, &["ls"], columns, 12);
        assert_eq!(terminal.exit_code(), 0, "{}", terminal.scrollback());
        let said = terminal.scrollback();
        assert!(said.contains("mend the login"), "{columns}: {said}");
        assert_eq!(said.contains("MODEL"), model, "{columns}: {said}");
    }
}

#[test]
fn a_long_directory_leaves_room_for_the_titles() {
    let house = House::playing(&Script::new().says("Done."));
    let long = house
        .project()
        .join("a-directory-with-a-long-name/and-another-one-in-it");
    std::fs::create_dir_all(&long).expect("a directory");
    let run = house.reasonix(&["run", "--cwd", &long.to_string_lossy(), "fix the login"]);
    let _ = run.expect_code(0);
    let mut terminal = Terminal::reasonix(&house, &["ls"], 120, 12);
    assert_eq!(terminal.exit_code(), 0, "{}", terminal.scrollback());
    let said = terminal.scrollback();
    assert!(said.contains("fix the login"), "{said}");
    assert!(said.contains("and-another-one-in-it"), "{said}");
}

#[test]
fn the_first_screen_names_the_instruction_files() {
    let house = House::playing(&Script::new().says("Done."));
    house.files("//- AGENTS.md\nBe kind.\n");
    let terminal = interface(&house, &[], TerminalSetup::USUAL);
    terminal.wait_text(" · AGENTS.md · `/help`");
}

#[test]
fn the_last_session_goes_on_with_a_prompt_behind_its_option() {
    let house = House::playing(&Script::new().says("Once.").says("Twice.").says("Thrice."));
    let _ = house.reasonix(&["run", "hello"]).expect_code(0);
    for (arguments, words) in [
        (&["-c", "and again"][..], "Twice."),
        (&["-r", "1", "again"], "Thrice."),
    ] {
        let terminal = interface(&house, arguments, TerminalSetup::USUAL);
        terminal.wait_text(words);
        let screen = terminal.scrollback();
        assert!(!screen.contains("while you were away"), "{screen}");
        assert_eq!(house.logs().len(), 1);
    }
}
