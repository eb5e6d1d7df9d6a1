//! Scenes for typed lines.

use super::*;

#[test]
fn a_line_is_a_prompt_unless_it_is_a_command() {
    let cases = [
        ("", Said::Nothing),
        ("   ", Said::Nothing),
        ("fix it", Said::Prompt("fix it".into())),
        ("//etc is a path", Said::Prompt(" /etc is a path".into())),
        ("/git:commit all", Said::Prompt("/git:commit all".into())),
        ("! ls -la", Said::Shell("ls -la".into())),
        (" !important", Said::Prompt("!important".into())),
        ("!", Said::Usage(say!(Msg::UseShell))),
        ("/steer use tabs", Said::Steer("use tabs".into())),
        ("/interrupt", Said::Interrupt),
        ("/approve", Said::Approve(None)),
        ("/approve 3.1", Said::Approve(Some("3.1".into()))),
        ("/change 3.1 ls -l", Said::ChangeCommand("3.1 ls -l".into())),
        ("/change", Said::Usage("/change [ID] COMMAND")),
        ("/deny", Said::Deny(String::new())),
        ("/deny 3.1 keep it", Said::Deny("3.1 keep it".into())),
        ("/answer", Said::Answer(String::new())),
        ("/answer 7.1 tabs", Said::Answer("7.1 tabs".into())),
        ("/reload", Said::Reload(false)),
        ("/reload yes", Said::Reload(true)),
        ("/clear", Said::Clear(false)),
        ("/clear yes", Said::Clear(true)),
        ("/rewind", Said::Rewind(None)),
        ("/rewind 2", Said::Rewind(Some((2, What::Both)))),
        (
            "/rewind 2 chat",
            Said::Rewind(Some((2, What::Conversation))),
        ),
        ("/rewind 0 files", Said::Rewind(Some((0, What::Code)))),
        ("/undo", Said::Undo),
        ("/redo", Said::Redo),
        ("/fork", Said::Fork(None)),
        ("/fork other way", Said::Fork(Some("other way".into()))),
        ("/rename fix", Said::Rename("fix".into())),
        ("/todos", Said::Todos),
        ("/goal", Said::Goal(GoalCommand::Show)),
        ("/goal clear", Said::Goal(GoalCommand::Clear)),
        (
            "/goal --simple fix it",
            Said::Goal(GoalCommand::Start {
                text: "fix it".into(),
                research: Some(false),
            }),
        ),
        (
            "/goal --unknown x",
            Said::WrongGoal(GoalCommandError::UnknownOption("--unknown".into())),
        ),
        ("/export /tmp/a.md", Said::Export("/tmp/a.md".into())),
        ("/queue", Said::Queue),
        (
            "/edit 2  new  words",
            Said::Change(Change::Edit {
                prompt: "2".into(),
                text: vec!["new  words".into()],
            }),
        ),
        (
            "/move 0189a 3",
            Said::Change(Change::Move {
                prompt: "0189a".into(),
                place: 3,
            }),
        ),
        ("/drop 1", Said::Change(Change::Rm { prompt: "1".into() })),
        ("/pause", Said::Pause),
        ("/resume", Said::Resume),
        ("/help", Said::Help),
        ("/quit", Said::Quit),
        ("/exit", Said::Quit),
        ("/q", Said::Quit),
        (" exit ", Said::Quit),
        ("quit", Said::Quit),
        ("quit smoking", Said::Prompt("quit smoking".into())),
    ];
    for (line, said) in cases {
        assert_eq!(parse(line), said, "{line}");
    }
}

#[test]
fn a_command_that_is_none_is_never_sent_to_the_model() {
    for line in [
        "/interrupt now",
        "/approve 3.1 4.1",
        "/pause now",
        "/",
        "/etc/hosts is short",
    ] {
        assert_eq!(parse(line), Said::Unknown(line.into()), "{line}");
    }
}

#[test]
fn everything_that_help_names_is_understood() {
    assert_eq!(help(Role::Drive).count(), 28);
    for line in help(Role::Drive) {
        for word in line.split_whitespace().take(2) {
            let word = word.trim_end_matches(',');
            if word.starts_with('/') {
                let with = |rest: &str| parse(&format!("{word}{rest}"));
                let known = ["", " 1", " 1 2"]
                    .iter()
                    .any(|rest| !matches!(with(rest), Said::Unknown(_)));
                assert!(known, "{word}");
            }
        }
    }
}

#[test]
fn a_command_without_what_it_needs_says_how_it_is_said() {
    for (line, usage) in [
        ("/steer", "/steer TEXT"),
        ("/edit", "/edit N TEXT"),
        ("/edit 1", "/edit N TEXT"),
        ("/move 2", "/move N M"),
        ("/move 2 0", "/move N M"),
        ("/move a b", "/move N M"),
        ("/drop", "/drop N"),
        ("/drop 1 2", "/drop N"),
    ] {
        match parse(line) {
            Said::Usage(words) => assert!(words.starts_with(usage), "{line}: {words}"),
            said => panic!("{line}: {said:?}"),
        }
    }
}
