//! Scenes for typed lines.

use super::*;

#[test]
fn a_line_is_a_prompt_unless_it_is_a_command() {
    let cases = [
        ("", Said::Nothing),
        ("   ", Said::Nothing),
        ("fix it", Said::Prompt("fix it".into())),
        ("//etc is a path", Said::Prompt("/etc is a path".into())),
        ("/steer use tabs", Said::Steer("use tabs".into())),
        ("/interrupt", Said::Interrupt),
        ("/approve", Said::Approve(None)),
        ("/approve 3.1", Said::Approve(Some("3.1".into()))),
        ("/deny", Said::Deny(String::new())),
        ("/deny 3.1 keep it", Said::Deny("3.1 keep it".into())),
        ("/quit", Said::Quit),
    ];
    for (line, said) in cases {
        assert_eq!(parse(line), said, "{line}");
    }
}

#[test]
fn a_command_that_is_none_is_never_sent_to_the_model() {
    for line in [
        "/steer",
        "/interrupt now",
        "/approve 3.1 4.1",
        "/exit",
        "/",
        "/Quit",
    ] {
        assert_eq!(parse(line), Said::Unknown(line.into()), "{line}");
    }
}
