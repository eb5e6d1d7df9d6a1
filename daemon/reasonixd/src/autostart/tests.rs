use std::path::PathBuf;

use super::*;

fn goal(text: &str, dir: &str) -> AutostartGoal {
    AutostartGoal {
        text: text.to_owned(),
        dir: PathBuf::from(dir),
        max_turns: None,
        check: Vec::new(),
        options: SessionOptions::default(),
    }
}

#[test]
fn the_session_of_a_goal_follows_from_name_directory_and_text_alone() {
    let first = session_of("a", &goal("work", "/x"));
    let limited = AutostartGoal {
        max_turns: Some(3),
        ..goal("work", "/x")
    };
    assert_eq!(session_of("a", &limited), first);
    for other in [
        session_of("b", &goal("work", "/x")),
        session_of("a", &goal("work", "/y")),
        session_of("a", &goal("other work", "/x")),
        session_of("a", &goal("xwork", "/")),
    ] {
        assert_ne!(other, first);
    }
}
