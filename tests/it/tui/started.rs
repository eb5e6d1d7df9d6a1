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
        (&["run", "-C", "/", "hi"], "unknown option `-C`", "`--cwd`"),
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
