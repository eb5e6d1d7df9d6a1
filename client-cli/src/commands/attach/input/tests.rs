//! Scenes for typed lines.

use super::*;

#[test]
fn a_line_is_a_prompt_unless_it_is_a_command() {
    let cases = [
        ("", TypedLine::Nothing),
        ("   ", TypedLine::Nothing),
        ("fix it", TypedLine::Prompt("fix it".into())),
        (
            "//etc is a path",
            TypedLine::Prompt(" /etc is a path".into()),
        ),
        (
            "/git:commit all",
            TypedLine::Prompt("/git:commit all".into()),
        ),
        ("! ls -la", TypedLine::Shell("ls -la".into())),
        (" !important", TypedLine::Prompt("!important".into())),
        ("!", TypedLine::Usage(say!(Msg::UseShell))),
        ("/steer use tabs", TypedLine::Steer("use tabs".into())),
        ("/interrupt", TypedLine::Interrupt),
        ("/approve", TypedLine::Approve(None)),
        ("/approve 3.1", TypedLine::Approve(Some("3.1".into()))),
        ("/approve ask", TypedLine::ApproveKeepAsking(None)),
        (
            "/approve ask 3.1",
            TypedLine::ApproveKeepAsking(Some("3.1".into())),
        ),
        ("/approve 3.1 4.1", TypedLine::Usage("/approve [ask] [ID]")),
        (
            "/change 3.1 ls -l",
            TypedLine::ChangeCommand("3.1 ls -l".into()),
        ),
        ("/change", TypedLine::Usage("/change [ID] COMMAND")),
        ("/deny", TypedLine::Deny(String::new())),
        ("/deny 3.1 keep it", TypedLine::Deny("3.1 keep it".into())),
        ("/answer", TypedLine::Answer(String::new())),
        ("/answer 7.1 tabs", TypedLine::Answer("7.1 tabs".into())),
        ("/reload", TypedLine::Reload(false)),
        ("/reload yes", TypedLine::Reload(true)),
        ("/clear", TypedLine::Clear(false)),
        ("/clear yes", TypedLine::Clear(true)),
        ("/rewind", TypedLine::Rewind(None)),
        ("/rewind 2", TypedLine::Rewind(Some((2, What::Both)))),
        (
            "/rewind 2 chat",
            TypedLine::Rewind(Some((2, What::Conversation))),
        ),
        ("/rewind 0 files", TypedLine::Rewind(Some((0, What::Code)))),
        ("/undo", TypedLine::Undo),
        ("/redo", TypedLine::Redo),
        ("/fork", TypedLine::Fork(None)),
        ("/fork other way", TypedLine::Fork(Some("other way".into()))),
        ("/rename fix", TypedLine::Rename("fix".into())),
        ("/todos", TypedLine::Todos),
        ("/goal", TypedLine::Goal(GoalCommand::Show)),
        ("/goal clear", TypedLine::Goal(GoalCommand::Clear)),
        (
            "/goal --simple fix it",
            TypedLine::Goal(GoalCommand::Start {
                text: "fix it".into(),
                research: Some(false),
            }),
        ),
        (
            "/goal --unknown x",
            TypedLine::WrongGoal(GoalCommandError::UnknownOption("--unknown".into())),
        ),
        ("/export /tmp/a.md", TypedLine::Export("/tmp/a.md".into())),
        ("/queue", TypedLine::Queue),
        (
            "/edit 2  new  words",
            TypedLine::Change(Change::Edit {
                prompt: "2".into(),
                text: vec!["new  words".into()],
            }),
        ),
        (
            "/move 0189a 3",
            TypedLine::Change(Change::Move {
                prompt: "0189a".into(),
                place: 3,
            }),
        ),
        (
            "/drop 1",
            TypedLine::Change(Change::Rm { prompt: "1".into() }),
        ),
        ("/pause", TypedLine::Pause),
        ("/resume", TypedLine::Resume),
        ("/help", TypedLine::Help),
        ("/quit", TypedLine::Quit),
        ("/exit", TypedLine::Quit),
        ("/q", TypedLine::Quit),
        (" exit ", TypedLine::Quit),
        ("quit", TypedLine::Quit),
        ("quit smoking", TypedLine::Prompt("quit smoking".into())),
    ];
    for (line, said) in cases {
        assert_eq!(parse(line), said, "{line}");
    }
}

#[test]
fn a_command_that_is_none_is_never_sent_to_the_model() {
    for line in ["/interrupt now", "/pause now", "/", "/etc/hosts is short"] {
        assert_eq!(parse(line), TypedLine::Unknown(line.into()), "{line}");
    }
}

#[test]
fn everything_that_help_names_is_understood() {
    assert_eq!(help(Role::Drive).count(), 29);
    for line in help(Role::Drive) {
        for word in line.split_whitespace().take(2) {
            let word = word.trim_end_matches(',');
            if word.starts_with('/') {
                let with = |rest: &str| parse(&format!("{word}{rest}"));
                let known = ["", " 1", " 1 2"]
                    .iter()
                    .any(|rest| !matches!(with(rest), TypedLine::Unknown(_)));
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
            TypedLine::Usage(words) => assert!(words.starts_with(usage), "{line}: {words}"),
            said => panic!("{line}: {said:?}"),
        }
    }
}
