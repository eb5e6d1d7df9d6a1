use super::*;

fn started(text: &str, research: Option<bool>) -> Result<GoalCommand, GoalCommandError> {
    Ok(GoalCommand::Start {
        text: text.to_owned(),
        research,
    })
}

#[test]
fn text_of_a_goal_comes_after_its_options() {
    assert_eq!(parse(""), Ok(GoalCommand::Show));
    assert_eq!(parse(" clear "), Ok(GoalCommand::Clear));
    for (words, text, research) in [
        ("make it work", "make it work", None),
        ("--research make it\nfast", "make it\nfast", Some(true)),
        ("--simple  fix it", "fix it", Some(false)),
        (
            "-- --verbose is a flag to add",
            "--verbose is a flag to add",
            None,
        ),
        ("--simple -- clear", "clear", Some(false)),
        ("clear the cache", "clear the cache", None),
        ("- one\n- two", "- one\n- two", None),
        ("use --verbose", "use --verbose", None),
    ] {
        assert_eq!(parse(words), started(text, research), "{words}");
    }
}

#[test]
fn limits_are_pairs() {
    let budget = Budget {
        cost_micros: Some(2_000_000),
        steps: Some(500),
        ..Budget::default()
    };
    let changed = GoalCommand::Change {
        max_turns: Some(80),
        budget: Some(budget),
    };
    for words in [
        "--change turns 80 usd 2 steps 500",
        "--change --max-turns 80 --budget-usd 2 --budget-steps 500",
    ] {
        assert_eq!(parse(words), Ok(changed.clone()), "{words}");
    }
    let alone = parse("--simple --change turns 8");
    assert_eq!(alone, Err(GoalCommandError::Limits));
    for words in ["", " turns", " turns many", " days 3", " turns 8 usd"] {
        let words = format!("--change{words}");
        assert_eq!(parse(&words), Err(GoalCommandError::Limits), "{words}");
    }
}

#[test]
fn unknown_option_is_no_text() {
    for (words, option) in [
        ("--unknown x", "--unknown"),
        ("--research --unknown x", "--unknown"),
        ("--changed x", "--changed"),
        ("-r x", "-r"),
    ] {
        let error = GoalCommandError::UnknownOption(option.to_owned());
        assert_eq!(parse(words), Err(error), "{words}");
    }
    for words in ["--", "--research", "--simple --"] {
        assert_eq!(parse(words), Err(GoalCommandError::NoText), "{words}");
    }
}
